//go:build linux

package mount_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/mount"
	"golang.org/x/sys/unix"
)

// usage is one row of docs/requests.md: what a client does with one file.
type usage struct {
	name string
	// before is done for every file first and not counted.
	before func(c *client, f string)
	do     func(c *client, f string)
}

// usages are done in the directory "w", which the kernel knows, with a new name
// each time.
var usages = []usage{
	{"stat of a name, first", makeElsewhere, statIt},
	{"stat of a name, again", both(makeElsewhere, statIt), statIt},
	{"stat of a name that is not there, first", nil, statMissing},
	{"stat of a name that is not there, again", statMissing, statMissing},
	{"create, write 1 KiB, close", nil, func(c *client, f string) { c.put(f, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 1<<10) }},
	{"the same, the name known to be free", statMissing, func(c *client, f string) { c.put(f, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 1<<10) }},
	{"the same without O_EXCL, as a shell does", statMissing, func(c *client, f string) { c.put(f, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC, 1<<10) }},
	{"create for reading too, write 1 KiB, close", nil, func(c *client, f string) { c.put(f, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 1<<10) }},
	{"create, write 1 MiB at once, close", nil, func(c *client, f string) { c.put(f, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 1<<20) }},
	{"open, read 1 KiB, close, first", makeElsewhereLookedUp, getIt},
	{"open, read 1 KiB, close, again", both(makeElsewhere, getIt), getIt},
	{"open with O_TRUNC, write 1 KiB, close", made, func(c *client, f string) { c.put(f, unix.O_WRONLY|unix.O_TRUNC, 1<<10) }},
	{"open to read and write with O_TRUNC, write 1 KiB, close", made, func(c *client, f string) { c.put(f, unix.O_RDWR|unix.O_TRUNC, 1<<10) }},
	{"write 1 KiB, then stat", made, func(c *client, f string) { c.put(f, unix.O_WRONLY, 1<<10); c.stat(f) }},
	{"append 1 KiB", made, func(c *client, f string) { c.put(f, unix.O_WRONLY|unix.O_APPEND, 1<<10) }},
	{"map, read a page, unmap", makeElsewhereLookedUp, mapIt},
	{"create, write, fsync, close", nil, func(c *client, f string) { c.save(f) }},
	{"save over a file by rename", made, func(c *client, f string) { c.save(f + "~"); c.ok(unix.Rename(c.path(f+"~"), c.path(f))) }},
	{"as tar: create, write, utimens, fchown, fchmod, close", nil, extract},
	{"copy_file_range of a whole file", made, copyIt},
	{"chmod", made, func(c *client, f string) { c.ok(unix.Chmod(c.path(f), 0o600)) }},
	{"truncate", made, func(c *client, f string) { c.ok(unix.Truncate(c.path(f), 10)) }},
	{"access", made, func(c *client, f string) { c.ok(unix.Access(c.path(f), unix.R_OK)) }},
	{"getxattr", made, func(c *client, f string) {
		_, err := unix.Getxattr(c.path(f), "user.none", make([]byte, 16))
		c.want("getxattr", err, unix.ENODATA)
	}},
	{"fcntl lock and unlock", made, lockIt},
	{"link", made, func(c *client, f string) { c.ok(unix.Link(c.path(f), c.path(f+"l"))) }},
	{"symlink", nil, func(c *client, f string) { c.ok(unix.Symlink("target", c.path(f))) }},
	{"readlink, first", func(c *client, f string) { c.ok(unix.Symlink("target", c.path(f))) }, readlink},
	{"readlink, again", func(c *client, f string) { c.ok(unix.Symlink("target", c.path(f))); readlink(c, f) }, readlink},
	{"rename to a new name", made, func(c *client, f string) { c.ok(unix.Rename(c.path(f), c.path(f+"r"))) }},
	{"unlink", made, func(c *client, f string) { c.ok(unix.Unlink(c.path(f))) }},
	{"mkdir", nil, func(c *client, f string) { c.ok(unix.Mkdir(c.path(f), 0o755)) }},
	{"rmdir", func(c *client, f string) { c.ok(unix.Mkdir(c.path(f), 0o755)) }, func(c *client, f string) { c.ok(unix.Rmdir(c.path(f))) }},
	{"list 10 names and stat each, first", fill, listAndStat},
	{"list 10 names and stat each, again", both(fill, listAndStat), listAndStat},
	{"list 10 names, one made since", func(c *client, f string) { fill(c, f); listAndStat(c, f); made(c, f+"/new") }, listIt},
	{"statfs", nil, func(c *client, f string) {
		var st unix.Statfs_t
		c.ok(unix.Statfs(c.path("w"), &st))
	}},
}

func both(a, b func(*client, string)) func(*client, string) {
	return func(c *client, f string) { a(c, f); b(c, f) }
}

func (c *client) put(name string, flags, n int) {
	fd := c.open(name, flags)
	_, err := unix.Write(fd, make([]byte, n))
	c.ok(err)
	c.ok(unix.Close(fd))
}

func (c *client) save(name string) {
	fd := c.open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	_, err := unix.Write(fd, []byte("saved"))
	c.ok(err)
	c.ok(unix.Fsync(fd))
	c.ok(unix.Close(fd))
}

func made(c *client, f string) { c.put(f, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 1<<10) }

// makeElsewhere has the name made by the server's side.
func makeElsewhere(c *client, f string) { c.step("make " + strings.TrimPrefix(f, "w/")) }

func makeElsewhereLookedUp(c *client, f string) {
	makeElsewhere(c, f)
	c.stat(f)
}

func statIt(c *client, f string) { c.stat(f) }

func statMissing(c *client, f string) {
	var st unix.Stat_t
	c.want("stat of nothing", unix.Stat(c.path(f), &st), unix.ENOENT)
}

func getIt(c *client, f string) {
	fd := c.open(f, unix.O_RDONLY)
	_, err := unix.Read(fd, make([]byte, 1<<10))
	c.ok(err)
	c.ok(unix.Close(fd))
}

func mapIt(c *client, f string) {
	fd := c.open(f, unix.O_RDONLY)
	p, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
	c.ok(err)
	if p[0] != 'e' {
		c.errorf("the mapping begins with %q", p[0])
	}
	c.ok(unix.Munmap(p))
	c.ok(unix.Close(fd))
}

func extract(c *client, f string) {
	fd := c.open(f, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	_, err := unix.Write(fd, []byte("extracted"))
	c.ok(err)
	c.ok(unix.Futimes(fd, []unix.Timeval{{Sec: 1}, {Sec: 2}}))
	c.ok(unix.Fchown(fd, os.Getuid(), os.Getgid()))
	c.ok(unix.Fchmod(fd, 0o640))
	c.ok(unix.Close(fd))
}

func copyIt(c *client, f string) {
	src, dst := c.open(f, unix.O_RDONLY), c.open(f+"c", unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if n, err := unix.CopyFileRange(src, nil, dst, nil, 1<<30, 0); err != nil || n != 1<<10 {
		c.errorf("copied %d bytes, %v", n, err)
	}
	c.ok(unix.Close(src))
	c.ok(unix.Close(dst))
}

func lockIt(c *client, f string) {
	fd := c.open(f, unix.O_RDWR)
	for _, kind := range []int16{unix.F_WRLCK, unix.F_UNLCK} {
		c.ok(unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &unix.Flock_t{Type: kind}))
	}
	c.ok(unix.Close(fd))
}

func readlink(c *client, f string) {
	_, err := unix.Readlink(c.path(f), make([]byte, 64))
	c.ok(err)
}

func fill(c *client, f string) {
	c.step("fill " + strings.TrimPrefix(f, "w/"))
	c.stat(f)
}

func listIt(c *client, f string) {
	fd := c.open(f, unix.O_RDONLY|unix.O_DIRECTORY)
	for buf := make([]byte, 8192); ; {
		n, err := unix.Getdents(fd, buf)
		c.ok(err)
		if n == 0 {
			break
		}
	}
	c.ok(unix.Close(fd))
}

func listAndStat(c *client, f string) {
	listIt(c, f)
	for i := range 10 {
		c.stat(fmt.Sprint(f, "/", i))
	}
}

// times is how often each usage is counted, so that what happens once does not
// hide in what happens each time.
const times = 4

func init() {
	clients["usages"] = func(c *client) {
		c.stat("w")
		c.put("w/first", unix.O_WRONLY|unix.O_CREAT, 1) // a FLUSH, once, is answered with "never again"
		for i, u := range usages {
			for k := range times {
				if f := fmt.Sprintf("w/%d.%d", i, k); u.before != nil {
					u.before(c, f)
				}
			}
			c.step(fmt.Sprint("begin ", i))
			for k := range times {
				u.do(c, fmt.Sprintf("w/%d.%d", i, k))
			}
			c.step(fmt.Sprint("end ", i))
		}
	}
}

// unwaited are the requests that no client waits for.
var unwaited = []string{"RELEASE", "RELEASEDIR", "FORGET"}

// TestRequestTable compares docs/requests.md with the requests that the kernel
// sends.
func TestRequestTable(t *testing.T) {
	needMounts(t)
	if major, minor := kernelVersion(t); major < 6 || major == 6 && minor < 16 {
		t.Skipf("Linux %d.%d asks other questions than 6.16 and later, which the table is about", major, minor)
	}
	s := serve(t, mount.DefaultDriver, nil, func(o *mount.Options) { o.NoFlush = true })
	e := s.editor()
	_, err := e.fs.Mkdir(e.op, 1, "w", 0o777)
	e.ok(err)
	counted := make([]string, len(usages))
	s.run("usages", countUsages(s, e, counted))
	documented := requestTable(t)
	for i, u := range usages {
		if got := documented[u.name]; got != counted[i] {
			t.Errorf("docs/requests.md says %q of %q; it was %q", got, u.name, counted[i])
		}
		delete(documented, u.name)
	}
	for name := range documented {
		t.Errorf("docs/requests.md has a row %q that nothing counts", name)
	}
}

func countUsages(s *served, e *editor, counted []string) map[string]func() {
	steps := map[string]func(){}
	var before map[string]uint64
	for i, u := range usages {
		for k := range times {
			name := fmt.Sprintf("%d.%d", i, k)
			steps["make "+name] = func() { e.create("w", name, strings.Repeat("e", 1<<10)) }
			steps["fill "+name] = func() {
				_, err := e.fs.Mkdir(e.op, e.ino("w"), name, 0o777)
				e.ok(err)
				for j := range 10 {
					e.create("w/"+name, fmt.Sprint(j), "listed")
				}
			}
		}
		steps[fmt.Sprint("begin ", i)] = func() { before = s.settled() }
		steps[fmt.Sprint("end ", i)] = func() { counted[i] = perUsage(s.t, u.name, before, s.settled()) }
	}
	return steps
}

// settled returns the counts once nothing is on its way any more.
func (s *served) settled() map[string]uint64 {
	last := s.m.Stats().Requests
	for {
		time.Sleep(5 * time.Millisecond)
		now := s.m.Stats().Requests
		if maps.Equal(last, now) {
			return now
		}
		last = now
	}
}

// perUsage tells the waited-for requests of one usage, as "LOOKUP CREATE 2 WRITE".
func perUsage(t *testing.T, name string, before, after map[string]uint64) string {
	var parts []string
	for _, op := range slices.Sorted(maps.Keys(after)) {
		n := after[op] - before[op]
		switch {
		case n == 0 || slices.Contains(unwaited, op):
		case n%times != 0:
			t.Errorf("%s: %d %s in %d times", name, n, op, times)
		case n == times:
			parts = append(parts, op)
		default:
			parts = append(parts, fmt.Sprint(n/times, " ", op))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

var requestRow = regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \|[^|]*\|$`)

// requestTable reads the table of docs/requests.md: operation to requests.
func requestTable(t *testing.T) map[string]string {
	page, err := os.ReadFile("../docs/requests.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	_, table, _ := strings.Cut(string(page), "## The table")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, m := range requestRow.FindAllStringSubmatch(table, -1) {
		if m[1] != "operation" {
			rows[m[1]] = strings.TrimSpace(m[2])
		}
	}
	return rows
}

func kernelVersion(t *testing.T) (major, minor int) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	return major, minor
}
