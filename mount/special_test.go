//go:build linux

package mount_test

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/mount"
	"github.com/vfsd/vfsd/vfs"
	"golang.org/x/sys/unix"
)

// FIFOs, sockets and devices are closed to whom their permissions shut out,
// though the kernel asks nobody when they are opened, and are to be seen and
// removed as any file.
func TestSpecialFilesAreGuarded(t *testing.T) {
	needRoot(t)
	eachDriver(t, func(t *testing.T, driver string) {
		s := serve(t, driver, nil, func(o *mount.Options) { o.Dev = true })
		s.letOthersReach()
		e := s.editor()
		e.set("", vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o777})
		s.run("ownsSpecial", map[string]func(){
			"bob tries": func() { s.run("triesSpecial", nil, as(bob, staff)) },
			"all may":   func() { e.set("sock", vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o722}) },
			"bob may":   func() { s.run("usesSpecial", nil, as(bob)) },
		})
	})
}

const secret = "for root alone"

func init() {
	clients["ownsSpecial"] = ownsSpecial
	clients["triesSpecial"] = func(c *client) {
		for range 2 { // what the first round left in the cache must not help the second
			refusedByName(c)
			refusedByDescriptor(c)
			oneDirection(c)
		}
		seenAndRemoved(c)
	}
	clients["usesSpecial"] = func(c *client) {
		conn, err := net.Dial("unix", c.path("sock"))
		c.ok(err)
		c.ok(conn.Close())
	}
}

// ownsSpecial has a FIFO and a socket in use while others try theirs.
func ownsSpecial(c *client) {
	for name, mode := range map[string]uint32{"fifo": 0o600, "drop": 0o622, "team": 0o640, "gone": 0o600} {
		c.ok(unix.Mkfifo(c.path(name), mode))
	}
	c.ok(unix.Chown(c.path("team"), 0, staff))
	c.ok(unix.Mknod(c.path("null"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))))
	l, err := net.Listen("unix", c.path("sock"))
	c.ok(err)
	c.ok(unix.Chmod(c.path("sock"), 0o700))
	accepted := make(chan bool, 16)
	go func() {
		for {
			if _, err := l.Accept(); err != nil {
				return
			}
			accepted <- true
		}
	}()
	fd := c.open("fifo", unix.O_RDWR|unix.O_NONBLOCK)
	_, err = unix.Write(fd, []byte(secret))
	c.ok(err)
	c.open("team", unix.O_RDWR|unix.O_NONBLOCK)
	c.open("drop", unix.O_RDWR|unix.O_NONBLOCK)

	c.ok(os.WriteFile(c.path("private"), []byte("x"), 0o600))
	c.ok(os.WriteFile(c.path("closed"), []byte("x"), 0o644))
	c.ok(unix.Chmod(c.path("closed"), 0o640))

	c.step("bob tries")
	buf := make([]byte, 64)
	if n, err := unix.Read(fd, buf); string(buf[:max(n, 0)]) != secret {
		c.errorf("the FIFO has %q, %v", buf[:max(n, 0)], err)
	}
	if len(accepted) > 0 {
		c.errorf("somebody connected")
	}
	c.step("all may")
	c.step("bob may")
	<-accepted
}

// refusedByName tries what goes by a path.
func refusedByName(c *client) {
	for _, flags := range []int{unix.O_RDONLY, unix.O_WRONLY, unix.O_RDWR, unix.O_CREAT | unix.O_RDWR} {
		for _, name := range []string{"fifo", "null"} {
			c.want(fmt.Sprintf("open %s with %#x", name, flags), openError(c.path(name), flags|unix.O_NONBLOCK), unix.EACCES)
		}
	}
	_, err := unix.Openat2(unix.AT_FDCWD, c.path("fifo"), &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_NONBLOCK})
	c.want("openat2", err, unix.EACCES)
	c.want("connect", connect(c.path("sock")), unix.EACCES)
	in, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	c.ok(err)
	_, err = unix.InotifyAddWatch(in, c.path("fifo"), unix.IN_ALL_EVENTS)
	c.want("watch", err, unix.EACCES)
	for _, name := range []string{"private", "closed"} {
		_, err = unix.InotifyAddWatch(in, c.path(name), unix.IN_ALL_EVENTS)
		c.want("watch "+name, err, unix.EACCES)
	}
	c.ok(unix.Close(in))
	c.want("make anew", openError(c.path("fifo"), unix.O_CREAT|unix.O_EXCL|unix.O_RDWR), unix.EEXIST)
}

// refusedByDescriptor gets hold of the inode without using it, which is
// allowed, and then uses it by a way that asks for no name.
func refusedByDescriptor(c *client) {
	for _, name := range []string{"fifo", "null"} {
		fd := c.open(name, unix.O_PATH)
		again, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDWR|unix.O_NONBLOCK, 0)
		if err == nil {
			buf := make([]byte, 64)
			if n, err := unix.Read(again, buf); n > 0 || name == "null" {
				c.errorf("%s read by a detour: %q, %v", name, buf[:max(n, 0)], err)
			}
			_, err = unix.Write(again, []byte("from bob"))
			c.ok(err) // into a FIFO that is nobody's
			c.ok(unix.Close(again))
		}
		c.ok(unix.Close(fd))
	}
	fd := c.open("sock", unix.O_PATH)
	if err := connect(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil {
		c.errorf("connected by a detour")
	}
	c.ok(unix.Close(fd))
}

// oneDirection uses FIFOs that may be used in one direction.
func oneDirection(c *client) {
	c.want("read what one may only write", openError(c.path("drop"), unix.O_RDONLY|unix.O_NONBLOCK), unix.EACCES)
	c.want("write it", openError(c.path("drop"), unix.O_WRONLY|unix.O_NONBLOCK), 0)
	c.want("write what one's group may read", openError(c.path("team"), unix.O_WRONLY|unix.O_NONBLOCK), unix.EACCES)
	c.want("read it", openError(c.path("team"), unix.O_RDONLY|unix.O_NONBLOCK), 0)
}

// seenAndRemoved does what takes no rights to the file.
func seenAndRemoved(c *client) {
	for name, mode := range map[string]uint32{"fifo": unix.S_IFIFO | 0o600, "null": unix.S_IFCHR | 0o600, "sock": unix.S_IFSOCK | 0o700} {
		if st := c.stat(name); st.Mode != mode || st.Uid != 0 {
			c.errorf("%s has mode %o and owner %d", name, st.Mode, st.Uid)
		}
		c.want("chmod "+name, unix.Chmod(c.path(name), 0o666), unix.EPERM)
		c.want("access "+name, unix.Access(c.path(name), unix.R_OK), unix.EACCES)
		c.want("access "+name, unix.Access(c.path(name), unix.F_OK), 0)
	}
	if got := c.list("."); got != "closed drop fifo gone null private sock team" {
		c.errorf("names %q", got)
	}
	c.stat("gone")
	c.ok(unix.Rename(c.path("gone"), c.path("moved")))
	c.ok(unix.Unlink(c.path("moved")))
}

// connect connects to a socket and hangs up.
func connect(path string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	err = unix.Connect(fd, &unix.SockaddrUnix{Name: path})
	if err == syscall.EISCONN {
		return nil
	}
	return err
}
