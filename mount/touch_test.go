//go:build linux

package mount_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/vfsd/vfsd/vfs"
	"golang.org/x/sys/unix"
)

// Who watches files and directories hears of changes that came by another way
// in, and the touches that make the kernel tell move no times.
func TestWatchersHearOfChangesElsewhere(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		s := serve(t, driver, nil)
		e := s.editor()
		_, err := e.fs.Mkdir(e.op, vfs.RootIno, "d", 0o755)
		e.ok(err)
		e.create("d", "file", "before")
		e.create("d", "old", "")
		e.create("", "top", "")
		var times vfs.Attr
		attrs := func() vfs.Attr {
			a, err := e.fs.Getattr(e.op, e.ino("d/file"))
			e.ok(err)
			return a
		}
		s.run("watches", map[string]func(){
			"write":  func() { e.write("d/file", "after", 0); times = attrs() },
			"chmod":  func() { e.set("d/file", vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o600}) },
			"create": func() { e.create("d", "new", "") },
			"remove": func() { e.ok(e.fs.Unlink(e.op, e.ino("d"), "old")) },
			"rename": func() { e.rename("d", "new", "d", "newer") },
			"root":   func() { e.write("top", "x", 0) },
			"times": func() {
				if now := attrs(); now.Mtime != times.Mtime || now.Atime != times.Atime {
					t.Errorf("touching moved times: %+v, before %+v", now, times)
				}
			},
		})
	})
}

// A restore, which does not say what changed, is told of too.
func TestWatchersHearOfEverything(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		fs := &switchFS{FS: emptyTree()}
		s := serve(t, driver, fs)
		e := s.editor()
		_, err := e.fs.Mkdir(e.op, vfs.RootIno, "d", 0o755)
		e.ok(err)
		e.create("d", "file", "before")
		s.run("watchesAll", map[string]func(){"restore": func() {
			fs.watcher.Changed([]vfs.Change{{Kind: vfs.ChangeAll}})
		}})
	})
}

func init() {
	clients["watches"] = func(c *client) {
		c.list("d")
		c.stat("d/file")
		c.stat("top")
		w := c.watch("d", ".")
		for _, step := range []struct {
			name, path string
			mask       uint32
		}{
			{"write", "d/file", unix.IN_MODIFY},
			{"chmod", "d/file", unix.IN_ATTRIB},
			{"create", "d/new", unix.IN_MODIFY},
			{"remove", "d/", unix.IN_MODIFY},
			{"rename", "d/newer", unix.IN_MODIFY},
			{"root", "./top", unix.IN_MODIFY},
		} {
			c.step(step.name)
			w.await(step.path, step.mask)
		}
		c.step("times")
		if st := c.stat("d/file"); st.Mode&0o777 != 0o600 || st.Size != int64(len("before")) {
			c.errorf("the file has mode %o and %d bytes", st.Mode, st.Size)
		}
	}
	clients["watchesAll"] = func(c *client) {
		c.stat("d/file")
		dir, file := c.watch("d"), c.watch("d/file")
		c.step("restore")
		dir.await("d/file", unix.IN_MODIFY)
		dir.await("d/", unix.IN_MODIFY)
		file.await("d/file/", unix.IN_MODIFY)
	}
}

// watch is an inotify descriptor.
type watch struct {
	c     *client
	fd    int
	names map[int32]string // of what is watched, by its number
	seen  map[string]uint32
}

func (c *client) watch(names ...string) *watch {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	c.ok(err)
	w := &watch{c, fd, map[int32]string{}, map[string]uint32{}}
	for _, name := range names {
		wd, err := unix.InotifyAddWatch(fd, c.path(name), unix.IN_ALL_EVENTS)
		c.ok(err)
		w.names[int32(wd)] = name
	}
	return w
}

// await reads events until one of the path, in a watched directory, has mask
// that no earlier await has taken.
func (w *watch) await(path string, mask uint32) {
	deadline := time.Now().Add(10 * time.Second)
	for w.seen[path]&mask == 0 {
		left := time.Until(deadline)
		if left <= 0 {
			w.c.fatalf("no event %#x of %s; there were %s", mask, path, fmt.Sprint(w.seen))
		}
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1); err != nil && err != unix.EINTR {
			w.c.fatalf("poll: %v", err)
		}
		w.read()
	}
	delete(w.seen, path)
}

func (w *watch) read() {
	buf := make([]byte, 64<<10)
	n, err := unix.Read(w.fd, buf)
	if err != nil {
		return
	}
	for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
		size := int(binary.NativeEndian.Uint32(b[12:]))
		name := bytes.TrimRight(b[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+size], "\x00")
		path := w.names[int32(binary.NativeEndian.Uint32(b))] + "/" + string(name)
		w.seen[path] |= binary.NativeEndian.Uint32(b[4:])
		b = b[unix.SizeofInotifyEvent+size:]
	}
}
