package report

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func describeHost() (cpu string, memory int64, virtual bool, system, kernel string, load float64) {
	info := fields("/proc/cpuinfo", ":")
	cpu = info["model name"]
	if cpu == "" {
		cpu = info["CPU part"] // arm64 names no model
	}
	virtual = strings.Contains(" "+info["flags"]+" ", " hypervisor ")
	var si unix.Sysinfo_t
	if err := unix.Sysinfo(&si); err == nil {
		memory = int64(uint64(si.Totalram)*uint64(si.Unit)) >> 20
		load = float64(si.Loads[0]) / 65536
	}
	system = strings.Trim(fields("/etc/os-release", "=")["PRETTY_NAME"], `"`)
	var u unix.Utsname
	if err := unix.Uname(&u); err == nil {
		kernel = unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:]) + " " +
			unix.ByteSliceToString(u.Machine[:])
	}
	return cpu, memory, virtual, system, kernel, load
}

// fields reads "key SEPARATOR value" lines; of a key that is there more than
// once, the first.
func fields(path, separator string) map[string]string {
	out := map[string]string{}
	b, err := os.ReadFile(path)
	if err != nil {
		return out // a description lacks what the system does not tell
	}
	for line := range strings.Lines(string(b)) {
		k, v, ok := strings.Cut(line, separator)
		k = strings.TrimSpace(k)
		if _, have := out[k]; ok && !have {
			out[k] = strings.TrimSpace(v)
		}
	}
	return out
}

// DescribeTarget finds what filesystem a directory is on.
func DescribeTarget(dir string) (Target, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Target{}, err
	}
	if real, err = filepath.Abs(real); err != nil {
		return Target{}, err
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return Target{}, err
	}
	defer f.Close()
	return findMount(bufio.NewScanner(f), real), nil
}

// findMount takes the mount whose point is the longest prefix of path, the last
// one of several, which covers the others. The columns of mountinfo are
//
//	id parent device root POINT OPTIONS [tags...] - TYPE source SUPER-OPTIONS
func findMount(s *bufio.Scanner, path string) Target {
	var best Target
	longest := -1
	for s.Scan() {
		left, right, ok := strings.Cut(s.Text(), " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 6 || len(r) < 3 {
			continue
		}
		point := unescape(l[4])
		inside := path == point || strings.HasPrefix(path, strings.TrimSuffix(point, "/")+"/")
		if inside && len(point) >= longest {
			longest = len(point)
			best = Target{Filesystem: r[0], Options: publicOptions(l[5] + "," + r[2])}
		}
	}
	return best
}

// unescape undoes the octal escapes of mountinfo.
func unescape(s string) string {
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

// publicOptions leaves out what names a path, and what is there twice.
func publicOptions(s string) string {
	var out []string
	seen := map[string]bool{}
	for o := range strings.SplitSeq(s, ",") {
		if strings.Contains(o, "/") || seen[o] {
			continue
		}
		seen[o] = true
		out = append(out, o)
	}
	return strings.Join(out, ",")
}
