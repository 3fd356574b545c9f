package replica

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/vfsd/vfsd/protocol"
)

// While a session is busy in the store, its peer hears pings, and once it is
// over, why it ended.
func TestBusySessionPings(t *testing.T) {
	here, peer := net.Pipe()
	defer peer.Close()
	s := protocol.NewServer(time.Now(), protocol.Config{Accept: func(*protocol.Hello) (protocol.Grant, error) {
		return protocol.Grant{}, errors.New("not in this test")
	}})
	c := newConn(here, s, func(protocol.Event) {})
	c.busy = 5 * time.Millisecond
	c.opened.Store(true)
	c.mu.Lock() // as while the store is asked
	ended := make(chan error, 1)
	go func() { ended <- c.run(t.Context()) }()
	ping := protocol.KeepAlive()
	got := make([]byte, 3*len(ping))
	if _, err := io.ReadFull(peer, got); err != nil || !bytes.Equal(got, bytes.Repeat(ping, 3)) {
		t.Errorf("the peer hears %x, %v", got, err)
	}
	c.mu.Unlock()
	go io.Copy(io.Discard, peer)
	c.do(func(s *protocol.Session) { s.Close() })
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A failure reaches a peer that is still sending: the connection is not reset
// under it.
func TestFailureIsRead(t *testing.T) {
	a := newSite(t, "a")
	_, dial := a.serve(t, ServerOptions{})
	for range 20 {
		nc := dial()
		go func() {
			garbage := bytes.Repeat([]byte{0xff}, 64<<10)
			for range 100 {
				if _, err := nc.Write(garbage); err != nil {
					return
				}
			}
		}()
		var b bytes.Buffer
		must(t, nc.SetReadDeadline(time.Now().Add(10*time.Second)))
		_, _ = io.Copy(&b, nc) // it may be reset once the linger is over
		if !bytes.Contains(b.Bytes(), []byte("a frame of")) {
			t.Fatalf("the peer hears %q", b.Bytes())
		}
		nc.Close()
	}
}

// A context that ends closes the connection at once.
func TestContextEndsSession(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	_, dial := a.serve(t, ServerOptions{})
	ctx, cancel := context.WithCancelCause(t.Context())
	c := NewClient(ctx, dial(), ClientOptions{Workspace: b.w, Name: "ws"})
	if _, err := c.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	why := errors.New("why")
	cancel(why)
	select {
	case <-c.over:
	case <-time.After(10 * time.Second):
		t.Fatal("the session goes on")
	}
	if !errors.Is(c.err, why) {
		t.Errorf("it ended by %v", c.err)
	}
}
