package report

import (
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// Machine describes where figures were taken, without names and paths.
type Machine struct {
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	MemoryMB int64  `json:"memory_mib"`
	Virtual  bool   `json:"virtual"`
	System   string `json:"system"` // the distribution
	Kernel   string `json:"kernel"`
	// Load is the load average of a minute before the first run: above some
	// tenths, the machine was not quiet.
	Load     float64           `json:"load"`
	Versions map[string]string `json:"versions"` // of vfsd and of the tools
}

// Describe looks at the machine. Versions has those of the tools that are
// there, by running each with the argument that asks for it.
func Describe(tools []string) Machine {
	m := Machine{Cores: runtime.NumCPU(), Versions: map[string]string{"go runtime": runtime.Version()}}
	m.CPU, m.MemoryMB, m.Virtual, m.System, m.Kernel, m.Load = describeHost()
	if info, ok := debug.ReadBuildInfo(); ok {
		m.Versions["vfsd"] = revision(info)
	}
	said := make([]string, len(tools))
	var all sync.WaitGroup
	for i, t := range tools {
		all.Go(func() { said[i] = toolVersion(t) })
	}
	all.Wait()
	for i, t := range tools {
		if said[i] != "" {
			m.Versions[t] = said[i]
		}
	}
	return m
}

// revision is the commit that this program was built from, as far as the
// toolchain recorded it.
func revision(info *debug.BuildInfo) string {
	out, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			out = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = " (modified)"
		}
	}
	if out == "" {
		return "unknown revision"
	}
	return out + dirty
}

// toolVersion is the first line of what a tool says of itself, or "" for one
// that is not there or does not say.
func toolVersion(tool string) string {
	arg := "--version"
	if tool == "go" {
		arg = "version"
	}
	out, err := exec.Command(tool, arg).Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	// sqlite3 and gcc add build identifiers; the beginning is what matters.
	return line[:min(60, len(line))]
}
