package bench

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/vfsd/vfsd/bench/report"
	"github.com/vfsd/vfsd/bench/workload"
)

// observed percentiles of the operations of a run, by measure.
var observed = []struct {
	measure string
	percent float64
}{{report.P50, 50}, {report.P90, 90}, {report.P99, 99}, {report.Max, 100}}

// series collects the samples of a workload: by measure and side, in
// milliseconds, one a run.
type series struct {
	samples  map[string]*[2][]float64
	after    [2][]float64 // CPU milliseconds until idleness
	counters map[string]float64
}

func (s *series) add(measure string, side int, v float64) {
	if s.samples[measure] == nil {
		s.samples[measure] = new([2][]float64)
	}
	s.samples[measure][side] = append(s.samples[measure][side], v)
}

// workload measures one workload and returns its rows: one, or one a measure.
func (r *runner) workload(ctx context.Context, w *workload.Workload) ([]report.Row, error) {
	if why := r.why(w); why != "" {
		row := r.row(w, report.Wall)
		row.Skipped = why
		return []report.Row{row}, nil
	}
	dirs, err := r.sides(w)
	if err != nil {
		row := r.row(w, report.Wall)
		row.Skipped = r.anonymous(err)
		return []report.Row{row}, nil
	}
	s, err := r.runs(ctx, w, dirs)
	if err != nil {
		return nil, err
	}
	return r.rows(w, s), nil
}

// runs prepares both directories and runs the workload in them, in turn.
func (r *runner) runs(ctx context.Context, w *workload.Workload, dirs [2]string) (*series, error) {
	s := &series{samples: map[string]*[2][]float64{}, counters: map[string]float64{}}
	for side, d := range dirs {
		kept := filepath.Join(d, "kept")
		if err := os.MkdirAll(kept, 0o755); err != nil {
			return nil, err
		}
		if w.Prepare != nil {
			if err := w.Prepare(ctx, r.env(dirs[side], 0)); err != nil {
				return nil, fmt.Errorf("prepare the %s: %w", sideNames[side], err)
			}
		}
	}
	for run := -r.o.Warmup + 1; run <= r.o.Runs; run++ {
		first := subject
		if run%2 == 0 {
			first = baseline
		}
		for _, side := range [2]int{first, 1 - first} {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err := r.run(ctx, w, dirs[side], side, run, s); err != nil {
				return nil, fmt.Errorf("run %d in the %s: %w", run, sideNames[side], err)
			}
		}
	}
	return s, nil
}

func (r *runner) env(dir string, run int) *workload.Env {
	return &workload.Env{
		Kept: filepath.Join(dir, "kept"), Work: filepath.Join(dir, fmt.Sprintf("run%d", run+r.o.Warmup)),
		Shared: r.shared, Sizes: r.o.Sizes, Base: r.o.Seed,
		// Runs must not repeat one another's bytes: a store that keeps equal
		// chunks once would have nothing to do.
		Seed: r.o.Seed + uint64(run+r.o.Warmup)*0x9e3779b97f4a7c15 + 1,
	}
}

// run makes one run in one directory. Runs below 1 are warm-up: all of it
// happens, nothing is kept.
func (r *runner) run(ctx context.Context, w *workload.Workload, dir string, side, run int, s *series) error {
	e := r.env(dir, run)
	if err := os.Mkdir(e.Work, 0o755); err != nil {
		return err
	}
	if w.Setup != nil {
		if err := w.Setup(ctx, e); err != nil {
			return fmt.Errorf("set up: %w", err)
		}
		e.Latencies() // those of a Setup that is another's Run
	}
	if err := r.quiet(ctx, w.Cold, side); err != nil {
		return err
	}
	before, err := r.counters(side)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := w.Run(ctx, e); err != nil {
		return err
	}
	took := time.Since(start)
	after, err := r.counters(side)
	if err != nil {
		return err
	}
	cpu, err := r.settle(ctx)
	if err != nil {
		return err
	}
	if run > 0 {
		s.keep(side, took, e.Latencies(), cpu, before, after)
	}
	r.progress(Progress{Workload: w.Name, Directory: sideNames[side], Run: max(0, run), Runs: r.o.Runs, Took: took})
	if w.Check != nil {
		if err := w.Check(ctx, e); err != nil {
			return fmt.Errorf("check: %w", err)
		}
	}
	if w.Large {
		return os.RemoveAll(e.Work)
	}
	return nil
}

// keep records a run that counts.
func (s *series) keep(side int, took time.Duration, latencies []time.Duration, cpu time.Duration, before, after map[string]float64) {
	s.add(report.Wall, side, ms(took))
	if len(latencies) > 0 {
		each := make([]float64, len(latencies))
		for i, l := range latencies {
			each[i] = ms(l)
		}
		for _, o := range observed {
			s.add(o.measure, side, report.Percentile(each, o.percent))
		}
	}
	s.after[side] = append(s.after[side], ms(cpu))
	for k, v := range after {
		s.counters[k] += v - before[k]
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// counters asks Options.Counters around the runs in Dir.
func (r *runner) counters(side int) (map[string]float64, error) {
	if r.o.Counters == nil || side != subject {
		return nil, nil
	}
	c, err := r.o.Counters()
	if err != nil {
		return nil, fmt.Errorf("counters: %w", err)
	}
	return c, nil
}

// quiet makes everything durable, lets the machine become idle, and drops the
// kernel's caches where a row is cold.
func (r *runner) quiet(ctx context.Context, cold bool, side int) error {
	if cold && side == subject && r.o.BeforeCold != nil {
		if err := r.o.BeforeCold(ctx); err != nil {
			return fmt.Errorf("before a cold run: %w", err)
		}
	}
	if r.o.Settle > 0 {
		syncDisks()
	}
	if _, err := r.settle(ctx); err != nil {
		return err
	}
	if cold && !r.o.KeepCaches {
		if err := dropCaches(); err != nil {
			return err
		}
	}
	// The client's own garbage is collected now and not during the run.
	runtime.GC()
	return nil
}

// settleStep is how long the machine is looked at, and idleBelow which part of
// the CPUs may be busy in an idle one.
const (
	settleStep = 100 * time.Millisecond
	idleBelow  = 0.08
)

// settle waits until the machine is idle, at most Options.Settle, and returns
// the CPU time that was spent until then. Where the system does not tell how
// busy it is, it does not wait.
func (r *runner) settle(ctx context.Context) (time.Duration, error) {
	begin, ok := busy()
	if !ok || r.o.Settle == 0 {
		return 0, nil
	}
	t := time.NewTicker(settleStep)
	defer t.Stop()
	last := begin
	for deadline := time.Now().Add(r.o.Settle); time.Now().Before(deadline); {
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-t.C:
		}
		now, _ := busy()
		if float64(now-last) < idleBelow*float64(settleStep)*float64(runtime.NumCPU()) {
			return now - begin, nil
		}
		last = now
	}
	return last - begin, nil
}

// rows makes the report's rows of what was collected.
func (r *runner) rows(w *workload.Workload, s *series) []report.Row {
	var out []report.Row
	measures := []string{report.Wall}
	for _, o := range observed {
		measures = append(measures, o.measure)
	}
	for _, m := range measures {
		both := s.samples[m]
		if both == nil {
			continue
		}
		row := r.row(w, m)
		row.Subject, row.Baseline = report.Summarize(both[subject]), report.Summarize(both[baseline])
		row.Ratio, row.RatioLow, row.RatioTop = report.Ratio(row.Subject, row.Baseline)
		if m == report.Wall {
			row.SubjectAfter, row.BaselineAfter = report.Median(s.after[subject]), report.Median(s.after[baseline])
			row.Counters = s.perRun(r.o.Runs)
		}
		out = append(out, row)
	}
	return out
}

func (s *series) perRun(runs int) map[string]float64 {
	out := maps.Clone(s.counters)
	for k := range out {
		if out[k] /= float64(runs); out[k] == 0 {
			delete(out, k)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// anonymous is an error's text without the paths of this machine.
func (r *runner) anonymous(err error) string {
	s := err.Error()
	for from, to := range map[string]string{
		r.dirs[subject]: "DIR", r.dirs[baseline]: "BASELINE", r.shared: "SHARED", r.floorDir: "FLOOR",
	} {
		if from != "" {
			s = strings.ReplaceAll(s, from, to)
		}
	}
	return s
}
