package net

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/vfsd/vfsd/shell/command"
)

// ClientOptions choose how Client connects.
type ClientOptions struct {
	Insecure       bool           // certificates are not checked
	Roots          *x509.CertPool // nil means those of the machine
	ConnectTimeout time.Duration  // 0 means none of its own
	Resolve        map[string]string
	// Redirects follows none when nil.
	Redirects func(req *http.Request, via []*http.Request) error
	// Heads keeps the heads of responses as they came; nil keeps none, and
	// allows HTTP/2.
	Heads *Heads
}

// Client makes an HTTP client that leaves the workspace through the command's
// network alone: no proxy of the host, no environment. Every connection, those
// of redirects too, is dialed through the policy. The caller closes the idle
// connections at the end.
func Client(c *command.Context, o ClientOptions) *http.Client {
	d := &dialer{network: c.Net(), o: o}
	t := &http.Transport{
		Proxy:               nil,
		DialContext:         d.dial,
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: o.Insecure, RootCAs: o.Roots},
		ForceAttemptHTTP2:   o.Heads == nil,
		DisableCompression:  true,
		MaxIdleConns:        4,
		TLSHandshakeTimeout: o.ConnectTimeout,
	}
	if o.Heads != nil {
		t.DialContext = d.plain
		t.DialTLSContext = d.secure
	}
	redirects := o.Redirects
	if redirects == nil {
		redirects = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return &http.Client{Transport: t, CheckRedirect: redirects}
}

// dialer dials for http.Transport.
type dialer struct {
	network command.Network
	o       ClientOptions
}

// DialError is a failure to connect, told apart from failures after that.
type DialError struct {
	Host string
	Port uint16
	Err  error
	// After is how long it took.
	After time.Duration
}

// Error says what failed.
func (e *DialError) Error() string { return "connect to " + e.Host + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *DialError) Unwrap() error { return e.Err }

func (d *dialer) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	host, p, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(p, 10, 16)
	if err != nil {
		return nil, err
	}
	if d.o.ConnectTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.o.ConnectTimeout)
		defer cancel()
	}
	target := host
	if to, ok := d.o.Resolve[addr]; ok {
		target = to
	}
	start := time.Now()
	conn, err := d.network.Dial(ctx, target, uint16(port))
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = ctx.Err()
		}
		return nil, &DialError{host, uint16(port), err, time.Since(start)}
	}
	if d.o.Heads != nil {
		d.o.Heads.peer(conn)
	}
	return &countedConn{Conn: conn}, nil
}

// plain dials and listens for heads.
func (d *dialer) plain(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := d.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return d.o.Heads.listen(conn), nil
}

// secure dials, makes the connection a TLS one and listens for heads inside it.
func (d *dialer) secure(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := d.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	t := tls.Client(conn, &tls.Config{ServerName: host, InsecureSkipVerify: d.o.Insecure, RootCAs: d.o.Roots, NextProtos: []string{"http/1.1"}})
	if err := t.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return d.o.Heads.listen(t), nil
}

// maxHead is how much of a response's head is kept.
const maxHead = 1 << 20

// Heads keeps the head of the last response byte by byte, since net/http forgets
// the order and the spelling of its lines. It is safe for concurrent use.
type Heads struct {
	mu   sync.Mutex
	buf  []byte // guarded by mu
	done bool   // guarded by mu
	addr string // guarded by mu: the peer of the last connection
}

func (h *Heads) peer(c net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := c.RemoteAddr(); a != nil {
		h.addr = a.String()
	}
}

// Take returns the head that came last and forgets it.
func (h *Heads) Take() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.buf
	h.buf, h.done = nil, false
	return b
}

// Peer is the address of the last connection.
func (h *Heads) Peer() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.addr
}

func (h *Heads) listen(c net.Conn) net.Conn { return &headConn{Conn: c, heads: h} }

// heard takes bytes that came from the server.
func (h *Heads) heard(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done || len(h.buf) > maxHead {
		return
	}
	before := max(0, len(h.buf)-3)
	h.buf = append(h.buf, p...)
	if i := bytes.Index(h.buf[before:], []byte("\r\n\r\n")); i >= 0 {
		h.buf = h.buf[:before+i+4]
		h.done = true
	}
}

// headConn tells Heads what it reads.
type headConn struct {
	net.Conn
	heads *Heads
}

// Read implements net.Conn.
func (c *headConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.heads.heard(p[:n])
	return n, err
}

// countedConn closes once, whoever asks.
type countedConn struct {
	net.Conn
	once sync.Once
	err  error
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	c.once.Do(func() { c.err = c.Conn.Close() })
	return c.err
}
