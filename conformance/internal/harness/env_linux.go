package harness

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// fsTypes names the file systems that the suite knows by statfs's f_type.
var fsTypes = map[uint32]string{
	0xef53:     "ext4",
	0x01021994: "tmpfs",
	0x65735546: "fuse",
	0x58465342: "xfs",
	0x9123683e: "btrfs",
	0x794c7630: "overlay",
	0x6969:     "nfs",
}

// capsNeeded are the capabilities by which root passes for root here, as bits
// of CapEff: CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID, SETGID,
// SETUID, SYS_ADMIN, MKNOD.
const capsNeeded = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<6 | 1<<7 | 1<<21 | 1<<27

// NewEnv looks at the directory dir and at the process.
func NewEnv(dir string) (*Env, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return nil, fmt.Errorf("statfs %s: %w", dir, err)
	}
	e := &Env{Page: os.Getpagesize(), Type: fsTypes[uint32(fs.Type)]}
	if e.Type == "" {
		e.Type = fmt.Sprintf("type-%#x", uint32(fs.Type))
	}
	e.MountFlags = mountFlags(int64(fs.Flags))
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return nil, fmt.Errorf("uname: %w", err)
	}
	e.Kernel = unix.ByteSliceToString(u.Release[:])
	e.Root = os.Geteuid() == 0 && effectiveCaps()&capsNeeded == capsNeeded
	e.HardlinksProtected = sysctl("fs/protected_hardlinks") != "0"
	e.SymlinksProtected = sysctl("fs/protected_symlinks") != "0"
	e.CreateProtected = sysctl("fs/protected_regular") != "0" || sysctl("fs/protected_fifos") != "0"
	return e, nil
}

// mountFlags translates statfs's ST_ bits into mount's MS_ bits.
func mountFlags(st int64) uintptr {
	var ms uintptr
	for _, f := range []struct {
		st int64
		ms uintptr
	}{
		{unix.ST_RDONLY, unix.MS_RDONLY}, {unix.ST_NOSUID, unix.MS_NOSUID},
		{unix.ST_NODEV, unix.MS_NODEV}, {unix.ST_NOEXEC, unix.MS_NOEXEC},
		{unix.ST_NOATIME, unix.MS_NOATIME}, {unix.ST_NODIRATIME, unix.MS_NODIRATIME},
		{unix.ST_RELATIME, unix.MS_RELATIME}, {unix.ST_SYNCHRONOUS, unix.MS_SYNCHRONOUS},
	} {
		if st&f.st != 0 {
			ms |= f.ms
		}
	}
	return ms
}

func effectiveCaps() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "CapEff:")
	var caps uint64
	if _, err := fmt.Sscanf(rest, "%x", &caps); err != nil {
		return 0
	}
	return caps
}

// sysctl reads a kernel setting; one that is not there reads "0".
func sysctl(name string) string {
	b, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return "0"
	}
	return strings.TrimSpace(string(b))
}

// NeedRoot skips the case where the process cannot act for every user.
func (t *T) NeedRoot() {
	if !t.Env.Root {
		t.Skip("needs root")
	}
}

// NeedMount skips the case where the mount has one of the flags: the name
// says which, and what it forbids.
func (t *T) NeedMount(without uintptr, name string) {
	if t.Env.MountFlags&without != 0 {
		t.Skip("the mount is %s", name)
	}
}

// NeedKernel skips the case on kernels before the given one.
func (t *T) NeedKernel(major, minor int, what string) {
	if !t.Env.KernelAtLeast(major, minor) {
		t.Skip("%s came with Linux %d.%d", what, major, minor)
	}
}

// topdirFlag is FS_TOPDIR_FL, chattr's +T.
const topdirFlag = 0x20000

// Spread tells ext4 to put the directories in dir far from each other. ext4
// does not reuse an inode number for a minute or so, and walks past all that
// were freed lately: thousands of short-lived files in one place make each
// create cost half a millisecond. Others have no such flag.
func Spread(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	defer unix.Close(fd)
	flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
	if err != nil {
		return fmt.Errorf("flags of %s: %w", dir, err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags|topdirFlag); err != nil {
		return fmt.Errorf("set flags of %s: %w", dir, err)
	}
	return nil
}
