package workload

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/vfsd/vfsd/bench/data"
	"golang.org/x/sys/unix"
)

// smallSize is what a small file of the tight rows holds.
const smallSize = 1 << 10

func smallTight(s Sizes) []Workload {
	n := count(s.Small)
	const group = "Small files, plain system calls"
	created := func(_ context.Context, e *Env) error { return countEntries(e.Work, e.Sizes.Small) }
	return []Workload{
		{
			Name: "create-tight", Title: "create+write+close " + n, Group: group, Client: Tight,
			Run: createTight, Check: created,
		},
		{
			Name: "create-floor", Title: "create+write+close " + n, Group: group, Client: Tight, Limit: 1.2, Floor: true,
			Run: createTight, Check: created,
		},
		{
			Name: "stat-first", Title: "stat " + n + ", first time", Group: group, Client: Tight, Cold: true,
			Setup: createTight, Run: statTight,
		},
		{
			Name: "stat-again", Title: "stat " + n + ", again", Group: group, Client: Tight,
			Setup: twice(createTight, statTight), Run: statTight,
		},
		{
			Name: "open-read-close", Title: "open+read+close " + n + ", again", Group: group, Client: Tight,
			Setup: twice(createTight, readTight), Run: readTight,
		},
		{
			Name: "open-read-close-cold", Title: "open+read+close " + n + ", cold", Group: group, Client: Tight, Cold: true,
			Setup: createTight, Run: readTight,
		},
		{
			Name: "mkdir-files", Title: fmt.Sprintf("mkdir a tree %dx%[1]dx%[1]d with a file in each leaf", s.Fanout), Group: group, Client: Tight,
			Run: mkdirFiles, Check: checkMkdirFiles,
		},
	}
}

// mkdirFiles makes a tree of directories, three levels deep, and a small file in
// each of the lowest.
func mkdirFiles(_ context.Context, e *Env) error {
	return pinned(func() error {
		var files []string
		for i := range e.Sizes.Fanout {
			for j := range e.Sizes.Fanout {
				if err := os.MkdirAll(e.work(strconv.Itoa(i), strconv.Itoa(j)), 0o755); err != nil {
					return err
				}
				for k := range e.Sizes.Fanout {
					leaf := e.work(strconv.Itoa(i), strconv.Itoa(j), strconv.Itoa(k))
					if err := os.Mkdir(leaf, 0o755); err != nil {
						return err
					}
					files = append(files, filepath.Join(leaf, "file"))
				}
			}
		}
		return createMany(files, e.Seed)
	})
}

// checkMkdirFiles looks into the last leaf.
func checkMkdirFiles(_ context.Context, e *Env) error {
	last := strconv.Itoa(e.Sizes.Fanout - 1)
	a, err := os.Stat(e.work(last, last, last, "file"))
	if err == nil && a.Size() != smallSize {
		err = fmt.Errorf("the last file has %d bytes, want %d", a.Size(), smallSize)
	}
	return err
}

// ProbeCreate makes a directory with n small files and returns how long one
// takes.
func ProbeCreate(dir string, n int) (time.Duration, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return 0, err
	}
	paths := names(dir, n)
	start := time.Now()
	err := pinned(func() error { return createMany(paths, 0) })
	return time.Since(start) / time.Duration(n), err
}

// twice is one preparation after another.
func twice(a, b func(context.Context, *Env) error) func(context.Context, *Env) error {
	return func(ctx context.Context, e *Env) error {
		if err := a(ctx, e); err != nil {
			return err
		}
		return b(ctx, e)
	}
}

// names returns n paths in dir, made before the clock runs where that matters.
func names(dir string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = filepath.Join(dir, "file"+strconv.Itoa(i))
	}
	return out
}

func createTight(_ context.Context, e *Env) error {
	return pinned(func() error { return createMany(names(e.Work, e.Sizes.Small), e.Seed) })
}

// createMany makes small files of distinct text.
func createMany(paths []string, seed uint64) error {
	text := make([]byte, smallSize+len(paths))
	data.Text(data.New(seed, 2), text)
	for i, p := range paths {
		if err := create(p, text[i:i+smallSize]); err != nil {
			return err
		}
	}
	return nil
}

func statTight(_ context.Context, e *Env) error {
	return pinned(func() error {
		var s unix.Stat_t
		for _, p := range names(e.Work, e.Sizes.Small) {
			if err := again(func() error { return unix.Lstat(p, &s) }); err != nil {
				return fmt.Errorf("stat %s: %w", p, err)
			}
			if s.Size != smallSize {
				return fmt.Errorf("stat %s: %d bytes, want %d", p, s.Size, smallSize)
			}
		}
		return nil
	})
}

func readTight(_ context.Context, e *Env) error {
	return pinned(func() error { return readMany(names(e.Work, e.Sizes.Small)) })
}

func readMany(paths []string) error {
	buf := make([]byte, smallSize)
	for _, p := range paths {
		fd, err := open(p, unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		err = readAt(fd, buf, 0)
		unix.Close(fd)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}
