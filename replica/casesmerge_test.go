package replica

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vfsd/vfsd/vfs"
)

// More of the failures that users of comparable systems met (cases_test.go). S12 and
// S14 are about plain directories: package checkout has them (TestRootRemade,
// TestInsideDataDir).

// threeWays is a hub and two replicas of it.
func threeWays(t *testing.T) (hub, a, b *site, dial func() net.Conn) {
	t.Helper()
	hub, a, b = newSite(t, "hub"), newSite(t, "a"), newSite(t, "b")
	hub.write("base", "base")
	_, dial = hub.serve(t, ServerOptions{})
	a.sync(dial)
	b.sync(dial)
	return hub, a, b, dial
}

// settle syncs until nothing moves any more.
func settle(t *testing.T, dial func() net.Conn, sites ...*site) {
	t.Helper()
	for range 10 {
		moved := false
		for _, s := range sites {
			o := s.sync(dial)
			moved = moved || o.Pulled || o.Pushed
		}
		if !moved {
			return
		}
	}
	t.Fatal("it does not settle")
}

func equalRoots(t *testing.T, sites ...*site) {
	t.Helper()
	for _, s := range sites[1:] {
		if s.root() != sites[0].root() {
			t.Errorf("the roots differ")
		}
	}
	for _, s := range sites {
		s.check()
	}
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// date sets the time of a file.
func (s *site) date(p string, mtime int64) {
	s.t.Helper()
	at, err := s.fs.Lstat("/" + p)
	if err == nil {
		_, err = s.w.Setattr(&vfs.Op{}, at.Ino, &vfs.SetAttr{Mask: vfs.SetMtime, Mtime: mtime})
	}
	s.must(err)
}

// S02: directories that were removed or renamed stay so, whatever metadata of them
// is on its way.
func TestS02NoGhosts(t *testing.T) {
	hub, a, b, dial := threeWays(t)
	a.write("gone/f", "x")
	a.write("old/f", "x")
	settle(t, dial, a, b)
	a.must(a.fs.Unlink("/gone/f"))
	a.must(a.fs.Rmdir("/gone"))
	a.must(a.fs.Rename("/old", "/new", 0))
	b.must(b.fs.Chmod("/gone", 0o700))
	b.must(b.fs.Chmod("/old", 0o700))
	b.must(b.fs.Chmod("/old/f", 0o600))
	settle(t, dial, a, b)
	equalRoots(t, hub, a, b)
	for _, s := range []*site{hub, a, b} {
		if _, err := s.fs.Lstat("/old"); err == nil {
			t.Error("the old name is back")
		}
		if at, err := s.fs.Lstat("/new/f"); err != nil || at.Mode&vfs.ModePerm != 0o600 {
			t.Errorf("the renamed file: %o %v", at.Mode, err)
		}
	}
}

// S04: a rename that changes case alone, and an edit at the other end.
func TestS04CaseRename(t *testing.T) {
	hub, a, b, dial := threeWays(t)
	a.write("foo", "one")
	settle(t, dial, a, b)
	a.must(a.fs.Rename("/foo", "/Foo", 0))
	b.write("foo", "two")
	settle(t, dial, a, b)
	equalRoots(t, hub, a, b)
	if got := hub.read("Foo"); got != "two" {
		t.Errorf("Foo is %q", got)
	}
	if _, err := hub.fs.Lstat("/foo"); err == nil {
		t.Error("foo is there too")
	}
}

// S06: two names that are equal once normalised are two names.
func TestS06Normalisation(t *testing.T) {
	hub, a, b, dial := threeWays(t)
	nfc, nfd := "caf\u00e9", "cafe\u0301"
	a.write(nfc, "composed")
	a.write(nfd, "decomposed")
	a.write("bad\xff\xfe", "no UTF-8")
	settle(t, dial, a, b)
	equalRoots(t, hub, a, b)
	if b.read(nfc) != "composed" || b.read(nfd) != "decomposed" || b.read("bad\xff\xfe") != "no UTF-8" {
		t.Error("a name is lost")
	}
}

// S10: a transfer that broke leaves nothing under a final name, and goes
// on from either end. TestResume counts what is sent again.
func TestS10BrokenFirstSync(t *testing.T) {
	hub, a, b, dial := threeWays(t)
	a.write("large", noise(1, 4<<20))
	cut := func() net.Conn { return &cutConn{Conn: dial(), left: 1 << 10} }
	_, _, err := a.with(func() net.Conn { return &cutWrites{Conn: dial(), left: 2 << 20} }, func(p *Peer, c *Client) (Outcome, error) {
		return p.Push(t.Context(), c)
	})
	if err == nil {
		t.Fatal("it was not cut")
	}
	if _, err := hub.fs.Lstat("/large"); err == nil {
		t.Error("half a file has its name")
	}
	if _, _, err := b.with(cut, func(p *Peer, c *Client) (Outcome, error) { return p.Sync(t.Context(), c) }); err != nil {
		t.Logf("b, meanwhile: %v", err)
	}
	settle(t, dial, a, b)
	equalRoots(t, hub, a, b)
	if b.read("large") != noise(1, 4<<20) {
		t.Error("the file differs")
	}
	if list, err := hub.w.Conflicts(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("conflicts: %v %v", list, err)
	}
}

// cutWrites is a connection that breaks after some bytes went out.
type cutWrites struct {
	net.Conn
	left int
}

func (c *cutWrites) Write(p []byte) (int, error) {
	if c.left -= len(p); c.left <= 0 {
		c.Conn.Close()
	}
	return c.Conn.Write(p)
}

// S17: clocks that lie decide nothing: the causal last edit wins, and so does a
// deliberate copy of an older file over a newer.
func TestS17Clocks(t *testing.T) {
	hub, a, b, dial := threeWays(t)
	a.write("f", "first")
	far := time.Now().Add(365 * 24 * time.Hour).UnixNano()
	a.date("f", far)
	settle(t, dial, a, b)
	b.write("f", "second, by a slow clock")
	long := time.Now().Add(-365 * 24 * time.Hour).UnixNano()
	b.date("f", long)
	settle(t, dial, b, a)
	equalRoots(t, hub, a, b)
	if got := a.read("f"); got != "second, by a slow clock" {
		t.Errorf("f is %q", got)
	}
	if at, err := a.fs.Lstat("/f"); err != nil || at.Mtime != long {
		t.Errorf("its time is %d, %v", at.Mtime, err)
	}
}

// S18: work on different files in one tree, at both ends at once, as git and a
// build do, is no conflict.
func TestS18NoConflictsOutside(t *testing.T) {
	hub, a, b, dial := threeWays(t)
	for i := range 30 {
		a.write(fmt.Sprintf("src/f%d", i), "v1")
	}
	settle(t, dial, a, b)
	for round := range 5 {
		for i := range 30 { // as a checkout does: a new file in the old one's place
			a.write("src/tmp", fmt.Sprint("version ", round))
			a.must(a.fs.Rename("/src/tmp", fmt.Sprintf("/src/f%d", i), 0))
		}
		for i := range 30 {
			b.write(fmt.Sprintf("build/o%d", i), strings.Repeat("x", round*100))
		}
		settle(t, dial, a, b)
	}
	equalRoots(t, hub, a, b)
	if list, err := hub.w.Conflicts(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("conflicts: %v %v", list, err)
	}
}

// C18: a daemon does not take its own changes for news of a peer.
func TestC18NoEcho(t *testing.T) {
	hub, a, _, dial := threeWays(t)
	a.write("f", "1")
	if o := a.sync(dial); !o.Pushed {
		t.Fatalf("%+v", o)
	}
	for range 5 {
		if o := a.sync(dial); o.Pulled || o.Pushed || o.Merged {
			t.Errorf("an own change came back: %+v", o)
		}
	}
	equalRoots(t, hub, a)
}

// C18: two daemons follow each other while both are written to: no own change is
// taken for news, no write is lost, and both arrive at one state. Ten minutes with
// VFSD_SOAK=1.
func TestC18SustainedBothWays(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	a.write("base", "base")
	_, toA := a.serve(t, ServerOptions{})
	b.sync(toA)
	_, toB := b.serve(t, ServerOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	follow := func(s *site, dial func() net.Conn) {
		all.Go(func() {
			for ctx.Err() == nil { // a head that moves too often ends a watch; commands begin it again
				c := NewClient(ctx, dial(), ClientOptions{Workspace: s.w, Name: "ws", Write: true})
				err := (&Peer{Workspace: s.w, Name: "origin"}).Watch(ctx, c, func(Outcome) {})
				c.Close()
				if ctx.Err() == nil && !errors.Is(err, ErrPeerAhead) {
					t.Errorf("watch: %v", err)
					return
				}
			}
		})
	}
	follow(a, toB)
	follow(b, toA)
	length := 3 * time.Second
	if os.Getenv("VFSD_SOAK") == "1" {
		length = 10 * time.Minute
	}
	counts := map[*site]int{}
	var writers sync.WaitGroup
	var mu sync.Mutex
	for name, s := range map[string]*site{"a": a, "b": b} {
		writers.Go(func() {
			n := 0
			for end := time.Now().Add(length); time.Now().Before(end); n++ {
				s.write(fmt.Sprintf("%s/f%d", name, n%200), fmt.Sprint(name, n))
				time.Sleep(time.Millisecond)
			}
			mu.Lock()
			counts[s] = n
			mu.Unlock()
		})
	}
	writers.Wait()
	cancel()
	all.Wait()
	settle(t, toA, b)
	settle(t, toB, a)
	equalRoots(t, a, b)
	for name, s := range map[string]*site{"a": a, "b": b} {
		last := counts[s] - 1
		for _, at := range []*site{a, b} {
			if got := at.read(fmt.Sprintf("%s/f%d", name, last%200)); got != fmt.Sprint(name, last) {
				t.Errorf("the last write of %s reads %q", name, got)
			}
		}
	}
	if list, err := a.w.Conflicts(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("conflicts: %v %v", list, err)
	}
}
