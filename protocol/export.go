package protocol

import (
	"bytes"
	"errors"
	"iter"
	"slices"
)

// export is the sending end of a transfer, or of a get.
type export struct {
	request uint64
	push    bool // a client's
	get     bool
	target  ID
	base    ID
	mode    Mode
	stops   map[ID]bool // commits that the receiver has
	sent    map[ID]bool // commits
	history []ID        // commits to send with ancestors
	limit   int         // how many with the next
	nodes   []ID        // wanted
	chunks  []ID        // wanted
	ready   []Message   // goes out first
	next    func() (Change, error, bool)
	stop    func()
	key     []byte // the last that was sent
	ahead   int    // bytes of chunks that may still be sent unasked
	edited  bool   // the last part is out
}

func (s *Session) newExport(request uint64, target, base ID, mode Mode) *export {
	return &export{
		request: request, target: target, base: base, mode: mode,
		stops: map[ID]bool{base: true}, sent: map[ID]bool{},
		history: []ID{target}, limit: s.tune.commitsAhead, ahead: s.tune.ahead,
	}
}

func (x *export) close() {
	if x.stop != nil {
		x.stop()
		x.stop = nil
	}
}

func (s *Session) export(request uint64) *export {
	for _, x := range s.exports {
		if x.request == request {
			return x
		}
	}
	return nil
}

func (s *Session) dropExport(x *export) {
	x.close()
	s.exports = slices.DeleteFunc(s.exports, func(y *export) bool { return x == y })
}

// wanted queues what the receiver of a transfer asks for.
func (s *Session) wanted(m *Want) error {
	x := s.export(m.Request)
	if x == nil || x.get {
		return s.stray(m.Request)
	}
	return s.queueWanted(x, Kind(m.Kind), m.IDs)
}

func (s *Session) queueWanted(x *export, kind Kind, ids []ID) error {
	total := len(ids)
	for _, y := range s.exports {
		total += len(y.history) + len(y.nodes) + len(y.chunks)
	}
	if total > maxWanted {
		return fail(CodeLimit, "%d ids are wanted at a time, want at most %d", total, maxWanted)
	}
	switch kind {
	case KindCommit:
		x.history, x.limit = append(x.history, ids...), s.tune.commitsBatch
	case KindNode:
		x.nodes = append(x.nodes, ids...)
	case KindChunk:
		x.chunks = append(x.chunks, ids...)
	default:
		return fail(CodeProtocol, "kind %d is unknown", kind)
	}
	return nil
}

// sendExports appends what exports have to send and credit allows: what was
// got outside a transfer first, as somebody waits for it, then in turns.
func (s *Session) sendExports(b []byte, max int) []byte {
	for idle := 0; len(b) < max && idle < len(s.exports); {
		s.turn %= len(s.exports)
		x := s.exports[s.turn]
		if idle == 0 {
			for _, y := range s.exports {
				if y.get && s.due(y) {
					x = y
				}
			}
		}
		m, err := s.produce(x)
		if err != nil {
			s.refuse(x.request, err)
			s.dropExport(x)
			idle = 0
			continue
		}
		if m == nil {
			idle++
			s.turn++
			if x.get && len(x.nodes)+len(x.chunks) == 0 {
				s.dropExport(x)
				idle = 0
			}
			continue
		}
		idle = 0
		class, cost := costOf(m)
		s.flow.spend(class, cost)
		b = AppendFrame(b, m)
		s.stats.FramesOut++
	}
	return b
}

// due reports whether an export can send items at once.
func (s *Session) due(x *export) bool {
	return len(x.chunks) > 0 && s.flow.may(ClassChunk) || len(x.nodes) > 0 && s.flow.may(ClassTree)
}

// produce returns the next message of an export, nil if it has none for now.
func (s *Session) produce(x *export) (Message, error) {
	for {
		if len(x.ready) > 0 {
			m := x.ready[0]
			class, _ := costOf(m)
			if !s.flow.may(class) {
				return nil, nil
			}
			x.ready = x.ready[1:]
			return m, nil
		}
		var err error
		switch {
		case len(x.history) > 0 && s.flow.may(ClassTree):
			err = s.readyCommits(x)
		case len(x.chunks) > 0 && s.flow.may(ClassChunk):
			x.chunks, err = s.readyItems(x, KindChunk, x.chunks)
		case len(x.nodes) > 0 && s.flow.may(ClassTree):
			x.nodes, err = s.readyItems(x, KindNode, x.nodes)
		case x.mode == ModeDelta && !x.edited && !x.get && s.flow.may(ClassTree):
			err = s.readyEdits(x)
		default:
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// readyCommits prepares the first commit of the history and its ancestors,
// breadth first, but for those that the receiver has or that were sent.
func (s *Session) readyCommits(x *export) error {
	queue := []ID{x.history[0]}
	x.history = x.history[1:]
	var raw []byte
	var lacks []ID
	seen := map[ID]bool{queue[0]: true}
	for n := 0; len(queue) > 0 && n < x.limit && len(raw) < maxCommit; {
		id := queue[0]
		queue = queue[1:]
		record, err := s.store.Commit(s.ctx, id)
		if errors.Is(err, ErrNotFound) && id != x.target {
			if len(lacks) < maxIDs {
				lacks = append(lacks, id)
			}
			continue
		}
		if err != nil {
			return err
		}
		c, err := decodeCommit(record)
		if err != nil {
			return err
		}
		raw = appendItem(raw, record)
		x.sent[id] = true
		n++
		for _, p := range c.Parents {
			if !seen[p] && !x.sent[p] && !x.stops[p] {
				seen[p] = true
				queue = append(queue, p)
			}
		}
	}
	if len(lacks) > 0 {
		x.ready = append(x.ready, &Lacks{Request: x.request, Kind: uint64(KindCommit), IDs: lacks})
	}
	if len(raw) > 0 {
		x.ready = append(x.ready, &Commits{Request: x.request, Records: pack(raw, s.caps)})
	}
	return nil
}

// readyItems prepares the first of the ids, as many as fit into a message.
func (s *Session) readyItems(x *export, kind Kind, ids []ID) ([]ID, error) {
	var items [][]byte
	var lacks []ID
	size := 0
	for len(ids) > 0 && size < s.tune.batchSize && len(lacks) < maxIDs {
		item, err := s.read(kind, ids[0])
		if errors.Is(err, ErrNotFound) {
			lacks, ids = append(lacks, ids[0]), ids[1:]
			continue
		}
		if err != nil {
			return ids, err
		}
		if len(items) > 0 && size+len(item) > 2*s.tune.batchSize {
			break
		}
		items, ids = append(items, item), ids[1:]
		size += len(item) + 1 // an empty item counts as well
		s.countOut(kind, len(item))
	}
	if len(lacks) > 0 {
		x.ready = append(x.ready, &Lacks{Request: x.request, Kind: uint64(kind), IDs: lacks})
	}
	if len(items) > 0 {
		x.ready = append(x.ready, &Items{Request: x.request, Kind: uint64(kind), Items: packItems(items, s.caps)})
	}
	return ids, nil
}

func (s *Session) countOut(kind Kind, n int) {
	if kind == KindNode {
		s.stats.NodesOut++
		return
	}
	s.stats.ChunksOut++
	s.stats.ChunkBytesOut += uint64(n)
}

func (s *Session) read(kind Kind, id ID) ([]byte, error) {
	if kind == KindNode {
		return s.store.Node(s.ctx, id)
	}
	return s.store.Chunk(s.ctx, id)
}

// readyEdits prepares the next part of a delta, behind the new small chunks
// that it refers to: so an edit of a small file needs no further round trip.
func (s *Session) readyEdits(x *export) error {
	if x.next == nil {
		if err := s.beginDelta(x); err != nil {
			return err
		}
	}
	var raw []byte
	var fresh []ID
	for n := 0; len(raw) < s.tune.partSize && n < maxEdits; n++ {
		c, err, ok := x.next()
		if err != nil {
			return err
		}
		if !ok {
			x.edited = true
			break
		}
		raw = appendEdit(raw, x.key, c.Key, c.New)
		x.key = append(x.key[:0], c.Key...)
		s.stats.EditsOut++
		if x.ahead > 0 && c.New != nil {
			if fresh, err = s.freshRefs(fresh, c); err != nil {
				return err
			}
		}
	}
	if err := s.readyAhead(x, fresh); err != nil {
		return err
	}
	x.ready = append(x.ready, &Edits{Request: x.request, Last: x.edited, Edits: pack(raw, s.caps)})
	return nil
}

func (s *Session) beginDelta(x *export) error {
	target, err := s.rootOf(x.target)
	if err != nil {
		return err
	}
	base := EmptyRoot
	if !x.base.IsZero() {
		if base, err = s.rootOf(x.base); err != nil {
			return err
		}
	}
	x.next, x.stop = iter.Pull2(s.store.Delta(s.ctx, base, target))
	return nil
}

// freshRefs appends the chunks that a change refers to and did not before.
func (s *Session) freshRefs(fresh []ID, c Change) ([]ID, error) {
	var old []ID
	if c.Old != nil {
		if err := s.store.Refs(c.Key, c.Old, func(id ID) { old = append(old, id) }); err != nil {
			return fresh, err
		}
	}
	err := s.store.Refs(c.Key, c.New, func(id ID) {
		if !slices.Contains(old, id) && !slices.Contains(fresh[max(0, len(fresh)-8):], id) {
			fresh = append(fresh, id)
		}
	})
	return fresh, err
}

// readyAhead prepares chunks that nobody asked for yet, while they are few.
func (s *Session) readyAhead(x *export, fresh []ID) error {
	if !s.flow.may(ClassChunk) {
		return nil
	}
	var items [][]byte
	for _, id := range fresh {
		if x.ahead <= 0 {
			break
		}
		item, err := s.store.Chunk(s.ctx, id)
		if errors.Is(err, ErrNotFound) {
			continue // the receiver may have it, or will hear that we do not
		}
		if err != nil {
			return err
		}
		if len(item) > x.ahead {
			x.ahead = 0 // the rest is asked for, and in order
			break
		}
		x.ahead -= len(item)
		items = append(items, item)
		s.countOut(KindChunk, len(item))
	}
	if len(items) > 0 {
		x.ready = append(x.ready, &Items{Request: x.request, Kind: uint64(KindChunk), Ahead: true, Items: packItems(items, s.caps)})
	}
	return nil
}

// rootOf returns the root of a commit that is here.
func (s *Session) rootOf(commit ID) (ID, error) {
	record, err := s.store.Commit(s.ctx, commit)
	if err != nil {
		return ID{}, err
	}
	c, err := decodeCommit(record)
	if err != nil {
		return ID{}, err
	}
	return c.Root, nil
}

// choose returns how the tree of target goes to somebody who has the bases.
func (s *Session) choose(target ID, bases []ID) (base ID, mode Mode, err error) {
	if slices.Contains(bases, target) {
		return target, ModeNothing, nil
	}
	root, err := s.rootOf(target)
	if err != nil {
		return ID{}, 0, err
	}
	for _, b := range bases {
		if !b.IsZero() && s.store.HasTree(s.ctx, b) {
			return b, ModeDelta, nil
		}
	}
	size := uint64(0)
	if !bytes.Equal(root[:], EmptyRoot[:]) {
		if size, err = s.store.Size(s.ctx, root); err != nil {
			return ID{}, 0, err
		}
	}
	if size <= s.tune.emptyDelta {
		return ID{}, ModeDelta, nil
	}
	return ID{}, ModeWalk, nil
}
