//go:build linux

package mount_test

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/vfsd/vfsd/mount"
	"github.com/vfsd/vfsd/vfs"
	"golang.org/x/sys/unix"
)

const (
	alice = 1000
	bob   = 1001
	staff = 2000 // a supplementary group
)

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can run clients as other users")
	}
}

// letOthersReach makes the temporary directories above a mount point passable.
func (s *served) letOthersReach() {
	for dir := s.dir; dir != "/"; dir = dir[:max(1, lastSlash(dir))] {
		st, err := os.Stat(dir)
		if dir != s.dir && err == nil && st.Mode().Perm()&0o011 != 0o011 {
			if err := os.Chmod(dir, 0o755); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

func lastSlash(path string) int {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return i
		}
	}
	return 0
}

// Entries that the kernel keeps must not open a way that permissions close.
func TestRights(t *testing.T) {
	needRoot(t)
	eachDriver(t, func(t *testing.T, driver string) {
		s := serve(t, driver, nil)
		s.letOthersReach()
		e := s.editor()
		e.set("", vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o777})
		s.run("aliceMakes", nil, as(alice))
		// Bob has walked every path while he was allowed to. Each step takes
		// his right away in another way.
		bobs := s.start("bobWalks", as(bob, staff))
		for _, step := range []struct {
			name string
			do   func()
		}{
			{"chmod here", func() { s.run("chmodByAlice", nil, as(alice)) }},
			{"acl here", func() { s.run("aclByAlice", nil, as(alice)) }},
			{"chown here", func() { s.run("chownByRoot", nil) }},
			{"chmod elsewhere", func() { e.set("d4", vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o700}) }},
			{"acl elsewhere", func() { e.ok(e.fs.Setxattr(e.op, e.ino("d5"), vfs.XattrACLAccess, aclWithoutBob, 0)) }},
		} {
			bobs.await(step.name)
			step.do()
			bobs.proceed()
		}
		bobs.wait(nil)
		s.run("executes", nil, as(bob, staff))
	})
}

func init() {
	clients["aliceMakes"] = func(c *client) {
		for _, dir := range []string{"d1", "d2", "d3", "d4", "d5", "priv"} {
			c.ok(unix.Mkdir(c.path(dir), 0o755))
			c.create(dir+"/f", "secret")
		}
		c.ok(unix.Chmod(c.path("priv"), 0o700))
		binary, err := os.ReadFile("/bin/true")
		c.ok(err)
		c.ok(os.WriteFile(c.path("x"), binary, 0o711))
		c.ok(os.WriteFile(c.path("nox"), binary, 0o766))
		// As the owner she fills the kernel's cache with what bob may not see.
		c.contents("priv/f", "secret")
	}
	clients["chmodByAlice"] = func(c *client) { c.ok(unix.Chmod(c.path("d1"), 0o700)) }
	clients["aclByAlice"] = func(c *client) {
		c.ok(unix.Setxattr(c.path("d2"), "system.posix_acl_access", aclWithoutBob, 0))
	}
	clients["chownByRoot"] = func(c *client) {
		c.ok(unix.Chown(c.path("d3"), 0, staff))
		c.ok(unix.Chmod(c.path("d3"), 0o750))
		c.ok(unix.Chown(c.path("d3"), 0, 0))
	}
	clients["bobWalks"] = func(c *client) {
		walk := func(dir string, e syscall.Errno) {
			c.want(dir, unix.Access(c.path(dir+"/f"), unix.F_OK), e)
			var st unix.Stat_t
			c.want("stat in "+dir, unix.Stat(c.path(dir+"/f"), &st), e)
			c.want("create in "+dir, openError(c.path(dir+"/mine"), unix.O_CREAT|unix.O_RDWR), unix.EACCES)
		}
		walk("priv", unix.EACCES)
		for _, dir := range []string{"d1", "d2", "d3", "d4", "d5"} {
			walk(dir, 0)
		}
		c.step("chmod here")
		walk("d1", unix.EACCES)
		c.step("acl here")
		walk("d2", unix.EACCES)
		c.step("chown here")
		walk("d3", unix.EACCES)
		c.step("chmod elsewhere")
		awaitClosed(c, "d4")
		walk("d4", unix.EACCES)
		c.step("acl elsewhere")
		awaitClosed(c, "d5")
		walk("d5", unix.EACCES)
		c.want("chdir", unix.Chdir(c.path("priv")), unix.EACCES)
	}
	clients["executes"] = func(c *client) {
		c.want("read a file of mode 711", openError(c.path("x"), unix.O_RDONLY), unix.EACCES)
		c.want("execute it", exec.Command(c.path("x")).Run(), 0)
		c.want("execute a file of mode 766", exec.Command(c.path("nox")).Run(), unix.EACCES)
	}
}

// awaitClosed waits, where the kernel cannot expire all entries at once (before
// Linux 6.16), until the mount has looked at the rights that changed elsewhere.
func awaitClosed(c *client, dir string) {
	var name unix.Utsname
	c.ok(unix.Uname(&name))
	var major, minor int
	_, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor)
	c.ok(err)
	if major > 6 || major == 6 && minor >= 16 {
		return
	}
	for deadline := time.Now().Add(10 * time.Second); unix.Access(c.path(dir+"/f"), unix.F_OK) == nil; {
		if time.Now().After(deadline) {
			c.fatalf("%s stays open", dir)
		}
	}
}

// aclWithoutBob is user::rwx, user:1001:---, group::r-x, mask::r-x, other::r-x.
var aclWithoutBob = []byte{
	2, 0, 0, 0,
	1, 0, 7, 0, 255, 255, 255, 255,
	2, 0, 0, 0, 0xe9, 3, 0, 0,
	4, 0, 5, 0, 255, 255, 255, 255,
	16, 0, 5, 0, 255, 255, 255, 255,
	32, 0, 5, 0, 255, 255, 255, 255,
}

// Supplementary groups, which FUSE does not carry, count.
func TestSupplementaryGroups(t *testing.T) {
	needRoot(t)
	eachDriver(t, func(t *testing.T, driver string) {
		s := serve(t, driver, nil)
		s.letOthersReach()
		e := s.editor()
		_, err := e.fs.Mkdir(e.op, vfs.RootIno, "team", 0o770)
		e.ok(err)
		e.set("team", vfs.SetAttr{Mask: vfs.SetGID | vfs.SetMode, GID: staff, Mode: 0o2770})
		s.run("member", nil, as(bob, 7, staff))
		s.run("stranger", nil, as(bob, 7))
	})
}

func init() {
	clients["member"] = func(c *client) {
		c.create("team/f", "x")
		if st := c.stat("team/f"); st.Gid != staff || st.Uid != bob {
			c.errorf("made for %d:%d in a setgid directory", st.Uid, st.Gid)
		}
		c.ok(unix.Chown(c.path("team/f"), -1, 7))
		c.want("giving to a strange group", unix.Chown(c.path("team/f"), -1, 8), unix.EPERM)
	}
	clients["stranger"] = func(c *client) {
		c.want("list", openError(c.path("team"), unix.O_RDONLY), unix.EACCES)
		c.want("walk", unix.Access(c.path("team/f"), unix.F_OK), unix.EACCES)
	}
}

// Bits that make a file run as its owner go when somebody else writes to it.
func TestSetIDBits(t *testing.T) {
	needRoot(t)
	eachDriver(t, func(t *testing.T, driver string) {
		s := serve(t, driver, nil)
		s.letOthersReach()
		e := s.editor()
		for _, name := range []string{"write", "truncate", "open"} {
			e.create("", name, "data")
			e.set(name, vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o6777})
		}
		s.run("losesBits", nil, as(bob))
	})
}

func init() {
	clients["losesBits"] = func(c *client) {
		fd := c.open("write", unix.O_WRONLY)
		_, err := unix.Write(fd, []byte("x"))
		c.ok(err)
		c.ok(unix.Truncate(c.path("truncate"), 1))
		c.ok(unix.Close(c.open("open", unix.O_WRONLY|unix.O_TRUNC)))
		for _, name := range []string{"write", "truncate", "open"} {
			if m := c.stat(name).Mode & 0o7777; m != 0o777 {
				c.errorf("after %s the mode is %o", name, m)
			}
		}
	}
}

// Without allow_other the kernel keeps other users out.
func TestOnlyOwner(t *testing.T) {
	needRoot(t)
	eachDriver(t, func(t *testing.T, driver string) {
		s := serve(t, driver, nil, func(o *mount.Options) { o.AllowOther = false })
		s.letOthersReach()
		s.run("denied", nil, as(bob))
		s.run("names", nil)
	})
}

func init() {
	clients["denied"] = func(c *client) {
		c.want("list", openError(c.dir, unix.O_RDONLY), unix.EACCES)
		c.want("create", openError(c.path("f"), unix.O_CREAT|unix.O_RDWR), unix.EACCES)
	}
}

func TestReadOnly(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		s := serve(t, driver, nil, func(o *mount.Options) { o.ReadOnly = true })
		s.editor().create("", "f", "data")
		s.run("readOnly", nil)
	})
}

func init() {
	clients["readOnly"] = func(c *client) {
		c.contents("f", "data")
		c.want("create", openError(c.path("g"), unix.O_CREAT|unix.O_RDWR), unix.EROFS)
		c.want("write", openError(c.path("f"), unix.O_WRONLY), unix.EROFS)
		c.want("unlink", unix.Unlink(c.path("f")), unix.EROFS)
		c.want("chmod", unix.Chmod(c.path("f"), 0o600), unix.EROFS)
	}
}
