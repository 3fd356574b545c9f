// Package memfs is a complete vfs.FS that lives in memory and forgets
// everything at exit: the baseline of bench and the test tree of whatever is
// built over vfs.FS.
//
// # Locks
//
// FS.mu guards every inode, directory and handle: one lock, so that an
// operation is atomic by construction. The list of watchers is copied on
// write and read without it, because Changed is called with no lock held.
package memfs

import (
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/vfs"
)

// defaultCapacity is what Statfs reports as the size of a tree without Limit.
const defaultCapacity = 1 << 40

// FS is a tree in memory. Make one with New.
type FS struct {
	mu     sync.RWMutex
	inodes map[vfs.Ino]*inode // guarded by mu
	next   vfs.Ino            // guarded by mu
	pages  int64              // data pages in use; guarded by mu
	limit  int64              // most pages that data may use; guarded by mu

	watchMu  sync.Mutex // serialises changes of watchers
	watchers atomic.Pointer[[]vfs.Watcher]
}

var _ vfs.FS = (*FS)(nil)

// inode is one file of any type. FS.mu guards all of it.
type inode struct {
	attr vfs.Attr
	// acl and dacl are the parsed access and default ACLs, nil when the mode
	// says it all; they are not in xattrs.
	acl, dacl vfs.ACL
	xattrs    map[string][]byte
	target    string     // symlinks
	dir       *directory // directories
	data      data       // regular files
	opens     int
	pins      int
	// linkable is set for an O_TMPFILE file without O_EXCL: Link may give it a
	// name though it has no link.
	linkable bool
}

// New returns a tree with nothing but a root directory that belongs to root
// and has mode 0755.
func New() *FS {
	fs := &FS{inodes: map[vfs.Ino]*inode{}, next: vfs.RootIno, limit: defaultCapacity / pageSize}
	fs.watchers.Store(&[]vfs.Watcher{})
	root := fs.addInode(vfs.ModeDir|0o755, 0, 0)
	root.attr.Nlink = 2
	root.dir = newDirectory(root.attr.Ino)
	return fs
}

// Limit sets how many bytes of data the tree may hold; what does not fit is
// ENOSPC. Data is counted in pages of 4 KiB.
func (fs *FS) Limit(bytes int64) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.limit = bytes / pageSize
}

func now() int64 { return time.Now().UnixNano() }

func (fs *FS) addInode(mode, uid, gid uint32) *inode {
	t := now()
	n := &inode{attr: vfs.Attr{
		Ino: fs.next, Mode: mode, UID: uid, GID: gid,
		Atime: t, Mtime: t, Ctime: t, Btime: t,
	}}
	fs.next++
	fs.inodes[n.attr.Ino] = n
	return n
}

// newInode makes an inode that op's caller owns and dir hands its group and
// default ACL to. It has no name and no link yet.
func (fs *FS) newInode(op *vfs.Op, dir *inode, mode uint32) *inode {
	mode, uid, gid := vfs.NewOwner(&dir.attr, &op.Cred, mode)
	var acl vfs.ACL
	switch {
	case mode&vfs.ModeTypeMask == vfs.ModeSymlink:
	case dir.dacl != nil:
		mode, acl = dir.dacl.Inherit(mode)
	default:
		mode &^= op.Umask & 0o777
	}
	n := fs.addInode(mode, uid, gid)
	n.acl = acl
	if n.attr.IsDir() {
		n.dacl = dir.dacl
	}
	return n
}

// get returns the inode ino.
func (fs *FS) get(ino vfs.Ino) (*inode, error) {
	if n := fs.inodes[ino]; n != nil {
		return n, nil
	}
	return nil, syscall.ENOENT
}

// getDir returns the directory ino if the caller may use it as mask says.
func (fs *FS) getDir(op *vfs.Op, ino vfs.Ino, mask uint32) (*inode, error) {
	n, err := fs.get(ino)
	if err != nil {
		return nil, err
	}
	if n.dir == nil {
		return nil, syscall.ENOTDIR
	}
	return n, n.may(op, mask)
}

func (n *inode) may(op *vfs.Op, mask uint32) error {
	if vfs.Permits(&n.attr, n.acl, &op.Cred, mask) {
		return nil
	}
	return syscall.EACCES
}

// drop frees an inode that nothing leads to any more.
func (fs *FS) drop(n *inode) {
	if n.attr.Nlink > 0 || n.opens > 0 || n.pins > 0 {
		return
	}
	fs.pages -= n.data.clear()
	delete(fs.inodes, n.attr.Ino)
}

// Pin keeps ino reachable by number; see vfs.FS.
func (fs *FS) Pin(ino vfs.Ino) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if n := fs.inodes[ino]; n != nil {
		n.pins++
	}
}

// Unpin ends one Pin.
func (fs *FS) Unpin(ino vfs.Ino) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if n := fs.inodes[ino]; n != nil && n.pins > 0 {
		n.pins--
		fs.drop(n)
	}
}

// Watch announces changes to w; see vfs.FS.
func (fs *FS) Watch(w vfs.Watcher) (stop func()) {
	fs.watchMu.Lock()
	defer fs.watchMu.Unlock()
	list := append(append([]vfs.Watcher(nil), *fs.watchers.Load()...), w)
	fs.watchers.Store(&list)
	return sync.OnceFunc(func() { fs.unwatch(w) })
}

func (fs *FS) unwatch(w vfs.Watcher) {
	fs.watchMu.Lock()
	defer fs.watchMu.Unlock()
	var list []vfs.Watcher
	for _, other := range *fs.watchers.Load() {
		if other != w {
			list = append(list, other)
		}
	}
	fs.watchers.Store(&list)
}

// announce tells every watcher but op's own origin. No lock may be held.
func (fs *FS) announce(op *vfs.Op, cs ...vfs.Change) {
	for _, w := range *fs.watchers.Load() {
		if o := w.Origin(); o == 0 || o != op.Origin {
			w.Changed(cs)
		}
	}
}

func bound(parent vfs.Ino, name string, ino vfs.Ino) vfs.Change {
	return vfs.Change{Kind: vfs.ChangeEntry, Parent: parent, Name: name, Ino: ino}
}

func unbound(parent vfs.Ino, name string, ino vfs.Ino) vfs.Change {
	return vfs.Change{Kind: vfs.ChangeEntry, Parent: parent, Name: name, Ino: ino, Gone: true}
}

func attrOf(ino vfs.Ino) vfs.Change { return vfs.Change{Kind: vfs.ChangeAttr, Ino: ino} }

func rightsOf(ino vfs.Ino, changed bool) vfs.Change {
	return vfs.Change{Kind: vfs.ChangeAttr, Ino: ino, Rights: changed}
}

func dataOf(ino vfs.Ino, off, n int64) vfs.Change {
	return vfs.Change{Kind: vfs.ChangeData, Ino: ino, Off: off, Len: n}
}
