//go:build linux

// Package bazil serves a mount with bazil.org/fuse, by its low-level loop.
// Import it for its effect:
//
//	import _ "github.com/vfsd/vfsd/mount/bazil"
//
// The library speaks protocol 7.33; what that and its choice of features lack
// is in the driver's Capabilities. It keeps its own copy of every read.
package bazil

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"

	"bazil.org/fuse"
	"github.com/vfsd/vfsd/mount"
)

// Name is the driver's name.
const Name = "bazil"

func init() {
	lentDescriptor()
	mount.Register(driver{})
}

type driver struct{}

func (driver) Name() string { return Name }

func (driver) Capabilities() mount.Capabilities {
	return mount.Capabilities{ZeroRange: true, MaxRequest: maxRequest}
}

const (
	maxRequest    = 128 << 10
	maxReadahead  = 1 << 20
	maxBackground = 64
	// maxIdle is how many goroutines may wait for the next request.
	maxIdle = 2
)

func (driver) Serve(c mount.Conn, s *mount.Server, ready func()) error {
	conn, err := lend(c.FD, func() (*fuse.Conn, error) {
		return fuse.Mount(c.MountPoint, fuse.AsyncRead(), fuse.CacheSymlinks(), fuse.ExplicitInvalidateData(),
			fuse.HandleKillPriv(), fuse.MaxReadahead(maxReadahead), fuse.MaxBackground(maxBackground))
	})
	if err != nil {
		return fmt.Errorf("bazil: %w", err)
	}
	defer conn.Close()
	ready()
	l := &loop{conn: conn, s: s, inFlight: map[fuse.RequestID]chan struct{}{}}
	l.wg.Go(l.read)
	l.wg.Wait()
	return l.err
}

// loop reads requests in as many goroutines as there are requests under way.
type loop struct {
	conn *fuse.Conn
	s    *mount.Server
	wg   sync.WaitGroup
	idle atomic.Int32 // goroutines that wait for a request

	mu       sync.Mutex
	inFlight map[fuse.RequestID]chan struct{} // guarded by mu
	ended    bool                             // the connection; guarded by mu
	err      error                            // what ended the loop; guarded by mu
}

// read answers requests until the connection ends, or until enough others
// wait. Whoever takes a request while nobody else waits leaves a successor, so
// that a request that waits for another one does not stop the mount.
func (l *loop) read() {
	for {
		l.idle.Add(1)
		req, err := l.conn.ReadRequest()
		idle := l.idle.Add(-1)
		switch {
		case err == io.EOF, errors.Is(err, syscall.ECONNABORTED):
			l.end(nil)
			return
		case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.EAGAIN):
			continue // a signal of the runtime, or a request that was withdrawn
		case err != nil:
			l.end(fmt.Errorf("bazil: %w", err))
			return
		}
		if idle == 0 {
			l.wg.Go(l.read)
		}
		l.answer(req)
		if l.idle.Load() >= maxIdle {
			return
		}
	}
}

// end cancels every request under way: nobody waits for it any more.
func (l *loop) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	l.ended = true
	for id, cancel := range l.inFlight {
		close(cancel)
		delete(l.inFlight, id)
	}
}

// answer answers one request, whatever happens in it.
func (l *loop) answer(req fuse.Request) {
	if in, ok := req.(*fuse.InterruptRequest); ok {
		l.interrupt(in.IntrID)
		in.Respond()
		return
	}
	cancel := make(chan struct{})
	id := req.Hdr().ID
	l.mu.Lock()
	if l.ended {
		close(cancel)
	} else {
		l.inFlight[id] = cancel
	}
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.inFlight, id)
		l.mu.Unlock()
		if r := recover(); r != nil {
			req.RespondError(l.s.Recovered(r, debug.Stack()))
		}
	}()
	l.dispatch(req, cancel)
}

func (l *loop) interrupt(id fuse.RequestID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cancel, ok := l.inFlight[id]; ok {
		close(cancel)
		delete(l.inFlight, id)
	}
}
