package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"sync"
	"syscall"
)

// Limits of a request.
const (
	maxRequest = 1 << 20  // bytes of its body
	maxHeader  = 64 << 10 // bytes
	maxError   = 1 << 20  // bytes of a reply that is an error
)

// Prefix is the version of the calls, the beginning of their paths.
const Prefix = "/v1/"

// Call is a question with one answer.
type Call[Req, Res any] struct{ name string }

// Stream is a question whose answer comes in items, with progress between
// them, and ends in a result.
type Stream[Req, Item, Res any] struct{ name string }

// described is a call or a stream with its types, for the spec's test.
type described struct {
	name           string
	req, item, res reflect.Type // item is nil for a call
}

var all []described

func newCall[Req, Res any](name string) Call[Req, Res] {
	all = append(all, described{name, reflect.TypeFor[Req](), nil, reflect.TypeFor[Res]()})
	return Call[Req, Res]{name}
}

func newStream[Req, Item, Res any](name string) Stream[Req, Item, Res] {
	all = append(all, described{name, reflect.TypeFor[Req](), reflect.TypeFor[Item](), reflect.TypeFor[Res]()})
	return Stream[Req, Item, Res]{name}
}

// Progress says how far a long answer has come. Total 0 means unknown.
type Progress struct {
	Done  int64 `json:"done"`
	Total int64 `json:"total,omitempty"`
}

// line is one line of a stream: exactly one field is set.
type line struct {
	Progress *Progress       `json:"progress,omitempty"`
	Item     json.RawMessage `json:"item,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Error    *Error          `json:"error,omitempty"`
}

// reply is the envelope of a failure.
type reply struct {
	Error *Error `json:"error"`
}

// Do asks. The error is an *Error.
func (c Call[Req, Res]) Do(ctx context.Context, cl *Client, req Req) (Res, error) {
	var res Res
	body, err := cl.post(ctx, c.name, req)
	if err != nil {
		return res, err
	}
	defer body.Close()
	if err := json.NewDecoder(body).Decode(&res); err != nil {
		return res, cutOff(ctx, c.name, err)
	}
	return res, nil
}

// Serve registers the answer.
func (c Call[Req, Res]) Serve(s *Server, answer func(context.Context, Req) (Res, error)) {
	s.handle(c.name, func(w http.ResponseWriter, r *http.Request) {
		var req Req
		if err := decodeRequest(w, r, &req); err != nil {
			s.fail(w, err)
			return
		}
		res, err := answer(r.Context(), req)
		if err != nil {
			s.fail(w, err)
			return
		}
		s.write(w, http.StatusOK, res)
	})
}

// Do asks and hands on what comes; onProgress and onItem may be nil. The error
// is an *Error.
func (c Stream[Req, Item, Res]) Do(ctx context.Context, cl *Client, req Req, onProgress func(Progress), onItem func(Item)) (Res, error) {
	var res Res
	body, err := cl.post(ctx, c.name, req)
	if err != nil {
		return res, err
	}
	defer body.Close()
	dec := json.NewDecoder(body)
	for {
		var l line
		if err := dec.Decode(&l); err != nil {
			return res, cutOff(ctx, c.name, err)
		}
		switch {
		case l.Error != nil:
			return res, l.Error
		case l.Result != nil:
			if err := json.Unmarshal(l.Result, &res); err != nil {
				return res, cutOff(ctx, c.name, err)
			}
			return res, nil
		case l.Item != nil && onItem != nil:
			var item Item
			if err := json.Unmarshal(l.Item, &item); err != nil {
				return res, cutOff(ctx, c.name, err)
			}
			onItem(item)
		case l.Progress != nil && onProgress != nil:
			onProgress(*l.Progress)
		}
	}
}

// Sink takes a stream's items and progress. It is safe for concurrent use.
type Sink[Item any] struct {
	Progress func(done, total int64)
	Item     func(Item)
}

// Serve registers the answer.
func (c Stream[Req, Item, Res]) Serve(s *Server, answer func(context.Context, Req, Sink[Item]) (Res, error)) {
	s.handle(c.name, func(w http.ResponseWriter, r *http.Request) {
		var req Req
		if err := decodeRequest(w, r, &req); err != nil {
			s.fail(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		lines := &lineWriter{w: w, control: http.NewResponseController(w)}
		res, err := answer(r.Context(), req, Sink[Item]{
			Progress: func(done, total int64) { lines.send(line{Progress: &Progress{done, total}}) },
			Item: func(item Item) {
				if b, err := json.Marshal(item); err == nil {
					lines.send(line{Item: b})
				}
			},
		})
		if err != nil {
			lines.send(line{Error: s.classify(err)})
			return
		}
		b, err := json.Marshal(res)
		if err != nil {
			lines.send(line{Error: Wrap(KindInternal, err)})
			return
		}
		lines.send(line{Result: b})
	})
}

// lineWriter writes lines and sends each at once. A client that went away
// shows as the end of the request's context, so errors are dropped.
type lineWriter struct {
	mu      sync.Mutex
	w       io.Writer // guarded by mu
	control *http.ResponseController
}

func (l *lineWriter) send(x line) {
	b, err := json.Marshal(x)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.w.Write(append(b, '\n')); err == nil {
		_ = l.control.Flush()
	}
}

func decodeRequest(w http.ResponseWriter, r *http.Request, req any) error {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		return Errorf(KindUsage, "request of %s: %w", r.URL.Path, err)
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return nil // everything at its default
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(req); err != nil {
		return Errorf(KindUsage, "request of %s: %w", r.URL.Path, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Errorf(KindUsage, "request of %s: more than one JSON value", r.URL.Path)
	}
	return nil
}

// ErrCutOff is in the chain of the error of a call that the daemon did not live
// to answer.
var ErrCutOff = errors.New("the daemon ended before it had answered; vfsctl status tells how things are, its log is vfsd.log")

func cutOff(ctx context.Context, name string, err error) *Error {
	if ctx.Err() != nil {
		return Errorf(KindInterrupted, "%s: interrupted", name)
	}
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, end) {
			return Errorf(KindInternal, "%s: %w", name, ErrCutOff)
		}
	}
	return Errorf(KindInternal, "%s: cannot read the answer: %w", name, err)
}

func encodeRequest(req any) (io.Reader, error) {
	b, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return bytes.NewReader(b), nil
}
