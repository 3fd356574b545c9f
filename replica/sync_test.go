package replica

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/protocol"
	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"
)

// site is a machine: a data directory with one workspace.
type site struct {
	t    *testing.T
	data *workspace.DataDir
	w    *workspace.Workspace
	fs   *vfs.Walker
}

func newSite(t *testing.T, name string) *site {
	t.Helper()
	data, err := workspace.OpenDataDir(t.Context(), workspace.Options{Dir: filepath.Join(t.TempDir(), name)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	})
	w, err := data.Create(t.Context(), "ws", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &site{t: t, data: data, w: w, fs: vfs.NewWalker(w, &vfs.Op{})}
}

func (s *site) write(p, content string) {
	s.t.Helper()
	if err := s.fs.MkdirAll(filepath.Dir("/"+p), 0o755); err != nil {
		s.t.Fatal(err)
	}
	f, err := s.fs.Create("/"+p, 0o644)
	if err == nil {
		_, err = f.Write([]byte(content))
	}
	if err != nil {
		s.t.Fatalf("write %s: %v", p, err)
	}
	if err := f.Close(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) read(p string) string {
	f, err := s.fs.Open("/" + p)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	var b strings.Builder
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return b.String()
		}
	}
}

func (s *site) root() string {
	s.t.Helper()
	id, err := s.w.SyncHead(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := s.w.Commit(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return c.Root.String()
}

func (s *site) check() {
	s.t.Helper()
	_, err := s.w.Check(s.t.Context(), nil, func(p workspace.Problem) { s.t.Errorf("check: %+v", p) })
	if err != nil {
		s.t.Error(err)
	}
}

// serve serves a site to who is admitted and returns a way to connect.
func (s *site) serve(t *testing.T, o ServerOptions) (*Server, func() net.Conn) {
	t.Helper()
	if o.Admit == nil {
		o.Admit = func(_ context.Context, v *Visitor, _ string, _, _ bool) (*workspace.Workspace, error) {
			return s.data.Open(v.Workspace)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := NewServer(o)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(context.Background(), l) }()
	t.Cleanup(func() {
		l.Close()
		srv.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return srv, func() net.Conn {
		nc, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return nc
	}
}

// with runs an exchange on a session of its own.
func (s *site) with(dial func() net.Conn, f func(*Peer, *Client) (Outcome, error)) (Outcome, protocol.Stats, error) {
	s.t.Helper()
	c := NewClient(s.t.Context(), dial(), ClientOptions{Workspace: s.w, Name: "ws", Write: true, Create: true})
	o, err := f(&Peer{Workspace: s.w, Name: "origin"}, c)
	c.Close()
	return o, c.Stats(), err
}

func (s *site) sync(dial func() net.Conn) Outcome {
	s.t.Helper()
	o, _, err := s.with(dial, func(p *Peer, c *Client) (Outcome, error) { return p.Sync(s.t.Context(), c) })
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

func TestCloneEditPush(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	for i := range 200 {
		a.write(fmt.Sprintf("d%d/f%d", i%7, i), strings.Repeat("x", i*10))
	}
	_, dial := a.serve(t, ServerOptions{})
	if o := b.sync(dial); !o.Pulled || o.Pushed || o.Merged {
		t.Errorf("clone: %+v", o)
	}
	if a.root() != b.root() {
		t.Fatal("after a clone the roots differ")
	}
	b.write("d1/f1", "edited in b")
	if o := b.sync(dial); o.Pulled || !o.Pushed {
		t.Errorf("push: %+v", o)
	}
	if got := a.read("d1/f1"); got != "edited in b" || a.root() != b.root() {
		t.Errorf("a has %q", got)
	}
	if o := b.sync(dial); o.Pulled || o.Pushed {
		t.Errorf("nothing changed: %+v", o)
	}
	a.check()
	b.check()
}

func TestDivergedMerge(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	a.write("shared", "base")
	a.write("both", "base")
	_, dial := a.serve(t, ServerOptions{})
	b.sync(dial)
	a.write("only-a", "a")
	a.write("both", "by a")
	b.write("only-b", "b")
	b.write("both", "by b")
	_, _, err := b.with(dial, func(p *Peer, c *Client) (Outcome, error) { return p.Push(t.Context(), c) })
	if !errors.Is(err, ErrPeerAhead) {
		t.Errorf("a push over changes of the peer: %v", err)
	}
	o := b.sync(dial)
	if !o.Pulled || !o.Pushed || !o.Merged || o.Conflicts != 1 {
		t.Errorf("%+v", o)
	}
	if a.root() != b.root() {
		t.Fatal("after a merge the roots differ")
	}
	for _, s := range []*site{a, b} {
		if s.read("only-a") != "a" || s.read("only-b") != "b" {
			t.Error("an edit is lost")
		}
		list, err := s.w.Conflicts(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("conflicts: %v %v", list, err)
		}
		got := []string{s.read("both"), s.read(strings.TrimPrefix(list[0].Other, "/"))}
		if !(got[0] == "by a" && got[1] == "by b" || got[0] == "by b" && got[1] == "by a") {
			t.Errorf("the two versions are %q", got)
		}
		s.check()
	}
}

// An edit of one byte among many files costs its chunk and some hundred bytes, in
// two round trips.
func TestSmallEditIsSmall(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	for i := range 3000 {
		a.write(fmt.Sprintf("d%d/f%d", i%30, i), fmt.Sprint("content ", i))
	}
	_, dial := a.serve(t, ServerOptions{})
	b.sync(dial)
	b.write("d5/f35", "content 35!")
	_, stats, err := b.with(dial, func(p *Peer, c *Client) (Outcome, error) { return p.Push(t.Context(), c) })
	if err != nil {
		t.Fatal(err)
	}
	if stats.BytesOut > 1024 || stats.BytesIn > 1024 {
		t.Errorf("%d bytes out, %d in", stats.BytesOut, stats.BytesIn)
	}
	if a.root() != b.root() {
		t.Error("the roots differ")
	}
}

func TestWatchConverges(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	a.write("f", "first")
	_, dial := a.serve(t, ServerOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	c := NewClient(ctx, dial(), ClientOptions{Workspace: b.w, Name: "ws", Write: true})
	watched := make(chan error, 1)
	go func() {
		watched <- (&Peer{Workspace: b.w, Name: "origin"}).Watch(ctx, c, func(Outcome) {})
	}()
	await := func(what string, done func() bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s does not arrive", what)
			}
		}
	}
	await("the first file", func() bool { return b.read("f") == "first" })
	a.write("f", "second")
	await("an edit of a", func() bool { return b.read("f") == "second" })
	b.write("g", "back")
	await("an edit of b", func() bool { return a.read("g") == "back" })
	cancel()
	if err := <-watched; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	c.Close()
}

func TestNoRight(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	a.write("secret", "x")
	_, dial := a.serve(t, ServerOptions{Admit: func(context.Context, *Visitor, string, bool, bool) (*workspace.Workspace, error) {
		return nil, ErrTokenExpired
	}})
	_, _, err := b.with(dial, func(p *Peer, c *Client) (Outcome, error) { return p.Pull(t.Context(), c) })
	var e *protocol.Error
	if !errors.As(err, &e) || e.Code != protocol.CodeExpired || !e.Remote {
		t.Errorf("%v", err)
	}
	if b.read("secret") == "x" {
		t.Error("it was served")
	}
}

// Garbage ends its own connection and nothing else.
func TestGarbage(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	a.write("f", "x")
	srv, dial := a.serve(t, ServerOptions{})
	for _, garbage := range []string{"GET / HTTP/1.1\r\n\r\n", strings.Repeat("\xff", 100), strings.Repeat("\x00", 4096), "\x10\x00\x00\x00\x00\x00\x00\x00"} {
		nc := dial()
		if _, err := nc.Write([]byte(garbage)); err != nil {
			t.Fatal(err)
		}
		// A short one waits for more: it is the deadline's affair.
		if err := nc.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 4096)
		for {
			if _, err := nc.Read(buf); err != nil {
				break
			}
		}
		nc.Close()
	}
	b.sync(dial)
	if b.read("f") != "x" {
		t.Error("the others are not served")
	}
	for deadline := time.Now().Add(10 * time.Second); srv.Totals().Open > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions are left", srv.Totals().Open)
		}
	}
}

// A transfer that was cut goes on where it stopped.
func TestResume(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	for i := range 300 {
		a.write(fmt.Sprintf("f%d", i), noise(i, 20000))
	}
	_, dial := a.serve(t, ServerOptions{})
	_, first, err := b.with(func() net.Conn { return &cutConn{Conn: dial(), left: 3 << 20} }, func(p *Peer, c *Client) (Outcome, error) {
		return p.Pull(t.Context(), c)
	})
	if err == nil {
		t.Fatal("it was not cut")
	}
	if b.read("f0") == noise(0, 20000) {
		t.Error("half a transfer is visible")
	}
	_, second, err := b.with(dial, func(p *Peer, c *Client) (Outcome, error) { return p.Pull(t.Context(), c) })
	if err != nil {
		t.Fatal(err)
	}
	if a.root() != b.root() {
		t.Error("the roots differ")
	}
	total := first.ChunkBytesIn + second.ChunkBytesIn
	if content := uint64(300 * 20000); total > content+content/20 {
		t.Errorf("%d + %d bytes of chunks for %d", first.ChunkBytesIn, second.ChunkBytesIn, content)
	}
}

func noise(seed, n int) string {
	b := make([]byte, 0, n+32)
	for i := 0; len(b) < n; i++ {
		sum := chunk.Sum(fmt.Append(nil, seed, i))
		b = append(b, sum[:]...)
	}
	return string(b[:n])
}

// cutConn is a connection that breaks after some bytes came in.
type cutConn struct {
	net.Conn
	left int
}

func (c *cutConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		c.Conn.Close()
		return 0, errors.New("cut")
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}
