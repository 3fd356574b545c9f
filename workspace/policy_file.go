package workspace

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// Policy returns the text of the merge policy, empty when there is none.
func (w *Workspace) Policy(ctx context.Context) ([]byte, error) {
	op := &vfs.Op{Ctx: ctx}
	dir, name, err := w.walkTo(op, PolicyPath)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	a, err := w.Lookup(op, dir, name)
	if errors.Is(err, syscall.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !a.IsRegular() || a.Size > policyLimit {
		return nil, ErrBadPolicy
	}
	h, err := w.Open(op, a.Ino, syscall.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer h.Release(op)
	text := make([]byte, a.Size)
	n, err := h.Read(op, text, 0)
	return text[:n], err
}

// SetPolicy stores the text of a merge policy, which then travels like any
// file. An empty one removes it.
func (w *Workspace) SetPolicy(ctx context.Context, text []byte) error {
	if err := CheckPolicy(text); err != nil {
		return err
	}
	op := &vfs.Op{Ctx: ctx}
	dirName, name, _ := strings.Cut(PolicyPath, "/")
	dir, err := w.Lookup(op, vfs.RootIno, dirName)
	if errors.Is(err, syscall.ENOENT) {
		if len(text) == 0 {
			return nil
		}
		dir, err = w.Mkdir(op, vfs.RootIno, dirName, 0o755)
	}
	if err != nil {
		return err
	}
	if len(text) == 0 {
		err := w.Unlink(op, dir.Ino, name)
		if errors.Is(err, syscall.ENOENT) {
			return nil
		}
		return err
	}
	a, err := w.Lookup(op, dir.Ino, name)
	var h vfs.Handle
	if errors.Is(err, syscall.ENOENT) {
		_, h, err = w.Create(op, dir.Ino, name, 0o644, syscall.O_WRONLY)
	} else if err == nil {
		h, err = w.Open(op, a.Ino, syscall.O_WRONLY|syscall.O_TRUNC)
	}
	if err != nil {
		return err
	}
	defer h.Release(op)
	_, err = h.Write(op, text, 0)
	return err
}
