package vcs

import (
	"errors"
	"io/fs"
	"path"
	"sort"
	"strconv"
	"syscall"
	"time"

	"github.com/go-git/go-billy/v5"

	"github.com/vfsd/vfsd/vfs"
)

// storeFS is a billy.Filesystem below one directory of the workspace. Names
// cannot climb out of it; symlinks may lead elsewhere in the workspace, as they
// do for git.
type storeFS struct {
	w    *vfs.Walker
	root string
	tmp  *int // counts temporary files
}

func newStoreFS(w *vfs.Walker, root string) *storeFS {
	return &storeFS{w: w, root: root, tmp: new(int)}
}

func (f *storeFS) abs(name string) string { return path.Join(f.root, path.Join("/", name)) }

// pathError makes an error that os.IsNotExist and its kin understand, since
// go-git asks them.
func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var no syscall.Errno
	if !errors.As(err, &no) {
		no = vfs.ToErrno(err)
	}
	return &fs.PathError{Op: op, Path: name, Err: no}
}

// Create implements billy.Basic.
func (f *storeFS) Create(name string) (billy.File, error) {
	return f.OpenFile(name, syscall.O_RDWR|syscall.O_CREAT|syscall.O_TRUNC, 0o666)
}

// Open implements billy.Basic.
func (f *storeFS) Open(name string) (billy.File, error) { return f.OpenFile(name, syscall.O_RDONLY, 0) }

// OpenFile implements billy.Basic. Missing directories are made with the file.
func (f *storeFS) OpenFile(name string, flag int, perm fs.FileMode) (billy.File, error) {
	p := f.abs(name)
	if flag&syscall.O_CREAT != 0 {
		if err := f.w.MkdirAll(path.Dir(p), 0o777); err != nil {
			return nil, pathError("mkdir", name, err)
		}
	}
	file, err := f.w.OpenFile(p, flag, uint32(perm.Perm()))
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return &storeFile{File: file, name: name}, nil
}

// Stat implements billy.Basic.
func (f *storeFS) Stat(name string) (fs.FileInfo, error) {
	a, err := f.w.Stat(f.abs(name))
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return &fileInfo{name: path.Base(name), a: a}, nil
}

// Lstat implements billy.Symlink.
func (f *storeFS) Lstat(name string) (fs.FileInfo, error) {
	a, err := f.w.Lstat(f.abs(name))
	if err != nil {
		return nil, pathError("lstat", name, err)
	}
	return &fileInfo{name: path.Base(name), a: a}, nil
}

// Rename implements billy.Basic.
func (f *storeFS) Rename(from, to string) error {
	if err := f.w.MkdirAll(path.Dir(f.abs(to)), 0o777); err != nil {
		return pathError("mkdir", to, err)
	}
	return pathError("rename", from, f.w.Rename(f.abs(from), f.abs(to), 0))
}

// Remove implements billy.Basic.
func (f *storeFS) Remove(name string) error {
	err := f.w.Unlink(f.abs(name))
	if errors.Is(err, syscall.EISDIR) {
		err = f.w.Rmdir(f.abs(name))
	}
	return pathError("remove", name, err)
}

// Join implements billy.Basic.
func (f *storeFS) Join(elem ...string) string { return path.Join(elem...) }

// TempFile implements billy.TempFile.
func (f *storeFS) TempFile(dir, prefix string) (billy.File, error) {
	for range 10000 {
		*f.tmp++
		name := path.Join(dir, prefix+strconv.Itoa(*f.tmp))
		file, err := f.OpenFile(name, syscall.O_RDWR|syscall.O_CREAT|syscall.O_EXCL, 0o600)
		if !errors.Is(err, syscall.EEXIST) {
			return file, err
		}
	}
	return nil, pathError("open", prefix, syscall.EEXIST)
}

// ReadDir implements billy.Dir.
func (f *storeFS) ReadDir(name string) ([]fs.FileInfo, error) {
	p := f.abs(name)
	es, err := f.w.ReadDir(p)
	if err != nil {
		return nil, pathError("readdir", name, err)
	}
	infos := make([]fs.FileInfo, 0, len(es))
	for _, e := range es {
		a, err := f.w.Lstat(path.Join(p, e.Name))
		if errors.Is(err, syscall.ENOENT) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, pathError("lstat", e.Name, err)
		}
		infos = append(infos, &fileInfo{name: e.Name, a: a})
	}
	sort.Slice(infos, func(i, j int) bool { return infos[i].Name() < infos[j].Name() })
	return infos, nil
}

// MkdirAll implements billy.Dir.
func (f *storeFS) MkdirAll(name string, perm fs.FileMode) error {
	return pathError("mkdir", name, f.w.MkdirAll(f.abs(name), uint32(perm.Perm())))
}

// Symlink implements billy.Symlink.
func (f *storeFS) Symlink(target, link string) error {
	if err := f.w.MkdirAll(path.Dir(f.abs(link)), 0o777); err != nil {
		return pathError("mkdir", link, err)
	}
	return pathError("symlink", link, f.w.Symlink(target, f.abs(link)))
}

// Readlink implements billy.Symlink.
func (f *storeFS) Readlink(link string) (string, error) {
	s, err := f.w.Readlink(f.abs(link))
	return s, pathError("readlink", link, err)
}

// Chroot implements billy.Chroot.
func (f *storeFS) Chroot(p string) (billy.Filesystem, error) {
	return &storeFS{w: f.w, root: f.abs(p), tmp: f.tmp}, nil
}

// Root implements billy.Chroot.
func (f *storeFS) Root() string { return f.root }

// Chmod implements billy.Chmod.
func (f *storeFS) Chmod(name string, mode fs.FileMode) error {
	return pathError("chmod", name, f.w.Chmod(f.abs(name), uint32(mode.Perm())))
}

// storeFile is a vfs.File with the rest that billy asks for.
type storeFile struct {
	vfs.File
	name string
}

// Name implements billy.File.
func (f *storeFile) Name() string { return f.name }

// Lock implements billy.File; git's own locks are files named *.lock.
func (f *storeFile) Lock() error { return nil }

// Unlock implements billy.File.
func (f *storeFile) Unlock() error { return nil }

// Stat answers fstat for go-git, which asks for it by a type assertion.
func (f *storeFile) Stat() (fs.FileInfo, error) {
	a, err := f.File.Stat()
	if err != nil {
		return nil, pathError("stat", f.name, err)
	}
	return &fileInfo{name: path.Base(f.name), a: a}, nil
}

// fileInfo is an fs.FileInfo of attributes.
type fileInfo struct {
	name string
	a    vfs.Attr
}

// Name implements fs.FileInfo, as do the rest.
func (i *fileInfo) Name() string       { return i.name }
func (i *fileInfo) Size() int64        { return int64(i.a.Size) }
func (i *fileInfo) ModTime() time.Time { return time.Unix(0, i.a.Mtime) }
func (i *fileInfo) IsDir() bool        { return i.a.IsDir() }
func (i *fileInfo) Sys() any           { return nil }
func (i *fileInfo) Mode() fs.FileMode {
	m := fs.FileMode(i.a.Mode & 0o777)
	switch i.a.Mode & vfs.ModeTypeMask {
	case vfs.ModeRegular:
	case vfs.ModeDir:
		m |= fs.ModeDir
	case vfs.ModeSymlink:
		m |= fs.ModeSymlink
	default:
		m |= fs.ModeIrregular
	}
	return m
}
