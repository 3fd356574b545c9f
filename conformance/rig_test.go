//go:build linux

package conformance_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance"
	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// The rigs run the suite in a child process: in a mount namespace of its own,
// so that whatever it mounts is gone with it, or as another user.
func init() {
	harness.RegisterRole("rig-unprivileged", func(p *harness.Peer) int {
		o := conformance.Options{Dir: p.Args[0], Short: true}
		if !soak() {
			o.Groups = []string{"identity", "special", "attributes", "rename"}
		}
		return report(o)
	})
	harness.RegisterRole("rig-small-tmpfs", func(p *harness.Peer) int {
		if err := unix.Mount("tmpfs", p.Args[0], "tmpfs", 0, "size=16m"); err != nil {
			return complain(err)
		}
		return report(conformance.Options{Dir: p.Args[0], Match: []string{"data/full/*", "unlink/open-unlinked/*"}})
	})
	harness.RegisterRole("rig-second-mount", func(p *harness.Peer) int {
		dir, second := filepath.Join(p.Args[0], "dir"), filepath.Join(p.Args[0], "second")
		for _, d := range []string{dir, second} {
			if err := os.Mkdir(d, 0o755); err != nil {
				return complain(err)
			}
		}
		if err := unix.Mount(dir, second, "", unix.MS_BIND, ""); err != nil {
			return complain(err)
		}
		return report(conformance.Options{Dir: dir, Second: second, Match: []string{"coherence/*a-second-mount/*", "notify/elsewhere/*"}})
	})
	harness.RegisterRole("rig-small-ext4", func(p *harness.Peer) int {
		dir, _, err := loopExt4(p.Args[0], "48m")
		if err != nil {
			return complain(err)
		}
		return report(conformance.Options{Dir: dir, Match: []string{"data/full/*", "attributes/statfs/*"}})
	})
	harness.RegisterRole("rig-power-cut", func(p *harness.Peer) int {
		dir, image, err := loopExt4(p.Args[0], "256m")
		if err != nil {
			return complain(err)
		}
		return report(conformance.Options{
			Dir: dir, Match: []string{"durability/*"},
			PowerCut: func() error { return cutExt4(dir, image) },
		})
	})
}

// inChild runs a role with more clone flags, as a user, and returns what it
// says. The role's argument is a directory.
func inChild(t *testing.T, role string, flags uintptr, uid int, dir string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("/proc/self/exe", dir)
	cmd.Env = append(os.Environ(), "VFSD_CONFORMANCE_ROLE="+role)
	cmd.Dir = "/"
	cmd.Stderr = &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags, Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if uid != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", role, err, stderr.String(), failedOf(out))
	}
	return out
}

// rig runs a role in a mount namespace of its own.
func rig(t *testing.T, role string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount")
	}
	t.Log(role, string(counts(inChild(t, role, unix.CLONE_NEWNS, 0, t.TempDir()))))
}

// counts cuts a JSON report down to its first lines.
func counts(report []byte) []byte {
	lines := bytes.SplitN(report, []byte("\n"), 6)
	return bytes.Join(lines[:min(len(lines), 5)], []byte(" "))
}

func TestSecondMount(t *testing.T) { rig(t, "rig-second-mount") }

func TestFullTmpfs(t *testing.T) { rig(t, "rig-small-tmpfs") }

func TestFullExt4(t *testing.T) {
	needExt4Tools(t)
	rig(t, "rig-small-ext4")
}

// TestPowerCutExt4 checks the durability cases on a real file system whose
// power is cut: by the ioctl with which ext4 drops what it has not written.
func TestPowerCutExt4(t *testing.T) {
	if !soak() {
		t.Skip("the long form: VFSD_SOAK=1")
	}
	needExt4Tools(t)
	rig(t, "rig-power-cut")
}

func needExt4Tools(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount")
	}
	if _, err := exec.LookPath("mkfs.ext4"); err != nil {
		t.Skip("no mkfs.ext4: install e2fsprogs")
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		t.Skip("no loop devices: load the loop module")
	}
}

// report runs the suite and prints it as JSON.
func report(o conformance.Options) int {
	w := conformance.NewJSON(os.Stdout)
	s, err := conformance.Run(context.Background(), o, w.Result)
	if err == nil {
		err = w.End(s)
	}
	if err != nil {
		return complain(err)
	}
	if !s.OK() {
		return 1
	}
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 2
}

// loopExt4 makes an ext4 in a file of dir and mounts it. The process must be
// in a mount namespace of its own: at its end the mount goes, and the loop
// device with it.
func loopExt4(dir, size string) (point, image string, err error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return "", "", fmt.Errorf("make the mounts private: %w", err)
	}
	image, point = filepath.Join(dir, "image"), filepath.Join(dir, "mnt")
	if err := os.Mkdir(point, 0o755); err != nil {
		return "", "", err
	}
	f, err := os.Create(image)
	if err != nil {
		return "", "", err
	}
	n, err := strconv.ParseInt(size[:len(size)-1], 10, 64)
	if err == nil {
		err = f.Truncate(n << 20)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return "", "", err
	}
	for _, words := range [][]string{{"mkfs.ext4", "-q", "-F", image}, {"mount", "-o", "loop", image, point}} {
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			return "", "", fmt.Errorf("%s: %w: %s", words[0], err, out)
		}
	}
	return point, image, nil
}

// cutExt4 makes a mounted ext4 drop what is not on its disk, and mounts it
// again: its journal is replayed then.
func cutExt4(point, image string) error {
	const (
		shutdown   = 0x8004587d // EXT4_IOC_SHUTDOWN
		noLogFlush = 2
	)
	fd, err := unix.Open(point, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", point, err)
	}
	err = unix.IoctlSetPointerInt(fd, shutdown, noLogFlush)
	if err := unix.Close(fd); err != nil {
		return fmt.Errorf("close %s: %w", point, err)
	}
	if err != nil {
		return fmt.Errorf("shut %s down: %w", point, err)
	}
	if err := unix.Unmount(point, 0); err != nil {
		return fmt.Errorf("unmount %s: %w", point, err)
	}
	if out, err := exec.Command("mount", "-o", "loop", image, point).CombinedOutput(); err != nil {
		return fmt.Errorf("mount %s: %w: %s", point, err, out)
	}
	return nil
}
