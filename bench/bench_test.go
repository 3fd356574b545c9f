package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/bench/report"
	"github.com/vfsd/vfsd/bench/workload"
	_ "github.com/vfsd/vfsd/mount/gofuse"
)

// envFloor makes the test binary the child process of a Floor.
const envFloor = "VFSD_BENCH_FLOOR"

func TestMain(m *testing.M) {
	if os.Getenv(envFloor) != "" {
		args := os.Args[len(os.Args)-2:]
		if err := ServeFloor(args[0], args[1], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func tiny(t *testing.T) Options {
	t.Helper()
	t.Setenv(envFloor, "1")
	return Options{
		Dir: t.TempDir(), Baseline: t.TempDir(), Scratch: t.TempDir(),
		Runs: 2, Warmup: -1, Sizes: workload.Tiny, Seed: 1, Settle: -1, KeepCaches: true,
		Floor: &Floor{Command: []string{os.Args[0]}},
	}
}

// TestEveryWorkload runs each workload small, in two directories of the same
// filesystem, and looks at the report: that it is well-formed, not that
// anything is fast.
func TestEveryWorkload(t *testing.T) {
	o := tiny(t)
	runs := map[string]int{}
	r, err := Run(context.Background(), o, func(p Progress) { runs[p.Workload+" "+p.Directory]++ })
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, row := range r.Rows {
		rows[row.Workload] = true
		checkRow(t, o, row)
	}
	for _, w := range workload.All(o.Sizes) {
		if !rows[w.Name] {
			t.Errorf("%s has no row", w.Name)
		}
		if n := runs[w.Name+" subject"]; n != 0 && n != o.Runs {
			t.Errorf("%s ran %d times, want %d", w.Name, n, o.Runs)
		}
	}
	for _, dir := range []string{o.Dir, o.Baseline, o.Scratch} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v (%v)", left, err)
		}
	}
	checkForms(t, o, r)
}

// TestRelativeAndLeft gives directories as people type them, and has them kept.
func TestRelativeAndLeft(t *testing.T) {
	o := tiny(t)
	t.Chdir(filepath.Dir(o.Dir))
	o.Dir, o.Workloads, o.Leave = filepath.Base(o.Dir), []string{"rm-rf", "create-tight"}, true
	r, err := Run(context.Background(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Failed() {
		t.Errorf("%s failed: %s", row.Workload, row.Error)
	}
	for _, dir := range []string{o.Dir, o.Baseline} {
		if left, err := filepath.Glob(filepath.Join(dir, "bench-*", "create-tight", "run*", "file*")); err != nil || len(left) != o.Runs*o.Sizes.Small {
			t.Errorf("%d files were left (%v), want %d", len(left), err, o.Runs*o.Sizes.Small)
		}
	}
}

func checkRow(t *testing.T, o Options, row report.Row) {
	t.Helper()
	switch {
	case row.Error != "":
		t.Errorf("%s failed: %s", row.Workload, row.Error)
		return
	case row.Skipped != "":
		t.Logf("%s left out: %s", row.Workload, row.Skipped)
		if w, err := workload.Select([]string{row.Workload}, o.Sizes); err != nil || len(w[0].Missing()) == 0 && !w[0].Cold && !w[0].Floor {
			t.Errorf("%s left out although it could run: %s", row.Workload, row.Skipped)
		}
		return
	}
	for _, s := range []report.Summary{row.Subject, row.Baseline} {
		if len(s.Samples) != o.Runs || s.Min <= 0 || s.Median < s.Min || s.Max < s.Median {
			t.Errorf("%s %s: %+v", row.Workload, row.Measure, s)
		}
	}
	if row.Ratio <= 0 || row.RatioLow > row.Ratio || row.RatioTop < row.Ratio {
		t.Errorf("%s %s: ratio %g, spread %g to %g", row.Workload, row.Measure, row.Ratio, row.RatioLow, row.RatioTop)
	}
	if row.Title == "" || row.Group == "" || row.Client == "" {
		t.Errorf("%s is not described: %+v", row.Workload, row)
	}
}

// checkForms writes the report in every form.
func checkForms(t *testing.T, o Options, r *report.Report) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	if err := report.Save(dir, r); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"report.md", "report.json", "ratios.svg", "ratios.png"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, private := range []string{o.Dir, o.Baseline, o.Scratch} {
			if bytes.Contains(b, []byte(private)) {
				t.Errorf("%s names %s", name, private)
			}
		}
		if len(host) > 3 && bytes.Contains(b, []byte(host)) {
			t.Errorf("%s names the host", name)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	back, err := report.ReadJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil {
		t.Fatal(err)
	}
	if first, err := json.Marshal(r); err != nil || !bytes.Equal(first, again) {
		t.Errorf("the JSON form loses something (%v)", err)
	}
}

// TestFailures sees that a workload that cannot run is a row and not the end.
func TestFailures(t *testing.T) {
	o := tiny(t)
	o.Workloads = []string{"create-floor", "create-tight", "stat-first"}
	o.Floor = &Floor{Command: []string{"false"}}
	o.BeforeCold = func(context.Context) error { return errors.New("no packing today") }
	r, err := Run(context.Background(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Rows[0].Skipped == "" {
		t.Errorf("a floor that did not start gave %+v", r.Rows[0])
	}
	if r.Rows[1].Ratio <= 0 || len(r.Failed()) > 1 {
		t.Errorf("the workload after it: %+v", r.Rows[1])
	}
	if !strings.Contains(r.Rows[2].Error, "no packing today") {
		t.Errorf("a hook that failed gave %+v", r.Rows[2])
	}
	if _, err := Run(context.Background(), Options{Dir: o.Dir, Baseline: o.Baseline, Workloads: []string{"nothing"}}, nil); err == nil {
		t.Error("an unknown workload was accepted")
	}
	if _, err := Run(context.Background(), Options{Dir: filepath.Join(o.Dir, "none"), Baseline: o.Baseline}, nil); err == nil {
		t.Error("a directory that is not there was accepted")
	}
}

// TestCancel sees that what was measured before the end of the context is
// kept, and what was made is removed.
func TestCancel(t *testing.T) {
	o := tiny(t)
	o.Workloads = []string{"create-tight", "unlink"}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := Run(ctx, o, func(p Progress) {
		if p.Workload == "unlink" {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("Run: %v, want %v", err, context.Canceled)
	}
	if len(r.Rows) != 1 || r.Rows[0].Workload != "create-tight" {
		t.Errorf("rows %+v", r.Rows)
	}
	if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// TestCounters sees that a run's counts are what the run added.
func TestCounters(t *testing.T) {
	o := tiny(t)
	o.Workloads = []string{"unlink"}
	n := 0.0
	o.Counters = func() (map[string]float64, error) {
		n += 3
		return map[string]float64{"LOOKUP": n, "IDLE": 7}, nil
	}
	r, err := Run(context.Background(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Rows[0].Counters; len(got) != 1 || got["LOOKUP"] != 3 {
		t.Errorf("counters %v, want 3 LOOKUP a run", got)
	}
}

// TestProcessUse looks at this process, which has done something.
func TestProcessUse(t *testing.T) {
	before, err := ProcessUse(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "linux" {
		if before != nil {
			t.Errorf("figures on %s: %v", runtime.GOOS, before)
		}
		return
	}
	for range 300 {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		after, err := ProcessUse(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if after["daemon CPU ms"] > before["daemon CPU ms"] && after["daemon context switches"] > before["daemon context switches"] {
			return
		}
	}
	t.Error("300 children were started at no cost")
}
