package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/vfsd/vfsd/bench/report"
	"github.com/vfsd/vfsd/bench/workload"
)

// Options say what to compare, and how.
type Options struct {
	// Dir and Baseline are existing directories. The benchmark makes a
	// directory of its own in each, and removes it.
	Dir, Baseline string
	// Workloads are names as workload.Select takes them; none are all.
	Workloads []string
	Runs      int            // that count; 0 is 5
	Warmup    int            // that do not, before; less than 0 is none, 0 is 1
	Sizes     workload.Sizes // zero is workload.Full
	Seed      uint64
	// Settle bounds how long each timed part waits for an idle machine, after
	// what is dirty has been written to disk; 0 is 10 s, less than 0 does
	// neither.
	Settle time.Duration
	// KeepCaches runs cold rows without dropping the kernel's caches, to see
	// that they work: the caches are the whole machine's.
	KeepCaches bool
	// Leave keeps what was made in Dir and Baseline: a comparison in pieces must
	// not measure each in the wake of the removal of the one before.
	Leave bool
	// Scratch is a directory on a local disk for inputs; "" is the system's
	// directory for temporary files.
	Scratch string

	// BeforeCold, if set, is called before each cold run in Dir, when
	// everything is written and before the kernel's caches are dropped.
	BeforeCold func(context.Context) error
	// Warn, if set, is told before the first run what makes the figures
	// doubtful.
	Warn func(string)
	// Counters, if set, returns counts that only grow: requests by name, CPU
	// time of the daemon. The report has what each run in Dir added.
	Counters func() (map[string]float64, error)
	// Floor mounts the filesystem in memory that the floor row compares with.
	// If nil, that row is left out.
	Floor *Floor
}

func (o *Options) defaults() {
	if o.Runs == 0 {
		o.Runs = 5
	}
	if o.Warmup == 0 {
		o.Warmup = 1
	}
	o.Warmup = max(0, o.Warmup)
	if o.Settle == 0 {
		o.Settle = 10 * time.Second
	}
	o.Settle = max(0, o.Settle)
	if o.Sizes == (workload.Sizes{}) {
		o.Sizes = workload.Full
	}
}

// Progress is told after each run.
type Progress struct {
	Workload  string
	Directory string // "subject" or "baseline"
	Run, Runs int    // from 1; 0 is a run of warm-up
	Took      time.Duration
}

// The two sides of a comparison.
const (
	subject = iota
	baseline
)

var sideNames = [2]string{"subject", "baseline"}

// tools are those whose versions a report has.
var tools = []string{"sh", "git", "tar", "find", "grep", "npm", "node", "go", "cc", "make", "sqlite3"}

// Run measures. progress may be nil. A workload that cannot run here is a row
// that says why, one that fails is a row with its error; Run's own error is for
// what makes the whole comparison impossible, or for the end of ctx, and then
// the report holds what was measured before.
func Run(ctx context.Context, o Options, progress func(Progress)) (*report.Report, error) {
	o.defaults()
	if progress == nil {
		progress = func(Progress) {}
	}
	selected, err := workload.Select(o.Workloads, o.Sizes)
	if err != nil {
		return nil, err
	}
	r := &runner{o: o, progress: progress}
	if err := r.open(); err != nil {
		return nil, errors.Join(err, r.close())
	}
	started := time.Now()
	out, err := r.describe(started)
	if err == nil {
		err = r.doubts(out)
	}
	if err == nil {
		err = r.all(ctx, selected, out)
		out.Seconds = time.Since(started).Seconds()
	}
	return out, errors.Join(err, r.close())
}

// runner is one call of Run.
type runner struct {
	o        Options
	progress func(Progress)
	dirs     [2]string // made by open, removed by close
	shared   string    // likewise
	undrop   string    // why the kernel's caches cannot be dropped, or ""
	floorDir string    // the mounted filesystem in memory, or ""
	stop     func() error
}

// open makes the directories.
func (r *runner) open() error {
	for side, dir := range [2]string{r.o.Dir, r.o.Baseline} {
		// Programs that run elsewhere are given paths below it.
		dir, err := filepath.Abs(dir)
		if err != nil {
			return fmt.Errorf("bench %s directory: %w", sideNames[side], err)
		}
		made, err := os.MkdirTemp(dir, "bench-")
		if err != nil {
			return fmt.Errorf("bench %s directory: %w", sideNames[side], err)
		}
		r.dirs[side] = made
		// As people's directories are: what a mount lets the kernel cache may
		// depend on who can search a directory.
		if err := os.Chmod(made, 0o755); err != nil {
			return fmt.Errorf("bench %s directory: %w", sideNames[side], err)
		}
	}
	var err error
	if r.shared, err = os.MkdirTemp(r.o.Scratch, "bench-shared-"); err != nil {
		return fmt.Errorf("bench inputs: %w", err)
	}
	if r.o.KeepCaches {
		return nil
	}
	if err := dropCaches(); err != nil {
		r.undrop = err.Error()
	}
	return nil
}

// close removes what open made.
func (r *runner) close() error {
	var errs []error
	if r.stop != nil {
		errs = append(errs, r.stop())
	}
	made := []string{r.shared, r.dirs[subject], r.dirs[baseline]}
	if r.o.Leave {
		made = made[:1]
	}
	for _, dir := range made {
		if dir != "" {
			errs = append(errs, os.RemoveAll(dir))
		}
	}
	return errors.Join(errs...)
}

func (r *runner) describe(started time.Time) (*report.Report, error) {
	out := &report.Report{
		Version: report.Version, Started: started.UTC().Truncate(time.Second), Machine: report.Describe(tools),
		Settings: report.Settings{
			Runs: r.o.Runs, Warmup: r.o.Warmup, Seed: r.o.Seed, Dropped: r.undrop == "" && !r.o.KeepCaches,
			SettleSeconds: r.o.Settle.Seconds(), Hook: r.o.BeforeCold != nil, Sizes: r.o.Sizes.Map(),
		},
	}
	var err error
	if out.Subject, err = report.DescribeTarget(r.dirs[subject]); err != nil {
		return out, fmt.Errorf("bench: %w", err)
	}
	if out.Baseline, err = report.DescribeTarget(r.dirs[baseline]); err != nil {
		return out, fmt.Errorf("bench: %w", err)
	}
	return out, nil
}

// What doubts are about: the load average of a machine that is not quiet, and
// microseconds a created file in a baseline that is not itself.
const (
	loudAbove = 0.5
	slowAbove = 150
)

// probeFiles is how many files are made to see how fast the baseline is.
const probeFiles = 200

// doubts looks for what is known to spoil figures.
func (r *runner) doubts(out *report.Report) error {
	took, err := workload.ProbeCreate(filepath.Join(r.dirs[baseline], "probe"), probeFiles)
	if err != nil {
		return fmt.Errorf("bench baseline: %w", err)
	}
	out.Settings.ProbeMicros = float64(took.Microseconds())
	if r.o.Warn == nil {
		return nil
	}
	if out.Machine.Load > loudAbove {
		r.o.Warn(fmt.Sprintf("the load average is %.2f: this machine is not quiet", out.Machine.Load))
	}
	if out.Settings.ProbeMicros > slowAbove {
		r.o.Warn(fmt.Sprintf("making a file in the baseline takes %.0f us: after many deletions ext4 steps over "+
			"the freed inodes for up to six minutes, which flatters whatever it is compared with", out.Settings.ProbeMicros))
	}
	return nil
}

// all runs the workloads one by one.
func (r *runner) all(ctx context.Context, ws []workload.Workload, out *report.Report) error {
	for i := range ws {
		w := &ws[i]
		rows, err := r.workload(ctx, w)
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("bench %s: %w", w.Name, context.Cause(ctx))
		}
		if err != nil {
			rows = []report.Row{r.row(w, report.Wall)}
			rows[0].Error = r.anonymous(err)
		}
		out.Rows = append(out.Rows, rows...)
	}
	return nil
}

func (r *runner) row(w *workload.Workload, measure string) report.Row {
	row := report.Row{
		Workload: w.Name, Title: w.Title, Group: w.Group, Client: w.Client, Cold: w.Cold,
		Measure: measure, Limit: w.Limit,
	}
	if w.Floor {
		row.Against = "memory, same driver"
	}
	if measure != report.Wall {
		row.Limit = 0 // limits are for whole runs
	}
	return row
}

// why returns what keeps a workload from running here, or "".
func (r *runner) why(w *workload.Workload) string {
	switch missing := w.Missing(); {
	case len(missing) > 0:
		return fmt.Sprintf("%v not found", missing)
	case w.Cold && r.undrop != "":
		return "the kernel's caches cannot be dropped: " + r.undrop
	case w.Floor && r.o.Floor == nil:
		return "no filesystem in memory to compare with"
	}
	return ""
}

// sides returns the two directories of a workload: below Dir, and below
// Baseline or the floor.
func (r *runner) sides(w *workload.Workload) ([2]string, error) {
	d := r.dirs
	if w.Floor {
		if r.floorDir == "" {
			var err error
			if r.floorDir, r.stop, err = r.o.Floor.start(r.shared); err != nil {
				return d, err
			}
		}
		d[baseline] = r.floorDir
	}
	for i := range d {
		d[i] = filepath.Join(d[i], w.Name)
	}
	return d, nil
}
