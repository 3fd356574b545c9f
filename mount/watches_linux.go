package mount

import (
	"bytes"
	"os"
	"strconv"

	"github.com/vfsd/vfsd/vfs"
	"golang.org/x/sys/unix"
)

// watchedInodes returns the inodes of a device that a process watches, as far
// as this user may see its descriptors.
func watchedInodes(device uint64) map[vfs.Ino]bool {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil
	}
	watched := map[vfs.Ino]bool{}
	for _, pid := range names {
		if pid[0] >= '0' && pid[0] <= '9' {
			watchesOf("/proc/"+pid, device, watched)
		}
	}
	return watched
}

// watchesOf adds what one process watches.
func watchesOf(proc string, device uint64, watched map[vfs.Ino]bool) {
	dir, err := os.Open(proc + "/fd")
	if err != nil {
		return // not ours to see, or it has ended
	}
	defer dir.Close()
	fds, err := dir.Readdirnames(-1)
	if err != nil {
		return
	}
	var link [32]byte
	for _, fd := range fds {
		n, err := unix.Readlinkat(int(dir.Fd()), fd, link[:])
		if err != nil || string(link[:n]) != "anon_inode:inotify" && string(link[:n]) != "anon_inode:[fanotify]" {
			continue
		}
		if info, err := os.ReadFile(proc + "/fdinfo/" + fd); err == nil {
			parseWatches(info, device, watched)
		}
	}
}

// parseWatches adds what a descriptor's fdinfo lists. A line of it is
//
//	inotify wd:1 ino:3 sdev:2d mask:fc6 ...
//
// and much the same with fanotify; the numbers are hexadecimal.
func parseWatches(info []byte, device uint64, watched map[vfs.Ino]bool) {
	for line := range bytes.Lines(info) {
		var ino, dev uint64
		var err1, err2 error
		for _, field := range bytes.Fields(line) {
			if v, ok := bytes.CutPrefix(field, []byte("ino:")); ok {
				ino, err1 = strconv.ParseUint(string(v), 16, 64)
			} else if v, ok := bytes.CutPrefix(field, []byte("sdev:")); ok {
				dev, err2 = strconv.ParseUint(string(v), 16, 64)
			}
		}
		if err1 == nil && err2 == nil && ino != 0 && dev == device {
			watched[vfs.Ino(ino)] = true
		}
	}
}
