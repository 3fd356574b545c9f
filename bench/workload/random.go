package workload

import (
	"bytes"
	"context"
	"fmt"

	"github.com/vfsd/vfsd/bench/data"
	"golang.org/x/sys/unix"
)

func random(s Sizes) []Workload {
	n := count(s.Random)
	const group = "4 KiB at random in one big file"
	return []Workload{
		{
			Name: "random-read-cold", Title: "read " + n + " pages at random, cold", Group: group, Client: Tight, Large: true, Cold: true,
			Setup: writeNew, Run: randomReads,
		},
		{
			Name: "random-read-warm", Title: "read " + n + " pages at random, warm", Group: group, Client: Tight, Large: true,
			Setup: twice(writeNew, readBig), Run: randomReads,
		},
		{
			Name: "random-write", Title: "write " + n + " pages at random", Group: group, Client: Tight, Large: true,
			Setup: writeNew, Run: func(_ context.Context, e *Env) error { return randomWrites(e, false) },
		},
		{
			Name: "random-write-fsync", Title: "write " + n + " pages at random, then fsync", Group: group, Client: Tight, Large: true,
			Setup: writeNew, Run: func(_ context.Context, e *Env) error { return randomWrites(e, true) },
		},
	}
}

// randomReads reads pages and compares them with what was written.
func randomReads(_ context.Context, e *Env) error {
	want, r := big(e, e.Seed), data.New(e.Seed, 5)
	return pinned(func() error {
		fd, err := open(e.work("big"), unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		var buf [page]byte
		for range e.Sizes.Random {
			off := r.Int64N(e.Sizes.Big/page) * page
			if err := readAt(fd, buf[:], off); err != nil {
				return err
			}
			if !bytes.Equal(buf[:], want[off:off+page]) {
				return fmt.Errorf("read at %d: wrong bytes", off)
			}
		}
		return nil
	})
}

func randomWrites(e *Env, durable bool) error {
	r := data.New(e.Seed, 6)
	var buf [page]byte
	data.Text(r, buf[:])
	return pinned(func() error {
		fd, err := open(e.work("big"), unix.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for i := range e.Sizes.Random {
			buf[0] = byte(i)
			if err := writeAt(fd, buf[:], r.Int64N(e.Sizes.Big/page)*page); err != nil {
				return err
			}
		}
		if durable {
			return fsync(fd)
		}
		return nil
	})
}
