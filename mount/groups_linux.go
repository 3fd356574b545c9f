package mount

import (
	"bytes"
	"os"
	"strconv"
)

// groupsOf appends the supplementary groups of a process that waits for our
// answer, so that its number cannot have gone to another one meanwhile. A
// process of another pid namespace (0) has none that could be found.
func groupsOf(pid uint32, groups []uint32) []uint32 {
	if pid == 0 {
		return groups
	}
	status, err := os.ReadFile("/proc/" + strconv.FormatUint(uint64(pid), 10) + "/status")
	if err != nil {
		return groups
	}
	_, line, ok := bytes.Cut(status, []byte("\nGroups:"))
	if !ok {
		return groups
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	for _, field := range bytes.Fields(line) {
		if gid, err := strconv.ParseUint(string(field), 10, 32); err == nil {
			groups = append(groups, uint32(gid))
		}
	}
	return groups
}
