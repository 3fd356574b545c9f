package workload

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/bench/data"
)

func env(t *testing.T) *Env {
	t.Helper()
	e := &Env{Kept: t.TempDir(), Work: filepath.Join(t.TempDir(), "work"), Shared: t.TempDir(), Sizes: Tiny, Seed: 5, Base: 6}
	if err := os.Mkdir(e.Work, 0o755); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestChecksNotice runs each workload that has a check, then undoes its work:
// the check must accept the one and refuse the other.
func TestChecksNotice(t *testing.T) {
	for _, w := range All(Tiny) {
		if w.Check == nil || w.Floor { // the floor row repeats another
			continue
		}
		t.Run(w.Name, func(t *testing.T) {
			if missing := w.Missing(); len(missing) > 0 {
				t.Skipf("%v not found; install what is missing to run this", missing)
			}
			e, ctx := env(t), context.Background()
			for _, step := range []func(context.Context, *Env) error{w.Prepare, w.Setup, w.Run, w.Check} {
				if step == nil {
					continue
				}
				if err := step(ctx, e); err != nil {
					t.Fatal(err)
				}
			}
			undo(t, e)
			if w.Check(ctx, e) == nil {
				t.Error("the check accepts a directory where nothing is as it should be")
			}
		})
	}
}

// undo empties what is full and fills what is empty.
func undo(t *testing.T, e *Env) {
	t.Helper()
	removed := 0
	for _, dir := range []string{e.Work, e.Kept} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for _, x := range entries {
			removed++
			if err := os.RemoveAll(filepath.Join(dir, x.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	if removed > 0 {
		return
	}
	if err := os.MkdirAll(e.Work, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(e.work("extra"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestWrongBytesAreSeen damages the big file under the readers that compare.
func TestWrongBytesAreSeen(t *testing.T) {
	ctx := context.Background()
	for name, run := range map[string]func(context.Context, *Env) error{
		"mmap in order": mapSequential, "mmap at random": mapRandom, "reads at random": randomReads,
		"check": func(_ context.Context, e *Env) error { return checkBig(e.work("big"), e) },
	} {
		e := env(t)
		if err := writeNew(ctx, e); err != nil {
			t.Fatal(err)
		}
		if err := run(ctx, e); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		damaged := make([]byte, e.Sizes.Big)
		data.Mixed(data.New(99, 0), damaged)
		if err := os.WriteFile(e.work("big"), damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		if run(ctx, e) == nil {
			t.Errorf("%s: wrong bytes were not seen", name)
		}
		if err := os.Truncate(e.work("big"), 10); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(name, "mmap") && run(ctx, e) == nil { // a mapping past the end is a signal
			t.Errorf("%s: a short file was not seen", name)
		}
	}
}

func TestSelect(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range All(Full) {
		if seen[w.Name] {
			t.Errorf("two workloads are called %s", w.Name)
		}
		seen[w.Name] = true
	}
	all, err := Select(nil, Full)
	if err != nil || len(all) != len(seen) {
		t.Errorf("Select of nothing: %d of %d (%v)", len(all), len(seen), err)
	}
	some, err := Select([]string{"parallel-*", "cp"}, Full)
	if err != nil || len(some) != 7 || some[6].Name != "cp" {
		t.Errorf("Select: %d workloads (%v)", len(some), err)
	}
	for _, bad := range []string{"", "none", "none*"} {
		if _, err := Select([]string{bad}, Full); err == nil {
			t.Errorf("%q was found", bad)
		}
	}
}

// TestInput sees that an input is made once, and not left half made.
func TestInput(t *testing.T) {
	e, made := env(t), 0
	broken := errors.New("no more disk")
	if _, err := e.input("x", func(path string) error {
		return errors.Join(os.WriteFile(path, []byte("half"), 0o644), broken)
	}); !errors.Is(err, broken) {
		t.Fatalf("input: %v", err)
	}
	for range 2 {
		path, err := e.input("x", func(path string) error {
			made++
			return os.WriteFile(path, []byte("whole"), 0o644)
		})
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "whole" {
			t.Errorf("the input holds %q (%v)", b, err)
		}
	}
	if made != 1 {
		t.Errorf("made %d times", made)
	}
	if left, err := os.ReadDir(e.Shared); err != nil || len(left) != 1 {
		t.Errorf("in the shared directory: %v (%v)", left, err)
	}
}

// TestCommandsSayWhy sees that a failing tool's own words are in the error.
func TestCommandsSayWhy(t *testing.T) {
	err := env(t).script(context.Background(), "/", "echo it is full >&2; exit 7")
	if err == nil || !strings.Contains(err.Error(), "it is full") || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("the error is %v", err)
	}
}

func TestLatencies(t *testing.T) {
	e := env(t)
	e.Observe(time.Second)
	e.Observe(2 * time.Second)
	if l := e.Latencies(); len(l) != 2 || l[1] != 2*time.Second {
		t.Errorf("latencies %v", l)
	}
	if l := e.Latencies(); len(l) != 0 {
		t.Errorf("latencies are there again: %v", l)
	}
}
