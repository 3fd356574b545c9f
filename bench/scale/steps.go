package scale

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/bench/data"
	"github.com/vfsd/vfsd/bench/report"
	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"
)

// many makes Count workspaces with a few files each.
func many(ctx context.Context, s step, _ io.Reader, _ func(figures) error) error {
	return opened(ctx, s, func(d *workspace.DataDir) error {
		for i := range s.Count {
			w, err := d.Create(ctx, fmt.Sprintf("w%d", i), 0, 0)
			if err != nil {
				return err
			}
			if err := fillTree(ctx, w, step{Count: 10, PerDir: 10}); err != nil {
				return err
			}
		}
		return nil
	})
}

// sleep opens Count workspaces, looks at the root of each, and lets them be.
func sleep(ctx context.Context, s step, _ io.Reader, emit func(figures) error) error {
	return opened(ctx, s, func(d *workspace.DataDir) error {
		none, err := s.memory()
		if err != nil {
			return err
		}
		start := time.Now()
		for i := range s.Count {
			w, err := d.Open(fmt.Sprintf("w%d", i))
			if err != nil {
				return err
			}
			if _, err := w.Getattr(root(ctx), vfs.RootIno); err != nil {
				return err
			}
		}
		f := figures{"wake": ms(time.Since(start))}
		if err := s.settled(f); err != nil {
			return err
		}
		if _, ok := f["memory"]; ok {
			f["memory-more"] = f["memory"] - none["memory"]
		}
		return emit(f)
	})
}

// piece is how much one write of the sparse file holds.
const piece = 1 << 20

// pieces calls do with the offset and the content of each piece: they are
// spread evenly over the file.
func (s *step) pieces(do func(off int64, p []byte) error) error {
	n := max(1, s.Real/piece)
	gap := s.Size / n / 4096 * 4096
	p, r := make([]byte, piece), data.New(3, 21)
	for i := range n {
		data.Mixed(r, p)
		if err := do(i*gap, p); err != nil {
			return err
		}
	}
	return nil
}

// rate is MiB a second for what the sparse file really holds.
func (s *step) rate(took time.Duration) float64 {
	return float64(max(piece, s.Real)) / (1 << 20) / took.Seconds()
}

func sparseFill(ctx context.Context, s step, _ io.Reader, emit func(figures) error) error {
	return opened(ctx, s, func(d *workspace.DataDir) error {
		w, err := d.Create(ctx, name, 0, 0)
		if err != nil {
			return err
		}
		op := root(ctx)
		a, h, err := w.Create(op, vfs.RootIno, "sparse", 0o644, syscall.O_RDWR)
		if err != nil {
			return err
		}
		defer h.Release(op)
		if _, err := w.Setattr(op, a.Ino, &vfs.SetAttr{Mask: vfs.SetSize, Size: uint64(s.Size), Handle: h}); err != nil {
			return err
		}
		start := time.Now()
		if err := s.pieces(func(off int64, p []byte) error {
			_, err := h.Write(op, p, off)
			return err
		}); err != nil {
			return err
		}
		f := figures{"sparse-write": s.rate(time.Since(start))}
		start = time.Now()
		if _, err := w.Checkpoint(ctx, workspace.CauseCheckpoint, ""); err != nil {
			return err
		}
		f["sparse-checkpoint"] = s.rate(time.Since(start))
		return emit(f)
	})
}

// The whences of lseek(2) that find data and holes.
const (
	seekData = 3
	seekHole = 4
)

func sparseLook(ctx context.Context, s step, _ io.Reader, emit func(figures) error) error {
	return opened(ctx, s, func(d *workspace.DataDir) error {
		w, err := d.Open(name)
		if err != nil {
			return err
		}
		op := root(ctx)
		a, err := w.Lookup(op, vfs.RootIno, "sparse")
		if err != nil {
			return err
		}
		h, err := w.Open(op, a.Ino, syscall.O_RDONLY)
		if err != nil {
			return err
		}
		defer h.Release(op)
		f := figures{"sparse-allocated": float64(a.Blocks) / 2048}
		start := time.Now()
		if err := mapData(op, h, s); err != nil {
			return err
		}
		f["sparse-map"] = ms(time.Since(start))
		start = time.Now()
		if err := s.pieces(func(off int64, want []byte) error { return compare(op, h, off, want) }); err != nil {
			return err
		}
		f["sparse-read"] = s.rate(time.Since(start))
		m, err := s.memory()
		if err != nil {
			return err
		}
		f["sparse-memory"] = m["memory"]
		return emit(f)
	})
}

// mapData finds all data of the sparse file and checks how much there is.
func mapData(op *vfs.Op, h vfs.Handle, s step) error {
	var sum int64
	for off := int64(0); ; {
		at, err := h.Seek(op, off, seekData)
		if errors.Is(err, syscall.ENXIO) {
			break
		}
		if err != nil {
			return err
		}
		if off, err = h.Seek(op, at, seekHole); err != nil {
			return err
		}
		sum += off - at
	}
	if want := max(piece, s.Real/piece*piece); sum != want {
		return fmt.Errorf("%d bytes of data in the sparse file, want %d", sum, want)
	}
	return nil
}

// compare reads a piece and checks it.
func compare(op *vfs.Op, h vfs.Handle, off int64, want []byte) error {
	got := make([]byte, len(want))
	n, err := h.Read(op, got, off)
	if err != nil {
		return err
	}
	if n != len(want) || !bytes.Equal(got, want) {
		return fmt.Errorf("the %d bytes read at %d are not what was written", n, off)
	}
	return nil
}

// background measures the latency of small creates alone, during a checkpoint
// of Real staged bytes, and during a collection of them.
func background(ctx context.Context, s step, _ io.Reader, emit func(figures) error) error {
	return opened(ctx, s, func(d *workspace.DataDir) error {
		w, err := d.Create(ctx, name, 0, 0)
		if err != nil {
			return err
		}
		b := &foreground{ctx: ctx, w: w, r: data.New(5, 22)}
		if b.dir, err = w.Mkdir(root(ctx), vfs.RootIno, "foreground", 0o755); err != nil {
			return err
		}
		f := figures{}
		quiet, err := b.during(func() error {
			select {
			case <-time.After(quietTime):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		if err != nil {
			return err
		}
		f.put("quiet", quiet)
		if err := stage(ctx, w, s.Real); err != nil {
			return err
		}
		checkpoint := func() error {
			_, err := w.CheckpointPaced(ctx) // as the engine does by itself
			return err
		}
		if err := b.record(f, "checkpoint", checkpoint); err != nil {
			return err
		}
		// What was chunked becomes garbage when no commit has it any more.
		if err := unstage(ctx, w, s.Real); err != nil {
			return err
		}
		if err := forget(ctx, w); err != nil {
			return err
		}
		if err := b.record(f, "gc", func() error {
			_, err := d.GC(ctx, false)
			return err
		}); err != nil {
			return err
		}
		return emit(f)
	})
}

// quietTime is how long the foreground is watched alone.
const quietTime = 2 * time.Second

// foreground is a client that makes small files.
type foreground struct {
	ctx context.Context
	w   *workspace.Workspace
	dir vfs.Attr
	r   interface{ Uint64() uint64 }
	n   int
}

// during makes files, one every half a millisecond at most, until work ends,
// and returns the microseconds that each took.
func (b *foreground) during(work func() error) ([]float64, error) {
	done := make(chan error, 1)
	go func() { done <- work() }()
	pace := time.NewTicker(500 * time.Microsecond)
	defer pace.Stop()
	var took []float64
	for {
		select {
		case err := <-done:
			return took, err
		case <-pace.C:
		}
		content := fmt.Appendf(nil, "%x %x\n", b.r.Uint64(), b.r.Uint64())
		b.n++
		start := time.Now()
		if err := writeNew(b.w, root(b.ctx), b.dir.Ino, fileName(b.n), content); err != nil {
			return nil, errors.Join(err, <-done)
		}
		took = append(took, us(time.Since(start)))
	}
}

// record watches the foreground during work and puts the figures down.
func (b *foreground) record(f figures, what string, work func() error) error {
	took, err := b.during(work)
	if err != nil {
		return err
	}
	f.put(what, took)
	if p99, ok := f[what+"-p99"]; ok && f["quiet-p99"] > 0 {
		f[what+"-slower"] = p99 / f["quiet-p99"]
	}
	return nil
}

// fewSamples is how many a 99th percentile takes at least.
const fewSamples = 100

// put puts down the longest of the samples and, of enough of them, the median
// and the 99th percentile.
func (f figures) put(what string, samples []float64) {
	if len(samples) > 0 {
		f[what+"-max"] = report.Percentile(samples, 100)
	}
	if len(samples) >= fewSamples {
		f[what+"-p50"], f[what+"-p99"] = report.Percentile(samples, 50), report.Percentile(samples, 99)
	}
}

// forget commits until the history that a collection keeps has nothing of what
// was removed before.
func forget(ctx context.Context, w *workspace.Workspace) error {
	const kept = 64 // commits, and some to spare
	for i := range kept + 8 {
		if err := writeNew(w, root(ctx), vfs.RootIno, fmt.Sprintf("forget%d", i), []byte("x")); err != nil {
			return err
		}
		if _, err := w.Checkpoint(ctx, workspace.CauseCheckpoint, ""); err != nil {
			return err
		}
	}
	return nil
}

func stagedName(i int64) string { return fmt.Sprintf("staged%d", i) }

// stage writes n bytes in files of one piece and leaves them to the next
// checkpoint.
func stage(ctx context.Context, w *workspace.Workspace, n int64) error {
	op, r := root(ctx), data.New(6, 23)
	p := make([]byte, piece)
	for i := range n / piece {
		data.Mixed(r, p)
		if err := writeNew(w, op, vfs.RootIno, stagedName(i), p); err != nil {
			return err
		}
	}
	return nil
}

// unstage removes every other of those files, so that packs are half garbage: a
// collection has to copy what is left of them.
func unstage(ctx context.Context, w *workspace.Workspace, n int64) error {
	for i := int64(0); i < n/piece; i += 2 {
		if err := w.Unlink(root(ctx), vfs.RootIno, stagedName(i)); err != nil {
			return err
		}
	}
	return nil
}

// churnFiles is how many files a churned workspace has, churnPoints how often
// its memory is looked at, churnKept how many snapshots are kept.
const (
	churnFiles  = 5000
	churnPoints = 40
	churnKept   = 3
)

// churn overwrites, renames, removes and makes files at random, takes and
// drops snapshots and collects garbage, and emits its memory as it goes.
func churn(ctx context.Context, s step, _ io.Reader, emit func(figures) error) error {
	return opened(ctx, s, func(d *workspace.DataDir) error {
		w, err := d.Create(ctx, name, 0, 0)
		if err != nil {
			return err
		}
		c := &churner{ctx: ctx, d: d, w: w}
		start := time.Now()
		for i := 1; i <= churnPoints; i++ {
			until := start.Add(s.Duration * time.Duration(i) / churnPoints)
			if err := c.until(until, uint64(i)); err != nil {
				return err
			}
			f, err := s.memory()
			if err != nil {
				return err
			}
			figure := figures{"at": time.Since(start).Seconds(), "churn-heap": f["heap"],
				"churn-disk": float64(d.Chunks().Stats().StoredBytes+w.Stats().StagedBytes) / (1 << 20)}
			if rss, ok := f["memory"]; ok {
				figure["churn-memory"] = rss
			}
			if err := emit(figure); err != nil {
				return err
			}
		}
		return nil
	})
}

type churner struct {
	ctx   context.Context
	d     *workspace.DataDir
	w     *workspace.Workspace
	round int
}

// until changes files until a time, then takes a snapshot, drops the oldest
// beyond churnKept, and collects.
func (c *churner) until(end time.Time, seed uint64) error {
	r, op := data.New(seed, 24), root(c.ctx)
	for time.Now().Before(end) {
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		name := fileName(r.IntN(churnFiles))
		var err error
		switch r.IntN(8) {
		case 0:
			err = c.w.Unlink(op, vfs.RootIno, name)
		case 1:
			err = c.w.Rename(op, vfs.RootIno, name, vfs.RootIno, fileName(r.IntN(churnFiles)), 0)
		default:
			p := make([]byte, r.IntN(64<<10))
			data.Text(r, p)
			err = overwrite(c.w, op, name, p)
		}
		if err != nil && !errors.Is(err, syscall.ENOENT) {
			return err
		}
	}
	if _, err := c.w.Snapshot(c.ctx, fmt.Sprintf("s%d", c.round)); err != nil {
		return err
	}
	if c.round >= churnKept {
		if err := c.w.RemoveSnapshot(fmt.Sprintf("s%d", c.round-churnKept)); err != nil {
			return err
		}
	}
	c.round++
	_, err := c.d.GC(c.ctx, false)
	return err
}

// overwrite writes a file anew, making it where it is missing.
func overwrite(w *workspace.Workspace, op *vfs.Op, name string, p []byte) error {
	a, err := w.Lookup(op, vfs.RootIno, name)
	if errors.Is(err, syscall.ENOENT) {
		return writeNew(w, op, vfs.RootIno, name, p)
	}
	if err != nil {
		return err
	}
	h, err := w.Open(op, a.Ino, syscall.O_WRONLY|syscall.O_TRUNC)
	if err != nil {
		return err
	}
	defer h.Release(op)
	_, err = h.Write(op, p, 0)
	return err
}
