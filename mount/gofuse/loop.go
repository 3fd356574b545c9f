//go:build linux

package gofuse

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/vfsd/vfsd/mount"
)

// loop reads requests and answers them in the goroutine that read them. The
// library's own loop keeps two readers, which take turns and so wake a thread
// for each request of a single client; one reader alone answers a third faster,
// with several clients too as long as the processors are few.
//
// But one reader alone stops the mount when a request waits. So a second one
// is sent to read
//
//   - before a request of a kind that may wait or copy much,
//   - when nobody reads and no request was finished for a tick,
//   - when nobody was found reading for many ticks on end, though requests were
//     finished: then there is more to do than one reader does. Up to half as
//     many readers as processors are kept for that.
//
// A reader that finds enough others waiting when it is done, goes. The last to
// go ends the loop: at the connection's end, or at a pause (see pause.go).
//
// The variants that were measured, and their figures, are in docs/requests.md.
type loop struct {
	fd      int
	ps      *fuse.ProtocolServer
	log     *slog.Logger
	request int // bytes of the largest request or reply
	buffers sync.Pool

	// waiting counts readers in read(2) or about to be, finished the requests
	// answered so far.
	waiting  atomic.Int32
	finished atomic.Uint64
	// wanted is how many may wait at a time; only the watch changes it.
	wanted atomic.Int32
	// asleep is whether the watch waits for wake instead of a tick.
	asleep atomic.Bool
	wake   chan struct{}
	ended  atomic.Bool // the connection
	// pausing: whoever would read a request leaves it to the kernel's queue.
	pausing atomic.Bool
	done    chan struct{} // closed when over is set

	mu      sync.Mutex
	present map[*reader]bool // guarded by mu
	over    bool             // the last reader has gone; guarded by mu
	err     error            // what ended the loop, if no unmount; guarded by mu
}

const (
	tick = time.Millisecond
	// busyTicks on end without a waiting reader ask for one more.
	busyTicks = 20
	// quietTicks without a finished request send the watch to sleep.
	quietTicks = 50
)

// headroom is more than the largest request or reply takes beside its data.
const headroom = 8192

// headerSize is the size of a request's header; see opcodeOf and uniqueOf.
const (
	headerSize      = 40
	replyHeaderSize = 16
)

func opcodeOf(in []byte) uint32 { return binary.NativeEndian.Uint32(in[4:]) }
func uniqueOf(in []byte) uint64 { return binary.NativeEndian.Uint64(in[8:]) }

const opInterrupt = 36

// mayWait reports whether a request may take long by its nature: it waits for a
// disk or copies much. RELEASE is not among them although an FS may tidy up
// then: a second reader for each close would cost more than one is late.
func mayWait(in []byte) bool {
	switch mount.Opcode(opcodeOf(in)) {
	case mount.OpFsync, mount.OpFsyncdir, mount.OpFallocate, mount.OpCopyRange:
		return true
	}
	return len(in) >= largeRequest
}

// largeRequest is a size of data from which a request counts as waiting.
const largeRequest = 64 << 10

func newLoop(c mount.Conn, ps *fuse.ProtocolServer) *loop {
	l := &loop{
		fd: c.FD, ps: ps, log: c.Log, request: c.MaxRequest + headroom,
		wake: make(chan struct{}, 1), done: make(chan struct{}), present: map[*reader]bool{},
	}
	l.wanted.Store(1)
	l.buffers.New = func() any {
		return &buffers{in: make([]byte, l.request), out: make([]byte, l.request)}
	}
	return l
}

type buffers struct{ in, out []byte }

// run answers INIT, or goes on after one that is over, calls ready, and then
// answers requests until the connection ends or is paused and none is in flight.
func (l *loop) run(c mount.Conn, s *mount.Server, ready func()) error {
	if c.Init != nil {
		if err := resume(l.ps, c); err != nil {
			return err
		}
	} else if !l.begin(s) {
		return l.err
	}
	if err := syscall.SetNonblock(l.fd, false); err != nil { // a pause leaves it set
		return fmt.Errorf("go-fuse: %w", err)
	}
	ready()
	for {
		l.untilOver(c.Pause)
		l.mu.Lock()
		switch {
		case l.ended.Load():
			defer l.mu.Unlock()
			return l.err
		case l.pausing.Load():
			l.mu.Unlock()
			return mount.ErrPaused
		}
		// The pause was taken back when the last reader had gone.
		l.over, l.done = false, make(chan struct{})
		l.mu.Unlock()
	}
}

// untilOver reads until the last reader has gone. When it returns nothing more
// is heard from pauses.
func (l *loop) untilOver(pauses <-chan bool) {
	l.spawn()
	var others sync.WaitGroup
	stop := make(chan struct{})
	others.Go(func() { l.watch(stop) })
	others.Go(func() { l.heedPauses(pauses, stop) })
	<-l.done
	close(stop)
	others.Wait()
}

// begin answers INIT; false at the connection's end.
func (l *loop) begin(s *mount.Server) bool {
	r := &reader{l: l, buffers: l.buffers.Get().(*buffers)}
	defer l.buffers.Put(r.buffers)
	if !r.next() {
		return false
	}
	n := r.handle()
	s.SetInit(mount.Init{Request: bytes.Clone(r.in[:r.n]), Reply: bytes.Clone(r.out[:n])})
	if n > 0 {
		r.reply(n)
	}
	return true
}

func (l *loop) spawn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spawnLocked()
}

func (l *loop) spawnLocked() {
	if l.over {
		return
	}
	r := &reader{l: l, buffers: l.buffers.Get().(*buffers)}
	l.present[r] = true
	go func() {
		r.run()
		l.buffers.Put(r.buffers)
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.present, r)
		if len(l.present) == 0 {
			l.over = true
			close(l.done)
		}
	}()
}

// reader is one goroutine of the loop.
type reader struct {
	l *loop
	*buffers
	n      int           // bytes of the request in in
	unique atomic.Uint64 // of the request being answered; 0 is none
}

func (r *reader) run() {
	l := r.l
	for {
		l.waiting.Add(1)
		// Counted as waiting first: whoever pauses either is seen here, or
		// sees this reader and wakes it.
		ok := !l.pausing.Load() && r.next()
		alone := l.waiting.Add(-1) == 0
		if !ok {
			return
		}
		if l.asleep.Load() && l.asleep.CompareAndSwap(true, false) {
			l.wake <- struct{}{}
		}
		if alone && mayWait(r.in[:r.n]) {
			l.spawn()
		}
		r.answer()
		l.finished.Add(1)
		if l.waiting.Load() >= l.wanted.Load() {
			return
		}
	}
}

// next reads a request; false at the connection's end.
func (r *reader) next() bool {
	for {
		n, err := syscall.Read(r.l.fd, r.in)
		switch {
		case err == nil && n >= headerSize:
			r.n = n
			r.unique.Store(uniqueOf(r.in))
			return true
		case err == nil:
			r.l.end(fmt.Errorf("go-fuse: a request of %d bytes", n))
			return false
		case err == syscall.EAGAIN && r.l.pausing.Load():
			return false
		case err == syscall.EINTR, err == syscall.ENOENT, err == syscall.EAGAIN:
			// A signal of the runtime's, or a request withdrawn in the meantime.
		case err == syscall.ENODEV, err == syscall.ECONNABORTED:
			r.l.end(nil)
			return false
		default:
			r.l.end(fmt.Errorf("go-fuse: read a request: %w", err))
			return false
		}
	}
}

func (l *loop) end(err error) {
	l.mu.Lock()
	if l.err == nil {
		l.err = err
	}
	l.mu.Unlock()
	l.ended.Store(true)
	if l.asleep.CompareAndSwap(true, false) {
		l.wake <- struct{}{}
	}
}

// answer handles the request in r.in and writes the reply.
func (r *reader) answer() {
	if n := r.handle(); n > 0 {
		r.reply(n)
	}
}

// handle puts the reply to the request in r.in into r.out and returns its size;
// 0 for a request that has none.
func (r *reader) handle() int {
	n, status := r.l.ps.HandleRequest([][]byte{r.in[:r.n]}, [][]byte{r.out})
	if status != fuse.OK {
		// The library could not make sense of it; the client must not hang.
		n = replyHeaderSize
		binary.NativeEndian.PutUint32(r.out, replyHeaderSize)
		errno := int32(syscall.EIO)
		binary.NativeEndian.PutUint32(r.out[4:], uint32(-errno))
		binary.NativeEndian.PutUint64(r.out[8:], uniqueOf(r.in))
	}
	r.unique.Store(0)
	return n
}

func (r *reader) reply(n int) {
	for {
		_, err := syscall.Write(r.l.fd, r.out[:n])
		switch err {
		case syscall.EINTR:
			continue
		case nil, syscall.ENOENT, syscall.ENODEV, syscall.ECONNABORTED:
			// The client was killed, or the mount went, in the meantime.
		default:
			r.l.log.Error("reply refused", "opcode", opcodeOf(r.in), "bytes", n, "err", err)
		}
		return
	}
}

// watch sends readers when they are missing, and ends requests that wait when
// the connection has ended.
func (l *loop) watch(stop <-chan struct{}) {
	most := int32(max(1, runtime.GOMAXPROCS(0)/2))
	last, busy, quiet := uint64(0), 0, 0
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		if l.ended.Load() {
			l.interruptAll()
			continue
		}
		finished := l.finished.Load()
		moved := finished != last
		last = finished
		if l.waiting.Load() > 0 {
			busy = 0
			if quiet++; moved {
				quiet = 0
			}
			if quiet >= quietTicks {
				quiet = 0
				l.wanted.Store(1)
				ticker.Stop()
				l.sleep(stop)
				ticker.Reset(tick)
			}
			continue
		}
		quiet = 0
		if l.pausing.Load() {
			continue // a reader more would go at once
		}
		if busy++; !moved {
			l.spawn()
		} else if busy >= busyTicks && l.wanted.Load() < most {
			busy = 0
			l.wanted.Add(1)
			l.spawn()
		}
	}
}

// sleep returns when a request comes or the connection ends.
func (l *loop) sleep(stop <-chan struct{}) {
	l.asleep.Store(true)
	if (l.waiting.Load() == 0 || l.ended.Load()) && l.asleep.CompareAndSwap(true, false) {
		return // it came just before
	}
	select {
	case <-l.wake:
	case <-stop:
	}
}

// interruptAll cancels every request that is being answered. The library takes
// that only as the kernel would say it.
func (l *loop) interruptAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for r := range l.present {
		unique := r.unique.Load()
		if unique == 0 {
			continue
		}
		in := make([]byte, headerSize+8)
		binary.NativeEndian.PutUint32(in, uint32(len(in)))
		binary.NativeEndian.PutUint32(in[4:], opInterrupt)
		binary.NativeEndian.PutUint64(in[headerSize:], unique)
		l.ps.HandleRequest([][]byte{in}, [][]byte{make([]byte, replyHeaderSize)})
	}
}
