package mount

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

var errNoFusermount = errors.New("mounting takes root or fusermount3: install fuse3")

// Preflight finds out whether o can be mounted and returns the mount point's
// real path. It changes nothing. Its error is one line with the way out.
func Preflight(o Options) (mountPoint string, err error) {
	if o.FS == nil || o.MountPoint == "" {
		return "", errors.New("mount: no file system or no mount point given")
	}
	if err := checkDevice(); err != nil {
		return "", err
	}
	if err := checkRights(&o); err != nil {
		return "", err
	}
	path, err := resolve(o.MountPoint)
	if err != nil {
		return "", fmt.Errorf("mount %s: %w", o.MountPoint, err)
	}
	return path, checkMountPoint(path, o.Replace)
}

func checkDevice() error {
	switch _, err := os.Stat(fuseDevice); {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("mount: no %s: load the module (modprobe fuse), or give the container the device (--device %s)", fuseDevice, fuseDevice)
	case err != nil:
		return fmt.Errorf("mount: %w", err)
	}
	// fusermount3 opens it as the user, too.
	if err := unix.Access(fuseDevice, unix.R_OK|unix.W_OK); err != nil {
		return fmt.Errorf("mount: %s: %w: let everyone read and write it (chmod 666), as distributions do", fuseDevice, err)
	}
	return nil
}

func checkRights(o *Options) error {
	if os.Geteuid() == 0 {
		return nil
	}
	if _, err := exec.LookPath("fusermount3"); err != nil {
		return fmt.Errorf("mount: %w", errNoFusermount)
	}
	if o.Suid || o.Dev {
		return fmt.Errorf("mount: %w: only root may let set-id bits or devices count", unix.EPERM)
	}
	if o.AllowOther {
		conf, err := os.ReadFile("/etc/fuse.conf")
		if err != nil || !hasLine(string(conf), "user_allow_other") {
			return fmt.Errorf("mount: %w: other users may be let in by root, or after user_allow_other is put in /etc/fuse.conf", unix.EPERM)
		}
	}
	return nil
}

func hasLine(text, want string) bool {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == want {
			return true
		}
	}
	return false
}

func checkMountPoint(path string, replace bool) error {
	if own, held := owned.holding(path); held {
		if own == path {
			return fmt.Errorf("mount %s: %w: this daemon has mounted a workspace there", path, unix.EBUSY)
		}
		return fmt.Errorf("mount %s: %w: it lies in the workspace that this daemon has mounted at %s, and would wait for itself", path, unix.EDEADLK, own)
	}
	if m, mounted := onTop(path); mounted {
		switch dead := m.fsType == fsType && isDead(path); {
		case dead && replace:
			return nil // what it covers was looked at when it was mounted
		case dead:
			return fmt.Errorf("mount %s: %w: its daemon has died: clear it with vfsctl doctor or umount -l", path, unix.ENOTCONN)
		}
		return fmt.Errorf("mount %s: %w: %s (%s) is mounted there: unmount it or take another directory", path, unix.EBUSY, m.source, m.fsType)
	}
	d, err := os.Open(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("mount %s: %w: make the directory first", path, unix.ENOENT)
	case err != nil:
		return fmt.Errorf("mount %s: %w", path, err)
	}
	defer d.Close()
	switch _, err := d.Readdirnames(1); {
	case err == io.EOF:
		return nil
	case errors.Is(err, unix.ENOTDIR):
		return fmt.Errorf("mount %s: %w: take a directory", path, unix.ENOTDIR)
	case err != nil:
		return fmt.Errorf("mount %s: %w", path, err)
	}
	return fmt.Errorf("mount %s: %w: the mount would hide what is in it: take an empty directory", path, unix.ENOTEMPTY)
}

// resolve returns path without symlinks. Unlike filepath.EvalSymlinks it stops
// at a mount of this process instead of walking into it.
func resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	done, rest := "/", strings.Split(abs, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		if _, held := owned.holding(next); held {
			return filepath.Join(append([]string{next}, rest...)...), nil
		}
		target, err := os.Readlink(next)
		if err != nil {
			done = next // no symlink, or not there: found out later
			continue
		}
		if links++; links > 40 {
			return "", unix.ELOOP
		}
		if filepath.IsAbs(target) {
			done = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return done, nil
}
