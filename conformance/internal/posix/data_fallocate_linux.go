package posix

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// The modes of fallocate(2).
const (
	keepSize   = unix.FALLOC_FL_KEEP_SIZE
	punchHole  = unix.FALLOC_FL_PUNCH_HOLE
	zeroRange  = unix.FALLOC_FL_ZERO_RANGE
	collapse   = unix.FALLOC_FL_COLLAPSE_RANGE
	insert     = unix.FALLOC_FL_INSERT_RANGE
	unshare    = unix.FALLOC_FL_UNSHARE_RANGE
	fallocSize = 20_000 // of the file that fallocateMatrix works on
)

// allocated is the model of fallocate on a file's bytes.
func allocated(p []byte, mode uint32, off, n int64) []byte {
	end := off + n
	switch mode {
	case 0:
		return resized(p, max(int64(len(p)), end))
	case keepSize:
		return p
	case zeroRange:
		p = resized(p, max(int64(len(p)), end))
		clear(p[off:end])
		return p
	case punchHole | keepSize, zeroRange | keepSize:
		p = resized(p, int64(len(p)))
		if off < int64(len(p)) {
			clear(p[off:min(end, int64(len(p)))])
		}
		return p
	case collapse:
		return append(resized(p, off), p[end:]...)
	case insert:
		return append(append(resized(p, off), make([]byte, n)...), p[off:]...)
	}
	panic("posix: no model of this mode")
}

// fallocateMatrix crosses modes and ranges.
func fallocateMatrix(g *Group) {
	for name, mode := range map[string]uint32{
		"allocate": 0, "KEEP_SIZE": keepSize, "PUNCH_HOLE": punchHole | keepSize, "ZERO_RANGE": zeroRange, "ZERO_RANGE-KEEP_SIZE": zeroRange | keepSize,
	} {
		for _, off := range []int64{0, 1, 4095, 4096, 5000, 8192, fallocSize - 1, fallocSize, 30_000} {
			g.Sub("fallocate/%s", name).Case(fmt.Sprintf("at-%d", off), func(t *T) {
				for i, n := range []int64{1, 100, 4096, 8192, 50_000} {
					f := fmt.Sprint("f", i)
					fd := t.Open(f, unix.O_CREAT|unix.O_RDWR, 0o644)
					p := pattern(i, fallocSize)
					put(t, fd, p, 0)
					if !t.OK(unix.Fallocate(fd, mode, off, n), "%d bytes", n) {
						return
					}
					bytesAre(t, fd, allocated(p, mode, off, n))
				}
			})
		}
	}
	for name, mode := range map[string]uint32{"COLLAPSE_RANGE": collapse, "INSERT_RANGE": insert} {
		for _, r := range [][2]int64{{0, 4096}, {4096, 4096}, {4096, 12288}, {8192, 8192}} {
			g.Sub("fallocate/%s", name).Case(fmt.Sprintf("%d-bytes-at-%d/shifts-or-is-EOPNOTSUPP", r[1], r[0]), func(t *T) {
				fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
				p := pattern(1, fallocSize)
				put(t, fd, p, 0)
				err := unix.Fallocate(fd, mode, r[0], r[1])
				if err != nil {
					t.Errno(err, unix.EOPNOTSUPP)
					bytesAre(t, fd, p)
					return
				}
				bytesAre(t, fd, allocated(p, mode, r[0], r[1]))
			})
		}
		g.Sub("fallocate/%s", name).Case("at-or-past-the-end/is-refused", func(t *T) {
			fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
			put(t, fd, pattern(1, 8192), 0)
			t.Errno(unix.Fallocate(fd, mode, 8192, 4096), unix.EINVAL, unix.EOPNOTSUPP)
			t.Errno(unix.Fallocate(fd, mode, 16384, 4096), unix.EINVAL, unix.EOPNOTSUPP)
			t.Errno(unix.Fallocate(fd, mode, 100, 100), unix.EINVAL, unix.EOPNOTSUPP)
			bytesAre(t, fd, pattern(1, 8192))
		})
	}
	g = g.Sub("fallocate")
	g.Case("UNSHARE_RANGE/changes-no-bytes-or-is-EOPNOTSUPP", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		put(t, fd, pattern(1, 8192), 0)
		if err := unix.Fallocate(fd, unshare, 0, 4096); err != nil {
			t.Errno(err, unix.EOPNOTSUPP)
		}
		bytesAre(t, fd, pattern(1, 8192))
	})
	g.Case("PUNCH_HOLE/gives-space-back-and-shows-as-a-hole", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		put(t, fd, pattern(1, 1<<20), 0)
		t.Must(unix.Fsync(fd))
		before := t.Fstat(fd).Blocks
		t.OK(unix.Fallocate(fd, punchHole|keepSize, 1<<18, 1<<19))
		after := t.Fstat(fd).Blocks
		t.Check(after <= before*3/4, "blocks went from %d to %d", before, after)
		at, err := unix.Seek(fd, 0, unix.SEEK_HOLE)
		t.OK(err)
		eq(t, "hole", at, 1<<18)
		at, err = unix.Seek(fd, 1<<18, unix.SEEK_DATA)
		t.OK(err)
		eq(t, "data", at, 1<<18+1<<19)
	})
	g.Case("allocate/reserves-space", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		t.OK(unix.Fallocate(fd, 0, 0, 1<<20))
		s := t.Fstat(fd)
		eq(t, "size", s.Size, 1<<20)
		t.Check(s.Blocks >= 1<<20/512, "%d blocks of 512 for 1 MiB", s.Blocks)
	})
	g.Case("KEEP_SIZE-past-the-end-then-writing/reads-back", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		put(t, fd, pattern(1, 100), 0)
		t.OK(unix.Fallocate(fd, keepSize, 0, 1<<20))
		eq(t, "size", t.Fstat(fd).Size, 100)
		put(t, fd, pattern(2, 100), 5000)
		want := resized(pattern(1, 100), 5100)
		copy(want[5000:], pattern(2, 100))
		bytesAre(t, fd, want)
	})
}

// fallocateErrors: what is refused, and changes nothing.
func fallocateErrors(g *Group) {
	g = g.Sub("fallocate")
	for name, c := range map[string]struct {
		mode   uint32
		off, n int64
		want   []syscall.Errno
	}{
		"length-0":                  {0, 0, 0, []syscall.Errno{unix.EINVAL}},
		"length-minus-1":            {0, 0, -1, []syscall.Errno{unix.EINVAL}},
		"offset-minus-1":            {0, -1, 10, []syscall.Errno{unix.EINVAL}},
		"sum-beyond-2^63":           {0, math.MaxInt64, 10, []syscall.Errno{unix.EFBIG}},
		"PUNCH_HOLE-without-KEEP":   {punchHole, 0, 10, []syscall.Errno{unix.EOPNOTSUPP, unix.EINVAL}},
		"PUNCH_HOLE-and-ZERO_RANGE": {punchHole | zeroRange | keepSize, 0, 10, []syscall.Errno{unix.EOPNOTSUPP, unix.EINVAL}},
		"COLLAPSE-with-KEEP_SIZE":   {collapse | keepSize, 0, 4096, []syscall.Errno{unix.EINVAL, unix.EOPNOTSUPP}},
		"INSERT-with-KEEP_SIZE":     {insert | keepSize, 0, 4096, []syscall.Errno{unix.EINVAL, unix.EOPNOTSUPP}},
		"unknown-mode":              {1 << 20, 0, 10, []syscall.Errno{unix.EOPNOTSUPP, unix.EINVAL}},
	} {
		g.Case(name+"/is-refused", func(t *T) {
			t.Write("f", strings.Repeat("x", 8192))
			fd := t.Open("f", unix.O_RDWR)
			t.Unchanged(func() { t.Errno(unix.Fallocate(fd, c.mode, c.off, c.n), c.want...) })
		})
	}
	g.Case("of-a-fifo/is-ESPIPE", func(t *T) {
		t.Make(harness.FIFO, "x")
		t.Errno(unix.Fallocate(t.Open("x", unix.O_RDWR|unix.O_NONBLOCK), 0, 0, 10), unix.ESPIPE)
	})
	g.Case("of-a-device/is-ENODEV", func(t *T) {
		t.NeedMount(unix.MS_NODEV, "nodev")
		t.Make(harness.Char, "x")
		t.Errno(unix.Fallocate(t.Open("x", unix.O_RDWR), 0, 0, 10), unix.ENODEV)
	})
}

// randomIO does a few hundred random operations on one file and compares with
// a byte array after each: by seed, so that a failure can be repeated.
func randomIO(g *Group) {
	for seed := range uint64(12) {
		g.Sub("random").Case(fmt.Sprintf("seed-%d", seed), func(t *T) { randomFile(t, seed) })
	}
}

func randomFile(t *T, seed uint64) {
	const limit = 300_000
	r := rand.New(rand.NewPCG(seed, 42))
	fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
	var want []byte
	for step := range 60 {
		off := r.Int64N(limit)
		n := r.Int64N(1<<uint(1+r.IntN(16))) + 1
		switch op := r.IntN(10); op {
		case 0:
			t.Must(unix.Ftruncate(fd, off))
			want = resized(want, off)
		case 1:
			t.Must(unix.Fallocate(fd, punchHole|keepSize, off, n))
			want = allocated(want, punchHole|keepSize, off, n)
		case 2:
			t.Must(unix.Fallocate(fd, 0, off, n))
			want = allocated(want, 0, off, n)
		case 3:
			t.Must(unix.Fsync(fd))
		case 4:
			t.Close(fd)
			fd = t.Open("f", unix.O_RDWR)
		case 5:
			if len(want) > 0 {
				mapAndStore(t, fd, want, r)
			}
		default:
			p := pattern(step, int(n))
			put(t, fd, p, off)
			want = resized(want, max(int64(len(want)), off+n))
			copy(want[off:], p)
		}
		if !bytesAre(t, fd, want) {
			t.Fatalf("seed %d, step %d", seed, step)
		}
	}
}

// mapAndStore changes some bytes of the file and of the model through a
// shared mapping.
func mapAndStore(t *T, fd int, want []byte, r *rand.Rand) {
	b, err := unix.Mmap(fd, 0, len(want), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	t.Must(err)
	for range 10 {
		i := r.IntN(len(want))
		b[i]++
		want[i]++
	}
	t.Must(unix.Munmap(b))
}
