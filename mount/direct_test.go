//go:build linux

package mount_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/mount"
	"golang.org/x/sys/unix"
)

// A handle for writing alone goes past the kernel's page cache. Whoever reads
// or maps the file meanwhile sees what it writes, what was written to a mapping
// is not lost, and what else is cached stays.
func TestWriteOnlyHandles(t *testing.T) {
	eachDriver(t, func(t *testing.T, driver string) {
		s := serve(t, driver, nil, func(o *mount.Options) { o.NoFlush = true })
		e := s.editor()
		e.create("", "f", strings.Repeat("e", 16*4096))
		var before uint64
		reads := func() uint64 { return s.settled()["READ"] }
		s.run("writeOnly", map[string]func(){
			"cached": func() { before = reads() },
			"again": func() {
				if n := reads() - before; n != 0 {
					t.Errorf("an open for writing dropped what was cached: %d reads", n)
				}
			},
			"grow": func() { e.write("f", "theirs", 16*4096) },
		})
	})
}

func init() { clients["writeOnly"] = writeOnlyClient }

func writeOnlyClient(c *client) {
	want := bytes.Repeat([]byte("e"), 16*4096)
	check := func(what string) {
		if got := c.readAll("f"); !bytes.Equal(got, want) {
			c.errorf("%s: %d bytes, or %d bytes with other contents", what, len(want), len(got))
		}
	}
	check("before")
	c.step("cached")
	c.ok(unix.Close(c.open("f", unix.O_WRONLY)))
	check("after an open for writing")
	c.step("again")

	both := c.open("f", unix.O_RDWR)
	p, err := unix.Mmap(both, 0, len(want), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	c.ok(err)
	fd := c.open("f", unix.O_WRONLY)
	write := func(data string, off int64) {
		_, err := unix.Pwrite(fd, []byte(data), off)
		c.ok(err)
		copy(want[off:], data)
	}
	mapped := func(data string, off int) {
		copy(p[off:], data)
		copy(want[off:], data)
	}
	write("written", 4096)
	mapped("mapped", 2*4096+100)
	write("over a dirty page", 2*4096)
	mapped("again", 2*4096+200)
	write(strings.Repeat("w", 3*4096), 5*4096-1)
	if !bytes.Equal(p, want) {
		c.errorf("the mapping does not show what was written")
	}
	check("written and mapped")
	c.ok(unix.Munmap(p))
	c.ok(unix.Close(both))
	check("the mapping gone")

	c.step("grow")
	want = append(want, "theirs"...)
	ours := c.open("f", unix.O_WRONLY|unix.O_APPEND)
	_, err = unix.Write(ours, []byte("ours"))
	c.ok(err)
	want = append(want, "ours"...)
	check("appended")
	c.ok(unix.Ftruncate(fd, 5))
	want = want[:5]
	check("truncated")
	c.ok(unix.Close(ours))
	c.ok(unix.Close(fd))
}

func (c *client) readAll(name string) []byte {
	fd := c.open(name, unix.O_RDONLY)
	defer unix.Close(fd)
	var all []byte
	for buf := make([]byte, 1<<20); ; {
		n, err := unix.Read(fd, buf)
		c.ok(err)
		if n == 0 {
			return all
		}
		all = append(all, buf[:n]...)
	}
}
