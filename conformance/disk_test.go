//go:build linux

package conformance_test

import (
	"errors"
	"os"
	"sync"
	"syscall"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/vfs"
)

// disk is a tree in memory whose power can be cut: it then is what it was at
// the last fsync of anything. Real file systems keep more than that; none may
// keep less.
type disk struct {
	vfs.FS
	// durable says whether anything is saved at all: saving reads every file,
	// and so moves access times.
	durable bool
	mu      sync.Mutex // guards saved
	saved   *image
}

func newDisk(durable bool) *disk { return &disk{FS: memfs.New(), durable: durable, saved: &image{}} }

// image is a directory's contents, or a file's, by value.
type image struct {
	attr     vfs.Attr
	xattrs   map[string][]byte
	data     []byte
	target   string
	children map[string]*image
}

var rootOp = &vfs.Op{}

func (d *disk) tree() vfs.FS { return d }

// crash has nothing to do: what is durable was saved when it became so.
func (d *disk) crash() error { return nil }

func (d *disk) close() error { return nil }

// save keeps the tree as it is.
func (d *disk) save() error {
	if !d.durable {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := make(map[vfs.Ino]*image)
	img, err := d.take(vfs.RootIno, seen)
	if err == nil {
		d.saved = img
	}
	return err
}

// take copies what is below ino; a file with two names becomes one image.
func (d *disk) take(ino vfs.Ino, seen map[vfs.Ino]*image) (*image, error) {
	if img, ok := seen[ino]; ok {
		return img, nil
	}
	a, err := d.FS.Getattr(rootOp, ino)
	if err != nil {
		return nil, err
	}
	img := &image{attr: a, xattrs: make(map[string][]byte)}
	seen[ino] = img
	names, err := d.FS.Listxattr(rootOp, ino)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if img.xattrs[name], err = d.FS.Getxattr(rootOp, ino, name); err != nil {
			return nil, err
		}
	}
	switch {
	case a.IsSymlink():
		img.target, err = d.FS.Readlink(rootOp, ino)
	case a.IsRegular():
		img.data, err = d.bytes(ino, a.Size)
	case a.IsDir():
		img.children, err = d.takeDir(ino, seen)
	}
	return img, err
}

func (d *disk) bytes(ino vfs.Ino, size uint64) ([]byte, error) {
	if size > 1<<24 {
		return nil, syscall.EFBIG // no case makes such a file durable
	}
	h, err := d.FS.Open(rootOp, ino, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer h.Release(rootOp)
	p := make([]byte, size)
	n, err := h.Read(rootOp, p, 0)
	return p[:n], err
}

func (d *disk) takeDir(ino vfs.Ino, seen map[vfs.Ino]*image) (map[string]*image, error) {
	h, err := d.FS.OpenDir(rootOp, ino)
	if err != nil {
		return nil, err
	}
	defer h.Release(rootOp)
	inos := make(map[string]vfs.Ino)
	if err := h.ReadDir(rootOp, 0, false, func(e *vfs.DirEntry) bool { inos[e.Name] = e.Ino; return true }); err != nil {
		return nil, err
	}
	children := make(map[string]*image)
	for name, child := range inos {
		if children[name], err = d.take(child, seen); err != nil {
			return nil, err
		}
	}
	return children, nil
}

// revive replaces the tree by the last one saved.
func (d *disk) revive() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.FS = memfs.New()
	made := make(map[*image]vfs.Ino)
	return d.put(vfs.RootIno, d.saved, made)
}

// put fills the directory ino.
func (d *disk) put(ino vfs.Ino, img *image, made map[*image]vfs.Ino) error {
	for name, child := range img.children {
		if known, ok := made[child]; ok {
			if _, err := d.FS.Link(rootOp, known, ino, name); err != nil {
				return err
			}
			continue
		}
		a, err := d.make(ino, name, child)
		if err != nil {
			return err
		}
		made[child] = a.Ino
		if child.attr.IsDir() {
			if err := d.put(a.Ino, child, made); err != nil {
				return err
			}
		}
	}
	if img.attr.Ino == 0 {
		return nil // nothing was ever saved
	}
	for name, value := range img.xattrs {
		if err := d.FS.Setxattr(rootOp, ino, name, value, 0); err != nil {
			return err
		}
	}
	return d.dress(ino, img)
}

// make makes one file and fills it.
func (d *disk) make(parent vfs.Ino, name string, img *image) (vfs.Attr, error) {
	switch {
	case img.attr.IsDir():
		return d.FS.Mkdir(rootOp, parent, name, 0o700)
	case img.attr.IsSymlink():
		return d.FS.Symlink(rootOp, parent, name, img.target)
	}
	a, err := d.FS.Mknod(rootOp, parent, name, img.attr.Mode, img.attr.Rdev)
	if err != nil {
		return a, err
	}
	if img.attr.IsRegular() {
		h, err := d.FS.Open(rootOp, a.Ino, os.O_WRONLY)
		if err != nil {
			return a, err
		}
		defer h.Release(rootOp)
		if _, err := h.Write(rootOp, img.data, 0); err != nil {
			return a, err
		}
	}
	for x, value := range img.xattrs {
		if err := d.FS.Setxattr(rootOp, a.Ino, x, value, 0); err != nil {
			return a, err
		}
	}
	return a, d.dress(a.Ino, img)
}

// dress sets owner, mode and times.
func (d *disk) dress(ino vfs.Ino, img *image) error {
	set := &vfs.SetAttr{
		Mask: vfs.SetUID | vfs.SetGID | vfs.SetAtime | vfs.SetMtime, UID: img.attr.UID, GID: img.attr.GID,
		Atime: img.attr.Atime, Mtime: img.attr.Mtime,
	}
	_, err := d.FS.Setattr(rootOp, ino, set)
	if err == nil && !img.attr.IsSymlink() {
		_, err = d.FS.Setattr(rootOp, ino, &vfs.SetAttr{Mask: vfs.SetMode, Mode: img.attr.Mode & vfs.ModePerm})
	}
	return err
}

// Syncfs saves the tree.
func (d *disk) Syncfs(op *vfs.Op) error { return errors.Join(d.FS.Syncfs(op), d.save()) }

// The handles of a disk save it when they are synced.

func (d *disk) Create(op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
	a, h, err := d.FS.Create(op, parent, name, mode, flags)
	return a, d.wrap(h), err
}

func (d *disk) Tmpfile(op *vfs.Op, parent vfs.Ino, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
	a, h, err := d.FS.Tmpfile(op, parent, mode, flags)
	return a, d.wrap(h), err
}

func (d *disk) Open(op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error) {
	h, err := d.FS.Open(op, ino, flags)
	return d.wrap(h), err
}

func (d *disk) wrap(h vfs.Handle) vfs.Handle {
	if h == nil {
		return nil
	}
	return &diskFile{h, d}
}

func (d *disk) OpenDir(op *vfs.Op, ino vfs.Ino) (vfs.DirHandle, error) {
	h, err := d.FS.OpenDir(op, ino)
	if err != nil {
		return nil, err
	}
	return &diskDir{h, d}, nil
}

func (d *disk) Setattr(op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
	if h, ok := set.Handle.(*diskFile); ok {
		s := *set
		s.Handle = h.Handle
		set = &s
	}
	return d.FS.Setattr(op, ino, set)
}

type diskFile struct {
	vfs.Handle
	d *disk
}

func (f *diskFile) Fsync(op *vfs.Op, dataOnly bool) error {
	return errors.Join(f.Handle.Fsync(op, dataOnly), f.d.save())
}

func (f *diskFile) CopyTo(op *vfs.Op, off int64, dst vfs.Handle, dstOff, n int64) (int64, error) {
	if d, ok := dst.(*diskFile); ok {
		dst = d.Handle
	}
	return f.Handle.CopyTo(op, off, dst, dstOff, n)
}

type diskDir struct {
	vfs.DirHandle
	d *disk
}

func (f *diskDir) Fsync(op *vfs.Op, dataOnly bool) error {
	return errors.Join(f.DirHandle.Fsync(op, dataOnly), f.d.save())
}
