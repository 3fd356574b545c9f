package net

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
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

// parseURL reads a URL as curl does: without a scheme it is http.
func parseURL(s string) (*url.URL, error) {
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, failf(curlMalformed, "URL using bad/illegal format or missing URL")
	}
	if u.Scheme = strings.ToLower(u.Scheme); u.Scheme != "http" && u.Scheme != "https" {
		return nil, failf(curlProtocol, "Protocol \"%s\" not supported or disabled in libcurl", u.Scheme)
	}
	if u.Hostname() == "" {
		return nil, failf(curlMalformed, "URL using bad/illegal format or missing URL")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u, nil
}

func (t *transfer) firstMethod(data bool) string {
	switch {
	case t.o.method != "":
		return t.o.method
	case t.o.head:
		return "HEAD"
	case t.o.upload != "":
		return "PUT"
	case data && !t.o.get:
		return "POST"
	}
	return "GET"
}

func (t *transfer) body() ([]byte, string, error) {
	switch {
	case len(t.o.forms)+len(t.o.formStrings) > 0:
		return t.o.multipartBody(t.Context)
	case len(t.o.data) > 0:
		return t.o.gather(t.Context)
	}
	return nil, "", nil
}

// send sends one request.
func (t *transfer) send(ctx context.Context, method string, u *url.URL, body []byte, kind string, trusted bool) (*http.Response, error) {
	var rd io.Reader
	if body != nil {
		rd = bytes.NewReader(body)
	}
	length := int64(len(body))
	if t.o.upload != "" {
		f, err := t.Open(t.o.upload)
		if err != nil {
			return nil, failf(curlReadError, "Can't open '%s'!", t.o.upload)
		}
		defer f.Close()
		rd, length = f, -1
		if r := command.Regular(f); r != nil {
			if a, err := r.Stat(); err == nil {
				length = int64(a.Size)
			}
		}
		if strings.HasSuffix(u.Path, "/") && t.o.upload != "-" {
			v := *u
			v.Path += path.Base(t.o.upload)
			u = &v
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), rd)
	if err != nil {
		return nil, failf(curlMalformed, "URL using bad/illegal format or missing URL")
	}
	if req.ContentLength = length; rd == nil {
		req.ContentLength = 0
	}
	if err := t.setHeaders(req, kind, body != nil, trusted); err != nil {
		return nil, err
	}
	t.heads.Take()
	t.method = method
	if t.o.verbose {
		t.verboseRequest(req, u)
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return nil, err
	}
	t.sent = max(0, req.ContentLength)
	t.code, t.kind, t.proto, t.headers = resp.StatusCode, resp.Header.Get("Content-Type"), resp.Proto, resp.Header
	return resp, nil
}

func (t *transfer) setHeaders(req *http.Request, kind string, data, trusted bool) error {
	h := req.Header
	h.Set("User-Agent", "curl/7.88.1")
	h.Set("Accept", "*/*")
	if t.o.agent != "" {
		h.Set("User-Agent", t.o.agent)
	}
	if data {
		h.Set("Content-Type", kind)
		if kind == "application/json" {
			h.Set("Accept", "application/json")
		}
	}
	if t.o.referer != "" {
		h.Set("Referer", t.o.referer)
	}
	if t.o.cookie != "" && trusted {
		h.Set("Cookie", t.o.cookie)
	}
	if t.o.compressed {
		h.Set("Accept-Encoding", "deflate, gzip")
	}
	if t.o.rng != "" {
		h.Set("Range", "bytes="+t.o.rng)
	}
	if t.o.resume != "" {
		h.Set("Range", "bytes="+strconv.FormatInt(t.offset(), 10)+"-")
	}
	if t.o.user != "" && trusted {
		user, pass, _ := strings.Cut(t.o.user, ":")
		req.SetBasicAuth(user, pass)
	}
	if t.o.bearer != "" && trusted {
		h.Set("Authorization", "Bearer "+t.o.bearer)
	}
	for _, line := range t.o.headers {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			if n, semi := strings.CutSuffix(line, ";"); semi {
				h[n] = []string{""}
			}
			continue
		}
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case value == "":
			h.Del(name)
			if strings.EqualFold(name, "User-Agent") {
				h["User-Agent"] = nil
			}
		case strings.EqualFold(name, "Host"):
			req.Host = value
		case !trusted && (strings.EqualFold(name, "Authorization") || strings.EqualFold(name, "Cookie")):
		default:
			if strings.ContainsAny(name+value, "\r\n") {
				return failf(43, "A libcurl function was given a bad argument")
			}
			h.Set(name, value)
		}
	}
	return nil
}

// offset is where -C goes on.
func (t *transfer) offset() int64 {
	if t.o.resume != "-" {
		n, err := strconv.ParseInt(t.o.resume, 10, 64)
		if err == nil {
			return n
		}
		return 0
	}
	if a, err := t.FS.Stat(t.target("")); err == nil {
		return int64(a.Size)
	}
	return 0
}

// target is the file to write to.
func (t *transfer) target(disposition string) string {
	name := t.output
	if name == remoteName {
		name = ""
		if u, err := url.Parse(t.effective); err == nil {
			name = path.Base(u.Path)
		}
		if t.o.remoteHeaderName && disposition != "" {
			name = disposition
		}
		if name == "/" || name == "." || name == ".." {
			name = ""
		}
	}
	if t.o.outputDir != "" && name != "" && name[0] != '/' {
		name = path.Join(t.o.outputDir, name)
	}
	return name
}

// skip reads what comes with a redirect, and shows its head with -i.
func (t *transfer) skip(resp *http.Response) error {
	defer resp.Body.Close()
	if err := t.showHead(resp); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	return err
}

// showHead prints the head where it belongs.
func (t *transfer) showHead(resp *http.Response) error {
	head := t.heads.Take()
	t.headSize += len(head)
	if t.o.verbose {
		for _, l := range strings.SplitAfter(string(head), "\n") {
			if l != "" {
				io.WriteString(t.Stderr, "< "+strings.TrimRight(l, "\r\n")+"\n")
			}
		}
	}
	if t.o.dump != "" {
		if err := t.dumpHead(head); err != nil {
			return err
		}
	}
	if t.o.include || t.o.head {
		w, err := t.sink(resp)
		if err != nil {
			return err
		}
		if _, err := w.Write(head); err != nil {
			return err
		}
		return t.done(w)
	}
	return nil
}

func (t *transfer) dumpHead(head []byte) error {
	if t.o.dump == "-" {
		_, err := t.Stdout.Write(head)
		return err
	}
	flags := syscall.O_WRONLY | syscall.O_CREAT | syscall.O_APPEND
	if t.headSize == len(head) {
		flags = flags&^syscall.O_APPEND | syscall.O_TRUNC
	}
	f, err := t.FS.OpenFile(t.o.dump, flags, 0o666)
	if err != nil {
		return failf(curlWriteError, "Failed to open %s", t.o.dump)
	}
	_, err = f.Write(head)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// sink opens where the body goes.
func (t *transfer) sink(resp *http.Response) (io.WriteCloser, error) {
	if t.output == "" || t.output == "-" {
		return nopCloser{t.Stdout}, nil
	}
	name := t.target(dispositionName(resp.Header.Get("Content-Disposition")))
	if name == "" {
		return nil, failf(curlWriteError, "Remote file name has no length!")
	}
	if t.o.createDirs {
		if err := t.FS.MkdirAll(path.Dir(name), 0o750); err != nil {
			return nil, failf(curlWriteError, "Failed to create directory %s", path.Dir(name))
		}
	}
	flags := syscall.O_WRONLY | syscall.O_CREAT | syscall.O_TRUNC
	if t.file != "" || t.o.resume != "" && resp.StatusCode == 206 {
		flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_APPEND
	}
	f, err := t.FS.OpenFile(name, flags, 0o666)
	if err != nil {
		if !t.o.silent {
			t.warn("Failed to open the file %s: %s", name, command.Strerror(err))
		}
		return nil, failf(curlWriteError, "Failure writing output to destination")
	}
	t.file = name
	return f, nil
}

func (t *transfer) done(w io.WriteCloser) error { return w.Close() }

type nopCloser struct{ io.Writer }

// Close does nothing.
func (nopCloser) Close() error { return nil }

// dispositionName is the name that a server gives a file.
func dispositionName(s string) string {
	_, rest, ok := strings.Cut(s, "filename=")
	if !ok {
		return ""
	}
	rest, _, _ = strings.Cut(rest, ";")
	return path.Base(strings.Trim(rest, `" `))
}

// take writes the response.
func (t *transfer) take(ctx context.Context, resp *http.Response) error {
	defer resp.Body.Close()
	failed := resp.StatusCode >= 400 && (t.o.fail || t.o.failBody)
	if failed && !t.o.failBody {
		t.heads.Take()
		return failf(curlHTTPError, "The requested URL returned error: %d", resp.StatusCode)
	}
	if t.o.maxSize > 0 && resp.ContentLength > t.o.maxSize {
		return failf(curlFilesize, "Maximum file size exceeded")
	}
	if err := t.showHead(resp); err != nil {
		return err
	}
	if t.o.head && t.method == "HEAD" {
		if failed {
			return failf(curlHTTPError, "The requested URL returned error: %d", resp.StatusCode)
		}
		return nil
	}
	if err := t.copy(resp); err != nil {
		if t.o.removeOnError && t.file != "" {
			if e := t.FS.Unlink(t.file); e != nil && !errors.Is(e, syscall.ENOENT) {
				err = errors.Join(err, e)
			}
		}
		return err
	}
	if failed {
		return failf(curlHTTPError, "The requested URL returned error: %d", resp.StatusCode)
	}
	return ctx.Err()
}

// copy writes the body out as it comes.
func (t *transfer) copy(resp *http.Response) error {
	w, err := t.sink(resp)
	if err != nil {
		return err
	}
	var rd io.Reader = resp.Body
	if t.o.compressed && strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		if rd, err = gzip.NewReader(resp.Body); err != nil {
			return errors.Join(failf(61, "Error while processing content unencoding: %v", err), w.Close())
		}
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := rd.Read(buf)
		t.received += int64(n)
		if _, e := w.Write(buf[:n]); e != nil {
			w.Close()
			return failf(curlWriteError, "Failure writing output to destination")
		}
		if t.o.maxSize > 0 && t.received > t.o.maxSize {
			w.Close()
			return failf(curlFilesize, "Exceeded the maximum allowed file size (%d)", t.o.maxSize)
		}
		if err == io.EOF {
			return w.Close()
		}
		if err != nil {
			w.Close()
			if errors.Is(err, io.ErrUnexpectedEOF) && resp.ContentLength > 0 {
				return failf(18, "transfer closed with %d bytes remaining to read", resp.ContentLength-t.received)
			}
			return err
		}
	}
}

// explain turns an error into curl's status and text.
func (t *transfer) explain(ctx context.Context, err error) int {
	if err == nil {
		return 0
	}
	var f *failure
	var d *DialError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	status := curlReceive
	switch {
	case errors.As(err, &f):
		status, t.message = f.status, f.text
	case errors.As(err, &d):
		status, t.message = dialFailure(d)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(ctx.Err(), context.DeadlineExceeded):
		status = curlTimeout
		t.message = fmt.Sprintf("Operation timed out after %d milliseconds with %d bytes received", int(t.o.maxTime*1000), t.received)
	case errors.As(err, &cert):
		status, t.message = curlCert, "SSL certificate problem: "+certProblem(cert.Err)
	case errors.As(err, &record):
		status, t.message = curlTLS, "error:0A00010B:SSL routines::wrong version number"
	case strings.Contains(err.Error(), "tls: "):
		status, t.message = curlTLS, "TLS connect error: "+err.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		status, t.message = curlEmpty, "Empty reply from server"
	case errors.Is(err, syscall.ECONNRESET):
		t.message = "Recv failure: Connection reset by peer"
	default:
		var no *vfs.Error
		t.message = err.Error()
		if errors.As(err, &no) {
			status, t.message = curlWriteError, "Failure writing output to destination"
		}
	}
	return status
}

// dialFailure is what curl says when it cannot connect.
func dialFailure(d *DialError) (int, string) {
	switch {
	case errors.Is(d.Err, command.ErrNoHost):
		return curlResolve, "Could not resolve host: " + d.Host
	case errors.Is(d.Err, context.DeadlineExceeded):
		return curlTimeout, fmt.Sprintf("Failed to connect to %s port %d after %d ms: Timeout was reached", d.Host, d.Port, d.After.Milliseconds())
	case errors.Is(d.Err, command.ErrNetworkDenied):
		return curlConnect, fmt.Sprintf("Failed to connect to %s port %d after 0 ms: Couldn't connect to server (%v)", d.Host, d.Port, command.ErrNetworkDenied)
	}
	return curlConnect, fmt.Sprintf("Failed to connect to %s port %d after %d ms: Couldn't connect to server", d.Host, d.Port, d.After.Milliseconds())
}

// certProblem puts a fault of a certificate into OpenSSL's words.
func certProblem(err error) string {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	switch {
	case errors.As(err, &unknown):
		return "unable to get local issuer certificate"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "certificate has expired"
	case errors.As(err, &host):
		return "no alternative certificate subject name matches target host name '" + host.Host + "'"
	}
	return err.Error()
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
