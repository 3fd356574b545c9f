package replica

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/vfsd/vfsd/protocol"
	"github.com/vfsd/vfsd/workspace"
)

// tripConn counts round trips: how often this end had to wait for an answer
// after it had sent something.
type tripConn struct {
	net.Conn
	mu    sync.Mutex
	asked bool
	trips int
	out   int
	in    int
}

func (c *tripConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.mu.Lock()
	c.asked = true
	c.out += n
	c.mu.Unlock()
	return n, err
}

func (c *tripConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 && c.asked {
		c.asked = false
		c.trips++
	}
	c.in += n
	return n, err
}

// figure is what an exchange cost.
type figure struct {
	out, in, trips int
	took           time.Duration
	stats          protocol.Stats
}

func (s *site) measure(dial func() net.Conn, f func(*Peer, *Client) (Outcome, error)) figure {
	s.t.Helper()
	c := &tripConn{Conn: dial()}
	start := time.Now()
	_, stats, err := s.with(func() net.Conn { return c }, f)
	if err != nil {
		s.t.Fatal(err)
	}
	return figure{c.out, c.in, c.trips, time.Since(start), stats}
}

// TestFigures measures what the usual changes cost, with what performance asks
// for as the bound where bytes and round trips are meant; times are told only.
func TestFigures(t *testing.T) {
	files, dir := 3000, 2000
	if os.Getenv("VFSD_SOAK") != "" {
		files, dir = 100_000, 36_000
	}
	a, b := newSite(t, "a"), newSite(t, "b")
	for i := range files {
		name := fmt.Sprintf("d%d/f%d", i%100, i)
		if i < dir {
			name = fmt.Sprintf("big/s%d/f%d", i%50, i)
		}
		a.write(name, noise(i, 300))
	}
	a.write("big/small", noise(1, 4096))
	a.write("large", noise(2, 16<<20))
	_, dial := a.serve(t, ServerOptions{})
	pull := func(p *Peer, c *Client) (Outcome, error) { return p.Pull(t.Context(), c) }
	push := func(p *Peer, c *Client) (Outcome, error) { return p.Push(t.Context(), c) }
	tell := func(what string, f figure, maxBytes, maxTrips int) {
		t.Helper()
		t.Logf("%-34s %9d bytes out %9d in, %2d round trips, %v", what, f.out, f.in, f.trips, f.took.Round(time.Millisecond))
		if maxBytes > 0 && f.out+f.in > maxBytes || maxTrips > 0 && f.trips > maxTrips {
			t.Errorf("%s: %d bytes in %d round trips, want at most %d in %d", what, f.out+f.in, f.trips, maxBytes, maxTrips)
		}
		if a.root() != b.root() {
			t.Fatalf("%s: the roots differ", what)
		}
	}
	tell("clone", b.measure(dial, pull), 0, 0)
	tell("nothing changed, pull", b.measure(dial, pull), 1<<10, 1)
	tell("nothing changed, push", b.measure(dial, push), 1<<10, 1)

	edited := []byte(noise(1, 4096))
	edited[2000]++
	b.write("big/small", string(edited))
	tell("1 byte in a file of 4 KiB, push", b.measure(dial, push), 4096+1024, 2)
	edited[2001]++
	a.write("big/small", string(edited))
	tell("1 byte in a file of 4 KiB, pull", b.measure(dial, pull), 4096+1024, 2)

	must(t, b.fs.Chmod("/big/small", 0o600))
	tell("chmod, push", b.measure(dial, push), 1024, 2)
	must(t, b.fs.Rename("/big", "/moved", 0))
	tell(fmt.Sprintf("rename of %d files, push", dir), b.measure(dial, push), 1024, 2)

	for i := range 1000 {
		must(t, b.fs.Unlink(fmt.Sprintf("/moved/s%d/f%d", i%50, i)))
	}
	tell("1000 files deleted, push", b.measure(dial, push), 16<<10, 2)

	large := noise(2, 16<<20)
	b.write("large", large[:8<<20]+noise(3, 100)+large[8<<20:])
	tell("100 bytes into 16 MiB, push", b.measure(dial, push), 600<<10, 3)
	a.check()
	b.check()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// serveTLS serves a site over TLS with a key of its own.
func (s *site) serveTLS(t *testing.T) func() net.Conn {
	t.Helper()
	id, err := LoadIdentity(t.TempDir())
	must(t, err)
	l, err := tls.Listen("tcp", "127.0.0.1:0", id.ServerTLS())
	must(t, err)
	srv := NewServer(ServerOptions{Admit: func(_ context.Context, v *Visitor, _ string, _, _ bool) (*workspace.Workspace, error) {
		return s.data.Open(v.Workspace)
	}})
	done := make(chan error, 1)
	go func() { done <- srv.Serve(context.Background(), l) }()
	t.Cleanup(func() {
		l.Close()
		srv.Close()
		must(t, <-done)
	})
	trust := &Trust{Pinned: func(string) (string, error) { return "", nil }, Pin: func(string, string) error { return nil }}
	return func() net.Conn {
		nc, err := Dial(t.Context(), Address{Scheme: SchemeTLS, Host: l.Addr().String(), Workspace: "ws"}, trust)
		must(t, err)
		return nc
	}
}

// TestFirstPush tells how long a push to a fresh workspace takes over loopback,
// durable at the end.
func TestFirstPush(t *testing.T) {
	for _, c := range []struct{ files, size int }{{1000, 4 << 10}, {1, 64 << 20}} {
		for _, secure := range []bool{false, true} {
			a, b := newSite(t, "a"), newSite(t, "b")
			for i := range c.files {
				b.write(fmt.Sprintf("d%d/f%d", i%10, i), noise(i, c.size))
			}
			b.root() // what is staged is cut into chunks
			_, dial := a.serve(t, ServerOptions{})
			if secure {
				dial = a.serveTLS(t)
			}
			start := time.Now()
			// The first pull finds out that the peer is blank.
			f := b.measure(dial, func(p *Peer, c *Client) (Outcome, error) { return p.Sync(t.Context(), c) })
			took := time.Since(start)
			t.Logf("%d x %d, TLS %v: %v, %.0f MB/s, %d round trips", c.files, c.size, secure, took.Round(time.Millisecond),
				float64(c.files*c.size)/1e6/took.Seconds(), f.trips)
			if a.root() != b.root() {
				t.Error("the roots differ")
			}
		}
	}
}
