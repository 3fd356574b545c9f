package protocol

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// The simulation: replicas that edit, and sync over a network that delays,
// cuts, corrupts, duplicates and partitions, with clocks that lie. One seed is
// one schedule; everything runs in one goroutine. At the end the network heals,
// everybody syncs, and
//
//   - all heads are equal, and so are all roots;
//   - every value that was ever written is there, unless somebody who saw it
//     wrote or deleted in its place;
//   - no import is open, and no session ever held more than its bound.
//
// VFSD_SEED=n runs one schedule and tells it.
type sim struct {
	t          *testing.T
	rnd        *rand.Rand
	now        time.Time
	replicas   []*simReplica
	wires      []*wire
	parted     map[[2]int]bool
	recorded   [][]byte // what clients said on connections that are over
	superseded map[string]bool
	written    map[string]bool
	counts     map[string]int
	quiet      bool // no more edits and faults
	verbose    bool
	most       int // bytes that a session held
}

type simReplica struct {
	*memStore
	n    int
	skew time.Duration // of its clock
	tune tuning
}

// wire is a connection: two sessions, and the bytes under way.
type wire struct {
	from, to       int
	client, server *Session
	up, down       []byte
	said           []byte // by the client, for a replay
	job            *simJob
	dead           bool
	dirty          bool // bytes were changed on the way
}

// simJob is what a client does on a connection: fetch, merge, push.
type simJob struct {
	tries int
	done  bool
}

func newSim(t *testing.T, seed uint64) *sim {
	s := &sim{
		t: t, rnd: rand.New(rand.NewPCG(seed, 77)), now: epoch, parted: map[[2]int]bool{},
		superseded: map[string]bool{}, written: map[string]bool{}, counts: map[string]int{},
	}
	n := 2 + s.rnd.IntN(5)
	for i := range n {
		r := &simReplica{memStore: newMemStore(), n: i, tune: s.tuning()}
		r.skew = time.Duration(s.rnd.IntN(3)-1) * time.Duration(s.rnd.IntN(400*24)) * time.Hour
		s.replicas = append(s.replicas, r)
	}
	// One replica has begun; the others are empty, as clones are.
	edits := map[string][]byte{}
	for i := range s.rnd.IntN(400) {
		edits[fmt.Sprintf("f%04d", i)] = s.value(s.replicas[0])
	}
	edits["first"] = s.value(s.replicas[0])
	s.replicas[0].commit(edits)
	return s
}

// tuning chooses small quantities, so that little data meets every case.
func (s *sim) tuning() tuning {
	pick := func(v ...int) int { return v[s.rnd.IntN(len(v))] }
	return tuning{
		treeWindow: uint64(pick(1, 1000, 100_000)), chunkWindow: uint64(pick(1, 1000, 100_000)),
		partSize: pick(1, 300, 5000), batchSize: pick(1, 500, 100_000),
		commitsAhead: pick(1, 3, 32), commitsBatch: pick(1, 5, 100),
		wantedNodes: pick(1, 3, 50), wantedChunks: pick(1, 3, 1000),
		queuedChunks: pick(0, 10, 1000), queuedNodes: pick(0, 10, 1000),
		emptyDelta: uint64(pick(0, 1000, 1<<20)), ahead: pick(0, 3000, maxAhead),
	}
}

func (s *sim) logf(format string, args ...any) {
	if s.verbose {
		s.t.Logf(format, args...)
	}
}

// value makes a new one that nobody has written before.
func (s *sim) value(r *simReplica) []byte {
	word := fmt.Sprintf("edit %d", len(s.written))
	size := s.rnd.IntN(200)
	if s.rnd.IntN(10) == 0 {
		size = s.rnd.IntN(50_000)
	}
	var v []byte
	if s.rnd.IntN(3) == 0 {
		v = inline(word)
	} else {
		v = r.file(append([]byte(word), testBytes(s.rnd.Uint64(), size)...))
	}
	s.written[string(v)] = true
	return v
}

func (s *sim) edit(r *simReplica) {
	now := r.entries(r.head)
	edits := map[string][]byte{}
	for range 1 + s.rnd.IntN(4) {
		key := fmt.Sprintf("f%04d", s.rnd.IntN(30))
		if s.rnd.IntN(3) == 0 {
			key = fmt.Sprintf("own-%d-%d", r.n, s.rnd.IntN(5))
		}
		if _, twice := edits[key]; twice {
			continue
		}
		if old, ok := now[key]; ok {
			s.superseded[old] = true
			if s.rnd.IntN(4) == 0 {
				edits[key] = nil
				continue
			}
		}
		edits[key] = s.value(r)
	}
	r.commit(edits)
	s.counts["edits"]++
}

func (s *sim) clock(r *simReplica) time.Time {
	if s.rnd.IntN(200) == 0 && !s.quiet {
		r.skew += time.Duration(s.rnd.IntN(7200)-3600) * time.Second
	}
	return s.now.Add(r.skew)
}

func (s *sim) connect(from, to int) *wire {
	c, h := s.replicas[from], s.replicas[to]
	w := &wire{from: from, to: to, job: &simJob{}}
	w.client = NewClient(s.clock(c), Config{
		Store: c, Workspace: "ws", Rights: RightRead | RightWrite, Plain: s.rnd.IntN(2) == 0, tune: &c.tune,
	})
	w.server = s.serve(h)
	s.wires = append(s.wires, w)
	s.counts["connections"]++
	if _, err := w.client.Fetch(ID{}, false); err != nil {
		s.t.Fatalf("fetch: %v", err)
	}
	return w
}

func (s *sim) serve(h *simReplica) *Session {
	return NewServer(s.clock(h), Config{tune: &h.tune, Accept: func(*Hello) (Grant, error) {
		return Grant{Store: h, Rights: RightRead | RightWrite}, nil
	}})
}

// step does one thing.
func (s *sim) step() {
	s.now = s.now.Add(time.Duration(s.rnd.IntN(200)) * time.Millisecond)
	if !s.quiet {
		switch s.rnd.IntN(300) {
		case 0, 1, 2:
			if r := s.any(); !r.head.IsZero() {
				s.edit(r)
			}
			return
		case 3, 4, 5, 6, 7, 8:
			s.begin()
			return
		case 9:
			s.disturb()
			return
		case 10, 11:
			s.ticks()
			return
		}
	}
	if len(s.wires) == 0 {
		if !s.quiet {
			s.begin()
		}
		return
	}
	s.deliver(s.wires[s.rnd.IntN(len(s.wires))])
}

func (s *sim) any() *simReplica { return s.replicas[s.rnd.IntN(len(s.replicas))] }

func (s *sim) begin() {
	from, to := s.rnd.IntN(len(s.replicas)), s.rnd.IntN(len(s.replicas))
	if from == to || len(s.wires) > 8 {
		return
	}
	s.connect(from, to)
	if s.rnd.IntN(5) == 0 {
		s.connect(from, to)
		s.counts["duplicates"]++
	}
}

func (s *sim) disturb() {
	if s.rnd.IntN(4) == 0 {
		clear(s.parted)
	}
	if s.rnd.IntN(3) == 0 {
		pair := [2]int{s.rnd.IntN(len(s.replicas)), s.rnd.IntN(len(s.replicas))}
		s.parted[pair] = !s.parted[pair]
		s.counts["partitions"]++
		return
	}
	if s.rnd.IntN(5) == 0 && len(s.recorded) > 0 {
		s.replay()
		return
	}
	if len(s.wires) == 0 {
		return
	}
	w := s.wires[s.rnd.IntN(len(s.wires))]
	if s.rnd.IntN(2) == 0 {
		s.kill(w)
		s.counts["cuts"]++
		return
	}
	way := w.up
	if s.rnd.IntN(2) == 0 {
		way = w.down
	}
	if len(way) > 0 {
		way[s.rnd.IntN(len(way))] ^= 1 << s.rnd.IntN(8)
		w.dirty = true
		s.counts["corruptions"]++
	}
}

// replay feeds a server with what a client once said.
func (s *sim) replay() {
	r := s.any()
	server := s.serve(r)
	said := s.recorded[s.rnd.IntN(len(s.recorded))]
	server.Receive(s.now, said)
	drainInto(server)
	server.Abort(fmt.Errorf("the replay is over"))
	s.counts["replays"]++
}

func drainInto(s *Session) {
	for len(s.Output(nil, 1<<16)) > 0 {
	}
}

// ticks lets time pass for all; now and then much of it.
func (s *sim) ticks() {
	if s.rnd.IntN(20) == 0 {
		s.now = s.now.Add(time.Duration(s.rnd.IntN(120)) * time.Second)
	}
	for _, w := range s.wires {
		w.client.Tick(s.clock(s.replicas[w.from]))
		w.server.Tick(s.clock(s.replicas[w.to]))
		s.events(w)
	}
	s.reap()
}

// deliver moves some bytes of one connection in one direction.
func (s *sim) deliver(w *wire) {
	if s.parted[[2]int{w.from, w.to}] || w.dead {
		s.now = s.now.Add(time.Second)
		s.ticks()
		return
	}
	size := 1 + s.rnd.IntN(1<<s.rnd.IntN(18))
	out := w.client.Output(nil, size)
	w.up = append(w.up, out...)
	w.said = append(w.said, out...)
	w.down = append(w.down, w.server.Output(nil, size)...)
	moved := len(w.up) + len(w.down)
	if s.rnd.IntN(2) == 0 {
		n := min(size, len(w.up))
		w.server.Receive(s.clock(s.replicas[w.to]), w.up[:n])
		w.up = w.up[n:]
	} else {
		n := min(size, len(w.down))
		w.client.Receive(s.clock(s.replicas[w.from]), w.down[:n])
		w.down = w.down[n:]
	}
	s.measure(w)
	s.events(w)
	if moved == 0 && (w.job.done || w.client.Closed() || w.server.Closed()) {
		s.kill(w)
	}
	s.reap()
}

func (s *sim) measure(w *wire) {
	for _, x := range []*Session{w.client, w.server} {
		s.most = max(s.most, x.held())
	}
}

func (s *sim) kill(w *wire) {
	gone := fmt.Errorf("the connection is gone")
	w.client.Abort(gone)
	w.server.Abort(gone)
	s.events(w)
	w.dead = true
	if len(w.said) < 1<<20 && len(s.recorded) < 50 {
		s.recorded = append(s.recorded, w.said)
	}
}

func (s *sim) reap() {
	alive := s.wires[:0]
	for _, w := range s.wires {
		if !w.dead {
			alive = append(alive, w)
		}
	}
	s.wires = alive
}

// events does the client's work.
func (s *sim) events(w *wire) {
	for _, e := range w.server.Events() {
		if e.Kind == EventClosed && e.Err != nil {
			s.ended(w, "server", e.Err)
		}
		if e.Kind == EventMoved {
			s.counts["moved"]++
		}
	}
	c := s.replicas[w.from]
	for _, e := range w.client.Events() {
		switch e.Kind {
		case EventFetched:
			s.counts["fetched"]++
			s.counts[fmt.Sprintf("mode %d", e.Mode)]++
			c.take(e.Commit)
			if c.head == e.Commit {
				w.job.done = true
				continue
			}
			s.push(w, e.Commit)
		case EventPushed:
			s.counts["pushed"]++
			w.job.done = true
		case EventFailed:
			s.failed(w, e.Err)
		case EventClosed:
			if e.Err != nil {
				s.ended(w, "client", e.Err)
			}
		}
	}
}

func (s *sim) push(w *wire, expect ID) {
	c := s.replicas[w.from]
	var err error
	if s.rnd.IntN(10) == 0 {
		_, err = w.client.PushWalk(expect, c.head)
	} else {
		_, err = w.client.Push(expect, c.head)
	}
	if err != nil && !w.client.Closed() {
		s.t.Fatalf("push: %v", err)
	}
}

// failed tries again when the head has moved, or pushes to an empty replica.
func (s *sim) failed(w *wire, err error) {
	s.counts["failed requests"]++
	c, h := s.replicas[w.from], s.replicas[w.to]
	w.job.tries++
	switch {
	case w.client.Closed() || w.job.tries > 4:
		w.job.done = true
	case h.head.IsZero() && !c.head.IsZero():
		s.push(w, ID{})
	case h.head.IsZero():
		w.job.done = true
	default:
		if _, err := w.client.Fetch(ID{}, false); err != nil {
			s.t.Fatalf("fetch again: %v", err)
		}
	}
}

// ended judges why a session ended: nothing but the network may have ended it.
func (s *sim) ended(w *wire, who string, err error) {
	s.counts["sessions ended"]++
	e, ok := err.(*Error)
	if !ok || e.Code == CodeTimeout || w.dirty {
		return
	}
	s.t.Fatalf("%s of %d->%d: %v", who, w.from, w.to, err)
}
