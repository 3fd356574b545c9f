package broken

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vfsd/vfsd/vfs"
)

// Rule is one way to be wrong.
type Rule struct {
	// Name says what is broken: "chmod-leaves-ctime".
	Name string
	// Text says it in a sentence.
	Text string
	// Cases are patterns of case names, as in conformance.Options.Match: each
	// case that one of them names must fail.
	Cases []string
	// breach makes the wrong functions, with state of their own.
	breach func() breach
}

// breach holds the functions that a rule replaces; nil ones pass through.
// Each gets the right one's receiver first.
type breach struct {
	// attr sees every Attr on its way out.
	attr func(a *vfs.Attr)

	lookup      func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) (vfs.Attr, error)
	setattr     func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error)
	access      func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, mask uint32) error
	readlink    func(fs vfs.FS, op *vfs.Op, ino vfs.Ino) (string, error)
	symlink     func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name, target string) (vfs.Attr, error)
	mknod       func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode, rdev uint32) (vfs.Attr, error)
	mkdir       func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32) (vfs.Attr, error)
	link        func(fs vfs.FS, op *vfs.Op, ino, parent vfs.Ino, name string) (vfs.Attr, error)
	unlink      func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error
	rmdir       func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error
	rename      func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error
	create      func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error)
	tmpfile     func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, mode uint32, flags int) (vfs.Attr, vfs.Handle, error)
	open        func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error)
	getxattr    func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, name string) ([]byte, error)
	setxattr    func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, name string, value []byte, flags uint32) error
	listxattr   func(fs vfs.FS, op *vfs.Op, ino vfs.Ino) ([]string, error)
	removexattr func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, name string) error
	statfs      func(fs vfs.FS, op *vfs.Op) (vfs.Statfs, error)
	syncfs      func(fs vfs.FS, op *vfs.Op) error

	read      func(h vfs.Handle, op *vfs.Op, p []byte, off int64) (int, error)
	write     func(h vfs.Handle, op *vfs.Op, p []byte, off int64) (int, error)
	flush     func(h vfs.Handle, op *vfs.Op) error
	fsync     func(h vfs.Handle, op *vfs.Op, dataOnly bool) error
	seek      func(h vfs.Handle, op *vfs.Op, off int64, whence int) (int64, error)
	fallocate func(h vfs.Handle, op *vfs.Op, mode uint32, off, n int64) error
	copyTo    func(h vfs.Handle, op *vfs.Op, off int64, dst vfs.Handle, dstOff, n int64) (int64, error)

	readDir  func(h vfs.DirHandle, op *vfs.Op, cookie uint64, attrs bool, emit func(*vfs.DirEntry) bool) error
	dirFsync func(h vfs.DirHandle, op *vfs.Op, dataOnly bool) error
}

// Rules returns every rule, by name.
func Rules() []Rule {
	all := slices.Concat(nameRules, linkRules, renameRules, directoryRules, attributeRules, timeRules, rightRules, xattrRules, dataRules, syncRules)
	slices.SortFunc(all, func(a, b Rule) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Find returns the rule of that name.
func Find(name string) (Rule, error) {
	for _, r := range Rules() {
		if r.Name == name {
			return r, nil
		}
	}
	return Rule{}, fmt.Errorf("no rule %q to break", name)
}

// New returns fs with one rule broken.
func New(fs vfs.FS, rule string) (vfs.FS, error) {
	r, err := Find(rule)
	if err != nil {
		return nil, err
	}
	return &brokenFS{FS: fs, b: r.breach()}, nil
}

// brokenFS passes through what its breach does not replace.
type brokenFS struct {
	vfs.FS
	b breach
}

// out lets the breach see an Attr that goes out.
func (f *brokenFS) out(a vfs.Attr, err error) (vfs.Attr, error) {
	if err == nil && f.b.attr != nil {
		f.b.attr(&a)
	}
	return a, err
}

func (f *brokenFS) Lookup(op *vfs.Op, parent vfs.Ino, name string) (vfs.Attr, error) {
	if f.b.lookup != nil {
		return f.out(f.b.lookup(f.FS, op, parent, name))
	}
	return f.out(f.FS.Lookup(op, parent, name))
}

func (f *brokenFS) Getattr(op *vfs.Op, ino vfs.Ino) (vfs.Attr, error) {
	return f.out(f.FS.Getattr(op, ino))
}

func (f *brokenFS) Setattr(op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
	if h, ok := set.Handle.(*handle); ok {
		s := *set
		s.Handle = h.Handle
		set = &s
	}
	if f.b.setattr != nil {
		return f.out(f.b.setattr(f.FS, op, ino, set))
	}
	return f.out(f.FS.Setattr(op, ino, set))
}

func (f *brokenFS) Access(op *vfs.Op, ino vfs.Ino, mask uint32) error {
	if f.b.access != nil {
		return f.b.access(f.FS, op, ino, mask)
	}
	return f.FS.Access(op, ino, mask)
}

func (f *brokenFS) Readlink(op *vfs.Op, ino vfs.Ino) (string, error) {
	if f.b.readlink != nil {
		return f.b.readlink(f.FS, op, ino)
	}
	return f.FS.Readlink(op, ino)
}

func (f *brokenFS) Symlink(op *vfs.Op, parent vfs.Ino, name, target string) (vfs.Attr, error) {
	if f.b.symlink != nil {
		return f.out(f.b.symlink(f.FS, op, parent, name, target))
	}
	return f.out(f.FS.Symlink(op, parent, name, target))
}

func (f *brokenFS) Mknod(op *vfs.Op, parent vfs.Ino, name string, mode, rdev uint32) (vfs.Attr, error) {
	if f.b.mknod != nil {
		return f.out(f.b.mknod(f.FS, op, parent, name, mode, rdev))
	}
	return f.out(f.FS.Mknod(op, parent, name, mode, rdev))
}

func (f *brokenFS) Mkdir(op *vfs.Op, parent vfs.Ino, name string, mode uint32) (vfs.Attr, error) {
	if f.b.mkdir != nil {
		return f.out(f.b.mkdir(f.FS, op, parent, name, mode))
	}
	return f.out(f.FS.Mkdir(op, parent, name, mode))
}

func (f *brokenFS) Link(op *vfs.Op, ino, parent vfs.Ino, name string) (vfs.Attr, error) {
	if f.b.link != nil {
		return f.out(f.b.link(f.FS, op, ino, parent, name))
	}
	return f.out(f.FS.Link(op, ino, parent, name))
}

func (f *brokenFS) Unlink(op *vfs.Op, parent vfs.Ino, name string) error {
	if f.b.unlink != nil {
		return f.b.unlink(f.FS, op, parent, name)
	}
	return f.FS.Unlink(op, parent, name)
}

func (f *brokenFS) Rmdir(op *vfs.Op, parent vfs.Ino, name string) error {
	if f.b.rmdir != nil {
		return f.b.rmdir(f.FS, op, parent, name)
	}
	return f.FS.Rmdir(op, parent, name)
}

func (f *brokenFS) Rename(op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
	if f.b.rename != nil {
		return f.b.rename(f.FS, op, parent, name, to, newName, flags)
	}
	return f.FS.Rename(op, parent, name, to, newName, flags)
}

func (f *brokenFS) Create(op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
	if f.b.create != nil {
		return f.opened(f.b.create(f.FS, op, parent, name, mode, flags))
	}
	return f.opened(f.FS.Create(op, parent, name, mode, flags))
}

func (f *brokenFS) Tmpfile(op *vfs.Op, parent vfs.Ino, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
	if f.b.tmpfile != nil {
		return f.opened(f.b.tmpfile(f.FS, op, parent, mode, flags))
	}
	return f.opened(f.FS.Tmpfile(op, parent, mode, flags))
}

func (f *brokenFS) opened(a vfs.Attr, h vfs.Handle, err error) (vfs.Attr, vfs.Handle, error) {
	if err != nil {
		return a, nil, err
	}
	a, err = f.out(a, nil)
	return a, &handle{h, f}, err
}

func (f *brokenFS) Open(op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error) {
	open := vfs.FS.Open
	if f.b.open != nil {
		open = f.b.open
	}
	h, err := open(f.FS, op, ino, flags)
	if err != nil {
		return nil, err
	}
	return &handle{h, f}, nil
}

func (f *brokenFS) OpenDir(op *vfs.Op, ino vfs.Ino) (vfs.DirHandle, error) {
	h, err := f.FS.OpenDir(op, ino)
	if err != nil {
		return nil, err
	}
	return &dirHandle{h, f}, nil
}

func (f *brokenFS) Getxattr(op *vfs.Op, ino vfs.Ino, name string) ([]byte, error) {
	if f.b.getxattr != nil {
		return f.b.getxattr(f.FS, op, ino, name)
	}
	return f.FS.Getxattr(op, ino, name)
}

func (f *brokenFS) Setxattr(op *vfs.Op, ino vfs.Ino, name string, value []byte, flags uint32) error {
	if f.b.setxattr != nil {
		return f.b.setxattr(f.FS, op, ino, name, value, flags)
	}
	return f.FS.Setxattr(op, ino, name, value, flags)
}

func (f *brokenFS) Listxattr(op *vfs.Op, ino vfs.Ino) ([]string, error) {
	if f.b.listxattr != nil {
		return f.b.listxattr(f.FS, op, ino)
	}
	return f.FS.Listxattr(op, ino)
}

func (f *brokenFS) Removexattr(op *vfs.Op, ino vfs.Ino, name string) error {
	if f.b.removexattr != nil {
		return f.b.removexattr(f.FS, op, ino, name)
	}
	return f.FS.Removexattr(op, ino, name)
}

func (f *brokenFS) Statfs(op *vfs.Op) (vfs.Statfs, error) {
	if f.b.statfs != nil {
		return f.b.statfs(f.FS, op)
	}
	return f.FS.Statfs(op)
}

func (f *brokenFS) Syncfs(op *vfs.Op) error {
	if f.b.syncfs != nil {
		return f.b.syncfs(f.FS, op)
	}
	return f.FS.Syncfs(op)
}

// handle is an open file of a brokenFS.
type handle struct {
	vfs.Handle
	fs *brokenFS
}

func (h *handle) Read(op *vfs.Op, p []byte, off int64) (int, error) {
	if f := h.fs.b.read; f != nil {
		return f(h.Handle, op, p, off)
	}
	return h.Handle.Read(op, p, off)
}

func (h *handle) Write(op *vfs.Op, p []byte, off int64) (int, error) {
	if f := h.fs.b.write; f != nil {
		return f(h.Handle, op, p, off)
	}
	return h.Handle.Write(op, p, off)
}

func (h *handle) Flush(op *vfs.Op) error {
	if f := h.fs.b.flush; f != nil {
		return f(h.Handle, op)
	}
	return h.Handle.Flush(op)
}

func (h *handle) Fsync(op *vfs.Op, dataOnly bool) error {
	if f := h.fs.b.fsync; f != nil {
		return f(h.Handle, op, dataOnly)
	}
	return h.Handle.Fsync(op, dataOnly)
}

func (h *handle) Seek(op *vfs.Op, off int64, whence int) (int64, error) {
	if f := h.fs.b.seek; f != nil {
		return f(h.Handle, op, off, whence)
	}
	return h.Handle.Seek(op, off, whence)
}

func (h *handle) Fallocate(op *vfs.Op, mode uint32, off, n int64) error {
	if f := h.fs.b.fallocate; f != nil {
		return f(h.Handle, op, mode, off, n)
	}
	return h.Handle.Fallocate(op, mode, off, n)
}

func (h *handle) CopyTo(op *vfs.Op, off int64, dst vfs.Handle, dstOff, n int64) (int64, error) {
	if d, ok := dst.(*handle); ok {
		dst = d.Handle
	}
	if f := h.fs.b.copyTo; f != nil {
		return f(h.Handle, op, off, dst, dstOff, n)
	}
	return h.Handle.CopyTo(op, off, dst, dstOff, n)
}

// dirHandle is an open directory of a brokenFS.
type dirHandle struct {
	vfs.DirHandle
	fs *brokenFS
}

func (h *dirHandle) ReadDir(op *vfs.Op, cookie uint64, attrs bool, emit func(*vfs.DirEntry) bool) error {
	seen := emit
	if h.fs.b.attr != nil && attrs {
		seen = func(e *vfs.DirEntry) bool {
			if e.Attr != nil {
				a := *e.Attr
				h.fs.b.attr(&a)
				e.Attr = &a
			}
			return emit(e)
		}
	}
	if f := h.fs.b.readDir; f != nil {
		return f(h.DirHandle, op, cookie, attrs, seen)
	}
	return h.DirHandle.ReadDir(op, cookie, attrs, seen)
}

func (h *dirHandle) Fsync(op *vfs.Op, dataOnly bool) error {
	if f := h.fs.b.dirFsync; f != nil {
		return f(h.DirHandle, op, dataOnly)
	}
	return h.DirHandle.Fsync(op, dataOnly)
}
