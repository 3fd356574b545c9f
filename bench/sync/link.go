package syncbench

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// link is a proxy to one address that delays each direction by half a round trip
// and counts what passes. It limits no rate: bytes in flight are as many as the
// ends send.
type link struct {
	net.Listener
	target func() (net.Conn, error)
	delay  atomic.Int64 // of one direction, in ns
	up     atomic.Int64 // bytes from whoever connects
	down   atomic.Int64
	turns  atomic.Int64 // how often the direction changed
	last   atomic.Int32
	conns  sync.WaitGroup
}

// newLink listens on a port of this machine and forwards to what target opens.
func newLink(target func() (net.Conn, error)) (*link, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	k := &link{Listener: l, target: target}
	k.conns.Go(k.serve)
	return k, nil
}

func (k *link) port() int { return k.Addr().(*net.TCPAddr).Port }

// close ends the link; connections that are open end when either side does.
func (k *link) close() error {
	err := k.Listener.Close()
	k.conns.Wait()
	return err
}

// reset begins to count anew, with another round trip.
func (k *link) reset(rtt time.Duration) {
	k.delay.Store(int64(rtt / 2))
	k.up.Store(0)
	k.down.Store(0)
	k.turns.Store(0)
	k.last.Store(0)
}

func (k *link) serve() {
	for {
		c, err := k.Accept()
		if err != nil {
			return
		}
		k.conns.Go(func() { k.forward(c) })
	}
}

func (k *link) forward(c net.Conn) {
	defer c.Close()
	time.Sleep(time.Duration(2 * k.delay.Load())) // the handshake
	d, err := k.target()
	if err != nil {
		return
	}
	defer d.Close()
	var both sync.WaitGroup
	both.Go(func() { k.pump(d, c, &k.up, 1) })
	both.Go(func() { k.pump(c, d, &k.down, 2) })
	both.Wait()
}

// parcel is bytes on their way.
type parcel struct {
	due  time.Time
	data []byte
}

// pump carries one direction: a reader stamps what comes with the time when it
// is due, a writer waits for it.
func (k *link) pump(to, from net.Conn, count *atomic.Int64, direction int32) {
	way := make(chan parcel, 4096)
	go func() {
		defer close(way)
		for {
			buf := make([]byte, 64<<10)
			n, err := from.Read(buf)
			if n > 0 {
				count.Add(int64(n))
				if k.last.Swap(direction) != direction {
					k.turns.Add(1)
				}
				way <- parcel{time.Now().Add(time.Duration(k.delay.Load())), buf[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	broken := false
	for p := range way {
		time.Sleep(time.Until(p.due))
		if broken {
			continue
		}
		if _, err := to.Write(p.data); err != nil {
			broken = true
			from.Close() // the reader ends, and with it this loop
		}
	}
	if t, ok := to.(*net.TCPConn); ok && !broken {
		if err := t.CloseWrite(); err != nil && !errors.Is(err, net.ErrClosed) {
			to.Close()
		}
	} else if h, ok := to.(interface{ CloseWrite() error }); ok && !broken {
		_ = h.CloseWrite() // the other side has gone
	} else if c, ok := to.(io.Closer); ok {
		c.Close()
	}
}
