//go:build linux

package mount_test

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/mount"
	"github.com/vfsd/vfsd/vfs"
	"golang.org/x/sys/unix"
)

// editor changes a tree directly, as the shell and sync do.
type editor struct {
	t  *testing.T
	fs vfs.FS
	op *vfs.Op
}

func (s *served) editor() *editor { return &editor{s.t, s.fs, other()} }

func (e *editor) ok(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) ino(path string) vfs.Ino {
	e.t.Helper()
	ino := vfs.RootIno
	for _, name := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' }) {
		a, err := e.fs.Lookup(e.op, ino, name)
		e.ok(err)
		ino = a.Ino
	}
	return ino
}

func (e *editor) create(dir, name, data string) vfs.Ino {
	e.t.Helper()
	a, h, err := e.fs.Create(e.op, e.ino(dir), name, 0o644, syscall.O_RDWR)
	e.ok(err)
	_, err = h.Write(e.op, []byte(data), 0)
	e.ok(err)
	h.Release(e.op)
	return a.Ino
}

func (e *editor) write(path, data string, off int64) {
	e.t.Helper()
	h, err := e.fs.Open(e.op, e.ino(path), syscall.O_RDWR)
	e.ok(err)
	_, err = h.Write(e.op, []byte(data), off)
	e.ok(err)
	h.Release(e.op)
}

func (e *editor) set(path string, set vfs.SetAttr) {
	e.t.Helper()
	_, err := e.fs.Setattr(e.op, e.ino(path), &set)
	e.ok(err)
}

func (e *editor) rename(dir, name, toDir, to string) {
	e.t.Helper()
	e.ok(e.fs.Rename(e.op, e.ino(dir), name, e.ino(toDir), to, 0))
}

// A change that did not come through the mount shows at the next system call,
// whatever the kernel had cached.
func TestCoherence(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		t.Run("one", func(t *testing.T) {
			s := serve(t, driver, nil)
			e := s.editor()
			s.run("coherence", coherenceSteps(e))
		})
		t.Run("many", func(t *testing.T) {
			s := serve(t, driver, nil)
			e := s.editor()
			_, err := e.fs.Mkdir(e.op, vfs.RootIno, "d", 0o755)
			e.ok(err)
			i := 0
			s.run("coherenceMany", map[string]func(){"swap": func() {
				name, next := fmt.Sprint("f", i), fmt.Sprint("f", i+1)
				if i > 0 {
					e.ok(e.fs.Unlink(e.op, e.ino("d"), name))
				}
				e.create("d", next, next)
				i++
			}})
		})
	})
}

func coherenceSteps(e *editor) map[string]func() {
	return map[string]func(){
		"create":     func() { e.create("", "new", "new") },
		"grow":       func() { e.write("f", strings.Repeat("g", 6000), 5) },
		"overwrite":  func() { e.write("f", "OVER", 1000) },
		"shrink":     func() { e.set("f", vfs.SetAttr{Mask: vfs.SetSize, Size: 3}) },
		"chmod":      func() { e.set("f", vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o600}) },
		"replace":    func() { e.create("", "tmp", "replaced"); e.rename("", "tmp", "", "f") },
		"remove":     func() { e.ok(e.fs.Unlink(e.op, e.ino(""), "f")) },
		"mkdir":      func() { _, err := e.fs.Mkdir(e.op, e.ino(""), "d", 0o755); e.ok(err) },
		"fill":       func() { e.create("d", "x", "x") },
		"rename dir": func() { e.rename("", "d", "", "e") },
		"append":     func() { e.write("log", "theirs\n", 5) },
		"relink": func() {
			e.ok(e.fs.Unlink(e.op, e.ino("e"), "link"))
			_, err := e.fs.Symlink(e.op, e.ino("e"), "link", "second")
			e.ok(err)
		},
		"link": func() {
			_, err := e.fs.Symlink(e.op, e.ino("e"), "link", "first")
			e.ok(err)
		},
		"map": func() { e.write("m", "theirs", 100) },
		"rmdir": func() {
			e.ok(e.fs.Unlink(e.op, e.ino("gone"), "x"))
			e.ok(e.fs.Rmdir(e.op, e.ino(""), "gone"))
		},
	}
}

func init() {
	clients["coherence"] = func(c *client) {
		coherenceOfNames(c)
		coherenceOfData(c)
		coherenceOfDirectories(c)
	}
	clients["coherenceMany"] = coherenceMany
}

func coherenceOfNames(c *client) {
	c.want("negative entry", unix.Access(c.path("new"), unix.F_OK), unix.ENOENT)
	c.want("negative entry, cached", unix.Access(c.path("new"), unix.F_OK), unix.ENOENT)
	if got := c.list("."); got != "" {
		c.errorf("names %q", got)
	}
	c.step("create")
	c.contents("new", "new")
	if got := c.list("."); got != "new" {
		c.errorf("names %q", got)
	}
}

func coherenceOfData(c *client) {
	c.create("f", "12345")
	c.contents("f", "12345")
	fd := c.open("f", unix.O_RDONLY)
	c.step("grow")
	c.contents("f", "12345"+strings.Repeat("g", 6000))
	end, err := unix.Seek(fd, 0, unix.SEEK_END)
	if end != 6005 || err != nil {
		c.errorf("the end is at %d, %v", end, err)
	}
	c.step("overwrite")
	buf := make([]byte, 4)
	if unix.Pread(fd, buf, 1000); string(buf) != "OVER" {
		c.errorf("an open file reads %q", buf)
	}
	c.step("shrink")
	if st := c.stat("f"); st.Size != 3 {
		c.errorf("size %d after a cut to 3", st.Size)
	}
	c.contents("f", "123")
	c.step("chmod")
	if st := c.stat("f"); st.Mode&0o777 != 0o600 {
		c.errorf("mode %o", st.Mode)
	}
	c.step("replace")
	c.contents("f", "replaced")
	if n, _ := unix.Pread(fd, buf, 0); string(buf[:n]) != "123" {
		c.errorf("the replaced file, still open, reads %q", buf[:n])
	}
	c.step("remove")
	c.want("removed", unix.Access(c.path("f"), unix.F_OK), unix.ENOENT)

	c.create("log", "ours\n")
	log := c.open("log", unix.O_RDWR|unix.O_APPEND)
	c.contents("log", "ours\n")
	c.step("append")
	_, err = unix.Write(log, []byte("ours again\n"))
	c.ok(err)
	c.contents("log", "ours\ntheirs\nours again\n")

	c.create("m", strings.Repeat("m", 8192))
	m, err := unix.Mmap(c.open("m", unix.O_RDWR), 0, 8192, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	c.ok(err)
	if m[100] != 'm' {
		c.errorf("mapping shows %q", m[100])
	}
	c.step("map")
	c.stat("m")
	if got := string(m[100:106]); got != "theirs" {
		c.errorf("mapping shows %q", got)
	}
}

func coherenceOfDirectories(c *client) {
	c.want("no d yet", unix.Access(c.path("d"), unix.F_OK), unix.ENOENT)
	links := c.stat(".").Nlink
	c.step("mkdir")
	if n := c.stat(".").Nlink; n != links+1 {
		c.errorf("%d links after mkdir, %d before", n, links)
	}
	if got := c.list("d"); got != "" {
		c.errorf("names %q", got)
	}
	c.step("fill")
	if got := c.list("d"); got != "x" {
		c.errorf("names %q", got)
	}
	c.contents("d/x", "x")
	dirFD := c.open("d", unix.O_RDONLY|unix.O_DIRECTORY)
	c.step("rename dir")
	c.want("old name", unix.Access(c.path("d/x"), unix.F_OK), unix.ENOENT)
	c.contents("e/x", "x")
	var st unix.Stat_t
	c.want("through a descriptor", unix.Fstatat(dirFD, "x", &st, 0), 0)
	c.step("link")
	buf := make([]byte, 16)
	for i, want := range []string{"first", "second"} {
		if n, err := unix.Readlink(c.path("e/link"), buf); string(buf[:max(n, 0)]) != want {
			c.errorf("symlink leads to %q, %v; want %q", buf[:max(n, 0)], err, want)
		}
		if i == 0 {
			c.step("relink")
		}
	}
	c.ok(unix.Mkdir(c.path("gone"), 0o755))
	c.create("gone/x", "")
	c.ok(unix.Chdir(c.path("gone")))
	c.step("rmdir")
	c.want("create in a directory removed elsewhere", openError("y", unix.O_CREAT|unix.O_RDWR), unix.ENOENT)
	_, err := unix.Getcwd(make([]byte, 4096))
	c.want("getcwd", err, unix.ENOENT)
	c.ok(unix.Chdir("/"))
}

// coherenceMany asks right before and right after each of many changes, while
// threads ask all the time, so that answers under way cross invalidations.
func coherenceMany(c *client) {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				var st unix.Stat_t
				_ = unix.Stat(c.path(fmt.Sprint("d/f", (n+i)%200)), &st)
				if n%8 == 0 {
					c.list("d")
				}
			}
		})
	}
	for i := range 200 {
		c.step("swap")
		name := fmt.Sprint("f", i+1)
		c.contents("d/"+name, name)
		c.want("old name", unix.Access(c.path(fmt.Sprint("d/f", i)), unix.F_OK), unix.ENOENT)
		if got := c.list("d"); got != name {
			c.errorf("names %q, want %q", got, name)
		}
	}
	close(stop)
	wg.Wait()
}

// A change of everything (a restore) makes the kernel ask for everything.
func TestChangeAll(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		mem := emptyTree()
		fs := &switchFS{FS: mem}
		s := serve(t, driver, fs)
		e := &editor{t, mem, &vfs.Op{Origin: mountOrigin}} // the mount does not hear of these
		e.create("", "stays", "before")
		e.create("", "goes", "x")
		s.run("changeAll", map[string]func(){"restore": func() {
			e.write("stays", "after!", 0)
			e.ok(mem.Unlink(e.op, vfs.RootIno, "goes"))
			e.create("", "comes", "x")
			fs.watcher.Changed([]vfs.Change{{Kind: vfs.ChangeAll}})
		}})
	})
}

// switchFS lets a test speak to the mount's watcher.
type switchFS struct {
	vfs.FS
	watcher vfs.Watcher
}

func (f *switchFS) Watch(w vfs.Watcher) func() {
	f.watcher = w
	return f.FS.Watch(w)
}

func init() {
	clients["changeAll"] = func(c *client) {
		c.contents("stays", "before")
		c.want("goes", unix.Access(c.path("goes"), unix.F_OK), 0)
		c.want("comes", unix.Access(c.path("comes"), unix.F_OK), unix.ENOENT)
		if got := c.list("."); got != "goes stays" {
			c.errorf("names %q", got)
		}
		c.step("restore")
		c.contents("stays", "after!")
		c.want("goes", unix.Access(c.path("goes"), unix.F_OK), unix.ENOENT)
		c.want("comes", unix.Access(c.path("comes"), unix.F_OK), 0)
		if got := c.list("."); got != "comes stays" {
			c.errorf("names %q", got)
		}
	}
}

// What comes through one mount shows in another one of the same tree, and
// processes that fight over one directory through both end.
func TestTwoMounts(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		fs := emptyTree()
		a := serve(t, driver, fs)
		b := serve(t, driver, fs, func(o *mount.Options) { o.Origin = otherOrigin })
		ra, rb := a.start("fight"), b.start("fight")
		ra.wait(nil)
		rb.wait(nil)
		a.run("afterFight", nil)
		b.run("afterFight", nil)
	})
}

func init() {
	clients["fight"] = func(c *client) {
		for i := range 50 {
			name := c.path(fmt.Sprint("f", i%5))
			if fd, err := unix.Open(name, unix.O_CREAT|unix.O_RDWR, 0o644); err == nil {
				_, err = unix.Write(fd, []byte("x"))
				c.ok(err)
				c.ok(unix.Close(fd))
			}
			err := unix.Unlink(name)
			if err != nil && err != unix.ENOENT {
				c.fatalf("unlink: %v", err)
			}
		}
	}
	clients["afterFight"] = func(c *client) {
		if got := c.list("."); got != "" {
			c.errorf("left over: %s", got)
		}
	}
}

// crossingFS makes a change by others happen between the moment when it knows
// an answer and the moment when the mount gets it.
type crossingFS struct {
	vfs.FS
	once  sync.Once
	cross func()
}

func (f *crossingFS) Lookup(op *vfs.Op, parent vfs.Ino, name string) (vfs.Attr, error) {
	a, err := f.FS.Lookup(op, parent, name)
	if op.Origin == mountOrigin && name == "crossed" {
		f.once.Do(f.cross)
	}
	return a, err
}

func (f *crossingFS) OpenDir(op *vfs.Op, ino vfs.Ino) (vfs.DirHandle, error) {
	h, err := f.FS.OpenDir(op, ino)
	return &crossingDir{h, f}, err
}

type crossingDir struct {
	vfs.DirHandle
	f *crossingFS
}

func (d *crossingDir) ReadDir(op *vfs.Op, cookie uint64, attrs bool, emit func(*vfs.DirEntry) bool) error {
	err := d.DirHandle.ReadDir(op, cookie, attrs, emit)
	d.f.once.Do(d.f.cross)
	return err
}

// An answer that a change has crossed must not stay in the kernel's cache: it
// was invalidated before it was there.
func TestCrossedAnswers(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		for _, name := range []string{"crossedLookup", "crossedListing"} {
			t.Run(name, func(t *testing.T) {
				tree := emptyTree()
				e := &editor{t, tree, other()}
				e.create("", "crossed", "before")
				s := serve(t, driver, &crossingFS{FS: tree, cross: func() {
					e.set("crossed", vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o600})
					e.write("crossed", "after, and longer", 0)
				}})
				s.run(name, nil)
			})
		}
	})
}

func init() {
	check := func(c *client) {
		if st := c.stat("crossed"); st.Mode&0o777 != 0o600 || st.Size != int64(len("after, and longer")) {
			c.errorf("mode %o and %d bytes: the attributes from before the change", st.Mode, st.Size)
		}
		c.contents("crossed", "after, and longer")
	}
	clients["crossedLookup"] = check
	clients["crossedListing"] = func(c *client) {
		c.list(".")
		check(c)
	}
}
