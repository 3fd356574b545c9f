package net

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/command"
)

// transfer is one URL of curl's command line.
type transfer struct {
	*command.Context
	ctx    context.Context
	o      *curlOptions
	url    string
	output string // "" is standard output

	heads     Heads
	client    *http.Client
	start     time.Time
	code      int
	redirects int
	effective string
	next      string // where a redirect would lead
	kind      string
	proto     string
	method    string
	received  int64
	sent      int64
	headSize  int
	file      string // what was written to
	message   string // of the failure
	headers   http.Header
}

// failure is curl's: a number and a text.
type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return f.text }

func failf(status int, format string, args ...any) error {
	return &failure{status, fmt.Sprintf(format, args...)}
}

// run does the transfer and its retries, reports failure and prints -w.
func (t *transfer) run() int {
	t.start = t.Now()
	ctx := t.ctx
	if t.o.maxTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, seconds(t.o.maxTime))
		defer cancel()
	}
	roots, err := t.roots()
	if err == nil && t.o.proxy != "" {
		err = failf(curlProxy, "Could not resolve proxy: %s", t.o.proxy)
	}
	if err == nil {
		t.client = Client(t.Context, ClientOptions{Insecure: t.o.insecure, Roots: roots, ConnectTimeout: seconds(t.o.connectTimeout), Resolve: t.o.resolve, Heads: &t.heads})
		defer t.client.CloseIdleConnections()
		err = t.perform(ctx)
	}
	status := t.explain(ctx, err)
	if t.ctx.Err() != nil {
		return status
	}
	if status != 0 && (!t.o.silent || t.o.showError) {
		t.Errorf("(%d) %s", status, t.message)
	}
	if t.o.writeOut != "" {
		t.writeOut(status)
	}
	return status
}

// warn prints a warning, which has no name of the command before it.
func (t *transfer) warn(format string, args ...any) {
	io.WriteString(t.Stderr, "Warning: "+fmt.Sprintf(format, args...)+"\n")
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// roots reads --cacert.
func (t *transfer) roots() (*x509.CertPool, error) {
	if t.o.cacert == "" {
		return nil, nil
	}
	b, err := readAll(t.Context, t.o.cacert)
	if err != nil {
		return nil, failf(77, "error setting certificate verify locations:  CAfile: %s CApath: none", t.o.cacert)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b) {
		return nil, failf(77, "error setting certificate verify locations:  CAfile: %s CApath: none", t.o.cacert)
	}
	return pool, nil
}

// perform tries, and tries again when that was asked for.
func (t *transfer) perform(ctx context.Context) error {
	delay := time.Second
	for try := 0; ; try++ {
		err := t.follow(ctx)
		if try >= t.o.retry || !t.transient(err) || ctx.Err() != nil {
			return err
		}
		wait := delay
		if t.o.retryDelay > 0 {
			wait = seconds(t.o.retryDelay)
		}
		if !t.o.silent {
			t.warn("Problem: %s. Will retry in %d seconds. %d retries left.", t.problem(err), int(wait/time.Second), t.o.retry-try)
		}
		if err := t.Sleep(ctx, wait); err != nil {
			return err
		}
		delay = min(2*delay, 10*time.Minute)
	}
}

func (t *transfer) problem(err error) string {
	if t.code >= 400 {
		return "HTTP error"
	}
	if err != nil && t.explain(t.ctx, err) == curlTimeout {
		return "timeout"
	}
	return "connection failure"
}

// transient reports whether a failure may pass.
func (t *transfer) transient(err error) bool {
	switch t.code {
	case 408, 429, 500, 502, 503, 504:
		return true
	}
	if err == nil {
		return false
	}
	return t.o.retryAll || t.explain(t.ctx, err) == curlTimeout
}

// follow sends the request and goes where redirects lead.
func (t *transfer) follow(ctx context.Context) error {
	u, err := parseURL(t.url)
	if err != nil {
		return err
	}
	body, kind, err := t.body()
	if err != nil {
		return failf(curlReadError, "Failed to open/read local data from file/application")
	}
	method := t.firstMethod(body != nil)
	if t.o.get && body != nil {
		if u.RawQuery != "" {
			u.RawQuery += "&"
		}
		u.RawQuery += string(body)
		body = nil
	}
	first := u
	t.redirects = 0
	for {
		t.effective = u.String()
		resp, err := t.send(ctx, method, u, body, kind, u.Host == first.Host || t.o.trusted)
		if err != nil {
			return err
		}
		t.next = ""
		if loc := resp.Header.Get("Location"); loc != "" && resp.StatusCode >= 300 && resp.StatusCode < 400 {
			if to, err := u.Parse(loc); err == nil {
				t.next = to.String()
			}
		}
		if t.next == "" || !t.o.location && !t.o.trusted {
			return t.take(ctx, resp)
		}
		if err := t.skip(resp); err != nil {
			return err
		}
		if t.redirects++; t.o.maxRedirs >= 0 && t.redirects > t.o.maxRedirs {
			t.redirects--
			return failf(curlRedirects, "Maximum (%d) redirects followed", t.o.maxRedirs)
		}
		if u, err = parseURL(t.next); err != nil {
			return err
		}
		if t.o.method == "" && method == "POST" && (resp.StatusCode == 301 && !t.o.post301 || resp.StatusCode == 302) ||
			resp.StatusCode == 303 && method != "HEAD" && t.o.method == "" {
			method, body = "GET", nil
		}
	}
}

func (t *transfer) verboseRequest(req *http.Request, u *url.URL) {
	var b strings.Builder
	fmt.Fprintf(&b, "> %s %s HTTP/1.1\n> Host: %s\n", req.Method, u.RequestURI(), u.Host)
	for _, k := range []string{"Authorization", "User-Agent", "Accept", "Content-Type"} {
		if v := req.Header.Get(k); v != "" {
			fmt.Fprintf(&b, "> %s: %s\n", k, v)
		}
	}
	b.WriteString("> \n")
	io.WriteString(t.Stderr, b.String())
}
