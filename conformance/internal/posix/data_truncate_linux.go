package posix

import (
	"bytes"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// boundaries are the sizes around which file systems go wrong: sectors, pages,
// clusters, chunks.
var boundaries = []int64{0, 1, 511, 512, 4095, 4096, 4097, 8192, 12288, 32768, 65535, 65536, 65537, 131072, 200_000, 524_289, 1 << 20}

// truncateMatrix cuts or grows a file from every boundary to every other, and
// back: what was cut off does not come back, what is new is zero.
func truncateMatrix(g *Group) {
	g = g.Sub("truncate")
	for _, from := range boundaries {
		for _, to := range boundaries {
			g.Case(fmt.Sprintf("%d-to-%d", from, to), func(t *T) {
				fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
				want := pattern(int(from+to), int(from))
				put(t, fd, want, 0)
				if to%2 == 0 {
					t.OK(unix.Ftruncate(fd, to))
				} else {
					t.OK(unix.Truncate("f", to))
				}
				want = resized(want, to)
				bytesAre(t, fd, want)
				t.Size("f", to)
				back := max(from, to) + 10
				t.OK(unix.Ftruncate(fd, back))
				bytesAre(t, fd, resized(want, back))
			})
		}
	}
}

// resized returns p cut or padded with zeroes to n bytes.
func resized(p []byte, n int64) []byte {
	q := make([]byte, n)
	copy(q, p)
	return q
}

// truncateEdges: everything about truncation that is no size.
func truncateEdges(g *Group) {
	g = g.Sub("truncate")
	for k, want := range map[Kind]syscall.Errno{
		harness.Dir: unix.EISDIR, harness.FIFO: unix.EINVAL, harness.Socket: unix.EINVAL, harness.Char: unix.EINVAL, harness.Device: unix.EINVAL,
	} {
		g.Case("of-a-"+string(k)+"/"+errName(want), func(t *T) {
			t.Make(k, "x")
			t.Unchanged(func() { t.Errno(unix.Truncate("x", 0), want) })
		})
	}
	g.Case("to-a-negative-size/is-EINVAL", func(t *T) {
		t.Write("f", "data")
		t.Unchanged(func() { t.Errno(unix.Truncate("f", -1), unix.EINVAL) })
	})
	g.Case("through-a-symlink/works", func(t *T) {
		t.Write("f", "data")
		t.Symlink("f", "l")
		t.OK(unix.Truncate("l", 2))
		t.Content("f", "da")
	})
	g.Case("position/stays-where-it-was", func(t *T) {
		t.Write("f", "0123456789")
		fd := t.Open("f", unix.O_RDWR)
		t.Must1(unix.Seek(fd, 8, unix.SEEK_SET))
		t.OK(unix.Ftruncate(fd, 2))
		at, err := unix.Seek(fd, 0, unix.SEEK_CUR)
		t.OK(err)
		eq(t, "position", at, 8)
		t.OK(harness.WriteAll(fd, []byte("x")))
		bytesAre(t, fd, []byte("01\x00\x00\x00\x00\x00\x00x"))
	})
	g.Case("while-another-writes/ends-as-one-or-the-other", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		p := bytes.Repeat([]byte("w"), 10_000)
		t.Parallel(2, func(i int) {
			for range 100 {
				if i == 0 {
					t.Must(unix.Ftruncate(fd, 0))
				} else if _, err := unix.Pwrite(fd, p, 0); err != nil {
					t.Must(err)
				}
			}
		})
		s := t.Fstat(fd)
		t.Check(s.Size == 0 || s.Size == 10_000, "size is %d", s.Size)
	})
	g.Case("blocks/are-given-back", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		put(t, fd, pattern(1, 1<<20), 0)
		t.Must(unix.Fsync(fd))
		before := t.Fstat(fd).Blocks
		t.OK(unix.Ftruncate(fd, 4096))
		after := t.Fstat(fd).Blocks
		t.Check(after < before/4, "blocks went from %d to %d", before, after)
	})
	g.Case("dirty-bytes-past-the-new-end/do-not-come-back", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		for i := range 10 {
			put(t, fd, pattern(i, 100_000), 0)
			t.OK(unix.Ftruncate(fd, int64(1000*i)))
			t.OK(unix.Fsync(fd))
			t.OK(unix.Ftruncate(fd, 100_000))
			bytesAre(t, fd, resized(pattern(i, 1000*i), 100_000))
		}
	})
}

// holes: what was never written reads as zero, costs nothing, and can be
// found.
func holes(g *Group) {
	g = g.Sub("holes")
	const unit = 1 << 16
	sparse := func(t *T) int {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		put(t, fd, pattern(1, unit), 0)
		put(t, fd, pattern(2, unit), 16*unit)
		t.Must(unix.Ftruncate(fd, 32*unit))
		return fd
	}
	for name, synced := range map[string]bool{"fsynced": true, "dirty": false} {
		for where, c := range map[string]struct {
			off, want int64
			whence    int
			err       syscall.Errno
		}{
			"data-from-data":          {100, 100, unix.SEEK_DATA, 0},
			"data-from-the-hole":      {5 * unit, 16 * unit, unix.SEEK_DATA, 0},
			"data-in-the-last-hole":   {20 * unit, 0, unix.SEEK_DATA, unix.ENXIO},
			"data-at-the-end":         {32 * unit, 0, unix.SEEK_DATA, unix.ENXIO},
			"data-past-the-end":       {33 * unit, 0, unix.SEEK_DATA, unix.ENXIO},
			"data-from-minus-1":       {-1, 0, unix.SEEK_DATA, unix.ENXIO},
			"hole-from-data":          {0, unit, unix.SEEK_HOLE, 0},
			"hole-from-the-hole":      {5 * unit, 5 * unit, unix.SEEK_HOLE, 0},
			"hole-from-the-last-data": {16*unit + 5, 17 * unit, unix.SEEK_HOLE, 0},
			"hole-at-the-end":         {32 * unit, 0, unix.SEEK_HOLE, unix.ENXIO},
			"hole-past-the-end":       {33 * unit, 0, unix.SEEK_HOLE, unix.ENXIO},
		} {
			g.Sub("seek/%s", name).Case(where+"/"+errName(c.err), func(t *T) {
				fd := sparse(t)
				if synced {
					t.Must(unix.Fsync(fd))
				}
				got, err := unix.Seek(fd, c.off, c.whence)
				t.Result(err, c.err)
				if c.err == 0 {
					eq(t, "offset", got, c.want)
				}
			})
		}
	}
	g.Case("reads-as-zero-and-costs-nothing", func(t *T) {
		fd := sparse(t)
		t.Must(unix.Fsync(fd))
		want := make([]byte, 32*unit)
		copy(want, pattern(1, unit))
		copy(want[16*unit:], pattern(2, unit))
		bytesAre(t, fd, want)
		b := t.Fstat(fd).Blocks
		t.Check(b >= 2*unit/512 && b < 8*unit/512, "%d blocks of 512 for %d bytes of data", b, 2*unit)
	})
	g.Case("full-file/has-its-hole-at-the-end", func(t *T) {
		t.Write("f", "0123456789")
		fd := t.Open("f", unix.O_RDWR)
		at, err := unix.Seek(fd, 0, unix.SEEK_HOLE)
		t.OK(err)
		eq(t, "hole", at, 10)
		at, err = unix.Seek(fd, 3, unix.SEEK_DATA)
		t.OK(err)
		eq(t, "data", at, 3)
	})
	g.Case("empty-file/has-neither", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		for _, whence := range []int{unix.SEEK_DATA, unix.SEEK_HOLE} {
			_, err := unix.Seek(fd, 0, whence)
			t.Errno(err, unix.ENXIO)
		}
	})
	g.Case("only-a-hole/has-no-data", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		t.Must(unix.Ftruncate(fd, 1<<20))
		_, err := unix.Seek(fd, 0, unix.SEEK_DATA)
		t.Errno(err, unix.ENXIO)
		at, err := unix.Seek(fd, 100, unix.SEEK_HOLE)
		t.OK(err)
		eq(t, "hole", at, 100)
		eq(t, "blocks", t.Fstat(fd).Blocks, 0)
	})
	g.Case("filled-in/is-data", func(t *T) {
		fd := sparse(t)
		put(t, fd, pattern(3, 15*unit), unit)
		at, err := unix.Seek(fd, 0, unix.SEEK_HOLE)
		t.OK(err)
		eq(t, "hole", at, 17*unit)
	})
	g.Case("checkerboard/reads-back", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		want := make([]byte, 40*4096)
		for i := 0; i < 40; i += 2 {
			p := pattern(i, 4096)
			copy(want[i*4096:], p)
			put(t, fd, p, int64(i*4096))
		}
		t.Must(unix.Ftruncate(fd, int64(len(want))))
		bytesAre(t, fd, want)
		t.Must(unix.Fsync(fd))
		bytesAre(t, fd, want)
	})
}
