package vfs

import "context"

// Origin tells the ways into a workspace apart, so that a change is not
// announced to the one who made it. Zero is nobody's.
type Origin uint32

// Cred is who asks. Unless Privileged says otherwise, UID 0 has every
// privilege and nobody else has any.
type Cred struct {
	UID uint32
	GID uint32
	PID uint32 // 0 when the caller is no process of this host
	// Groups yields the supplementary groups. It is a function because the
	// kernel does not send them and finding them costs a read of /proc, which
	// most checks never need. nil means none.
	Groups func() []uint32
	// Privileged reports whether the caller has a privilege over an inode; see
	// Capable. It is asked only where permissions alone would refuse.
	Privileged func(p Cap, a *Attr) bool
}

// InGroup reports whether gid is the caller's group or one of its
// supplementary ones.
func (c *Cred) InGroup(gid uint32) bool {
	if c.GID == gid {
		return true
	}
	if c.Groups == nil {
		return false
	}
	for _, g := range c.Groups() {
		if g == gid {
			return true
		}
	}
	return false
}

// Op is one call's circumstances: until when, for whom, from where.
// It is owned by the caller and not kept after the call returns.
type Op struct {
	// Ctx ends a call that waits (EINTR). nil never ends.
	Ctx context.Context
	Cred
	// Umask clears permission bits of what Create, Mknod, Mkdir and Tmpfile
	// make, unless a default ACL takes its place.
	Umask uint32
	// Origin is the way in; see FS.Watch.
	Origin Origin
	// NoAtime keeps a listing from moving the directory's access time: nobody
	// asked for it.
	NoAtime bool
}

// Rename flags, as in renameat2(2).
const (
	RenameNoReplace = 1 << 0
	RenameExchange  = 1 << 1
	RenameWhiteout  = 1 << 2
)

// Xattr set flags, as in setxattr(2).
const (
	XattrCreate  = 1
	XattrReplace = 2
)

// Access masks, as in access(2).
const (
	MayExec  = 1
	MayWrite = 2
	MayRead  = 4
)

// FS is a whole POSIX namespace by inode number: the interface between every
// way in (mount, shell, API, checkout) and whatever keeps the files.
//
// Every method is safe for concurrent use and checks permissions for op's
// credentials. An inode number that is not there is ENOENT (ESTALE reaches
// nobody). Each mutating method is atomic: all of it happened or nothing did,
// and it has moved the times that POSIX says it moves. No method follows
// symlinks and none knows "." or "..".
type FS interface {
	// Lookup finds name in the directory parent. ENOENT, ENOTDIR, EACCES.
	Lookup(op *Op, parent Ino, name string) (Attr, error)
	// Parent returns the directory that holds the directory ino; the root's
	// parent is the root.
	Parent(op *Op, ino Ino) (Ino, error)
	Getattr(op *Op, ino Ino) (Attr, error)
	// Setattr changes attributes and returns the new ones. A chown or a size
	// change clears set-id bits as Linux does.
	Setattr(op *Op, ino Ino, set *SetAttr) (Attr, error)
	// Access answers access(2): nil or EACCES.
	Access(op *Op, ino Ino, mask uint32) error

	Readlink(op *Op, ino Ino) (string, error)
	Symlink(op *Op, parent Ino, name, target string) (Attr, error)
	// Mknod makes a FIFO, socket, device or empty regular file; mode has the
	// type bits. EPERM for devices to the unprivileged.
	Mknod(op *Op, parent Ino, name string, mode, rdev uint32) (Attr, error)
	Mkdir(op *Op, parent Ino, name string, mode uint32) (Attr, error)
	Link(op *Op, ino, newParent Ino, newName string) (Attr, error)
	Unlink(op *Op, parent Ino, name string) error
	Rmdir(op *Op, parent Ino, name string) error
	// Rename moves a name; flags are RenameNoReplace, RenameExchange or
	// RenameWhiteout.
	Rename(op *Op, parent Ino, name string, newParent Ino, newName string, flags uint32) error

	// Create makes a regular file and opens it; EEXIST when the name is taken.
	// flags are open(2)'s as in package syscall.
	Create(op *Op, parent Ino, name string, mode uint32, flags int) (Attr, Handle, error)
	// Tmpfile makes and opens a regular file with no name (O_TMPFILE). Link
	// gives it one, unless flags had O_EXCL.
	Tmpfile(op *Op, parent Ino, mode uint32, flags int) (Attr, Handle, error)
	// Open opens a regular file; flags may have O_TRUNC and O_APPEND. Read
	// and write permission are checked here and not again.
	Open(op *Op, ino Ino, flags int) (Handle, error)
	OpenDir(op *Op, ino Ino) (DirHandle, error)

	// Getxattr returns the value, which the caller may keep; ENODATA when there
	// is none, EOPNOTSUPP for a namespace that is not kept.
	Getxattr(op *Op, ino Ino, name string) ([]byte, error)
	Setxattr(op *Op, ino Ino, name string, value []byte, flags uint32) error
	// Listxattr returns the names that the caller may see, sorted.
	Listxattr(op *Op, ino Ino) ([]string, error)
	Removexattr(op *Op, ino Ino, name string) error

	Statfs(op *Op) (Statfs, error)
	// Syncfs makes everything acknowledged so far durable.
	Syncfs(op *Op) error

	// Pin keeps an inode that loses its last name reachable by number until as
	// many Unpins: a kernel that holds it may still ask for its attributes.
	Pin(ino Ino)
	Unpin(ino Ino)

	// Watch announces every change to w until stop is called. Changes whose
	// op had w's own origin are left out.
	Watch(w Watcher) (stop func())
}

// Handle is an open regular file. It outlives unlink. All methods are safe for
// concurrent use; Release is called once, last.
type Handle interface {
	Ino() Ino
	// Read fills p from off and returns how much there was: short only at the
	// end of the file, 0 and nil past it. EBADF when not open for reading.
	Read(op *Op, p []byte, off int64) (int, error)
	// Write puts p at off, or at the end for an O_APPEND handle; all of p or
	// an error. The bytes have left the caller's memory when it returns.
	Write(op *Op, p []byte, off int64) (int, error)
	// Flush answers close(2) of one descriptor; the handle stays open.
	Flush(op *Op) error
	// Fsync makes the file durable, and the names that lead to it. After a
	// failure every later Fsync of this handle fails too.
	Fsync(op *Op, dataOnly bool) error
	// Seek answers SEEK_DATA (3) and SEEK_HOLE (4); ENXIO past the last data.
	Seek(op *Op, off int64, whence int) (int64, error)
	// Fallocate takes the mode bits of fallocate(2); EOPNOTSUPP for others.
	Fallocate(op *Op, mode uint32, off, length int64) error
	// CopyTo copies up to n bytes from this file at off to dst at dstOff,
	// sharing what can be shared; it returns how much was copied.
	CopyTo(op *Op, off int64, dst Handle, dstOff, n int64) (int64, error)
	Release(op *Op)
}

// DirHandle is an open directory.
type DirHandle interface {
	Ino() Ino
	// ReadDir calls emit for each name after cookie (0 starts anew and sees the
	// present names), in an order that is stable for this handle, until emit
	// returns false or the names end. A name that exists throughout is
	// yielded once, whatever else changes; "." and ".." are not yielded. With
	// attrs each entry carries its attributes. The entry is reused: copy what
	// you keep. emit must not call the FS.
	ReadDir(op *Op, cookie uint64, attrs bool, emit func(*DirEntry) bool) error
	Fsync(op *Op, dataOnly bool) error
	Release(op *Op)
}

// ChangeKind says what a Change is about.
type ChangeKind uint8

// The kinds of change.
const (
	// ChangeEntry: the binding Parent/Name was made, removed or re-bound.
	ChangeEntry ChangeKind = 1
	// ChangeAttr: the attributes of Ino changed.
	ChangeAttr ChangeKind = 2
	// ChangeData: bytes [Off, Off+Len) of Ino changed (Len < 0: to the end),
	// its attributes too.
	ChangeData ChangeKind = 3
	// ChangeAll: anything may differ (a restore, a merge too large to list).
	ChangeAll ChangeKind = 4
)

// Change is one thing that a cache must forget.
type Change struct {
	Kind   ChangeKind
	Parent Ino    // ChangeEntry
	Name   string // ChangeEntry
	Ino    Ino    // the inode bound now, or the one that was bound
	Gone   bool   // ChangeEntry: the name is bound no more
	// Rights: ChangeAttr of mode, owner or access ACL, so that others may use
	// the inode than before.
	Rights bool
	Off    int64 // ChangeData
	Len    int64
}

// Watcher hears of changes. Changed is called after the change is applied, in
// the goroutine of the one who made it, with no lock held; that call returns
// to its maker only after every watcher has, so that a change is visible
// everywhere once it is acknowledged. Changed must not call the FS.
type Watcher interface {
	Origin() Origin
	Changed(cs []Change)
}
