package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/mount"
	"github.com/vfsd/vfsd/workspace"
)

// Health is how bad a finding is.
type Health string

// The degrees.
const (
	Good    Health = "ok"
	Warning Health = "warning" // works, but not as well as it could, or not for long
	Bad     Health = "bad"     // does not work
)

// Finding is what one examination found.
type Finding struct {
	What   string `json:"what"` // was examined
	Health Health `json:"health"`
	Detail string `json:"detail"`
	Mend   string `json:"mend,omitempty"` // a command, or what else helps
}

// Connect makes a client of a data directory, whether a daemon runs or not;
// end is called after its use.
type Connect func(ctx context.Context) (c *control.Client, end func() error, err error)

// examination gathers findings.
type examination struct {
	dir      string
	findings []Finding
}

func (x *examination) good(what, format string, args ...any) {
	x.findings = append(x.findings, Finding{What: what, Health: Good, Detail: fmt.Sprintf(format, args...)})
}

func (x *examination) find(h Health, what, mend, format string, args ...any) {
	x.findings = append(x.findings, Finding{What: what, Health: h, Detail: fmt.Sprintf(format, args...), Mend: mend})
}

// Diagnose finds out what is wrong with this machine and with a data
// directory, and what mends it. It asks the daemon where one answers, and
// repairs nothing.
func Diagnose(ctx context.Context, dir string, connect Connect) []Finding {
	x := &examination{dir: dir}
	x.machine()
	if x.directory() {
		x.space()
		answers, whole := x.daemon(ctx), x.chunks()
		if answers && whole {
			x.contents(ctx, connect)
		}
	}
	x.mounts()
	return x.findings
}

// directory examines whether the data directory can be used at all, and
// reports whether there is one to look into.
func (x *examination) directory() bool {
	const what = "data directory"
	if err := CheckDir(x.dir); err == nil && !HasDataDir(x.dir) {
		x.find(Good, what, "", "%s: there is none yet; the first vfsctl up makes it", x.dir)
		return false
	}
	if err := CheckDir(x.dir); err != nil {
		x.find(Bad, what, "", "%v", err)
		return false
	}
	if err := tryWrite(x.dir); err != nil {
		x.find(Bad, what, "", "%v", Classify(dirAdvice(x.dir, fmt.Errorf("data directory %s: write: %w", x.dir, err))))
		return true
	}
	x.good(what, "%s is ours and can be written", x.dir)
	return true
}

// tryWrite finds out what only a write can tell: space, rights, the medium.
func tryWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 64<<10))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// Less than this is said to be little.
const (
	littleSpace = 1 << 30 // bytes
	littleShare = 20      // a twentieth of the disk
)

func (x *examination) space() {
	const what = "disk space"
	u, err := (hostfs.OS{}).Usage(x.dir)
	switch {
	case err != nil:
		x.find(Warning, what, "", "cannot be told: %v", err)
	case u.Available < littleSpace && u.Available < u.Total/littleShare:
		x.find(Warning, what, "vfsctl gc", "%d MiB are free where %s is; a workspace that finds none answers ENOSPC", u.Available>>20, x.dir)
	default:
		x.good(what, "%d MiB are free", u.Available>>20)
	}
}

// pingPatience is how long doctor waits for any word of a daemon.
const pingPatience = 5 * time.Second

// daemon examines whether one runs, and reports whether the data directory can
// be asked about, of it or without it.
func (x *examination) daemon(ctx context.Context) bool {
	const what = "daemon"
	err := control.Probe(ctx, x.dir)
	holder := workspace.LockHolder(hostfs.OS{}, x.dir)
	if err == nil && control.Ping(ctx, x.dir, pingPatience) != nil {
		x.find(Bad, what, fmt.Sprintf("kill -CONT %d, if it was stopped; else kill -QUIT %d, which has it write into vfsd.log where it hangs and end: nothing is lost, and vfsctl up mounts everything again", holder, holder),
			"pid %d takes connections and does not answer: it was stopped, or it hangs", holder)
		return false
	}
	switch {
	case err == nil:
		x.good(what, "pid %d answers on %s", holder, filepath.Join(x.dir, control.SocketName))
	case control.KindOf(err) != control.KindNoDaemon:
		x.find(Bad, what, "", "%v", err)
	case lockIsHeld(x.dir):
		x.find(Bad, what, fmt.Sprintf("wait for it, or kill %d", holder),
			"pid %d holds the data directory and has no socket there: a vfsctl command that takes long, or a daemon whose %s was removed", holder, control.SocketName)
	default:
		x.good(what, "none runs; vfsctl up starts one")
	}
	return true
}

// chunks examines what the store cannot be opened without.
func (x *examination) chunks() bool {
	name := filepath.Join(x.dir, "chunks", "polynomial")
	packs, _ := filepath.Glob(filepath.Join(x.dir, "chunks", "*.pack")) // the pattern is good
	_, err := os.Stat(name)
	if len(packs) == 0 || !errors.Is(err, fs.ErrNotExist) {
		return true
	}
	x.find(Bad, "chunk store", "copy it from a backup of the data directory, or from any other data directory: it says where files are cut alone, so that all that is stored is read as before",
		"%s is missing, and without it nothing can be written", name)
	return false
}

// lockIsHeld reports whether a process has the data directory open.
func lockIsHeld(dir string) bool {
	f, err := hostfs.OS{}.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Lock() != nil
}

// contents asks for the workspaces: a damaged one says so.
func (x *examination) contents(ctx context.Context, connect Connect) {
	const what = "workspaces"
	c, end, err := connect(ctx)
	if err != nil {
		x.find(Bad, what, "", "%v", err)
		return
	}
	l, err := control.ListCall.Do(ctx, c, control.ListRequest{Verify: true})
	var st control.Status
	if err == nil {
		st, err = control.StatusCall.Do(ctx, c, control.StatusRequest{})
	}
	if err = errors.Join(err, end()); err != nil {
		x.find(Bad, what, "", "%v", err)
		return
	}
	damaged := 0
	for _, w := range l.Workspaces {
		if w.Damage != "" {
			damaged++
			x.find(Bad, "workspace "+w.Name, "restore the file from a copy, or vfsctl fork "+w.Name+"@SNAPSHOT NEW to go on with a snapshot",
				"%s; the other workspaces are whole", w.Damage)
		}
	}
	x.good(what, "%d of %d can be opened", len(l.Workspaces)-damaged, len(l.Workspaces))
	if st.Store.Damaged > 0 {
		x.find(Bad, "packs", "vfsctl scrub", "%d damaged places were met; files that need them answer EIO, all others can be read", st.Store.Damaged)
	}
	for _, m := range st.Mounts {
		if m.State == control.Absent {
			x.find(Warning, "mount "+m.Point(), fmt.Sprintf("vfsctl up %s %s", m.Workspace, control.Word(m.Point())),
				"workspace %s was mounted there when the daemon died", m.Workspace)
		}
	}
}

// mounts looks for mounts whose daemon is gone, of any data directory.
func (x *examination) mounts() {
	all, dead := mount.List(), 0
	for _, l := range all {
		if !mount.IsDead(l.MountPoint) {
			continue
		}
		dead++
		x.find(Bad, "mount "+l.MountPoint, x.clearing(l.MountPoint), "it is dead: the daemon that served workspace %s there has died; nothing is lost", l.Workspace)
	}
	x.good("mounts", "%d of %d are served", len(all)-dead, len(all))
}

// clearing is the command that clears a dead mount: up, when it is one of this
// data directory.
func (x *examination) clearing(mountPoint string) string {
	entries, _ := readTable(x.dir) // what cannot be read lists nothing
	for _, e := range entries {
		if e.MountPoint == mountPoint {
			return fmt.Sprintf("vfsctl up %s %s, or vfsctl down %s", e.Workspace, control.Word(mountPoint), control.Word(mountPoint))
		}
	}
	return "umount -l " + control.Word(mountPoint) + ", or fusermount3 -uz " + control.Word(mountPoint)
}
