package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/internal/control"
)

// The cases of the field (crash and recovery) that take a daemon to kill; the
// others are named in package conformance.

// longForm is the long form of a duration.
func longForm(short, long time.Duration) time.Duration {
	if os.Getenv("VFSD_SOAK") == "1" {
		return long
	}
	return short
}

// fieldUser is a process with its working directory and a file in a mount.
type fieldUser struct {
	t   *testing.T
	in  io.WriteCloser
	out chan string
}

const fieldUserScript = `
exec 3<>"held-$0" && echo held >&3 || exit 1
echo ready
while read -r what; do
	case $what in
	old) echo more >&3 ;;
	cwd) ls . >&2 ;;
	new) read -r line <"$1/held-$0" && [ "$line" = held ] && echo new >"$1/new-$0" ;;
	esac 2>/dev/null && echo worked || echo failed
done`

func newFieldUser(t *testing.T, dir string, i int) *fieldUser {
	t.Helper()
	cmd := exec.Command("/bin/bash", "-c", fieldUserScript, strconv.Itoa(i), dir)
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	u := &fieldUser{t, in, make(chan string)}
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			u.out <- s.Text()
		}
		close(u.out)
	}()
	t.Cleanup(func() {
		_ = in.Close()
		for range u.out { // until its end
		}
		_ = cmd.Wait() // what it failed in was judged
	})
	u.says("ready")
	return u
}

// asked sends a word; the answer must come, and be as wanted.
func (u *fieldUser) asked(word, want string) {
	u.t.Helper()
	if _, err := io.WriteString(u.in, word+"\n"); err != nil {
		u.t.Fatal(err)
	}
	u.says(want)
}

func (u *fieldUser) says(want string) {
	u.t.Helper()
	select {
	case got := <-u.out:
		if got != want {
			u.t.Errorf("a process with files in the mount says %q, want %q", got, want)
		}
	case <-time.After(20 * time.Second):
		u.t.Fatal("a process with files in the mount hangs")
	}
}

// byPath makes files in a directory all the time, whatever is mounted there.
type byPath struct {
	stop chan struct{}
	wg   sync.WaitGroup
	made []string
	errs map[syscall.Errno]int
}

func newByPath(dir string) *byPath {
	p := &byPath{stop: make(chan struct{}), errs: map[syscall.Errno]int{}}
	p.wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-p.stop:
				return
			default:
			}
			name := filepath.Join(dir, fmt.Sprintf("made-%d", i))
			err := os.WriteFile(name, []byte("made"), 0o600)
			var errno syscall.Errno
			switch {
			case err == nil:
				p.made = append(p.made, name)
			case errors.As(err, &errno):
				p.errs[errno]++
			}
		}
	})
	return p
}

// end returns what was made, and the errors that were met.
func (p *byPath) end() ([]string, map[syscall.Errno]int) {
	close(p.stop)
	p.wg.Wait()
	return p.made, p.errs
}

// TestC01DaemonKilledUnderUsers: ten processes hold working directories and
// files while the daemon is killed, and another makes files by path all the
// time. They get errors and do not hang; the next up clears the dead mount and
// asks nothing; new opens work; nothing lands in the bare directory, and nothing
// acknowledged is lost. A bind mount of the mount point itself stays dead and
// answers so; one of the directory above recovers (TestContainerBindMount).
func TestC01DaemonKilledUnderUsers(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("up", "ws")
	bound := r.mkdir("bound")
	must(t, unix.Mount(r.path("ws"), bound, "", unix.MS_BIND, ""))
	users := make([]*fieldUser, 10)
	for i := range users {
		users[i] = newFieldUser(t, r.path("ws"), i)
		users[i].asked("old", "worked")
	}
	for round := range 3 {
		writer := newByPath(r.path("ws"))
		time.Sleep(50 * time.Millisecond) // so that some of its files are made before
		r.kill()
		for _, u := range users {
			u.asked("old", "failed")
			u.asked("cwd", "failed")
			if round == 0 {
				u.asked("new", "failed")
			}
		}
		if res := r.run("up", "ws"); res.code != 0 || !strings.Contains(res.err, "cleared the dead mount at "+r.path("ws")) {
			t.Fatalf("up: %+v", res)
		}
		made, errs := writer.end()
		for _, name := range made {
			if b, err := os.ReadFile(name); err != nil || string(b) != "made" {
				t.Errorf("%s was acknowledged and is %q, %v", name, b, err)
			}
			must(t, os.Remove(name))
		}
		for errno, n := range errs {
			if errno != unix.ENOTCONN && errno != unix.ECONNABORTED && errno != unix.EIO {
				t.Errorf("%d times %v while the mount was dead", n, errno)
			}
		}
		for _, u := range users {
			u.asked("old", "failed")
			u.asked("new", "worked")
		}
	}
	var st unix.Stat_t
	if err := unix.Stat(bound+"/held-0", &st); err != unix.ENOTCONN && err != unix.ECONNABORTED {
		t.Errorf("the bind mount of the dead mount: %v", err)
	}
	must(t, unix.Unmount(bound, unix.MNT_DETACH))
	r.ok("check", "ws")
	r.ok("down", "--all")
	if left, err := os.ReadDir(r.path("ws")); err != nil || len(left) > 0 {
		t.Errorf("in the bare directory: %v, %v", left, err)
	}
}

// TestC02ListingsByMany: a thousand directories are listed with attributes by
// many at a time, and the daemon stays.
func TestC02ListingsByMany(t *testing.T) {
	needMount(t)
	for _, driver := range []string{"go-fuse", "bazil"} {
		t.Run(driver, func(t *testing.T) {
			r := newRig(t)
			r.ok("up", "--driver", driver, "ws")
			pid := r.pid()
			for i := range 1000 {
				dir := r.mkdir(fmt.Sprintf("ws/%d", i))
				for _, name := range []string{"a", "b"} {
					must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
				}
			}
			until := time.Now().Add(longForm(2*time.Second, time.Minute))
			var listed atomic.Int64
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					rng := rand.New(rand.NewSource(int64(i)))
					for time.Now().Before(until) {
						dir := r.path(fmt.Sprintf("ws/%d", rng.Intn(1000)))
						if out, err := os.ReadDir(dir); err != nil || len(out) != 2 {
							t.Errorf("%s: %v, %v", dir, out, err)
							return
						} else if _, err := out[0].Info(); err != nil {
							t.Error(err)
						}
						listed.Add(1)
					}
				})
			}
			wg.Wait()
			if now := r.pid(); now != pid || listed.Load() < 1000 {
				t.Errorf("pid %d, was %d; %d listings", now, pid, listed.Load())
			}
		})
	}
}

// sequence makes files 0, 1, 2, ... one after the other; acknowledged is how
// many were made.
type sequence struct {
	acknowledged atomic.Int64
	stop         atomic.Bool
	wg           sync.WaitGroup
}

func newSequence(dir string, from int64) *sequence {
	s := &sequence{}
	s.acknowledged.Store(from)
	s.wg.Go(func() {
		for !s.stop.Load() {
			i := s.acknowledged.Load()
			if os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), fmt.Append(nil, "content ", i), 0o600) != nil {
				return
			}
			s.acknowledged.Add(1)
		}
	})
	return s
}

func (s *sequence) end() { s.stop.Store(true); s.wg.Wait() }

// isPrefix asserts that dir holds the first files of a sequence, at least so
// many and no other, whole; but for the last, which may not have been written.
func isPrefix(t *testing.T, dir string, atLeast int64) {
	t.Helper()
	names, err := os.ReadDir(dir)
	must(t, err)
	n := int64(len(names))
	if n < atLeast {
		t.Errorf("%s holds %d files, and %d were acknowledged before", dir, n, atLeast)
	}
	for i := range n {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i)))
		whole := string(b) == fmt.Sprint("content ", i)
		if err != nil || !whole && (i < n-1 || len(b) > 0) {
			t.Errorf("file %d of %d: %q, %v", i, n, b, err)
		}
	}
}

// TestC04SnapshotsArePrefixes: what a snapshot holds that was asked for, that
// time brought about or that a kill left is a prefix of the acknowledged writes
// and has all of those from before it. (Of one by time nobody knows what was
// acknowledged before: that it is a prefix is all that can be asserted.)
func TestC04SnapshotsArePrefixes(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("up", "ws")
	dir := r.mkdir("ws/w")
	s := newSequence(dir, 0)
	for i := range 5 {
		before := s.acknowledged.Load()
		name := fmt.Sprintf("s%d", i)
		r.ok("snapshot", "ws", name)
		isPrefix(t, r.path("ws/.vfsd/snapshots/"+name+"/w"), before)
	}
	if os.Getenv("VFSD_SOAK") == "1" {
		r.byTime()
	}
	for range 3 {
		r.kill()
		s.end()
		r.ok("up", "ws")
		n := s.acknowledged.Load()
		isPrefix(t, dir, n)
		s = newSequence(dir, n)
		for s.acknowledged.Load() < n+20 {
			time.Sleep(time.Millisecond)
		}
	}
	s.end()
}

// byTime waits for a checkpoint that nobody asked for.
func (r *rig) byTime() {
	r.t.Helper()
	newest := func() (c control.Commit) {
		var l control.Log
		must(r.t, json.Unmarshal([]byte(r.ok("log", "ws", "--json")), &l))
		return l.Commits[0]
	}
	first := newest()
	for deadline := time.Now().Add(2 * time.Minute); newest().ID == first.ID; time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			r.t.Fatal("two minutes without a checkpoint")
		}
	}
	r.ok("fork", "ws@"+newest().ID, "timed")
	r.ok("up", "timed")
	isPrefix(r.t, r.path("timed/w"), 1)
	r.ok("down", "timed")
}

// TestDownOfWhatIsGone: a mount that somebody else has unmounted lazily, with
// files still open in it, counts as gone.
func TestDownOfWhatIsGone(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("up", "ws")
	r.write("ws/a", "x")
	f, err := os.Open(r.path("ws/a"))
	must(t, err)
	defer f.Close()
	must(t, unix.Unmount(r.path("ws"), unix.MNT_DETACH))
	r.ok("down", "--all")
	if pid := r.holder(); pid != 0 && isOurs(pid, r.data+"\x00") {
		t.Errorf("the daemon, pid %d, goes on", pid)
	}
	r.ok("up", "ws")
	r.reads("ws/a", "x")
}

// TestConformanceKnowsTheDriver: what the second driver lacks is declared, and
// found without being told.
func TestConformanceKnowsTheDriver(t *testing.T) {
	needMount(t)
	for driver, fs := range map[string]string{"go-fuse": "vfsd", "bazil": "vfsd-bazil"} {
		t.Run(driver, func(t *testing.T) {
			r := newRig(t)
			r.ok("up", "--driver", driver, "ws")
			var doc struct {
				FS                               string
				Passed, Failed, Skipped, Differs int
			}
			must(t, json.Unmarshal([]byte(r.ok("conformance", "--json", "--match", "open/O_TMPFILE/*", "ws")), &doc))
			if doc.FS != fs || doc.Failed > 0 || doc.Passed == 0 || (doc.Differs > 0) != (driver == "bazil") {
				t.Errorf("%+v", doc)
			}
		})
	}
}
