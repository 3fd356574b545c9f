package memfs

import (
	"math"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/vfs"
)

// Getattr returns ino's attributes.
func (fs *FS) Getattr(op *vfs.Op, ino vfs.Ino) (vfs.Attr, error) {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	n, err := fs.get(ino)
	if err != nil {
		return vfs.Attr{}, err
	}
	return n.attr, nil
}

// Setattr changes attributes; see vfs.FS.
func (fs *FS) Setattr(op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
	fs.mu.Lock()
	a, err := fs.setattr(op, ino, set)
	fs.mu.Unlock()
	if err != nil {
		return vfs.Attr{}, err
	}
	if set.Mask&vfs.SetSize != 0 {
		fs.announce(op, dataOf(ino, int64(set.Size), -1))
	} else {
		fs.announce(op, rightsOf(ino, set.Mask&(vfs.SetMode|vfs.SetUID|vfs.SetGID) != 0))
	}
	return a, nil
}

func (fs *FS) setattr(op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
	n, err := fs.get(ino)
	if err != nil {
		return vfs.Attr{}, err
	}
	if h, ok := set.Handle.(*handle); ok && set.Mask&vfs.SetSize != 0 && !h.writable() {
		return vfs.Attr{}, syscall.EINVAL
	}
	if err := vfs.ApplySetattr(&n.attr, n.acl, &op.Cred, set, now()); err != nil {
		return vfs.Attr{}, err
	}
	if set.Mask&vfs.SetMode != 0 && n.acl != nil {
		n.acl = n.acl.Chmod(n.attr.Mode)
	}
	if set.Mask&vfs.SetSize != 0 {
		fs.resize(n, set.Size)
	}
	if set.Mask&(vfs.SetSize|vfs.SetUID|vfs.SetGID) != 0 {
		delete(n.xattrs, xattrCapability)
	}
	return n.attr, nil
}

// Access answers access(2).
func (fs *FS) Access(op *vfs.Op, ino vfs.Ino, mask uint32) error {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	n, err := fs.get(ino)
	if err != nil {
		return err
	}
	return n.may(op, mask)
}

// Statfs reports the limit and what is used of it.
func (fs *FS) Statfs(op *vfs.Op) (vfs.Statfs, error) {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	free := uint64(max(fs.limit-fs.pages, 0))
	return vfs.Statfs{
		BlockSize: pageSize, Blocks: uint64(fs.limit), BlocksFree: free, BlocksAvail: free,
		Files: math.MaxUint32, FilesFree: math.MaxUint32 - uint64(len(fs.inodes)), NameMax: vfs.MaxName,
	}, nil
}

// Syncfs has nothing to do.
func (fs *FS) Syncfs(op *vfs.Op) error { return nil }

// accessed moves atime as relatime does: only when it is not newer than the
// last change, or a day old. It must be called with no lock held.
func (fs *FS) accessed(op *vfs.Op, n *inode) {
	fs.mu.RLock()
	t := now()
	due := relatimeDue(&n.attr, t)
	fs.mu.RUnlock()
	if !due {
		return
	}
	fs.mu.Lock()
	n.attr.Atime = t
	fs.mu.Unlock()
	fs.announce(op, attrOf(n.attr.Ino))
}

func relatimeDue(a *vfs.Attr, t int64) bool {
	return a.Atime <= a.Mtime || a.Atime <= a.Ctime || t-a.Atime >= int64(24*time.Hour)
}
