package syncbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// Options say what to measure.
type Options struct {
	Dir      string          // scratch; what is made there is removed
	Vfsctl   string          // the program, with vfsd beside it; without it only the others are measured
	RTTs     []time.Duration // of the link
	Programs []string        // of Programs(); none means all that are installed
	Size     Size
	Seed     uint64
	Progress func(program, step string, rtt time.Duration)
}

// Result is one step of one program over one link.
type Result struct {
	Program string        `json:"program"`
	Step    string        `json:"step"`
	RTT     time.Duration `json:"rtt"`    // ns
	Out     int64         `json:"out"`    // bytes from the side that edited
	In      int64         `json:"in"`     // bytes to it
	Turns   int64         `json:"turns"`  // changes of direction on the wire
	Before  time.Duration `json:"before"` // ns spent before the wire: git add and commit
	Took    time.Duration `json:"took"`   // ns
}

// program brings a tree to another place.
type program interface {
	// begin prepares both places; tree is where the edits are made, once begin
	// has returned. It may be asked to hold it somewhere of its own.
	begin(ctx context.Context, e *env) (tree string, err error)
	// prepare is what comes before the wire.
	prepare(ctx context.Context, e *env) error
	// sync brings the tree over.
	sync(ctx context.Context, e *env) error
	// arrived returns a directory that holds what arrived, to be compared.
	arrived(ctx context.Context, e *env) (string, error)
	// end stops what begin started.
	end(e *env) error
}

// env is where a program works.
type env struct {
	dir  string // of this program alone
	link *link
	o    *Options
	rtt  time.Duration
}

type named struct {
	name string
	need string // a command that must be installed
	make func() program
}

var programs = []named{
	{"vfsd", "", func() program { return &vfsd{} }},
	{"rsync", "rsync", func() program { return &rsync{} }},
	{"unison", "unison", func() program { return &unison{} }},
	{"git", "git", func() program { return &git{} }},
}

// Programs returns the names of what can be measured.
func Programs() []string {
	var names []string
	for _, p := range programs {
		names = append(names, p.name)
	}
	return names
}

// ErrNotEqual says that what arrived is not what was sent.
var ErrNotEqual = errors.New("what arrived differs from what was sent")

// Run measures every program over every link. A program that is not installed
// is returned in missing.
func Run(ctx context.Context, o Options) (results []Result, missing []string, err error) {
	if len(o.Programs) == 0 {
		o.Programs = Programs()
	}
	for _, p := range programs {
		if !slices.Contains(o.Programs, p.name) {
			continue
		}
		if _, err := exec.LookPath(p.need); p.need != "" && err != nil || p.need == "" && o.Vfsctl == "" {
			missing = append(missing, p.name)
			continue
		}
		for _, rtt := range o.RTTs {
			rows, err := measure(ctx, &o, p, rtt)
			if err != nil {
				return results, missing, fmt.Errorf("%s over a link of %v: %w", p.name, rtt, err)
			}
			results = append(results, rows...)
		}
	}
	return results, missing, nil
}

func measure(ctx context.Context, o *Options, n named, rtt time.Duration) (rows []Result, err error) {
	dir, err := os.MkdirTemp(o.Dir, n.name+"-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	e := &env{dir: dir, o: o, rtt: rtt}
	p := n.make()
	tree, err := p.begin(ctx, e)
	defer func() { err = errors.Join(err, p.end(e)) }()
	if err != nil {
		return nil, err
	}
	if err := makeTree(tree, o.Size, o.Seed); err != nil {
		return nil, err
	}
	for _, step := range steps {
		if o.Progress != nil {
			o.Progress(n.name, step.Name, rtt)
		}
		if err := step.Do(tree, o.Size); err != nil {
			return rows, err
		}
		begun := time.Now()
		if err := p.prepare(ctx, e); err != nil {
			return rows, fmt.Errorf("%s: %w", step.Name, err)
		}
		e.link.reset(rtt)
		wire := time.Now()
		if err := p.sync(ctx, e); err != nil {
			return rows, fmt.Errorf("%s: %w", step.Name, err)
		}
		took := time.Since(wire)
		rows = append(rows, Result{Program: n.name, Step: step.Name, RTT: rtt, Out: e.link.up.Load(), In: e.link.down.Load(),
			Turns: e.link.turns.Load(), Before: wire.Sub(begun), Took: took})
		there, err := p.arrived(ctx, e)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", step.Name, err)
		}
		if err := equal(ctx, tree, there); err != nil {
			return rows, fmt.Errorf("%s: %w", step.Name, err)
		}
	}
	return rows, nil
}

// equal compares the names and bytes of two trees with diff, so that no program
// is its own judge.
func equal(ctx context.Context, a, b string) error {
	out, err := exec.CommandContext(ctx, "diff", "-rq", "--exclude=.git", a, b).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		first, _, _ := bytes.Cut(out, []byte("\n"))
		return fmt.Errorf("%w: %s", ErrNotEqual, first)
	}
	return err
}

// command runs a program and puts what it said into its error.
func command(ctx context.Context, dir string, environ []string, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environ...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(args[0]), err, bytes.TrimSpace(out))
	}
	return nil
}
