package mount

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const fuseDevice = "/dev/fuse"

// attachment is a FUSE connection attached at a mount point.
type attachment struct {
	path string
	fd   int // given to the driver, which closes it
	// setuid is whether fusermount3 did it and must undo it.
	setuid bool
	id     connID
	notify *kernel
}

// connID is the mount's device number, by which sysfs knows its connection.
type connID struct{ major, minor uint32 }

// attach mounts o.MountPoint, by itself if it may and else with fusermount3.
// Preflight has looked at everything that can be looked at.
func attach(o *Options) (*attachment, error) {
	at := &attachment{path: o.MountPoint}
	if o.Replace {
		if err := clearDown(o.MountPoint, false); err != nil {
			return nil, err
		}
	}
	before := mountTable()
	err := at.direct(o)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		err = at.fusermount(o)
	}
	if err != nil {
		return nil, fmt.Errorf("mount %s: %w", o.MountPoint, err)
	}
	if at.notify, err = at.duplicate(); err != nil {
		unix.Close(at.fd)
		at.detach(true)
		return nil, fmt.Errorf("mount %s: %w", o.MountPoint, err)
	}
	for _, m := range mountTable() {
		isNew := !slices.ContainsFunc(before, func(b tableEntry) bool { return b.id == m.id && b.dev == m.dev })
		if m.path == at.path && isNew {
			at.id = m.dev
		}
	}
	return at, nil
}

func (at *attachment) duplicate() (*kernel, error) {
	fd, err := unix.FcntlInt(uintptr(at.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return newKernel(fd)
}

// optionName is a workspace's name as mount options can carry it.
func optionName(name string) string {
	return "vfsd#" + strings.NewReplacer(",", "_", "\\", "_", "\n", "_").Replace(name)
}

// direct is mount(2), for root and in user namespaces.
func (at *attachment) direct(o *Options) error {
	if os.Geteuid() != 0 {
		return unix.EPERM
	}
	fd, err := unix.Open(fuseDevice, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", fuseDevice, err)
	}
	if o.Replace && deadOnTop(o.MountPoint) {
		err := at.replace(o, fd)
		if err == nil {
			at.fd = fd
			return nil
		}
		// An older kernel. Nobody but who writes there within these two calls
		// finds the bare directory.
		o.Log.Debug("mounting beneath a dead mount", "err", err)
		unix.Close(fd)
		if err := clearDown(o.MountPoint, true); err != nil {
			return err
		}
		if fd, err = unix.Open(fuseDevice, unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
			return fmt.Errorf("open %s: %w", fuseDevice, err)
		}
	}
	data := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d,max_read=%d", fd, os.Geteuid(), os.Getegid(), o.MaxRequest)
	if o.AllowOther {
		data += ",allow_other"
	}
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV)
	if o.Suid {
		flags &^= unix.MS_NOSUID
	}
	if o.Dev {
		flags &^= unix.MS_NODEV
	}
	if o.ReadOnly {
		flags |= unix.MS_RDONLY
	}
	if err := unix.Mount(optionName(o.Name), o.MountPoint, fsType, flags, data); err != nil {
		unix.Close(fd)
		return err
	}
	at.fd = fd
	return nil
}

// fusermount has the setuid program do it and send the descriptor back.
func (at *attachment) fusermount(o *Options) error {
	bin, err := exec.LookPath("fusermount3")
	if err != nil {
		return errNoFusermount
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "fusermount3"), os.NewFile(uintptr(pair[1]), "fusermount3")
	defer ours.Close()
	options := fmt.Sprintf("nosuid,nodev,max_read=%d,subtype=vfsd,fsname=%s", o.MaxRequest, optionName(o.Name))
	if o.AllowOther {
		options += ",allow_other"
	}
	if o.ReadOnly {
		options += ",ro"
	}
	if o.Replace {
		// fusermount3 cannot enter a dead mount.
		if err := clearDown(o.MountPoint, true); err != nil {
			return err
		}
	}
	cmd := exec.Command(bin, "-o", options, "--", o.MountPoint)
	cmd.Env = append(os.Environ(), "_FUSE_COMMFD=3")
	cmd.ExtraFiles = []*os.File{theirs}
	out, err := cmd.CombinedOutput()
	theirs.Close()
	if err != nil {
		return fmt.Errorf("fusermount3: %w: %s", err, firstLine(out))
	}
	at.setuid = true
	at.fd, err = receiveFD(ours)
	return err
}

// receiveFD takes the descriptor that was sent over the Unix socket f.
func receiveFD(f *os.File) (int, error) {
	conn, err := net.FileConn(f)
	if err != nil {
		return -1, err
	}
	defer conn.Close()
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return -1, fmt.Errorf("fusermount3: %T is no Unix socket", conn)
	}
	var data [8]byte
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unixConn.ReadMsgUnix(data[:], oob)
	if err != nil {
		return -1, fmt.Errorf("fusermount3: no descriptor came: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return -1, fmt.Errorf("fusermount3: %d control messages instead of a descriptor: %v", len(messages), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return -1, fmt.Errorf("fusermount3: %d descriptors instead of one: %v", len(fds), err)
	}
	unix.CloseOnExec(fds[0])
	return fds[0], nil
}

// detach unmounts; lazily if asked, so that it goes even while in use.
func (at *attachment) detach(lazy bool) error { return detach(at.path, lazy, at.setuid) }

func detach(path string, lazy, setuid bool) error {
	flags := unix.UMOUNT_NOFOLLOW
	if lazy {
		flags |= unix.MNT_DETACH
	}
	err := unix.Unmount(path, flags)
	if !errors.Is(err, unix.EPERM) || !setuid && os.Geteuid() == 0 {
		return err
	}
	bin, lookErr := exec.LookPath("fusermount3")
	if lookErr != nil {
		return err
	}
	args := []string{"-u"}
	if lazy {
		args = append(args, "-z")
	}
	out, err := exec.Command(bin, append(args, "--", path)...).CombinedOutput()
	switch {
	case err == nil:
		return nil
	case strings.Contains(string(out), "busy"):
		return unix.EBUSY
	}
	return fmt.Errorf("fusermount3: %w: %s", err, firstLine(out))
}

// gone reports whether the mount is not in this process's mount table any more.
func (at *attachment) gone() bool {
	return !slices.ContainsFunc(mountTable(), func(m tableEntry) bool { return m.path == at.path && m.dev == at.id })
}

// connections is where the kernel shows FUSE connections, if fusectl is mounted
// there. systemd does that.
const connections = "/sys/fs/fuse/connections"

// cut ends the connection whoever uses it, and reports whether it could. Where
// fusectl is not mounted, that is done for the moment, which root may.
func (at *attachment) cut() bool {
	control := fmt.Sprintf("%s/%d/abort", connections, at.id.minor)
	if os.WriteFile(control, []byte("1"), 0) == nil {
		return true
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if unix.Mount("fusectl", connections, "fusectl", flags, "") != nil {
		return false
	}
	defer unix.Unmount(connections, unix.MNT_DETACH)
	return os.WriteFile(control, []byte("1"), 0) == nil
}

// abort is cut; where that cannot be, a forced unmount does the same.
func (at *attachment) abort() {
	if at.cut() {
		return
	}
	// EBUSY is expected: the connection ends all the same.
	_ = unix.Unmount(at.path, unix.MNT_FORCE|unix.UMOUNT_NOFOLLOW)
}

// tune asks for read-ahead as large as a request. Only root may, and only
// speed depends on it, so an error is none of the caller's.
func (at *attachment) tune(o *Options) {
	path := fmt.Sprintf("/sys/class/bdi/%d:%d/read_ahead_kb", at.id.major, at.id.minor)
	if err := os.WriteFile(path, fmt.Appendf(nil, "%d", o.MaxRequest>>10), 0); err != nil {
		o.Log.Debug("read-ahead stays at the kernel's default", "err", err)
	}
}

func firstLine(out []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}
