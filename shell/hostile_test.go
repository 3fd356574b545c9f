package shell_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/shell"
	"github.com/vfsd/vfsd/vfs"
)

// patience bounds how long a test waits for what must happen.
const patience = 60 * time.Second

// newSession returns a session over an empty memory filesystem.
func newSession(t testing.TB) *shell.Session {
	t.Helper()
	sh := shell.New(shell.Config{FS: memfs.New(), Lookup: lookupTestCommand})
	ses := sh.NewSession(shell.SessionOptions{})
	t.Cleanup(ses.Close)
	return ses
}

// settled fails when goroutines that a test started are still there.
func settled(t *testing.T, before int) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, there were %d:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		runtime.Gosched()
	}
}

// smallLimits make every hostile script end soon.
var smallLimits = shell.Limits{
	Time: 20 * time.Second, Steps: 1_000_000, Depth: 500, Output: 1 << 20, Memory: 16 << 20,
	OpenFiles: 64, FileSize: 1 << 20, Processes: 100,
}

// TestHostileScripts (P6): each ends by the limit that it was written against,
// says so, and leaves nothing running.
func TestHostileScripts(t *testing.T) {
	for _, c := range []struct {
		script string
		limits []string // any of them will do
	}{
		{`f() { f; }; f`, []string{"depth"}},
		{`f() { eval f; }; f`, []string{"depth"}},
		{`f() { echo $(f); }; f`, []string{"processes", "depth"}},
		{`f() { ( f ); }; f`, []string{"processes", "depth"}},
		{`f() { f | f; }; f`, []string{"processes", "depth", "steps"}},
		{`f() { f & f; }; f`, []string{"processes", "depth"}},
		{`echo 'source /tmp_s' > /tmp_s; source /tmp_s`, []string{"depth"}},
		{`echo '/tmp_s' > /tmp_s; chmod 755 /tmp_s; /tmp_s`, []string{"processes", "depth"}},
		{`trap 'kill -USR1 $$' USR1; kill -USR1 $$; while :; do :; done`, []string{"steps", "depth"}},
		{`:(){ :|:& };:; while :; do :; done`, []string{"processes", "steps"}},
		{`while :; do :; done`, []string{"steps"}},
		{`until ! :; do continue; done`, []string{"steps"}},
		{`for ((;;)); do :; done`, []string{"steps"}},
		{`while :; do sleep 1000 & done`, []string{"processes"}},
		{`x=a; while :; do x=$x$x; done`, []string{"memory"}},
		{`x=aaaaaaaa; x=${x//a/$x$x$x$x}; x=${x//a/$x}; x=${x//a/$x}; x=${x//a/$x}`, []string{"memory"}},
		{`a=(); while :; do a+=("${a[@]}" x); done`, []string{"memory"}},
		{`declare -A m; i=0; while :; do m[$((i++))]=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done`, []string{"memory"}},
		{`set -- {1..10000000}`, []string{"memory", "steps"}},
		{`echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}`, []string{"memory", "steps"}},
		{`x=$(yes)`, []string{"memory"}},
		{`yes`, []string{"output"}},
		{`while :; do echo spam spam spam spam spam spam spam spam; done`, []string{"output", "steps"}},
		{`printf '%9999999s' x; printf '%9999999s' x`, []string{"output", "memory"}},
		{`read x < <(yes | tr '\n' 'n')`, []string{"memory"}},
		{`mapfile a < <(yes)`, []string{"memory"}},
		{`v=0; w='v+v'; for i in {1..60}; do eval "w$i='${w}+${w}'"; w="w$i"; done; echo $((w60))`, []string{"steps"}},
		{`shopt -s globstar; mkdir -p a/a/a/a/a/a/a/a; x='*'; for i in 1 2 3 4 5 6 7; do x=$x/$x; done; while :; do echo ** > /dev/null; done`, []string{"steps"}},
		{`x=$(printf '%0100000d' 0); y=${x//*0*0*0*1/}; [[ $x == *(*(0)*(0))1 ]]; y=${x##*0*0*1}; while :; do :; done`, []string{"steps"}},
		{`cat <<E` + "\n" + strings.Repeat("${x:-", 20000) + "\nE", []string{""}},
		{strings.Repeat("(", 100000), []string{""}},
		{strings.Repeat("$(", 100000), []string{""}},
		{strings.Repeat("if ", 100000), []string{""}},
		{`echo $((` + strings.Repeat("(", 100000) + `))`, []string{""}},
		{strings.Repeat("a[$(", 2000), []string{""}},
		{strings.Repeat("$((", 3000) + strings.Repeat(")", 3000), []string{""}},
	} {
		name := c.script
		if len(name) > 40 {
			name = name[:40]
		}
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			ses := newSession(t)
			var stderr bytes.Buffer
			res := ses.Exec(context.Background(), shell.Execution{Script: c.script, Stdout: io.Discard, Stderr: &stderr, Limits: smallLimits})
			settled(t, before)
			if res.Internal != nil {
				t.Fatalf("panic: %v", res.Internal)
			}
			checkLimit(t, res, c.limits, stderr.String())
			// The session lives on.
			var out bytes.Buffer
			if res := ses.Exec(context.Background(), shell.Execution{Script: "echo alive", Stdout: &out, Limits: smallLimits}); res.Status != 0 || out.String() != "alive\n" {
				t.Errorf("afterwards: status %d, %q", res.Status, out.String())
			}
		})
	}
}

// checkLimit: the execution ended by one of the limits, "" being a syntax error,
// with a status and a message.
func checkLimit(t *testing.T, res shell.Result, limits []string, stderr string) {
	t.Helper()
	got := ""
	var l *shell.LimitError
	if errors.As(res.Limit, &l) {
		got = l.Limit
	}
	ok := false
	for _, want := range limits {
		ok = ok || got == want
	}
	if !ok {
		t.Errorf("ended by %q (status %d), want one of %q; stderr ends %q", got, res.Status, limits, tail(stderr))
	}
	if res.Status == 0 {
		t.Error("status 0")
	}
	if got != "" && !strings.Contains(stderr, "limit exceeded") {
		t.Errorf("no message: %q", tail(stderr))
	}
}

func tail(s string) string { return s[max(0, len(s)-200):] }

// TestCancel: cancellation reaches whatever waits or loops, at once, and
// nothing is left.
func TestCancel(t *testing.T) {
	for _, script := range []string{
		"sleep 1000",
		"while :; do :; done",
		"cat",
		"read x",
		"mapfile x",
		"cat | cat | cat",
		"sleep 1000 & wait",
		"sleep 1000 & sleep 1000 & wait -n",
		"x=$(sleep 1000)",
		"cat <(sleep 1000)",
		"echo x > >(sleep 1000); wait",
		"coproc cat; read x <&${COPROC[0]}",
		"mkfifo p; cat p",
		"mkfifo p; echo x > p",
		"(trap '' TERM INT; while :; do :; done)",
		"trap 'while :; do :; done' EXIT; exit",
		"yes > /dev/null",
		"yes | sleep 1000",
		"x=$(printf '%0100000d' 0); while :; do [[ $x == *1*2*3*4*5*6*7*8*9* ]]; y=${x//*0*0*0*1/}; done",
		"select x in a b; do :; done",
		"timeout() { sleep 1000; }; timeout",
		"env sleep 1000",
		"bash -c 'bash -c \"sleep 1000\"'",
	} {
		t.Run(script, func(t *testing.T) {
			before := runtime.NumGoroutine()
			ses := newSession(t)
			ctx, cancel := context.WithCancel(context.Background())
			started := make(chan struct{})
			in, inW := io.Pipe() // an input that says nothing
			defer inW.Close()
			done := make(chan shell.Result, 1)
			go func() {
				done <- ses.Exec(ctx, shell.Execution{
					Script: "echo started; " + script, Stdin: in, Stderr: io.Discard, Grace: -1,
					Stdout: writerFunc(func(p []byte) (int, error) {
						select {
						case <-started:
						default:
							close(started)
						}
						return len(p), nil
					}),
				})
			}()
			<-started
			cancel()
			select {
			case res := <-done:
				if !res.Canceled || res.Status == 0 {
					t.Errorf("result %+v", res)
				}
			case <-time.After(patience):
				t.Fatal("it goes on")
			}
			settled(t, before)
		})
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestSlowReader: an execution whose output nobody takes can still be ended.
func TestSlowReader(t *testing.T) {
	ses := newSession(t)
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan shell.Result, 1)
	go func() {
		done <- ses.Exec(ctx, shell.Execution{Script: "yes | cat", Stdout: w})
		w.Close()
	}()
	buf := make([]byte, 10)
	if _, err := io.ReadFull(r, buf); err != nil {
		t.Fatal(err)
	}
	cancel()
	r.Close()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("it goes on")
	}
}

// TestCrashingCommand: a command that panics takes neither the daemon nor the
// script down.
func TestCrashingCommand(t *testing.T) {
	testCommands["crash"] = crashCommand
	defer delete(testCommands, "crash")
	ses := newSession(t)
	var out, errs bytes.Buffer
	res := ses.Exec(context.Background(), shell.Execution{Script: "crash; echo $?; crash | cat; echo ${PIPESTATUS[@]}", Stdout: &out, Stderr: &errs})
	if res.Internal == nil || out.String() != "2\n2 0\n" || !strings.Contains(errs.String(), "internal error") {
		t.Errorf("result %+v, stdout %q, stderr %q", res, out.String(), errs.String())
	}
}

// TestHandlesAreReleased: what a script leaves open is closed at its end.
func TestHandlesAreReleased(t *testing.T) {
	fs := &countingFS{FS: memfs.New()}
	sh := shell.New(shell.Config{FS: fs, Lookup: lookupTestCommand})
	ses := sh.NewSession(shell.SessionOptions{})
	defer ses.Close()
	ses.Exec(context.Background(), shell.Execution{
		Script: "exec 3>a 4<>b {fd}>c; cat a & sleep 1000 <a & (exec 5<b; sleep 1000) & : <(cat b); x=$(<a)", Grace: -1,
	})
	if n := fs.open.Load(); n != 0 {
		t.Errorf("%d handles are still open", n)
	}
	var errs bytes.Buffer
	res := ses.Exec(context.Background(), shell.Execution{
		Script: "i=0; while ((i++ < 100)); do exec {fd}>f$i || exit 9; done", Stderr: &errs, Limits: shell.Limits{OpenFiles: 20},
	})
	if res.Status != 9 || !strings.Contains(errs.String(), "Too many open files") {
		t.Errorf("status %d, stderr %q", res.Status, tail(errs.String()))
	}
	if n := fs.open.Load(); n != 0 {
		t.Errorf("%d handles are still open", n)
	}
}

// TestFileSizeLimit: a file grows no larger than it may, by any way.
func TestFileSizeLimit(t *testing.T) {
	fs := memfs.New()
	sh := shell.New(shell.Config{FS: fs, Lookup: lookupTestCommand})
	ses := sh.NewSession(shell.SessionOptions{})
	defer ses.Close()
	var errs bytes.Buffer
	ses.Exec(context.Background(), shell.Execution{
		Script: "yes > a; for i in {1..2000}; do echo 0123456789 >> b; done 2>/dev/null; echo $?",
		Stderr: &errs, Limits: shell.Limits{FileSize: 10000},
	})
	w := vfs.NewWalker(fs, &vfs.Op{})
	for _, name := range []string{"/a", "/b"} {
		if a, err := w.Stat(name); err != nil || a.Size > 10000 || a.Size < 4096 {
			t.Errorf("%s: %d bytes, %v", name, a.Size, err)
		}
	}
	if !strings.Contains(errs.String(), "File too large") {
		t.Errorf("stderr %q", errs.String())
	}
}
