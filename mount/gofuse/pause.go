//go:build linux

package gofuse

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/mount"
)

// A pause takes no request out of the kernel's queue any more and answers those
// that were taken. The readers sleep in read(2). A descriptor that is polled
// first would cost a system call more for every request, and a signal alone
// does not end the read: the runtime's handlers have the kernel restart it. But
// one that is restarted finds the descriptor not to block any more, and ends.
// The signal is SIGURG, which the runtime sends to itself all the time and so
// takes without harm.

// wakeAgain is how long a reader may take to wake up before it is sent the
// signal once more: it may have been just before its read.
const wakeAgain = 20 * time.Millisecond

// heedPauses does what comes through pauses until stop.
func (l *loop) heedPauses(pauses <-chan bool, stop <-chan struct{}) {
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
		if l.waiting.Load() == 0 {
			continue
		}
		if err := errors.Join(syscall.SetNonblock(l.fd, true), wakeThreads()); err != nil {
			l.log.Warn("cannot wake a reader", "err", err)
		}
	}
}

// again returns a channel that yields when readers that are to pause are looked
// for once more.
func (l *loop) again() <-chan time.Time {
	if !l.pausing.Load() {
		return nil
	}
	return time.After(wakeAgain)
}

// unpause goes on reading, unless the loop is over.
func (l *loop) unpause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pausing.Store(false)
	if err := syscall.SetNonblock(l.fd, false); err != nil {
		l.log.Error("a reader will not sleep", "err", err)
	}
	l.spawnLocked()
}

// wakeThreads has every thread of this process restart what it sleeps in.
func wakeThreads() error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if err := unix.Tgkill(os.Getpid(), id, unix.SIGURG); err != nil && err != unix.ESRCH {
			return err
		}
	}
	return nil
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
