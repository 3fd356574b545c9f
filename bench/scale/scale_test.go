package scale

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/bench/report"
	_ "github.com/vfsd/vfsd/mount/gofuse"
)

// envChild makes the test binary a child process.
const envChild = "VFSD_BENCH_SCALE_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(envChild) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		err := Child(ctx, os.Args[len(os.Args)-1], os.Stdin, os.Stdout)
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func tiny(t *testing.T) Options {
	t.Helper()
	t.Setenv(envChild, "1")
	return Options{
		Dir: t.TempDir(), Command: []string{os.Args[0]},
		Files: []int{150, 12_000}, Entries: []int{100, 300}, Workspaces: []int{2, 4},
		SparseSize: 1 << 30, SparseReal: 3 << 20, Staged: 8 << 20, Churn: time.Second,
	}
}

// TestEveryStep runs each step small and looks at the report: that it is
// well-formed, not that anything is fast.
func TestEveryStep(t *testing.T) {
	o := tiny(t)
	s, err := Run(context.Background(), o, func(what string) { t.Log(what) })
	if err != nil {
		t.Fatal(err)
	}
	for _, skipped := range s.Skipped {
		t.Logf("left out: %s", skipped)
	}
	have := map[string]report.Curve{}
	for _, c := range s.Curves {
		have[c.Name] = c
		for _, p := range c.Points {
			if p.X <= 0 || p.Y < 0 || c.Unit == "" || c.Of == "" || c.Title == "" {
				t.Errorf("%s (%s a %s): %+v", c.Name, c.Unit, c.Of, p)
			}
		}
	}
	for name, points := range map[string]int{
		"open": 2, "snapshot": 2, "fork": 2, "scan": 2, "heap": 2, "sleeping-wake": 2,
		"sparse-write": 1, "sparse-read": 1, "quiet-p99": 1, "churn-heap": churnPoints,
	} {
		if got := len(have[name].Points); got != points {
			t.Errorf("%s has %d points, want %d", name, got, points)
		}
	}
	if len(s.Skipped) == 0 && (len(have["walk"].Points) != 2 || len(have["list-ratio"].Points) != 2 || len(have["ls-l"].Points) != 2) {
		t.Error("the mount was neither measured nor left out")
	}
	if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	if err := report.SaveScale(t.TempDir(), s); err != nil {
		t.Error(err)
	}
}

func TestSteps(t *testing.T) {
	o := tiny(t)
	o.Steps = []string{Sleeping}
	s, err := Run(context.Background(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Curves {
		if c.Of != "workspaces" {
			t.Errorf("%s was measured too", c.Name)
		}
	}
	o.Steps = []string{"jumping"}
	if _, err := Run(context.Background(), o, nil); err == nil {
		t.Error("an unknown step was accepted")
	}
}

// TestChildFails sees that a child's failure is told with what it said.
func TestChildFails(t *testing.T) {
	o := tiny(t)
	o.Steps, o.Command = []string{Sleeping}, []string{"sh", "-c", "echo out of luck >&2; exit 3"}
	_, err := Run(context.Background(), o, nil)
	if err == nil {
		t.Fatal("a failing child is no error")
	}
	if want := "out of luck"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v lacks %q", err, want)
	}
	for _, arg := range []string{"", "{", `{"name":"none"}`} {
		if err := Child(context.Background(), arg, nil, nil); err == nil {
			t.Errorf("the step %q was accepted", arg)
		}
	}
}

func TestCancel(t *testing.T) {
	o := tiny(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, o, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v, want %v", err, context.Canceled)
	}
	if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
