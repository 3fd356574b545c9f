package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/shell"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const patience = 60 * time.Second

// newEngine returns an engine over one workspace, ws, in memory.
func newEngine(t testing.TB, o Options) *Engine {
	t.Helper()
	fs := vfs.FS(memfs.New())
	if o.Open == nil {
		o.Open = func(name string) (vfs.FS, error) {
			if name != "ws" {
				return nil, errors.New("no such workspace")
			}
			return fs, nil
		}
	}
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "exec")
	}
	e := New(o)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func start(t testing.TB, e *Engine, r Request) *Execution {
	t.Helper()
	r.Workspace = "ws"
	x, err := e.Start(r)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func wait(t testing.TB, x *Execution) Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := x.Wait(ctx)
	if err != nil {
		t.Fatalf("execution %s does not end: %v", x.ID(), err)
	}
	return r
}

// collect reads an execution's output from a position to its end.
func collect(t testing.TB, x *Execution, from int64) (out, errs string, lost int64) {
	t.Helper()
	pos := from
	var o, e strings.Builder
	err := x.Follow(context.Background(), from, func(ev Event) error {
		if ev.Pos != pos {
			t.Errorf("an event at %d, want %d", ev.Pos, pos)
		}
		pos += int64(len(ev.Data)) + ev.Lost
		switch ev.Stream {
		case Stdout:
			o.Write(ev.Data)
		case Stderr:
			e.Write(ev.Data)
		default:
			lost += ev.Lost
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return o.String(), e.String(), lost
}

func TestRun(t *testing.T) {
	e := newEngine(t, Options{})
	var out, errs bytes.Buffer
	r, err := e.Run(context.Background(), Request{Workspace: "ws", Script: `cat; echo "$1" >&2; exit 7`, Params: []string{"p"}},
		strings.NewReader("in\xff\x00put"), &out, &errs)
	if err != nil || r.Status != 7 || out.String() != "in\xff\x00put" || errs.String() != "p\n" {
		t.Errorf("%+v, %v, %q, %q", r, err, out.String(), errs.String())
	}
	if _, err := e.Run(context.Background(), Request{Workspace: "nope", Script: "x"}, nil, io.Discard, io.Discard); err == nil {
		t.Error("it ran in a workspace that is not there")
	}
	if _, err := e.Start(Request{Workspace: "ws"}); !errors.Is(err, ErrNotGiven) {
		t.Error(err)
	}
}

func TestArgs(t *testing.T) {
	e := newEngine(t, Options{})
	x := start(t, e, Request{Args: []string{"printf", "%s|", "a b", "$x", "*"}, Dir: "/"})
	if out, _, _ := collect(t, x, 0); out != "a b|$x|*|" {
		t.Errorf("%q", out)
	}
}

// TestFollow: the output can be read from every position, while it comes and
// afterwards, and also by an engine that was not there.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	for _, script := range []string{
		"echo one; echo two >&2; echo three",
		"for i in {1..3000}; do echo out $i; echo err $i >&2; done",
	} {
		e := newEngine(t, Options{Dir: dir})
		x := start(t, e, Request{Script: script})
		live, liveErrs, _ := collect(t, x, 0)
		r := wait(t, x)
		if int64(len(live)+len(liveErrs)) != r.Output || !strings.HasPrefix(live, "o") {
			t.Errorf("%d and %d bytes of %d", len(live), len(liveErrs), r.Output)
		}
		e.Close()
		again, err := newEngine(t, Options{Dir: dir}).Get(x.ID())
		if err != nil {
			t.Fatal(err)
		}
		whole, wholeErrs, _ := collect(t, again, 0)
		if whole != live || wholeErrs != liveErrs {
			t.Error("another engine reads something else")
		}
		if got := again.Record(); got.Status != 0 || got.State != Ended || string(got.Command) != script {
			t.Errorf("%+v", got)
		}
		for _, from := range []int64{1, 5, 100, r.Output / 2, r.Output - 1, r.Output, r.Output + 10} {
			out, errs, lost := collect(t, again, from)
			if want := max(r.Output-from, 0); int64(len(out)+len(errs)) != want || lost != 0 {
				t.Errorf("from %d: %d bytes and %d lost, want %d", from, len(out)+len(errs), lost, want)
			}
			if !strings.HasSuffix(live, out) || !strings.HasSuffix(liveErrs, errs) {
				t.Errorf("from %d: other bytes", from)
			}
		}
	}
}

// smallCaps make an output overflow soon.
var smallCaps = outputCaps{head: 100 << 10, segment: 50 << 10, tail: 2, window: 8 << 10}

// TestOutputCap: what is too much loses its middle, and says how much. The
// reader that paces misses nothing.
func TestOutputCap(t *testing.T) {
	for seed := range int64(20) {
		rnd := rand.New(rand.NewSource(seed))
		o := newOutput(hostfs.OS{}, filepath.Join(t.TempDir(), "x"), smallCaps, true)
		paced := make(chan string)
		go func() {
			var b strings.Builder
			o.follow(context.Background(), 0, true, true, func(ev Event) error {
				b.Write(ev.Data)
				if ev.Lost > 0 {
					b.WriteString("LOST")
				}
				return nil
			})
			paced <- b.String()
		}()
		var whole []byte
		for len(whole) < 600<<10 {
			p := make([]byte, 1+rnd.Intn(1<<rnd.Intn(17)))
			for i := range p {
				p[i] = byte(len(whole) + i*7)
			}
			whole = append(whole, p...)
			if n, err := o.write(context.Background(), Stream(1+rnd.Intn(2)), p); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
		}
		segs, _, err := o.end()
		if err != nil {
			t.Fatal(err)
		}
		if got := <-paced; got != string(whole) {
			t.Fatalf("seed %d: the pacing reader has %d bytes of %d, or others", seed, len(got), len(whole))
		}
		checkCapped(t, reopenOutput(hostfs.OS{}, o.path, &stored{Segments: segs}), whole, seed, rnd)
	}
}

func checkCapped(t *testing.T, o *output, whole []byte, seed int64, rnd *rand.Rand) {
	t.Helper()
	for range 20 {
		pos := rnd.Int63n(int64(len(whole)))
		from, lost := pos, int64(0)
		err := o.follow(context.Background(), pos, false, false, func(ev Event) error {
			if ev.Pos != pos || !bytes.Equal(ev.Data, whole[pos:pos+int64(len(ev.Data))]) {
				return fmt.Errorf("other bytes at %d", ev.Pos)
			}
			pos += int64(len(ev.Data)) + ev.Lost
			lost += ev.Lost
			return nil
		})
		if err != nil || pos != int64(len(whole)) {
			t.Fatalf("seed %d: from %d to %d: %v", seed, from, pos, err)
		}
		if from == 0 && lost == 0 || lost > int64(len(whole)) {
			t.Errorf("seed %d: %d bytes lost", seed, lost)
		}
	}
}

// TestFullDisk (P8): output that cannot be kept is a gap; the script goes on.
func TestFullDisk(t *testing.T) {
	fault := hostfs.NewFault(hostfs.OS{}, func(op hostfs.Op, name string) error {
		if strings.Contains(filepath.Base(name), ".") {
			return syscall.ENOSPC
		}
		return nil
	})
	e := newEngine(t, Options{FS: fault})
	x := start(t, e, Request{Script: "for i in {1..30000}; do echo $i; done; echo end > /f; cat /f >&2"})
	r := wait(t, x)
	out, errs, lost := collect(t, x, 0)
	if r.Status != 0 || r.Unkept == "" || lost == 0 || int64(len(out)+len(errs))+lost != r.Output {
		t.Errorf("%+v, %d bytes, %d lost", r, len(out), lost)
	}
}

// TestSlowReader: a follower that reads nothing delays neither the execution nor
// other followers; one that paces delays its own execution, which a limit and a
// kill end all the same.
func TestSlowReader(t *testing.T) {
	e := newEngine(t, Options{})
	x := start(t, e, Request{Script: "i=0; while ((i++ < 50000)); do echo $i; done"})
	stuck, release := make(chan struct{}), make(chan struct{})
	slow := make(chan error, 1)
	go func() {
		once := false
		slow <- x.Follow(context.Background(), 0, func(Event) error {
			if !once {
				once = true
				close(stuck)
				<-release
			}
			return nil
		})
	}()
	<-stuck
	if r := wait(t, x); r.Status != 0 {
		t.Errorf("%+v", r)
	}
	if out, _, _ := collect(t, x, 0); !strings.HasSuffix(out, "50000\n") {
		t.Error("the other follower did not get all")
	}
	close(release)
	if err := <-slow; err != nil {
		t.Error(err)
	}
	limited := start(t, e, Request{Script: "yes", Paced: true, Limits: shell.Limits{Time: 200 * time.Millisecond}})
	if r := wait(t, limited); r.Limit != "time" || r.Status != 124 {
		t.Errorf("%+v", r)
	}
	killed := start(t, e, Request{Script: "yes", Paced: true})
	for killed.Record().Output == 0 {
		runtime.Gosched()
	}
	killed.Kill()
	if r := wait(t, killed); !r.Canceled {
		t.Errorf("%+v", r)
	}
}

func TestSession(t *testing.T) {
	e := newEngine(t, Options{})
	for _, step := range []struct{ script, want string }{
		{"x=1; f() { echo f$x; }; mkdir -p d; cd d; set -o pipefail; shopt -s nullglob", ""},
		{"f; pwd; set -o | grep pipefail; shopt nullglob", "f1\n/d\npipefail       \ton\nnullglob       \ton\n"},
		{"(exit 9)", ""},
		{"echo $?; x=2; exit 3", "9\n"},
		{"f; echo $?", "f2\n0\n"},
	} {
		out, errs, _ := collect(t, start(t, e, Request{Session: "s", Script: step.script}), 0)
		if out != step.want || errs != "" {
			t.Errorf("%s: %q, %q; want %q", step.script, out, errs, step.want)
		}
	}
	if out, _, _ := collect(t, start(t, e, Request{Session: "other", Script: "echo [$x]; pwd"}), 0); out != "[]\n/\n" {
		t.Errorf("another session: %q", out)
	}
	if p, err := e.Prompt(context.Background(), Request{Workspace: "ws", Session: "s"}, "PS1", `\w\$ `); err != nil || p != "/d# " {
		t.Errorf("prompt %q, %v", p, err)
	}
	// They run one after another; one that waits can be killed.
	first := start(t, e, Request{Session: "s", Script: "sleep 1000"})
	second := start(t, e, Request{Session: "s", Script: "echo never", Input: true})
	for first.Record().State != Running {
		runtime.Gosched()
	}
	if _, err := e.EndSession("ws", 0, 0, "s"); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	second.Signal(command.SIGINT)
	if r := wait(t, second); !r.Canceled || r.Output != 0 {
		t.Errorf("%+v", r)
	}
	first.Signal(command.SIGINT)
	if r := wait(t, first); r.Status != 130 {
		t.Errorf("%+v", r)
	}
	if out, _, _ := collect(t, start(t, e, Request{Session: "s", Script: "f"}), 0); out != "f2\n" {
		t.Errorf("after an interrupt: %q", out)
	}
	if was, err := e.EndSession("ws", 0, 0, "s"); !was || err != nil {
		t.Error(was, err)
	}
}

// TestSignal: a trap runs; without one the script ends.
func TestSignal(t *testing.T) {
	e := newEngine(t, Options{})
	x := start(t, e, Request{Script: `trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.01; done`})
	_ = x.Follow(context.Background(), 0, func(ev Event) error {
		x.Signal(command.SIGINT)
		return io.EOF
	})
	r := wait(t, x)
	if out, _, _ := collect(t, x, 0); r.Status != 5 || out != "ready\ncaught\n" {
		t.Errorf("%+v, %q", r, out)
	}
}

// TestLost: what ran when the daemon died is told of as lost, with what it had
// written.
func TestLost(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, Options{Dir: dir})
	x := start(t, e, Request{Script: "echo hi; sleep 1000"})
	other := newEngine(t, Options{Dir: dir})
	got, err := other.Get(x.ID())
	if err != nil || got.Record().State != Lost {
		t.Fatal(err)
	}
	if _, err := other.Get("0000000000"); !errors.Is(err, ErrNoSuch) {
		t.Error(err)
	}
	if _, err := other.Get("../../etc/p"); !errors.Is(err, ErrNoSuch) {
		t.Error(err)
	}
}

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	e := New(Options{Dir: dir, Keep: 3, Open: func(string) (vfs.FS, error) { return memfs.New(), nil }})
	var last *Execution
	for range 10 {
		last = start(t, e, Request{Script: "seq 2000"})
		wait(t, last)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := listKept(hostfs.OS{}, dir)
	if err != nil || len(left) != 3 || left[2].id != last.ID() {
		t.Errorf("%v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "notes.txt")); err != nil {
		t.Error("a file of somebody else is gone")
	}
}

// TestClose: nothing is left running.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	e := New(Options{Dir: t.TempDir(), Open: func(string) (vfs.FS, error) { return memfs.New(), nil }})
	var all []*Execution
	for _, script := range []string{"sleep 1000", "cat", "while :; do :; done", "yes > /dev/null", "sleep 1000 & wait"} {
		all = append(all, start(t, e, Request{Script: script, Input: true}))
	}
	if err := e.Quiesce(); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		if r := wait(t, x); r.State != Ended || r.Status == 0 {
			t.Errorf("%+v", r)
		}
	}
	if _, err := e.Start(Request{Workspace: "ws", Script: ":"}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	deadline := time.Now().Add(patience)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, there were %d", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}

// TestIdleSessionIsSmall: a session that waits costs kilobytes.
func TestIdleSessionIsSmall(t *testing.T) {
	e := newEngine(t, Options{})
	const n = 500
	measure := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	wait(t, start(t, e, Request{Session: "warm", Script: ":"}))
	before := measure()
	for i := range n {
		wait(t, start(t, e, Request{Session: fmt.Sprint("s", i), Script: "x=1; f() { echo $x; }; cd /"}))
	}
	each := (measure() - before) / n
	t.Logf("%d bytes a session", each)
	if each > 64<<10 {
		t.Errorf("%d bytes a session", each)
	}
	if e.Sessions() != n+1 {
		t.Errorf("%d sessions", e.Sessions())
	}
	e.Idle(time.Now())
	if e.Sessions() != 0 {
		t.Errorf("%d sessions are left", e.Sessions())
	}
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"id":"0123456789","state":"running"}` + "\n" + `{"id":"0123456789","state":"ended","segments":[{"n":0,"start":0,"end":3,"size":8}],"small":"AQMAAABhYgo="}` + "\n"))
	f.Add([]byte(`{"id":"0123456789","segments":[{"n":-1}]}` + "\n"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeRecord(b)
		if err != nil {
			return
		}
		o := reopenOutput(hostfs.OS{}, filepath.Join(t.TempDir(), "x"), s)
		_ = o.follow(context.Background(), 0, false, false, func(Event) error { return nil })
	})
}
