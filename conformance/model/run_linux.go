package model

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
)

// Options say what to compare and for how long.
type Options struct {
	A, B  string // existing directories; both get a fresh directory that is removed at the end
	Seed  int64
	Steps int
	// Every is after how many steps the whole trees are compared; 0 is 25.
	Every int
	// Pause, when set, is called after each comparison that found no
	// difference: to remount what is under test, or to restart its daemon. No
	// file is open then. It is not called while a failure is made shorter.
	Pause func() error
}

// Failure is a difference, and the shortest history found that leads to one.
type Failure struct {
	Seed  int64
	What  string
	steps []step
}

// Script returns the history as a shell script, to be run in an empty directory.
func (f *Failure) Script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/bash\n# seed %d: %s\n", f.Seed, strings.ReplaceAll(f.What, "\n", "\n# "))
	for i := range f.steps {
		fmt.Fprintln(&b, f.steps[i].shell())
	}
	return b.String()
}

// Run drives both directories and returns the first difference, or nil. An
// error is about the run itself.
func Run(ctx context.Context, o Options) (*Failure, error) {
	if o.Every == 0 {
		o.Every = 25
	}
	r := rand.New(rand.NewSource(o.Seed))
	steps := make([]step, o.Steps)
	for i := range steps {
		steps[i] = randomStep(r)
	}
	what, at, err := o.play(ctx, steps, o.Pause)
	if err != nil || what == "" {
		return nil, err
	}
	f := &Failure{Seed: o.Seed, What: what, steps: steps[:at+1]}
	return f, o.shorten(ctx, f)
}

// shorten leaves out ever smaller runs of steps as long as something differs.
func (o *Options) shorten(ctx context.Context, f *Failure) error {
	for size := len(f.steps) / 2; size >= 1; size /= 2 {
		for from := 0; from+size <= len(f.steps); {
			fewer := append(append([]step(nil), f.steps[:from]...), f.steps[from+size:]...)
			what, at, err := o.play(ctx, fewer, nil)
			if err != nil {
				return err
			}
			if what == "" {
				from += size
				continue
			}
			f.What, f.steps = what, fewer[:at+1]
		}
	}
	return nil
}

// play runs a history in fresh directories and returns the first difference and
// the step that showed it.
func (o *Options) play(ctx context.Context, steps []step, pause func() error) (what string, at int, err error) {
	a, err := fresh(o.A)
	if err != nil {
		return "", 0, err
	}
	defer a.remove()
	b, err := fresh(o.B)
	if err != nil {
		return "", 0, err
	}
	defer b.remove()
	for i := range steps {
		if err := ctx.Err(); err != nil {
			return "", i, err
		}
		s := &steps[i]
		if x, y := a.do(s), b.do(s); x != y {
			return fmt.Sprintf("step %d, %s: %q there, %q here", i, s.shell(), x, y), i, nil
		}
		if i%o.Every != o.Every-1 && i != len(steps)-1 {
			continue
		}
		if what, err := compare(a, b); err != nil || what != "" {
			return what, i, err
		}
		if pause != nil {
			a.close()
			b.close()
			if err := pause(); err != nil {
				return "", i, err
			}
			if what, err := compare(a, b); err != nil || what != "" {
				return "after a pause: " + what, i, err
			}
		}
	}
	return "", 0, nil
}

func compare(a, b *actor) (string, error) {
	x, err := a.dump()
	if err != nil {
		return "", err
	}
	y, err := b.dump()
	if err != nil {
		return fmt.Sprintf("the tree cannot be read: %v", err), nil
	}
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("there: %s\nhere:  %s", x[i], y[i]), nil
		}
	}
	if len(x) != len(y) {
		return fmt.Sprintf("%d names there, %d here", len(x), len(y)), nil
	}
	return "", nil
}

func fresh(dir string) (*actor, error) {
	root, err := os.MkdirTemp(dir, "model-")
	if err != nil {
		return nil, err
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	return newActor(root), nil
}

func (a *actor) remove() {
	a.close()
	os.RemoveAll(a.root) // what stays is in a directory of the caller's
}
