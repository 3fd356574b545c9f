//go:build linux

package conformance_test

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
//	fail     fsync of the host fails from now on: "ok"
//	heal     and works again: "ok"
//	(end)    unmount and end
//
// Its arguments are the mount point, an empty directory for its own files, the
// driver, the rule to break or "none", the kind of backing, a second mount
// point or "none", and "suid" for mounts that honour set-id bits and devices.
func init() {
	harness.RegisterRole("rig-serve", func(p *harness.Peer) int {
		if err := serveAll(p); err != nil {
			p.SayErr(err)
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	})
}

func serveAll(p *harness.Peer) error {
	b, err := newBacking(p.Args[4], p.Args[1])
	if err != nil {
		return err
	}
	for {
		ms, err := mountBacking(b, p.Args)
		if err != nil {
			return errors.Join(err, unmount(ms, p.Args[3] != "none"))
		}
		p.Say("ok")
		more, err := obey(p, b)
		if err == nil && more {
			err = b.crash()
		}
		err = errors.Join(err, unmount(ms, p.Args[3] != "none"))
		if err != nil || !more {
			return errors.Join(err, b.close())
		}
		if err := b.revive(); err != nil {
			return err
		}
	}
}

// obey does as it is told until the mount is to end; more says that another one
// is to follow.
func obey(p *harness.Peer, b backing) (more bool, err error) {
	for {
		words, ok := p.Next()
		if !ok || words[0] == "cut" {
			return ok, nil
		}
		s, can := b.(*store)
		if !can {
			return false, fmt.Errorf("%q: this backing cannot", words[0])
		}
		if err := s.fail(words[0] == "fail"); err != nil {
			return false, err
		}
		p.Say("ok")
	}
}

// mountBacking mounts what is there now, with a rule broken unless it is
// "none": what is durable is decided below what is broken.
func mountBacking(b backing, args []string) (ms []mount.Mounted, err error) {
	fs := b.tree()
	if rule := args[3]; rule != "none" {
		if fs, err = broken.New(fs, rule); err != nil {
			return nil, err
		}
	}
	suid := slices.Contains(args[6:], "suid")
	for i, dir := range []string{args[0], args[5]} {
		if dir == "none" {
			continue
		}
		m, err := mount.Mount(args[2], mount.Options{
			FS: fs, Origin: vfs.Origin(i + 1), MountPoint: dir, Name: "conformance", AllowOther: true, Suid: suid, Dev: suid,
		})
		if err != nil {
			return ms, err
		}
		ms = append(ms, m)
	}
	return ms, nil
}

// unmount ends the mounts. A broken one may be stuck, and is torn down then.
func unmount(ms []mount.Mounted, isBroken bool) (err error) {
	for _, m := range ms {
		e := m.Unmount()
		if e != nil {
			m.Abort()
		}
		e = errors.Join(e, m.Wait())
		if !isBroken {
			err = errors.Join(err, e)
		}
	}
	return err
}

// served is a mount that a child serves.
type served struct {
	dir    string
	second string // the same by another mount, if there is one
	in     io.WriteCloser
	out    *bufio.Reader
}

// server says what to serve.
type server struct {
	driver  string // "" is the default one
	rule    string // to break; "" is none
	backing string // "" is "volatile", a tree in memory
	second  bool   // mount it twice
	suid    bool
}

// serve mounts something fresh; it is gone at the end of the test.
func serve(t *testing.T, o server) *served {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount for other users")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("no /dev/fuse: load the fuse module")
	}
	s := &served{dir: filepath.Join(t.TempDir(), "mnt"), second: "none"}
	own := filepath.Join(t.TempDir(), "own")
	dirs := []string{s.dir, own}
	if o.second {
		s.second = filepath.Join(t.TempDir(), "second")
		dirs = append(dirs, s.second)
	}
	for _, d := range dirs {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{s.dir, own, cmp.Or(o.driver, mount.DefaultDriver), cmp.Or(o.rule, "none"), cmp.Or(o.backing, "volatile"), s.second}
	if o.suid {
		args = append(args, "suid")
	}
	var stderr strings.Builder
	cmd := exec.Command("/proc/self/exe", args...)
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
func (s *served) cut() error { return s.tell("cut") }

// tell has the server do something and waits until it is done.
func (s *served) tell(what string) error {
	if _, err := io.WriteString(s.in, what+"\n"); err != nil {
		return fmt.Errorf("tell the server: %w", err)
	}
	return s.ready()
}
