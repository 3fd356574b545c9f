package mount

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// deadOnTop reports whether what one sees at path is a mount of vfsd's whose
// daemon has died.
func deadOnTop(path string) bool {
	m, mounted := onTop(path)
	if !mounted || m.fsType != fsType {
		return false
	}
	_, own := owned.holding(path)
	return !own && isDead(path)
}

// moveMountBeneath is MOVE_MOUNT_BENEATH of linux/mount.h.
const moveMountBeneath = 0x200

// replace mounts o beneath the dead mount at its mount point and then takes
// that away, so that no program ever finds the bare directory: one that goes on
// writing by path gets errors until it gets the new mount. Linux 6.5 can.
func (at *attachment) replace(o *Options, fd int) error {
	tree, err := detachedMount(o, fd)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	const flags = unix.MOVE_MOUNT_F_EMPTY_PATH | moveMountBeneath
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, o.MountPoint, flags); err != nil {
		return os.NewSyscallError("move_mount", err)
	}
	return detach(o.MountPoint, true, false)
}

// detachedMount makes a mount of the connection fd that is at no place yet.
func detachedMount(o *Options, fd int) (tree int, err error) {
	fs, err := unix.Fsopen("fuse", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, os.NewSyscallError("fsopen", err)
	}
	defer unix.Close(fs)
	options := [][2]string{
		{"source", optionName(o.Name)}, {"subtype", "vfsd"}, {"fd", strconv.Itoa(fd)}, {"rootmode", "40000"},
		{"user_id", strconv.Itoa(os.Geteuid())}, {"group_id", strconv.Itoa(os.Getegid())}, {"max_read", strconv.Itoa(o.MaxRequest)},
	}
	for _, opt := range options {
		if err := unix.FsconfigSetString(fs, opt[0], opt[1]); err != nil {
			return -1, fmt.Errorf("fsconfig %s: %w", opt[0], err)
		}
	}
	attrs := unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	if o.Suid {
		attrs &^= unix.MOUNT_ATTR_NOSUID
	}
	if o.Dev {
		attrs &^= unix.MOUNT_ATTR_NODEV
	}
	var given []string
	if o.AllowOther {
		given = append(given, "allow_other")
	}
	if o.ReadOnly {
		given, attrs = append(given, "ro"), attrs|unix.MOUNT_ATTR_RDONLY
	}
	for _, flag := range given {
		if err := unix.FsconfigSetFlag(fs, flag); err != nil {
			return -1, fmt.Errorf("fsconfig %s: %w", flag, err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, os.NewSyscallError("fsconfig", err)
	}
	tree, err = unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, attrs)
	return tree, os.NewSyscallError("fsmount", err)
}

// clearDown takes dead mounts away until one is left, or none with last.
func clearDown(path string, last bool) error {
	for deadOnTop(path) {
		n := 0
		for _, m := range mountTable() {
			if m.path == path && m.fsType == fsType {
				n++
			}
		}
		if n == 1 && !last {
			return nil
		}
		if err := detach(path, true, true); err != nil {
			return fmt.Errorf("clear the dead mount at %s: %w", path, err)
		}
	}
	return nil
}
