package mount

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// fsType is what /proc/mounts shows for a mount of ours.
const fsType = "fuse.vfsd"

// tableEntry is one mount in this process's namespace.
type tableEntry struct {
	id     string // of the mount, and of the one it is mounted on
	parent string
	path   string
	fsType string
	source string
	dev    connID
}

// mountTable reads /proc/self/mountinfo: nothing in it touches a mount.
func mountTable() []tableEntry {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	return parseMountTable(string(b))
}

// parseMountTable takes the fields of proc_pid_mountinfo(5):
//
//	36 35 98:0 /root /mount/point options [optional...] - type source superoptions
func parseMountTable(text string) []tableEntry {
	var table []tableEntry
	for line := range strings.Lines(text) {
		left, right, ok := strings.Cut(line, " - ")
		a, b := strings.Fields(left), strings.Fields(right)
		if !ok || len(a) < 5 || len(b) < 2 {
			continue
		}
		e := tableEntry{id: a[0], parent: a[1], path: unescapeMount(a[4]), fsType: b[0], source: unescapeMount(b[1])}
		if _, err := fmt.Sscanf(a[2], "%d:%d", &e.dev.major, &e.dev.minor); err != nil {
			continue
		}
		table = append(table, e)
	}
	return table
}

// unescapeMount undoes the octal escapes of blanks and backslashes.
func unescapeMount(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// onTop returns the mount that is visible at path, if path is a mount point.
func onTop(path string) (e tableEntry, mounted bool) {
	under := map[string]bool{} // ids of mounts that another covers
	table := mountTable()
	for _, m := range table {
		if m.path == path {
			under[m.parent] = true
		}
	}
	for _, m := range table {
		if m.path == path && !under[m.id] {
			e, mounted = m, true
		}
	}
	return e, mounted
}

// probePatience bounds the wait for a mount of another daemon that may hang.
const probePatience = 5 * time.Second

// isDead reports whether the mount at path has no daemon any more. It asks for
// statfs, which the kernel never answers from a cache.
func isDead(path string) bool {
	answer := make(chan error, 1)
	go func() {
		var st unix.Statfs_t
		answer <- unix.Statfs(path, &st)
	}()
	timer := time.NewTimer(probePatience)
	defer timer.Stop()
	select {
	case err := <-answer:
		return err == unix.ENOTCONN || err == unix.ECONNABORTED
	case <-timer.C:
		return false // it hangs, but somebody holds it
	}
}

// ClearDead unmounts what a daemon that died left at mountPoint, as often as
// one was stacked there. It reports whether there was any. A mount that is
// alive, or not vfsd's, is left alone.
func ClearDead(mountPoint string) (cleared bool, err error) {
	for {
		m, mounted := onTop(mountPoint)
		if !mounted || m.fsType != fsType {
			return cleared, nil
		}
		if _, own := owned.holding(mountPoint); own || !isDead(mountPoint) {
			return cleared, nil
		}
		if err := detach(mountPoint, true, true); err != nil {
			return cleared, fmt.Errorf("clear the dead mount at %s: %w", mountPoint, err)
		}
		cleared = true
	}
}
