package net

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

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
