package files

import (
	"bytes"
	"io"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// position skips input and seeks in the output.
func (d *ddRun) position() int {
	skip := d.skip
	if !d.skipBytes {
		skip *= int64(d.ibs)
	}
	if skip > 0 {
		if status := d.skipInput(skip); status != 0 {
			return status
		}
	}
	seek := d.seek
	if !d.seekBytes {
		seek *= int64(d.obs)
	}
	if seek <= 0 {
		return 0
	}
	f := d.file
	if f == nil {
		if w, ok := d.dst.(vfs.File); ok {
			f = w
		}
	}
	if f == nil {
		return d.c.Errorf("%s: cannot seek: %s", d.c.QuoteName("standard output"), command.Strerror(syscall.ESPIPE))
	}
	if d.file != nil && !d.conv["notrunc"] {
		if err := f.Truncate(seek); err != nil {
			return d.c.Errorf("failed to truncate to %d bytes in output file %s: %s", seek, d.c.QuoteArg(d.out), command.Strerror(err))
		}
	}
	if _, err := f.Seek(seek, io.SeekCurrent); err != nil {
		return d.c.Errorf("%s: cannot seek: %s", d.c.QuoteName(d.out), command.Strerror(err))
	}
	return 0
}

// skipInput moves past n bytes of input, by seeking where that can be done.
func (d *ddRun) skipInput(n int64) int {
	name := d.in
	if name == "" {
		name = "standard input"
	}
	if r := command.Regular(d.src); r != nil {
		a, err := r.Stat()
		pos, perr := r.Seek(0, io.SeekCurrent)
		if err == nil && perr == nil {
			if pos+n > int64(a.Size) {
				d.c.Errorf("%s: cannot skip to specified offset", d.c.QuoteName(name))
				n = max(int64(a.Size)-pos, 0)
			}
			if _, err := r.Seek(n, io.SeekCurrent); err == nil {
				return 0
			}
		}
	}
	buf := make([]byte, min(n, int64(d.ibs)))
	for n > 0 {
		m, err := d.read(buf[:min(n, int64(len(buf)))])
		n -= int64(m)
		if err == io.EOF || m == 0 && err == nil {
			if n > 0 {
				d.c.Errorf("%s: cannot skip to specified offset", d.c.QuoteName(name))
			}
			return 0
		}
		if err != nil {
			return d.c.Errorf("error reading %s: %s", d.c.QuoteArg(name), command.Strerror(err))
		}
	}
	return 0
}

// read fills p as one read(2) does, or all of it with fullblock.
func (d *ddRun) read(p []byte) (int, error) {
	if err := d.ctx.Err(); err != nil {
		return 0, err
	}
	if d.fullBlock {
		n, err := io.ReadFull(d.src, p)
		if err == io.ErrUnexpectedEOF {
			err = nil
		}
		return n, err
	}
	return d.src.Read(p)
}

// copy is the main loop.
func (d *ddRun) copy() int {
	if err := d.c.Memory.Grow(int64(d.ibs + d.obs)); err != nil {
		return d.c.Errorf("memory exhausted by input buffer of size %d bytes", d.ibs)
	}
	defer d.c.Memory.Shrink(int64(d.ibs + d.obs))
	buf := make([]byte, d.ibs)
	status := 0
	var limit int64 = -1
	if d.hasCount {
		if limit = d.count; !d.countBytes {
			limit *= int64(d.ibs)
		}
	}
	var records, total int64
	for {
		if limit >= 0 && (d.countBytes && total >= limit || !d.countBytes && records >= d.count) {
			break
		}
		p := buf
		if d.countBytes && limit >= 0 {
			p = buf[:min(int64(len(buf)), limit-total)]
		}
		n, err := d.read(p)
		if n == 0 && err == nil {
			break
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			name := d.in
			if name == "" {
				name = "standard input"
			}
			status = d.c.Errorf("error reading %s: %s", d.c.QuoteArg(name), command.Strerror(err))
			break
		}
		records++
		total += int64(n)
		if n == d.ibs {
			d.fullIn++
		} else {
			d.partIn++
			if d.conv["sync"] {
				fill := byte(0)
				if d.conv["block"] || d.conv["unblock"] {
					fill = ' '
				}
				for i := n; i < d.ibs; i++ {
					buf[i] = fill
				}
				n = d.ibs
			}
		}
		if err := d.convert(buf[:n]); err != nil {
			return d.writeFailed(err)
		}
	}
	if err := d.finish(); err != nil {
		return d.writeFailed(err)
	}
	return status
}

func (d *ddRun) writeFailed(err error) int {
	if toErrno(err) == syscall.EPIPE && d.file == nil {
		return 128 + int(command.SIGPIPE)
	}
	name := d.out
	if name == "" {
		name = "standard output"
	}
	return d.c.Errorf("error writing %s: %s", d.c.QuoteArg(name), command.Strerror(err))
}

// convert changes a record as asked and writes it.
func (d *ddRun) convert(p []byte) error {
	if d.conv["swab"] {
		p = d.swab(p)
	}
	switch {
	case d.conv["lcase"]:
		p = bytes.ToLower(append([]byte{}, p...))
	case d.conv["ucase"]:
		p = bytes.ToUpper(append([]byte{}, p...))
	}
	switch {
	case d.conv["block"]:
		return d.block(p)
	case d.conv["unblock"]:
		return d.unblock(p)
	}
	return d.put(p)
}

// swab swaps each pair of bytes; an odd one waits for the next record.
func (d *ddRun) swab(p []byte) []byte {
	p = append(append([]byte{}, d.odd...), p...)
	d.odd = nil
	if len(p)%2 == 1 {
		d.odd = []byte{p[len(p)-1]}
		p = p[:len(p)-1]
	}
	for i := 0; i+1 < len(p); i += 2 {
		p[i], p[i+1] = p[i+1], p[i]
	}
	return p
}

// block pads lines with spaces to cbs bytes.
func (d *ddRun) block(p []byte) error {
	var out []byte
	for _, b := range p {
		if b == '\n' {
			for ; d.column < d.cbs; d.column++ {
				out = append(out, ' ')
			}
			d.column = 0
			continue
		}
		if d.column == d.cbs {
			d.truncated++
		} else if d.column < d.cbs {
			out = append(out, b)
		}
		d.column++
	}
	return d.put(out)
}

// unblock ends each cbs bytes with a newline instead of the spaces.
func (d *ddRun) unblock(p []byte) error {
	var out []byte
	for _, b := range p {
		if d.column == d.cbs {
			out = append(out, '\n')
			d.column, d.spaces = 0, 0
		}
		d.column++
		if b == ' ' {
			d.spaces++
			continue
		}
		for ; d.spaces > 0; d.spaces-- {
			out = append(out, ' ')
		}
		out = append(out, b)
	}
	return d.put(out)
}

// put gathers output and writes it in records of obs bytes.
func (d *ddRun) put(p []byte) error {
	if d.ibs == d.obs && len(d.conv) == 0 && len(d.pending) == 0 {
		return d.write(p) // each read is one write
	}
	for len(p) > 0 {
		n := min(len(p), d.obs-len(d.pending))
		d.pending = append(d.pending, p[:n]...)
		p = p[n:]
		if len(d.pending) == d.obs {
			if err := d.write(d.pending); err != nil {
				return err
			}
			d.pending = d.pending[:0]
		}
	}
	return nil
}

func (d *ddRun) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if d.conv["sparse"] && d.file != nil && len(bytes.Trim(p, "\x00")) == 0 {
		end, err := d.file.Seek(int64(len(p)), io.SeekCurrent)
		if err == nil {
			if a, serr := d.file.Stat(); serr == nil && int64(a.Size) < end {
				err = d.file.Truncate(end)
			}
		}
		if err != nil {
			return err
		}
	} else if n, err := d.dst.Write(p); err != nil {
		d.bytes += int64(n)
		return err
	}
	d.bytes += int64(len(p))
	if len(p) == d.obs {
		d.fullOut++
	} else {
		d.partOut++
	}
	return nil
}

// finish writes what is left.
func (d *ddRun) finish() error {
	var rest []byte
	if len(d.odd) > 0 {
		rest = append(rest, d.odd...)
	}
	if d.conv["block"] && d.column > 0 {
		for ; d.column < d.cbs; d.column++ {
			rest = append(rest, ' ')
		}
	}
	if d.conv["unblock"] && d.column > 0 {
		rest = append(rest, '\n')
	}
	if err := d.put(rest); err != nil {
		return err
	}
	return d.write(d.pending)
}
