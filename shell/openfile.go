package shell

import (
	"bytes"
	"context"
	"io"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// openFile is an open file as descriptors refer to it: duplicates of a
// descriptor, in one process or in several, share it and its position. It is
// closed when the last reference goes.
type openFile struct {
	refs atomic.Int32
	stream
	name  string
	read  bool
	write bool
}

// stream is what an openFile reads and writes. Waits end with ctx.
type stream interface {
	readAt(ctx context.Context, p []byte) (int, error)
	writeTo(ctx context.Context, p []byte) (int, error)
	close() error
	stat() (vfs.Attr, error)
}

// newOpenFile wraps a stream; it has one reference.
func newOpenFile(s stream, name string, read, write bool) *openFile {
	f := &openFile{stream: s, name: name, read: read, write: write}
	f.refs.Store(1)
	return f
}

// retain adds a reference and returns f.
func (f *openFile) retain() *openFile {
	if f != nil {
		f.refs.Add(1)
	}
	return f
}

// release drops a reference; the last one closes.
func (f *openFile) release() error {
	if f != nil && f.refs.Add(-1) == 0 {
		return f.stream.close()
	}
	return nil
}

// Read reads through a descriptor.
func (f *openFile) Read(ctx context.Context, p []byte) (int, error) {
	if !f.read {
		return 0, syscall.EBADF
	}
	return f.stream.readAt(ctx, p)
}

// Write writes all of p through a descriptor.
func (f *openFile) Write(ctx context.Context, p []byte) (int, error) {
	if !f.write {
		return 0, syscall.EBADF
	}
	return f.stream.writeTo(ctx, p)
}

// regular is a stream over a vfs.File: a regular file, a directory, a device.
type regular struct{ vfs.File }

func (r regular) readAt(_ context.Context, p []byte) (int, error)  { return r.File.Read(p) }
func (r regular) writeTo(_ context.Context, p []byte) (int, error) { return r.File.Write(p) }
func (r regular) close() error                                     { return r.File.Close() }
func (r regular) stat() (vfs.Attr, error)                          { return r.File.Stat() }

// pipeEnd is a stream over one end of a pipe, or both ends of a FIFO.
type pipeEnd struct {
	p             *pipe
	reads, writes bool
	attr          vfs.Attr
}

func (e *pipeEnd) readAt(ctx context.Context, p []byte) (int, error)  { return e.p.read(ctx, p) }
func (e *pipeEnd) writeTo(ctx context.Context, p []byte) (int, error) { return e.p.write(ctx, p) }
func (e *pipeEnd) stat() (vfs.Attr, error)                            { return e.attr, nil }

func (e *pipeEnd) close() error {
	e.p.close(e.reads, e.writes)
	return nil
}

var pipesMade atomic.Uint64

// newPipeFiles returns the two ends of a new pipe.
func newPipeFiles() (r, w *openFile) {
	p := newPipe()
	p.open(true, true)
	// Each has a number of its own, so that two are not taken for the same file.
	attr := vfs.Attr{Ino: virtualIno - vfs.Ino(pipesMade.Add(1)), Mode: vfs.ModeFIFO | 0o600, Nlink: 1}
	r = newOpenFile(&pipeEnd{p: p, reads: true, attr: attr}, "pipe", true, false)
	w = newOpenFile(&pipeEnd{p: p, writes: true, attr: attr}, "pipe", false, true)
	return r, w
}

// sink is a stream over an io.Writer of the caller's: an execution's outputs.
type sink struct {
	mu *sync.Mutex
	w  io.Writer
	x  *execution
}

func (s *sink) readAt(context.Context, []byte) (int, error) { return 0, syscall.EBADF }
func (s *sink) close() error                                { return nil }
func (s *sink) stat() (vfs.Attr, error)                     { return vfs.Attr{Mode: vfs.ModeFIFO | 0o600}, nil }

func (s *sink) writeTo(ctx context.Context, p []byte) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, context.Cause(ctx)
	}
	if err := s.x.output(len(p)); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w, ok := s.w.(ContextWriter); ok {
		return w.WriteContext(ctx, p)
	}
	return s.w.Write(p)
}

// source is a stream over an io.Reader of the caller's: an execution's input.
// From the first read on a goroutine of its own moves bytes into a pipe, so
// that a wait can be given up though the reader's cannot.
type source struct {
	pipeEnd
	once sync.Once
	r    io.Reader
	x    *execution
}

// newSource returns an openFile over r.
func newSource(x *execution, r io.Reader) *openFile {
	if r == nil {
		return newOpenFile(&text{}, "stdin", true, false)
	}
	s := &source{r: r, x: x}
	s.p, s.reads = newPipe(), true
	s.attr.Mode = vfs.ModeFIFO | 0o600
	s.p.open(true, true)
	return newOpenFile(s, "stdin", true, false)
}

// start starts the goroutine. It ends with the execution, unless the reader
// keeps it.
func (s *source) start() {
	command.Go(func() {
		defer s.p.close(false, true)
		buf := make([]byte, 32<<10)
		for {
			n, err := s.r.Read(buf)
			if n > 0 {
				if _, werr := s.p.write(s.x.ctx, buf[:n]); werr != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
}

func (s *source) readAt(ctx context.Context, p []byte) (int, error) {
	s.once.Do(s.start)
	return s.p.read(ctx, p)
}

// capture is a stream that keeps what is written: the output of a command
// substitution. done is closed with the last writer.
type capture struct {
	mu   sync.Mutex
	buf  bytes.Buffer // guarded by mu
	x    *execution
	done chan struct{}
}

func (c *capture) readAt(context.Context, []byte) (int, error) { return 0, syscall.EBADF }
func (c *capture) stat() (vfs.Attr, error)                     { return vfs.Attr{Mode: vfs.ModeFIFO | 0o600}, nil }

func (c *capture) writeTo(ctx context.Context, p []byte) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, context.Cause(ctx)
	}
	if err := c.x.grow(len(p)); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf.Write(p)
}

func (c *capture) close() error {
	close(c.done)
	return nil
}

// text is a stream over bytes in memory: a here-document or a here-string.
type text struct {
	mu sync.Mutex
	s  string // guarded by mu: what is left
}

func (t *text) writeTo(context.Context, []byte) (int, error) { return 0, syscall.EBADF }
func (t *text) close() error                                 { return nil }
func (t *text) stat() (vfs.Attr, error)                      { return vfs.Attr{Mode: vfs.ModeFIFO | 0o600}, nil }

func (t *text) readAt(_ context.Context, p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s == "" {
		return 0, io.EOF
	}
	n := copy(p, t.s)
	t.s = t.s[n:]
	return n, nil
}

// readUntil appends bytes to dst up to and with delim, at most limit when that
// is not negative; more says that neither was reached and no end either.
func (f *openFile) readUntil(ctx context.Context, dst []byte, delim byte, limit int) (out []byte, more bool, err error) {
	if !f.read {
		return dst, false, syscall.EBADF
	}
	switch s := f.stream.(type) {
	case *pipeEnd:
		return s.p.readUntil(ctx, dst, delim, limit)
	case *fifoEnd:
		return s.p.readUntil(ctx, dst, delim, limit)
	case *source:
		s.once.Do(s.start)
		return s.p.readUntil(ctx, dst, delim, limit)
	case *text:
		return s.readUntil(dst, delim, limit)
	case regular:
		if r, ok := s.File.(*vfs.RegularFile); ok {
			return readFileUntil(r, dst, delim, limit)
		}
	}
	var one [1]byte
	n, err := f.stream.readAt(ctx, one[:])
	if n == 0 {
		return dst, false, err
	}
	return append(dst, one[0]), one[0] != delim && limit != 1, nil
}

func (t *text) readUntil(dst []byte, delim byte, limit int) ([]byte, bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s == "" {
		return dst, false, io.EOF
	}
	n, more := upTo(t.s, delim, limit)
	dst = append(dst, t.s[:n]...)
	t.s = t.s[n:]
	return dst, more, nil
}

// upTo is how much of s a read up to delim or limit takes.
func upTo[T string | []byte](s T, delim byte, limit int) (n int, more bool) {
	for i := 0; i < len(s); i++ {
		if i == limit {
			return i, false
		}
		if s[i] == delim {
			return i + 1, false
		}
	}
	return len(s), len(s) != limit
}

// readFileUntil reads ahead in a regular file and moves the position only past
// what was taken.
func readFileUntil(r *vfs.RegularFile, dst []byte, delim byte, limit int) ([]byte, bool, error) {
	pos, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return dst, false, err
	}
	var buf [512]byte
	n, err := r.ReadAt(buf[:], pos)
	if n == 0 {
		return dst, false, err
	}
	k, more := upTo(buf[:n], delim, limit)
	if _, err := r.Seek(pos+int64(k), io.SeekStart); err != nil {
		return dst, false, err
	}
	return append(dst, buf[:k]...), more, nil
}

// descriptor is a process's own view of an openFile as a vfs.File, whose waits
// end with that process. Close does nothing: the descriptor is the process's.
type descriptor struct {
	f   *openFile
	ctx context.Context
}

// Underlying returns the regular file behind the descriptor, if it is one.
func (d *descriptor) Underlying() vfs.File {
	if r, ok := d.f.stream.(regular); ok {
		return r.File
	}
	return nil
}

func (d *descriptor) Read(p []byte) (int, error)  { return d.f.Read(d.ctx, p) }
func (d *descriptor) Write(p []byte) (int, error) { return d.f.Write(d.ctx, p) }
func (d *descriptor) Close() error                { return nil }
func (d *descriptor) Stat() (vfs.Attr, error)     { return d.f.stat() }

func (d *descriptor) Seek(off int64, whence int) (int64, error) {
	if f := d.Underlying(); f != nil {
		return f.Seek(off, whence)
	}
	return 0, syscall.ESPIPE
}

func (d *descriptor) ReadAt(p []byte, off int64) (int, error) {
	if f := d.Underlying(); f != nil && d.f.read {
		return f.ReadAt(p, off)
	}
	return 0, syscall.ESPIPE
}

func (d *descriptor) WriteAt(p []byte, off int64) (int, error) {
	if f := d.Underlying(); f != nil && d.f.write {
		return f.WriteAt(p, off)
	}
	return 0, syscall.ESPIPE
}

func (d *descriptor) Truncate(size int64) error {
	if f := d.Underlying(); f != nil && d.f.write {
		return f.Truncate(size)
	}
	return syscall.EINVAL
}

func (d *descriptor) Fsync() error {
	if f := d.Underlying(); f != nil {
		return f.Fsync()
	}
	return syscall.EINVAL
}

// foreign is a stream over a reader or writer that a command made for its child:
// a buffer, say.
type foreign struct{ v any }

func (f *foreign) close() error            { return nil }
func (f *foreign) stat() (vfs.Attr, error) { return vfs.Attr{Mode: vfs.ModeFIFO | 0o600}, nil }

func (f *foreign) readAt(ctx context.Context, p []byte) (int, error) {
	if r, ok := f.v.(io.Reader); ok && ctx.Err() == nil {
		return r.Read(p)
	}
	return 0, syscall.EBADF
}

func (f *foreign) writeTo(ctx context.Context, p []byte) (int, error) {
	if w, ok := f.v.(io.Writer); ok && ctx.Err() == nil {
		return w.Write(p)
	}
	return 0, syscall.EBADF
}
