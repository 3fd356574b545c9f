package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// maxSocketPath is the longest path that fits into a socket's address, on
// every system (Linux takes 107 bytes, Darwin 103).
const maxSocketPath = 103

// Listen makes the socket of a data directory, in place of what a daemon that
// died left. The caller holds the directory's lock.
func Listen(dir string) (*Listener, error) {
	name := filepath.Join(dir, SocketName)
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	address, done, err := socketAddress(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		return nil, err
	}
	// The address may be a way to the directory that is gone by then.
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(name, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &Listener{UnixListener: l}, nil
}

// Inherit listens on the socket that another process listens on, of which f is
// a duplicate. It closes f.
func Inherit(f *os.File) (*Listener, error) {
	l, err := net.FileListener(f)
	err = errors.Join(err, f.Close())
	if unix, ok := l.(*net.UnixListener); ok && err == nil {
		unix.SetUnlinkOnClose(false)
		return &Listener{UnixListener: unix}, nil
	}
	if l != nil {
		err = errors.Join(err, l.Close())
	}
	return nil, fmt.Errorf("inherit the socket: %w", err)
}

// RemoveSocket takes the socket's name away. The caller holds the lock.
func RemoveSocket(dir string) error {
	err := os.Remove(filepath.Join(dir, SocketName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func dialSocket(ctx context.Context, dir string) (net.Conn, error) {
	address, done, err := socketAddress(dir)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "unix", Err: err}
	}
	defer done()
	var d net.Dialer
	return d.DialContext(ctx, "unix", address)
}
