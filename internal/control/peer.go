package control

import (
	"net"
	"os"
	"syscall"
)

// peerKey is the context key of a request's peer.
type peerKey struct{}

// peer is who asks. The zero value is nobody.
type peer struct {
	known bool
	uid   uint32
}

func self() peer { return peer{true, uint32(os.Geteuid())} }

// allowed lets in root and the daemon's own user.
func (p peer) allowed() error {
	if p.known && (p.uid == 0 || p.uid == uint32(os.Geteuid())) {
		return nil
	}
	return Errorf(KindNoRight, "this daemon serves uid %d and root alone", os.Geteuid())
}

// peerOf asks the kernel who is at the other end of a connection.
func peerOf(c net.Conn) (peer, error) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return peer{}, syscall.ENOTSOCK
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var p peer
	var perr error
	if err := raw.Control(func(fd uintptr) { p.uid, perr = peerUID(int(fd)) }); err != nil {
		return peer{}, err
	}
	p.known = perr == nil
	return p, perr
}
