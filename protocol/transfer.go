package protocol

import (
	"errors"
	"slices"
)

// transfer is the receiving end: of a fetch at the client, of a push at the
// server.
type transfer struct {
	s       *Session
	request uint64
	push    bool
	lazy    bool
	expect  ID // of a push: where the head must be
	target  ID
	base    ID
	mode    Mode
	imp     Import

	root    ID // that is announced; zero before the target's record is here
	records [][]byte
	size    int         // of the records
	known   map[ID]bool // commits that need not come; false if they have come
	need    []ID        // commits to come
	asked   map[ID]bool // of these
	full    bool        // no more of history is taken

	at     ID // the root that the delta has led to
	key    []byte
	edited bool // the last part was applied

	stack    []nodeRef // to visit
	inner    map[ID]bool
	nodesOut map[ID]int // asked for, with their level

	chunks    []ID // that are lacking
	chunksOut map[ID]struct{}
	ahead     int // bytes that may still come unasked
}

// nodeRef is a node with the level that its parent demands, anyLevel of a root.
type nodeRef struct {
	id    ID
	level int
}

const anyLevel = -1

// begin starts to receive.
func (s *Session) begin(t *transfer) error {
	imp, err := s.store.Import(s.ctx, t.target)
	if err != nil {
		return err
	}
	t.s, t.imp, t.at, t.ahead = s, imp, EmptyRoot, maxAhead
	t.known, t.asked, t.inner = map[ID]bool{}, map[ID]bool{}, map[ID]bool{}
	t.nodesOut, t.chunksOut = map[ID]int{}, map[ID]struct{}{}
	if t.mode == ModeDelta && !t.base.IsZero() {
		if t.at, err = s.rootOf(t.base); err != nil {
			t.close()
			return fail(CodeNoBase, "the base of the delta is not here")
		}
	}
	s.imports[t.request] = t
	return nil
}

func (t *transfer) close() {
	if t.imp != nil {
		t.imp.Close()
		t.imp = nil
	}
}

func (s *Session) dropImport(t *transfer) {
	t.close()
	delete(s.imports, t.request)
}

// arrived hands a message to the transfer or the get it belongs to.
func (s *Session) arrived(m Message) error {
	var request uint64
	switch m := m.(type) {
	case *Commits:
		request = m.Request
	case *Edits:
		request = m.Request
	case *Items:
		request = m.Request
	case *Lacks:
		request = m.Request
	}
	if g := s.gets[request]; g != nil {
		return s.got(request, g, m)
	}
	t := s.imports[request]
	switch {
	case t == nil:
		return s.stray(request)
	case t.imp == nil:
		return fail(CodeProtocol, "message %d before the offer", m.id())
	}
	err := t.take(m)
	if err == nil {
		err = t.proceed()
	}
	return s.judge(t, err)
}

// stray judges a message about a request that is not open: late if it was.
func (s *Session) stray(request uint64) error {
	if request == 0 || request > s.last {
		return fail(CodeProtocol, "request %d was never made", request)
	}
	return nil
}

// judge decides what an error of a transfer ends: bytes that are not what they
// must be end the session, all else the request.
func (s *Session) judge(t *transfer, err error) error {
	if err == nil {
		return nil
	}
	e := asError(err)
	switch e.Code {
	case CodeProtocol, CodeLimit, CodeDigest, CodeRoot, CodeInvalid:
		return e
	}
	s.dropImport(t)
	s.refuse(t.request, e)
	return nil
}

// refuse ends a request because of this end.
func (s *Session) refuse(request uint64, err error) {
	e := asError(err)
	if s.server {
		s.send(&Failure{Request: request, Code: uint64(e.Code), Text: cut(e.Text, maxText)})
	} else {
		s.send(&Cancel{Request: request})
	}
	s.emit(Event{Kind: EventFailed, Request: request, Err: e})
}

func (t *transfer) take(m Message) error {
	switch m := m.(type) {
	case *Commits:
		return t.takeCommits(m)
	case *Edits:
		return t.takeEdits(m)
	case *Items:
		return t.takeItems(m)
	case *Lacks:
		return t.takeLacks(m)
	}
	return nil
}

// takeCommits takes records in: the target first, then ancestors of which one
// that is here already is a child.
func (t *transfer) takeCommits(m *Commits) error {
	raw, err := m.Records.unpack(maxRaw)
	for err == nil && len(raw) > 0 {
		var record []byte
		if record, raw, err = nextItem(raw, maxCommit); err == nil {
			err = t.takeCommit(record)
		}
	}
	return err
}

func (t *transfer) takeCommit(record []byte) error {
	id := Sum(record)
	switch {
	case t.root.IsZero() && id != t.target:
		return fail(CodeDigest, "the first commit is %v, want %v", id, t.target)
	case t.root.IsZero():
	case t.full:
		return nil
	}
	spare, known := t.known[id]
	if known && !spare {
		return nil // it came by another line of descent
	}
	if !t.root.IsZero() && !known && !slices.Contains(t.need, id) {
		return fail(CodeDigest, "commit %v is no ancestor that is awaited", id)
	}
	c, err := decodeCommit(record)
	if err != nil {
		return err
	}
	if spare {
		t.passOver(id, c.Parents)
		return nil
	}
	if t.root.IsZero() {
		if c.Root.IsZero() {
			return fail(CodeInvalid, "commit %v has no root", id)
		}
		t.root = c.Root
		if t.mode == ModeWalk && c.Root != EmptyRoot {
			t.stack = append(t.stack, nodeRef{c.Root, anyLevel})
		}
	}
	t.resolved(id)
	t.known[id] = false
	t.records = append(t.records, slices.Clone(record))
	t.size += len(record)
	if len(t.records) >= maxRecords || t.size >= maxRecordSize {
		t.full, t.need, t.asked = true, nil, map[ID]bool{}
		return nil
	}
	for _, p := range c.Parents {
		if _, ok := t.known[p]; ok || slices.Contains(t.need, p) {
			continue
		}
		_, err := t.s.store.Commit(t.s.ctx, p)
		switch {
		case errors.Is(err, ErrNotFound):
			t.need = append(t.need, p)
		case err != nil:
			return err
		default:
			t.known[p] = true
		}
	}
	return nil
}

// passOver notes that a commit came that is here already: its ancestors are as
// well, as far as they ever will be, and may come, as the sender does not know.
func (t *transfer) passOver(id ID, parents []ID) {
	t.known[id] = false
	for _, p := range parents {
		if _, ok := t.known[p]; !ok && !slices.Contains(t.need, p) && len(t.known) < 2*maxRecords {
			t.known[p] = true
		}
	}
}

// resolved notes that a commit is not to come any more.
func (t *transfer) resolved(commit ID) {
	t.known[commit] = true
	delete(t.asked, commit)
	if i := slices.Index(t.need, commit); i >= 0 {
		t.need = slices.Delete(t.need, i, i+1)
	}
}

func (t *transfer) takeEdits(m *Edits) error {
	if t.mode != ModeDelta || t.edited || t.root.IsZero() {
		return fail(CodeProtocol, "edits where none may come")
	}
	raw, err := m.Edits.unpack(maxPart)
	if err != nil {
		return err
	}
	edits, err := decodeEdits(raw, t.key)
	if err != nil {
		return err
	}
	for _, e := range edits {
		if e.Value == nil {
			continue
		}
		if err := t.s.store.Refs(e.Key, e.Value, t.refer); err != nil {
			return err
		}
	}
	if len(edits) > 0 {
		t.s.stats.EditsIn += uint64(len(edits))
		t.key = edits[len(edits)-1].Key
		if t.at, err = t.imp.Apply(t.s.ctx, t.at, edits); err != nil {
			if errors.Is(err, ErrNotFound) {
				return fail(CodeNoBase, "a part of the base is not here")
			}
			return err
		}
	}
	if t.edited = m.Last; m.Last && t.at != t.root {
		return fail(CodeRoot, "the delta leads to root %v, want %v", t.at, t.root)
	}
	return nil
}

// refer queues a chunk that the tree refers to, unless it is here.
func (t *transfer) refer(id ID) {
	if t.lazy {
		return
	}
	if t.s.store.HasChunk(id) {
		t.s.stats.ChunksHad++
		return
	}
	t.chunks = append(t.chunks, id)
}

func (t *transfer) takeItems(m *Items) error {
	limit := maxChunk
	switch Kind(m.Kind) {
	case KindNode:
		limit = maxNode
	case KindChunk:
	default:
		return fail(CodeProtocol, "items of kind %d", m.Kind)
	}
	raw, err := m.Items.unpack(maxRaw)
	for err == nil && len(raw) > 0 {
		var item []byte
		if item, raw, err = nextItem(raw, limit); err != nil {
			break
		}
		switch {
		case Kind(m.Kind) == KindNode:
			err = t.takeNode(item)
		case m.Ahead:
			err = t.takeAhead(item)
		default:
			err = t.takeChunk(item)
		}
	}
	return err
}

func (t *transfer) takeChunk(data []byte) error {
	id := Sum(data)
	if _, ok := t.chunksOut[id]; !ok {
		return fail(CodeDigest, "a chunk that hashes to %v was not asked for", id)
	}
	if err := t.putChunk(id, data); err != nil {
		return err
	}
	delete(t.chunksOut, id)
	return nil
}

// takeAhead takes a chunk that the edits to come refer to. One that they do
// not is garbage that the next collection takes away, and limited.
func (t *transfer) takeAhead(data []byte) error {
	if t.mode != ModeDelta {
		return fail(CodeProtocol, "chunks ahead of no delta")
	}
	if t.ahead -= len(data); t.ahead < 0 {
		return fail(CodeLimit, "more than %d bytes of chunks that were not asked for", maxAhead)
	}
	id := Sum(data)
	if t.lazy || t.s.store.HasChunk(id) {
		return nil
	}
	return t.putChunk(id, data)
}

func (t *transfer) putChunk(id ID, data []byte) error {
	t.s.stats.ChunksIn++
	t.s.stats.ChunkBytesIn += uint64(len(data))
	return t.imp.PutChunk(t.s.ctx, id, data)
}

func (t *transfer) takeLacks(m *Lacks) error {
	if Kind(m.Kind) == KindCommit {
		for _, id := range m.IDs {
			if id == t.target {
				return fail(CodeNotFound, "the peer lacks commit %v", id)
			}
			if len(t.known) < 2*maxRecords {
				t.resolved(id)
			}
		}
		return nil
	}
	for _, id := range m.IDs {
		_, chunk := t.chunksOut[id]
		_, node := t.nodesOut[id]
		if chunk || node {
			return fail(CodeNotFound, "the peer lacks %v", id)
		}
	}
	return nil
}
