package net

import (
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
	// Trace is told of the last connection.
	Trace func(c net.Conn)
	HTTP1 bool
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
		ForceAttemptHTTP2:   !o.HTTP1,
		DisableCompression:  true,
		MaxIdleConns:        4,
		TLSHandshakeTimeout: o.ConnectTimeout,
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
	if d.o.Trace != nil {
		d.o.Trace(conn)
	}
	return &countedConn{Conn: conn}, nil
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
