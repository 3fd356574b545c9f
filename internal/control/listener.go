package control

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Listener is the socket of a data directory. It can be handed to another
// process: Pause, then File.
type Listener struct {
	*net.UnixListener

	mu     sync.Mutex
	resume chan struct{} // closed when Accept may go on; nil when it may; guarded by mu
	parked chan struct{} // closed when Accept waits for that; guarded by mu
}

// Pause returns when Accept waits for Resume and touches the socket no more:
// whoever connects waits in the kernel's queue. It is for the time in which
// another process may set the socket, which is one for both, to block. Somebody
// must be calling Accept.
func (l *Listener) Pause() error {
	l.mu.Lock()
	l.resume, l.parked = make(chan struct{}), make(chan struct{})
	parked := l.parked
	l.mu.Unlock()
	if err := l.SetDeadline(time.Unix(1, 0)); err != nil {
		return err
	}
	<-parked
	return nil
}

// Resume is the end of a Pause.
func (l *Listener) Resume() error {
	raw, err := l.SyscallConn()
	if err != nil {
		return err
	}
	// What handed the descriptor on may have made it block.
	if cerr := raw.Control(func(fd uintptr) { err = syscall.SetNonblock(int(fd), true) }); cerr != nil {
		err = cerr
	}
	err = errors.Join(err, l.SetDeadline(time.Time{}))
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.resume)
	l.resume = nil
	return err
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.UnixListener.Accept()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return c, err
		}
		l.mu.Lock()
		resume, parked := l.resume, l.parked
		l.parked = nil
		l.mu.Unlock()
		if resume == nil {
			continue
		}
		if parked != nil {
			close(parked)
		}
		<-resume
	}
}

// Close implements net.Listener. It ends a pause.
func (l *Listener) Close() error {
	err := l.UnixListener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.resume != nil {
		close(l.resume)
		l.resume = nil
	}
	return err
}
