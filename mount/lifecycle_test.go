//go:build linux

package mount_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vfsd/vfsd/mount"
	"github.com/vfsd/vfsd/vfs"
	"golang.org/x/sys/unix"
)

// An unmount while the mount is in use says by whom.
func TestUnmountBusy(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		s := serve(t, driver, nil)
		r := s.start("sits")
		r.await("sitting")
		err := s.m.Unmount()
		if !errors.Is(err, syscall.EBUSY) || !strings.Contains(err.Error(), fmt.Sprint("pid ", r.cmd.Process.Pid)) {
			t.Errorf("unmount while pid %d sits in it: %v", r.cmd.Process.Pid, err)
		}
		r.proceed()
		r.wait(nil)
	})
}

func init() {
	clients["sits"] = func(c *client) {
		c.ok(unix.Chdir(c.dir))
		c.step("sitting")
	}
}

// A mount that another mount namespace has a copy of ends only with that; the
// unmount says so instead of waiting.
func TestUnmountElsewhere(t *testing.T) {
	needRoot(t)
	eachDriver(t, func(t *testing.T, driver string) {
		s := serve(t, driver, nil)
		r := s.start("unshares", func(cmd *exec.Cmd) {
			cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
		})
		r.await("unshared")
		err := s.m.Unmount()
		if !errors.Is(err, syscall.EBUSY) || !strings.Contains(err.Error(), fmt.Sprint("pid ", r.cmd.Process.Pid)) {
			t.Errorf("unmount while pid %d has a copy: %v", r.cmd.Process.Pid, err)
		}
		r.proceed()
		r.wait(nil)
		if err := s.m.Wait(); err != nil {
			t.Errorf("the mount ended with %v", err)
		}
	})
}

func init() {
	clients["unshares"] = func(c *client) { c.step("unshared") }
}

// 32 threads that look up and list do not make an unmount hang: the plain one
// says at once that the mount is busy, the lazy one and the abort end it.
func TestUnmountUnderLookups(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		for how, end := range map[string]func(mount.Mounted) error{
			"detach": mount.Mounted.Detach,
			"abort":  func(m mount.Mounted) error { m.Abort(); return nil },
		} {
			t.Run(how, func(t *testing.T) {
				s := serve(t, driver, nil)
				e := s.editor()
				for i := range 50 {
					e.create("", fmt.Sprint("f", i), "x")
				}
				r := s.start("looksUp")
				r.await("looking")
				if err := s.m.Unmount(); !errors.Is(err, syscall.EBUSY) {
					t.Fatalf("unmount while threads sit in the mount: %v", err)
				}
				if err := end(s.m); err != nil {
					t.Fatal(err)
				}
				r.proceed()
				r.wait(nil)
				if err := s.m.Wait(); err != nil {
					t.Errorf("the mount ended with %v", err)
				}
			})
		}
	})
}

func init() {
	clients["looksUp"] = func(c *client) {
		var wg sync.WaitGroup
		var looked atomic.Int32
		var st unix.Stat_t
		c.ok(unix.Stat(c.dir, &st))
		sitting, err := os.Open(c.dir)
		c.ok(err)
		for i := range 32 {
			wg.Go(func() {
				for n := i; ; n++ {
					err := unix.Stat(c.path(fmt.Sprint("f", n%50)), new(unix.Stat_t))
					names, listErr := os.ReadDir(c.dir)
					looked.Add(1)
					// Detached: nothing is there any more. Aborted: ENOTCONN.
					if err != nil || listErr != nil || len(names) == 0 {
						return
					}
				}
			})
		}
		for looked.Load() < 100 {
			time.Sleep(time.Millisecond)
		}
		c.step("looking")
		wg.Wait()
		c.ok(sitting.Close())
	}
}

// A daemon that dies leaves a mount behind that is recognised and cleared.
func TestDeadMount(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		s := &served{t: t, driver: driver, dir: t.TempDir()}
		t.Cleanup(func() { mount.ClearDead(s.dir) })
		daemon := s.start("daemon")
		daemon.await("mounted")
		user := s.start("usesDying")
		user.await("using")
		if cleared, err := mount.ClearDead(s.dir); cleared || err != nil {
			t.Errorf("cleared a living mount: %v, %v", cleared, err)
		}
		if err := daemon.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		daemon.cmd.Wait()
		user.proceed()
		user.wait(nil)

		o := mount.Options{FS: emptyTree(), Origin: 1, MountPoint: s.dir, Name: "again"}
		if _, err := mount.Preflight(o); !errors.Is(err, syscall.ENOTCONN) {
			t.Errorf("preflight on a dead mount: %v", err)
		}
		if cleared, err := mount.ClearDead(s.dir); !cleared || err != nil {
			t.Fatalf("clear: %v, %v", cleared, err)
		}
		again := serve(t, driver, nil, func(o *mount.Options) { o.MountPoint = s.dir })
		again.dir = s.dir
		again.run("names", nil)
	})
}

func init() {
	clients["daemon"] = func(c *client) {
		_, err := mount.Mount(c.driver, mount.Options{FS: emptyTree(), Origin: 1, MountPoint: c.dir, Name: "dies"})
		c.ok(err)
		c.step("mounted")
	}
	clients["usesDying"] = func(c *client) {
		c.create("f", "x")
		fd := c.open("f", unix.O_RDWR)
		c.step("using")
		_, err := unix.Pwrite(fd, []byte("y"), 0)
		if err != unix.ENOTCONN && err != unix.ECONNABORTED && err != unix.EIO {
			c.errorf("write after the daemon's death: %v", err)
		}
	}
}

func TestPreflight(t *testing.T) {
	needMounts(t)
	s := serve(t, "", nil)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(s.dir, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		want       syscall.Errno
	}{
		{"missing", filepath.Join(dir, "none"), syscall.ENOENT},
		{"no directory", file, syscall.ENOTDIR},
		{"not empty", dir, syscall.ENOTEMPTY},
		{"mounted by this daemon", s.dir, syscall.EBUSY},
		{"inside of a mount of this daemon", s.dir + "/sub", syscall.EDEADLK},
		{"the same by a symlink", link + "/sub", syscall.EDEADLK},
		{"mounted by somebody", "/proc", syscall.EBUSY},
	} {
		_, err := mount.Mount("", mount.Options{FS: emptyTree(), Origin: 1, MountPoint: c.path})
		if !errors.Is(err, c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want %v in one line", c.name, err, error(c.want))
		}
	}
	if _, err := mount.Mount("none", mount.Options{}); err == nil || !strings.Contains(err.Error(), "go-fuse") {
		t.Errorf("unknown driver: %v", err)
	}
	if got := s.m.Stats().Requests["LOOKUP"] + s.m.Stats().Requests["GETATTR"]; got != 0 {
		t.Errorf("the checks asked this process's own mount %d times", got)
	}
}

// countingFS counts pins and open handles.
type countingFS struct {
	vfs.FS
	pins, handles atomic.Int64
}

func (f *countingFS) Pin(ino vfs.Ino)   { f.pins.Add(1); f.FS.Pin(ino) }
func (f *countingFS) Unpin(ino vfs.Ino) { f.pins.Add(-1); f.FS.Unpin(ino) }

func (f *countingFS) Create(op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
	a, h, err := f.FS.Create(op, parent, name, mode, flags)
	return a, f.counted(h), err
}

func (f *countingFS) Open(op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error) {
	h, err := f.FS.Open(op, ino, flags)
	return f.counted(h), err
}

func (f *countingFS) counted(h vfs.Handle) vfs.Handle {
	if h == nil {
		return nil
	}
	f.handles.Add(1)
	return &countedHandle{h, f}
}

type countedHandle struct {
	vfs.Handle
	f *countingFS
}

func (h *countedHandle) Release(op *vfs.Op) { h.f.handles.Add(-1); h.Handle.Release(op) }

// When a mount ends, however it ends, nothing of the FS stays pinned or open.
func TestEndReleases(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		for _, how := range []string{"unmount", "abort"} {
			t.Run(how, func(t *testing.T) {
				fs := &countingFS{FS: emptyTree()}
				s := serve(t, driver, fs)
				r := s.start("holds")
				r.await("holding")
				if got := s.m.Stats(); fs.handles.Load() != 2 || got.Handles != 2 || fs.pins.Load() != int64(got.Inodes) || got.Inodes != 4 {
					t.Errorf("%d handles and %d pins at work, the mount knows of %+v", fs.handles.Load(), fs.pins.Load(), got)
				}
				if how == "abort" {
					s.m.Abort()
				}
				r.proceed()
				r.wait(nil)
				if how == "unmount" {
					if err := s.m.Unmount(); err != nil {
						t.Error(err)
					}
				}
				s.m.Wait()
				if fs.pins.Load() != 0 || fs.handles.Load() != 0 {
					t.Errorf("%d pins and %d handles are left", fs.pins.Load(), fs.handles.Load())
				}
			})
		}
	})
}

func init() {
	clients["holds"] = func(c *client) {
		c.ok(unix.Mkdir(c.path("d"), 0o755))
		c.open("d/a", unix.O_RDWR|unix.O_CREAT)
		c.open("d/b", unix.O_RDWR|unix.O_CREAT)
		c.ok(unix.Unlink(c.path("d/b")))
		c.step("holding")
	}
}

// waitingFS answers for one attribute only when it is interrupted.
type waitingFS struct {
	vfs.FS
	waiting chan uint32 // the thread that asked
}

func (f *waitingFS) Getxattr(op *vfs.Op, ino vfs.Ino, name string) ([]byte, error) {
	if name != "user.waits" {
		return f.FS.Getxattr(op, ino, name)
	}
	f.waiting <- op.PID
	<-op.Ctx.Done()
	return nil, op.Ctx.Err()
}

// A signal ends a request that waits, and the mount answers others meanwhile.
func TestInterrupt(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		fs := &waitingFS{FS: emptyTree(), waiting: make(chan uint32)}
		s := serve(t, driver, fs)
		r := s.start("isInterrupted")
		thread := <-fs.waiting
		s.run("smallFiles", nil)
		// Not to the process: any thread of it might take the signal.
		if err := unix.Tgkill(r.cmd.Process.Pid, int(thread), unix.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		r.wait(nil)
	})
}

// An abort ends also the requests that wait.
func TestAbortWaiting(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		fs := &waitingFS{FS: emptyTree(), waiting: make(chan uint32)}
		s := serve(t, driver, fs)
		r := s.start("isAborted")
		<-fs.waiting
		s.m.Abort()
		r.wait(nil)
		if err := s.m.Wait(); err != nil {
			t.Errorf("the mount ended with %v", err)
		}
	})
}

// panickingFS panics for one attribute.
type panickingFS struct{ vfs.FS }

func (f panickingFS) Getxattr(op *vfs.Op, ino vfs.Ino, name string) ([]byte, error) {
	if name == "user.panics" {
		panic("as the test asked")
	}
	return f.FS.Getxattr(op, ino, name)
}

// A panic in the FS is EIO to the one who asked, and nothing to others.
func TestPanic(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		var log bytes.Buffer
		s := serve(t, driver, panickingFS{emptyTree()}, func(o *mount.Options) {
			o.Log = slog.New(slog.NewTextHandler(&log, nil))
		})
		s.run("panics", nil)
		s.run("names", nil)
		if err := s.m.Unmount(); err != nil {
			t.Fatal(err)
		}
		if got := log.String(); !strings.Contains(got, "as the test asked") || !strings.Contains(got, "Getxattr") {
			t.Errorf("logged %q", got)
		}
	})
}

func TestList(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		s := serve(t, driver, nil)
		want := mount.Listed{MountPoint: s.dir, Workspace: t.Name()}
		if got := mount.List(); !slices.Contains(got, want) {
			t.Errorf("listed %+v, want %+v among them", got, want)
		}
		if mount.IsDead(s.dir) {
			t.Error("a living mount counts as dead")
		}
	})
}

func init() {
	clients["isAborted"] = func(c *client) {
		_, err := unix.Getxattr(c.dir, "user.waits", make([]byte, 16))
		if err != unix.ECONNABORTED && err != unix.ENOTCONN && err != unix.EINTR {
			c.errorf("call under an abort: %v", err)
		}
	}
	clients["panics"] = func(c *client) {
		_, err := unix.Getxattr(c.dir, "user.panics", make([]byte, 16))
		c.want("panicking call", err, unix.EIO)
	}
	clients["isInterrupted"] = func(c *client) {
		got := make(chan os.Signal, 1)
		signal.Notify(got, unix.SIGUSR1)
		_, err := unix.Getxattr(c.dir, "user.waits", make([]byte, 16))
		c.want("interrupted call", err, unix.EINTR)
	}
}

func TestStats(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		for _, noFlush := range []bool{false, true} {
			s := serve(t, driver, nil, func(o *mount.Options) { o.NoFlush = noFlush })
			s.run("smallFiles", nil)
			got := s.m.Stats().Requests
			if got["CREATE"] != 20 || got["WRITE"] != 20 || got["LOOKUP"] > 21 {
				t.Errorf("20 small files took %v", got)
			}
			if flushes := got["FLUSH"]; noFlush && flushes != 1 || !noFlush && flushes != 20 {
				t.Errorf("NoFlush %v: %d requests to flush", noFlush, flushes)
			}
			if got["GETXATTR"] != 0 {
				t.Errorf("a write-only file made the kernel ask for attributes: %v", got)
			}
		}
	})
}

func init() {
	clients["smallFiles"] = func(c *client) {
		for i := range 20 {
			fd := c.open(fmt.Sprint("f", i), unix.O_WRONLY|unix.O_CREAT)
			_, err := unix.Write(fd, []byte("small"))
			c.ok(err)
			c.ok(unix.Close(fd))
		}
	}
}
