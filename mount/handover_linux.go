package mount

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// adopt makes the attachment of a connection that is mounted already. f stays
// the caller's.
func adopt(f *os.File, path string, saved savedMount) (*attachment, error) {
	at := &attachment{path: path, setuid: saved.setuid, id: connID{saved.major, saved.minor}}
	var err error
	if at.fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("take the mount at %s over: %w", path, err)
	}
	if at.notify, err = at.duplicate(); err != nil {
		unix.Close(at.fd)
		return nil, fmt.Errorf("take the mount at %s over: %w", path, err)
	}
	return at, nil
}

func (at *attachment) saved() savedMount {
	return savedMount{setuid: at.setuid, major: at.id.major, minor: at.id.minor}
}

func (at *attachment) closeFD() error { return unix.Close(at.fd) }

// duplicate returns a duplicate of the connection's descriptor.
func (k *kernel) duplicate() (*os.File, error) {
	fd := -1
	var err error
	closed := k.conn.Control(func(own uintptr) { fd, err = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0) })
	if closed != nil {
		return nil, closed
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), fuseDevice), nil
}
