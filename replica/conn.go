package replica

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vfsd/vfsd/protocol"
)

// How much is read and written at a time, and how long a peer may take to take
// it.
const (
	readSize     = 256 << 10
	writeSize    = 1 << 20
	writeTimeout = 2 * time.Minute
	lingerTime   = 2 * time.Second  // for the peer to close as well
	busyPing     = 20 * time.Second // less than the protocol's silence
)

// conn drives a session over a connection: one goroutine reads, the caller of run
// writes. Whoever uses the session holds mu and calls wake afterwards.
type conn struct {
	nc net.Conn
	// handle hears of events, in order, with mu held.
	handle func(protocol.Event)
	kick   chan struct{}
	opened atomic.Bool // the session is open, or was
	rate   atomic.Pointer[Rate]
	busy   time.Duration // between pings while the session is busy

	mu sync.Mutex
	s  *protocol.Session // guarded by mu
}

func newConn(nc net.Conn, s *protocol.Session, handle func(protocol.Event)) *conn {
	return &conn{nc: nc, s: s, handle: handle, kick: make(chan struct{}, 1), busy: busyPing}
}

// wake has the writer look for something to send.
func (c *conn) wake() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// do uses the session.
func (c *conn) do(f func(*protocol.Session)) {
	c.mu.Lock()
	f(c.s)
	c.dispatch()
	c.mu.Unlock()
	c.wake()
}

// dispatch hands events on. mu is held.
func (c *conn) dispatch() {
	for _, e := range c.s.Events() {
		if e.Kind == protocol.EventOpen {
			c.opened.Store(true)
		}
		c.handle(e)
	}
}

// run drives the session until it is closed, or ctx ends, and closes the
// connection. It returns why the session ended.
func (c *conn) run(ctx context.Context) error {
	var reading sync.WaitGroup
	reading.Go(func() { c.read(ctx) })
	stop := context.AfterFunc(ctx, func() { c.do(func(s *protocol.Session) { s.Abort(context.Cause(ctx)) }) })
	err := c.write(ctx)
	stop()
	c.do(func(s *protocol.Session) { s.Abort(err) })
	if err == nil && ctx.Err() == nil {
		c.linger()
		reading.Wait()
	}
	if cerr := c.nc.Close(); cerr != nil && !errors.Is(cerr, net.ErrClosed) && err == nil {
		err = cerr
	}
	reading.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if serr := c.s.Err(); serr != nil {
		return serr
	}
	return err
}

// linger lets the peer read the last frame, which may be why the session ended:
// closing a connection with bytes that nobody read takes away those under way to
// the peer as well. The reader goes on until the peer closes too, or time is up.
func (c *conn) linger() {
	if h, ok := c.nc.(interface{ CloseWrite() error }); ok && h.CloseWrite() == nil && c.nc.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		return
	}
	_ = c.nc.Close() // run closes it again, and has its error
}

// read gives the session what arrives, and nobody what comes after its end.
func (c *conn) read(ctx context.Context) {
	buf := make([]byte, readSize)
	for {
		rate := c.rate.Load()
		n, err := c.nc.Read(buf[:rate.piece(readSize)])
		over := false
		c.do(func(s *protocol.Session) {
			if n > 0 {
				// The session keeps its error; run returns it.
				_ = s.Receive(time.Now(), buf[:n])
			}
			if err != nil {
				s.Abort(lost(err))
			}
			over = s.Closed()
		})
		for over && err == nil {
			_, err = c.nc.Read(buf)
		}
		if over {
			return
		}
		rate.wait(ctx, n)
	}
}

// ErrLost says that a connection ended in the middle. What arrived is kept.
var ErrLost = errors.New("the connection was lost; run it again: what arrived is kept")

func lost(err error) error { return errors.Join(ErrLost, err) }

// write sends what the session has to send, until it is closed and everything
// is sent.
func (c *conn) write(ctx context.Context) error {
	var buf []byte
	for {
		if err := c.lock(); err != nil {
			return err
		}
		buf = c.s.Output(buf[:0], writeSize)
		c.dispatch()
		over, deadline := c.s.Closed(), c.s.Deadline()
		c.mu.Unlock()
		if len(buf) > 0 {
			if err := c.sendRated(ctx, buf); err != nil {
				return err
			}
			continue
		}
		if over {
			return nil
		}
		c.await(deadline)
	}
}

// lock locks mu for the writer. While the session is busy for long, in the store,
// the peer hears that this end is alive.
func (c *conn) lock() error {
	if c.mu.TryLock() {
		return nil
	}
	locked := make(chan struct{})
	go func() {
		c.mu.Lock() // the writer unlocks
		close(locked)
	}()
	tick := time.NewTicker(c.busy)
	defer tick.Stop()
	for {
		select {
		case <-locked:
			return nil
		case <-tick.C:
		}
		if !c.opened.Load() {
			continue
		}
		if err := c.send(protocol.KeepAlive()); err != nil {
			<-locked
			c.mu.Unlock()
			return err
		}
	}
}

func (c *conn) sendRated(ctx context.Context, b []byte) error {
	for rate := c.rate.Load(); len(b) > 0; {
		n := rate.piece(len(b))
		if err := c.send(b[:n]); err != nil {
			return err
		}
		rate.wait(ctx, n)
		b = b[n:]
	}
	return nil
}

func (c *conn) send(b []byte) error {
	if err := c.nc.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := c.nc.Write(b); err != nil {
		return lost(err)
	}
	return nil
}

// await returns when there may be something to send.
func (c *conn) await(deadline time.Time) {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-c.kick:
	case now := <-timer.C:
		c.mu.Lock()
		_ = c.s.Tick(now) // the session keeps its error
		c.dispatch()
		c.mu.Unlock()
	}
}

// stats returns what the session has counted.
func (c *conn) stats() protocol.Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.s.Stats()
}
