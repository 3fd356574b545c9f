//go:build linux

package gofuse

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/vfsd/vfsd/mount"
)

// A pause takes no request out of the kernel's queue any more and answers those
// that were taken. The readers sleep in read(2), which no signal of the
// runtime's ends (they restart it), and a descriptor that is polled first would
// cost a system call for every request. So each is sent a request: the kernel
// is told to retrieve no bytes of the root's page cache, and says so with a
// NOTIFY_REPLY, which wants no answer. One that comes too late is read by
// whoever goes on, and dropped.

// nudgeAgain is how long a reader may take to be woken before it is nudged
// once more.
const nudgeAgain = 20 * time.Millisecond

// heedPauses does what comes through pauses until stop.
func (l *loop) heedPauses(pauses <-chan bool, s *mount.Server, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case pause := <-pauses:
			if !pause {
				l.unpause()
				continue
			}
		case <-l.again():
		}
		l.pausing.Store(true)
		for range l.waiting.Load() {
			if err := s.Nudge(); err != nil {
				l.log.Warn("cannot wake a reader", "err", err)
			}
		}
	}
}

// again returns a channel that yields when readers that are to pause are looked
// for once more.
func (l *loop) again() <-chan time.Time {
	if !l.pausing.Load() {
		return nil
	}
	return time.After(nudgeAgain)
}

// unpause goes on reading, unless the loop is over.
func (l *loop) unpause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pausing.Store(false)
	l.spawnLocked()
}

// Where INIT and its reply have what a resumed connection must agree on, in
// bytes from their beginnings.
const (
	initFlags       = headerSize + 12
	initFlags2      = headerSize + 16
	initSize        = headerSize + 20
	initReplyMinor  = replyHeaderSize + 4
	initReplyFlags  = replyHeaderSize + 12
	initReplyWrite  = replyHeaderSize + 20
	initReplyFlags2 = replyHeaderSize + 32
	initReplySize   = replyHeaderSize + 64

	// flagInitExt is the flag that says that there are second flags.
	flagInitExt = 1 << 30
)

// errOtherInit is a connection that this version would have begun otherwise.
var errOtherInit = errors.New("go-fuse: the connection was begun with other features than this version's")

// resume puts ps into the state in which the connection is: all that it keeps
// of INIT are the kernel's and the negotiated features. The INIT of old is
// handled again, cut to what was agreed on then, and the reply compared instead
// of sent.
func resume(ps *fuse.ProtocolServer, c mount.Conn) error {
	in, was := append([]byte(nil), c.Init.Request...), c.Init.Reply
	if len(in) < initSize || len(was) < initReplySize {
		return fmt.Errorf("go-fuse: INIT of %d bytes and a reply of %d", len(in), len(was))
	}
	order := binary.NativeEndian
	order.PutUint32(in[initFlags:], order.Uint32(in[initFlags:])&(order.Uint32(was[initReplyFlags:])|flagInitExt))
	order.PutUint32(in[initFlags2:], order.Uint32(in[initFlags2:])&order.Uint32(was[initReplyFlags2:]))
	now := make([]byte, c.MaxRequest+headroom)
	n, status := ps.HandleRequest([][]byte{in}, [][]byte{now})
	if status != fuse.OK || n < initReplySize {
		return fmt.Errorf("go-fuse: INIT is answered with %d bytes and %v", n, status)
	}
	for _, at := range []int{4, initReplyMinor, initReplyFlags, initReplyWrite, initReplyFlags2} {
		if a, b := order.Uint32(was[at:]), order.Uint32(now[at:]); a != b {
			return fmt.Errorf("%w: %#x at offset %d of the reply, where it had %#x", errOtherInit, b, at, a)
		}
	}
	return nil
}

// Resumable implements mount.Resumer.
func (driver) Resumable(c mount.Conn, s *mount.Server) error {
	return resume(newProtocolServer(c, s), c)
}
