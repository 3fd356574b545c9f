package memfs

import (
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// Lookup finds name in parent.
func (fs *FS) Lookup(op *vfs.Op, parent vfs.Ino, name string) (vfs.Attr, error) {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	_, n, err := fs.find(op, parent, name)
	if err != nil {
		return vfs.Attr{}, err
	}
	return n.attr, nil
}

// find returns the directory and what name is bound to in it. The directory is
// there also when the only error is that the name is not.
func (fs *FS) find(op *vfs.Op, parent vfs.Ino, name string) (dir, n *inode, err error) {
	dir, err = fs.getDir(op, parent, vfs.MayExec)
	if err != nil {
		return nil, nil, err
	}
	if len(name) > vfs.MaxName {
		return nil, nil, syscall.ENAMETOOLONG
	}
	e := dir.dir.names[name]
	if e == nil {
		return dir, nil, syscall.ENOENT
	}
	return dir, fs.inodes[e.ino], nil
}

// Parent returns the directory that holds the directory ino.
func (fs *FS) Parent(op *vfs.Op, ino vfs.Ino) (vfs.Ino, error) {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	n, err := fs.get(ino)
	if err != nil {
		return 0, err
	}
	if n.dir == nil {
		return 0, syscall.ENOTDIR
	}
	return n.dir.parent, nil
}

// Readlink returns a symlink's target.
func (fs *FS) Readlink(op *vfs.Op, ino vfs.Ino) (string, error) {
	fs.mu.RLock()
	n, err := fs.get(ino)
	if err == nil && !n.attr.IsSymlink() {
		err = syscall.EINVAL
	}
	fs.mu.RUnlock()
	if err != nil {
		return "", err
	}
	fs.accessed(op, n)
	return n.target, nil
}

// forNew returns the directory in which name can be made.
func (fs *FS) forNew(op *vfs.Op, parent vfs.Ino, name string) (*inode, error) {
	if err := vfs.ValidName(name); err != nil {
		return nil, err
	}
	dir, n, err := fs.find(op, parent, name)
	switch {
	case n != nil:
		return nil, syscall.EEXIST
	case err != nil && dir == nil:
		return nil, err
	case dir.attr.Nlink == 0:
		return nil, syscall.ENOENT
	}
	return dir, dir.may(op, vfs.MayWrite)
}

// touched moves a directory's times after a change of its names.
func (n *inode) touched(t int64) { n.attr.Mtime, n.attr.Ctime = t, t }

// add binds a new inode and counts its link.
func (dir *inode) add(name string, n *inode) {
	dir.dir.bind(name, n.attr.Ino)
	n.attr.Nlink++
	if n.dir != nil {
		n.attr.Nlink++ // its own "."
		dir.attr.Nlink++
	}
	dir.touched(now())
}

// create makes what mode says in parent; fill completes it before it is seen.
func (fs *FS) create(op *vfs.Op, parent vfs.Ino, name string, mode uint32, fill func(*inode)) (vfs.Attr, error) {
	fs.mu.Lock()
	dir, err := fs.forNew(op, parent, name)
	if err != nil {
		fs.mu.Unlock()
		return vfs.Attr{}, err
	}
	n := fs.newInode(op, dir, mode)
	fill(n)
	dir.add(name, n)
	a := n.attr
	fs.mu.Unlock()
	fs.announce(op, bound(parent, name, a.Ino), attrOf(parent))
	return a, nil
}

// Symlink makes a symlink to target.
func (fs *FS) Symlink(op *vfs.Op, parent vfs.Ino, name, target string) (vfs.Attr, error) {
	switch {
	case target == "":
		return vfs.Attr{}, syscall.ENOENT
	case len(target) > vfs.MaxSymlink:
		return vfs.Attr{}, syscall.ENAMETOOLONG
	}
	return fs.create(op, parent, name, vfs.ModeSymlink|0o777, func(n *inode) {
		n.target = target
		n.attr.Size = uint64(len(target))
	})
}

// Mknod makes a FIFO, socket, device or empty regular file.
func (fs *FS) Mknod(op *vfs.Op, parent vfs.Ino, name string, mode, rdev uint32) (vfs.Attr, error) {
	switch mode & vfs.ModeTypeMask {
	case 0:
		mode |= vfs.ModeRegular
		rdev = 0
	case vfs.ModeRegular, vfs.ModeFIFO, vfs.ModeSocket:
		rdev = 0
	case vfs.ModeChar, vfs.ModeBlock:
		// A character device 0:0 is a whiteout, which opens nothing.
		if (mode&vfs.ModeTypeMask == vfs.ModeBlock || rdev != 0) && !op.Capable(vfs.CapMknod, nil) {
			return vfs.Attr{}, syscall.EPERM
		}
	case vfs.ModeDir:
		return vfs.Attr{}, syscall.EPERM
	default:
		return vfs.Attr{}, syscall.EINVAL
	}
	return fs.create(op, parent, name, mode, func(n *inode) { n.attr.Rdev = rdev })
}

// Mkdir makes a directory.
func (fs *FS) Mkdir(op *vfs.Op, parent vfs.Ino, name string, mode uint32) (vfs.Attr, error) {
	return fs.create(op, parent, name, vfs.ModeDir|mode&0o1777, func(n *inode) { n.dir = newDirectory(parent) })
}

// Create makes and opens a regular file.
func (fs *FS) Create(op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
	var h *handle
	a, err := fs.create(op, parent, name, vfs.ModeRegular|mode&vfs.ModePerm, func(n *inode) { h = fs.openHandle(n, flags) })
	if err != nil {
		return vfs.Attr{}, nil, err
	}
	return a, h, nil
}

// Tmpfile makes and opens a file with no name in parent's file system.
func (fs *FS) Tmpfile(op *vfs.Op, parent vfs.Ino, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	dir, err := fs.getDir(op, parent, vfs.MayExec|vfs.MayWrite)
	if err != nil {
		return vfs.Attr{}, nil, err
	}
	if dir.attr.Nlink == 0 {
		return vfs.Attr{}, nil, syscall.ENOENT
	}
	n := fs.newInode(op, dir, vfs.ModeRegular|mode&vfs.ModePerm)
	n.linkable = flags&syscall.O_EXCL == 0
	return n.attr, fs.openHandle(n, flags), nil
}

// Link gives ino another name.
func (fs *FS) Link(op *vfs.Op, ino, newParent vfs.Ino, newName string) (vfs.Attr, error) {
	fs.mu.Lock()
	a, err := fs.link(op, ino, newParent, newName)
	fs.mu.Unlock()
	if err != nil {
		return vfs.Attr{}, err
	}
	fs.announce(op, bound(newParent, newName, ino), attrOf(newParent), attrOf(ino))
	return a, nil
}

func (fs *FS) link(op *vfs.Op, ino, newParent vfs.Ino, newName string) (vfs.Attr, error) {
	n, err := fs.get(ino)
	if err != nil {
		return vfs.Attr{}, err
	}
	dir, err := fs.forNew(op, newParent, newName)
	switch {
	case err != nil:
		return vfs.Attr{}, err
	case n.dir != nil:
		return vfs.Attr{}, syscall.EPERM
	case n.attr.Nlink == 0 && !n.linkable:
		return vfs.Attr{}, syscall.ENOENT
	case n.attr.Nlink >= vfs.MaxLinks:
		return vfs.Attr{}, syscall.EMLINK
	}
	if err := vfs.CheckLink(&n.attr, n.acl, &op.Cred); err != nil {
		return vfs.Attr{}, err
	}
	dir.add(newName, n)
	n.attr.Ctime = dir.attr.Ctime
	return n.attr, nil
}

// Unlink removes a name of anything but a directory.
func (fs *FS) Unlink(op *vfs.Op, parent vfs.Ino, name string) error {
	return fs.remove(op, parent, name, false)
}

// Rmdir removes an empty directory.
func (fs *FS) Rmdir(op *vfs.Op, parent vfs.Ino, name string) error {
	return fs.remove(op, parent, name, true)
}

func (fs *FS) remove(op *vfs.Op, parent vfs.Ino, name string, isDir bool) error {
	fs.mu.Lock()
	dir, n, err := fs.find(op, parent, name)
	if err == nil {
		err = mayRemove(op, dir, n)
	}
	if err == nil {
		err = fits(n, isDir)
	}
	if err == nil && n.dir != nil && len(n.dir.names) > 0 {
		err = syscall.ENOTEMPTY
	}
	if err != nil {
		fs.mu.Unlock()
		return err
	}
	t := now()
	dir.dir.unbind(name)
	fs.unlinked(dir, n, t)
	dir.touched(t)
	ino := n.attr.Ino
	fs.drop(n)
	fs.mu.Unlock()
	fs.announce(op, unbound(parent, name, ino), attrOf(parent), attrOf(ino))
	return nil
}

// unlinked takes one link from n, whose name in dir led to it.
func (fs *FS) unlinked(dir, n *inode, t int64) {
	n.attr.Nlink--
	if n.dir != nil {
		n.attr.Nlink = 0
		dir.attr.Nlink--
	}
	n.attr.Ctime = t
}

// mayRemove checks that op's caller may take the name of n out of dir.
func mayRemove(op *vfs.Op, dir, n *inode) error {
	if err := dir.may(op, vfs.MayWrite|vfs.MayExec); err != nil {
		return err
	}
	return vfs.CheckSticky(&dir.attr, &n.attr, &op.Cred)
}

// fits checks that n is a directory, or that it is none.
func fits(n *inode, isDir bool) error {
	switch {
	case isDir && n.dir == nil:
		return syscall.ENOTDIR
	case !isDir && n.dir != nil:
		return syscall.EISDIR
	}
	return nil
}
