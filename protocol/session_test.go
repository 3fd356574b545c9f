package protocol

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"
)

var epoch = time.Unix(1_700_000_000, 0)

// link of two sessions without a network: what one sends the other receives.
type pair struct {
	t              *testing.T
	client, server *Session
	trips          int // times the client waited for the server
	up, down       int // bytes
	ce, se         []Event
}

func newPair(t *testing.T, local, remote *memStore) *pair {
	return newPairConfig(t, Config{Store: local, Workspace: "ws", Rights: RightRead | RightWrite, Agent: "test"}, remote)
}

func newPairConfig(t *testing.T, cfg Config, remote *memStore) *pair {
	return &pair{
		t:      t,
		client: NewClient(epoch, cfg),
		server: NewServer(epoch, Config{Agent: "test", Accept: func(*Hello) (Grant, error) {
			return Grant{Store: remote, Rights: RightRead | RightWrite}, nil
		}}),
	}
}

func drain(s *Session) []byte {
	var out []byte
	for {
		b := s.Output(nil, 64<<10)
		if len(b) == 0 {
			return out
		}
		out = append(out, b...)
	}
}

// run lets both ends speak until they have nothing more to say.
func (p *pair) run() {
	p.t.Helper()
	for {
		out := drain(p.client)
		p.up += len(out)
		p.server.Receive(epoch, out)
		p.se = append(p.se, p.server.Events()...)
		in := drain(p.server)
		p.down += len(in)
		if len(out)+len(in) == 0 {
			return
		}
		if len(in) > 0 {
			p.trips++
		}
		p.client.Receive(epoch, in)
		p.ce = append(p.ce, p.client.Events()...)
	}
}

func (p *pair) find(kind EventKind) *Event {
	for i := len(p.ce) - 1; i >= 0; i-- {
		if p.ce[i].Kind == kind {
			return &p.ce[i]
		}
	}
	return nil
}

func (p *pair) open() {
	p.t.Helper()
	p.run()
	if !p.client.Open() || !p.server.Open() {
		p.t.Fatalf("not open: %v, %v", p.client.Err(), p.server.Err())
	}
	p.trips, p.up, p.down = 0, 0, 0
}

func (p *pair) push(local, remote *memStore) {
	p.t.Helper()
	if _, err := p.client.Push(remote.head, local.head); err != nil {
		p.t.Fatal(err)
	}
	p.run()
	if e := p.find(EventPushed); e == nil || remote.head != local.head {
		p.t.Fatalf("not pushed: %+v, server %v", p.ce, p.server.Err())
	}
}

func fill(m *memStore, files, size int) {
	edits := map[string][]byte{}
	for i := range files {
		edits[fmt.Sprintf("file-%06d", i)] = m.file(testBytes(uint64(i), size))
	}
	m.commit(edits)
}

func same(t *testing.T, a, b *memStore, commit ID) {
	t.Helper()
	if !maps.Equal(a.entries(commit), b.entries(commit)) {
		t.Error("the entries of a commit differ")
	}
	if a.imports != 0 || b.imports != 0 {
		t.Errorf("%d and %d imports are open", a.imports, b.imports)
	}
}

func TestPushFirstAndEdit(t *testing.T) {
	local, remote := newMemStore(), newMemStore()
	fill(local, 1000, 4096)
	p := newPair(t, local, remote)
	p.open()
	p.push(local, remote)
	same(t, local, remote, local.head)
	t.Logf("first push: %d trips, %d bytes up, %d down", p.trips, p.up, p.down)

	local.commit(map[string][]byte{"file-000500": local.file(testBytes(7777, 4096))})
	p.trips, p.up, p.down = 0, 0, 0
	p.push(local, remote)
	same(t, local, remote, local.head)
	t.Logf("one edit: %d trips, %d bytes up, %d down", p.trips, p.up, p.down)
	if p.trips > 1 || p.up+p.down > 4096+1024 {
		t.Errorf("an edit took %d trips and %d bytes", p.trips, p.up+p.down)
	}
}

func TestFetch(t *testing.T) {
	for _, files := range []int{0, 1, 100, 60_000} {
		t.Run(fmt.Sprint(files), func(t *testing.T) {
			local, remote := newMemStore(), newMemStore()
			fill(remote, files, 40)
			p := newPair(t, local, remote)
			if _, err := p.client.Fetch(ID{}, false); err != nil {
				t.Fatal(err)
			}
			p.run()
			if e := p.find(EventFetched); e == nil || e.Commit != remote.head {
				t.Fatalf("not fetched: %+v", p.ce)
			}
			same(t, local, remote, remote.head)
			t.Logf("%d files: %d trips, %d bytes", files, p.trips, p.down)
			local.head = remote.head

			p.trips, p.up, p.down = 0, 0, 0
			p.client.Fetch(ID{}, false)
			p.run()
			if e := p.find(EventFetched); e.Mode != ModeNothing || p.trips != 1 {
				t.Errorf("nothing changed: %+v, %d trips", e, p.trips)
			}
			t.Logf("nothing changed: %d trips, %d bytes up, %d down", p.trips, p.up, p.down)
		})
	}
}

func TestHistoryArrives(t *testing.T) {
	local, remote := newMemStore(), newMemStore()
	for i := range 3000 {
		remote.commit(map[string][]byte{"f": inline(fmt.Sprint(i))})
	}
	p := newPair(t, local, remote)
	p.client.Fetch(ID{}, false)
	p.run()
	if p.find(EventFetched) == nil {
		t.Fatalf("%+v", p.ce)
	}
	n := 0
	for id := remote.head; ; n++ {
		if _, err := local.Commit(nil, id); err != nil {
			t.Fatalf("commit %d of the history is lacking", n)
		}
		parents := remote.link(id).Parents
		if len(parents) == 0 {
			break
		}
		id = parents[0]
	}
	t.Logf("%d commits in %d trips", n+1, p.trips)
	if p.trips > 6 {
		t.Errorf("%d trips", p.trips)
	}
}

func TestPushAgainstAnotherHead(t *testing.T) {
	local, remote := newMemStore(), newMemStore()
	fill(local, 3, 100)
	fill(remote, 4, 100)
	old := remote.head
	p := newPair(t, local, remote)
	p.open()
	p.client.Push(local.head, local.head)
	p.run()
	if e := p.find(EventFailed); e == nil || !errors.Is(e.Err, ErrHeadMoved) {
		t.Fatalf("%+v", p.ce)
	}
	if remote.head != old || remote.imports != 0 || !p.server.Open() {
		t.Error("the head moved, or the session ended")
	}
}
