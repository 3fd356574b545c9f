package workspace

import (
	"syscall"
	"time"

	"github.com/vfsd/vfsd/vfs"
)

func now() int64 { return time.Now().UnixNano() }

// lookup finds a name in a directory: nil, nil when it is free.
func (w *Workspace) lookup(dir vfs.Ino, name string) (*inode, error) {
	b, ok, err := w.layers.get(dentryKey(dir, name))
	if err != nil || !ok {
		return nil, err
	}
	d, err := decodeDentry(b)
	if err != nil {
		return nil, err
	}
	return w.load(d.ino)
}

// Lookup implements vfs.FS.
func (w *Workspace) Lookup(op *vfs.Op, parent vfs.Ino, name string) (vfs.Attr, error) {
	if len(name) > vfs.MaxName {
		return vfs.Attr{}, syscall.ENAMETOOLONG
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	if _, err := w.loadDir(op, parent, vfs.MayExec); err != nil {
		return vfs.Attr{}, err
	}
	n, err := w.lookup(parent, name)
	if err != nil {
		return vfs.Attr{}, err
	}
	if n == nil {
		return vfs.Attr{}, syscall.ENOENT
	}
	return n.attr(), nil
}

// Parent implements vfs.FS.
func (w *Workspace) Parent(op *vfs.Op, ino vfs.Ino) (vfs.Ino, error) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	n, err := w.loadDir(op, ino, 0)
	if err != nil {
		return 0, err
	}
	return n.v.parent, nil
}

// slot checks that op may bind name in parent and that it is free.
func (w *Workspace) slot(op *vfs.Op, parent vfs.Ino, name string) (*inode, error) {
	if len(name) > vfs.MaxName {
		return nil, syscall.ENAMETOOLONG
	}
	dir, err := w.loadDir(op, parent, vfs.MayExec)
	if err != nil {
		return nil, err
	}
	old, err := w.lookup(parent, name)
	switch {
	case err != nil:
		return nil, err
	case old != nil || name == "." || name == "..":
		return nil, syscall.EEXIST
	}
	if err := vfs.ValidName(name); err != nil {
		return nil, err
	}
	return dir, w.permit(op, dir, vfs.MayWrite|vfs.MayExec)
}

// newInode prepares an inode owned by op's caller in dir: mode with the umask
// or the default ACL applied. It is not bound to a name yet.
func (w *Workspace) newInode(op *vfs.Op, b *batch, dir *inode, mode uint32, orphan bool) (*inode, inodeValue, error) {
	if w.usage.Inodes+1 > w.quota.inodes() {
		return nil, inodeValue{}, syscall.EDQUOT
	}
	ino := makeIno(w.replica, w.next)
	if w.next > counterMask {
		return nil, inodeValue{}, syscall.ENOSPC
	}
	w.next++
	t := now()
	n := &inode{ino: ino, orphan: orphan}
	v := inodeValue{Attr: vfs.Attr{Ino: ino, Nlink: 1, Atime: t, Mtime: t, Ctime: t, Btime: t}, parent: dir.ino}
	v.Mode, v.UID, v.GID = vfs.NewOwner(&dir.v.Attr, &op.Cred, mode)
	if err := w.inheritACL(op, b, dir, n, &v); err != nil {
		return nil, inodeValue{}, err
	}
	return n, v, nil
}

// bindNew puts a new inode into a directory.
func (w *Workspace) bindNew(b *batch, dir *inode, name string, n *inode, v inodeValue) {
	b.create(n, v)
	b.bind(dir.ino, name, n, v.Mode)
	d := b.value(dir)
	d.Size++
	if v.IsDir() {
		d.Nlink++
	}
	d.Mtime, d.Ctime = v.Btime, v.Btime
	b.set(dir, d)
	b.change(vfs.Change{Kind: vfs.ChangeAttr, Ino: dir.ino})
}

// Mknod implements vfs.FS.
func (w *Workspace) Mknod(op *vfs.Op, parent vfs.Ino, name string, mode, rdev uint32) (vfs.Attr, error) {
	switch mode & vfs.ModeTypeMask {
	case vfs.ModeRegular, vfs.ModeFIFO, vfs.ModeSocket:
		rdev = 0
	case vfs.ModeChar, vfs.ModeBlock:
		// A whiteout (character device 0/0) takes no privilege, as on Linux.
		if (mode&vfs.ModeTypeMask != vfs.ModeChar || rdev != 0) && !op.Capable(vfs.CapMknod, nil) {
			return vfs.Attr{}, syscall.EPERM
		}
	case 0:
		mode |= vfs.ModeRegular
	default:
		return vfs.Attr{}, syscall.EINVAL
	}
	return w.make(op, parent, name, mode, func(v *inodeValue) { v.Rdev = rdev })
}

// Mkdir implements vfs.FS.
func (w *Workspace) Mkdir(op *vfs.Op, parent vfs.Ino, name string, mode uint32) (vfs.Attr, error) {
	mode = vfs.ModeDir | mode&(vfs.ModePerm&^(vfs.ModeSetuid|vfs.ModeSetgid))
	return w.make(op, parent, name, mode, func(v *inodeValue) { v.Nlink = 2 })
}

// Symlink implements vfs.FS.
func (w *Workspace) Symlink(op *vfs.Op, parent vfs.Ino, name, target string) (vfs.Attr, error) {
	switch {
	case target == "":
		return vfs.Attr{}, syscall.ENOENT
	case len(target) > vfs.MaxSymlink:
		return vfs.Attr{}, syscall.ENAMETOOLONG
	}
	return w.make(op, parent, name, vfs.ModeSymlink|0o777, func(v *inodeValue) {
		v.target, v.Size = target, uint64(len(target))
	})
}

// make binds a new inode that has no bytes; finish sets what its type needs.
func (w *Workspace) make(op *vfs.Op, parent vfs.Ino, name string, mode uint32, finish func(*inodeValue)) (vfs.Attr, error) {
	var a vfs.Attr
	err := w.mutate(op, func(b *batch) error {
		dir, err := w.slot(op, parent, name)
		if err != nil {
			return err
		}
		n, v, err := w.newInode(op, b, dir, mode, false)
		if err != nil {
			return err
		}
		finish(&v)
		w.bindNew(b, dir, name, n, v)
		a = (&inode{v: v}).attr()
		return nil
	})
	return a, err
}

// Readlink implements vfs.FS.
func (w *Workspace) Readlink(op *vfs.Op, ino vfs.Ino) (string, error) {
	w.mu.RLock()
	n, err := w.load(ino)
	if err != nil {
		w.mu.RUnlock()
		return "", err
	}
	target, stale := n.v.target, w.atimeStale(n)
	link := n.v.IsSymlink()
	w.mu.RUnlock()
	if !link {
		return "", syscall.EINVAL
	}
	if stale {
		w.touchAtime(n)
	}
	return target, nil
}

// Link implements vfs.FS.
func (w *Workspace) Link(op *vfs.Op, ino, newParent vfs.Ino, newName string) (vfs.Attr, error) {
	var a vfs.Attr
	err := w.mutate(op, func(b *batch) error {
		n, err := w.load(ino)
		if err != nil {
			return err
		}
		dir, err := w.slot(op, newParent, newName)
		if err != nil {
			return err
		}
		switch {
		case n.v.IsDir():
			return syscall.EPERM
		case n.v.Nlink >= vfs.MaxLinks:
			return syscall.EMLINK
		case n.orphan && !n.tmpfile:
			return syscall.ENOENT
		}
		acl, err := w.accessACL(n)
		if err != nil {
			return err
		}
		if err := vfs.CheckLink(&n.v.Attr, acl, &op.Cred); err != nil {
			return err
		}
		if n.orphan {
			return w.nameTmpfile(b, dir, newName, n, &a)
		}
		v := n.v
		v.Nlink++
		v.Ctime = now()
		v.parent = newParent
		b.set(n, v)
		b.bind(newParent, newName, n, v.Mode)
		w.touchDir(b, dir, 1, 0, v.Ctime)
		b.change(vfs.Change{Kind: vfs.ChangeAttr, Ino: ino})
		a = (&inode{v: v}).attr()
		return nil
	})
	return a, err
}

// touchDir moves a directory's times and its counts of entries and
// subdirectories.
func (w *Workspace) touchDir(b *batch, dir *inode, entries, subdirs int, t int64) {
	v := b.value(dir)
	v.Size = uint64(int64(v.Size) + int64(entries))
	v.Nlink = uint32(int64(v.Nlink) + int64(subdirs))
	v.Mtime, v.Ctime = t, t
	b.set(dir, v)
	b.change(vfs.Change{Kind: vfs.ChangeAttr, Ino: dir.ino})
}

// victim finds the name that op wants to take out of parent.
func (w *Workspace) victim(op *vfs.Op, parent vfs.Ino, name string) (dir, n *inode, err error) {
	if len(name) > vfs.MaxName {
		return nil, nil, syscall.ENAMETOOLONG
	}
	if dir, err = w.loadDir(op, parent, vfs.MayExec); err != nil {
		return nil, nil, err
	}
	if n, err = w.lookup(parent, name); err != nil {
		return nil, nil, err
	}
	if n == nil {
		return nil, nil, syscall.ENOENT
	}
	return dir, n, w.mayRemove(op, dir, n)
}

func (w *Workspace) mayRemove(op *vfs.Op, dir, n *inode) error {
	if err := w.permit(op, dir, vfs.MayWrite|vfs.MayExec); err != nil {
		return err
	}
	return vfs.CheckSticky(&dir.v.Attr, &n.v.Attr, &op.Cred)
}

// Unlink implements vfs.FS.
func (w *Workspace) Unlink(op *vfs.Op, parent vfs.Ino, name string) error {
	return w.mutate(op, func(b *batch) error {
		dir, n, err := w.victim(op, parent, name)
		if err != nil {
			return err
		}
		if n.v.IsDir() {
			return syscall.EISDIR
		}
		t := now()
		b.frees = true
		b.unbind(parent, name, n.ino)
		w.touchDir(b, dir, -1, 0, t)
		return w.dropLink(b, n, parent, t)
	})
}

// Rmdir implements vfs.FS.
func (w *Workspace) Rmdir(op *vfs.Op, parent vfs.Ino, name string) error {
	switch name {
	case ".":
		return syscall.EINVAL
	case "..":
		return syscall.ENOTEMPTY
	}
	return w.mutate(op, func(b *batch) error {
		dir, n, err := w.victim(op, parent, name)
		switch {
		case err != nil:
			return err
		case !n.v.IsDir():
			return syscall.ENOTDIR
		case n.v.Size > 0:
			return syscall.ENOTEMPTY
		}
		t := now()
		b.frees = true
		b.unbind(parent, name, n.ino)
		w.touchDir(b, dir, -1, -1, t)
		return w.dropLink(b, n, parent, t)
	})
}

// dropLink takes one name from n, whose dentry in parent is being unbound, and
// n itself out of the map when it was the last.
func (w *Workspace) dropLink(b *batch, n *inode, parent vfs.Ino, t int64) error {
	v := b.value(n)
	v.Ctime = t
	v.Nlink--
	if !v.IsDir() && v.Nlink > 0 {
		if v.parent == parent {
			v.parent = 0 // the name that it told of may be this one
		}
		b.set(n, v)
		b.change(vfs.Change{Kind: vfs.ChangeAttr, Ino: n.ino})
		return nil
	}
	if err := w.removeXattrs(b, n); err != nil {
		return err
	}
	if err := w.flatten(n); err != nil {
		return err
	}
	b.remove(n)
	return nil
}

// forget makes n an orphan, or drops it when nobody holds it.
func (w *Workspace) forget(n *inode) {
	n.v.Nlink = 0
	n.v.Ctime = now()
	n.orphan = true
	w.pins.Lock()
	held := n.handles > 0 || w.pins.m[n.ino] > 0
	w.pins.Unlock()
	if held {
		w.inodes.add(n)
		w.orphans[n.ino] = n
		return
	}
	w.freed += n.v.Blocks / sectorsPerBlock
	w.inodes.drop(n.ino)
}

// Pin implements vfs.FS.
func (w *Workspace) Pin(ino vfs.Ino) {
	w.pins.Lock()
	defer w.pins.Unlock()
	w.pins.m[ino]++
}

// Unpin implements vfs.FS.
func (w *Workspace) Unpin(ino vfs.Ino) {
	w.pins.Lock()
	w.pins.m[ino]--
	last := w.pins.m[ino] <= 0
	if last {
		delete(w.pins.m, ino)
	}
	w.pins.Unlock()
	if last {
		w.mu.RLock()
		_, orphan := w.orphans[ino]
		w.mu.RUnlock()
		if orphan {
			w.dropOrphan(ino)
		}
	}
}

// dropOrphan frees an orphan that nobody holds any more.
func (w *Workspace) dropOrphan(ino vfs.Ino) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.orphans[ino]
	w.pins.Lock()
	pinned := w.pins.m[ino] > 0
	w.pins.Unlock()
	if n == nil || n.handles > 0 || pinned {
		return
	}
	delete(w.orphans, ino)
	w.freed += n.v.Blocks / sectorsPerBlock
	w.inodes.drop(ino)
	w.retireStaging()
}
