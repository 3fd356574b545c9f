package archive

import (
	"context"
	"io"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// copySize is how many bytes a copy moves at a time.
const copySize = 64 << 10

// withContext ends reads when ctx has ended.
type withContext struct {
	ctx context.Context
	r   io.Reader
}

func (w withContext) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.r.Read(p)
}

// writeTracker remembers a failed write, to tell it from a failed read.
type writeTracker struct {
	w   io.Writer
	n   int64
	err error
}

func (t *writeTracker) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	t.n += int64(n)
	if err != nil && t.err == nil {
		t.err = err
	}
	return n, err
}

// readTracker counts what was read and remembers a failed read.
type readTracker struct {
	r   io.Reader
	n   int64
	err error
}

func (t *readTracker) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.n += int64(n)
	if err != nil && err != io.EOF {
		t.err = err
	}
	return n, err
}

func toErrno(err error) syscall.Errno { return vfs.ToErrno(err) }
