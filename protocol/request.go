package protocol

import (
	"bytes"
	"errors"
	"maps"
	"slices"
)

// ErrState: a request that cannot be made in this state of the session.
var ErrState = errors.New("the session is not open for that")

// get is a client's request for items outside a transfer.
type get struct {
	kind Kind
	out  map[ID]struct{}
}

// watch is a subscription: of the client's end only its number.
type watch struct {
	sent ID
	due  bool
}

// number opens a request.
func (s *Session) number() uint64 {
	s.last++
	return s.last
}

func (s *Session) requests() int {
	return len(s.exports) + len(s.imports) + len(s.gets) + len(s.watches)
}

func (s *Session) mayAsk(right uint64) error {
	if s.server || s.state == closed || s.cfg.Rights&right == 0 || s.requests() >= maxRequests {
		return ErrState
	}
	return nil
}

// Fetch asks for a commit with its tree, its history and, unless lazy, its
// chunks; a zero target is the head. It may be called before the session is
// open, which saves a round trip. EventFetched or EventFailed ends it.
func (s *Session) Fetch(target ID, lazy bool) (uint64, error) {
	if err := s.mayAsk(RightRead); err != nil || len(s.imports) >= maxImports {
		return 0, ErrState
	}
	bases, err := s.store.Bases(s.ctx, fetchBases)
	if err != nil {
		return 0, err
	}
	m := &Fetch{Request: s.number(), Target: target, Bases: bases[:min(len(bases), fetchBases)]}
	if lazy {
		m.Flags = FetchLazy
	}
	s.imports[m.Request] = &transfer{s: s, request: m.Request, target: target, lazy: lazy}
	s.send(m)
	return m.Request, nil
}

// Push offers target, a commit that is here in full, to the server, whose head
// must be expect. If that is here as well, only what differs is sent.
// EventPushed or EventFailed ends it.
func (s *Session) Push(expect, target ID) (uint64, error) {
	if err := s.mayAsk(RightWrite); err != nil || s.state != open {
		return 0, ErrState
	}
	base, mode, err := s.choose(target, []ID{expect})
	if err != nil {
		return 0, err
	}
	if mode == ModeNothing {
		base, mode = target, ModeDelta // a delta of nothing
	}
	return s.push(expect, target, base, mode)
}

// PushWalk is Push for a server that does not have the base after all.
func (s *Session) PushWalk(expect, target ID) (uint64, error) {
	if err := s.mayAsk(RightWrite); err != nil || s.state != open {
		return 0, ErrState
	}
	return s.push(expect, target, ID{}, ModeWalk)
}

func (s *Session) push(expect, target, base ID, mode Mode) (uint64, error) {
	m := &Push{Request: s.number(), Expect: expect, Target: target, Base: base, Mode: uint64(mode)}
	x := s.newExport(m.Request, target, base, mode)
	x.push = true
	x.stops[expect] = true
	s.exports = append(s.exports, x)
	s.send(m)
	return m.Request, nil
}

// Watch subscribes to the head: an EventHead now and whenever it has moved.
func (s *Session) Watch() (uint64, error) {
	if err := s.mayAsk(RightRead); err != nil || s.state == open && s.caps&CapWatch == 0 {
		return 0, ErrState
	}
	m := &Watch{Request: s.number()}
	s.watches[m.Request] = &watch{}
	s.send(m)
	return m.Request, nil
}

// Get asks for nodes or chunks: an EventItem or EventLacks for each.
func (s *Session) Get(kind Kind, ids []ID) (uint64, error) {
	if err := s.mayAsk(RightRead); err != nil || len(ids) == 0 || len(ids) > maxIDs || kind == KindCommit ||
		s.state == open && s.caps&CapLazy == 0 {
		return 0, ErrState
	}
	m := &Get{Request: s.number(), Kind: uint64(kind), IDs: ids}
	g := &get{kind: kind, out: map[ID]struct{}{}}
	for _, id := range ids {
		g.out[id] = struct{}{}
	}
	s.gets[m.Request] = g
	s.send(m)
	return m.Request, nil
}

// Cancel ends a request of this client; nothing more is heard of it.
func (s *Session) Cancel(request uint64) {
	if s.state == closed || s.server {
		return
	}
	if t := s.imports[request]; t != nil {
		s.dropImport(t)
	}
	if x := s.export(request); x != nil {
		s.dropExport(x)
	}
	delete(s.gets, request)
	delete(s.watches, request)
	s.send(&Cancel{Request: request})
}

// HeadMoved tells a server's session where the workspace stands now, for those
// who watch. Only the newest is sent.
func (s *Session) HeadMoved(commit ID) {
	for _, w := range s.watches {
		w.due = w.due || w.sent != commit
		w.sent = commit
	}
}

// sendHeads appends the heads that are due.
func (s *Session) sendHeads(b []byte) []byte {
	if !s.server {
		return b
	}
	for _, id := range slices.Sorted(maps.Keys(s.watches)) {
		if w := s.watches[id]; w.due {
			w.due = false
			b = AppendFrame(b, &Head{Request: id, Commit: w.sent})
			s.stats.FramesOut++
		}
	}
	return b
}

// handleAnswer handles what only a server sends.
func (s *Session) handleAnswer(m Message) error {
	switch m := m.(type) {
	case *Offer:
		return s.offered(m)
	case *Result:
		x := s.export(m.Request)
		if x == nil || !x.push {
			return s.stray(m.Request)
		}
		if m.Head != x.target {
			return fail(CodeProtocol, "the result of a push names another commit")
		}
		s.dropExport(x)
		s.emit(Event{Kind: EventPushed, Request: m.Request, Commit: m.Head})
	case *Head:
		if s.watches[m.Request] == nil {
			return s.stray(m.Request)
		}
		s.emit(Event{Kind: EventHead, Request: m.Request, Commit: m.Commit})
	default:
		return fail(CodeProtocol, "message %d from a server", m.id())
	}
	return nil
}

// offered begins to receive what was fetched.
func (s *Session) offered(m *Offer) error {
	t := s.imports[m.Request]
	switch {
	case t == nil:
		return s.stray(m.Request)
	case t.imp != nil || m.Target.IsZero() || !t.target.IsZero() && m.Target != t.target:
		return fail(CodeProtocol, "an offer that was not asked for")
	case Mode(m.Mode) == ModeNothing:
		if !s.store.HasTree(s.ctx, m.Target) {
			return fail(CodeProtocol, "an offer of nothing that is not here")
		}
		delete(s.imports, t.request)
		s.emit(Event{Kind: EventFetched, Request: m.Request, Commit: m.Target, Mode: ModeNothing})
		return nil
	}
	t.target, t.base, t.mode = m.Target, m.Base, Mode(m.Mode)
	return s.judge(t, s.begin(t))
}

// handleRequest handles what only a client sends.
func (s *Session) handleRequest(m Message) error {
	switch m := m.(type) {
	case *Done:
		if x := s.export(m.Request); x != nil && !x.get {
			s.dropExport(x)
			s.emit(Event{Kind: EventServed, Request: m.Request, Commit: x.target})
			return nil
		}
		return s.stray(m.Request)
	case *Cancel:
		return s.canceled(m.Request)
	case *Fetch:
		return s.asked(m.Request, RightRead, func() error { return s.serveFetch(m) })
	case *Push:
		return s.asked(m.Request, RightWrite, func() error { return s.servePush(m) })
	case *Watch:
		return s.asked(m.Request, RightRead, func() error { return s.serveWatch(m) })
	case *Get:
		return s.asked(m.Request, RightRead, func() error { return s.serveGet(m) })
	}
	return fail(CodeProtocol, "message %d from a client", m.id())
}

// asked checks a new request and serves it. Its failure is not the session's.
func (s *Session) asked(request, right uint64, serve func() error) error {
	if request <= s.last {
		return fail(CodeProtocol, "request %d after request %d", request, s.last)
	}
	s.last = request
	err := serveRights(s.rights, right)
	if err == nil && s.requests() >= maxRequests {
		err = fail(CodeBusy, "%d requests are open", maxRequests)
	}
	if err == nil {
		err = serve()
	}
	if err != nil {
		s.refuse(request, err)
	}
	return nil
}

func serveRights(have, right uint64) error {
	if have&right == 0 {
		return fail(CodeDenied, "the session does not have the right")
	}
	return nil
}

func (s *Session) serveFetch(m *Fetch) error {
	target := m.Target
	if target.IsZero() {
		var err error
		if target, err = s.store.Head(s.ctx); err != nil {
			return err
		}
		if target.IsZero() {
			return fail(CodeNotFound, "the workspace has no commit yet")
		}
	} else if !s.store.HasTree(s.ctx, target) {
		// Whether or not its record is here: a store may keep the chunks of
		// other workspaces as well, and this session is about one.
		return fail(CodeNotFound, "the workspace does not have that commit in full")
	}
	base, mode, err := s.choose(target, m.Bases)
	if err != nil {
		return err
	}
	s.send(&Offer{Request: m.Request, Target: target, Base: base, Mode: uint64(mode)})
	if mode == ModeNothing {
		s.emit(Event{Kind: EventServed, Request: m.Request, Commit: target})
		return nil
	}
	x := s.newExport(m.Request, target, base, mode)
	for _, b := range m.Bases {
		x.stops[b] = true
	}
	if m.Flags&FetchLazy != 0 {
		x.ahead = 0
	}
	s.exports = append(s.exports, x)
	return nil
}

func (s *Session) servePush(m *Push) error {
	if len(s.imports) >= maxImports {
		return fail(CodeBusy, "%d transfers are under way", maxImports)
	}
	head, err := s.store.Head(s.ctx)
	if err != nil {
		return err
	}
	switch {
	case bytes.Equal(head[:], m.Target[:]):
		s.moved(m.Request, head) // the answer to an earlier push was lost
		return nil
	case head != m.Expect:
		return fail(CodeHeadMoved, "the head is %v", head)
	case m.Target.IsZero() || Mode(m.Mode) == ModeNothing:
		return fail(CodeNotFound, "a push of nothing")
	case !m.Base.IsZero() && Mode(m.Mode) == ModeDelta && !s.store.HasTree(s.ctx, m.Base):
		return fail(CodeNoBase, "the base is not here")
	}
	return s.begin(&transfer{request: m.Request, push: true, expect: m.Expect, target: m.Target, base: m.Base, mode: Mode(m.Mode)})
}

func (s *Session) serveWatch(m *Watch) error {
	head, err := s.store.Head(s.ctx)
	if err != nil {
		return err
	}
	s.watches[m.Request] = &watch{sent: head, due: true}
	s.emit(Event{Kind: EventWatched, Request: m.Request})
	return nil
}

func (s *Session) serveGet(m *Get) error {
	if Kind(m.Kind) != KindNode && Kind(m.Kind) != KindChunk {
		return fail(CodeProtocol, "kind %d cannot be got", m.Kind)
	}
	x := &export{request: m.Request, get: true}
	if err := s.queueWanted(x, Kind(m.Kind), m.IDs); err != nil {
		return err
	}
	s.exports = append(s.exports, x)
	return nil
}

// canceled ends a request at the wish of the client, who wants no answer.
func (s *Session) canceled(request uint64) error {
	if t := s.imports[request]; t != nil {
		s.dropImport(t)
	} else if x := s.export(request); x != nil {
		s.dropExport(x)
	} else if s.watches[request] != nil {
		delete(s.watches, request)
	} else {
		return s.stray(request)
	}
	return nil
}

// got hands over what a get brought.
func (s *Session) got(request uint64, g *get, m Message) error {
	switch m := m.(type) {
	case *Items:
		raw, err := m.Items.unpack(maxRaw)
		if err != nil || Kind(m.Kind) != g.kind || m.Ahead {
			return fail(CodeProtocol, "items that were not asked for")
		}
		for len(raw) > 0 {
			var item []byte
			if item, raw, err = nextItem(raw, maxChunk); err != nil {
				return err
			}
			id := Sum(item)
			if _, ok := g.out[id]; !ok {
				return fail(CodeDigest, "an item that hashes to %v was not asked for", id)
			}
			delete(g.out, id)
			s.emit(Event{Kind: EventItem, Request: request, Item: g.kind, ID: id, Data: slices.Clone(item)})
		}
	case *Lacks:
		for _, id := range m.IDs {
			if _, ok := g.out[id]; ok {
				delete(g.out, id)
				s.emit(Event{Kind: EventLacks, Request: request, Item: g.kind, ID: id})
			}
		}
	default:
		return fail(CodeProtocol, "message %d for a get", m.id())
	}
	if len(g.out) == 0 {
		delete(s.gets, request)
	}
	return nil
}
