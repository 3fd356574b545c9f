package workload

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/vfsd/vfsd/bench/data"
	"golang.org/x/sys/unix"
)

// unit is how much one call of the bulk rows reads or writes.
const unit = 1 << 20

func bulk(s Sizes) []Workload {
	n := size(s.Big)
	const group = "One big file"
	whole := func(name string) func(context.Context, *Env) error {
		return func(_ context.Context, e *Env) error { return checkBig(e.work(name), e) }
	}
	return []Workload{
		{
			Name: "write", Title: "write " + n, Group: group, Client: Tight, Large: true, Limit: 1.2,
			Setup: ready, Run: writeNew, Check: whole("big"),
		},
		{
			Name: "overwrite", Title: "overwrite " + n, Group: group, Client: Tight, Large: true, Limit: 1.2,
			Setup: other(writeNew), Run: writeOver, Check: whole("big"),
		},
		{
			Name: "read-cold", Title: "read " + n + ", cold", Group: group, Client: Tight, Large: true, Limit: 1.3, Cold: true,
			Setup: writeNew, Run: readBig,
		},
		{
			Name: "read-warm", Title: "read " + n + ", warm", Group: group, Client: Tight, Large: true, Limit: 1.05,
			Setup: twice(writeNew, readBig), Run: readBig,
		},
		{
			Name: "cp", Title: "cp " + n, Group: group, Client: Tools, Large: true, Limit: 0.3, Needs: []string{"cp"},
			Setup: twice(writeNew, readBig),
			Run: func(ctx context.Context, e *Env) error {
				_, err := e.run(ctx, Command{Dir: e.Work, Args: []string{"cp", "big", "copy"}})
				return err
			},
			Check: whole("copy"),
		},
		{
			Name: "mmap-cold", Title: "mmap " + n + " in order, cold", Group: group, Client: Tight, Large: true, Cold: true,
			Setup: writeNew, Run: mapSequential,
		},
		{
			Name: "mmap-warm", Title: "mmap " + count(s.Random) + " pages at random, warm", Group: group, Client: Tight, Large: true,
			Setup: twice(writeNew, readBig), Run: mapRandom,
		},
	}
}

// bigBytes keeps the content of the big file of the last seed: making it takes
// longer than writing it.
var bigBytes struct {
	sync.Mutex
	seed uint64
	p    []byte
}

// big returns what the big file of a seed holds. It must not be changed.
func big(e *Env, seed uint64) []byte {
	bigBytes.Lock()
	defer bigBytes.Unlock()
	if bigBytes.seed != seed || int64(len(bigBytes.p)) != e.Sizes.Big {
		p := make([]byte, e.Sizes.Big)
		data.Mixed(data.New(seed, 3), p)
		bigBytes.seed, bigBytes.p = seed, p
	}
	return bigBytes.p
}

// ready makes the content of the big file before the clock runs.
func ready(_ context.Context, e *Env) error {
	big(e, e.Seed)
	return nil
}

// other writes something else than the run will.
func other(write func(context.Context, *Env) error) func(context.Context, *Env) error {
	return func(ctx context.Context, e *Env) error {
		before := *e
		before.Seed ^= 1 << 63
		if err := write(ctx, &before); err != nil {
			return err
		}
		return ready(ctx, e)
	}
}

func writeNew(_ context.Context, e *Env) error {
	return pinned(func() error {
		return writeUnits(e.work("big"), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, big(e, e.Seed))
	})
}

func writeOver(_ context.Context, e *Env) error {
	return pinned(func() error { return writeUnits(e.work("big"), unix.O_WRONLY, big(e, e.Seed)) })
}

func writeUnits(path string, flags int, p []byte) error {
	fd, err := open(path, flags, 0o644)
	if err != nil {
		return err
	}
	for off := 0; off < len(p); off += unit {
		if err := writeAt(fd, p[off:min(off+unit, len(p))], int64(off)); err != nil {
			unix.Close(fd)
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return unix.Close(fd)
}

func readBig(_ context.Context, e *Env) error {
	return pinned(func() error {
		fd, err := open(e.work("big"), unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		buf := make([]byte, min(unit, e.Sizes.Big))
		for off := int64(0); off < e.Sizes.Big; off += int64(len(buf)) {
			if err := readAt(fd, buf[:min(int64(len(buf)), e.Sizes.Big-off)], off); err != nil {
				return fmt.Errorf("%s: %w", e.work("big"), err)
			}
		}
		return nil
	})
}

// checkBig compares a file with the content of this run.
func checkBig(path string, e *Env) error {
	got, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, big(e, e.Seed)) {
		return fmt.Errorf("%s does not hold what was written", path)
	}
	return nil
}

// mapped calls f with the big file in memory.
func mapped(e *Env, f func(p []byte) error) error {
	fd, err := open(e.work("big"), unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	p, err := unix.Mmap(fd, 0, int(e.Sizes.Big), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mmap %s: %w", e.work("big"), err)
	}
	if err := f(p); err != nil {
		unix.Munmap(p)
		return err
	}
	return unix.Munmap(p)
}

const page = 4 << 10

func mapSequential(_ context.Context, e *Env) error {
	want := big(e, e.Seed)
	return pinned(func() error {
		return mapped(e, func(p []byte) error {
			for i := 0; i < len(p); i += page {
				if p[i] != want[i] {
					return fmt.Errorf("byte %d of the mapping is wrong", i)
				}
			}
			return nil
		})
	})
}

func mapRandom(_ context.Context, e *Env) error {
	want, r := big(e, e.Seed), data.New(e.Seed, 4)
	return pinned(func() error {
		return mapped(e, func(p []byte) error {
			for range e.Sizes.Random {
				if i := r.IntN(len(p)); p[i] != want[i] {
					return fmt.Errorf("byte %d of the mapping is wrong", i)
				}
			}
			return nil
		})
	})
}
