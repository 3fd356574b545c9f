package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/user"
	"strconv"
	"syscall"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"
)

// kinds says which error is of which kind; the first that matches counts.
var kinds = []struct {
	err  error
	kind control.Kind
}{
	{context.Canceled, control.KindInterrupted},
	{workspace.ErrBadName, control.KindUsage},
	{workspace.ErrAmbiguous, control.KindUsage},
	{workspace.ErrNoSuch, control.KindNotFound},
	{workspace.ErrNoSuchSnapshot, control.KindNotFound},
	{workspace.ErrNoSuchPath, control.KindNotFound},
	{workspace.ErrExists, control.KindExists},
	{workspace.ErrInUse, control.KindInUse},
	{workspace.ErrBusy, control.KindBusy},
	{workspace.ErrNotDataDir, control.KindNotOurs},
	{workspace.ErrNewer, control.KindNewer},
	{chunk.ErrSuperseded, control.KindBusy},
	{vfs.ErrCorrupt, control.KindCorrupt},
	{chunk.ErrNotFound, control.KindCorrupt}, // something refers to it
	{vfs.ErrNoRight, control.KindNoRight},
	{syscall.ENOSPC, control.KindNoSpace},
	{syscall.EDQUOT, control.KindNoSpace},
	{syscall.EROFS, control.KindReadOnly},
	{syscall.EBUSY, control.KindBusy},
	{syscall.EOPNOTSUPP, control.KindUnsupported},
	{fs.ErrPermission, control.KindPermission},
	{fs.ErrNotExist, control.KindNotFound},
	{syscall.ENOTDIR, control.KindExists}, // something else has the name
	{syscall.ENOTEMPTY, control.KindExists},
	{syscall.EDEADLK, control.KindUsage},
}

// Classify gives an error its kind.
func Classify(err error) *control.Error {
	var e *control.Error
	if errors.As(err, &e) {
		return control.AsError(err)
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return control.Wrap(k.kind, wayOut(k.kind, err))
		}
	}
	return control.Wrap(control.KindInternal, err)
}

// wayOut adds what can be done about an error where its words do not say.
func wayOut(kind control.Kind, err error) error {
	switch kind {
	case control.KindCorrupt:
		return fmt.Errorf("%w; vfsctl doctor and vfsctl scrub tell what can still be read", err)
	case control.KindNoSpace:
		return fmt.Errorf("%w; vfsctl gc may free some, vfsctl quota shows bounds", err)
	}
	return err
}

// userName names a user for people.
func userName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username + " (uid " + id + ")"
	}
	return "uid " + id
}

// prefix says what an error is about.
func prefix(what string, err error) error { return fmt.Errorf("%s: %w", what, err) }
