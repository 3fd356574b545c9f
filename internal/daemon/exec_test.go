package daemon

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vfsd/vfsd/internal/control"
)

const execPatience = 60 * time.Second

// execRig is a daemon, in this process, with the workspace ws.
func execRig(t *testing.T) (*Daemon, *control.Client) {
	t.Helper()
	d, err := Open(t.Context(), Options{Dir: t.TempDir(), Serve: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	c := control.Local(d.Handler())
	if _, err := control.CreateCall.Do(t.Context(), c, control.CreateRequest{Workspace: "ws"}); err != nil {
		t.Fatal(err)
	}
	return d, c
}

type execResult struct {
	control.Execution
	out, errs string
}

func runScript(ctx context.Context, t *testing.T, c *control.Client, r control.ExecRequest) execResult {
	t.Helper()
	r.Workspace = "ws"
	var out, errs bytes.Buffer
	e, err := control.ExecStream.Do(ctx, c, r, nil, func(ev control.ExecEvent) {
		switch ev.Kind {
		case control.ExecStdout:
			out.Write(ev.Data[:min(len(ev.Data), max(0, 1<<20-out.Len()))])
		case control.ExecStderr:
			errs.Write(ev.Data)
		}
	})
	if err != nil {
		t.Errorf("%.60s: %v", r.Script, err)
	}
	return execResult{e, out.String(), errs.String()}
}

// hostileLimits make each script end within seconds on a slow machine.
var hostileLimits = control.ExecLimits{
	Time: int64(8 * time.Second), Steps: 500_000, Depth: 500, Output: 4 << 20, Memory: 32 << 20, FileSize: 8 << 20, Processes: 100,
}

// TestHostileScripts (P6): each script that is written to exhaust the daemon ends
// with the exact error of a limit; meanwhile others go on, and afterwards nothing
// is left.
func TestHostileScripts(t *testing.T) {
	d, c := execRig(t)
	before := runtime.NumGoroutine()
	stop, neighbours := startNeighbour(t, c)
	var all sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, h := range []struct {
		script string
		limits []string // any of them, with the words after "bash: "
	}{
		{`f(){ f;}; f`, []string{"depth limit exceeded (500)"}},
		{`yes`, []string{"output limit exceeded (4194304 bytes)"}},
		{`while :; do :; done`, []string{"steps limit exceeded (500000)"}},
		{`x=a; while :; do x=$x$x; done`, []string{"memory limit exceeded (33554432 bytes)"}},
		{`:(){ :|:& };:; wait; while :; do :; done`, []string{"processes limit exceeded (100)", "steps limit exceeded (500000)"}},
		{`for i in {1..10000000}; do :; done`, []string{"memory limit exceeded (33554432 bytes)", "steps limit exceeded (500000)"}},
		{`x=$(seq 1000000); set -- $x; echo $#; x=$(seq 9000000)`, []string{"memory limit exceeded (33554432 bytes)"}},
		{`x=$(head -c 100000000 /dev/zero | tr '\0' x)`, []string{"memory limit exceeded (33554432 bytes)"}},
		{`x=$(printf '%050d' 0); while :; do [[ $x =~ ^((0*)*)*1$ ]]; done`, []string{"steps limit exceeded (500000)", "time limit exceeded (8s)", "memory limit exceeded (33554432 bytes)"}},
		{`sleep 1000 & sleep 1000 & while :; do :; done`, []string{"steps limit exceeded (500000)"}},
		{`printf '%0100000d' 0 > f; while cat f f f f f f f f > g && mv g f; do :; done; yes`, []string{"output limit exceeded (4194304 bytes)"}},
	} {
		all.Add(1)
		go func() {
			defer all.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			r := runScript(context.Background(), t, c, control.ExecRequest{Script: h.script, Limits: hostileLimits})
			ok := false
			for _, want := range h.limits {
				ok = ok || strings.HasSuffix(r.errs, "bash: "+want+"\n")
			}
			if !ok || r.Status == 0 || r.Limit == "" || r.Error != "" {
				t.Errorf("%s: %+v\nstderr ends %q", h.script, r.Execution, r.errs[max(0, len(r.errs)-200):])
			}
		}()
	}
	all.Wait()
	stop()
	if n := <-neighbours; n == 0 {
		t.Error("nothing else could run meanwhile")
	} else {
		t.Logf("%d other executions meanwhile", n)
	}
	if err := d.exec.Quiesce(); err != nil {
		t.Error(err)
	}
	awaitGoroutines(t, before)
}

// startNeighbour runs small scripts one after another, until it is told to stop,
// and yields their number.
func startNeighbour(t *testing.T, c *control.Client) (stop func(), ran <-chan int) {
	ctx, cancel := context.WithCancel(context.Background())
	n := make(chan int, 1)
	go func() {
		count := 0
		for ctx.Err() == nil {
			r := runScript(context.Background(), t, c, control.ExecRequest{Script: "echo $((6*7)) > neighbour; cat neighbour"})
			if r.out != "42\n" || r.Status != 0 {
				t.Errorf("a neighbour: %+v", r)
				break
			}
			count++
		}
		n <- count
	}()
	return cancel, n
}

// awaitGoroutines fails when goroutines are left.
func awaitGoroutines(t *testing.T, before int) {
	t.Helper()
	deadline := time.Now().Add(execPatience)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, there were %d:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

// TestExecCanceled: when the client goes, whatever the script does ends.
func TestExecCanceled(t *testing.T) {
	d, c := execRig(t)
	before := runtime.NumGoroutine()
	for _, script := range []string{
		"while :; do :; done", "sleep 1000", "yes | cat | cat > /dev/null", "cat", "sleep 1000 | sleep 1000", "wait & sleep 1000 & wait",
		"x=$(printf '%050d' 0); while :; do [[ $x =~ ^((0*)*)*1$ ]]; done", "yes", "grep -r x /dev/zero", "awk 'BEGIN { while (1) ; }'",
		"sed ':a; ba' <<< x", "jq -n 'def f: f; f'", "sort < <(yes)", "f() { f; }; while :; do (f) 2>/dev/null; done",
		"seq 100000000 | xargs -n1 echo > /dev/null", "timeout 1000 sleep 1000", "find / -exec sleep 1000 \\;",
	} {
		ctx, cancel := context.WithCancel(context.Background())
		begun := make(chan string, 1)
		go func() {
			_, _ = control.ExecStream.Do(ctx, c, control.ExecRequest{Workspace: "ws", Script: "echo begun; " + script, Input: true}, nil, func(ev control.ExecEvent) {
				if ev.Kind == control.ExecStdout {
					select {
					case begun <- "":
					default:
					}
				}
			}) // it is canceled
		}()
		<-begun
		cancel()
		deadline := time.Now().Add(execPatience)
		for d.exec.Quiesce() != nil {
			if time.Now().After(deadline) {
				t.Fatalf("%s goes on", script)
			}
			time.Sleep(time.Millisecond)
		}
	}
	awaitGoroutines(t, before)
}

// TestBackgroundJobsEnd: what runs when its script has ended is ended too.
func TestBackgroundJobsEnd(t *testing.T) {
	d, c := execRig(t)
	r := runScript(t.Context(), t, c, control.ExecRequest{Script: "(while :; do echo x >> log; sleep 0.01; done) & sleep 1000 & nohup sleep 1000 & echo done"})
	if r.Status != 0 || r.out != "done\n" {
		t.Errorf("%+v", r)
	}
	if err := d.exec.Quiesce(); err != nil {
		t.Error(err)
	}
	size := func() string {
		return runScript(t.Context(), t, c, control.ExecRequest{Script: "wc -c < log; ps | wc -l"}).out
	}
	first := size()
	time.Sleep(50 * time.Millisecond)
	if again := size(); again != first {
		t.Errorf("the log grew: %q, then %q", first, again)
	}
}

// TestExecQuiesce: an upgrade, and the removal of a workspace, are refused while
// something runs.
func TestExecQuiesce(t *testing.T) {
	d, c := execRig(t)
	e, err := control.ExecStream.Do(t.Context(), c, control.ExecRequest{Workspace: "ws", Script: "sleep 1000", Detach: true}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := execError(d.exec.Quiesce()); control.KindOf(err) != control.KindBusy || !strings.Contains(err.Error(), e.ID) {
		t.Errorf("%v", err)
	}
	if _, err := control.RemoveCall.Do(t.Context(), c, control.RemoveRequest{Workspace: "ws"}); control.KindOf(err) != control.KindBusy {
		t.Errorf("%v", err)
	}
	if _, err := control.ExecKillCall.Do(t.Context(), c, control.ExecKillRequest{ID: e.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := control.ExecFollow.Do(t.Context(), c, control.ExecFollowRequest{ID: e.ID}, nil, nil); err != nil {
		t.Fatal(err)
	}
	for d.exec.Quiesce() != nil {
		time.Sleep(time.Millisecond)
	}
	if _, err := control.RemoveCall.Do(t.Context(), c, control.RemoveRequest{Workspace: "ws"}); err != nil {
		t.Error(err)
	}
}
