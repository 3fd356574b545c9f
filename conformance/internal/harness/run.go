package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"sort"
	"sync"
	"time"
)

// Config says where and how cases run.
type Config struct {
	Dir    string // absolute; each case gets a fresh directory below it
	Second string // the same files by another mount, or empty
	// PowerCut makes the file system lose what is not durable and come back in
	// the same place; nil when that cannot be had.
	PowerCut func() error
	// Workers is how many cases run at a time.
	Workers int
	// Timeout is when a case counts as hanging: it fails, and its thread is
	// left behind.
	Timeout time.Duration
	Short   bool // leave out Long cases
	// Env is found by NewEnv.
	Env *Env
}

// Outcome is what became of a case. Its numbers count assertions.
type Outcome struct {
	Case     *Case
	Passed   int
	Failed   int
	Failures []string // some of them, each with its place
	Skip     string   // why the case could not be judged; empty when it was
	Took     time.Duration
}

// Run runs cases and hands each outcome to report, one at a time, in the
// order in which they end. It returns early, without an error, when ctx ends:
// what did not run is not reported.
func Run(ctx context.Context, cfg *Config, cases []Case, report func(Outcome)) {
	var together, alone []*Case
	for i := range cases {
		if cases[i].Alone {
			alone = append(alone, &cases[i])
		} else {
			together = append(together, &cases[i])
		}
	}
	// Long ones first: they would be the tail that everyone waits for.
	sort.SliceStable(together, func(i, j int) bool { return together[i].Long && !together[j].Long })
	r := &runner{cfg: cfg, process: newProcessState(), report: report}
	r.runAll(ctx, together, cfg.Workers)
	r.runAll(ctx, alone, 1)
}

type runner struct {
	cfg     *Config
	process *processState

	mu     sync.Mutex // guards serial, and orders the calls of report
	serial int
	report func(Outcome)
}

func (r *runner) runAll(ctx context.Context, cases []*Case, workers int) {
	queue := make(chan *Case)
	var wg sync.WaitGroup
	for range max(workers, 1) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for c := range queue {
				o := r.run(c)
				r.mu.Lock()
				r.report(o)
				r.mu.Unlock()
			}
		}()
	}
feed:
	for _, c := range cases {
		select {
		case queue <- c:
		case <-ctx.Done():
			break feed
		}
	}
	close(queue)
	wg.Wait()
}

func (r *runner) run(c *Case) Outcome {
	o := Outcome{Case: c}
	if c.Long && r.cfg.Short {
		o.Skip = "takes seconds: left out of a short run"
		return o
	}
	r.mu.Lock()
	r.serial++
	// ext4 places a directory by the hash of its name (see Spread): the random
	// part keeps a run out of where the last one was.
	dir := filepath.Join(r.cfg.Dir, fmt.Sprintf("%d-%x", r.serial, rand.Uint32()))
	r.mu.Unlock()
	if err := os.Mkdir(dir, 0o755); err != nil {
		o.Failed, o.Failures = 1, []string{"setup: " + err.Error()}
		return o
	}
	t := &T{Env: r.cfg.Env, name: c.Name, dir: dir, cfg: r.cfg, process: r.process}
	begun := time.Now()
	done := make(chan struct{})
	go onThread(done, func() { t.runCase(c) })
	select {
	case <-done:
		if err := removeTree(dir); err != nil {
			t.fail("cleanup: " + err.Error())
		}
	case <-time.After(r.cfg.Timeout):
		t.fail(fmt.Sprintf("hangs: not done within %v", r.cfg.Timeout))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	o.Passed, o.Failed, o.Skip, o.Took = t.passed, t.failed, t.skip, time.Since(begun)
	o.Failures = append(o.Failures, t.failures...)
	return o
}

// runCase runs c on the thread that is its own by now.
func (t *T) runCase(c *Case) {
	if err := t.enter(); err != nil {
		t.fail("setup: " + err.Error())
		return
	}
	defer t.closeAll()
	defer t.runCleanups()
	defer t.recoverCase()
	c.Run(t)
}

// recoverCase turns the panic that ends a case into its outcome.
func (t *T) recoverCase() {
	switch p := recover().(type) {
	case nil, stopCase:
	default:
		t.fail(fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
	}
}

func (t *T) runCleanups() {
	defer t.recoverCase()
	for {
		t.mu.Lock()
		n := len(t.cleanups)
		if n == 0 {
			t.mu.Unlock()
			return
		}
		fn := t.cleanups[n-1]
		t.cleanups = t.cleanups[:n-1]
		t.mu.Unlock()
		fn()
	}
}

// removeTree removes a case's directory, which may have directories that
// forbid it to their owner.
func removeTree(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	// The walk's own errors are those of directories that vanish or resist;
	// what matters is whether the second removal works.
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
