package shell

import (
	"context"
	"io"
	"sync"
	"syscall"
)

// pipeSize is how many bytes a pipe holds, as on Linux.
const pipeSize = 64 << 10

// pipe is a bounded channel of bytes. Waits end with the waiter's context. Its
// buffer grows with what is in it and is dropped when it is empty, so that an
// idle pipe costs nothing.
type pipe struct {
	mu      sync.Mutex
	cond    sync.Cond
	buf     []byte // guarded by mu
	head    int    // guarded by mu: what of buf was read
	readers int    // guarded by mu: open read ends
	writers int    // guarded by mu: open write ends
	// opened counts read and write ends ever opened, for FIFOs: who waits for
	// the other side waits for this to move.
	openedReaders, openedWriters int // guarded by mu
}

func newPipe() *pipe {
	p := &pipe{}
	p.cond.L = &p.mu
	return p
}

// wait waits for a change; p.mu is held before and after.
func (p *pipe) wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	stop := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		p.cond.Broadcast()
		p.mu.Unlock()
	})
	p.cond.Wait()
	stop()
	return nil
}

// read reads what is there, waiting for the first byte; io.EOF when no writer
// is left.
func (p *pipe) read(ctx context.Context, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.fill(ctx); err != nil {
		return 0, err
	}
	n := copy(b, p.buf[p.head:])
	p.drop(n)
	return n, nil
}

// fill waits until there are bytes; p.mu is held.
func (p *pipe) fill(ctx context.Context) error {
	for len(p.buf) == p.head {
		if p.writers == 0 {
			return io.EOF
		}
		if err := p.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// drop takes n bytes out; p.mu is held.
func (p *pipe) drop(n int) {
	p.head += n
	if p.head == len(p.buf) {
		p.buf, p.head = p.buf[:0], 0
		if cap(p.buf) > 4096 {
			p.buf = nil
		}
	}
	p.cond.Broadcast()
}

// readUntil appends bytes to dst up to and with delim, but at most limit (when
// it is not negative) and only what is there; more says that the delimiter or
// the limit was not reached.
func (p *pipe) readUntil(ctx context.Context, dst []byte, delim byte, limit int) (out []byte, more bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.fill(ctx); err != nil {
		return dst, false, err
	}
	b := p.buf[p.head:]
	for i, c := range b {
		if i == limit {
			p.drop(i)
			return append(dst, b[:i]...), false, nil
		}
		if c == delim {
			dst = append(dst, b[:i+1]...)
			p.drop(i + 1)
			return dst, false, nil
		}
	}
	dst = append(dst, b...)
	p.drop(len(b))
	return dst, len(b) != limit, nil
}

// ready reports whether a read would not wait.
func (p *pipe) ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.buf) > p.head || p.writers == 0
}

// write writes all of b, waiting for room; EPIPE when no reader is left.
func (p *pipe) write(ctx context.Context, b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for {
		if p.readers == 0 {
			return n, syscall.EPIPE
		}
		room := pipeSize - (len(p.buf) - p.head)
		// A write of up to 4096 bytes is not torn.
		if room > 0 && (len(b) > 4096 || room >= len(b)) {
			k := min(room, len(b))
			if p.head > 0 && len(p.buf)+k > cap(p.buf) {
				p.buf = append(p.buf[:0], p.buf[p.head:]...)
				p.head = 0
			}
			p.buf = append(p.buf, b[:k]...)
			b = b[k:]
			n += k
			p.cond.Broadcast()
		}
		if len(b) == 0 {
			return n, nil
		}
		if err := p.wait(ctx); err != nil {
			return n, err
		}
	}
}

// open adds a read end, a write end or both.
func (p *pipe) open(reads, writes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if reads {
		p.readers++
		p.openedReaders++
	}
	if writes {
		p.writers++
		p.openedWriters++
	}
	p.cond.Broadcast()
}

// close takes an end away.
func (p *pipe) close(reads, writes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if reads {
		p.readers--
	}
	if writes {
		p.writers--
	}
	if p.readers == 0 && p.writers == 0 {
		p.buf, p.head = nil, 0
	}
	p.cond.Broadcast()
}

// meet waits, for a FIFO that was just opened for one direction, until the
// other side has been opened too.
func (p *pipe) meet(ctx context.Context, reads bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	start := p.openedWriters
	if !reads {
		start = p.openedReaders
	}
	for {
		now, others := p.openedWriters, p.writers
		if !reads {
			now, others = p.openedReaders, p.readers
		}
		if others > 0 || now != start {
			return nil
		}
		if err := p.wait(ctx); err != nil {
			return err
		}
	}
}
