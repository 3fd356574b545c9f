package scale

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vfsd/vfsd/bench/report"
)

// The steps by name.
const (
	Files       = "files"      // a workspace of many files: open, snapshot, fork, scan, memory
	Directory   = "directory"  // one directory of many entries, listed through a mount
	Sleeping    = "sleeping"   // many workspaces, open and idle
	Sparse      = "sparse"     // a huge file that is mostly a hole
	Background  = "background" // foreground latency while a checkpoint and a collection run
	Churn       = "churn"      // memory over time under change
	allStepsDoc = "files, directory, sleeping, sparse, background, churn"
)

// Steps are the names of all steps.
var Steps = []string{Files, Directory, Sleeping, Sparse, Background, Churn}

// Options say what to measure and how large. A zero size leaves its step out.
type Options struct {
	// Dir is an existing directory on a local disk with room for everything:
	// about 1 KiB a file, and twice SparseReal.
	Dir string
	// Command runs this program so that it calls Child with the argument that
	// is appended.
	Command []string
	Driver  string // of the mounts; "" is the default
	// Profiles is a directory for the heap profiles of the children; "" is none.
	Profiles string

	Steps      []string // none are all
	Files      []int    // sizes of the workspaces
	Entries    []int    // sizes of the directories
	Workspaces []int    // counts of sleeping workspaces
	SparseSize int64    // bytes, hole included
	SparseReal int64    // bytes that are written
	Staged     int64    // bytes that are staged before a checkpoint is watched
	Churn      time.Duration
}

// Full are the sizes of the published figures, without the churn, whose length
// is a matter of patience.
func Full(dir string, command []string) Options {
	return Options{
		Dir: dir, Command: command,
		Files: []int{10_000, 100_000, 1_000_000}, Entries: []int{10_000, 100_000, 1_000_000},
		Workspaces: []int{10, 100, 1000}, SparseSize: 100 << 30, SparseReal: 10 << 30, Staged: 512 << 20,
	}
}

// Run measures. progress, which may be nil, is told what begins. A step that
// cannot run here is listed in the report as skipped; an error is the end of
// everything, with what was measured before in the report.
func Run(ctx context.Context, o Options, progress func(string)) (*report.Scale, error) {
	if progress == nil {
		progress = func(string) {}
	}
	for _, s := range o.Steps {
		if !slices.Contains(Steps, s) {
			return nil, fmt.Errorf("no step %q; there are %s", s, strings.Join(Steps, ", "))
		}
	}
	dir, err := os.MkdirTemp(o.Dir, "bench-scale-")
	if err != nil {
		return nil, fmt.Errorf("bench scale: %w", err)
	}
	started := time.Now()
	r := &runner{o: o, dir: dir, progress: progress, out: &report.Scale{
		Version: report.Version, Started: started.UTC().Truncate(time.Second), Machine: report.Describe(nil),
	}}
	err = r.all(ctx)
	r.out.Seconds = time.Since(started).Seconds()
	return r.out, errors.Join(err, os.RemoveAll(dir))
}

// runner is one call of Run.
type runner struct {
	o        Options
	dir      string
	progress func(string)
	out      *report.Scale
}

func (r *runner) all(ctx context.Context) error {
	for _, s := range []struct {
		name string
		run  func(context.Context) error
	}{
		{Files, r.files}, {Directory, r.directories}, {Sleeping, r.sleeping},
		{Sparse, r.sparse}, {Background, r.background}, {Churn, r.churn},
	} {
		if len(r.o.Steps) > 0 && !slices.Contains(r.o.Steps, s.name) {
			continue
		}
		if err := s.run(ctx); err != nil {
			return fmt.Errorf("bench scale, %s: %w", s.name, err)
		}
	}
	return nil
}

// fresh makes a data directory's place that is gone after use.
func (r *runner) fresh(name string, use func(dir string) error) error {
	dir := filepath.Join(r.dir, name)
	return errors.Join(use(dir), os.RemoveAll(dir))
}

// add puts a figure of a child into the report.
func (r *runner) add(c report.Curve, at float64, f figures) {
	if v, ok := f[c.Name]; ok {
		r.out.Add(c, at, v)
	}
}

// million is where the limits of files and entries are set.
const million = 1_000_000

// fileCurves are what the files step measures.
var fileCurves = []report.Curve{
	{Name: "create", Title: "create a file with 64 bytes, Go API", Of: "files", Unit: "us"},
	{Name: "checkpoint", Title: "checkpoint of all files", Of: "files", Unit: "ms"},
	{Name: "store", Title: "open a data directory", Of: "files", Unit: "ms"},
	{Name: "open", Title: "open a workspace", Of: "files", Unit: "ms", Limit: 50, LimitAt: million},
	{Name: "lookup", Title: "first lookup of a path of three names", Of: "files", Unit: "ms"},
	{Name: "snapshot", Title: "snapshot after one change", Of: "files", Unit: "ms", Limit: 10, LimitAt: million},
	{Name: "fork", Title: "fork", Of: "files", Unit: "ms", Limit: 10, LimitAt: million},
	{Name: "scan", Title: "scan of all attributes, Go API", Of: "files", Unit: "ms"},
	{Name: "memory", Title: "resident memory after the scan", Of: "files", Unit: "MiB", Limit: 200, LimitAt: million},
	{Name: "heap", Title: "live heap after the scan", Of: "files", Unit: "MiB"},
}

var (
	walkCurve       = report.Curve{Name: "walk", Title: "walk with stat through the mount", Of: "files", Unit: "ms"}
	walkMemoryCurve = report.Curve{Name: "walk-memory", Title: "resident memory after the walk, kernel holding all", Of: "files", Unit: "MiB", Limit: 200, LimitAt: million}
)

func (r *runner) files(ctx context.Context) error {
	for _, n := range r.o.Files {
		err := r.fresh("files", func(dir string) error {
			r.progress(fmt.Sprintf("fill a workspace with %d files", n))
			fill, err := r.child(ctx, step{Name: "fill", Dir: dir, Count: n, PerDir: 100})
			if err != nil {
				return err
			}
			r.progress("open, snapshot, fork and scan it")
			look, err := r.child(ctx, step{Name: "look", Dir: dir, Count: n, PerDir: 100})
			if err != nil {
				return err
			}
			for _, c := range fileCurves {
				r.add(c, float64(n), fill)
				r.add(c, float64(n), look)
			}
			r.progress("walk it through a mount")
			return r.walk(ctx, dir, n)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// walk stats everything through a mount.
func (r *runner) walk(ctx context.Context, dir string, n int) error {
	m, err := r.serve(ctx, dir, n)
	if err != nil {
		return r.skip(ctx, "walk through a mount", err)
	}
	start := time.Now()
	seen, err := countFiles(m.point)
	took := time.Since(start)
	if want := n + 1; err == nil && seen != want { // "look" made one more
		err = fmt.Errorf("%d files seen through the mount, want %d", seen, want)
	}
	f, merr := m.memory()
	if err := errors.Join(err, merr, m.stop()); err != nil {
		return err
	}
	r.out.Add(walkCurve, float64(n), ms(took))
	r.out.Add(walkMemoryCurve, float64(n), f["memory"])
	return nil
}

// skip notes a step that this machine cannot do; the end of ctx is an error.
func (r *runner) skip(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.out.Skipped = append(r.out.Skipped, fmt.Sprintf("%s: %v", what, err))
	return nil
}

var (
	listCurve      = report.Curve{Name: "list", Title: "list one directory through the mount", Of: "entries", Unit: "ms"}
	listDiskCurve  = report.Curve{Name: "list-disk", Title: "list one directory on the local disk", Of: "entries", Unit: "ms"}
	listRatioCurve = report.Curve{Name: "list-ratio", Title: "list one directory, mount against disk", Of: "entries", Unit: "ratio", Limit: 3, LimitAt: million}
	// What people type, through the mount: case M42 bounds each by a minute.
	listToolCurves = []report.Curve{
		{Name: "ls-f", Title: "ls -f of one directory", Of: "entries", Unit: "ms", Limit: 60_000, LimitAt: million},
		{Name: "ls-l", Title: "ls -l of one directory", Of: "entries", Unit: "ms", Limit: 60_000, LimitAt: million},
		{Name: "find", Title: "find in one directory", Of: "entries", Unit: "ms", Limit: 60_000, LimitAt: million},
	}
	listToolMemoryCurve = report.Curve{Name: "ls-memory", Title: "resident memory after ls -f, ls -l and find", Of: "entries", Unit: "MiB", Limit: 512, LimitAt: million}
	listMemoryCurve     = report.Curve{Name: "list-memory", Title: "resident memory after the listing", Of: "entries", Unit: "MiB", Limit: 512, LimitAt: million}
)

func (r *runner) directories(ctx context.Context) error {
	for _, n := range r.o.Entries {
		err := r.fresh("directory", func(dir string) error {
			r.progress(fmt.Sprintf("fill a directory with %d entries, in a workspace and on the disk", n))
			if _, err := r.child(ctx, step{Name: "fill", Dir: dir, Count: n, PerDir: n}); err != nil {
				return err
			}
			plain := filepath.Join(dir, "plain")
			if err := fillPlain(ctx, plain, n); err != nil {
				return err
			}
			r.progress("list them")
			return r.list(ctx, dir, plain, n)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// list lists a directory through a mount, and its like on the local disk.
func (r *runner) list(ctx context.Context, dir, plain string, n int) error {
	m, err := r.serve(ctx, dir, n)
	if err != nil {
		return r.skip(ctx, "list through a mount", err)
	}
	mounted, err := timedList(filepath.Join(m.point, "d0"), n)
	f, merr := m.memory()
	tools, terr := listByTools(ctx, filepath.Join(m.point, "d0"), n)
	after, aerr := m.memory()
	if err := errors.Join(err, merr, terr, aerr, m.stop()); err != nil {
		return err
	}
	disk, err := timedList(plain, n)
	if err != nil {
		return err
	}
	r.out.Add(listCurve, float64(n), ms(mounted))
	r.out.Add(listDiskCurve, float64(n), ms(disk))
	r.out.Add(listRatioCurve, float64(n), ms(mounted)/ms(disk))
	r.out.Add(listMemoryCurve, float64(n), f["memory"])
	for _, c := range listToolCurves {
		r.add(c, float64(n), tools)
	}
	r.out.Add(listToolMemoryCurve, float64(n), after["memory"])
	return nil
}

var sleepingCurves = []report.Curve{
	{Name: "wake", Title: "open all workspaces", Of: "workspaces", Unit: "ms"},
	{Name: "memory", Title: "resident memory, all workspaces open and idle", Of: "workspaces", Unit: "MiB"},
	{Name: "memory-more", Title: "more resident memory than with none", Of: "workspaces", Unit: "MiB", Limit: 64, LimitAt: 1000},
}

func (r *runner) sleeping(ctx context.Context) error {
	for _, n := range r.o.Workspaces {
		err := r.fresh("sleeping", func(dir string) error {
			r.progress(fmt.Sprintf("make %d workspaces", n))
			if _, err := r.child(ctx, step{Name: "many", Dir: dir, Count: n}); err != nil {
				return err
			}
			r.progress("open them all")
			f, err := r.child(ctx, step{Name: "sleep", Dir: dir, Count: n})
			if err != nil {
				return err
			}
			for _, c := range sleepingCurves {
				if v, ok := f[c.Name]; ok {
					c.Name = "sleeping-" + c.Name
					r.out.Add(c, float64(n), v)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var sparseCurves = []report.Curve{
	{Name: "sparse-write", Title: "write spread over a sparse file", Of: "MiB", Unit: "MiB/s"},
	{Name: "sparse-checkpoint", Title: "checkpoint of the sparse file", Of: "MiB", Unit: "MiB/s"},
	{Name: "sparse-allocated", Title: "allocated for the sparse file", Of: "MiB", Unit: "MiB"},
	{Name: "sparse-map", Title: "find all data of the sparse file with SEEK_DATA", Of: "MiB", Unit: "ms"},
	{Name: "sparse-read", Title: "read the data of the sparse file, verified", Of: "MiB", Unit: "MiB/s"},
	{Name: "sparse-memory", Title: "resident memory after reading the sparse file", Of: "MiB", Unit: "MiB"},
}

func (r *runner) sparse(ctx context.Context) error {
	if r.o.SparseSize == 0 || r.o.SparseReal == 0 {
		return nil
	}
	return r.fresh("sparse", func(dir string) error {
		r.progress(fmt.Sprintf("write %d MiB into a file of %d MiB", r.o.SparseReal>>20, r.o.SparseSize>>20))
		s := step{Name: "sparse-fill", Dir: dir, Size: r.o.SparseSize, Real: r.o.SparseReal}
		wrote, err := r.child(ctx, s)
		if err != nil {
			return err
		}
		r.progress("read it back")
		s.Name = "sparse-look"
		read, err := r.child(ctx, s)
		if err != nil {
			return err
		}
		for _, c := range sparseCurves {
			r.add(c, float64(r.o.SparseReal>>20), wrote)
			r.add(c, float64(r.o.SparseReal>>20), read)
		}
		return nil
	})
}

var backgroundCurves = []report.Curve{
	{Name: "quiet-p50", Title: "create+write, nothing else running, p50", Of: "MiB", Unit: "us"},
	{Name: "quiet-p99", Title: "create+write, nothing else running, p99", Of: "MiB", Unit: "us"},
	{Name: "checkpoint-p50", Title: "create+write during a checkpoint, p50", Of: "MiB", Unit: "us"},
	{Name: "checkpoint-p99", Title: "create+write during a checkpoint, p99", Of: "MiB", Unit: "us"},
	{Name: "gc-p50", Title: "create+write during a collection, p50", Of: "MiB", Unit: "us"},
	{Name: "gc-p99", Title: "create+write during a collection, p99", Of: "MiB", Unit: "us"},
	{Name: "quiet-max", Title: "create+write, nothing else running, longest", Of: "MiB", Unit: "us"},
	{Name: "checkpoint-max", Title: "create+write during a checkpoint, longest", Of: "MiB", Unit: "us"},
	{Name: "gc-max", Title: "create+write during a collection, longest", Of: "MiB", Unit: "us"},
	{Name: "checkpoint-slower", Title: "p99 during a checkpoint against quiet", Of: "MiB", Unit: "ratio", Limit: 2},
	{Name: "gc-slower", Title: "p99 during a collection against quiet", Of: "MiB", Unit: "ratio", Limit: 2},
}

func (r *runner) background(ctx context.Context) error {
	if r.o.Staged == 0 {
		return nil
	}
	return r.fresh("background", func(dir string) error {
		r.progress(fmt.Sprintf("watch the foreground while %d MiB are chunked and collected", r.o.Staged>>20))
		f, err := r.child(ctx, step{Name: "background", Dir: dir, Real: r.o.Staged})
		if err != nil {
			return err
		}
		for _, c := range backgroundCurves {
			c.LimitAt = float64(r.o.Staged >> 20)
			r.add(c, float64(r.o.Staged>>20), f)
		}
		return nil
	})
}

var churnCurves = []report.Curve{
	{Name: "churn-memory", Title: "resident memory under churn", Of: "seconds", Unit: "MiB"},
	{Name: "churn-heap", Title: "live heap under churn", Of: "seconds", Unit: "MiB"},
	{Name: "churn-disk", Title: "bytes in packs and staging under churn", Of: "seconds", Unit: "MiB"},
}

func (r *runner) churn(ctx context.Context) error {
	if r.o.Churn <= 0 {
		return nil
	}
	return r.fresh("churn", func(dir string) error {
		r.progress(fmt.Sprintf("change a workspace for %s", r.o.Churn))
		return r.stream(ctx, step{Name: "churn", Dir: dir, Duration: r.o.Churn}, func(f figures) {
			for _, c := range churnCurves {
				r.add(c, f["at"], f)
			}
		})
	})
}
