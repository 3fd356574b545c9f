package replica

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/protocol"
	"github.com/vfsd/vfsd/workspace"
)

// Client is a session with a peer's workspace. It is safe for concurrent use.
type Client struct {
	c      *conn
	opened chan struct{} // closed when the session is open, or over
	over   chan struct{} // closed when it is over
	err    error         // why, once over is closed
	head   chunk.ID      // the peer's when it was opened; set before opened is closed
	agent  string
	reused atomic.Bool

	waiting map[uint64]chan protocol.Event // guarded by c.mu
}

// ClientOptions say who asks for what.
type ClientOptions struct {
	Workspace *workspace.Workspace // here
	Name      string               // of the peer's workspace
	Token     string
	Write     bool // the right that is needed; else reading
	Create    bool // the peer's workspace may be new
	Plain     bool // nothing is compressed
	Agent     string
}

// NewClient begins a session over a connection, which is the Client's from now
// on. Requests can be made at once.
func NewClient(ctx context.Context, nc net.Conn, o ClientOptions) *Client {
	c := &Client{opened: make(chan struct{}), over: make(chan struct{}), waiting: map[uint64]chan protocol.Event{}}
	rights := protocol.RightRead
	if o.Write {
		rights |= protocol.RightWrite
	}
	s := protocol.NewClient(time.Now(), protocol.Config{
		Context: ctx, Agent: o.Agent, Plain: o.Plain, Store: NewStore(o.Workspace), Workspace: o.Name,
		Rights: rights, Token: []byte(o.Token), Create: o.Create,
	})
	c.c = newConn(nc, s, c.event)
	go func() {
		c.err = c.c.run(ctx)
		c.closeOpened()
		close(c.over)
	}()
	return c
}

func (c *Client) closeOpened() {
	select {
	case <-c.opened:
	default:
		close(c.opened)
	}
}

// event hears of what happened, with the connection's mu held.
func (c *Client) event(e protocol.Event) {
	if e.Kind == protocol.EventOpen {
		c.head, c.agent = chunk.ID(e.Commit), e.Text
		c.closeOpened()
		return
	}
	ch := c.waiting[e.Request]
	for ch != nil && e.Request != 0 {
		select {
		case ch <- e:
			return
		default:
		}
		// There is room for all that a request can bring but heads, of which
		// the oldest goes: to wait here would be to wait with mu held.
		select {
		case <-ch:
		default:
		}
	}
}

// Open waits for the peer's answer and returns its head.
func (c *Client) Open(ctx context.Context) (chunk.ID, error) {
	select {
	case <-c.opened:
	case <-ctx.Done():
		return chunk.ID{}, context.Cause(ctx)
	}
	select {
	case <-c.over:
		return chunk.ID{}, c.ended()
	default:
		return c.head, nil
	}
}

// Reuse says that the session has been used for an exchange before: what the peer
// said of its head when it opened may be old.
func (c *Client) Reuse() { c.reused.Store(true) }

// Reused reports whether Reuse was called.
func (c *Client) Reused() bool { return c.reused.Load() }

// Over reports whether the session has ended.
func (c *Client) Over() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

// ended returns why the session is over.
func (c *Client) ended() error {
	if c.err == nil {
		return ErrLost
	}
	return c.err
}

// Close says bye and waits until the connection is closed.
func (c *Client) Close() {
	c.c.do(func(s *protocol.Session) { s.Close() })
	<-c.over
}

// Stats returns what passed so far.
func (c *Client) Stats() protocol.Stats { return c.c.stats() }

// ask makes a request whose answer is at most n events and hands them to each,
// until it says that the request is done or fails.
func (c *Client) ask(ctx context.Context, n int, begin func(*protocol.Session) (uint64, error), each func(protocol.Event) (done bool, err error)) error {
	var request uint64
	var err error
	events := make(chan protocol.Event, n+1)
	c.c.do(func(s *protocol.Session) {
		if request, err = begin(s); err == nil {
			c.waiting[request] = events
		}
	})
	if errors.Is(err, protocol.ErrState) {
		select {
		case <-c.over:
			err = c.ended()
		default:
		}
	}
	if err != nil {
		return err
	}
	defer c.c.do(func(*protocol.Session) { delete(c.waiting, request) })
	for {
		select {
		case e := <-events:
			if e.Kind == protocol.EventFailed {
				return e.Err
			}
			if done, err := each(e); done || err != nil {
				return err
			}
		case <-ctx.Done():
			c.c.do(func(s *protocol.Session) { s.Cancel(request) })
			return context.Cause(ctx)
		case <-c.over:
			// What came before the end still counts.
			select {
			case e := <-events:
				if e.Kind == protocol.EventFailed {
					return e.Err
				}
				if done, err := each(e); done || err != nil {
					return err
				}
			default:
				return c.ended()
			}
		}
	}
}

// Fetch brings a commit here, the peer's head if target is zero, and returns it
// and how it came. The head here stays where it is.
func (c *Client) Fetch(ctx context.Context, target chunk.ID, lazy bool) (id chunk.ID, mode protocol.Mode, err error) {
	err = c.ask(ctx, 1, func(s *protocol.Session) (uint64, error) { return s.Fetch(protocol.ID(target), lazy) },
		func(e protocol.Event) (bool, error) {
			id, mode = chunk.ID(e.Commit), e.Mode
			return true, nil
		})
	return id, mode, err
}

// Push has the peer's head move from expect to target. protocol.ErrHeadMoved in
// the chain of the error says that it stands elsewhere.
func (c *Client) Push(ctx context.Context, expect, target chunk.ID) error {
	err := c.push(ctx, expect, target, (*protocol.Session).Push)
	var e *protocol.Error
	if errors.As(err, &e) && e.Code == protocol.CodeNoBase {
		err = c.push(ctx, expect, target, (*protocol.Session).PushWalk)
	}
	return err
}

func (c *Client) push(ctx context.Context, expect, target chunk.ID, how func(*protocol.Session, protocol.ID, protocol.ID) (uint64, error)) error {
	return c.ask(ctx, 1, func(s *protocol.Session) (uint64, error) { return how(s, protocol.ID(expect), protocol.ID(target)) },
		func(protocol.Event) (bool, error) { return true, nil })
}

// watchQueue is how many heads may wait for whoever watches; the session sends
// only the newest, when there is room.
const watchQueue = 64

// Watch calls moved with the peer's head, now and whenever it has moved, until it
// returns an error or the session ends.
func (c *Client) Watch(ctx context.Context, moved func(chunk.ID) error) error {
	return c.ask(ctx, watchQueue, (*protocol.Session).Watch, func(e protocol.Event) (bool, error) {
		return false, moved(chunk.ID(e.Commit))
	})
}

// Items asks for nodes or chunks and calls item for each: data is nil for one
// that the peer lacks.
func (c *Client) Items(ctx context.Context, kind protocol.Kind, ids []chunk.ID, item func(id chunk.ID, data []byte) error) error {
	ids = slices.Compact(slices.SortedFunc(slices.Values(ids), chunk.Compare))
	left := len(ids)
	return c.ask(ctx, left, func(s *protocol.Session) (uint64, error) { return s.Get(kind, toProtocol(ids)) },
		func(e protocol.Event) (bool, error) {
			left--
			data := e.Data
			if e.Kind == protocol.EventLacks {
				data = nil
			}
			return left == 0, item(chunk.ID(e.ID), data)
		})
}
