package mount

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/vfs"
)

// Forever is the validity of what the kernel may cache without limit. It is a
// thousand million seconds: far beyond any uptime, far from any overflow.
const Forever = 1_000_000_000 * time.Second

// Opcode is a FUSE request's number on the wire.
type Opcode uint32

// The opcodes that this package counts or answers.
const (
	OpLookup      Opcode = 1
	OpForget      Opcode = 2
	OpGetattr     Opcode = 3
	OpSetattr     Opcode = 4
	OpReadlink    Opcode = 5
	OpSymlink     Opcode = 6
	OpMknod       Opcode = 8
	OpMkdir       Opcode = 9
	OpUnlink      Opcode = 10
	OpRmdir       Opcode = 11
	OpRename      Opcode = 12
	OpLink        Opcode = 13
	OpOpen        Opcode = 14
	OpRead        Opcode = 15
	OpWrite       Opcode = 16
	OpStatfs      Opcode = 17
	OpRelease     Opcode = 18
	OpFsync       Opcode = 20
	OpSetxattr    Opcode = 21
	OpGetxattr    Opcode = 22
	OpListxattr   Opcode = 23
	OpRemovexattr Opcode = 24
	OpFlush       Opcode = 25
	OpOpendir     Opcode = 27
	OpReaddir     Opcode = 28
	OpReleasedir  Opcode = 29
	OpFsyncdir    Opcode = 30
	OpAccess      Opcode = 34
	OpCreate      Opcode = 35
	OpIoctl       Opcode = 39
	OpFallocate   Opcode = 43
	OpReaddirplus Opcode = 44
	OpLseek       Opcode = 46
	OpCopyRange   Opcode = 47
	OpTmpfile     Opcode = 51
	OpStatx       Opcode = 52

	opCount = 64
)

var opNames = [opCount]string{
	OpLookup: "LOOKUP", OpForget: "FORGET", OpGetattr: "GETATTR", OpSetattr: "SETATTR",
	OpReadlink: "READLINK", OpSymlink: "SYMLINK", OpMknod: "MKNOD", OpMkdir: "MKDIR",
	OpUnlink: "UNLINK", OpRmdir: "RMDIR", OpRename: "RENAME", OpLink: "LINK", OpOpen: "OPEN",
	OpRead: "READ", OpWrite: "WRITE", OpStatfs: "STATFS", OpRelease: "RELEASE", OpFsync: "FSYNC",
	OpSetxattr: "SETXATTR", OpGetxattr: "GETXATTR", OpListxattr: "LISTXATTR",
	OpRemovexattr: "REMOVEXATTR", OpFlush: "FLUSH", OpOpendir: "OPENDIR", OpReaddir: "READDIR",
	OpReleasedir: "RELEASEDIR", OpFsyncdir: "FSYNCDIR", OpAccess: "ACCESS", OpCreate: "CREATE",
	OpIoctl: "IOCTL", OpFallocate: "FALLOCATE", OpReaddirplus: "READDIRPLUS", OpLseek: "LSEEK",
	OpCopyRange: "COPY_FILE_RANGE", OpTmpfile: "TMPFILE", OpStatx: "STATX",
}

// Server answers the requests of one mount. Drivers call its methods, from as
// many goroutines as they like; each request is a Call.
type Server struct {
	fs       vfs.FS
	origin   vfs.Origin
	device   uint64 // of the mount, as the kernel counts them; 0 is none
	log      *slog.Logger
	readOnly bool
	noFlush  bool
	// others is whether users besides owner get in, or owner is not root: then
	// not every directory's entries may be cached.
	others bool
	owner  vfs.Cred

	// standIns is whether the kernel was ever given one; see special.go.
	standIns atomic.Bool
	// changes counts what others changed; see give.
	changes atomic.Uint64
	// setattrs are inodes whose SETATTR may still be under way; see again.
	setattrs recentInos
	kernel   *kernel
	inodes   inodeTable
	files    handleTable[*openFile]
	running  inoCounts // programs, by open files to execute them
	dirs     handleTable[*openDir]
	calls    sync.Pool
	counts   [opCount]atomic.Uint64
	unwatch  func()
	ended    chan struct{} // closed when the mount is gone

	policyMu  sync.Mutex
	policyGen uint64 // raised by every change of rights; guarded by policyMu

	background background
	touches    touches

	// init is how INIT went; set before the first request, nil where the
	// driver does not tell.
	init *Init
}

func newServer(o *Options, k *kernel) *Server {
	s := &Server{
		fs: o.FS, origin: o.Origin, log: o.Log, readOnly: o.ReadOnly, noFlush: o.NoFlush, kernel: k, ended: make(chan struct{}),
		owner: vfs.Cred{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())},
	}
	s.others = o.AllowOther || s.owner.UID != 0
	if o.AllowOther {
		s.owner.UID = nobody
	}
	s.touches.s, s.touches.ended = s, make(chan struct{})
	s.inodes.init(o.FS)
	s.calls.New = func() any { return newCall(s) }
	return s
}

// servers are the mounts of this process.
type servers struct {
	mu  sync.Mutex
	all map[*Server]bool // guarded by mu
	// awaited are the plans that somebody waits for, and whose kernel is to
	// take them in; guarded by mu.
	awaited map[*plan]*Server
}

var serving = servers{all: map[*Server]bool{}, awaited: map[*plan]*Server{}}

func (w *servers) add(s *Server) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all[s] = true
}

func (w *servers) remove(s *Server) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, s)
}

// await notes that somebody waits for s's kernel to take p in; arrived ends that.
func (w *servers) await(s *Server, p *plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.awaited[p] = s
}

func (w *servers) arrived(p *plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.awaited, p)
}

// crossed reports whether somebody waits for the kernel of another mount to take
// in what concerns the same inodes as p, which s's kernel is to take in.
func (w *servers) crossed(s *Server, p *plan) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for other, whose := range w.awaited {
		if whose != s && p.meets(other) {
			return true
		}
	}
	return false
}

// nobody owns nothing: the owner's bits decide nothing when all users come.
const nobody = 1<<32 - 1

// start is called once, when the kernel has begun to send requests.
func (s *Server) start() {
	s.kernel.probe()
	s.resume()
}

// resume is start where another process has started it.
func (s *Server) resume() {
	serving.add(s)
	s.unwatch = s.fs.Watch(s)
}

// stop is called once, when no request is in flight any more and none will
// come: it gives back what the kernel never will.
func (s *Server) stop() {
	if s.unwatch != nil {
		s.unwatch()
	}
	close(s.ended)
	s.touches.end()
	serving.remove(s)
	s.background.finish()
	op := &vfs.Op{Origin: s.origin}
	for _, f := range s.files.drain() {
		f.release(op)
	}
	for _, d := range s.dirs.drain() {
		d.h.Release(op)
	}
	s.inodes.drain()
}

// Stats counts what happened so far.
func (s *Server) Stats() Stats {
	st := Stats{
		Requests:      map[string]uint64{},
		Notifications: s.kernel.sent.Load(),
		Inodes:        s.inodes.len(),
		Handles:       s.files.len() + s.dirs.len(),
	}
	for op := range s.counts {
		if n := s.counts[op].Load(); n > 0 {
			st.Requests[opNames[op]] = n
		}
	}
	return st
}

// Call is one request: who asks, and until when. It is its own context, which
// ends with EINTR when the kernel interrupts the request.
type Call struct {
	vfs.Op
	s           *Server
	cancel      <-chan struct{}
	changes     uint64 // Server.changes when the request began
	groups      []uint32
	groupsKnown bool
	caps        uint64 // effective capabilities, when known
	capsKnown   bool
	list        []listed // of a listing, kept for its memory
}

var _ context.Context = (*Call)(nil)

func newCall(s *Server) *Call {
	c := &Call{s: s}
	c.Op.Ctx = c
	c.Op.Origin = s.origin
	c.Op.Cred.Groups = c.supplementary
	c.Op.Cred.Privileged = c.privileged
	return c
}

// Begin counts a request and returns its Call, which End takes back. cancel is
// closed when the kernel interrupts the request; nil never is.
func (s *Server) Begin(op Opcode, uid, gid, pid uint32, cancel <-chan struct{}) *Call {
	s.counts[op].Add(1)
	c := s.calls.Get().(*Call)
	c.UID, c.GID, c.PID, c.Umask = uid, gid, pid, 0
	c.cancel, c.groupsKnown, c.capsKnown = cancel, false, false
	c.changes = s.changes.Load()
	return c
}

// End gives the Call back; it must not be used any more.
func (c *Call) End() {
	c.s.calls.Put(c)
}

func (c *Call) supplementary() []uint32 {
	if !c.groupsKnown {
		c.groups, c.groupsKnown = groupsOf(c.PID, c.groups[:0]), true
	}
	return c.groups
}

// privileged is the Privileged of c's credentials. Of a process that cannot be
// seen, root is trusted.
func (c *Call) privileged(p vfs.Cap, a *vfs.Attr) bool {
	if !c.capsKnown {
		caps, ok := effective(c.PID)
		if !ok {
			return c.UID == 0
		}
		c.caps, c.capsKnown = caps, true
	}
	return c.caps>>p&1 != 0 && reaches(c.PID, c.UID, a)
}

// Deadline implements context.Context: there is none.
func (c *Call) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements context.Context.
func (c *Call) Done() <-chan struct{} { return c.cancel }

// Err implements context.Context.
func (c *Call) Err() error {
	select {
	case <-c.cancel:
		return context.Canceled
	default:
		return nil
	}
}

// Value implements context.Context: there is none.
func (c *Call) Value(any) any { return nil }

// asRoot runs f with the privileges of the daemon itself.
func (c *Call) asRoot(f func()) {
	cred := c.Cred
	c.UID, c.Privileged = 0, nil
	f()
	c.Cred = cred
}

// errno maps what the FS said to what the kernel may hear, and logs what only
// an operator can mend.
func (c *Call) errno(op Opcode, ino vfs.Ino, err error) syscall.Errno {
	if err == nil {
		return 0
	}
	e, plain := err.(syscall.Errno)
	if !plain {
		e = vfs.ToErrno(err)
	}
	if e == syscall.ENOSYS {
		e = syscall.EOPNOTSUPP
	}
	if e == syscall.EIO || errors.Is(err, vfs.ErrCorrupt) {
		c.s.log.Error("request failed", "op", opNames[op], "ino", uint64(ino), "err", err)
	}
	return e
}

// mayWrite refuses changes of a read-only mount. The kernel does too, unless
// somebody remounts it.
func (s *Server) mayWrite() syscall.Errno {
	if s.readOnly {
		return syscall.EROFS
	}
	return 0
}

// background is work outside of any request. The zero value is ready.
type background struct {
	mu      sync.Mutex
	closed  bool          // guarded by mu
	running int           // guarded by mu
	idle    chan struct{} // closed when running falls to 0; nil when nobody waits; guarded by mu
}

// run starts f, unless the mount has ended: then there is nothing left to do.
func (b *background) run(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.running++
	go func() {
		defer b.ran()
		f()
	}()
	return true
}

func (b *background) ran() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running--; b.running == 0 && b.idle != nil {
		close(b.idle)
		b.idle = nil
	}
}

// wait returns a channel that is closed once nothing runs.
func (b *background) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.idle != nil {
		return b.idle
	}
	idle := make(chan struct{})
	if b.running == 0 {
		close(idle)
	} else {
		b.idle = idle
	}
	return idle
}

// finish waits for what was started and lets nothing more begin.
func (b *background) finish() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	<-b.wait()
}

// Recovered turns a panic under a request into an errno; drivers call it from
// the deferred function that recovered r.
func (s *Server) Recovered(r any, stack []byte) syscall.Errno {
	s.log.Error("panic in a request", "panic", r, "stack", string(stack))
	return syscall.EIO
}
