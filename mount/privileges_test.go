//go:build linux

package mount_test

import (
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/vfs"
	"golang.org/x/sys/unix"
)

// Capabilities are what makes a process privileged, not its uid, and they reach
// as far as its user namespace.
func TestCapabilities(t *testing.T) {
	needRoot(t)
	eachDriver(t, func(t *testing.T, driver string) {
		s := serve(t, driver, nil)
		s.letOthersReach()
		e := s.editor()
		e.set("", vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o777})
		e.create("", "root", "root's")
		e.create("", "alice", "alice's")
		e.create("", "bob", "bob's")
		e.set("root", vfs.SetAttr{Mask: vfs.SetMode, Mode: 0})
		e.set("alice", vfs.SetAttr{Mask: vfs.SetMode | vfs.SetUID | vfs.SetGID, UID: alice, GID: alice})
		e.set("bob", vfs.SetAttr{Mask: vfs.SetMode | vfs.SetUID | vfs.SetGID, UID: bob, GID: bob})
		s.run("rootWithout", nil)
		s.run("bobWith", nil, as(bob), func(cmd *exec.Cmd) {
			cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER}
		})
		s.run("rootOfNamespace", nil, func(cmd *exec.Cmd) {
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:  syscall.CLONE_NEWUSER,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: bob, Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: bob, Size: 1}},
				Credential:  &syscall.Credential{},
			}
		})
	})
}

func init() {
	clients["rootWithout"] = func(c *client) {
		c.want("root with capabilities", openError(c.path("root"), unix.O_RDWR), 0)
		c.want("on another's", openError(c.path("alice"), unix.O_RDWR), 0)
		runtime.LockOSThread()
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		c.ok(unix.Capset(&header, &none[0]))
		c.want("its own file of mode 0", openError(c.path("root"), unix.O_RDONLY), unix.EACCES)
		c.want("another's file", openError(c.path("alice"), unix.O_RDONLY), unix.EACCES)
		c.want("chmod of another's", unix.Chmod(c.path("alice"), 0o666), unix.EPERM)
		c.want("chown of its own", unix.Chown(c.path("root"), bob, -1), unix.EPERM)
		c.want("making a device", unix.Mknod(c.path("null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))), unix.EPERM)
		c.want("a trusted attribute", unix.Setxattr(c.path("root"), "trusted.x", []byte("x"), 0), unix.EPERM)
		c.want("chmod of its own", unix.Chmod(c.path("root"), 0o600), 0)
		c.want("its own file", openError(c.path("root"), unix.O_RDONLY), 0)
	}
	clients["bobWith"] = func(c *client) {
		c.want("another's file", openError(c.path("alice"), unix.O_RDWR), 0)
		c.want("chmod of another's", unix.Chmod(c.path("alice"), 0o600), 0)
		c.want("chown of another's", unix.Chown(c.path("alice"), bob, -1), unix.EPERM)
	}
	clients["rootOfNamespace"] = func(c *client) {
		c.want("a file of its user, of mode 0", openError(c.path("bob"), unix.O_RDWR), 0)
		c.want("a file of a user whom it does not know", openError(c.path("alice"), unix.O_RDONLY), unix.EACCES)
		c.want("root's", openError(c.path("root"), unix.O_RDONLY), unix.EACCES)
		c.want("a trusted attribute", unix.Setxattr(c.path("bob"), "trusted.x", []byte("x"), 0), unix.EPERM)
	}
}
