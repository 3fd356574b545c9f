package vfs

import (
	"strings"
	"syscall"
)

// Walker is how a program that thinks in paths uses an FS: it resolves them
// from a root and a working directory, as Linux resolves them for a process,
// and offers the system calls that take a path.
//
//	w := vfs.NewWalker(fs, op)
//	f, err := w.OpenFile("/src/main.go", syscall.O_RDONLY, 0)
//	a, err := w.Lstat("link")
//
// A Walker is a value that never changes once it is in use, so any number of
// goroutines may share it; At and With make changed copies. Every error is
// what the system call would give, ready for ToErrno, and names no path.
type Walker struct {
	FS FS
	// Op is the circumstances of every call made through this Walker.
	Op Op
	// Dir is the working directory, where relative paths start. The Walker
	// does not pin it: who changes directories does.
	Dir Ino
	// Special serves what is no regular file, directory or symlink: FIFOs,
	// devices, and paths that exist for this program only. nil serves none.
	Special Special
}

// Special opens what an FS only names: FIFOs and devices. It may also add paths
// of its own (/dev/null, /dev/fd/3) that no FS holds.
type Special interface {
	// Lookup answers for an absolute path as it was given. It is asked before
	// the walk (missing false) and again after a walk that ended in ENOENT
	// (missing true), so that the FS wins where it should.
	Lookup(path string, missing bool) (Attr, bool)
	// Open opens a FIFO, socket or device, be it from FS or from Lookup. It
	// may wait, until op.Ctx ends.
	Open(op *Op, path string, a *Attr, flags int) (File, error)
}

// NewWalker returns a Walker whose working directory is the root.
func NewWalker(fs FS, op *Op) *Walker {
	return &Walker{FS: fs, Op: *op, Dir: RootIno}
}

// At returns a copy whose working directory is dir: what openat(2) and its kin
// do with a directory descriptor.
func (w *Walker) At(dir Ino) *Walker {
	c := *w
	c.Dir = dir
	return &c
}

// With returns a copy that makes its calls in the circumstances of op.
func (w *Walker) With(op *Op) *Walker {
	c := *w
	c.Op = *op
	return &c
}

// Found is where a path leads.
type Found struct {
	// Parent is the directory that holds the last name, and Name that name as
	// it is bound there: "" when the path ends in "/", "." or ".." and so names
	// no dentry.
	Parent Ino
	Name   string
	// Attr is the inode's, when Exists.
	Attr   Attr
	Exists bool
	// Slash is set when the path ended in a slash, which only a directory (or a
	// name about to become one) may.
	Slash bool
	// special is set for what only Special knows.
	special bool
}

// Walk resolves path. A final symlink is followed when follow is set or the
// path ends in a slash. A last name that is not there is no error: Exists is
// false, and Parent and Name say where it would be bound.
//
// ENOENT, ENOTDIR, EACCES, ELOOP after MaxSymlinks, ENAMETOOLONG for a path of
// MaxPath bytes or a name of more than MaxName.
func (w *Walker) Walk(path string, follow bool) (Found, error) {
	if path == "" {
		return Found{}, syscall.ENOENT
	}
	if len(path) >= MaxPath {
		return Found{}, syscall.ENAMETOOLONG
	}
	if strings.IndexByte(path, 0) >= 0 {
		return Found{}, syscall.EINVAL
	}
	if w.Special != nil && path[0] == '/' {
		if a, ok := w.Special.Lookup(path, false); ok {
			return Found{Attr: a, Exists: true, special: true}, nil
		}
	}
	f, err := w.walk(path, follow)
	if w.Special != nil && path[0] == '/' && (err == syscall.ENOENT || err == nil && !f.Exists) {
		if a, ok := w.Special.Lookup(path, true); ok {
			return Found{Parent: f.Parent, Name: f.Name, Attr: a, Exists: true, special: true}, nil
		}
	}
	return f, err
}

// walk is Walk without the special paths.
func (w *Walker) walk(path string, follow bool) (Found, error) {
	s := steps{w: w, dir: w.Dir}
	s.start(path)
	for s.rest != "" {
		name, last, slash := s.next()
		if name == "." || name == ".." {
			if err := s.dots(name); err != nil {
				return Found{}, err
			}
			continue
		}
		if len(name) > MaxName {
			return Found{}, syscall.ENAMETOOLONG
		}
		a, err := w.FS.Lookup(&w.Op, s.dir, name)
		if last && ToErrno(err) == syscall.ENOENT {
			return Found{Parent: s.dir, Name: name, Slash: slash}, nil
		}
		if err != nil {
			return Found{}, err
		}
		if a.IsSymlink() && (!last || follow || slash) {
			if err := s.splice(a.Ino, slash); err != nil {
				return Found{}, err
			}
			continue
		}
		if !a.IsDir() && (!last || slash) {
			return Found{}, syscall.ENOTDIR
		}
		if last {
			return Found{Parent: s.dir, Name: name, Attr: a, Exists: true, Slash: slash}, nil
		}
		s.dir = a.Ino
	}
	a, err := w.FS.Getattr(&w.Op, s.dir)
	return Found{Parent: s.dir, Attr: a, Exists: err == nil, Slash: true}, err
}

// steps is a walk under way: the directory reached, and the path still to go,
// which never starts with a slash.
type steps struct {
	w     *Walker
	dir   Ino
	rest  string
	links int // symlinks followed so far
}

// start puts path before what is left to go.
func (s *steps) start(path string) {
	if path[0] == '/' {
		s.dir = RootIno
		path = strings.TrimLeft(path, "/")
	}
	s.rest = path
}

// next takes the next name from the path: whether it is the last one, and
// whether slashes follow it.
func (s *steps) next() (name string, last, slash bool) {
	i := strings.IndexByte(s.rest, '/')
	if i < 0 {
		name, s.rest = s.rest, ""
		return name, true, false
	}
	name = s.rest[:i]
	s.rest = strings.TrimLeft(s.rest[i:], "/")
	return name, s.rest == "", true
}

// dots takes a "." or ".." step, which needs search permission as any other.
func (s *steps) dots(name string) error {
	if s.w.Op.UID != 0 {
		if err := s.w.FS.Access(&s.w.Op, s.dir, MayExec); err != nil {
			return err
		}
	}
	if name == "." {
		return nil
	}
	p, err := s.w.FS.Parent(&s.w.Op, s.dir)
	if err != nil {
		return err
	}
	s.dir = p
	return nil
}

// splice puts the target of the symlink ino before what is left to go.
func (s *steps) splice(ino Ino, slash bool) error {
	if s.links++; s.links > MaxSymlinks {
		return syscall.ELOOP
	}
	target, err := s.w.FS.Readlink(&s.w.Op, ino)
	if err != nil {
		return err
	}
	if target == "" {
		return syscall.ENOENT
	}
	if slash {
		target += "/" + s.rest
	}
	s.start(target)
	return nil
}
