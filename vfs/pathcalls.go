package vfs

import (
	"io"
	"strings"
	"syscall"
)

// at resolves path to an inode that must exist.
func (w *Walker) at(path string, follow bool) (Found, error) {
	f, err := w.Walk(path, follow)
	if err == nil && !f.Exists {
		err = syscall.ENOENT
	}
	return f, err
}

// dentry resolves path to a name that can be bound or unbound; a path that
// ends in ".", ".." or "/" has none and gives dots.
func (w *Walker) dentry(path string, dots error) (Found, error) {
	f, err := w.Walk(path, false)
	if err != nil {
		return f, err
	}
	if f.special && f.Name == "" {
		return f, syscall.EPERM
	}
	if f.special {
		f.Exists, f.special = false, false // nothing is bound there
	}
	if f.Name == "" {
		return f, dots
	}
	return f, nil
}

// Stat answers stat(2).
func (w *Walker) Stat(path string) (Attr, error) {
	f, err := w.at(path, true)
	return f.Attr, err
}

// Lstat answers lstat(2).
func (w *Walker) Lstat(path string) (Attr, error) {
	f, err := w.at(path, false)
	return f.Attr, err
}

// Access answers access(2) for a mask of MayRead, MayWrite and MayExec; 0 asks
// only whether path exists.
func (w *Walker) Access(path string, mask uint32) error {
	f, err := w.at(path, true)
	if err != nil || mask == 0 {
		return err
	}
	if f.special {
		return specialAccess(&w.Op.Cred, &f.Attr, mask)
	}
	return w.FS.Access(&w.Op, f.Attr.Ino, mask)
}

// specialAccess decides by the mode bits alone.
func specialAccess(c *Cred, a *Attr, mask uint32) error {
	if c.UID == 0 && (mask&MayExec == 0 || a.Mode&0o111 != 0 || a.IsDir()) {
		return nil
	}
	bits := a.Mode
	switch {
	case c.UID == a.UID:
		bits >>= 6
	case c.InGroup(a.GID):
		bits >>= 3
	}
	if mask&^bits != 0 {
		return syscall.EACCES
	}
	return nil
}

// OpenFile answers open(2); perm are the permission bits of a file it makes. A
// directory opens for reading as a *DirFile, a regular file as a *RegularFile.
func (w *Walker) OpenFile(path string, flags int, perm uint32) (File, error) {
	follow := flags&syscall.O_NOFOLLOW == 0 && flags&(syscall.O_CREAT|syscall.O_EXCL) != syscall.O_CREAT|syscall.O_EXCL
	for try := 0; ; try++ {
		f, err := w.Walk(path, follow)
		if err != nil {
			return nil, err
		}
		if f.Exists && !(f.special && f.Name != "" && flags&syscall.O_CREAT != 0) {
			return w.openFound(path, &f, flags)
		}
		if flags&syscall.O_CREAT == 0 {
			return nil, syscall.ENOENT
		}
		if f.Slash {
			return nil, syscall.EISDIR
		}
		_, h, err := w.FS.Create(&w.Op, f.Parent, f.Name, perm&ModePerm, flags)
		if err == nil {
			return NewRegularFile(w.FS, &w.Op, h, flags), nil
		}
		// Somebody else made it in between: open theirs.
		if ToErrno(err) != syscall.EEXIST || flags&syscall.O_EXCL != 0 || try > MaxSymlinks {
			return nil, err
		}
	}
}

// openFound opens an inode that exists.
func (w *Walker) openFound(path string, f *Found, flags int) (File, error) {
	a := &f.Attr
	if flags&syscall.O_CREAT != 0 && (flags&syscall.O_EXCL != 0) {
		return nil, syscall.EEXIST
	}
	if flags&syscall.O_DIRECTORY != 0 && !a.IsDir() {
		return nil, syscall.ENOTDIR
	}
	switch a.Mode & ModeTypeMask {
	case ModeRegular:
		if f.special {
			break
		}
		h, err := w.FS.Open(&w.Op, a.Ino, flags&^(syscall.O_CREAT|syscall.O_EXCL))
		if err != nil {
			return nil, err
		}
		return NewRegularFile(w.FS, &w.Op, h, flags), nil
	case ModeDir:
		if flags&(syscall.O_ACCMODE|syscall.O_CREAT|syscall.O_TRUNC) != syscall.O_RDONLY || f.special {
			return nil, syscall.EISDIR
		}
		h, err := w.FS.OpenDir(&w.Op, a.Ino)
		if err != nil {
			return nil, err
		}
		return &DirFile{op: w.Op, fs: w.FS, h: h}, nil
	case ModeSymlink:
		return nil, syscall.ELOOP
	}
	if w.Special == nil {
		return nil, syscall.ENXIO
	}
	if !f.special {
		if err := w.FS.Access(&w.Op, a.Ino, accessOf(flags)); err != nil {
			return nil, err
		}
	}
	return w.Special.Open(&w.Op, path, a, flags)
}

// accessOf is the access mask that open flags ask for.
func accessOf(flags int) uint32 {
	switch flags & syscall.O_ACCMODE {
	case syscall.O_RDONLY:
		return MayRead
	case syscall.O_WRONLY:
		return MayWrite
	}
	return MayRead | MayWrite
}

// Open opens path for reading.
func (w *Walker) Open(path string) (File, error) { return w.OpenFile(path, syscall.O_RDONLY, 0) }

// Create opens path for writing, empty, making it when it is not there.
func (w *Walker) Create(path string, perm uint32) (File, error) {
	return w.OpenFile(path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC, perm)
}

// ReadFile returns the bytes of a file of at most limit bytes; EFBIG when it
// has more.
func (w *Walker) ReadFile(path string, limit int64) ([]byte, error) {
	f, err := w.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = syscall.EFBIG
	}
	return b, err
}

// WriteFile makes path hold exactly data.
func (w *Walker) WriteFile(path string, data []byte, perm uint32) error {
	f, err := w.Create(path, perm)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// ReadDir returns the entries of a directory in the FS's order, without "."
// and ".."; their Attr are nil.
func (w *Walker) ReadDir(path string) ([]DirEntry, error) {
	f, err := w.at(path, true)
	if err != nil {
		return nil, err
	}
	if f.special || !f.Attr.IsDir() {
		return nil, syscall.ENOTDIR
	}
	return w.ReadDirIno(f.Attr.Ino)
}

// ReadDirIno is ReadDir by inode number.
func (w *Walker) ReadDirIno(dir Ino) ([]DirEntry, error) {
	h, err := w.FS.OpenDir(&w.Op, dir)
	if err != nil {
		return nil, err
	}
	op := w.Op
	op.Ctx = nil
	defer h.Release(&op)
	var es []DirEntry
	err = h.ReadDir(&w.Op, 0, false, func(e *DirEntry) bool {
		es = append(es, *e)
		return true
	})
	return es, err
}

// Readlink returns a symlink's target; EINVAL for anything else.
func (w *Walker) Readlink(path string) (string, error) {
	f, err := w.at(path, false)
	if err != nil {
		return "", err
	}
	if f.special || !f.Attr.IsSymlink() {
		return "", syscall.EINVAL
	}
	return w.FS.Readlink(&w.Op, f.Attr.Ino)
}

// Symlink makes path a symlink to target.
func (w *Walker) Symlink(target, path string) error {
	if target == "" {
		return syscall.ENOENT
	}
	f, err := w.dentry(path, syscall.EEXIST)
	if err != nil {
		return err
	}
	if f.Exists {
		return syscall.EEXIST
	}
	if f.Slash {
		return syscall.ENOENT
	}
	_, err = w.FS.Symlink(&w.Op, f.Parent, f.Name, target)
	return err
}

// Link gives the inode at path another name; follow resolves a final symlink
// (AT_SYMLINK_FOLLOW) where link(2) links the symlink itself.
func (w *Walker) Link(path, newPath string, follow bool) error {
	from, err := w.at(path, follow)
	if err != nil {
		return err
	}
	to, err := w.dentry(newPath, syscall.EEXIST)
	if err != nil {
		return err
	}
	if to.Exists {
		return syscall.EEXIST
	}
	if to.Slash {
		return syscall.ENOENT
	}
	if from.special {
		return syscall.EXDEV
	}
	_, err = w.FS.Link(&w.Op, from.Attr.Ino, to.Parent, to.Name)
	return err
}

// Mkdir makes a directory.
func (w *Walker) Mkdir(path string, perm uint32) error {
	f, err := w.dentry(path, syscall.EEXIST)
	if err != nil {
		return err
	}
	if f.Exists {
		return syscall.EEXIST
	}
	_, err = w.FS.Mkdir(&w.Op, f.Parent, f.Name, perm&ModePerm)
	return err
}

// MkdirAll makes a directory and those above it that are not there.
func (w *Walker) MkdirAll(path string, perm uint32) error {
	a, err := w.Stat(path)
	if err == nil {
		if a.IsDir() {
			return nil
		}
		return syscall.ENOTDIR
	}
	if ToErrno(err) != syscall.ENOENT {
		return err
	}
	trimmed := strings.TrimRight(path, "/")
	if i := strings.LastIndexByte(trimmed, '/'); i > 0 {
		if err := w.MkdirAll(trimmed[:i], perm); err != nil {
			return err
		}
	}
	err = w.Mkdir(path, perm)
	if ToErrno(err) == syscall.EEXIST {
		if a, serr := w.Stat(path); serr == nil && a.IsDir() {
			return nil
		}
	}
	return err
}

// Mknod answers mknod(2); mode has the type bits.
func (w *Walker) Mknod(path string, mode, rdev uint32) error {
	f, err := w.dentry(path, syscall.EEXIST)
	if err != nil {
		return err
	}
	if f.Exists {
		return syscall.EEXIST
	}
	if f.Slash {
		return syscall.ENOENT
	}
	_, err = w.FS.Mknod(&w.Op, f.Parent, f.Name, mode, rdev)
	return err
}

// Unlink removes the name of anything but a directory.
func (w *Walker) Unlink(path string) error {
	f, err := w.dentry(path, syscall.EISDIR)
	if err != nil {
		return err
	}
	if !f.Exists {
		return syscall.ENOENT
	}
	if f.Attr.IsDir() {
		return syscall.EISDIR
	}
	return w.FS.Unlink(&w.Op, f.Parent, f.Name)
}

// Rmdir removes an empty directory.
func (w *Walker) Rmdir(path string) error {
	dots := syscall.EBUSY // the root
	switch base := lastName(path); base {
	case ".":
		dots = syscall.EINVAL
	case "..":
		dots = syscall.ENOTEMPTY
	}
	f, err := w.dentry(path, dots)
	if err != nil {
		return err
	}
	if !f.Exists {
		return syscall.ENOENT
	}
	return w.FS.Rmdir(&w.Op, f.Parent, f.Name)
}

// lastName is the last name of a path, its trailing slashes left out.
func lastName(path string) string {
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// Rename answers renameat2(2).
func (w *Walker) Rename(path, newPath string, flags uint32) error {
	from, err := w.dentry(path, syscall.EBUSY)
	if err != nil {
		return err
	}
	to, err := w.dentry(newPath, syscall.EBUSY)
	if err != nil {
		if err == syscall.EBUSY && flags&RenameNoReplace != 0 {
			return syscall.EEXIST
		}
		return err
	}
	if !from.Exists {
		return syscall.ENOENT
	}
	// A trailing slash on either side says that a directory is meant.
	if to.Slash && !from.Attr.IsDir() {
		return syscall.ENOTDIR
	}
	return w.FS.Rename(&w.Op, from.Parent, from.Name, to.Parent, to.Name, flags)
}

// Setattr changes the attributes of what path names.
func (w *Walker) Setattr(path string, follow bool, set *SetAttr) error {
	f, err := w.at(path, follow)
	if err != nil {
		return err
	}
	if f.special {
		return syscall.EPERM
	}
	_, err = w.FS.Setattr(&w.Op, f.Attr.Ino, set)
	return err
}

// Chmod sets the permission bits.
func (w *Walker) Chmod(path string, mode uint32) error {
	return w.Setattr(path, true, &SetAttr{Mask: SetMode, Mode: mode & ModePerm})
}

// Chown sets owner and group; -1 leaves one as it is. Without follow it is
// lchown(2).
func (w *Walker) Chown(path string, uid, gid int64, follow bool) error {
	set := &SetAttr{}
	if uid >= 0 {
		set.Mask, set.UID = set.Mask|SetUID, uint32(uid)
	}
	if gid >= 0 {
		set.Mask, set.GID = set.Mask|SetGID, uint32(gid)
	}
	return w.Setattr(path, follow, set)
}

// Truncate answers truncate(2).
func (w *Walker) Truncate(path string, size int64) error {
	if size < 0 {
		return syscall.EINVAL
	}
	f, err := w.at(path, true)
	if err != nil {
		return err
	}
	if f.Attr.IsDir() {
		return syscall.EISDIR
	}
	if f.special || !f.Attr.IsRegular() {
		return syscall.EINVAL
	}
	_, err = w.FS.Setattr(&w.Op, f.Attr.Ino, &SetAttr{Mask: SetSize, Size: uint64(size)})
	return err
}

// Path returns the absolute path of a directory, as getcwd(2) does, by asking
// each parent for the name; ENOENT when it was removed.
func (w *Walker) Path(dir Ino) (string, error) {
	var names []string
	for dir != RootIno {
		parent, err := w.FS.Parent(&w.Op, dir)
		if err != nil {
			return "", err
		}
		es, err := w.ReadDirIno(parent)
		if err != nil {
			return "", err
		}
		name := ""
		for i := range es {
			if es[i].Ino == dir {
				name = es[i].Name
			}
		}
		if name == "" {
			return "", syscall.ENOENT
		}
		names = append(names, name)
		dir = parent
	}
	var b strings.Builder
	for i := len(names) - 1; i >= 0; i-- {
		b.WriteByte('/')
		b.WriteString(names[i])
	}
	if b.Len() == 0 {
		return "/", nil
	}
	return b.String(), nil
}
