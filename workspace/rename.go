package workspace

import (
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// move is a rename being checked: what is where, before anything changes.
type move struct {
	from, to         *inode // the directories
	name, newName    string
	n, target        *inode // what moves, and what is in its way (nil: nothing)
	exchange, whiten bool
}

// Rename implements vfs.FS.
func (w *Workspace) Rename(op *vfs.Op, parent vfs.Ino, name string, newParent vfs.Ino, newName string, flags uint32) error {
	const known = vfs.RenameNoReplace | vfs.RenameExchange | vfs.RenameWhiteout
	if flags&^known != 0 || flags&vfs.RenameExchange != 0 && flags != vfs.RenameExchange {
		return syscall.EINVAL
	}
	if name == "." || name == ".." || newName == "." || newName == ".." {
		if flags&vfs.RenameNoReplace != 0 && (newName == "." || newName == "..") {
			return syscall.EEXIST
		}
		return syscall.EBUSY
	}
	return w.mutate(op, func(b *batch) error {
		m := &move{name: name, newName: newName,
			exchange: flags&vfs.RenameExchange != 0, whiten: flags&vfs.RenameWhiteout != 0}
		if err := w.findMove(op, m, parent, newParent); err != nil {
			return err
		}
		if m.target != nil && flags&vfs.RenameNoReplace != 0 {
			return syscall.EEXIST
		}
		if m.exchange && m.target == nil {
			return syscall.ENOENT
		}
		if m.target == m.n {
			return nil // two names of one file: POSIX wants nothing done
		}
		if err := w.checkMove(op, m); err != nil {
			return err
		}
		if m.exchange {
			return w.exchange(b, m)
		}
		return w.replace(op, b, m)
	})
}

func (w *Workspace) findMove(op *vfs.Op, m *move, parent, newParent vfs.Ino) (err error) {
	if len(m.name) > vfs.MaxName || len(m.newName) > vfs.MaxName {
		return syscall.ENAMETOOLONG
	}
	if m.from, err = w.loadDir(op, parent, vfs.MayExec); err != nil {
		return err
	}
	if m.to, err = w.loadDir(op, newParent, vfs.MayExec); err != nil {
		return err
	}
	if m.n, err = w.lookup(parent, m.name); err != nil {
		return err
	}
	if m.n == nil {
		return syscall.ENOENT
	}
	if m.target, err = w.lookup(newParent, m.newName); err != nil || m.target != nil {
		return err
	}
	return vfs.ValidName(m.newName)
}

// checkMove decides in the order of Linux: loops, permissions, types, then
// emptiness.
func (w *Workspace) checkMove(op *vfs.Op, m *move) error {
	if err := w.checkLoop(m); err != nil {
		return err
	}
	if err := w.mayRemove(op, m.from, m.n); err != nil {
		return err
	}
	if m.target == nil {
		if err := w.permit(op, m.to, vfs.MayWrite|vfs.MayExec); err != nil {
			return err
		}
	} else if err := w.mayRemove(op, m.to, m.target); err != nil {
		return err
	}
	// A directory that changes its parent has its ".." rewritten.
	if m.from != m.to {
		if m.n.v.IsDir() {
			if err := w.permit(op, m.n, vfs.MayWrite); err != nil {
				return err
			}
		}
		if m.exchange && m.target.v.IsDir() {
			if err := w.permit(op, m.target, vfs.MayWrite); err != nil {
				return err
			}
		}
	}
	if m.target == nil || m.exchange {
		return nil
	}
	switch {
	case m.n.v.IsDir() && !m.target.v.IsDir():
		return syscall.ENOTDIR
	case !m.n.v.IsDir() && m.target.v.IsDir():
		return syscall.EISDIR
	case m.target.v.IsDir() && m.target.v.Size > 0:
		return syscall.ENOTEMPTY
	}
	return nil
}

// checkLoop refuses to put a directory below itself (EINVAL), and to replace
// an ancestor of what moves (ENOTEMPTY; EINVAL when they would be exchanged).
func (w *Workspace) checkLoop(m *move) error {
	if m.n.v.IsDir() {
		if below, err := w.isBelow(m.to, m.n); err != nil || below {
			return orErrno(err, syscall.EINVAL)
		}
	}
	if m.target != nil && m.target.v.IsDir() {
		if below, err := w.isBelow(m.from, m.target); err != nil || below {
			if m.exchange {
				return orErrno(err, syscall.EINVAL)
			}
			return orErrno(err, syscall.ENOTEMPTY)
		}
	}
	return nil
}

func orErrno(err error, e syscall.Errno) error {
	if err != nil {
		return err
	}
	return e
}

// isBelow reports whether dir is ancestor or lies below it.
func (w *Workspace) isBelow(dir, ancestor *inode) (bool, error) {
	for dir != ancestor {
		if dir.ino == vfs.RootIno {
			return false, nil
		}
		up, err := w.load(dir.v.parent)
		if err != nil {
			return false, err
		}
		dir = up
	}
	return true, nil
}

// replace moves m.n to its new name, over the target if there is one.
func (w *Workspace) replace(op *vfs.Op, b *batch, m *move) error {
	t := now()
	entries, subdirs := 1, isDir(m.n)
	if m.target != nil {
		entries, subdirs = 0, subdirs-isDir(m.target)
		b.change(vfs.Change{Kind: vfs.ChangeAttr, Ino: m.target.ino})
		if err := w.dropLink(b, m.target, m.to.ino, t); err != nil {
			return err
		}
	}
	b.unbind(m.from.ino, m.name, m.n.ino)
	w.touchDir(b, m.from, -1, -isDir(m.n), t)
	b.bind(m.to.ino, m.newName, m.n, m.n.v.Mode)
	w.touchDir(b, m.to, entries, subdirs, t)
	w.moved(b, m.n, m.to, t)
	if m.whiten {
		n, v, err := w.newInode(op, b, m.from, vfs.ModeChar, false)
		if err != nil {
			return err
		}
		w.bindNew(b, m.from, m.name, n, v)
	}
	return nil
}

// exchange swaps two names.
func (w *Workspace) exchange(b *batch, m *move) error {
	t := now()
	b.bind(m.from.ino, m.name, m.target, m.target.v.Mode)
	b.bind(m.to.ino, m.newName, m.n, m.n.v.Mode)
	delta := isDir(m.n) - isDir(m.target)
	if m.from == m.to {
		delta = 0
	}
	w.touchDir(b, m.from, 0, -delta, t)
	w.touchDir(b, m.to, 0, delta, t)
	w.moved(b, m.n, m.to, t)
	w.moved(b, m.target, m.from, t)
	return nil
}

func (w *Workspace) moved(b *batch, n, to *inode, t int64) {
	v := b.value(n)
	v.parent, v.Ctime = to.ino, t
	b.set(n, v)
	b.change(vfs.Change{Kind: vfs.ChangeAttr, Ino: n.ino})
}

func isDir(n *inode) int {
	if n.v.IsDir() {
		return 1
	}
	return 0
}
