package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/daemon"
)

// load writes to 16 files and verifies what it has written, all the time. Every
// error and every byte that differs is a failure.
type load struct {
	t      *testing.T
	dir    string
	stop   chan struct{}
	wg     sync.WaitGroup
	writes atomic.Int64
	errs   atomic.Int64
	last   [loadFiles][loadBlocks]uint64 // round last acknowledged, by file and block; a file's are its writer's
}

const (
	loadFiles  = 16
	loadBlocks = 8
	loadBytes  = 16 << 10
)

func startLoad(t *testing.T, dir string) *load {
	l := &load{t: t, dir: dir, stop: make(chan struct{})}
	for i := range loadFiles {
		l.wg.Go(func() { l.write(i) })
	}
	return l
}

// pattern is what a block holds after a round.
func pattern(file, block int, round uint64) []byte {
	p := make([]byte, loadBytes)
	seed := round*1_000_003 + uint64(file)*1009 + uint64(block)
	for i := 0; i < len(p); i += 8 {
		binary.LittleEndian.PutUint64(p[i:], seed+uint64(i)*0x9e3779b97f4a7c15)
	}
	return p
}

func (l *load) name(file int) string { return filepath.Join(l.dir, fmt.Sprintf("load-%02d", file)) }

func (l *load) failf(format string, args ...any) {
	if l.errs.Add(1) < 20 {
		l.t.Errorf(format, args...)
	}
}

func (l *load) write(file int) {
	f, err := os.OpenFile(l.name(file), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		l.failf("%v", err)
		return
	}
	defer f.Close()
	r := rand.New(rand.NewSource(int64(file)))
	got := make([]byte, loadBytes)
	for round := uint64(1); ; round++ {
		select {
		case <-l.stop:
			return
		default:
		}
		block := r.Intn(loadBlocks)
		if _, err := f.WriteAt(pattern(file, block, round), int64(block)*loadBytes); err != nil {
			l.failf("write: %v", err)
			return
		}
		l.last[file][block] = round
		if round%64 == 0 {
			if err := f.Sync(); err != nil {
				l.failf("fsync: %v", err)
			}
		}
		if round%16 == 0 { // opened anew, and past the page cache
			dropCache(f)
			if err := l.verify(file); err != nil {
				l.failf("%v", err)
			}
		}
		if _, err := f.ReadAt(got, int64(block)*loadBytes); err != nil || !bytes.Equal(got, pattern(file, block, round)) {
			l.failf("block %d of file %d differs from what was written, %v", block, file, err)
		}
		l.writes.Add(1)
		if err := l.names(file, round); err != nil {
			l.failf("%v", err)
		}
	}
}

// names makes and takes away names beside a file.
func (l *load) names(file int, round uint64) error {
	a, b := fmt.Sprintf("%s-%d", l.name(file), round), fmt.Sprintf("%s-%d-moved", l.name(file), round)
	return errors.Join(os.WriteFile(a, []byte("x"), 0o600), os.Rename(a, b), os.Remove(b))
}

func dropCache(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }

// verify reads a whole file.
func (l *load) verify(file int) error {
	b, err := os.ReadFile(l.name(file))
	if err != nil {
		return err
	}
	for block, round := range l.last[file] {
		if round == 0 {
			continue
		}
		at := block * loadBytes
		if len(b) < at+loadBytes || !bytes.Equal(b[at:at+loadBytes], pattern(file, block, round)) {
			return fmt.Errorf("block %d of file %d is not what round %d wrote", block, file, round)
		}
	}
	return nil
}

// end ends the load and verifies all that was acknowledged.
func (l *load) end() {
	l.t.Helper()
	close(l.stop)
	l.wg.Wait()
	for file := range loadFiles {
		if err := l.verify(file); err != nil {
			l.failf("in the end: %v", err)
		}
	}
	if l.writes.Load() == 0 {
		l.t.Error("nothing was written")
	}
}

// witness holds open what only memory knows of, and sees that it stays.
type witness struct {
	t        *testing.T
	removed  *os.File // a file without a name
	mapped   []byte   // shared, of a file
	mappedAt string
	appends  *os.File
	dir      *os.File // read in part
	rest     int      // names that the listing owes
	inotify  int
	shell    *exec.Cmd // its working directory is in the mount
	say      io.Writer
	hear     *json.Decoder
	round    int
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newWitness(t *testing.T, dir string) *witness {
	t.Helper()
	w := &witness{t: t, mappedAt: filepath.Join(dir, "mapped")}
	var err error
	w.removed, err = os.Create(filepath.Join(dir, "removed"))
	must(t, err)
	_, err = w.removed.WriteString("held open")
	must(t, err)
	must(t, os.Remove(w.removed.Name()))
	f, err := os.Create(w.mappedAt)
	must(t, err)
	must(t, f.Truncate(1<<16))
	w.mapped, err = unix.Mmap(int(f.Fd()), 0, 1<<16, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must(t, err)
	must(t, f.Close())
	w.appends, err = os.OpenFile(filepath.Join(dir, "appended"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	many := filepath.Join(dir, "many")
	must(t, os.MkdirAll(filepath.Join(many, "sub"), 0o755))
	for i := range 3000 {
		must(t, os.WriteFile(filepath.Join(many, fmt.Sprintf("a-name-of-some-length-%05d", i)), nil, 0o600))
	}
	w.dir, err = os.Open(many)
	must(t, err)
	names, err := w.dir.Readdirnames(10)
	must(t, err)
	w.rest = 3001 - len(names)
	w.inotify, err = unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	must(t, err)
	_, err = unix.InotifyAddWatch(w.inotify, many, unix.IN_CREATE)
	must(t, err)
	w.shell = exec.Command("sh", "-c", `while read n; do echo $n >"cwd-$n" && echo "\"$(pwd -P) $(cat cwd-$n)\""; done`)
	w.shell.Dir = many
	w.say, err = w.shell.StdinPipe()
	must(t, err)
	out, err := w.shell.StdoutPipe()
	must(t, err)
	w.hear = json.NewDecoder(out)
	must(t, w.shell.Start())
	t.Cleanup(func() {
		_ = w.shell.Process.Kill()
		_ = w.shell.Wait()
		_ = unix.Munmap(w.mapped)
		_ = unix.Close(w.inotify)
		for _, f := range []*os.File{w.removed, w.appends, w.dir} {
			f.Close()
		}
	})
	return w
}

// check looks at everything once.
func (w *witness) check() {
	w.t.Helper()
	w.round++
	b := make([]byte, 100)
	n, err := w.removed.ReadAt(b, 0)
	if want := "held open" + strings.Repeat("+", w.round-1); string(b[:n]) != want || err != nil && !errors.Is(err, io.EOF) {
		w.t.Errorf("round %d: the removed file has %q, want %q, %v", w.round, b[:n], want, err)
	}
	if _, err := w.removed.WriteAt([]byte("+"), int64(n)); err != nil {
		w.t.Error(err)
	}
	if info, err := w.removed.Stat(); err != nil || info.Sys().(*syscall.Stat_t).Nlink != 0 {
		w.t.Errorf("the removed file: %v, %v", info, err)
	}
	at := w.round * 4096
	w.mapped[at] = byte(w.round)
	if err := unix.Msync(w.mapped, unix.MS_SYNC); err != nil {
		w.t.Errorf("msync: %v", err)
	}
	if b, err := os.ReadFile(w.mappedAt); err != nil || b[at] != byte(w.round) || b[at-4096] != byte(w.round-1) {
		w.t.Errorf("round %d: the mapped file is not what the mapping is, %v", w.round, err)
	}
	if _, err := fmt.Fprintln(w.appends, w.round); err != nil {
		w.t.Error(err)
	}
	if b, err := os.ReadFile(w.appends.Name()); err != nil || bytes.Count(b, []byte("\n")) != w.round {
		w.t.Errorf("round %d: %q, %v", w.round, b, err)
	}
	names, err := w.dir.Readdirnames(100)
	if err != nil {
		w.t.Errorf("round %d: listing: %v", w.round, err)
	}
	w.rest -= len(names)
	fmt.Fprintln(w.say, w.round)
	var said string
	if err := w.hear.Decode(&said); err != nil || said != fmt.Sprintf("%s %d", w.dir.Name(), w.round) {
		w.t.Errorf("round %d: in the working directory: %q, %v", w.round, said, err)
	}
	if n, err := unix.Read(w.inotify, make([]byte, 4096)); err != nil || n == 0 {
		w.t.Errorf("round %d: inotify tells nothing of what was made: %v", w.round, err)
	}
}

// finish reads the listing to its end: each name was there once.
func (w *witness) finish() {
	w.t.Helper()
	names, err := w.dir.Readdirnames(-1)
	if err != nil {
		w.t.Error(err)
	}
	for _, n := range names {
		if !strings.HasPrefix(n, "cwd-") { // made meanwhile: may be in it
			w.rest--
		}
	}
	if w.rest != 0 {
		w.t.Errorf("the listing has %d names too few", w.rest)
	}
}

// TestUpgradeDaemon: C16. A load that verifies as it writes, and everything that
// can be held open, across ten handovers; no error anywhere. Then what was
// acknowledged survives kill -9.
func TestUpgradeDaemon(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("up", "ws")
	r.ok("up", "other")
	dir := r.path("ws")
	w := newWitness(t, dir)
	l := startLoad(t, dir)
	other := startLoad(t, r.path("other"))
	pids := map[int]bool{r.pid(): true}
	var paused time.Duration
	for round := range 10 {
		w.check()
		if round%3 == 2 { // by signal
			pid := r.pid()
			must(t, syscall.Kill(pid, syscall.SIGUSR2))
			awaitGone(pid)
		} else {
			res := report[control.UpgradeResult](r, "upgrade-daemon")
			if res.Mounts != 2 || res.Handles < 2*loadFiles || res.PID == res.From {
				t.Errorf("%+v", res)
			}
			paused = max(paused, time.Duration(res.Paused))
			awaitGone(res.From)
		}
		st := r.status()
		if pids[st.PID] || len(st.Mounts) != 2 || st.Mounts[0].State != control.Mounted || len(st.Notes) > 0 {
			t.Fatalf("round %d: %+v", round, st)
		}
		pids[st.PID] = true
	}
	w.check()
	w.finish()
	l.end()
	other.end()
	t.Logf("10 handovers, %d and %d writes verified, %d errors, paused for %v at most",
		l.writes.Load(), other.writes.Load(), l.errs.Load()+other.errs.Load(), paused)
	r.ok("check", "ws")
	r.kill()
	r.ok("up", "ws")
	for file := range loadFiles {
		if err := l.verify(file); err != nil {
			t.Errorf("after a kill: %v", err)
		}
	}
	r.ok("check", "ws")
	r.ok("down", "--all")
}

// upgradeTo asks for a handover to another program.
func (r *rig) upgradeTo(program string, args ...string) (control.UpgradeResult, error) {
	c := control.Dial(r.data)
	defer c.Close()
	return control.UpgradeCall.Do(context.Background(), c, control.UpgradeRequest{Program: program, Args: args})
}

// TestUpgradeRefused: a new process that does not come up, at whatever point it
// fails, leaves the old one serving, with everything open as before.
func TestUpgradeRefused(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("up", "ws")
	w := newWitness(t, r.path("ws"))
	l := startLoad(t, r.path("ws"))
	self, err := os.Executable()
	must(t, err)
	pid := r.pid()
	for _, tt := range []struct {
		program string
		args    []string
		says    string
	}{
		{"/nonexistent", nil, "no such file"},
		{"/bin/false", nil, "is no daemon that can take over"},
		{self, []string{heirArg, "other-version"}, "hands over by version 99"},
		{self, []string{heirArg, "die-greeted"}, "the new process"},
		{self, []string{heirArg, "die-with-estate"}, "the new process is not ready"},
		{self, []string{heirArg, "refuse"}, "it will not"},
		{self, []string{heirArg, "die-ready"}, "the new process"},
		{self, []string{heirArg, "die-told"}, "the new process does not serve"},
	} {
		w.check()
		if _, err := r.upgradeTo(tt.program, tt.args...); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s %v: %v; want %q", tt.program, tt.args, err, tt.says)
		}
		if now := r.pid(); now != pid {
			t.Fatalf("%v: pid %d serves, not %d", tt.args, now, pid)
		}
	}
	w.check()
	if st := r.status(); len(st.Notes) != 8 || !strings.Contains(st.Notes[0], "served on as before") {
		t.Errorf("notes: %q", st.Notes)
	}
	r.ok("upgrade-daemon")
	w.check()
	l.end()
	r.ok("check", "ws")
}

// TestUpgradeOwnerDies: the old process is killed when the new one has all it
// needs; the mount lives on.
func TestUpgradeOwnerDies(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("up", "ws")
	w := newWitness(t, r.path("ws"))
	l := startLoad(t, r.path("ws"))
	w.check()
	self, err := os.Executable()
	must(t, err)
	old := r.pid()
	if _, err := r.upgradeTo(self, heirArg, "kill-owner", vfsd, "--data", r.data); err == nil {
		t.Error("a killed daemon has answered")
	}
	awaitGone(old)
	st := r.status()
	if st.PID == old || len(st.Mounts) != 1 || st.Mounts[0].State != control.Mounted {
		t.Fatalf("%+v", st)
	}
	w.check()
	r.ok("upgrade-daemon")
	w.check()
	l.end()
	r.ok("check", "ws")
}

// TestUpgradeBazil: what cannot hand over says so, and nothing is lost.
func TestUpgradeBazil(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("up", "ws", "--driver", "bazil")
	r.write("ws/a", "1")
	r.fails(exitError, []string{r.path("ws"), "bazil", "vfsctl down"}, "upgrade-daemon")
	r.reads("ws/a", "1")
	r.ok("down", "--all")
	r.fails(exitError, []string{"no daemon"}, "upgrade-daemon")
}

// TestUpgradeKilled: kill -9 of either process at any moment loses nothing that
// was acknowledged.
func TestUpgradeKilled(t *testing.T) {
	needMount(t)
	r := newRig(t)
	rounds := 6
	if os.Getenv("VFSD_SOAK") != "" {
		rounds = 200
	}
	rnd := rand.New(rand.NewSource(1))
	survived := 0
	for round := range rounds {
		r.ok("up", "ws")
		old := r.pid()
		name := fmt.Sprintf("ws/acked-%d", round)
		var acked int
		f, err := os.Create(r.path(name))
		must(t, err)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ; ; acked++ {
				if _, err := fmt.Fprintf(f, "%08d\n", acked); err != nil {
					return
				}
			}
		}()
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			_, _ = r.upgradeTo(vfsd, "--data", r.data) // may be cut off
		}()
		time.Sleep(time.Duration(rnd.Intn(120)) * time.Millisecond) // any moment, not a wait for one
		if round%2 == 0 {
			_ = syscall.Kill(old, syscall.SIGKILL)
			awaitGone(old)
		} else {
			r.kill() // whoever holds the lock
		}
		<-asked
		// If the mount has survived it goes on being written to.
		if _, err := os.Stat(r.path("ws")); err == nil {
			survived++
		}
		r.killAll()
		<-done
		f.Close()
		r.ok("up", "ws")
		b, err := os.ReadFile(r.path(name))
		must(t, err)
		if len(b) < acked*9 {
			t.Errorf("round %d: %d lines were acknowledged and %d are there", round, acked, len(b)/9)
		}
		r.ok("check", "ws")
	}
	t.Logf("%d rounds, the mount survived %d", rounds, survived)
}

// killAll kills every process of the data directory's: an heir that has not
// taken over yet is in no lock.
func (r *rig) killAll() {
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range procs {
		pid, err := strconv.Atoi(filepath.Base(proc))
		if err == nil && isOurs(pid, r.data+"\x00") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			awaitGone(pid)
		}
	}
}

// heirArg makes this program a new process of a daemon, of one kind or another.
const heirArg = "be-an-heir"

// beHeir plays the new process; spec/handover.md has the conversation.
func beHeir(args []string) {
	f := os.NewFile(3, "conversation")
	conn, err := net.FileConn(f)
	if err != nil {
		os.Exit(1)
	}
	f.Close()
	say := func(s string) { fmt.Fprintln(conn, s) }
	owner := json.NewDecoder(conn)
	hello := fmt.Sprintf(`{"hello":{"handover":1,"version":"test","pid":%d}}`, os.Getpid())
	var estate, goes json.RawMessage
	switch args[0] {
	case "other-version":
		say(strings.Replace(hello, `"handover":1`, `"handover":99`, 1))
	case "die-greeted":
		say(hello)
	case "die-with-estate":
		say(hello)
		_ = owner.Decode(&estate)
	case "refuse":
		say(hello)
		_ = owner.Decode(&estate)
		say(`{"error":{"kind":"internal","message":"it will not"}}`)
	case "die-ready":
		say(hello)
		_ = owner.Decode(&estate)
		say(`{"ready":true}`)
	case "die-told":
		say(hello)
		_ = owner.Decode(&estate)
		say(`{"ready":true}`)
		_ = owner.Decode(&goes)
	case "kill-owner":
		if err := relay(conn, owner, args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "relay:", err)
			os.Exit(1)
		}
	}
}

// relay stands between the old and the new process: when the new one has got
// everything, the old one is killed and the conversation ends.
func relay(conn net.Conn, owner *json.Decoder, program []string) error {
	// A collected connection is closed, and the old process would take that for
	// the end of the new one.
	defer runtime.KeepAlive(conn)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	files := []*os.File{os.NewFile(uintptr(pair[1]), "heir")}
	n, err := strconv.Atoi(os.Getenv(daemon.HandoverEnv))
	if err != nil {
		return err
	}
	for fd := 4; fd < 3+n; fd++ {
		files = append(files, os.NewFile(uintptr(fd), "inherited"))
	}
	cmd := exec.Command(program[0], program[1:]...)
	cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = files, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	files[0].Close()
	heir := os.NewFile(uintptr(pair[0]), "heir")
	said := json.NewDecoder(heir)
	var m json.RawMessage
	if err := said.Decode(&m); err != nil { // hello
		return err
	}
	fmt.Fprintf(conn, "%s\n", m)
	if err := owner.Decode(&m); err != nil { // the estate
		return err
	}
	if _, err := fmt.Fprintf(heir, "%s\n", m); err != nil {
		return err
	}
	if err := said.Decode(&m); err != nil { // ready
		return err
	}
	old := os.Getppid()
	if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
		return err
	}
	awaitGone(old)
	return heir.Close()
}
