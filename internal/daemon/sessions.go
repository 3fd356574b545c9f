package daemon

import (
	"sync"
	"time"

	"github.com/vfsd/vfsd/replica"
	"github.com/vfsd/vfsd/workspace"
)

// sessionIdle is how long a session with a remote is kept for the next exchange:
// opening one costs three round trips and the keys of TLS.
const sessionIdle = time.Minute

// sessionKey says what a session is good for: it keeps what arrives in one open
// workspace. A remote that was changed since is another one, and so is a workspace
// that was closed or removed.
type sessionKey struct {
	workspace *workspace.Workspace
	name      string
	remote    remote
	write     bool
}

// sessions are those that nobody uses just now.
type sessions struct {
	mu     sync.Mutex
	idle   map[sessionKey]*idleSession // guarded by mu
	closed bool                        // guarded by mu
}

type idleSession struct {
	c     *replica.Client
	timer *time.Timer
}

// take returns a session that is open, nil when there is none.
func (s *sessions) take(k sessionKey) *replica.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.idle[k]
	if x == nil {
		return nil
	}
	delete(s.idle, k)
	x.timer.Stop()
	if x.c.Over() {
		return nil
	}
	x.c.Reuse()
	return x.c
}

// put keeps a session for a while, unless there is one already.
func (s *sessions) put(k sessionKey, c *replica.Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.idle[k] != nil || c.Over() {
		go c.Close()
		return
	}
	if s.idle == nil {
		s.idle = map[sessionKey]*idleSession{}
	}
	x := &idleSession{c: c}
	x.timer = time.AfterFunc(sessionIdle, func() {
		s.mu.Lock()
		if s.idle[k] == x {
			delete(s.idle, k)
		}
		s.mu.Unlock()
		c.Close()
	})
	s.idle[k] = x
}

// drain ends those that are kept.
func (s *sessions) drain() {
	s.mu.Lock()
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	for _, x := range idle {
		x.timer.Stop()
		x.c.Close()
	}
}

// close ends those that are kept, and keeps none any more.
func (s *sessions) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.drain()
}
