package mount

import "os"

// mountedOn reports whether anything is mounted on a directory or file of the
// mount with this device number, in a mount namespace that can be seen.
func mountedOn(device uint64) bool {
	if device == 0 {
		return false
	}
	proc, err := os.Open("/proc")
	if err != nil {
		return true // better slow than harmful
	}
	defer proc.Close()
	pids, err := proc.Readdirnames(-1)
	if err != nil {
		return true
	}
	seen := map[string]bool{}
	for _, pid := range pids {
		if pid[0] < '0' || pid[0] > '9' {
			continue
		}
		// Threads may have a namespace of their own.
		tids, err := os.ReadDir("/proc/" + pid + "/task")
		if err != nil {
			continue // it has ended
		}
		for _, tid := range tids {
			task := "/proc/" + pid + "/task/" + tid.Name()
			// Without the right to see the namespace's name its table may be
			// read more than once.
			if ns, err := os.Readlink(task + "/ns/mnt"); err == nil {
				if seen[ns] {
					continue
				}
				seen[ns] = true
			}
			if table, err := os.ReadFile(task + "/mountinfo"); err == nil && hasMountOn(string(table), device) {
				return true
			}
		}
	}
	return false
}

// hasMountOn reports whether a mount table has a mount whose parent is of the
// device.
func hasMountOn(table string, device uint64) bool {
	ofDevice := map[string]bool{}
	entries := parseMountTable(table)
	for _, e := range entries {
		if kernelDevice(e.dev.major, e.dev.minor) == device {
			ofDevice[e.id] = true
		}
	}
	for _, e := range entries {
		if ofDevice[e.parent] {
			return true
		}
	}
	return false
}
