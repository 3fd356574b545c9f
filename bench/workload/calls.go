package workload

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Tight clients call the kernel by package unix: package os adds calls of its
// own (an fstat at each open) that would be measured too. The runtime's signals
// may interrupt a call to a FUSE daemon, hence the repetitions.

// again repeats a call that was interrupted.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func open(path string, flags int, mode uint32) (fd int, err error) {
	err = again(func() error {
		fd, err = unix.Open(path, flags|unix.O_CLOEXEC, mode)
		return err
	})
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// create makes a file that must not be there, with one write, and closes it.
func create(path string, content []byte) error {
	fd, err := open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if err := writeAt(fd, content, 0); err != nil {
		unix.Close(fd)
		return fmt.Errorf("%s: %w", path, err)
	}
	return unix.Close(fd)
}

// writeAt writes all of p at off.
func writeAt(fd int, p []byte, off int64) error {
	for len(p) > 0 {
		var n int
		err := again(func() (err error) {
			n, err = unix.Pwrite(fd, p, off)
			return err
		})
		if err != nil {
			return fmt.Errorf("write at %d: %w", off, err)
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// readAt reads into all of p at off; a file that ends before is
// io.ErrUnexpectedEOF.
func readAt(fd int, p []byte, off int64) error {
	for len(p) > 0 {
		var n int
		err := again(func() (err error) {
			n, err = unix.Pread(fd, p, off)
			return err
		})
		if err != nil {
			return fmt.Errorf("read at %d: %w", off, err)
		}
		if n == 0 {
			return fmt.Errorf("read at %d: %w", off, io.ErrUnexpectedEOF)
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}

func fsync(fd int) error {
	return again(func() error { return unix.Fsync(fd) })
}

// pinned runs f on a thread of its own, so that the client is one thread as a
// plain program is.
func pinned(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return f()
}
