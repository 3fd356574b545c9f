package protocol

import (
	"context"
	"errors"
	"time"
)

// Config is what a session is made of.
type Config struct {
	Context context.Context // of all calls of the store; nil is the background
	Agent   string          // name and version of this program
	Plain   bool            // never compress: the way is faster than that

	// Of a client.
	Store     Store
	Workspace string
	Path      string // "" is "/"
	Rights    uint64 // that are needed
	Token     []byte
	Create    bool // the workspace may be new

	// Accept, of a server, judges a hello. Its error, if it is made by Fail,
	// is what the peer is told.
	Accept func(*Hello) (Grant, error)

	tune *tuning // of tests
}

// Grant is what an accepted client may do, and on what.
type Grant struct {
	Store  Store
	Rights uint64
}

type state uint8

const (
	opening state = iota // hello or welcome is awaited
	open
	closed
)

// Session is one end of a connection, without the connection: bytes that
// arrived go in by Receive, bytes to send come out of Output, what happened
// out of Events. It reads no clock: Receive and Tick are told the time. It is
// used by one goroutine at a time.
//
//   - I1 What one session holds in memory is bounded by the limits, whatever
//     the peer sends.
//   - I2 Nothing of the peer reaches the store before its digest was compared
//     with what was asked for or announced.
//   - I3 A head moves only by Store.CompareAndSwapHead, after Import.Finish.
//   - I4 After an error of the session nothing of the peer is taken any more.
type Session struct {
	ctx    context.Context
	cfg    Config
	tune   tuning
	server bool
	state  state
	err    error
	store  Store
	rights uint64
	caps   uint64

	in      []byte // the beginning of a frame
	control []byte // frames to send that need no credit
	events  []Event

	flow    flow
	clock   clock
	last    uint64 // the highest request number so far
	exports []*export
	imports map[uint64]*transfer
	gets    map[uint64]*get
	watches map[uint64]*watch
	turn    int // whose export sends next
	stats   Stats
}

// Stats counts what a session did.
type Stats struct {
	BytesIn, BytesOut   uint64 // of frames
	FramesIn, FramesOut uint64
	NodesIn, NodesOut   uint64
	ChunksIn, ChunksOut uint64
	ChunkBytesIn        uint64 // uncompressed
	ChunkBytesOut       uint64
	ChunksHad           uint64 // that a tree to receive refers to and that were here
	EditsIn, EditsOut   uint64
}

// keptBuffer is how large a buffer is kept for the next frame.
const keptBuffer = 1 << 20

// NewClient returns the end that opens a session; its hello waits in Output.
func NewClient(now time.Time, cfg Config) *Session {
	s := newSession(now, cfg)
	s.store = cfg.Store
	h := &Hello{
		Version: Version, Oldest: Version, Caps: s.caps, Agent: cut(cfg.Agent, maxAgent),
		Workspace: cfg.Workspace, Path: cfg.Path, Rights: cfg.Rights, Token: cfg.Token,
		TreeWindow: s.tune.treeWindow, ChunkWindow: s.tune.chunkWindow,
	}
	if h.Path == "" {
		h.Path = "/"
	}
	if cfg.Create {
		h.Flags = HelloCreate
	}
	s.send(h)
	return s
}

// NewServer returns the end that accepts one.
func NewServer(now time.Time, cfg Config) *Session {
	s := newSession(now, cfg)
	s.server = true
	return s
}

func newSession(now time.Time, cfg Config) *Session {
	s := &Session{
		ctx: cfg.Context, cfg: cfg, tune: usual, caps: capsKnown,
		imports: map[uint64]*transfer{}, gets: map[uint64]*get{}, watches: map[uint64]*watch{},
	}
	if s.ctx == nil {
		s.ctx = context.Background()
	}
	if cfg.tune != nil {
		s.tune = *cfg.tune
	}
	if cfg.Plain {
		s.caps &^= CapZstd
	}
	s.flow.give(ClassTree, s.tune.treeWindow)
	s.flow.give(ClassChunk, s.tune.chunkWindow)
	s.clock.begin(now)
	return s
}

// Stats returns the counts so far.
func (s *Session) Stats() Stats { return s.stats }

// Err returns why the session is closed: nil while it is not, or after a bye
// of either end.
func (s *Session) Err() error {
	if errors.Is(s.err, errBye) {
		return nil
	}
	return s.err
}

// Closed reports whether nothing more comes in. What Output still returns
// should be sent.
func (s *Session) Closed() bool { return s.state == closed }

// Open reports whether the hello was answered and the session is not closed.
func (s *Session) Open() bool { return s.state == open }

// Receive takes bytes from the peer; p is not kept. An error closes the
// session; the peer is told by what Output returns.
func (s *Session) Receive(now time.Time, p []byte) error {
	if s.state == closed {
		return s.err
	}
	s.stats.BytesIn += uint64(len(p))
	for len(p) > 0 && s.state != closed {
		var err error
		if p, err = s.receive(now, p); err != nil {
			s.end(asError(err))
		}
	}
	s.clock.heard(now, len(s.in) > 0)
	return s.Err()
}

// receive handles the first frame in p, or keeps its beginning, and returns
// the bytes after it. A frame that is whole in p is not copied.
func (s *Session) receive(now time.Time, p []byte) ([]byte, error) {
	s.clock.heard(now, true)
	if len(s.in) == 0 && len(p) >= frameHeader {
		n, err := checkFrame(p, s.maxBody())
		if err != nil {
			return nil, err
		}
		if end := frameHeader + n; len(p) >= end {
			return p[end:], s.frame(now, p[:frameHeader], p[frameHeader:end])
		}
	}
	if need := frameHeader - len(s.in); need > 0 {
		k := min(need, len(p))
		s.in, p = append(s.in, p[:k]...), p[k:]
		if len(s.in) < frameHeader {
			return p, nil
		}
	}
	n, err := checkFrame(s.in, s.maxBody())
	if err != nil {
		return nil, err
	}
	if whole := frameHeader + n; cap(s.in) < whole {
		// The limit was checked: 16 KiB before the session is open.
		s.in = append(make([]byte, 0, whole), s.in...)
	}
	k := min(frameHeader+n-len(s.in), len(p))
	s.in, p = append(s.in, p[:k]...), p[k:]
	if len(s.in) < frameHeader+n {
		return p, nil
	}
	whole := s.in
	s.in = nil
	if cap(whole) <= keptBuffer {
		s.in = whole[:0] // s.in stays as it is until the next call
	}
	return p, s.frame(now, whole[:frameHeader], whole[frameHeader:])
}

func (s *Session) maxBody() int {
	if s.state == opening && s.server {
		return maxOpening
	}
	return maxBody
}

// frame handles one whole frame.
func (s *Session) frame(now time.Time, header, body []byte) error {
	if err := checkBody(header, body); err != nil {
		return err
	}
	m, err := DecodeBody(body)
	if err != nil {
		return err
	}
	s.stats.FramesIn++
	class, cost := costOf(m)
	if err := s.flow.take(class, cost); err != nil {
		return err
	}
	s.clock.heard(now, false)
	if err := s.handle(m); err != nil {
		return err
	}
	s.flow.used(class, cost)
	s.advance()
	return nil
}

// handle dispatches a message. An error ends the session.
func (s *Session) handle(m Message) error {
	if s.state == opening {
		return s.handleOpening(m)
	}
	switch m := m.(type) {
	case *Ping:
		s.send(&Pong{Nonce: m.Nonce})
	case *Pong:
	case *Bye:
		s.leave(errBye)
	case *Credit:
		return s.flow.allow(Class(m.Class), m.Bytes)
	case *Failure:
		s.failed(m)
	case *Want:
		return s.wanted(m)
	case *Commits, *Edits, *Items, *Lacks:
		return s.arrived(m)
	default:
		if s.server {
			return s.handleRequest(m)
		}
		return s.handleAnswer(m)
	}
	return nil
}

// advance sends what the last message made due.
func (s *Session) advance() {
	if s.state != open {
		return
	}
	for _, c := range [...]Class{ClassTree, ClassChunk} {
		if c == ClassTree && s.tight() {
			continue
		}
		if n := s.flow.due(c); n > 0 {
			s.send(&Credit{Class: uint64(c), Bytes: n})
		}
	}
}

// tight reports whether no more of trees is to come in for now: what the peer
// has sent of them refers to enough chunks that are still to come.
func (s *Session) tight() bool {
	for _, t := range s.imports {
		if len(t.chunks) > s.tune.queuedChunks {
			return true
		}
	}
	return false
}

// send queues a frame that needs no credit.
func (s *Session) send(m Message) {
	if s.state == closed {
		return
	}
	s.control = AppendFrame(s.control, m)
	s.stats.FramesOut++
	if len(s.control) > maxControl {
		e := fail(CodeLimit, "the peer asks and does not read the answers")
		s.control = AppendFrame(nil, &Failure{Code: uint64(e.Code), Text: e.Text})
		s.leave(e)
	}
}

// Output appends frames to send to b, at least one if there is any, and stops
// when b has max bytes. The frames are whole.
func (s *Session) Output(b []byte, max int) []byte {
	from := len(b)
	b = append(b, s.control...)
	s.control = s.control[:0]
	if cap(s.control) > keptBuffer {
		s.control = nil
	}
	if s.state == open {
		b = s.sendHeads(b)
		b = s.sendExports(b, max)
	}
	s.stats.BytesOut += uint64(len(b) - from)
	return b
}

// Close says bye. Requests that are open fail.
func (s *Session) Close() {
	s.send(&Bye{})
	s.leave(errBye)
}

// Abort closes the session because the connection is gone.
func (s *Session) Abort(err error) {
	if s.state != closed {
		s.leave(err)
	}
}

var errBye = errors.New("the session was closed")

// end closes the session with an error of which the peer is told.
func (s *Session) end(e *Error) {
	if s.state == closed {
		return
	}
	if !e.Remote {
		s.send(&Failure{Code: uint64(e.Code), Text: cut(e.Text, maxText)})
	}
	s.leave(e)
}

// leave closes the session and fails all that is open. What was queued may
// still be sent.
func (s *Session) leave(err error) {
	if s.state == closed {
		return
	}
	s.state, s.err = closed, err
	for id, t := range s.imports {
		t.close()
		s.lost(id, err)
	}
	for _, x := range s.exports {
		x.close()
		s.lost(x.request, err)
	}
	for id := range s.gets {
		s.lost(id, err)
	}
	for id := range s.watches {
		s.lost(id, err)
	}
	s.imports, s.exports, s.gets, s.watches, s.in = nil, nil, nil, nil, nil
	s.emit(Event{Kind: EventClosed, Err: s.Err()})
}

func (s *Session) lost(request uint64, err error) {
	if !s.server {
		s.emit(Event{Kind: EventFailed, Request: request, Err: err})
	}
}

// asError returns err as what the peer is told.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return failStore(err)
}
