package shell

import (
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// users answers for the accounts of a workspace: its own /etc/passwd and
// /etc/group where they are, and the two accounts that are always there.
type users struct{}

var (
	rootUser    = command.User{Name: "root", Gecos: "root", Home: "/root", Shell: "/bin/bash"}
	nobodyUser  = command.User{Name: "nobody", UID: 65534, GID: 65534, Gecos: "nobody", Home: "/nonexistent", Shell: "/usr/sbin/nologin"}
	rootGroup   = command.Group{Name: "root"}
	nobodyGroup = command.Group{Name: "nogroup", GID: 65534}
)

// accountFile bounds what is read of /etc/passwd and /etc/group, in bytes.
const accountFile = 1 << 20

// fields yields the colon-separated lines of a file.
func (users) fields(w *vfs.Walker, path string, n int, f func([]string) bool) {
	b, err := w.ReadFile(path, accountFile)
	if err != nil {
		return
	}
	for _, line := range strings.Split(string(b), "\n") {
		if p := strings.Split(line, ":"); len(p) >= n && f(p) {
			return
		}
	}
}

func (u users) find(w *vfs.Walker, match func(*command.User) bool) (found command.User, ok bool) {
	u.fields(w, "/etc/passwd", 7, func(p []string) bool {
		uid, err1 := strconv.ParseUint(p[2], 10, 32)
		gid, err2 := strconv.ParseUint(p[3], 10, 32)
		if err1 != nil || err2 != nil {
			return false
		}
		found = command.User{Name: p[0], UID: uint32(uid), GID: uint32(gid), Gecos: p[4], Home: p[5], Shell: p[6]}
		ok = match(&found)
		return ok
	})
	if ok {
		return found, true
	}
	for _, found = range [...]command.User{rootUser, nobodyUser} {
		if match(&found) {
			return found, true
		}
	}
	return command.User{}, false
}

func (u users) findGroup(w *vfs.Walker, match func(*command.Group) bool) (found command.Group, ok bool) {
	u.fields(w, "/etc/group", 4, func(p []string) bool {
		gid, err := strconv.ParseUint(p[2], 10, 32)
		if err != nil {
			return false
		}
		found = command.Group{Name: p[0], GID: uint32(gid)}
		if p[3] != "" {
			found.Members = strings.Split(p[3], ",")
		}
		ok = match(&found)
		return ok
	})
	if ok {
		return found, true
	}
	for _, found = range [...]command.Group{rootGroup, nobodyGroup} {
		if match(&found) {
			return found, true
		}
	}
	return command.Group{}, false
}
