package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serve answers on the socket of a fresh directory and returns that.
func serve(t *testing.T, dir string, register func(*Server)) {
	t.Helper()
	s := NewServer(slog.New(slog.DiscardHandler), AsError)
	register(s)
	l, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	srv := s.HTTP()
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	t.Cleanup(func() {
		srv.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// both runs a test over a socket and within the process: the same must hold.
func both(t *testing.T, register func(*Server), test func(*testing.T, *Client)) {
	t.Helper()
	t.Run("socket", func(t *testing.T) {
		dir := t.TempDir()
		serve(t, dir, register)
		c := Dial(dir)
		defer c.Close()
		test(t, c)
	})
	t.Run("local", func(t *testing.T) {
		s := NewServer(slog.New(slog.DiscardHandler), AsError)
		register(s)
		test(t, Local(s))
	})
}

func TestCall(t *testing.T) {
	both(t, func(s *Server) {
		SnapshotCall.Serve(s, func(_ context.Context, r SnapshotRequest) (Snapshot, error) {
			return Snapshot{Name: r.Name, Commit: r.Workspace}, nil
		})
	}, func(t *testing.T, c *Client) {
		got, err := SnapshotCall.Do(t.Context(), c, SnapshotRequest{"ws", "s"})
		if err != nil || got.Name != "s" || got.Commit != "ws" {
			t.Errorf("%+v, %v", got, err)
		}
		_, err = LogCall.Do(t.Context(), c, LogRequest{})
		if KindOf(err) != KindUsage || !strings.Contains(err.Error(), "/v1/log") {
			t.Errorf("a call that nobody answers: %v", err)
		}
	})
}

// TestErrors: every kind arrives as it was sent.
func TestErrors(t *testing.T) {
	both(t, func(s *Server) {
		LogCall.Serve(s, func(_ context.Context, r LogRequest) (Log, error) {
			return Log{}, Errorf(Kind(r.Workspace), "first: %w", errors.New("second\nthird"))
		})
		CheckStream.Serve(s, func(_ context.Context, r CheckRequest, sink Sink[Problem]) (Checked, error) {
			sink.Item(Problem{What: "x"})
			return Checked{}, fmt.Errorf("around: %w", Errorf(Kind(r.Workspace), "first"))
		})
	}, func(t *testing.T, c *Client) {
		for kind := range Kinds() {
			_, err := LogCall.Do(t.Context(), c, LogRequest{Workspace: string(kind)})
			if KindOf(err) != kind || err.Error() != "first: second; third" {
				t.Errorf("%s: %q is %s", kind, err, KindOf(err))
			}
			_, err = CheckStream.Do(t.Context(), c, CheckRequest{Workspace: string(kind)}, nil, nil)
			if KindOf(err) != kind || err.Error() != "around: first" {
				t.Errorf("%s: %q is %s", kind, err, KindOf(err))
			}
		}
	})
}

func TestStream(t *testing.T) {
	both(t, func(s *Server) {
		CheckStream.Serve(s, func(_ context.Context, r CheckRequest, sink Sink[Problem]) (Checked, error) {
			for i := range 1000 {
				sink.Progress(int64(i), 1000)
				sink.Item(Problem{Ino: uint64(i), What: r.Workspace})
			}
			return Checked{Problems: 1000}, nil
		})
	}, func(t *testing.T, c *Client) {
		var next uint64
		var last Progress
		got, err := CheckStream.Do(t.Context(), c, CheckRequest{Workspace: "ws"}, func(p Progress) { last = p }, func(p Problem) {
			if p.Ino != next || p.What != "ws" {
				t.Fatalf("%+v, want inode %d", p, next)
			}
			next++
		})
		if err != nil || got.Problems != 1000 || next != 1000 || last != (Progress{999, 1000}) {
			t.Errorf("%+v, %v, %d items, %+v", got, err, next, last)
		}
	})
}

// TestStreamIsLive: an item arrives before the next is made.
func TestStreamIsLive(t *testing.T) {
	step := make(chan bool)
	both(t, func(s *Server) {
		CheckStream.Serve(s, func(_ context.Context, _ CheckRequest, sink Sink[Problem]) (Checked, error) {
			for range 3 {
				sink.Item(Problem{What: "x"})
				<-step
			}
			return Checked{}, nil
		})
	}, func(t *testing.T, c *Client) {
		if _, err := CheckStream.Do(t.Context(), c, CheckRequest{}, nil, func(Problem) { step <- true }); err != nil {
			t.Error(err)
		}
	})
}

// TestCancel: who goes away ends what it asked for.
func TestCancel(t *testing.T) {
	ended := make(chan error, 1)
	both(t, func(s *Server) {
		ScrubStream.Serve(s, func(ctx context.Context, _ ScrubRequest, sink Sink[Damage]) (Scrubbed, error) {
			sink.Progress(1, 2)
			<-ctx.Done()
			ended <- ctx.Err()
			return Scrubbed{}, ctx.Err()
		})
	}, func(t *testing.T, c *Client) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := ScrubStream.Do(ctx, c, ScrubRequest{}, func(Progress) { cancel() }, nil)
		if err == nil || ctx.Err() == nil {
			t.Errorf("%v", err)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the server saw %v", err)
		}
	})
}

func TestPanic(t *testing.T) {
	both(t, func(s *Server) {
		LogCall.Serve(s, func(context.Context, LogRequest) (Log, error) { panic("boom") })
		StatusCall.Serve(s, func(context.Context, StatusRequest) (Status, error) { return Status{PID: 7}, nil })
	}, func(t *testing.T, c *Client) {
		if _, err := LogCall.Do(t.Context(), c, LogRequest{}); KindOf(err) != KindInternal || !strings.Contains(err.Error(), "boom") {
			t.Errorf("%v", err)
		}
		if st, err := StatusCall.Do(t.Context(), c, StatusRequest{}); err != nil || st.PID != 7 {
			t.Errorf("after a panic: %+v, %v", st, err)
		}
	})
}

// TestBadRequests: P7 at this door.
func TestBadRequests(t *testing.T) {
	s := NewServer(slog.New(slog.DiscardHandler), AsError)
	called := false
	LogCall.Serve(s, func(context.Context, LogRequest) (Log, error) {
		called = true
		return Log{}, nil
	})
	for _, tt := range []struct{ method, path, body string }{
		{"GET", "/v1/log", ""},
		{"POST", "/v2/log", "{}"},
		{"POST", "/v1/../../etc/passwd", "{}"},
		{"POST", "/v1/log", "{"},
		{"POST", "/v1/log", `{"limit": "many"}`},
		{"POST", "/v1/log", `{"surprise": 1}`},
		{"POST", "/v1/log", `{} {}`},
		{"POST", "/v1/log", `{"workspace": "` + strings.Repeat("x", maxRequest) + `"}`},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, "http://vfsd"+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := localTransport{s}.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK || called {
			t.Errorf("%s %s %.40q: %d %s", tt.method, tt.path, tt.body, resp.StatusCode, b)
		}
	}
}

func TestRights(t *testing.T) {
	me := uint32(os.Geteuid())
	for _, tt := range []struct {
		p    peer
		want bool
	}{
		{peer{}, false}, {peer{true, me}, true}, {peer{true, 0}, true}, {peer{true, me + 1}, false}, {peer{false, me}, false},
	} {
		if err := tt.p.allowed(); (err == nil) != tt.want {
			t.Errorf("%+v: %v", tt.p, err)
		}
	}
	s := NewServer(slog.New(slog.DiscardHandler), AsError)
	StatusCall.Serve(s, func(context.Context, StatusRequest) (Status, error) { return Status{}, nil })
	w := &localWriter{header: http.Header{}, ready: make(chan int, 1)}
	pr, pw := io.Pipe()
	w.body = pw
	go io.Copy(io.Discard, pr)
	r, _ := http.NewRequestWithContext(context.WithValue(t.Context(), peerKey{}, peer{true, me + 1}), "POST", "http://vfsd/v1/status", nil)
	s.ServeHTTP(w, r)
	if code := <-w.ready; code != http.StatusForbidden {
		t.Errorf("another user: status %d", code)
	}
}

func TestSocket(t *testing.T) {
	for _, name := range []string{"short", strings.Repeat("long/", 40)} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := Probe(t.Context(), dir); KindOf(err) != KindNoDaemon {
			t.Errorf("no socket: %v", err)
		}
		l, err := Listen(dir)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(filepath.Join(dir, SocketName)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		accepted := make(chan peer, 1)
		go func() {
			c, err := l.Accept()
			if err != nil {
				accepted <- peer{}
				return
			}
			p, _ := peerOf(c)
			c.Close()
			accepted <- p
		}()
		if err := Probe(t.Context(), dir); err != nil {
			t.Errorf("a socket: %v", err)
		}
		if p := <-accepted; p != self() {
			t.Errorf("the peer is %+v", p)
		}
		l.Close()
		// As a daemon leaves it that was killed.
		if err := Probe(t.Context(), dir); KindOf(err) != KindNoDaemon {
			t.Errorf("a stale socket: %v", err)
		}
		if l, err = Listen(dir); err != nil {
			t.Fatalf("over a stale socket: %v", err)
		}
		l.Close()
		if err := RemoveSocket(dir); err != nil {
			t.Error(err)
		}
	}
}

// TestCutOff: an answer that was cut off is no answer.
func TestCutOff(t *testing.T) {
	for _, body := range []string{"", `{"progress":{"done":1}}` + "\n", `{"result":{"bytes":`, "garbage"} {
		dir := t.TempDir()
		l, err := Listen(dir)
		if err != nil {
			t.Fatal(err)
		}
		go answerOnce(l, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"+body)
		c := Dial(dir)
		if _, err := ScrubStream.Do(t.Context(), c, ScrubRequest{}, nil, nil); err == nil {
			t.Errorf("%q was taken for an answer", body)
		}
		c.Close()
		l.Close()
	}
}

// answerOnce reads something and answers it.
func answerOnce(l net.Listener, text string) {
	c, err := l.Accept()
	if err != nil {
		return
	}
	defer c.Close()
	if _, err := c.Read(make([]byte, 4096)); err == nil {
		io.WriteString(c, text)
	}
}

// FuzzStream feeds a client whatever a broken or hostile daemon may answer.
func FuzzStream(f *testing.F) {
	f.Add([]byte(`{"progress":{"done":1,"total":2}}` + "\n" + `{"item":{"file":"f"}}` + "\n" + `{"result":{"bytes":1}}`))
	f.Add([]byte(`{"error":{"kind":"busy","message":"m"}}`))
	f.Add([]byte(`{"result":[]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c := Local(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(body) }))
		res, err := ScrubStream.Do(t.Context(), c, ScrubRequest{}, func(Progress) {}, func(Damage) {})
		if err == nil && !strings.Contains(string(body), "result") && !strings.Contains(string(body), `\u`) &&
			!strings.Contains(strings.ToLower(string(body)), "result") {
			t.Errorf("%q became %+v", body, res)
		}
	})
}
