//go:build linux

package mount_test

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/vfs"
	"golang.org/x/sys/unix"
)

// What is mounted on a directory of a mount, even in a container's namespace,
// stays whatever is revoked or restored elsewhere in the tree.
func TestNestedMountStays(t *testing.T) {
	needRoot(t)
	eachDriver(t, func(t *testing.T, driver string) {
		fs := &switchFS{FS: emptyTree()}
		s := serve(t, driver, fs)
		e := s.editor()
		for _, name := range []string{"a", "b", "c"} {
			_, err := e.fs.Mkdir(e.op, vfs.RootIno, name, 0o755)
			e.ok(err)
			e.create(name, "f", "x")
		}
		s.run("mountsOn", map[string]func(){
			"chmod":   func() { e.set("a", vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o700}) },
			"restore": func() { fs.watcher.Changed([]vfs.Change{{Kind: vfs.ChangeAll}}) },
		}, func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS} })
	})
}

func init() {
	clients["mountsOn"] = func(c *client) {
		c.ok(unix.Mount("tmpfs", c.path("c"), "tmpfs", 0, ""))
		c.create("c/inner", "in tmpfs")
		check := func() {
			c.list(".")
			c.stat("a/f")
			c.stat("b/f")
			c.contents("c/inner", "in tmpfs")
		}
		check()
		c.step("chmod")
		check()
		c.ok(unix.Chmod(c.path("b"), 0o700))
		check()
		c.step("restore")
		check()
	}
}
