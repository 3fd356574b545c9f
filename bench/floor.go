package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/mount"
)

// Floor says how to mount a filesystem in memory.
type Floor struct {
	// Command runs this program so that it calls ServeFloor with the mount
	// point that is its last argument.
	Command []string
	// Driver names the FUSE driver; "" is the default.
	Driver string
}

// ready is what a floor's process prints when its mount can be used.
const ready = "mounted"

// start mounts a filesystem in memory below dir. stop unmounts it.
func (f *Floor) start(dir string) (mountPoint string, stop func() error, err error) {
	mountPoint = filepath.Join(dir, "floor")
	if err := os.Mkdir(mountPoint, 0o755); err != nil {
		return "", nil, err
	}
	args := append(append([]string{}, f.Command...), f.Driver, mountPoint)
	cmd := exec.Command(args[0], args[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("filesystem in memory: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if strings.TrimSpace(line) != ready {
		in.Close()
		return "", nil, fmt.Errorf("filesystem in memory: %w: %s", errors.Join(err, cmd.Wait()), strings.TrimSpace(line+said.String()))
	}
	return mountPoint, func() error {
		in.Close()
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("filesystem in memory: %w: %s", err, said.String())
		}
		return os.Remove(mountPoint)
	}, nil
}

// ServeFloor mounts a filesystem in memory at mountPoint as the daemon mounts a
// workspace, says so on out, and serves it until in ends. It is the child
// process of a Floor.
func ServeFloor(driver, mountPoint string, in io.Reader, out io.Writer) error {
	m, err := mount.Mount(driver, mount.Options{
		FS: memfs.New(), Origin: 1, MountPoint: mountPoint, Name: "floor", AllowOther: true, NoFlush: true,
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, ready); err != nil {
		return errors.Join(err, m.Unmount())
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return errors.Join(err, m.Unmount())
	}
	return m.Unmount()
}
