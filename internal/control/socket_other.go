//go:build !linux

package control

import "path/filepath"

// socketAddress returns an address of the socket in dir.
func socketAddress(dir string) (address string, done func(), err error) {
	name := filepath.Join(dir, SocketName)
	if len(name) > maxSocketPath {
		return "", nil, Errorf(KindUsage, "data directory %s: its path is too long for a socket in it: at most %d bytes; choose another with --data", dir, maxSocketPath-len(SocketName)-1)
	}
	return name, func() {}, nil
}
