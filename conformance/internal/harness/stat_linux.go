package harness

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Stat is what statx reports, in plain integers; times in nanoseconds since
// 1970.
type Stat struct {
	Ino, Dev, Rdev             uint64
	Mode, Nlink                uint32
	UID, GID                   int
	Size, Blocks               int64
	Blksize                    uint32
	Atime, Mtime, Ctime, Btime int64
	Mask                       uint32 // of STATX_ bits that the file system filled
	Attributes                 uint64 // STATX_ATTR_ bits
	AttributesMask             uint64
}

// Perm returns the permission bits, the set-id and sticky bits among them.
func (s Stat) Perm() uint32 { return s.Mode & 0o7777 }

// Type returns the type bits.
func (s Stat) Type() uint32 { return s.Mode & unix.S_IFMT }

// TryStat stats name below dirfd with AT_ flags.
func TryStat(dirfd int, name string, flags int) (Stat, error) {
	var x unix.Statx_t
	const mask = unix.STATX_BASIC_STATS | unix.STATX_BTIME
	if err := unix.Statx(dirfd, name, flags, mask, &x); err != nil {
		return Stat{}, err
	}
	return Stat{
		Ino: x.Ino, Dev: unix.Mkdev(x.Dev_major, x.Dev_minor), Rdev: unix.Mkdev(x.Rdev_major, x.Rdev_minor),
		Mode: uint32(x.Mode), Nlink: x.Nlink, UID: int(x.Uid), GID: int(x.Gid),
		Size: int64(x.Size), Blocks: int64(x.Blocks), Blksize: x.Blksize,
		Atime: nanos(x.Atime), Mtime: nanos(x.Mtime), Ctime: nanos(x.Ctime), Btime: nanos(x.Btime),
		Mask: x.Mask, Attributes: x.Attributes, AttributesMask: x.Attributes_mask,
	}, nil
}

func nanos(ts unix.StatxTimestamp) int64 { return ts.Sec*1e9 + int64(ts.Nsec) }

// Lstat stats a name, links themselves included.
func (t *T) Lstat(name string) Stat {
	s, err := TryStat(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		t.Must(fmt.Errorf("lstat %q: %w", name, err))
	}
	return s
}

// Stat stats what a name leads to.
func (t *T) Stat(name string) Stat {
	s, err := TryStat(unix.AT_FDCWD, name, 0)
	if err != nil {
		t.Must(fmt.Errorf("stat %q: %w", name, err))
	}
	return s
}

// Fstat stats an open file.
func (t *T) Fstat(fd int) Stat {
	s, err := TryStat(fd, "", unix.AT_EMPTY_PATH)
	if err != nil {
		t.Must(fmt.Errorf("fstat: %w", err))
	}
	return s
}

// Exists reports whether a name is there, without following it.
func (t *T) Exists(name string) bool {
	_, err := TryStat(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil
}

// Gone asserts that a name leads nowhere.
func (t *T) Gone(name string) bool {
	_, err := TryStat(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW)
	return t.Errno(err, unix.ENOENT)
}

// Is asserts that a name leads to the inode that s describes.
func (t *T) Is(name string, s Stat) bool {
	got, err := TryStat(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return t.Check(false, "%q: %s, want inode %d", name, describe(err), s.Ino)
	}
	return t.Check(got.Ino == s.Ino && got.Type() == s.Type(),
		"%q is inode %d of type %o, want %d of type %o", name, got.Ino, got.Type(), s.Ino, s.Type())
}

// Nlink asserts a name's count of links.
func (t *T) Nlink(name string, want uint32) bool {
	s, err := TryStat(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return t.Check(false, "%q: %s, want %d links", name, describe(err), want)
	}
	return t.Check(s.Nlink == want, "%q has %d links, want %d", name, s.Nlink, want)
}

// Perm asserts a name's permission bits.
func (t *T) Perm(name string, want uint32) bool {
	s, err := TryStat(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return t.Check(false, "%q: %s, want mode %#o", name, describe(err), want)
	}
	return t.Check(s.Perm() == want, "%q has mode %#o, want %#o", name, s.Perm(), want)
}

// Size asserts a name's size in bytes.
func (t *T) Size(name string, want int64) bool {
	s, err := TryStat(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return t.Check(false, "%q: %s, want %d bytes", name, describe(err), want)
	}
	return t.Check(s.Size == want, "%q has %d bytes, want %d", name, s.Size, want)
}

// Owner asserts a name's user and group.
func (t *T) Owner(name string, uid, gid int) bool {
	s, err := TryStat(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return t.Check(false, "%q: %s, want owner %d:%d", name, describe(err), uid, gid)
	}
	return t.Check(s.UID == uid && s.GID == gid, "%q is owned by %d:%d, want %d:%d", name, s.UID, s.GID, uid, gid)
}
