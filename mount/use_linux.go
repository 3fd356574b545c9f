package mount

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"github.com/vfsd/vfsd/vfs"
	"golang.org/x/sys/unix"
)

// use is how a system call uses the file that a path leads to.
type use struct {
	mask uint32
	// flags is the argument that holds open(2)'s flags, from 1 on; 0 is none.
	flags int
}

// uses are the system calls that FUSE hears of in no other way than by the
// LOOKUP of their path. A 32-bit program's have other numbers and are not
// recognised.
var uses = map[uint64]use{
	unix.SYS_OPENAT:            {flags: 3},
	unix.SYS_OPENAT2:           {}, // its flags are in the caller's memory
	unix.SYS_CONNECT:           {mask: vfs.MayWrite},
	unix.SYS_SENDTO:            {mask: vfs.MayWrite},
	unix.SYS_SENDMSG:           {mask: vfs.MayWrite},
	unix.SYS_SENDMMSG:          {mask: vfs.MayWrite},
	unix.SYS_INOTIFY_ADD_WATCH: {mask: vfs.MayRead},
	unix.SYS_FANOTIFY_MARK:     {mask: vfs.MayRead},
}

// useOf returns how the system call that a process waits in is about to use
// what it has looked up, as far as that can be seen.
func useOf(pid uint32) (mask uint32, isUse bool) {
	number, fields, ok := waitingCall(pid)
	u, isUse := uses[number]
	if !ok || !isUse {
		return 0, false
	}
	if u.flags == 0 {
		return u.mask, true
	}
	flags, err := strconv.ParseUint(string(fields[u.flags]), 0, 64)
	if err != nil {
		return 0, false
	}
	return useByFlags(int(uint32(flags)))
}

// aboutToWatch reports whether a process waits in a call that sets a watch.
func aboutToWatch(pid uint32) bool {
	number, _, ok := waitingCall(pid)
	return ok && (number == unix.SYS_INOTIFY_ADD_WATCH || number == unix.SYS_FANOTIFY_MARK)
}

// waitingCall returns the number of the system call that a process waits in,
// and the fields of its description, of which the number is the first and six
// arguments follow. The process may have sent its request and not be asleep yet,
// which it will be in a moment.
func waitingCall(pid uint32) (number uint64, fields [][]byte, ok bool) {
	if pid == 0 {
		return 0, nil, false
	}
	path := "/proc/" + strconv.FormatUint(uint64(pid), 10) + "/syscall"
	for wait := time.Microsecond; ; wait *= 2 {
		line, err := os.ReadFile(path)
		if err == nil && bytes.HasPrefix(line, []byte("running")) && wait < 10*time.Millisecond {
			time.Sleep(wait)
			continue
		}
		fields = bytes.Fields(line)
		if err != nil || len(fields) < 7 {
			return 0, nil, false
		}
		number, err = strconv.ParseUint(string(fields[0]), 10, 64)
		return number, fields, err == nil
	}
}

// useByFlags is useOf for an open.
func useByFlags(flags int) (mask uint32, isUse bool) {
	if flags&unix.O_PATH != 0 || flags&(unix.O_CREAT|unix.O_EXCL) == unix.O_CREAT|unix.O_EXCL {
		return 0, false // it only points, or finds the name taken
	}
	switch flags & unix.O_ACCMODE {
	case unix.O_RDONLY:
		mask = vfs.MayRead
	case unix.O_WRONLY:
		mask = vfs.MayWrite
	default:
		mask = vfs.MayRead | vfs.MayWrite
	}
	if flags&unix.O_TRUNC != 0 {
		mask |= vfs.MayWrite
	}
	return mask, true
}
