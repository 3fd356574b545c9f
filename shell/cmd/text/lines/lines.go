// Package lines reads text by lines of any length and any content: a line is
// the bytes up to a delimiter, and what is held is announced to the account of
// the execution.
package lines

import (
	"bytes"
	"io"

	"github.com/vfsd/vfsd/shell/command"
)

// Size is how many bytes a Reader asks for at first.
const Size = 32 << 10

// maxEmptyReads is how many reads of nothing in a row are borne.
const maxEmptyReads = 100

// Reader reads lines. It is not safe for concurrent use.
type Reader struct {
	// Delim ends a line; '\n' unless changed.
	Delim byte

	src    io.Reader
	memory *command.Memory
	buf    []byte // buf[start:end] was read and not yet handed out
	start  int
	end    int
	read   int64 // bytes read from src
	err    error // the error that ended reading
}

// NewReader returns a Reader of src that accounts to memory.
func NewReader(src io.Reader, memory *command.Memory) *Reader {
	return &Reader{Delim: '\n', src: src, memory: memory}
}

// Reset makes r read src, with the buffer that it has.
func (r *Reader) Reset(src io.Reader) {
	r.src, r.err = src, nil
	r.start, r.end, r.read = 0, 0, 0
}

// Release takes the buffer off the account.
func (r *Reader) Release() {
	if n := len(r.buf) - Size; n > 0 {
		r.memory.Shrink(int64(n))
	}
	r.buf = nil
	r.start, r.end = 0, 0
}

// Next returns the next line without its delimiter, and whether it had one: the
// last line may lack it. The line is valid until the next call. At the end it
// returns io.EOF, after a failed read that error, and ENOMEM when the account
// has no room for the line.
func (r *Reader) Next() (line []byte, ended bool, err error) {
	scanned := r.start
	for {
		if i := bytes.IndexByte(r.buf[scanned:r.end], r.Delim); i >= 0 {
			line = r.buf[r.start : scanned+i]
			r.start = scanned + i + 1
			return line, true, nil
		}
		scanned = r.end - r.start
		if r.err == nil {
			r.err = r.fill()
			scanned += r.start
			continue
		}
		if scanned > 0 && r.err == io.EOF {
			line = r.buf[r.start:r.end]
			r.start = r.end
			return line, false, nil
		}
		return nil, false, r.err
	}
}

// Window returns what was read and not yet handed out; it reads only when that
// is nothing. It is for those who search faster than by line: Skip takes bytes
// away. io.EOF when there is nothing left.
func (r *Reader) Window() ([]byte, error) {
	for r.end == r.start && r.err == nil {
		r.err = r.fill()
	}
	if r.end == r.start {
		return nil, r.err
	}
	return r.buf[r.start:r.end], nil
}

// More reads more behind what Window returned, and returns all of it; io.EOF
// when there is no more.
func (r *Reader) More() ([]byte, error) {
	if r.err == nil {
		r.err = r.fill()
	}
	return r.buf[r.start:r.end], r.err
}

// Skip takes n bytes of the window away.
func (r *Reader) Skip(n int) { r.start += n }

// Consumed returns how many bytes were handed out or skipped.
func (r *Reader) Consumed() int64 { return r.read - int64(r.end-r.start) }

// Unread gives what was read too much back to a file that has a position, so
// that whoever reads it next goes on after the last line handed out.
func (r *Reader) Unread() {
	if n := r.end - r.start; n > 0 {
		if f := command.Regular(r.src); f != nil {
			if _, err := f.Seek(int64(-n), io.SeekCurrent); err == nil {
				r.read -= int64(n)
				r.end = r.start
			}
		}
	}
}

// fill reads once more, making room first.
func (r *Reader) fill() error {
	if r.start > 0 {
		copy(r.buf, r.buf[r.start:r.end])
		r.end -= r.start
		r.start = 0
	}
	if r.end == len(r.buf) {
		if err := r.grow(); err != nil {
			return err
		}
	}
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.read += int64(n)
		if n > 0 || err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

func (r *Reader) grow() error {
	n := max(Size, 2*len(r.buf))
	if len(r.buf) > 0 {
		if err := r.memory.Grow(int64(n - len(r.buf))); err != nil {
			return err
		}
	}
	grown := make([]byte, n)
	copy(grown, r.buf[:r.end])
	r.buf = grown
	return nil
}
