package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"syscall"
	"time"
)

// SocketName is the socket's name in a data directory.
const SocketName = "vfsd.sock"

// Client asks one daemon, or a handler in this process. It is safe for
// concurrent use.
type Client struct {
	transport http.RoundTripper
	local     bool
}

// Dial returns a client of the daemon on a data directory. It connects with
// the first call, which fails with KindNoDaemon when there is none.
func Dial(dir string) *Client {
	return &Client{transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dialSocket(ctx, dir) },
	}}
}

// Local returns a client that is answered by h in this process.
func Local(h http.Handler) *Client {
	return &Client{transport: localTransport{h}, local: true}
}

// IsLocal reports whether no daemon is asked.
func (c *Client) IsLocal() bool { return c.local }

// Close lets go of idle connections.
func (c *Client) Close() {
	if t, ok := c.transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// While a daemon hands over to another, a call may come to the old one.
const (
	movedTries = 250
	movedPause = 20 * time.Millisecond
)

// post sends a request and returns the body of a good reply.
func (c *Client) post(ctx context.Context, name string, req any) (io.ReadCloser, error) {
	for try := 1; ; try++ {
		body, err := c.postOnce(ctx, name, req)
		if KindOf(err) != KindMoved || try == movedTries {
			return body, err
		}
		c.Close()
		select {
		case <-time.After(movedPause):
		case <-ctx.Done():
			return nil, cutOff(ctx, name, ctx.Err())
		}
	}
}

func (c *Client) postOnce(ctx context.Context, name string, req any) (io.ReadCloser, error) {
	body, err := encodeRequest(req)
	if err != nil {
		return nil, Wrap(KindInternal, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://vfsd"+Prefix+name, body)
	if err != nil {
		return nil, Wrap(KindInternal, err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.transport.RoundTrip(r)
	if err != nil {
		return nil, dialError(ctx, name, err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	var f reply
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxError)).Decode(&f); err != nil || f.Error == nil {
		return nil, Errorf(KindInternal, "%s: the daemon answered %s; it may be of another version: restart it", name, resp.Status)
	}
	return nil, f.Error
}

func dialError(ctx context.Context, name string, err error) *Error {
	var op *net.OpError
	dial := errors.As(err, &op) && op.Op == "dial"
	switch {
	case dial && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOTDIR)):
		return Errorf(KindNoDaemon, "no daemon runs on this data directory: %w", err)
	case dial && errors.Is(err, fs.ErrPermission):
		return Errorf(KindNoRight, "the daemon of this data directory belongs to another user: %w", err)
	case KindOf(err) != KindInternal:
		return AsError(err)
	}
	return cutOff(ctx, name, err)
}

// localTransport calls a handler, with the reply streaming through a pipe.
type localTransport struct{ h http.Handler }

func (t localTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	pr, pw := io.Pipe()
	w := &localWriter{body: pw, header: http.Header{}, ready: make(chan int, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), peerKey{}, self())))
		w.WriteHeader(http.StatusOK)
		_ = pw.Close() // never fails
	}()
	code := <-w.ready
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: localBody{pr, done}, Request: r,
	}, nil
}

// localBody waits on Close until the handler has returned: what it works on
// is about to be closed.
type localBody struct {
	*io.PipeReader
	done <-chan struct{}
}

func (b localBody) Close() error {
	err := b.PipeReader.Close()
	<-b.done
	return err
}

type localWriter struct {
	body   *io.PipeWriter
	header http.Header
	ready  chan int
	begun  bool
}

func (w *localWriter) Header() http.Header { return w.header }

func (w *localWriter) WriteHeader(code int) {
	if !w.begun {
		w.begun = true
		w.ready <- code
	}
}

func (w *localWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// Flush implements http.Flusher; the pipe holds nothing back.
func (w *localWriter) Flush() { w.WriteHeader(http.StatusOK) }

// Probe finds out whether a daemon listens on a data directory: the error is
// an *Error, of KindNoDaemon when none does.
func Probe(ctx context.Context, dir string) error {
	c, err := dialSocket(ctx, dir)
	if err != nil {
		return dialError(ctx, "connect", err)
	}
	return c.Close()
}
