package daemon

import (
	"errors"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"
)

// fewFiles is how many open files are few for a daemon with mounts.
const fewFiles = 4096

// machine examines what mounting takes.
func (x *examination) machine() {
	x.device()
	x.rights()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		x.find(Warning, "open files", "", "the limit cannot be told: %v", err)
	} else if limit.Max < fewFiles {
		x.find(Warning, "open files", "ulimit -Hn 65536, or LimitNOFILE= in the unit", "a process may have %d", limit.Max)
	} else {
		x.good("open files", "a process may have %d", limit.Max)
	}
}

func (x *examination) device() {
	const what, name = "FUSE", "/dev/fuse"
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CLOEXEC, 0)
	switch {
	case err == nil:
		_ = unix.Close(fd) // nothing was done with it
		x.good(what, "%s can be opened", name)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		x.find(Bad, what, "modprobe fuse; in a container: --device "+name, "there is no %s, so nothing can be mounted", name)
	default:
		x.find(Bad, what, "chmod 666 "+name, "%s: %v", name, err)
	}
}

func (x *examination) rights() {
	const what = "mounting"
	if os.Geteuid() == 0 {
		x.good(what, "root may mount")
		return
	}
	path, err := exec.LookPath("fusermount3")
	if err != nil {
		x.find(Bad, what, "install fuse3 (apt install fuse3), or run as root", "this user is not root and there is no fusermount3")
		return
	}
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeSetuid == 0 {
		x.find(Warning, what, "chmod u+s "+path, "%s is not set-uid: it works in a user namespace alone", path)
		return
	}
	conf, err := os.ReadFile("/etc/fuse.conf")
	if err != nil || !strings.Contains("\n"+string(conf), "\nuser_allow_other") {
		x.good(what, "%s; --allow-other would take user_allow_other in /etc/fuse.conf", path)
		return
	}
	x.good(what, "%s; --allow-other is allowed", path)
}
