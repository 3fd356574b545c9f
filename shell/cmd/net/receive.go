package net

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
)

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
