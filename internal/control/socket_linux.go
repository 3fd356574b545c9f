package control

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// socketAddress returns an address of the socket in dir that is good until
// done is called. Where the path is too long for an address, it goes through a
// descriptor of the directory.
func socketAddress(dir string) (address string, done func(), err error) {
	name := filepath.Join(dir, SocketName)
	if len(name) <= maxSocketPath {
		return name, func() {}, nil
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, fmt.Errorf("open %s: %w", dir, err)
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", fd, SocketName), func() { _ = unix.Close(fd) }, nil
}
