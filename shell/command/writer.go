package command

import (
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
)

// bufferSize is how many bytes of standard output are gathered before a write,
// as in the C library for a pipe.
const bufferSize = 4096

// Writer is a buffered writer that remembers its first error, like the C
// library's stdout: after one failed write all further ones fail the same way.
// It is not safe for concurrent use.
type Writer struct {
	w   io.Writer
	buf []byte
	err error
	// line flushes at each newline (a terminal, stdbuf -oL).
	line bool
}

// NewWriter returns a Writer to w. It allocates its buffer when first used.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write buffers p, or passes it on when it is large.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	if len(w.buf)+len(p) > bufferSize {
		if err := w.Flush(); err != nil {
			return 0, err
		}
		if len(p) >= bufferSize {
			var n int
			n, w.err = w.w.Write(p)
			return n, w.err
		}
	}
	w.grow()
	w.buf = append(w.buf, p...)
	return len(p), w.endLine(p)
}

// WriteString is Write of a string.
func (w *Writer) WriteString(s string) (int, error) {
	if w.err == nil && len(w.buf)+len(s) <= bufferSize && !w.line {
		w.grow()
		w.buf = append(w.buf, s...)
		return len(s), nil
	}
	return w.Write([]byte(s))
}

// WriteByte writes one byte.
func (w *Writer) WriteByte(b byte) error {
	if w.err != nil {
		return w.err
	}
	if len(w.buf) >= bufferSize {
		if err := w.Flush(); err != nil {
			return err
		}
	}
	w.grow()
	w.buf = append(w.buf, b)
	if w.line && b == '\n' {
		return w.Flush()
	}
	return nil
}

func (w *Writer) grow() {
	if w.buf == nil {
		w.buf = make([]byte, 0, bufferSize)
	}
}

func (w *Writer) endLine(p []byte) error {
	if !w.line {
		return nil
	}
	for _, b := range p {
		if b == '\n' {
			return w.Flush()
		}
	}
	return nil
}

// LineBuffered makes every newline flush (grep --line-buffered, stdbuf -oL).
func (w *Writer) LineBuffered() { w.line = true }

// Flush writes out what is buffered.
func (w *Writer) Flush() error {
	if w.err != nil {
		return w.err
	}
	if len(w.buf) > 0 {
		_, w.err = w.w.Write(w.buf)
		w.buf = w.buf[:0]
	}
	return w.err
}

// Err returns the first error of a write, nil while there was none.
func (w *Writer) Err() error { return w.err }

// Underlying returns what the Writer writes to, for Regular and fstat.
func (w *Writer) Underlying() io.Writer { return w.w }

// Memory is an account of bytes held, shared by all of an execution. It is
// safe for concurrent use.
type Memory struct {
	used  atomic.Int64
	limit int64
}

// NewMemory returns an account of at most limit bytes; 0 means no limit.
func NewMemory(limit int64) *Memory { return &Memory{limit: limit} }

// Grow announces n more bytes; ENOMEM when the limit forbids them, and then
// they are not counted.
func (m *Memory) Grow(n int64) error {
	if m == nil {
		return nil
	}
	if used := m.used.Add(n); m.limit > 0 && used > m.limit && n > 0 {
		m.used.Add(-n)
		return syscall.ENOMEM
	}
	return nil
}

// Shrink takes n bytes off the account.
func (m *Memory) Shrink(n int64) {
	if m != nil {
		m.used.Add(-n)
	}
}

// Used returns the bytes on the account.
func (m *Memory) Used() int64 { return m.used.Load() }

// Left returns how many more bytes Grow would grant.
func (m *Memory) Left() int64 {
	if m == nil || m.limit <= 0 {
		return 1<<63 - 1
	}
	return max(0, m.limit-m.used.Load())
}

// Panic is the error that stands for a recovered panic.
type Panic struct{ Value any }

// Error says what was thrown.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }
