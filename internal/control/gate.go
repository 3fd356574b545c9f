package control

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// gate lets calls through, or has them wait while the daemon hands over. The
// zero value is open.
type gate struct {
	mu    sync.Mutex
	calls map[string]int // under way, by name; guarded by mu
	idle  chan struct{}  // closed when none is under way; nil when nobody waits; guarded by mu
	held  chan struct{}  // closed when calls need not wait any more; nil when they need not; guarded by mu
	moved bool           // another process answers; guarded by mu
}

// errMoved is what a call gets that has come to the wrong process.
func errMoved() *Error {
	return Errorf(KindMoved, "another process has taken over; ask again on a new connection")
}

func (g *gate) enter(ctx context.Context, name string) error {
	g.mu.Lock()
	for g.held != nil {
		held := g.held
		g.mu.Unlock()
		select {
		case <-held:
		case <-ctx.Done():
			return ctx.Err()
		}
		g.mu.Lock()
	}
	defer g.mu.Unlock()
	if g.moved {
		return errMoved()
	}
	if g.calls == nil {
		g.calls = map[string]int{}
	}
	g.calls[name]++
	return nil
}

func (g *gate) leave(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls[name]--; g.calls[name] == 0 {
		delete(g.calls, name)
	}
	if len(g.calls) == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// hold makes calls wait, and waits itself until none is under way.
func (g *gate) hold(ctx context.Context) error {
	g.mu.Lock()
	if g.held == nil {
		g.held = make(chan struct{})
	}
	if len(g.calls) == 0 {
		g.mu.Unlock()
		return nil
	}
	if g.idle == nil {
		g.idle = make(chan struct{})
	}
	idle := g.idle
	g.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	var names []string
	for name := range g.calls {
		names = append(names, name)
	}
	g.mu.Unlock()
	g.release(false)
	slices.Sort(names)
	return Errorf(KindBusy, "calls are under way (%s); try again when they have ended", strings.Join(names, ", "))
}

func (g *gate) release(moved bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held != nil {
		close(g.held)
		g.held = nil
	}
	g.moved = g.moved || moved
}

// Hold makes calls wait, but for UpgradeCall, until Release or Move. It returns
// when those under way have ended: KindBusy, and all goes on, when ctx ends
// first.
func (s *Server) Hold(ctx context.Context) error { return s.gate.hold(ctx) }

// Release answers the calls that wait.
func (s *Server) Release() { s.gate.release(false) }

// Move sends calls, those that wait and all to come, to the process that has
// taken the socket over.
func (s *Server) Move() { s.gate.release(true) }

// pass answers a request once the gate lets it.
func (s *Server) pass(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, Prefix)
	if name == UpgradeCall.name { // it is what holds the others
		s.mux.ServeHTTP(w, r)
		return
	}
	if err := s.gate.enter(r.Context(), name); err != nil {
		w.Header().Set("Connection", "close")
		s.fail(w, err)
		return
	}
	defer s.gate.leave(name)
	s.mux.ServeHTTP(w, r)
}
