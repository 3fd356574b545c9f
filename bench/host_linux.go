package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// syncDisks writes everything dirty to disk.
func syncDisks() { unix.Sync() }

// dropCaches makes the kernel forget its clean pages, dentries and inodes.
func dropCaches() error {
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0); err != nil {
		return fmt.Errorf("drop caches: %w", err)
	}
	return nil
}

// tick is the unit of /proc/stat: USER_HZ is 100 on every architecture that Go
// runs on.
const tick = 10 * time.Millisecond

// busy returns the CPU time that all processes and the kernel have spent. The
// first line of /proc/stat is
//
//	cpu user nice system idle iowait irq softirq steal ...
func busy() (time.Duration, bool) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	f := bytes.Fields(line)
	if len(f) < 8 || string(f[0]) != "cpu" {
		return 0, false
	}
	var sum time.Duration
	for _, i := range []int{1, 2, 3, 6, 7} {
		n, err := strconv.ParseInt(string(f[i]), 10, 64)
		if err != nil {
			return 0, false
		}
		sum += time.Duration(n) * tick
	}
	return sum, true
}

// ProcessUse returns what a process has used since it began: CPU milliseconds
// and context switches, for Options.Counters.
func ProcessUse(pid int) (map[string]float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, fmt.Errorf("process use: %w", err)
	}
	// The name, in parentheses, may have anything in it.
	_, rest, _ := bytes.Cut(b[bytes.LastIndexByte(b, ')')+1:], []byte(" "))
	f := bytes.Fields(rest)
	if len(f) < 13 {
		return nil, fmt.Errorf("process use: /proc/%d/stat has %d fields", pid, len(f))
	}
	var ticks int64
	for _, i := range []int{11, 12} { // utime, stime: fields 14 and 15 of the whole line
		n, err := strconv.ParseInt(string(f[i]), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("process use: %w", err)
		}
		ticks += n
	}
	switches, err := contextSwitches(pid)
	if err != nil {
		return nil, fmt.Errorf("process use: %w", err)
	}
	return map[string]float64{"daemon CPU ms": ms(time.Duration(ticks) * tick), "daemon context switches": switches}, nil
}

// contextSwitches adds up those of a process's threads. One that ended
// meanwhile is left out.
func contextSwitches(pid int) (float64, error) {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	threads, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	var sum float64
	for _, t := range threads {
		b, err := os.ReadFile(filepath.Join(dir, t.Name(), "status"))
		if err != nil {
			continue
		}
		for line := range bytes.Lines(b) {
			if key, value, _ := bytes.Cut(line, []byte(":")); bytes.HasSuffix(key, []byte("ctxt_switches")) {
				n, err := strconv.ParseFloat(string(bytes.TrimSpace(value)), 64)
				if err != nil {
					return 0, err
				}
				sum += n
			}
		}
	}
	return sum, nil
}
