package memfs

import (
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// rename is one call's two ends: what is bound at each, new possibly nothing.
type rename struct {
	op               *vfs.Op
	oldDir, newDir   *inode
	oldName, newName string
	old, new         *inode
	flags            uint32
}

// Rename moves a name; see vfs.FS.
func (fs *FS) Rename(op *vfs.Op, parent vfs.Ino, name string, newParent vfs.Ino, newName string, flags uint32) error {
	if flags&^(vfs.RenameNoReplace|vfs.RenameExchange|vfs.RenameWhiteout) != 0 ||
		flags&vfs.RenameExchange != 0 && flags != vfs.RenameExchange {
		return syscall.EINVAL
	}
	if err := vfs.ValidName(newName); err != nil {
		return err
	}
	fs.mu.Lock()
	changes, err := fs.rename(&rename{op: op, oldName: name, newName: newName, flags: flags}, parent, newParent)
	fs.mu.Unlock()
	if err != nil || changes == nil {
		return err
	}
	fs.announce(op, changes...)
	return nil
}

func (fs *FS) rename(r *rename, parent, newParent vfs.Ino) (changes []vfs.Change, err error) {
	if r.oldDir, r.old, err = fs.find(r.op, parent, r.oldName); err != nil {
		return nil, err
	}
	r.newDir, r.new, err = fs.find(r.op, newParent, r.newName)
	if err != nil && (r.newDir == nil || r.flags&vfs.RenameExchange != 0) {
		return nil, err
	}
	if r.new != nil && r.flags&vfs.RenameNoReplace != 0 {
		return nil, syscall.EEXIST
	}
	if err := fs.checkLoops(r); err != nil {
		return nil, err
	}
	if r.old == r.new {
		return nil, nil
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.flags&vfs.RenameExchange != 0 {
		return r.exchange(), nil
	}
	return fs.move(r), nil
}

// checkLoops refuses what would put a directory below itself.
func (fs *FS) checkLoops(r *rename) error {
	if fs.within(r.newDir, r.old) {
		return syscall.EINVAL
	}
	if r.new != nil && fs.within(r.oldDir, r.new) {
		if r.flags&vfs.RenameExchange != 0 {
			return syscall.EINVAL
		}
		return syscall.ENOTEMPTY
	}
	return nil
}

// within reports whether dir is top or lies below it.
func (fs *FS) within(dir, top *inode) bool {
	for top.dir != nil && dir != nil {
		if dir == top {
			return true
		}
		up := fs.inodes[dir.dir.parent]
		if up == dir {
			return false
		}
		dir = up
	}
	return false
}

// check decides permissions and types as rename(2) does.
func (r *rename) check() error {
	if err := mayRemove(r.op, r.oldDir, r.old); err != nil {
		return err
	}
	exchange := r.flags&vfs.RenameExchange != 0
	if r.new == nil {
		if r.newDir.attr.Nlink == 0 {
			return syscall.ENOENT
		}
		if err := r.newDir.may(r.op, vfs.MayWrite|vfs.MayExec); err != nil {
			return err
		}
	} else {
		if err := mayRemove(r.op, r.newDir, r.new); err != nil {
			return err
		}
		if err := fits(r.new, r.old.dir != nil); err != nil && !exchange {
			return err
		}
	}
	if r.oldDir != r.newDir {
		// The directory's ".." changes, which is a write to it.
		for _, n := range []*inode{r.old, r.new} {
			if n == nil || n.dir == nil || n == r.new && !exchange {
				continue
			}
			if err := n.may(r.op, vfs.MayWrite); err != nil {
				return err
			}
		}
	}
	if r.new != nil && r.new.dir != nil && !exchange && len(r.new.dir.names) > 0 {
		return syscall.ENOTEMPTY
	}
	return nil
}

func (r *rename) oldIno() vfs.Ino { return r.oldDir.attr.Ino }
func (r *rename) newIno() vfs.Ino { return r.newDir.attr.Ino }

// rehome counts a directory that moved between the two parents.
func rehome(n, from, to *inode) {
	if n.dir == nil || from == to {
		return
	}
	n.dir.parent = to.attr.Ino
	from.attr.Nlink--
	to.attr.Nlink++
}

func (r *rename) exchange() []vfs.Change {
	r.oldDir.dir.bind(r.oldName, r.new.attr.Ino)
	r.newDir.dir.bind(r.newName, r.old.attr.Ino)
	rehome(r.old, r.oldDir, r.newDir)
	rehome(r.new, r.newDir, r.oldDir)
	t := now()
	r.oldDir.touched(t)
	r.newDir.touched(t)
	r.old.attr.Ctime, r.new.attr.Ctime = t, t
	return []vfs.Change{
		bound(r.oldIno(), r.oldName, r.new.attr.Ino), bound(r.newIno(), r.newName, r.old.attr.Ino),
		attrOf(r.oldIno()), attrOf(r.newIno()), attrOf(r.old.attr.Ino), attrOf(r.new.attr.Ino),
	}
}

func (fs *FS) move(r *rename) []vfs.Change {
	t := now()
	changes := []vfs.Change{
		bound(r.newIno(), r.newName, r.old.attr.Ino),
		attrOf(r.oldIno()), attrOf(r.newIno()), attrOf(r.old.attr.Ino),
	}
	if r.new != nil {
		fs.unlinked(r.newDir, r.new, t)
		changes = append(changes, attrOf(r.new.attr.Ino))
	}
	r.newDir.dir.bind(r.newName, r.old.attr.Ino)
	rehome(r.old, r.oldDir, r.newDir)
	if r.flags&vfs.RenameWhiteout != 0 {
		w := fs.newInode(r.op, r.oldDir, vfs.ModeChar)
		w.attr.Nlink = 1
		r.oldDir.dir.bind(r.oldName, w.attr.Ino)
		changes = append(changes, bound(r.oldIno(), r.oldName, w.attr.Ino))
	} else {
		r.oldDir.dir.unbind(r.oldName)
		changes = append(changes, unbound(r.oldIno(), r.oldName, r.old.attr.Ino))
	}
	r.oldDir.touched(t)
	r.newDir.touched(t)
	r.old.attr.Ctime = t
	if r.new != nil {
		fs.drop(r.new)
	}
	return changes
}
