package text

import (
	"context"
	"io"

	"github.com/vfsd/vfsd/shell/command"
)

// dumpInput is the bytes of several files, one after the other, for od and
// hexdump. A file that cannot be read is reported and left out.
type dumpInput struct {
	ctx    context.Context
	c      *command.Context
	files  []string
	cur    io.ReadCloser
	name   string
	failed bool
	any    bool // a file was opened
	// report tells of a file that cannot be opened or read.
	report func(name string, err error)
}

func (d *dumpInput) Read(p []byte) (int, error) {
	for {
		if err := d.ctx.Err(); err != nil {
			return 0, err
		}
		if d.cur == nil {
			if len(d.files) == 0 {
				return 0, io.EOF
			}
			d.name, d.files = d.files[0], d.files[1:]
			f, err := d.c.Open(d.name)
			if err != nil {
				d.failed = true
				d.report(d.name, err)
				continue
			}
			d.cur, d.any = f, true
		}
		n, err := d.cur.Read(p)
		if n > 0 {
			return n, nil
		}
		if err != nil {
			if err != io.EOF {
				d.failed = true
				d.report(d.name, err)
			}
			d.cur.Close()
			d.cur = nil
		}
	}
}

func (d *dumpInput) close() {
	if d.cur != nil {
		d.cur.Close()
	}
}

// skip reads over n bytes, and returns how many there were.
func (d *dumpInput) skip(n uint64) (skipped uint64, err error) {
	buf := make([]byte, copySize)
	for skipped < n {
		k, err := d.Read(buf[:min(n-skipped, uint64(len(buf)))])
		skipped += uint64(k)
		if err == io.EOF {
			return skipped, nil
		}
		if err != nil {
			return skipped, err
		}
	}
	return skipped, nil
}
