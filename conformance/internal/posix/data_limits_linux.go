package posix

import (
	"bytes"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// advice: hints change no bytes.
func advice(g *Group) {
	g = g.Sub("advice")
	for name, a := range map[string]int{
		"NORMAL": unix.FADV_NORMAL, "SEQUENTIAL": unix.FADV_SEQUENTIAL, "RANDOM": unix.FADV_RANDOM,
		"WILLNEED": unix.FADV_WILLNEED, "DONTNEED": unix.FADV_DONTNEED, "NOREUSE": unix.FADV_NOREUSE,
	} {
		g.Case("fadvise-"+name+"/changes-nothing", func(t *T) {
			fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
			want := pattern(1, 200_000)
			put(t, fd, want, 0)
			t.OK(unix.Fadvise(fd, 0, 0, a))
			bytesAre(t, fd, want)
		})
	}
	g.Case("fadvise-unknown/is-EINVAL", func(t *T) {
		t.Write("f", "x")
		t.Errno(unix.Fadvise(t.Open("f", unix.O_RDONLY), 0, 0, 99), unix.EINVAL)
	})
	g.Case("fadvise-of-a-pipe/is-ESPIPE", func(t *T) {
		r, _ := t.Pipe()
		t.Errno(unix.Fadvise(r, 0, 0, unix.FADV_NORMAL), unix.ESPIPE)
	})
	g.Case("readahead/works", func(t *T) {
		t.Write("f", string(pattern(1, 100_000)))
		fd := t.Open("f", unix.O_RDONLY)
		t.OK(readahead(fd, 0, 100_000))
		t.OK(readahead(fd, 50_000, 1<<20))
		bytesAre(t, fd, pattern(1, 100_000))
		t.Errno(readahead(t.Open("f", unix.O_WRONLY), 0, 10), unix.EBADF)
	})
	g.Case("dropped-from-the-cache/reads-the-same", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		want := pattern(1, 500_000)
		put(t, fd, want, 0)
		t.Must(unix.Fsync(fd))
		for range 3 {
			t.OK(unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED))
			bytesAre(t, fd, want)
		}
	})
}

func readahead(fd int, off int64, n int) error {
	if _, _, e := unix.Syscall(unix.SYS_READAHEAD, uintptr(fd), uintptr(off), uintptr(n)); e != 0 {
		return e
	}
	return nil
}

// fileSizeLimit: RLIMIT_FSIZE, which a process has for itself.
func fileSizeLimit(g *Group) {
	g = g.Sub("RLIMIT_FSIZE")
	for _, c := range []struct{ name, ask, want string }{
		{"write-across/is-cut-short", "write 900 200", "100 ok"},
		{"write-at/is-EFBIG", "write 1000 1", "-1 EFBIG"},
		{"write-below/works", "write 0 1000", "1000 ok"},
		{"truncate-to/works", "truncate 1000", "ok"},
		{"truncate-beyond/is-EFBIG", "truncate 1001", "EFBIG"},
		{"fallocate-beyond/is-EFBIG", "fallocate 1001", "EFBIG"},
	} {
		g.Case(c.name, func(t *T) {
			t.File("f", 0o644)
			t.Child("limited").Expect(c.want, "%s", c.ask)
		})
	}
}

func init() {
	harness.RegisterRole("limited", func(p *harness.Peer) int {
		ignoreSignal(unix.SIGXFSZ)
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1000, Max: 1000}); err != nil {
			p.SayErr(err)
			return 1
		}
		fd, err := unix.Open("f", unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			p.SayErr(err)
			return 1
		}
		words, _ := p.Next()
		switch words[0] {
		case "write":
			n, err := unix.Pwrite(fd, make([]byte, p.Int(words[2])), p.Int(words[1]))
			if err != nil {
				p.Say("-1 %s", unix.ErrnoName(err.(syscall.Errno)))
			} else {
				p.Say("%d ok", n)
			}
		case "truncate":
			p.SayErr(unix.Ftruncate(fd, p.Int(words[1])))
		case "fallocate":
			p.SayErr(unix.Fallocate(fd, 0, 0, p.Int(words[1])))
		}
		return 0
	})
}

// maxFull is how much free space fullDisk is willing to fill.
const maxFull = 64 << 20

// fullDisk: a file system without space says so, leaves the old bytes alone,
// and works again when there is space (run on a small one).
func fullDisk(g *Group) {
	g = g.Sub("full")
	fill := func(t *T) (fd int, wrote int64) {
		var st unix.Statfs_t
		t.Must(unix.Statfs(".", &st))
		if free := int64(st.Bavail) * int64(st.Bsize); free > maxFull {
			t.Skip("the file system has more than %d MiB free", maxFull>>20)
		}
		fd = t.Open("filler", unix.O_CREAT|unix.O_RDWR, 0o644)
		chunk := pattern(1, 1<<16)
		for {
			n, err := unix.Write(fd, chunk)
			if err != nil {
				t.Errno(err, unix.ENOSPC, unix.EDQUOT)
				return fd, wrote
			}
			wrote += int64(n)
		}
	}
	g.Alone("write/is-ENOSPC-and-the-old-bytes-stay", func(t *T) {
		t.Write("old", "precious")
		fd, wrote := fill(t)
		eq(t, "size", t.Fstat(fd).Size, wrote)
		t.Content("old", "precious")
		for off := int64(0); off+1<<16 <= wrote; off += 1 << 20 {
			got, err := harness.ReadFrom(fd, off, 1<<16)
			t.OK(err)
			t.Check(bytes.Equal(got, pattern(1, 1<<16)), "bytes at %d are damaged", off)
		}
	})
	g.Alone("after-a-removal/works-at-once", func(t *T) {
		fd, wrote := fill(t)
		t.OK(unix.Ftruncate(fd, wrote/2))
		t.Must(unix.Fsync(fd))
		other := t.Open("other", unix.O_CREAT|unix.O_RDWR, 0o644)
		put(t, other, pattern(2, 1<<18), 0)
		t.OK(unix.Fsync(other))
		bytesAre(t, other, pattern(2, 1<<18))
	})
	g.Alone("removing-and-truncating/work-when-full", func(t *T) {
		t.Write("a", "a")
		fill(t)
		t.OK(unix.Unlink("a"))
		t.OK(unix.Truncate("filler", 0))
		t.OK(unix.Rename("filler", "renamed"))
		t.OK(unix.Unlink("renamed"))
	})
	g.Alone("without-inodes/create-is-ENOSPC-and-works-after-a-removal", noInodes)
	g.Alone("fallocate/is-ENOSPC-and-changes-nothing", func(t *T) {
		t.Write("f", "data")
		fill(t)
		fd := t.Open("f", unix.O_RDWR)
		t.Errno(unix.Fallocate(fd, keepSize, 0, 1<<30), unix.ENOSPC, unix.EDQUOT)
		t.Content("f", "data")
	})
}

// maxInodes is how many free inodes noInodes is willing to take.
const maxInodes = 20_000

// noInodes: a file system without inodes makes no file, shows that it has none,
// and makes one again once there is one.
func noInodes(t *T) {
	free := func() int64 {
		var st unix.Statfs_t
		t.Must(unix.Statfs(".", &st))
		return int64(st.Ffree)
	}
	if n := free(); n > maxInodes {
		t.Skip("the file system has more than %d inodes free", maxInodes)
	}
	t.Write("old", "precious")
	made := 0
	for ; made <= maxInodes; made++ {
		if err := t.Try(fmt.Sprint(made), unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, 0o600); err != nil {
			t.Errno(err, unix.ENOSPC, unix.EDQUOT)
			break
		}
	}
	t.Errno(unix.Mkdir("d", 0o755), unix.ENOSPC, unix.EDQUOT)
	t.Errno(unix.Symlink("old", "l"), unix.ENOSPC, unix.EDQUOT)
	t.Errno(unix.Mknod("p", unix.S_IFIFO|0o600, 0), unix.ENOSPC, unix.EDQUOT)
	eq(t, "free inodes", free(), 0)
	t.Content("old", "precious")
	t.OK(unix.Link("old", "link"))
	t.OK(unix.Unlink("0"))
	t.Write("another", "fits")
	t.Content("another", "fits")
}

// ignoreSignal sets a signal to be ignored by the process.
func ignoreSignal(sig syscall.Signal) {
	// struct sigaction of the kernel: handler, flags, restorer, mask.
	act := [4]uintptr{1} // SIG_IGN
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&act)), 0, 8, 0, 0)
}
