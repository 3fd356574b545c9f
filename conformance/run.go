package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/vfsd/vfsd/conformance/internal/harness"
	"github.com/vfsd/vfsd/conformance/internal/posix"
)

// ErrUnsupported is returned on systems that are not Linux: the cases make
// Linux' system calls.
var ErrUnsupported = errors.New("the conformance suite runs on Linux")

// Status is what became of a case.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped" // Reason says why
	Differs Status = "differs" // failed, as declared; Reason says why
)

// Options say what runs where.
type Options struct {
	// Dir is a directory of the file system under test. The suite works in a
	// fresh directory below it and removes that.
	Dir string
	// Second is Dir by another mount of the same files; empty if there is
	// none.
	Second string
	// Groups limits the run to these groups; empty is all.
	Groups []string
	// Match limits the run to cases whose names match one of these patterns,
	// in which * stands for any run of characters, slashes included.
	Match []string
	// FS names the file system for Differences; empty is what statfs says
	// ("ext4", "tmpfs", "fuse").
	FS string
	// PowerCut makes the file system under test lose whatever is not durable,
	// as a power cut would, and come back with Dir in the same place. With nil
	// the cases that need it are skipped.
	PowerCut func() error
	// Workers is how many cases run at a time; 0 is eight, for they wait more
	// than they compute.
	Workers int
	// Timeout is when a case counts as hanging; 0 is two minutes.
	Timeout time.Duration
	// Short leaves out the cases that take seconds each.
	Short bool
}

// Result is what became of one case.
type Result struct {
	Name     string   `json:"name"`
	Group    string   `json:"group"`
	Status   Status   `json:"status"`
	Passed   int      `json:"passed"` // assertions
	Failed   int      `json:"failed"` // assertions; what they are is Status' to say
	Reason   string   `json:"reason,omitempty"`
	Failures []string `json:"failures,omitempty"` // some of them, each with its place
	Took     float64  `json:"seconds"`
}

// ChildMain turns a process that the suite started into what it was started
// for, and does not return; in any other process it does nothing.
func ChildMain() { harness.ChildMain() }

// Groups lists the groups in their order.
func Groups() []string { return slices.Clone(posix.Groups) }

// Run runs the suite and hands each result to report (nil to do without), one
// at a time, in the order in which the cases end. The error is about the run
// itself; failed cases are in the Summary.
func Run(ctx context.Context, o Options, report func(Result)) (Summary, error) {
	s := newSummary()
	if runtime.GOOS != "linux" {
		return s, ErrUnsupported
	}
	cases, err := pick(o)
	if err != nil {
		return s, err
	}
	cfg, done, err := prepare(o)
	if err != nil {
		return s, err
	}
	s.FS, s.Kernel, s.Root = cfg.Env.Type, cfg.Env.Kernel, cfg.Env.Root
	if o.FS != "" {
		s.FS = o.FS
	}
	begun := time.Now()
	harness.Run(ctx, cfg, cases, func(out harness.Outcome) {
		r := judge(out, s.FS, cfg.Env)
		s.add(r)
		if report != nil {
			report(r)
		}
	})
	s.Seconds = time.Since(begun).Seconds()
	if err := done(); err != nil {
		return s, err
	}
	return s, ctx.Err()
}

// pick returns the cases that the options ask for.
func pick(o Options) ([]harness.Case, error) {
	for _, g := range o.Groups {
		if !slices.Contains(posix.Groups, g) {
			return nil, fmt.Errorf("no group %q; the groups are %s", g, strings.Join(posix.Groups, ", "))
		}
	}
	var cases []harness.Case
	for _, c := range posix.Suite().Cases {
		if len(o.Groups) > 0 && !slices.Contains(o.Groups, c.Group) {
			continue
		}
		if len(o.Match) > 0 && !slices.ContainsFunc(o.Match, func(p string) bool { return Match(p, c.Name) }) {
			continue
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("no case matches")
	}
	return cases, nil
}

// prepare makes the run's directory; done removes it.
func prepare(o Options) (cfg *harness.Config, done func() error, err error) {
	abs, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, nil, fmt.Errorf("find %s: %w", o.Dir, err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, nil, fmt.Errorf("find %s: %w", o.Dir, err)
	}
	dir, err := os.MkdirTemp(abs, "conformance-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a directory to work in: %w", err)
	}
	done = func() error { return os.RemoveAll(dir) }
	// Everybody passes through, whatever the umask.
	if err = os.Chmod(dir, 0o755); err == nil {
		cfg = &harness.Config{Dir: dir, Workers: o.Workers, Timeout: o.Timeout, Short: o.Short, PowerCut: o.PowerCut}
		if o.Second != "" {
			cfg.Second = filepath.Join(o.Second, filepath.Base(dir))
		}
		cfg.Env, err = harness.NewEnv(dir)
	}
	if err == nil && cfg.Env.Type == "ext4" {
		err = harness.Spread(dir)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("look at %s: %w", o.Dir, err), done())
	}
	if cfg.Workers == 0 {
		cfg.Workers = 8
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 2 * time.Minute
	}
	return cfg, done, nil
}

// judge makes a result of an outcome, in the light of what is declared.
func judge(out harness.Outcome, fs string, env *harness.Env) Result {
	r := Result{
		Name: out.Case.Name, Group: out.Case.Group, Passed: out.Passed, Failed: out.Failed,
		Failures: out.Failures, Took: out.Took.Seconds(),
	}
	d := declared(fs, out.Case.Name, env)
	switch {
	case out.Failed > 0 && d != nil:
		r.Status, r.Reason = Differs, d.Reason
	case out.Failed > 0:
		r.Status = Failed
	case out.Skip != "":
		r.Status, r.Reason = Skipped, out.Skip
	case d != nil:
		r.Status, r.Failed = Failed, 1
		r.Failures = []string{"the declared difference does not show: " + d.Reason}
	default:
		r.Status = Passed
	}
	return r
}
