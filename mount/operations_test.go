//go:build linux

package mount_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Every operation that the kernel can send, by plain system calls.
func TestOperations(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		for _, name := range []string{
			"names", "renames", "files", "appends", "sparse", "attributes", "xattrs",
			"listings", "special", "mappings", "locks", "unlinked", "programs", "manyFiles",
		} {
			t.Run(name, func(t *testing.T) { serve(t, driver, nil).run(name, nil) })
		}
	})
}

func init() {
	for name, f := range map[string]func(*client){
		"names": names, "renames": renames, "files": files, "appends": appends, "sparse": sparse,
		"attributes": attributes, "xattrs": xattrs, "listings": listings, "special": special,
		"mappings": mappings, "locks": locks, "unlinked": unlinked, "programs": programs, "manyFiles": manyFiles,
	} {
		clients[name] = f
	}
}

func (c *client) create(name, data string) {
	c.ok(os.WriteFile(c.path(name), []byte(data), 0o644))
}

func (c *client) open(name string, flags int) int {
	fd, err := unix.Open(c.path(name), flags|unix.O_CLOEXEC, 0o644)
	if err != nil {
		c.fatalf("open %s: %v", name, err)
	}
	return fd
}

func (c *client) stat(name string) unix.Stat_t {
	var st unix.Stat_t
	if err := unix.Lstat(c.path(name), &st); err != nil {
		c.fatalf("stat %s: %v", name, err)
	}
	return st
}

func (c *client) contents(name, want string) {
	got, err := os.ReadFile(c.path(name))
	if err != nil || string(got) != want {
		c.errorf("%s holds %.60q, %v; want %.60q", name, got, err, want)
	}
}

func (c *client) list(name string) string {
	entries, err := os.ReadDir(c.path(name))
	if err != nil {
		c.errorf("list %s: %v", name, err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func names(c *client) {
	c.ok(unix.Mkdir(c.path("d"), 0o755))
	c.want("mkdir again", unix.Mkdir(c.path("d"), 0o755), unix.EEXIST)
	c.create("d/f", "hello")
	c.want("rmdir of a full one", unix.Rmdir(c.path("d")), unix.ENOTEMPTY)
	c.want("rmdir of a file", unix.Rmdir(c.path("d/f")), unix.ENOTDIR)
	c.want("unlink of a directory", unix.Unlink(c.path("d")), unix.EISDIR)
	c.want("unlink of nothing", unix.Unlink(c.path("d/none")), unix.ENOENT)
	c.want("through a file", unix.Access(c.path("d/f/x"), unix.F_OK), unix.ENOTDIR)
	c.ok(unix.Link(c.path("d/f"), c.path("l")))
	if a, b := c.stat("l"), c.stat("d/f"); a.Ino != b.Ino || a.Nlink != 2 || b.Nlink != 2 || a.Size != 5 {
		c.errorf("after link: %+v and %+v", a, b)
	}
	c.want("link to a directory", unix.Link(c.path("d"), c.path("x")), unix.EPERM)
	c.want("link over something", unix.Link(c.path("l"), c.path("d/f")), unix.EEXIST)
	c.ok(unix.Symlink("d/f", c.path("s")))
	c.contents("s", "hello")
	if st := c.stat("s"); st.Size != 3 || st.Mode&unix.S_IFMT != unix.S_IFLNK {
		c.errorf("symlink: %+v", st)
	}
	target := strings.Repeat("x", 4000)
	c.ok(unix.Symlink(target, c.path("long")))
	for range 2 { // from the FS, then from the kernel's cache
		if got, err := os.Readlink(c.path("long")); got != target {
			c.errorf("readlink: %d bytes, %v", len(got), err)
		}
	}
	c.want("a name too long", unix.Mkdir(c.path(strings.Repeat("n", 256)), 0o755), unix.ENAMETOOLONG)
	odd := strings.Repeat("\xff", 254) + "\n"
	c.create(odd, "odd")
	c.contents(odd, "odd")
	c.ok(unix.Unlink(c.path(odd)))
	if n := c.stat(".").Nlink; n != 3 {
		c.errorf("root has %d links, want 3", n)
	}
	c.ok(unix.Unlink(c.path("d/f")))
	c.ok(unix.Rmdir(c.path("d")))
	if st := c.stat("l"); st.Nlink != 1 {
		c.errorf("%d links after unlink", st.Nlink)
	}
}

func renames(c *client) {
	c.ok(os.MkdirAll(c.path("a/b/c"), 0o755))
	c.create("f", "f")
	c.create("g", "g")
	rename := func(from, to string, flags uint) error {
		return unix.Renameat2(unix.AT_FDCWD, c.path(from), unix.AT_FDCWD, c.path(to), flags)
	}
	c.want("into itself", rename("a", "a/b/c", 0), unix.EINVAL)
	c.want("over an ancestor", rename("a/b/c", "a", 0), unix.ENOTEMPTY)
	c.want("file over directory", rename("f", "a", 0), unix.EISDIR)
	c.want("directory over file", rename("a", "f", 0), unix.ENOTDIR)
	c.ok(rename("f", "a/f", 0))
	c.ok(rename("a/f", "g", 0))
	c.contents("g", "f")
	c.ok(rename("a", "z", 0))
	c.ok(rename("z/b", "b", 0))
	if n := c.stat("z").Nlink; n != 2 {
		c.errorf("z has %d links after its directory left", n)
	}
	if got, want := c.list("."), "b g z"; got != want {
		c.errorf("names %q, want %q", got, want)
	}
	if !c.caps.RenameFlags {
		c.want("NOREPLACE", rename("g", "z/g", unix.RENAME_NOREPLACE), unix.EINVAL)
		return
	}
	c.want("NOREPLACE", rename("g", "b", unix.RENAME_NOREPLACE), unix.EEXIST)
	c.ok(rename("g", "z/g", unix.RENAME_NOREPLACE))
	c.ok(rename("z", "b", unix.RENAME_EXCHANGE))
	c.contents("b/g", "f")
	c.ok(rename("b/g", "w", unix.RENAME_WHITEOUT))
	if st := c.stat("b/g"); st.Mode&unix.S_IFMT != unix.S_IFCHR || st.Rdev != 0 {
		c.errorf("no whiteout: %+v", st)
	}
}

func files(c *client) {
	fd := c.open("f", unix.O_RDWR|unix.O_CREAT|unix.O_EXCL)
	_, err := unix.Open(c.path("f"), unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o644)
	c.want("create again", err, unix.EEXIST)
	big := bytes.Repeat([]byte("0123456789abcdef"), 3<<20/16)
	n, err := unix.Pwrite(fd, big, 100)
	if n != len(big) {
		c.fatalf("wrote %d: %v", n, err)
	}
	got := make([]byte, len(big)+200)
	if n, err := unix.Pread(fd, got, 0); n != len(big)+100 || !bytes.Equal(got[100:n], big) {
		c.errorf("read back %d, %v", n, err)
	}
	c.ok(unix.Ftruncate(fd, 150))
	c.ok(unix.Ftruncate(fd, 4096))
	if n, _ := unix.Pread(fd, got, 0); n != 4096 || !bytes.Equal(got[100:150], big[:50]) || !allZero(got[150:n]) {
		c.errorf("after truncation: %d bytes", n)
	}
	c.ok(unix.Fsync(fd))
	c.ok(unix.Fdatasync(fd))
	c.ok(unix.Close(fd))
	c.ok(unix.Truncate(c.path("f"), 3))
	if st := c.stat("f"); st.Size != 3 {
		c.errorf("size %d after truncate", st.Size)
	}
	c.ok(unix.Close(c.open("f", unix.O_WRONLY|unix.O_TRUNC)))
	if st := c.stat("f"); st.Size != 0 || st.Blocks != 0 {
		c.errorf("O_TRUNC left %+v", st)
	}
	c.want("open of a directory for writing", openError(c.path("."), unix.O_WRONLY), unix.EISDIR)
	c.want("open of a name that is not there", openError(c.path("none"), unix.O_RDONLY), unix.ENOENT)

	// A write-only handle bypasses the page cache; what others see must not.
	w := c.open("w", unix.O_WRONLY|unix.O_CREAT)
	r := c.open("w", unix.O_RDONLY)
	for i := range 10 {
		line := fmt.Sprintf("line %d\n", i)
		unix.Write(w, []byte(line))
		if n, err := unix.Read(r, got); string(got[:n]) != line {
			c.errorf("read %q, %v after writing %q", got[:n], err, line)
		}
	}
	_, err = unix.Write(r, []byte("x"))
	c.want("write to a read-only file", err, unix.EBADF)
	sync := c.open("sync", unix.O_WRONLY|unix.O_CREAT|unix.O_SYNC)
	_, err = unix.Write(sync, []byte("durable"))
	c.ok(err)
	if c.caps.Tmpfile {
		tmpfile(c)
	} else {
		c.want("O_TMPFILE", openError(c.dir, unix.O_TMPFILE|unix.O_RDWR), unix.EOPNOTSUPP)
	}
	copyRange(c, big)
	var st unix.Statfs_t
	c.ok(unix.Statfs(c.dir, &st))
	if st.Namelen != 255 || st.Blocks == 0 || st.Bfree >= st.Blocks {
		c.errorf("statfs %+v", st)
	}
	c.want("ioctl", unix.IoctlSetInt(r, 0x1234, 0), unix.ENOTTY)
}

func openError(path string, flags int) error {
	fd, err := unix.Open(path, flags, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func allZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

func tmpfile(c *client) {
	fd, err := unix.Open(c.dir, unix.O_TMPFILE|unix.O_RDWR, 0o600)
	c.ok(err)
	_, err = unix.Write(fd, []byte("nameless"))
	c.ok(err)
	c.ok(unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, c.path("named"), unix.AT_SYMLINK_FOLLOW))
	c.contents("named", "nameless")
	excl, err := unix.Open(c.dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_EXCL, 0o600)
	c.ok(err)
	c.want("link of an exclusive one", unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", excl), unix.AT_FDCWD, c.path("x"), unix.AT_SYMLINK_FOLLOW), unix.ENOENT)
}

func copyRange(c *client, data []byte) {
	c.ok(os.WriteFile(c.path("from"), data, 0o644))
	from, to := c.open("from", unix.O_RDONLY), c.open("to", unix.O_RDWR|unix.O_CREAT)
	off, dst := int64(10), int64(5000)
	n, err := unix.CopyFileRange(from, &off, to, &dst, 1<<20, 0)
	if n <= 0 {
		c.fatalf("copy_file_range: %d, %v", n, err)
	}
	got := make([]byte, n)
	if _, err := unix.Pread(to, got, 5000); !bytes.Equal(got, data[10:10+n]) {
		c.errorf("copied bytes differ, %v", err)
	}
	if st := c.stat("to"); st.Size != 5000+int64(n) {
		c.errorf("size %d after copying %d", st.Size, n)
	}
}

func appends(c *client) {
	const writers, lines = 4, 200
	done := make(chan error, writers)
	for w := range writers {
		fd := c.open("log", unix.O_WRONLY|unix.O_CREAT|unix.O_APPEND)
		go func() {
			for i := range lines {
				if _, err := unix.Write(fd, fmt.Appendf(nil, "%d %06d\n", w, i)); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range writers {
		c.ok(<-done)
	}
	b, err := os.ReadFile(c.path("log"))
	c.ok(err)
	next := [writers]int{}
	for line := range strings.Lines(string(b)) {
		var w, i int
		if _, err := fmt.Sscanf(line, "%d %d", &w, &i); err != nil || i != next[w] {
			c.fatalf("line %q, want number %d", line, next[w])
		}
		next[w]++
	}
	if len(b) != writers*lines*9 {
		c.errorf("%d bytes", len(b))
	}
	// A mapping's pages go back where they belong, also by an O_APPEND handle.
	fd := c.open("log", unix.O_RDWR|unix.O_APPEND)
	m, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	c.ok(err)
	m[0] = 'M'
	c.ok(unix.Msync(m, unix.MS_SYNC))
	if st := c.stat("log"); st.Size != int64(len(b)) {
		c.errorf("msync made %d bytes of %d", st.Size, len(b))
	}
}

func sparse(c *client) {
	fd := c.open("f", unix.O_RDWR|unix.O_CREAT)
	_, err := unix.Pwrite(fd, []byte("x"), 1<<31+1)
	c.ok(err)
	if st := c.stat("f"); st.Size != 1<<31+2 || st.Blocks > 16 {
		c.errorf("%d bytes in %d sectors", st.Size, st.Blocks)
	}
	at, err := unix.Seek(fd, 0, unix.SEEK_DATA)
	if want := int64(1 << 31); c.caps.Seek && (err != nil || at != want) || !c.caps.Seek && at != 0 {
		c.errorf("SEEK_DATA: %d, %v", at, err)
	}
	at, err = unix.Seek(fd, 0, unix.SEEK_HOLE)
	if want := int64(1<<31 + 2); c.caps.Seek && at != 0 || !c.caps.Seek && at != want {
		c.errorf("SEEK_HOLE: %d, %v", at, err)
	}
	_, err = unix.Seek(fd, 1<<31+2, unix.SEEK_DATA)
	c.want("SEEK_DATA at the end", err, unix.ENXIO)
	got := make([]byte, 4096)
	if n, err := unix.Pread(fd, got, 1<<30); n != 4096 || !allZero(got) {
		c.errorf("hole: %d bytes, %v", n, err)
	}
	const keep, punch, zero = unix.FALLOC_FL_KEEP_SIZE, unix.FALLOC_FL_PUNCH_HOLE, unix.FALLOC_FL_ZERO_RANGE
	c.ok(unix.Fallocate(fd, punch|keep, 1<<31, 4096))
	if st := c.stat("f"); st.Size != 1<<31+2 || st.Blocks != 0 {
		c.errorf("after punching: %d bytes in %d sectors", st.Size, st.Blocks)
	}
	c.ok(unix.Fallocate(fd, 0, 1<<31, 8192))
	if st := c.stat("f"); st.Size != 1<<31+8192 {
		c.errorf("fallocate made %d bytes", st.Size)
	}
	_, err = unix.Pwrite(fd, bytes.Repeat([]byte("y"), 4096), 0)
	c.ok(err)
	c.ok(unix.Fallocate(fd, zero, 1, 10))
	if unix.Pread(fd, got, 0); got[0] != 'y' || !allZero(got[1:11]) || got[11] != 'y' {
		c.errorf("ZERO_RANGE left %q", got[:16])
	}
	c.want("COLLAPSE_RANGE", unix.Fallocate(fd, unix.FALLOC_FL_COLLAPSE_RANGE, 0, 4096), unix.EOPNOTSUPP)
}

func attributes(c *client) {
	c.create("f", "x")
	c.ok(unix.Chmod(c.path("f"), 0o4751))
	uid, gid := os.Geteuid(), os.Getegid()
	if c.root {
		uid, gid = 12, 34
	}
	c.ok(unix.Chown(c.path("f"), uid, gid))
	st := c.stat("f")
	if st.Mode != unix.S_IFREG|0o751 || int(st.Uid) != uid || int(st.Gid) != gid {
		c.errorf("mode %o, owner %d:%d", st.Mode, st.Uid, st.Gid)
	}
	times := []unix.Timespec{{Sec: -1000, Nsec: 0}, {Sec: 1 << 32, Nsec: 123456789}}
	c.ok(unix.UtimesNanoAt(unix.AT_FDCWD, c.path("f"), times, 0))
	if st := c.stat("f"); st.Atim != times[0] || st.Mtim != times[1] {
		c.errorf("times %v and %v, want %v", st.Atim, st.Mtim, times)
	}
	fraction := []unix.Timespec{{Sec: -1000, Nsec: 5}, {Sec: 0, Nsec: unix.UTIME_OMIT}}
	c.ok(unix.UtimesNanoAt(unix.AT_FDCWD, c.path("f"), fraction, 0))
	if st := c.stat("f"); st.Mtim != times[1] || st.Atim.Sec != -1000 || (st.Atim.Nsec == 5) != c.caps.SubsecondBefore1970 {
		c.errorf("times %v and %v", st.Atim, st.Mtim)
	}
	before := time.Now().Add(-time.Second)
	c.ok(unix.UtimesNanoAt(unix.AT_FDCWD, c.path("f"), []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Nsec: unix.UTIME_NOW}}, 0))
	if st := c.stat("f"); time.Unix(st.Mtim.Unix()).Before(before) || st.Atim.Sec != -1000 {
		c.errorf("times %v and %v", st.Atim, st.Mtim)
	}
	var sx unix.Statx_t
	c.ok(unix.Statx(unix.AT_FDCWD, c.path("f"), 0, unix.STATX_ALL, &sx))
	if born := sx.Mask&unix.STATX_BTIME != 0; born != c.caps.Statx {
		c.errorf("birth time reported: %v", born)
	} else if born && time.Unix(sx.Btime.Sec, 0).Before(before.Add(-time.Minute)) {
		c.errorf("born %v", sx.Btime)
	}
	c.ok(unix.Chmod(c.path("f"), 0o1700))
	if shown := c.stat("f").Mode&unix.S_ISVTX != 0; shown != c.caps.Sticky {
		c.errorf("sticky bit shown: %v", shown)
	}
	old := c.stat(".")
	c.create("g", "")
	if st := c.stat("."); st.Mtim == old.Mtim || st.Ctim == old.Ctim {
		c.errorf("a new name left its directory's times alone")
	}
	before2 := c.stat("f")
	fd := c.open("f", unix.O_WRONLY)
	_, err := unix.Write(fd, []byte("y"))
	c.ok(err)
	if st := c.stat("f"); st.Mtim == before2.Mtim {
		c.errorf("a write left the time alone")
	}
	// Birth masks, with the umask on either side of the wire.
	syscall.Umask(0o027)
	c.ok(unix.Mkdir(c.path("d"), 0o777))
	c.ok(unix.Close(c.open("h", unix.O_RDWR|unix.O_CREAT)))
	if d, h := c.stat("d").Mode&0o7777, c.stat("h").Mode&0o7777; d != 0o750 || h != 0o640 {
		c.errorf("with umask 027: %o and %o", d, h)
	}
}

func xattrs(c *client) {
	c.create("f", "")
	path := c.path("f")
	c.ok(unix.Setxattr(path, "user.a", []byte("value"), unix.XATTR_CREATE))
	c.want("create again", unix.Setxattr(path, "user.a", nil, unix.XATTR_CREATE), unix.EEXIST)
	c.want("replace nothing", unix.Setxattr(path, "user.b", nil, unix.XATTR_REPLACE), unix.ENODATA)
	c.ok(unix.Setxattr(path, "user.empty", nil, 0))
	buf := make([]byte, 70000)
	n, err := unix.Getxattr(path, "user.a", buf)
	if err != nil || string(buf[:n]) != "value" {
		c.errorf("got %q, %v", buf[:n], err)
	}
	if n, err := unix.Getxattr(path, "user.a", nil); n != 5 || err != nil {
		c.errorf("size %d, %v", n, err)
	}
	if n, err := unix.Getxattr(path, "user.empty", buf); n != 0 || err != nil {
		c.errorf("empty value: %d, %v", n, err)
	}
	_, err = unix.Getxattr(path, "user.a", buf[:3])
	c.want("too little room", err, unix.ERANGE)
	_, err = unix.Getxattr(path, "user.none", buf)
	c.want("none", err, unix.ENODATA)
	big := bytes.Repeat([]byte("b"), 65536)
	c.ok(unix.Setxattr(path, "user.big", big, 0))
	if n, err := unix.Getxattr(path, "user.big", buf); !bytes.Equal(buf[:n], big) {
		c.errorf("big value: %d bytes, %v", n, err)
	}
	n, err = unix.Listxattr(path, buf)
	if got := string(buf[:max(n, 0)]); got != "user.a\x00user.big\x00user.empty\x00" {
		c.errorf("list %q, %v", got, err)
	}
	_, err = unix.Listxattr(path, buf[:4])
	c.want("list without room", err, unix.ERANGE)
	c.ok(unix.Removexattr(path, "user.big"))
	c.want("remove again", unix.Removexattr(path, "user.big"), unix.ENODATA)
	c.want("unknown namespace", unix.Setxattr(path, "other.a", nil, 0), unix.EOPNOTSUPP)
	c.want("trusted attribute", unix.Setxattr(path, "trusted.t", []byte("t"), 0),
		map[bool]syscall.Errno{true: 0, false: unix.EPERM}[c.root])

	// An ACL sets the mode, which the kernel must then not take from its cache.
	c.ok(unix.Chmod(path, 0o640))
	c.stat("f")
	c.ok(unix.Setxattr(path, "system.posix_acl_access", aclUser1000RW, 0))
	if m := c.stat("f").Mode & 0o777; m != 0o660 {
		c.errorf("mode %o, want the ACL's 660", m)
	}
	c.ok(unix.Chmod(path, 0o600))
	if n, err := unix.Getxattr(path, "system.posix_acl_access", buf); n < 0 || bytes.Equal(buf[:n], aclUser1000RW) {
		c.errorf("chmod left the ACL's mask alone: %v", err)
	}
}

// aclUser1000RW is user::rw-, user:1000:rw-, group::r--, mask::rw-, other::---.
var aclUser1000RW = []byte{
	2, 0, 0, 0,
	1, 0, 6, 0, 255, 255, 255, 255,
	2, 0, 6, 0, 0xe8, 3, 0, 0,
	4, 0, 4, 0, 255, 255, 255, 255,
	16, 0, 6, 0, 255, 255, 255, 255,
	32, 0, 0, 0, 255, 255, 255, 255,
}

// getdents lists what fd yields with a buffer of the given size, a step
// between calls, and fails on a name that comes twice.
func (c *client) getdents(fd, size int, between func(call int)) map[string]bool {
	seen := map[string]bool{}
	buf := make([]byte, size)
	for call := 0; ; call++ {
		n, err := unix.Getdents(fd, buf)
		c.ok(err)
		if n == 0 {
			return seen
		}
		_, _, list := unix.ParseDirent(buf[:n], -1, nil)
		for _, name := range list {
			if seen[name] {
				c.errorf("%s was listed twice", name)
			}
			seen[name] = true
		}
		between(call)
	}
}

func listings(c *client) {
	const n = 2000
	c.ok(unix.Mkdir(c.path("d"), 0o755))
	for i := range n {
		c.ok(unix.Mknod(c.path(fmt.Sprintf("d/keep%d", i)), unix.S_IFREG|0o644, 0))
		c.ok(unix.Mknod(c.path(fmt.Sprintf("d/go%d", i)), unix.S_IFREG|0o644, 0))
	}
	for _, round := range []string{"from the FS", "from the cache", "after a change"} {
		fd := c.open("d", unix.O_RDONLY|unix.O_DIRECTORY)
		seen := c.getdents(fd, 4096, func(int) {})
		if len(seen) != 2*n {
			c.errorf("%s: %d names, want %d", round, len(seen), 2*n)
		}
		c.ok(unix.Close(fd))
		if round == "from the cache" {
			c.ok(unix.Rename(c.path("d/go0"), c.path("d/went0")))
		}
	}
	if !strings.Contains(c.list("d"), "went0") {
		c.errorf("the listing is stale")
	}
	fd := c.open("d", unix.O_RDONLY|unix.O_DIRECTORY)
	seen := c.getdents(fd, 4096, func(call int) {
		for i := call*20 + 1; i < min(call*20+21, n); i++ {
			c.ok(unix.Unlink(c.path(fmt.Sprintf("d/go%d", i))))
			c.ok(unix.Mknod(c.path(fmt.Sprintf("d/new%d", i)), unix.S_IFREG|0o644, 0))
		}
	})
	for i := range n {
		if !seen[fmt.Sprintf("keep%d", i)] {
			c.errorf("keep%d was not listed", i)
		}
	}
	_, err := unix.Seek(fd, 0, 0)
	c.ok(err)
	if again := c.getdents(fd, 32768, func(int) {}); len(again) != 2*n {
		c.errorf("%d names after rewinding, want %d", len(again), 2*n)
	}
	c.ok(unix.Fsync(fd))
	c.ok(os.RemoveAll(c.path("d")))
	if got := c.list("."); got != "" {
		c.errorf("left over: %s", got)
	}
}

func special(c *client) {
	c.ok(unix.Mkfifo(c.path("fifo"), 0o600))
	c.ok(unix.Mknod(c.path("socket"), unix.S_IFSOCK|0o600, 0))
	if err := unix.Mknod(c.path("null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); c.root {
		c.ok(err)
		if st := c.stat("null"); st.Rdev != unix.Mkdev(1, 3) || st.Mode != unix.S_IFCHR|0o666 {
			c.errorf("device %+v", st)
		}
		c.want("open of a device where none count", openError(c.path("null"), unix.O_RDONLY), unix.EACCES)
	} else {
		c.want("a device for a user", err, unix.EPERM)
	}
	c.want("open of a socket", openError(c.path("socket"), unix.O_RDONLY), unix.ENXIO)
	r, err := unix.Open(c.path("fifo"), unix.O_RDONLY|unix.O_NONBLOCK, 0)
	c.ok(err)
	w := c.open("fifo", unix.O_WRONLY)
	unix.Write(w, []byte("through"))
	buf := make([]byte, 16)
	if n, err := unix.Read(r, buf); string(buf[:max(n, 0)]) != "through" {
		c.errorf("FIFO gave %q, %v", buf[:max(n, 0)], err)
	}
	c.want("poll", pollError(c.open("f", unix.O_RDWR|unix.O_CREAT)), 0)
}

func pollError(fd int) error {
	_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLOUT}}, -1)
	return err
}

func mappings(c *client) {
	fd := c.open("m", unix.O_RDWR|unix.O_CREAT)
	c.ok(unix.Ftruncate(fd, 3*4096))
	m, err := unix.Mmap(fd, 0, 3*4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	c.ok(err)
	copy(m[5000:], "mapped")
	got := make([]byte, 6)
	if unix.Pread(fd, got, 5000); string(got) != "mapped" {
		c.errorf("read %q under a mapping", got)
	}
	_, err = unix.Pwrite(fd, []byte("written"), 9000)
	c.ok(err)
	if string(m[9000:9007]) != "written" {
		c.errorf("mapping shows %q after a write", m[9000:9007])
	}
	before := c.stat("m")
	c.ok(unix.Msync(m, unix.MS_SYNC))
	if st := c.stat("m"); st.Mtim == before.Mtim {
		c.errorf("stores in a mapping left the time alone")
	}
	c.ok(unix.Unlink(c.path("m")))
	copy(m[100:], "still")
	if unix.Pread(fd, got[:5], 100); string(got[:5]) != "still" {
		c.errorf("read %q of an unlinked mapping", got)
	}
	c.ok(unix.Munmap(m))
}

// locks stay with the kernel; so they do what the kernel's own do.
func locks(c *client) {
	fd := c.open("l", unix.O_RDWR|unix.O_CREAT)
	whole := unix.Flock_t{Type: unix.F_WRLCK}
	ofd := c.open("l", unix.O_RDWR)
	c.ok(unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &whole))
	c.want("second open file description", unix.FcntlFlock(uintptr(ofd), unix.F_OFD_SETLK, &whole), unix.EAGAIN)
	c.ok(unix.Close(fd))
	c.ok(unix.FcntlFlock(uintptr(ofd), unix.F_OFD_SETLK, &whole))
	c.ok(unix.Close(ofd))

	a, b := c.open("l", unix.O_RDWR), c.open("l", unix.O_RDWR)
	c.ok(unix.Flock(a, unix.LOCK_EX))
	c.want("flock of a second description", unix.Flock(b, unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
	c.ok(unix.Flock(a, unix.LOCK_UN))
	c.ok(unix.Flock(b, unix.LOCK_EX|unix.LOCK_NB))

	// POSIX locks: another process sees them, and they go at any close.
	first := unix.Flock_t{Type: unix.F_WRLCK, Start: 0, Len: 1}
	c.ok(unix.FcntlFlock(uintptr(a), unix.F_SETLK, &first))
	if got := c.child("lockProbe"); got != "held" {
		c.errorf("another process finds the lock %q", got)
	}
	c.ok(unix.Close(c.open("l", unix.O_RDONLY)))
	if got := c.child("lockProbe"); got != "free" {
		c.errorf("after a close another process finds the lock %q", got)
	}
	deadlock(c, a)
}

// child runs a client as a child of this one and returns what it prints.
func (c *client) child(name string) string {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), envClient+"="+name)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.errorf("child %s: %v: %s", name, err, out)
	}
	return string(out)
}

func init() {
	clients["lockProbe"] = func(c *client) {
		fd := c.open("l", unix.O_RDWR)
		first := unix.Flock_t{Type: unix.F_WRLCK, Start: 0, Len: 1}
		c.ok(unix.FcntlFlock(uintptr(fd), unix.F_GETLK, &first))
		fmt.Print(map[bool]string{true: "free", false: "held"}[first.Type == unix.F_UNLCK])
	}
	// lockSecond holds the second byte and waits for the first, which its
	// parent holds: whoever closes the circle must get EDEADLK.
	clients["lockSecond"] = func(c *client) {
		fd := c.open("l", unix.O_RDWR)
		second := unix.Flock_t{Type: unix.F_WRLCK, Start: 1, Len: 1}
		c.ok(unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &second))
		fmt.Print("holding\n")
		first := unix.Flock_t{Type: unix.F_WRLCK, Start: 0, Len: 1}
		err := unix.FcntlFlock(uintptr(fd), unix.F_SETLKW, &first)
		fmt.Printf("%v\n", err == unix.EDEADLK)
	}
}

func deadlock(c *client, fd int) {
	first := unix.Flock_t{Type: unix.F_WRLCK, Start: 0, Len: 1}
	c.ok(unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &first))
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), envClient+"=lockSecond")
	out, err := cmd.StdoutPipe()
	c.ok(err)
	c.ok(cmd.Start())
	buf := make([]byte, 64)
	if n, err := out.Read(buf); string(buf[:n]) != "holding\n" {
		c.fatalf("child: %q, %v", buf[:n], err)
	}
	second := unix.Flock_t{Type: unix.F_WRLCK, Start: 1, Len: 1}
	mine := unix.FcntlFlock(uintptr(fd), unix.F_SETLKW, &second)
	if mine == unix.EDEADLK {
		unlock := unix.Flock_t{Type: unix.F_UNLCK}
		c.ok(unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &unlock))
	}
	n, _ := out.Read(buf)
	if theirs := string(buf[:n]) == "true\n"; (mine == unix.EDEADLK) == theirs {
		c.errorf("deadlock: here %v, there EDEADLK is %v", mine, theirs)
	}
	c.ok(cmd.Wait())
}

// unlinked files and directories go on working for who holds them.
func unlinked(c *client) {
	fd := c.open("f", unix.O_RDWR|unix.O_CREAT)
	pathFD := c.open("f", unix.O_PATH)
	c.ok(unix.Unlink(c.path("f")))
	_, err := unix.Pwrite(fd, []byte("still here"), 0)
	c.ok(err)
	c.ok(unix.Ftruncate(fd, 5))
	var st unix.Stat_t
	c.ok(unix.Fstat(fd, &st))
	if st.Nlink != 0 || st.Size != 5 {
		c.errorf("unlinked: %d links, %d bytes", st.Nlink, st.Size)
	}
	c.ok(unix.Fchmod(fd, 0o600))
	c.ok(unix.Fsync(fd))
	again, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", pathFD), unix.O_RDONLY, 0)
	c.ok(err)
	buf := make([]byte, 10)
	if n, err := unix.Read(again, buf); string(buf[:max(n, 0)]) != "still" {
		c.errorf("reopened: %q, %v", buf[:max(n, 0)], err)
	}
	c.ok(unix.Mkdir(c.path("d"), 0o755))
	c.ok(unix.Chdir(c.path("d")))
	c.ok(unix.Rmdir(c.path("d")))
	c.want("create in a removed directory", openError("x", unix.O_CREAT|unix.O_RDWR), unix.ENOENT)
	c.ok(unix.Stat(".", &st))
	if st.Nlink != 0 {
		c.errorf("removed directory has %d links", st.Nlink)
	}
	_, err = unix.Getcwd(buf)
	c.want("getcwd", err, unix.ENOENT)
	c.ok(unix.Chdir("/"))
	// The file that came in its place is another one.
	c.create("f", "new")
	if st := c.stat("f"); st.Nlink != 1 || st.Size != 3 {
		c.errorf("new file: %+v", st)
	}
}

// programs: tools that people run, git above all.
func programs(c *client) {
	script := `set -e
cd "$1"
getcwd() { test "$(pwd -P)" = "$(cd "$(pwd -P)" && pwd -P)"; }
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
mkdir d1; cd d1
git init -q .; getcwd
for i in 1 2 3 4 5; do echo $i >f$i; done; : >empty
git add .; git commit -qm one; getcwd
test -z "$(git status --porcelain)"
git mv f1 g1; git commit -qm two
git fsck --strict
cd ..; touch f; git init -q d2; getcwd
tar cf - d1 | (mkdir copy; cd copy; tar xf -)
diff -r d1 copy/d1
cp -a d1 d3; diff -r d1 d3
printf '#!/bin/sh\necho ran $1\n' >run; chmod 755 run
test "$(./run it)" = "ran it"
sed -i s/ran/did/ run
test "$(./run it)" = "did it"
cp /bin/true true; ./true
rm -rf d1 d2 d3 copy
test "$(ls)" = "f
run
true"
`
	out, err := exec.Command("sh", "-c", script, "sh", c.dir).CombinedOutput()
	if err != nil {
		c.errorf("%v: %s", err, out)
	}
}

// manyFiles: creation and removal by many threads leaves nothing behind.
func manyFiles(c *client) {
	const workers, each = 8, 100
	done := make(chan error, workers)
	for w := range workers {
		go func() {
			dir := c.path(fmt.Sprint("w", w))
			err := os.MkdirAll(dir+"/a/b", 0o755)
			for i := 0; i < each && err == nil; i++ {
				name := fmt.Sprintf("%s/a/b/%d", dir, i)
				if err = os.WriteFile(name, []byte(name), 0o644); err == nil {
					err = os.Rename(name, name+".done")
				}
			}
			if err == nil {
				err = os.RemoveAll(dir)
			}
			done <- err
		}()
	}
	for range workers {
		c.ok(<-done)
	}
	if got := c.list("."); got != "" {
		c.errorf("left over: %s", got)
	}
}
