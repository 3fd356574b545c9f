package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/protocol"
	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"
)

// Visitor is who opened a session, for the log.
type Visitor struct {
	Remote    string // the address
	Agent     string
	Token     string // its ID, or "" for a user of this machine
	Label     string
	Workspace string
	// Expires is when the right ends, and the session with it; zero is never.
	Expires time.Time
}

// ServerOptions say what is served to whom.
type ServerOptions struct {
	// Admit judges a peer: the workspace to serve and the rights that it has,
	// or an error with vfs.ErrNoRight in its chain. It fills in what it knows of v.
	Admit func(ctx context.Context, v *Visitor, token string, write, create bool) (*workspace.Workspace, error)
	Agent string
	Log   *slog.Logger
	// Sessions bounds those that are open at a time; 0 is 1024.
	Sessions int
	// Audit hears what a session did.
	Audit func(v Visitor, what string, commit chunk.ID, stats protocol.Stats)
	Plain bool
	// Rate returns what bounds the bytes of a session, nil for nothing. Sessions
	// that it returns the same for share it. It is asked once, when the session
	// opens; nil bounds none.
	Rate func(v Visitor) *Rate
}

const defaultSessions = 1024

// Server serves workspaces to peers. It is safe for concurrent use.
type Server struct {
	o  ServerOptions
	wg sync.WaitGroup

	mu    sync.Mutex
	conns map[*conn]*serving // guarded by mu
	ended bool               // guarded by mu
	total protocol.Stats     // of sessions that are over; guarded by mu
	count uint64             // of sessions so far; guarded by mu
}

// serving is a session of the server's.
type serving struct {
	visitor Visitor
	w       *workspace.Workspace
	stop    func() // of the goroutine that follows w; nil until a peer watches
	expiry  *time.Timer
}

// follow tells the session of the workspace's head from now on.
func (v *serving) follow(c *conn, log *slog.Logger) {
	if v.stop != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	v.stop = func() { cancel(); <-done }
	go func() {
		defer close(done)
		_ = Follow(ctx, v.w, func(id chunk.ID) error { // it ends with ctx
			c.do(func(x *protocol.Session) { x.HeadMoved(protocol.ID(id)) })
			return nil
		}, func(err error) { log.Warn("commit for a peer that watches", "workspace", v.w.Name(), "err", err) })
	}()
}

// NewServer returns a server.
func NewServer(o ServerOptions) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Sessions == 0 {
		o.Sessions = defaultSessions
	}
	if o.Audit == nil {
		o.Audit = func(Visitor, string, chunk.ID, protocol.Stats) {}
	}
	return &Server{o: o, conns: map[*conn]*serving{}}
}

// acceptPause is how long a server waits when it cannot accept: too many files
// are open, say.
const acceptPause = 100 * time.Millisecond

// Serve accepts connections until the listener is closed.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	for {
		nc, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			s.o.Log.Warn("accept a peer", "err", err)
			select {
			case <-time.After(acceptPause):
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		s.wg.Go(func() { s.ServeConn(ctx, nc) })
	}
}

// Close ends all sessions and waits for them.
func (s *Server) Close() {
	s.mu.Lock()
	s.ended = true
	for c := range s.conns {
		go c.do(func(x *protocol.Session) { x.Close() })
	}
	s.mu.Unlock()
	s.wg.Wait()
}

// EndToken ends the sessions of a token that is not valid any more.
func (s *Server) EndToken(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, v := range s.conns {
		go c.do(func(x *protocol.Session) { // v is the session's, under its lock
			if v.visitor.Token == id {
				x.Abort(ErrTokenRevoked)
			}
		})
	}
}

// ServeConn serves one connection until it ends. A fault of the peer is logged
// and ends this session alone; so does a fault of ours that panics.
func (s *Server) ServeConn(ctx context.Context, nc net.Conn) {
	v := &serving{visitor: Visitor{Remote: nc.RemoteAddr().String()}}
	log := func(err error) {
		if err != nil {
			s.o.Log.Warn("session of a peer", "remote", v.visitor.Remote, "workspace", v.visitor.Workspace, "token", v.visitor.Token, "err", err)
		}
	}
	session := protocol.NewServer(time.Now(), protocol.Config{
		Context: ctx, Agent: s.o.Agent, Plain: s.o.Plain,
		Accept: func(h *protocol.Hello) (protocol.Grant, error) { return s.accept(ctx, v, h) },
	})
	var c *conn
	c = newConn(nc, session, func(e protocol.Event) { s.event(c, v, e) })
	if !s.enter(c, v) {
		session.Abort(errors.New("too many sessions"))
		log(errors.Join(fmt.Errorf("refused: %d sessions are open", s.o.Sessions), nc.Close()))
		return
	}
	defer s.leave(c, v)
	defer func() {
		if p := recover(); p != nil {
			log(fmt.Errorf("panic: %v", p))
			nc.Close()
		}
	}()
	log(c.run(ctx))
}

func (s *Server) enter(c *conn, v *serving) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || len(s.conns) >= s.o.Sessions {
		return false
	}
	s.conns[c] = v
	s.count++
	return true
}

func (s *Server) leave(c *conn, v *serving) {
	if v.stop != nil {
		v.stop()
	}
	if v.expiry != nil {
		v.expiry.Stop()
	}
	stats := c.stats()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	s.total = add(s.total, stats)
}

// accept judges a hello.
func (s *Server) accept(ctx context.Context, v *serving, h *protocol.Hello) (protocol.Grant, error) {
	v.visitor.Agent, v.visitor.Workspace = h.Agent, h.Workspace
	if h.Path != "/" {
		return protocol.Grant{}, protocol.Fail(protocol.CodeUnsupported, "parts of a workspace are not served")
	}
	write := h.Rights&protocol.RightWrite != 0
	w, err := s.o.Admit(ctx, &v.visitor, string(h.Token), write, h.Flags&protocol.HelloCreate != 0)
	if err != nil {
		return protocol.Grant{}, refusal(err)
	}
	v.w = w
	return protocol.Grant{Store: NewStore(w), Rights: h.Rights}, nil
}

// refusal says no more to the peer than what it may know.
func refusal(err error) error {
	switch {
	case errors.Is(err, ErrTokenExpired), errors.Is(err, ErrTokenRevoked):
		return protocol.Fail(protocol.CodeExpired, err.Error())
	case errors.Is(err, vfs.ErrNoRight):
		return protocol.Fail(protocol.CodeDenied, err.Error())
	case errors.Is(err, workspace.ErrNoSuch), errors.Is(err, workspace.ErrBadName):
		return protocol.Fail(protocol.CodeNotFound, err.Error())
	}
	return err
}

// event hears what a session did, with the connection's mu held.
func (s *Server) event(c *conn, v *serving, e protocol.Event) {
	switch e.Kind {
	case protocol.EventOpen:
		if s.o.Rate != nil {
			c.rate.Store(s.o.Rate(v.visitor))
		}
		if end := v.visitor.Expires; !end.IsZero() {
			v.expiry = time.AfterFunc(time.Until(end), func() {
				c.do(func(x *protocol.Session) { x.Abort(ErrTokenExpired) })
			})
		}
		s.o.Audit(v.visitor, "opened", chunk.ID(e.Commit), protocol.Stats{})
	case protocol.EventWatched:
		v.follow(c, s.o.Log)
	case protocol.EventServed:
		s.o.Audit(v.visitor, "read", chunk.ID(e.Commit), protocol.Stats{})
	case protocol.EventMoved:
		s.o.Audit(v.visitor, "moved the head", chunk.ID(e.Commit), protocol.Stats{})
	case protocol.EventClosed:
		s.o.Audit(v.visitor, "closed", chunk.ID{}, c.s.Stats())
	}
}

// Totals are the figures of a server.
type Totals struct {
	Open     int    // sessions now
	Sessions uint64 // so far
	protocol.Stats
}

// Totals returns the figures, those of open sessions included.
func (s *Server) Totals() Totals {
	s.mu.Lock()
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	t := Totals{Open: len(s.conns), Sessions: s.count, Stats: s.total}
	s.mu.Unlock()
	for _, c := range conns {
		t.Stats = add(t.Stats, c.stats())
	}
	return t
}

func add(a, b protocol.Stats) protocol.Stats {
	a.BytesIn += b.BytesIn
	a.BytesOut += b.BytesOut
	a.FramesIn += b.FramesIn
	a.FramesOut += b.FramesOut
	a.NodesIn += b.NodesIn
	a.NodesOut += b.NodesOut
	a.ChunksIn += b.ChunksIn
	a.ChunksOut += b.ChunksOut
	a.ChunkBytesIn += b.ChunkBytesIn
	a.ChunkBytesOut += b.ChunkBytesOut
	a.ChunksHad += b.ChunksHad
	a.EditsIn += b.EditsIn
	a.EditsOut += b.EditsOut
	return a
}
