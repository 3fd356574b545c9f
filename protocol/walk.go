package protocol

// proceed asks for what is lacking, and finishes when nothing is.
func (t *transfer) proceed() error {
	t.askCommits()
	if err := t.walk(); err != nil {
		return err
	}
	t.askChunks()
	if t.settled() {
		return t.finish()
	}
	return nil
}

// askCommits asks for the ancestors that are lacking, when the ones asked for
// before have come: a request is answered with a long stretch of history.
func (t *transfer) askCommits() {
	if len(t.asked) > 0 || len(t.need) == 0 {
		return
	}
	ids := t.need[:min(len(t.need), maxParents)]
	for _, id := range ids {
		t.asked[id] = true
	}
	t.want(KindCommit, ids)
}

func (t *transfer) want(kind Kind, ids []ID) {
	for len(ids) > 0 {
		n := min(len(ids), maxIDs)
		t.s.send(&Want{Request: t.request, Kind: uint64(kind), IDs: ids[:n]})
		ids = ids[n:]
	}
}

// walk visits nodes depth first: those that are here are read, as a node does
// not promise those below it, the others asked for. So what waits in the stack
// is bounded by what is asked for at a time, times the fan-out, times the
// height; when it has become much, nodes are asked for one by one.
func (t *transfer) walk() error {
	var ids []ID
	for len(t.stack) > 0 && len(t.chunks) <= t.s.tune.queuedChunks {
		limit := t.s.tune.wantedNodes
		if len(t.stack) > t.s.tune.queuedNodes {
			limit = 1
		}
		if len(t.nodesOut) >= limit {
			break
		}
		ref := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		if _, ok := t.nodesOut[ref.id]; ok {
			return fail(CodeInvalid, "tree node %v is in two places", ref.id)
		}
		if t.s.store.HasNode(ref.id) {
			node, err := t.s.store.Node(t.s.ctx, ref.id)
			if err != nil {
				return err
			}
			if err := t.visit(ref, node); err != nil {
				return err
			}
			continue
		}
		t.nodesOut[ref.id] = ref.level
		ids = append(ids, ref.id)
	}
	t.want(KindNode, ids)
	return nil
}

// visit queues what a node refers to. In a valid tree no node above the leaves
// is in two places, as keys increase; in a made up one it could be in so many
// that visiting them would never end.
func (t *transfer) visit(ref nodeRef, node []byte) error {
	n, err := t.s.store.Inspect(node)
	if err != nil {
		return err
	}
	if ref.level != anyLevel && n.Level != ref.level || n.Level < 0 || n.Level >= maxLevels {
		return fail(CodeInvalid, "tree node %v is of level %d, want %d", ref.id, n.Level, ref.level)
	}
	if n.Level > 0 {
		if t.inner[ref.id] {
			return fail(CodeInvalid, "tree node %v is in two places", ref.id)
		}
		if len(t.inner) >= maxInner {
			return fail(CodeLimit, "more than %d nodes above the leaves", maxInner)
		}
		t.inner[ref.id] = true
	}
	for i := len(n.Children) - 1; i >= 0; i-- {
		t.stack = append(t.stack, nodeRef{n.Children[i], n.Level - 1})
	}
	for _, id := range n.Chunks {
		t.refer(id)
	}
	return nil
}

func (t *transfer) takeNode(node []byte) error {
	id := Sum(node)
	level, ok := t.nodesOut[id]
	if !ok {
		return fail(CodeDigest, "a tree node that hashes to %v was not asked for", id)
	}
	if err := t.visit(nodeRef{id, level}, node); err != nil {
		return err
	}
	delete(t.nodesOut, id)
	t.s.stats.NodesIn++
	return t.imp.PutNode(t.s.ctx, id, node)
}

// askChunks asks for chunks while few are on their way.
func (t *transfer) askChunks() {
	if len(t.chunksOut) > t.s.tune.wantedChunks/2 {
		return
	}
	var ids []ID
	for len(t.chunks) > 0 && len(t.chunksOut) < t.s.tune.wantedChunks {
		id := t.chunks[0]
		t.chunks = t.chunks[1:]
		if _, ok := t.chunksOut[id]; ok || t.s.store.HasChunk(id) {
			continue // it is in two files
		}
		t.chunksOut[id] = struct{}{}
		ids = append(ids, id)
	}
	if len(t.chunks) == 0 {
		t.chunks = nil // lets go of what was asked for
	}
	t.want(KindChunk, ids)
}

func (t *transfer) settled() bool {
	if t.root.IsZero() || len(t.need) > 0 || len(t.chunks) > 0 || len(t.chunksOut) > 0 {
		return false
	}
	if t.mode == ModeDelta {
		return t.edited
	}
	return len(t.stack) == 0 && len(t.nodesOut) == 0
}

// finish makes what arrived part of the store and, for a push, moves the head.
func (t *transfer) finish() error {
	s := t.s
	if err := t.imp.Finish(s.ctx, t.target, t.records, t.lazy); err != nil {
		return err
	}
	if t.push {
		if err := s.store.CompareAndSwapHead(s.ctx, t.expect, t.target); err != nil {
			return err
		}
	}
	s.dropImport(t)
	if t.push {
		s.moved(t.request, t.target)
		return nil
	}
	s.send(&Done{Request: t.request})
	s.emit(Event{Kind: EventFetched, Request: t.request, Commit: t.target, Mode: t.mode})
	return nil
}

// moved answers a push.
func (s *Session) moved(request uint64, head ID) {
	s.send(&Result{Request: request, Head: head})
	s.emit(Event{Kind: EventMoved, Request: request, Commit: head})
	s.HeadMoved(head)
}
