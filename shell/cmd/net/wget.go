package net

import (
	"bytes"
	"context"
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
)

// Exit statuses of wget.
const (
	wgetGeneric = 1
	wgetUsage   = 2
	wgetFile    = 3
	wgetNetwork = 4
	wgetTLS     = 5
	wgetServer  = 8
)

const (
	optHeader = 512 + iota
	optPostData
	optPostFile
	optMethod
	optBodyData
	optBodyFile
	optUser
	optPassword
	optNoCheck
	optSpider
	optMaxRedirect
	optContentDisposition
	optWgetIgnored
	optWgetIgnoredArg
	optContentOnError
	optReferer
)

func init() {
	options := []command.Option{
		opt('q', "quiet", "", "quiet (no output)", 0),
		opt('n', "n", "X", "", 'n'),
		opt('v', "verbose", "", "", optWgetIgnored),
		opt(0, "no-verbose", "", "turn off verboseness, without being quiet", 'V'),
		opt('O', "output-document", "FILE", "write documents to FILE", 0),
		opt('o', "output-file", "FILE", "log messages to FILE", 0),
		opt('P', "directory-prefix", "PREFIX", "save files to PREFIX/..", 0),
		opt('S', "server-response", "", "print server response", 0),
		opt('c', "continue", "", "resume getting a partially-downloaded file", 0),
		opt('t', "tries", "NUMBER", "set number of retries to NUMBER", 0),
		opt('T', "timeout", "SECONDS", "set all timeout values to SECONDS", 0),
		opt('U', "user-agent", "AGENT", "identify as AGENT", 0),
		opt('i', "input-file", "FILE", "download URLs found in FILE", 0),
		opt(0, "no-clobber", "", "skip downloads that would download to existing files", 'C'),
		opt(0, "header", "STRING", "insert STRING among the headers", optHeader),
		opt(0, "post-data", "STRING", "use the POST method; send STRING as the data", optPostData),
		opt(0, "post-file", "FILE", "use the POST method; send contents of FILE", optPostFile),
		opt(0, "method", "METHOD", "use METHOD in the request", optMethod),
		opt(0, "body-data", "STRING", "send STRING as data; --method must be set", optBodyData),
		opt(0, "body-file", "FILE", "send contents of FILE; --method must be set", optBodyFile),
		opt(0, "user", "USER", "set user", optUser),
		opt(0, "password", "PASS", "set password", optPassword),
		opt(0, "referer", "URL", "include 'Referer: URL' header", optReferer),
		opt(0, "no-check-certificate", "", "don't validate the server's certificate", optNoCheck),
		opt(0, "spider", "", "don't download anything", optSpider),
		opt(0, "max-redirect", "N", "maximum redirections allowed per page", optMaxRedirect),
		opt(0, "content-disposition", "", "honor the Content-Disposition header", optContentDisposition),
		opt(0, "content-on-error", "", "output the received content on server errors", optContentOnError),
	}
	for _, n := range strings.Fields("show-progress no-proxy no-cache inet4-only no-hsts auth-no-challenge no-dns-cache https-only") {
		options = append(options, opt(0, n, "", "", optWgetIgnored))
	}
	for _, n := range strings.Fields("progress connect-timeout read-timeout dns-timeout waitretry wait limit-rate quota") {
		options = append(options, opt(0, n, "ARG", "", optWgetIgnoredArg))
	}
	command.Register(command.Info{
		Name: "wget", Synopsis: "wget [OPTION]... [URL]...",
		Summary: "Download files over HTTP or HTTPS, as far as the network policy allows.",
		Options: options, UsageStatus: wgetUsage,
	}, wget)
}

// wgetRun is one run of wget.
type wgetRun struct {
	*command.Context
	ctx                                 context.Context
	quiet, terse, server, resume, keep  bool
	spider, insecure, disposition, body bool
	output, prefix, agent, method       string
	user, password, referer             string
	data                                []byte
	headers                             []string
	tries, redirects                    int
	timeout                             float64
	log                                 io.Writer
	heads                               Heads
	all                                 io.WriteCloser // the document of -O
}

// wget is the command.
func wget(ctx context.Context, c *command.Context, args []string) int {
	w := &wgetRun{Context: c, ctx: ctx, agent: "Wget/1.21.3", tries: 20, redirects: 20, timeout: 900, log: c.Stderr}
	urls, status, stop := w.options(args)
	if stop {
		return status
	}
	if len(urls) == 0 {
		c.Errorf("missing URL\nUsage: wget [OPTION]... [URL]...\n\nTry `wget --help' for more options.")
		return wgetGeneric
	}
	if w.output != "" && !w.spider {
		if err := w.openAll(); err != nil {
			c.Errorf("%s: %s", w.output, command.Strerror(err))
			return wgetFile
		}
		defer w.all.Close()
	}
	for _, u := range urls {
		if s := w.get(u); s != 0 && (status == 0 || s < status) {
			status = s
		}
		if ctx.Err() != nil {
			break
		}
	}
	return status
}

func (w *wgetRun) openAll() error {
	if w.output == "-" {
		w.all = nopCloser{w.Stdout}
		return nil
	}
	flags := syscall.O_WRONLY | syscall.O_CREAT | syscall.O_TRUNC
	if w.resume {
		flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_APPEND
	}
	f, err := w.FS.OpenFile(w.output, flags, 0o666)
	w.all = f
	return err
}

func (w *wgetRun) options(args []string) (urls []string, status int, stop bool) {
	p := w.Options(args)
	var input string
	texts := map[int]*string{
		'O': &w.output, 'P': &w.prefix, 'U': &w.agent, optMethod: &w.method, optUser: &w.user, optPassword: &w.password, 'i': &input, optReferer: &w.referer,
	}
	flags := map[int]*bool{
		'q': &w.quiet, 'V': &w.terse, 'S': &w.server, 'c': &w.resume, 'C': &w.keep, optSpider: &w.spider, optNoCheck: &w.insecure,
		optContentDisposition: &w.disposition, optContentOnError: &w.body,
	}
	for p.Next() {
		id := p.ID()
		if s := texts[id]; s != nil {
			*s = p.Arg()
			continue
		}
		if f := flags[id]; f != nil {
			*f = true
			continue
		}
		var err error
		switch id {
		case 'n':
			w.terse = w.terse || strings.Contains(p.Arg(), "v")
			w.keep = w.keep || strings.Contains(p.Arg(), "c")
		case 't':
			w.tries, err = strconv.Atoi(p.Arg())
		case optMaxRedirect:
			w.redirects, err = strconv.Atoi(p.Arg())
		case 'T':
			w.timeout, err = strconv.ParseFloat(p.Arg(), 64)
		case optHeader:
			if !strings.Contains(p.Arg(), ":") || strings.ContainsAny(p.Arg(), "\r\n") {
				w.Errorf("--header: Invalid header ‘%s’.", p.Arg())
				return nil, wgetUsage, true
			}
			w.headers = append(w.headers, p.Arg())
		case optPostData, optBodyData:
			w.data = []byte(p.Arg())
			w.method = orText(w.method, "POST")
		case optPostFile, optBodyFile:
			w.method = orText(w.method, "POST")
			if w.data, err = readAll(w.Context, p.Arg()); err != nil {
				w.Errorf("BODY data file ‘%s’ missing: %s", p.Arg(), command.Strerror(err))
				return nil, wgetFile, true
			}
		case 'o':
			f, err := w.FS.Create(p.Arg(), 0o666)
			if err != nil {
				w.Errorf("%s: %s", p.Arg(), command.Strerror(err))
				return nil, wgetGeneric, true
			}
			w.log = f
		}
		if err != nil {
			w.Errorf("%s: Invalid number ‘%s’.", strings.TrimLeft(p.Spelled(), "-"), p.Arg())
			return nil, wgetUsage, true
		}
	}
	urls, status, stop = p.End()
	if input != "" && !stop {
		b, err := readAll(w.Context, input)
		if err != nil {
			w.Errorf("%s: %s", input, command.Strerror(err))
			return nil, wgetGeneric, true
		}
		urls = append(urls, strings.Fields(string(b))...)
	}
	return urls, status, stop
}

func orText(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func (w *wgetRun) say(format string, args ...any) {
	if !w.quiet {
		fmt.Fprintf(w.log, format, args...)
	}
}

func (w *wgetRun) detail(format string, args ...any) {
	if !w.terse {
		w.say(format, args...)
	}
}

func (w *wgetRun) stamp() string { return w.Now().In(w.Location).Format("2006-01-02 15:04:05") }

// get downloads one URL.
func (w *wgetRun) get(text string) int {
	u, err := parseURL(text)
	if err != nil {
		w.say("%s: %s\n", text, strings.TrimSuffix(err.Error(), "."))
		return wgetGeneric
	}
	name := w.name(u, nil)
	if w.keep && w.all == nil {
		if _, err := w.FS.Lstat(name); err == nil {
			w.say("File ‘%s’ already there; not retrieving.\n\n", name)
			return 0
		}
	}
	ctx, cancel := context.WithTimeout(w.ctx, seconds(w.timeout))
	defer cancel()
	client := Client(w.Context, ClientOptions{Insecure: w.insecure, Heads: &w.heads})
	defer client.CloseIdleConnections()
	for hops := 0; ; hops++ {
		w.detail("--%s--  %s\n", w.stamp(), u)
		resp, status := w.request(ctx, client, u, hops)
		if status != 0 {
			return status
		}
		loc := resp.Header.Get("Location")
		if resp.StatusCode < 300 || resp.StatusCode >= 400 || loc == "" {
			return w.save(u, resp)
		}
		resp.Body.Close()
		to, err := u.Parse(loc)
		if err == nil {
			_, err = parseURL(to.String())
		}
		if err != nil {
			w.say("%s: Unsupported scheme.\n", loc)
			return wgetGeneric
		}
		w.detail("Location: %s [following]\n", loc)
		if hops >= w.redirects {
			w.say("%d redirections exceeded.\n", w.redirects)
			return wgetServer
		}
		if resp.StatusCode != 307 && resp.StatusCode != 308 && w.method == "POST" {
			w.method, w.data = "", nil
		}
		u = to
	}
}

// request sends one request, or says why it could not.
func (w *wgetRun) request(ctx context.Context, client *http.Client, u *url.URL, hops int) (*http.Response, int) {
	method := orText(w.method, "GET")
	if w.spider && w.method == "" {
		method = "HEAD"
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(w.data))
	if err != nil {
		w.say("%s: %v\n", u, err)
		return nil, wgetGeneric
	}
	req.Header.Set("User-Agent", w.agent)
	req.Header.Set("Accept", "*/*")
	req.Header.Set("Accept-Encoding", "identity")
	if w.data != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if w.referer != "" {
		req.Header.Set("Referer", w.referer)
	}
	if w.user != "" && hops == 0 {
		req.SetBasicAuth(w.user, w.password)
	}
	if w.resume {
		if a, err := w.FS.Stat(orText(w.output, w.name(u, nil))); err == nil && a.Size > 0 {
			req.Header.Set("Range", fmt.Sprintf("bytes=%d-", a.Size))
		}
	}
	for _, h := range w.headers {
		k, v, _ := strings.Cut(h, ":")
		if strings.EqualFold(k, "host") {
			req.Host = strings.TrimSpace(v)
			continue
		}
		if hops > 0 && (strings.EqualFold(k, "authorization") || strings.EqualFold(k, "cookie")) {
			continue
		}
		req.Header.Set(k, strings.TrimSpace(v))
	}
	w.heads.Take()
	resp, err := client.Do(req)
	if err != nil {
		return nil, w.failed(u, err)
	}
	w.detail("HTTP request sent, awaiting response... ")
	if w.server {
		w.say("\n")
		for _, l := range strings.Split(strings.TrimSpace(string(w.heads.Take())), "\r\n") {
			w.say("  %s\n", l)
		}
	} else {
		w.detail("%s\n", resp.Status)
	}
	return resp, 0
}

// failed tells of a request that did not reach its server.
func (w *wgetRun) failed(u *url.URL, err error) int {
	var d *DialError
	switch {
	case errors.As(err, &d) && errors.Is(err, command.ErrNoHost):
		w.detail("Resolving %s (%s)... failed: Name or service not known.\n", d.Host, d.Host)
		w.say("wget: unable to resolve host address ‘%s’\n", d.Host)
	case errors.As(err, &d):
		why := command.Strerror(d.Err)
		if errors.Is(err, command.ErrNetworkDenied) {
			why = "Connection refused (" + command.ErrNetworkDenied.Error() + ")"
		}
		w.say("Connecting to %s:%d... failed: %s.\n", d.Host, d.Port, why)
	case strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "x509: "):
		w.say("ERROR: cannot verify %s's certificate: %v\n", u.Hostname(), err)
		return wgetTLS
	case errors.Is(err, context.DeadlineExceeded):
		w.say("Read error (Connection timed out) in headers.\nGiving up.\n\n")
	default:
		w.say("No data received.\nGiving up.\n\n")
	}
	return wgetNetwork
}

// name is the file that a URL is saved as.
func (w *wgetRun) name(u *url.URL, resp *http.Response) string {
	name := path.Base(u.Path)
	if name == "/" || name == "." || strings.HasSuffix(u.Path, "/") || name == ".." {
		name = "index.html"
	}
	if u.RawQuery != "" {
		name += "?" + strings.ReplaceAll(u.RawQuery, "/", "%2F")
	}
	if resp != nil && w.disposition {
		if n := dispositionName(resp.Header.Get("Content-Disposition")); n != "" && n != ".." && n != "." {
			name = n
		}
	}
	if w.prefix != "" {
		name = path.Join(w.prefix, name)
	}
	return name
}

// save writes the document.
func (w *wgetRun) save(u *url.URL, resp *http.Response) int {
	defer resp.Body.Close()
	if resp.StatusCode >= 400 {
		if w.terse {
			w.say("%s:\n", u)
		}
		_, reason, _ := strings.Cut(resp.Status, " ")
		if w.spider && resp.StatusCode == 404 {
			w.detail("Remote file does not exist -- broken link!!!\n\n")
			return wgetServer
		}
		w.say("%s ERROR %d: %s.\n\n", w.stamp(), resp.StatusCode, reason)
		if !w.body {
			return wgetServer
		}
	}
	length := "unspecified"
	if resp.ContentLength >= 0 {
		length = strconv.FormatInt(resp.ContentLength, 10)
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	w.detail("Length: %s", length)
	if kind != "" {
		w.detail(" [%s]", kind)
	}
	w.detail("\n")
	if w.spider {
		w.detail("Remote file exists.\n\n")
		return 0
	}
	name, out, status := w.open(u, resp)
	if status != 0 {
		return status
	}
	w.detail("Saving to: ‘%s’\n\n", name)
	start := w.Now()
	n, err := io.Copy(out, resp.Body)
	if w.all == nil {
		if e := out.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) {
			w.say("%s - Connection closed at byte %d. Giving up.\n\n", w.stamp(), n)
			return wgetNetwork
		}
		w.say("Cannot write to ‘%s’ (%s).\n", name, command.Strerror(err))
		return wgetFile
	}
	if w.terse {
		w.say("%s URL:%s [%d/%d] -> \"%s\" [1]\n", w.stamp(), u, n, n, name)
	} else {
		w.say("%s (%s) - ‘%s’ saved [%d/%s]\n\n", w.stamp(), rate(n, w.Now().Sub(start)), name, n, length)
	}
	if resp.StatusCode >= 400 {
		return wgetServer
	}
	return 0
}

// open finds a free name, or goes on with a file of -c.
func (w *wgetRun) open(u *url.URL, resp *http.Response) (string, io.WriteCloser, int) {
	if w.all != nil {
		return orText(strings.TrimPrefix(w.output, "-"), "STDOUT"), w.all, 0
	}
	base := w.name(u, resp)
	if w.prefix != "" {
		if err := w.FS.MkdirAll(w.prefix, 0o777); err != nil {
			w.say("%s: %s\n", w.prefix, command.Strerror(err))
			return "", nil, wgetFile
		}
	}
	flags := syscall.O_WRONLY | syscall.O_CREAT | syscall.O_EXCL
	if w.resume {
		flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_TRUNC
		if resp.StatusCode == http.StatusPartialContent {
			flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_APPEND
		}
	}
	name := base
	for i := 1; ; i++ {
		f, err := w.FS.OpenFile(name, flags, 0o666)
		if err == nil {
			return name, f, 0
		}
		if !errors.Is(err, syscall.EEXIST) || i > 10000 {
			w.say("%s: %s\n\nCannot write to ‘%s’ (%s).\n", name, command.Strerror(err), name, command.Strerror(err))
			return "", nil, wgetFile
		}
		name = base + "." + strconv.Itoa(i)
	}
}

// rate is bytes a second for people.
func rate(n int64, d time.Duration) string {
	s := max(d.Seconds(), 1e-6)
	v := float64(n) / s
	for _, unit := range []string{"B/s", "KB/s", "MB/s"} {
		if v < 1024 {
			return fmt.Sprintf("%.3g %s", v, unit)
		}
		v /= 1024
	}
	return fmt.Sprintf("%.3g GB/s", v)
}
