//go:build linux

package mount_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/vfsd/vfsd/vfs"
	"golang.org/x/sys/unix"
)

// A program that runs cannot be emptied, and an attempt leaves it whole.
func TestRunningProgram(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		serve(t, driver, nil).run("emptiesProgram", nil)
	})
}

func init() {
	clients["emptiesProgram"] = func(c *client) {
		binary, err := os.ReadFile("/bin/sleep")
		c.ok(err)
		c.ok(os.WriteFile(c.path("sleep"), binary, 0o755))
		cmd := exec.Command(c.path("sleep"), "60")
		c.ok(cmd.Start()) // returns when the program has been executed
		for _, flags := range []int{unix.O_RDONLY, unix.O_WRONLY, unix.O_RDWR, unix.O_RDONLY | unix.O_CREAT} {
			c.want("emptying it", openError(c.path("sleep"), flags|unix.O_TRUNC), unix.ETXTBSY)
		}
		c.want("cutting it", unix.Truncate(c.path("sleep"), 0), unix.ETXTBSY)
		if size := c.stat("sleep").Size; size != int64(len(binary)) {
			c.errorf("%d bytes of the program are left", size)
		}
		c.want("reading it", openError(c.path("sleep"), unix.O_RDONLY), 0)
		c.ok(cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
		// The kernel tells that nobody runs it any more without waiting.
		for deadline := time.Now().Add(10 * time.Second); ; {
			err := openError(c.path("sleep"), unix.O_RDONLY|unix.O_TRUNC)
			if err == nil {
				break
			}
			if vfs.ToErrno(err) != unix.ETXTBSY || time.Now().After(deadline) {
				c.fatalf("emptying it after its end: %v", err)
			}
		}
		if size := c.stat("sleep").Size; size != 0 {
			c.errorf("%d bytes are left", size)
		}
	}
}
