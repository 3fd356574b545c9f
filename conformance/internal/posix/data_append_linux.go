package posix

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// appending: an O_APPEND write goes to the end as it is at that moment.
func appending(g *Group) {
	g = g.Sub("append")
	g.Case("after-another-wrote/goes-behind", func(t *T) {
		a := t.Open("f", unix.O_CREAT|unix.O_WRONLY|unix.O_APPEND, 0o644)
		b := t.Open("f", unix.O_WRONLY|unix.O_APPEND)
		want := ""
		for i := range 20 {
			p := fmt.Sprintf("<%d>", i)
			fd := a
			if i%3 == 0 {
				fd = b
			}
			t.OK(harness.WriteAll(fd, []byte(p)))
			want += p
		}
		t.Content("f", want)
	})
	g.Case("pwrite/appends-too", func(t *T) {
		t.Write("f", "0123")
		_, err := unix.Pwrite(t.Open("f", unix.O_WRONLY|unix.O_APPEND), []byte("x"), 0)
		t.OK(err)
		t.Content("f", "0123x") // as Linux does, against POSIX
	})
	g.Case("after-truncate/goes-to-the-new-end", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_WRONLY|unix.O_APPEND, 0o644)
		t.OK(harness.WriteAll(fd, []byte("0123456789")))
		t.OK(unix.Truncate("f", 3))
		t.OK(harness.WriteAll(fd, []byte("x")))
		t.Content("f", "012x")
		t.OK(unix.Truncate("f", 8))
		t.OK(harness.WriteAll(fd, []byte("y")))
		t.Content("f", "012x\x00\x00\x00\x00y")
	})
	g.Case("position/is-the-end-afterwards", func(t *T) {
		t.Write("f", "0123456789")
		fd := t.Open("f", unix.O_RDWR|unix.O_APPEND)
		t.OK(harness.WriteAll(fd, []byte("abc")))
		at, err := unix.Seek(fd, 0, unix.SEEK_CUR)
		t.OK(err)
		eq(t, "position", at, 13)
	})
	// M30: a descriptor that may not read, and writes that begin in the
	// middle of a page.
	g.Case("write-only-and-rapid/is-never-EBADF", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_WRONLY|unix.O_APPEND, 0o644)
		var want []byte
		for i := range 500 {
			p := pattern(i, 1+i%97)
			n, err := unix.Write(fd, p)
			if err != nil || n != len(p) {
				t.OK(err, "write %d wrote %d of %d", i, n, len(p))
				return
			}
			want = append(want, p...)
			if i%100 == 50 {
				t.OK(unix.Fsync(fd))
			}
			if i%100 == 99 {
				t.Close(fd)
				fd = t.Open("f", unix.O_WRONLY|unix.O_APPEND)
			}
		}
		t.Close(fd)
		bytesAre(t, t.Open("f", unix.O_RDONLY), want)
	})
	g.Case("by-many-threads/no-record-overlaps", func(t *T) {
		t.File("f", 0o644)
		t.Parallel(6, func(i int) { appendRecords(t.Must, i, 100) })
		recordsWhole(t, 6, 100)
	})
	g.Case("by-many-processes/no-record-overlaps", func(t *T) {
		t.File("f", 0o644)
		var children []*harness.Child
		for i := range 4 {
			children = append(children, t.Child("append", fmt.Sprint(i)))
		}
		for _, c := range children {
			c.Tell("go")
		}
		for _, c := range children {
			eq(t, "end of an appender", c.Hear(), "done")
			c.Wait()
		}
		recordsWhole(t, 4, 150)
	})
}

func init() {
	harness.RegisterRole("append", func(p *harness.Peer) int {
		p.Next()
		appendRecords(func(err error) {
			if err != nil {
				panic(err)
			}
		}, int(p.Int(p.Args[0])), 150)
		p.Say("done")
		return 0
	})
}

// appendRecords appends n records of 61 bytes that say whose they are.
func appendRecords(must func(error), who, n int) {
	fd, err := unix.Open("f", unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0)
	must(err)
	defer unix.Close(fd)
	for i := range n {
		_, err := unix.Write(fd, []byte(record(who, i)))
		must(err)
	}
}

func record(who, i int) string { return fmt.Sprintf("%03d-%06d-%s\n", who, i, strings.Repeat("r", 49)) }

// recordsWhole asserts that the file is made of whole records, each there
// once, each writer's in order.
func recordsWhole(t *T, writers, n int) {
	b := t.Read("f")
	size := len(record(0, 0))
	if !eq(t, "size", len(b), writers*n*size) {
		return
	}
	next := make([]int, writers)
	for i := 0; i < len(b); i += size {
		var who, k int
		if _, err := fmt.Sscanf(string(b[i:i+size]), "%03d-%06d-", &who, &k); err != nil || who >= writers || string(b[i:i+size]) != record(who, k) {
			t.Check(false, "record at %d is damaged: %q", i, b[i:i+size])
			return
		}
		if next[who] != k {
			t.Check(false, "writer %d's record %d comes where %d was due", who, k, next[who])
			return
		}
		next[who]++
	}
	t.Check(true, "")
}
