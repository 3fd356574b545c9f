//go:build linux

package conformance_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/conformance/broken"
	"github.com/vfsd/vfsd/conformance/internal/harness"
	"github.com/vfsd/vfsd/mount"
	_ "github.com/vfsd/vfsd/mount/bazil"
	_ "github.com/vfsd/vfsd/mount/gofuse"
	"github.com/vfsd/vfsd/vfs"
)

// A process that serves a mount must not use it, so mounts are served by a
// child, which does as it is told:
//
//	cut      unmount, forget what is not durable, mount again: "ok"
//	(end)    unmount and end
func init() {
	harness.RegisterRole("rig-serve", func(p *harness.Peer) int {
		dir, driver, rule := p.Args[0], p.Args[1], p.Args[2]
		// What is durable is decided below what is broken: a broken fsync
		// does not reach it.
		disk := newDisk(p.Args[3] == "durable")
		for {
			m, err := serveDisk(disk, dir, driver, rule)
			if err != nil {
				p.SayErr(err)
				return 1
			}
			p.Say("ok")
			words, more := p.Next()
			if err := m.Unmount(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				m.Abort()
			}
			if err := m.Wait(); err != nil && more {
				p.SayErr(err)
				return 1
			}
			if !more {
				return 0
			}
			if words[0] == "cut" {
				if err := disk.cut(); err != nil {
					p.SayErr(err)
					return 1
				}
			}
		}
	})
}

// serveDisk mounts the disk, with a rule broken unless it is "none".
func serveDisk(d *disk, dir, driver, rule string) (mount.Mounted, error) {
	var fs vfs.FS = d
	if rule != "none" {
		var err error
		if fs, err = broken.New(d, rule); err != nil {
			return nil, err
		}
	}
	return mount.Mount(driver, mount.Options{
		FS: fs, Origin: 1, MountPoint: dir, Name: "conformance", AllowOther: true, Suid: true, Dev: true,
	})
}

// served is a mount that a child serves.
type served struct {
	dir string
	in  io.WriteCloser
	out *bufio.Reader
}

// serve mounts a fresh tree in memory by a driver, with a rule broken unless
// it is "none"; it is gone at the end of the test. Only the power of a durable
// one can be cut.
func serve(t *testing.T, driver, rule string, durable bool) *served {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount for other users")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("no /dev/fuse: load the fuse module")
	}
	s := &served{dir: filepath.Join(t.TempDir(), "mnt")}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	kind := "volatile"
	if durable {
		kind = "durable"
	}
	cmd := exec.Command("/proc/self/exe", s.dir, driver, rule, kind)
	cmd.Env = append(os.Environ(), "VFSD_CONFORMANCE_ROLE=rig-serve")
	cmd.Dir = "/"
	cmd.Stderr = &stderr
	// Away from the terminal: an interrupt is for the test, which then tells
	// the server to end.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if s.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The end of its input ends the server.
		_ = s.in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v: %s", err, stderr.String())
		}
	})
	if err := s.ready(); err != nil {
		t.Fatal(err)
	}
	return s
}

// ready waits for the server to say "ok".
func (s *served) ready() error {
	line, err := s.out.ReadString('\n')
	if err != nil || line != "ok\n" {
		return fmt.Errorf("the server says %q, %v", line, err)
	}
	return nil
}

// cut makes the mounted tree forget what is not durable.
func (s *served) cut() error {
	if _, err := io.WriteString(s.in, "cut\n"); err != nil {
		return fmt.Errorf("tell the server: %w", err)
	}
	return s.ready()
}
