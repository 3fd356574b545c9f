package mount

import (
	"bytes"
	"os"
	"strconv"

	"github.com/vfsd/vfsd/vfs"
	"golang.org/x/sys/unix"
)

// Privileges are a process's effective capabilities, and they reach as far as
// its user namespace: the whole host for one that is in ours, else the files
// whose user and group its namespace knows. The process waits for our answer,
// so its number cannot have gone to another one meanwhile.

// effective returns the effective capabilities of a process, by bits.
func effective(pid uint32) (caps uint64, ok bool) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3, Pid: int32(pid)}
	var data [2]unix.CapUserData
	if pid == 0 || unix.Capget(&header, &data[0]) != nil {
		return 0, false
	}
	return uint64(data[1].Effective)<<32 | uint64(data[0].Effective), true
}

// ownUserNamespace is the link that names this process's user namespace.
var ownUserNamespace = userNamespace("self")

// userNamespace returns the link of a process's; "" when it may not be seen.
func userNamespace(pid string) string {
	path := make([]byte, 0, 64)
	path = append(append(append(path, "/proc/"...), pid...), "/ns/user"...)
	var link [64]byte
	n, err := unix.Readlink(string(path), link[:])
	if err != nil {
		return ""
	}
	return string(link[:n])
}

// reaches reports whether a process's capabilities reach an inode; nil stands
// for the host. One whose namespace is hidden from us has no more reach than
// root is trusted with.
func reaches(pid, uid uint32, a *vfs.Attr) bool {
	p := strconv.FormatUint(uint64(pid), 10)
	switch ns := userNamespace(p); {
	case ns == "":
		return uid == 0
	case ns == ownUserNamespace:
		return true
	}
	return a != nil && mapped("/proc/"+p+"/uid_map", a.UID) && mapped("/proc/"+p+"/gid_map", a.GID)
}

// mapped reports whether a map of ids (lines of inside, outside, count) has the
// outside id.
func mapped(path string, id uint32) bool {
	table, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	for line := range bytes.Lines(table) {
		f := bytes.Fields(line)
		if len(f) != 3 {
			continue
		}
		first, err1 := strconv.ParseUint(string(f[1]), 10, 32)
		count, err2 := strconv.ParseUint(string(f[2]), 10, 32)
		if err1 == nil && err2 == nil && uint64(id) >= first && uint64(id)-first < count {
			return true
		}
	}
	return false
}
