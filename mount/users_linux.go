package mount

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// namedUsers bounds how many processes an error names.
const namedUsers = 8

// describeUsers names the processes that use the mount at path and how. It
// reads the links in /proc, which touches no mount.
func describeUsers(path string) string {
	users := describeProcesses(func(proc string) string { return usesOf(proc, path) })
	if users == "" {
		return "a process that this user may not see, or another mount below it"
	}
	return users
}

// holders names the processes in whose mount namespace the mount still is.
func (at *attachment) holders() string {
	return describeProcesses(func(proc string) string {
		table, err := os.ReadFile(proc + "/mountinfo")
		if err != nil {
			return ""
		}
		for _, m := range parseMountTable(string(table)) {
			if m.dev == at.id {
				return "mounted at " + m.path
			}
		}
		return ""
	})
}

// describeProcesses names those of which how has something to say.
func describeProcesses(how func(proc string) string) string {
	var users []string
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range procs {
		what := how(proc)
		if what == "" {
			continue
		}
		if len(users) == namedUsers {
			users = append(users, "others")
			break
		}
		name, _ := os.ReadFile(proc + "/comm")
		users = append(users, fmt.Sprintf("%s (pid %s, %s)", bytes.TrimSpace(name), filepath.Base(proc), what))
	}
	return strings.Join(users, ", ")
}

// usesOf returns the first way in which a process uses what lies under path.
func usesOf(proc, path string) string {
	under := func(link string) bool {
		target, err := os.Readlink(proc + "/" + link)
		return err == nil && (target == path || strings.HasPrefix(target, path+"/"))
	}
	for _, link := range []string{"cwd", "root", "exe"} {
		if under(link) {
			return link
		}
	}
	fds, _ := os.ReadDir(proc + "/fd")
	for _, fd := range fds {
		if under("fd/" + fd.Name()) {
			return "descriptor " + fd.Name()
		}
	}
	maps, _ := os.ReadFile(proc + "/maps")
	if bytes.Contains(maps, []byte(" "+path+"/")) {
		return "mapping"
	}
	return ""
}
