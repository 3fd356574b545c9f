package protocol

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

// heal ends all trouble, and lets everybody sync until nothing changes.
func (s *sim) heal() {
	s.quiet = true
	s.parted = map[[2]int]bool{}
	for _, w := range s.wires {
		s.kill(w)
	}
	s.wires = nil
	for range 3 {
		for i := 1; i < len(s.replicas); i++ {
			s.syncNow(i, 0)
		}
	}
}

func (s *sim) syncNow(from, to int) {
	w := s.connect(from, to)
	for n := 0; !w.dead; n++ {
		if n > 2_000_000 {
			s.t.Fatalf("%d->%d never ends: client %v, server %v", from, to, w.client.Err(), w.server.Err())
		}
		s.deliver(w)
	}
	if !w.job.done {
		s.t.Fatalf("%d->%d failed: client %v, server %v", from, to, w.client.Err(), w.server.Err())
	}
}

// check returns what is wrong at the end.
func (s *sim) check() (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	first := s.replicas[0]
	values := map[string]bool{}
	for _, v := range first.entries(first.head) {
		values[v] = true
	}
	for _, r := range s.replicas {
		if r.head != first.head || r.rootOf(r.head) != first.rootOf(first.head) {
			bad("replica %d is at %v, want %v", r.n, r.head, first.head)
		}
		if r.imports != 0 {
			bad("replica %d has %d open imports", r.n, r.imports)
		}
		for _, v := range r.entries(r.head) {
			r.Refs([]byte("k"), []byte(v), func(id ID) {
				if !r.HasChunk(id) {
					bad("replica %d lacks chunk %v", r.n, id)
				}
			})
		}
	}
	for v := range s.written {
		if !values[v] && !s.superseded[v] {
			bad("an edit is lost: %.60q", v)
		}
	}
	if bound := 3 * maxRaw; s.most > bound {
		bad("a session held %d bytes, want at most %d", s.most, bound)
	}
	return wrong
}

func (s *sim) run(steps int) {
	for range steps {
		s.step()
	}
	s.heal()
}

// TestSimulationNotices is the control: replicas whose merge takes one side
// lose edits, and the simulation must say so.
func TestSimulationNotices(t *testing.T) {
	for seed := range uint64(50) {
		s := newSim(t, seed)
		for _, r := range s.replicas {
			r.lossy = true
		}
		s.run(2000)
		if wrong := s.check(); len(wrong) > 0 {
			t.Logf("seed %d: %s", seed, wrong[0])
			return
		}
	}
	t.Error("50 schedules with a lossy merge, and nothing was found")
}

func TestSimulation(t *testing.T) {
	seeds, steps := 60, 6000
	if os.Getenv("VFSD_SOAK") != "" {
		seeds, steps = 2000, 8000
	}
	first := uint64(1)
	if one, err := strconv.ParseUint(os.Getenv("VFSD_SEED"), 10, 64); err == nil {
		first, seeds = one, 1
	}
	total := map[string]int{}
	for seed := first; seed < first+uint64(seeds); seed++ {
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newSim(t, seed)
			s.verbose = seeds == 1
			s.run(steps)
			for _, w := range s.check() {
				t.Error(w)
			}
			s.logf("%v, a session held %d bytes", s.counts, s.most)
			for k, n := range s.counts {
				total[k] += n
			}
			total["most held"] = max(total["most held"], s.most)
		})
		if !ok {
			t.Fatalf("VFSD_SEED=%d go test -run TestSimulation ./protocol", seed)
		}
	}
	t.Logf("%d schedules: %v", seeds, total)
	for _, k := range []string{"fetched", "pushed", "cuts", "corruptions", "partitions", "duplicates", "replays", "mode 0", "mode 1", "mode 2", "sessions ended", "moved"} {
		if total[k] == 0 && seeds > 1 {
			t.Errorf("%s never happened", k)
		}
	}
}
