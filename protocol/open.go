package protocol

import (
	"path"
	"strings"
)

// handleOpening handles the first message of the peer.
func (s *Session) handleOpening(m Message) error {
	switch m := m.(type) {
	case *Hello:
		if s.server {
			return s.accept(m)
		}
	case *Welcome:
		if !s.server {
			return s.welcomed(m)
		}
	case *Failure:
		s.failed(m)
		return nil
	case *Bye:
		s.leave(errBye)
		return nil
	}
	return fail(CodeProtocol, "message %d before the session is open", m.id())
}

// accept opens the server's end.
func (s *Session) accept(h *Hello) error {
	if h.Oldest > Version || h.Version < Version {
		return fail(CodeVersion, "this end speaks version %d, the other %d to %d", Version, h.Oldest, h.Version)
	}
	if err := checkPath(h.Path); err != nil {
		return err
	}
	g, err := s.cfg.Accept(h)
	if err != nil {
		return asError(err)
	}
	if h.Rights&^g.Rights != 0 {
		return fail(CodeDenied, "the token does not give the rights asked for")
	}
	s.store, s.rights = g.Store, h.Rights
	s.caps &= h.Caps
	head, err := s.store.Head(s.ctx)
	if err != nil {
		return failStore(err)
	}
	s.allowWindows(h.TreeWindow, h.ChunkWindow)
	s.state = open
	s.send(&Welcome{
		Version: Version, Caps: s.caps, Agent: cut(s.cfg.Agent, maxAgent), Rights: s.rights, Head: head,
		TreeWindow: s.tune.treeWindow, ChunkWindow: s.tune.chunkWindow,
	})
	s.emit(Event{Kind: EventOpen, Commit: head, Text: h.Agent})
	return nil
}

// welcomed opens the client's end.
func (s *Session) welcomed(w *Welcome) error {
	if w.Version != Version {
		return fail(CodeVersion, "this end speaks version %d, the other chose %d", Version, w.Version)
	}
	if w.Caps&^s.caps != 0 {
		return fail(CodeProtocol, "capabilities that were not offered")
	}
	if s.cfg.Rights&^w.Rights != 0 {
		return fail(CodeDenied, "fewer rights than asked for")
	}
	s.caps, s.rights = w.Caps, w.Rights
	s.allowWindows(w.TreeWindow, w.ChunkWindow)
	s.state = open
	s.emit(Event{Kind: EventOpen, Commit: w.Head, Text: w.Agent})
	return nil
}

// allowWindows takes the first credit; the decoder has checked its bounds.
func (s *Session) allowWindows(tree, chunk uint64) {
	s.flow.credit[ClassTree] = int64(tree)
	s.flow.credit[ClassChunk] = int64(chunk)
}

// checkPath refuses a path that is not absolute and clean: no name in it is
// empty, "." or "..".
func checkPath(p string) error {
	if !strings.HasPrefix(p, "/") || path.Clean(p) != p || strings.ContainsRune(p, 0) {
		return fail(CodeProtocol, "a path that is not absolute and clean")
	}
	return nil
}

// failed handles a failure that the peer reports.
func (s *Session) failed(m *Failure) {
	e := &Error{Code: Code(m.Code), Text: m.Text, Remote: true}
	if m.Request == 0 {
		s.leave(e)
		return
	}
	if t := s.imports[m.Request]; t != nil {
		s.dropImport(t)
	} else if x := s.export(m.Request); x != nil {
		s.dropExport(x)
	} else if s.gets[m.Request] != nil {
		delete(s.gets, m.Request)
	} else if s.watches[m.Request] != nil {
		delete(s.watches, m.Request)
	} else {
		return
	}
	s.emit(Event{Kind: EventFailed, Request: m.Request, Err: e})
}
