package replica

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
	"time"
)

// Failures that users of comparable systems met, each as a test of its own; the
// number is that of the case. Those about merging are in package workspace.

// S01: entries whose parents come later in the order of keys, in both directions.
func TestS01ChildrenBeforeParents(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	_, dial := a.serve(t, ServerOptions{})
	rnd := rand.New(rand.NewPCG(1, 1))
	build := func(x *site, name string) {
		// What is made first gets the lower inode and sorts first; then each is
		// moved into one that was made later.
		for i := range 30 {
			must(t, x.fs.Mkdir(fmt.Sprintf("/%s%d", name, i), 0o755))
			x.write(fmt.Sprintf("%s%d/f", name, i), name)
		}
		for _, i := range rnd.Perm(29) {
			must(t, x.fs.Rename(fmt.Sprintf("/%s%d", name, i), fmt.Sprintf("/%s29/%d", name, i), 0))
		}
	}
	build(a, "pull")
	b.sync(dial)
	build(b, "push")
	b.sync(dial)
	for _, x := range []*site{a, b} {
		for i := range 29 {
			if x.read(fmt.Sprintf("pull29/%d/f", i)) != "pull" || x.read(fmt.Sprintf("push29/%d/f", i)) != "push" {
				t.Errorf("child %d is lacking", i)
			}
		}
		x.check()
	}
	if a.root() != b.root() {
		t.Error("the roots differ")
	}
}

// S08: files that come and go faster than anybody can pull leave nothing behind.
func TestS08CreateModifyDelete(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	a.write("stays", "1")
	_, dial := a.serve(t, ServerOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	c := NewClient(ctx, dial(), ClientOptions{Workspace: b.w, Name: "ws", Write: true})
	watched := make(chan error, 1)
	go func() { watched <- (&Peer{Workspace: b.w, Name: "origin"}).Watch(ctx, c, func(Outcome) {}) }()
	for end, i := time.Now().Add(1500*time.Millisecond), 0; time.Now().Before(end); i++ {
		x := []*site{a, b}[i%2]
		if x.read("stays") != "1" {
			time.Sleep(time.Millisecond) // the clone is under way
			continue
		}
		p := fmt.Sprintf("tmp%d", i%7)
		x.write(p, fmt.Sprint("one ", i))
		x.write(p, fmt.Sprint("two ", i))
		must(t, x.fs.Unlink("/"+p))
	}
	quiet := func() bool {
		return a.root() == b.root() && len(names(t, a)) == 1 && len(names(t, b)) == 1
	}
	for end := time.Now().Add(20 * time.Second); !quiet(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("a has %v, b has %v", names(t, a), names(t, b))
		}
	}
	cancel()
	if err := <-watched; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	c.Close()
	a.check()
	b.check()
}

func names(t *testing.T, x *site) (out []string) {
	t.Helper()
	entries, err := x.fs.ReadDir("/")
	must(t, err)
	for _, e := range entries {
		out = append(out, e.Name)
	}
	return out
}

// S10, S16: a first copy that is cut at its half goes on where it was, whoever
// begins again, and half a file is never seen.
func TestS16CutAtHalf(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	const size = 24 << 20
	a.write("big", noise(1, size))
	a.root()
	_, dial := a.serve(t, ServerOptions{})
	pull := func(p *Peer, c *Client) (Outcome, error) { return p.Pull(t.Context(), c) }
	_, first, err := b.with(func() net.Conn { return &cutConn{Conn: dial(), left: size / 2} }, pull)
	if err == nil || first.ChunkBytesIn < size/4 {
		t.Fatalf("it was not cut at its half: %v, %d bytes", err, first.ChunkBytesIn)
	}
	if len(names(t, b)) > 0 {
		t.Errorf("after half a transfer there is %v", names(t, b))
	}
	_, second, err := b.with(dial, pull)
	must(t, err)
	// What arrived and was not yet stored is sent again: less than a read and
	// the frame it ends in.
	if again := first.ChunkBytesIn + second.ChunkBytesIn; again > size+512<<10 {
		t.Errorf("%d of %d bytes were sent twice", again-size, size)
	}
	if b.read("big") != noise(1, size) || a.root() != b.root() {
		t.Error("it did not arrive")
	}
}
