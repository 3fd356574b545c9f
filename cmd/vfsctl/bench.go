package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/bench"
	benchreport "github.com/vfsd/vfsd/bench/report"
	"github.com/vfsd/vfsd/bench/scale"
	"github.com/vfsd/vfsd/bench/workload"
	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/daemon"
)

type benchOptions struct {
	*options
	baseline  string
	workloads []string
	runs      int
	warmup    int
	settle    time.Duration
	seed      uint64
	small     bool
	keep      bool
	pack      bool
	driver    string
	out       string
	list      bool
	leave     bool
}

const benchLong = `Do the same work in DIR, usually a mounted workspace, and in the --baseline
directory, usually on the disk below it, in turn, and compare the times. Both get
a directory of their own, which is removed at the end (--leave: is not).

Cold rows drop the kernel's caches, which takes root and slows everything else on
the machine for a while. Figures are worth something on a quiet machine only: the
report says how loaded it was.

    vfsctl up /mnt/w
    vfsctl bench /mnt/w --baseline /var/tmp --out results
    vfsctl bench /mnt/w --baseline /var/tmp --workload 'create*' --runs 11

--out writes report.md, report.json and the chart. Exit code 3 says that a
workload failed.`

func newBench(o *options, s streams) *cobra.Command {
	b := benchOptions{options: o}
	cmd := &cobra.Command{
		Use:   "bench DIR --baseline DIR2",
		Short: "Compare a directory's speed with another's",
		Long:  benchLong,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case b.list:
				return listWorkloads(b, s)
			case len(args) != 1 || b.baseline == "":
				return control.Errorf(control.KindUsage, "bench: it takes a directory and --baseline; usage: %s", cmd.UseLine())
			}
			return runBench(cmd.Context(), b, s, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&b.baseline, "baseline", "", "`directory` to compare with")
	f.StringSliceVar(&b.workloads, "workload", nil, "only these `names`; a * at the end stands for any")
	f.IntVar(&b.runs, "runs", 5, "`times` that each workload runs in each directory")
	f.IntVar(&b.warmup, "warmup", 1, "`times` before that, not counted")
	f.DurationVar(&b.settle, "settle", 10*time.Second, "wait at most so `long` for an idle machine before each run")
	f.Uint64Var(&b.seed, "seed", 1, "`number` that all data follows from")
	f.BoolVar(&b.small, "small", false, "tiny sizes, caches kept, no waiting: to see that everything works")
	f.BoolVar(&b.keep, "keep-caches", false, "do not drop the kernel's caches: no row is cold then")
	f.BoolVar(&b.pack, "pack", false, "take a snapshot before each cold run, so that reads come from packs")
	f.StringVar(&b.driver, "driver", "", "FUSE `driver` of the filesystem in memory; it should be the mount's")
	f.StringVar(&b.out, "out", "", "write the report into this `directory` too")
	f.BoolVar(&b.leave, "leave", false, "leave behind what the runs made: removing it slows ext4's creates for minutes")
	f.BoolVar(&b.list, "list", false, "list the workloads and do nothing")
	cmd.AddCommand(newBenchScale(o, s), newBenchShell(o, s), newBenchSync(o, s), newBenchMerge(o, s), newBenchFloor(s), newBenchChild(s))
	return jsonFlag(cmd, o)
}

// workloadReport is one of what bench --list --json prints.
type workloadReport struct {
	Name  string  `json:"name"`
	Title string  `json:"title"`
	Cold  bool    `json:"cold"`            // the kernel's caches are dropped before
	Limit float64 `json:"limit,omitempty"` // that the ratio to the baseline should reach
}

func listWorkloads(o benchOptions, s streams) error {
	if o.json {
		all := []workloadReport{}
		for _, w := range workload.All(workload.Full) {
			all = append(all, workloadReport{w.Name, w.Title, w.Cold, w.Limit})
		}
		return s.printJSON(all)
	}
	rows := [][]string{{"WORKLOAD", "WHAT", "CLIENT", "CACHES", "TO REACH"}}
	for _, w := range workload.All(workload.Full) {
		caches, limit := "warm", "-"
		if w.Cold {
			caches = "cold"
		}
		if w.Limit > 0 {
			limit = fmt.Sprintf("%.2f", w.Limit)
		}
		rows = append(rows, []string{w.Name, w.Title, w.Client, caches, limit})
	}
	return s.table(rows)
}

func runBench(ctx context.Context, o benchOptions, s streams, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	opts := bench.Options{
		Dir: dir, Baseline: o.baseline, Workloads: o.workloads, Runs: o.runs, Warmup: o.warmup,
		Seed: o.seed, Settle: o.settle, KeepCaches: o.keep, Leave: o.leave, Floor: &bench.Floor{Command: []string{self, "bench", "floor"}, Driver: o.driver},
	}
	opts.Warn = func(what string) { fmt.Fprintf(s.Err, "%s %s\n", s.colour(yellow, "doubtful:"), what) }
	if o.warmup == 0 {
		opts.Warmup = -1
	}
	if o.settle == 0 || o.small {
		opts.Settle = -1
	}
	if o.small {
		opts.Sizes, opts.KeepCaches = workload.Tiny, true
	}
	done, err := observe(ctx, o, &opts)
	if err != nil {
		return err
	}
	defer done()
	if _, err := workload.Select(o.workloads, workload.Full); err != nil {
		return control.Errorf(control.KindUsage, "bench: %w; vfsctl bench --list has them", err)
	}
	r, err := bench.Run(ctx, opts, func(p bench.Progress) {
		run := fmt.Sprintf("run %d of %d", p.Run, p.Runs)
		if p.Run == 0 {
			run = "warm-up"
		}
		fmt.Fprintf(s.Err, "%s, %s, %s: %s\n", p.Workload, p.Directory, run, p.Took.Round(10*time.Microsecond))
	})
	if err != nil {
		return err
	}
	r.Machine.Versions["vfsd"] = daemon.Version + ", " + r.Machine.Versions["vfsd"]
	return showBench(o, s, r)
}

func showBench(o benchOptions, s streams, r *benchreport.Report) error {
	if o.out != "" {
		if err := benchreport.Save(o.out, r); err != nil {
			return err
		}
	}
	if o.json {
		if err := r.WriteJSON(s.Out); err != nil {
			return err
		}
	} else if err := r.WriteMarkdown(s.Out, ""); err != nil {
		return err
	}
	if len(r.Failed()) > 0 {
		return errProblems
	}
	return nil
}

// observe lets the benchmark look at the daemon that serves dir, if one does:
// the requests of the mount, the time that the daemon uses, a snapshot before
// cold runs. done ends the connection.
func observe(ctx context.Context, o benchOptions, opts *bench.Options) (done func(), err error) {
	none := func() {}
	real, err := filepath.EvalSymlinks(opts.Dir)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return none, control.Errorf(control.KindNotFound, "bench: %w", err)
	}
	c := control.Dial(o.data)
	m, pid, ok := mountOf(ctx, c, real)
	if !ok {
		c.Close()
		if o.pack {
			return none, control.Errorf(control.KindNotFound, "bench --pack: no workspace of %s is mounted at %s", o.data, opts.Dir)
		}
		return none, nil
	}
	opts.Counters = func() (map[string]float64, error) {
		ops, err := control.OpsCall.Do(ctx, c, control.OpsRequest{MountPoint: m.MountPoint, MountPointBytes: m.MountPointBytes})
		if err != nil {
			return nil, err
		}
		all, err := bench.ProcessUse(pid)
		if err != nil {
			return nil, err
		}
		counts := maps.Clone(all)
		if counts == nil {
			counts = map[string]float64{}
		}
		for name, n := range ops.Requests {
			counts[name] = float64(n)
		}
		return counts, nil
	}
	if o.pack {
		opts.BeforeCold = func(ctx context.Context) error { return pack(ctx, c, m.Workspace) }
	}
	return c.Close, nil
}

// mountOf finds the mount that a path is in.
func mountOf(ctx context.Context, c *control.Client, path string) (m control.Mount, pid int, ok bool) {
	st, err := control.StatusCall.Do(ctx, c, control.StatusRequest{})
	if err != nil {
		return m, 0, false
	}
	for _, x := range st.Mounts {
		if inside := x.Point() == path || strings.HasPrefix(path, x.Point()+"/"); inside && x.State == control.Mounted {
			return x, st.PID, true
		}
	}
	return m, 0, false
}

// pack makes the engine chunk what is staged, by a snapshot that nobody keeps.
func pack(ctx context.Context, c *control.Client, workspace string) error {
	const name = "bench-pack"
	if _, err := control.SnapshotCall.Do(ctx, c, control.SnapshotRequest{Workspace: workspace, Name: name}); err != nil {
		return err
	}
	_, err := control.RemoveSnapshotCall.Do(ctx, c, control.RemoveSnapshotRequest{Workspace: workspace, Name: name})
	return err
}

const benchScaleLong = `Make workspaces of growing size in a directory of a local disk and measure how
long it takes to open, snapshot, fork, list and scan them, and how much memory a
daemon keeps. With the default sizes that takes an hour and some ten GiB; the
flags bound it. It starts processes of its own and leaves the daemon alone.

    vfsctl bench scale /var/tmp --out results
    vfsctl bench scale /var/tmp --files 10000,100000 --step files`

func newBenchScale(o *options, s streams) *cobra.Command {
	opts := scale.Full("", nil)
	out := ""
	const gib, mib = 1 << 30, 1 << 20
	size, real, staged := opts.SparseSize/gib, opts.SparseReal/mib, opts.Staged/mib
	cmd := &cobra.Command{
		Use:   "scale DIR",
		Short: "Measure how figures grow with the size of a workspace",
		Long:  benchScaleLong,
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Dir, opts.SparseSize, opts.SparseReal, opts.Staged = args[0], size*gib, real*mib, staged*mib
			return runBenchScale(cmd.Context(), o, s, opts, out)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&opts.Steps, "step", nil, "only these `steps`: "+strings.Join(scale.Steps, ", "))
	f.IntSliceVar(&opts.Files, "files", opts.Files, "`sizes` of workspaces, in files")
	f.IntSliceVar(&opts.Entries, "entries", opts.Entries, "`sizes` of one directory, in entries")
	f.IntSliceVar(&opts.Workspaces, "workspaces", opts.Workspaces, "`counts` of sleeping workspaces")
	f.Int64Var(&size, "sparse-size", size, "`GiB` of the sparse file")
	f.Int64Var(&real, "sparse-real", real, "`MiB` that are written into it")
	f.Int64Var(&staged, "staged", staged, "`MiB` that are staged before the checkpoint that is watched")
	f.DurationVar(&opts.Churn, "churn", 0, "change a workspace for so `long` and watch the memory")
	f.StringVar(&opts.Driver, "driver", "", "FUSE `driver`")
	f.StringVar(&opts.Profiles, "profiles", "", "write heap profiles of each step into this `directory`")
	f.StringVar(&out, "out", "", "write the report into this `directory` too")
	return jsonFlag(cmd, o)
}

func runBenchScale(ctx context.Context, o *options, s streams, opts scale.Options, out string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	opts.Command = []string{self, "bench", "child"}
	r, err := scale.Run(ctx, opts, func(what string) { fmt.Fprintln(s.Err, what) })
	if err != nil {
		return err
	}
	if out != "" {
		if err := benchreport.SaveScale(out, r); err != nil {
			return err
		}
	}
	if o.json {
		return r.WriteJSON(s.Out)
	}
	return r.WriteMarkdown(s.Out, nil)
}

// newBenchFloor and newBenchChild are what the benchmarks run as processes of
// their own.
func newBenchFloor(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "floor DRIVER MOUNTPOINT", Short: "Mount a filesystem in memory until the input ends", Hidden: true,
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error { return bench.ServeFloor(args[0], args[1], s.In, s.Out) },
	}
}

func newBenchChild(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "child STEP", Short: "Do one step of bench scale", Hidden: true, Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return scale.Child(cmd.Context(), args[0], s.In, s.Out) },
	}
}
