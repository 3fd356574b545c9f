// Package mount presents a vfs.FS as a mounted directory through FUSE.
//
//	import _ "github.com/vfsd/vfsd/mount/gofuse"
//
//	m, err := mount.Mount("", mount.Options{FS: fs, Origin: 1, MountPoint: "/mnt/w", Name: "w"})
//	...
//	err = m.Unmount() // or: err = m.Wait()
//
// # Who does what
//
// This package attaches the mount, owns the kernel's view of the tree and
// writes every notification. A Server answers requests in terms of inode
// numbers, errno and byte slices; a Driver reads requests from /dev/fuse,
// translates them to calls of the Server and writes the replies. What a driver
// or its library cannot do is declared in its Capabilities.
//
// # What the kernel caches
//
// vfsd is the only writer, so the kernel caches entries, negative entries,
// attributes, pages, symlinks and listings without limit of time. Invariants:
//
//  1. A change that did not come through this mount is told to the kernel, for
//     inodes the kernel holds, before the call that made it returns (notify.go).
//  2. An entry is cached only below a directory that everyone whom the kernel
//     lets into this mount may search, because the kernel walks cached entries
//     without asking; a directory that stops being one has its entries expired
//     (policy.go), all at once, or one by one if something is mounted on a
//     directory of this mount, which would go with its entry.
//  3. An inode that the kernel holds is pinned in the FS, once (inodes.go).
//  4. ENOSYS never reaches the kernel from an FS: it would switch the operation
//     off for the life of the mount.
//
// Watchers (inotify) hear of changes that came by another way in, within a
// second, by touches that a process of ours makes through the mount (touch.go);
// not on a read-only mount, which nobody can touch.
//
// The kernel is not asked for default_permissions: it would fetch a directory's
// attributes anew after each change in it, which costs a creation 10 to 25 per
// cent and a removal 40 to 100. The FS decides, with the caller's credentials;
// the supplementary groups and the capabilities, which FUSE does not carry, are
// looked up when a decision needs them: a process of uid 0 without capabilities
// is no more than the owner of root's files.
//
// Three uses of a file are asked about in no request of their own. Opening a
// FIFO or a device and connecting to a socket are guarded at the LOOKUP before
// (special.go). Setting a watch (inotify) on a file is refused there too, but not
// with certainty, and on a directory it is not: a user who may not read one can
// still hear of its names as they change. And where a special file is itself a
// mount's root, as a bind mount of root's can make it, its permissions do not
// count.
//
// Locks (fcntl, open file description, flock) stay with the kernel: one mount
// a workspace a host, further mount points are bind mounts of it.
//
// # Handing a mount over
//
// A mount lives for as long as somebody has its connection open. Pause stops
// the answers, Export tells what the kernel knows and what is open, and TakeOver
// goes on with it in another process; see Handover.
//
// # The daemon and its own mount
//
// A process that serves a mount must never wait for it: nothing here stats,
// opens or lists a mount point of its own. Mounts honour neither set-id bits
// nor devices unless Options.Suid and Options.Dev say so, whoever mounts, root
// included.
//
// # Locks
//
// In this order: an inode shard's lock, then the FS's. The handle table's lock,
// the policy's and those of touches are leaves, but for touches.busy, which is
// held while the FS is asked for names and is before all. No lock of this package
// is held while the kernel is notified or a request's reply is awaited.
package mount

import (
	"errors"
	"fmt"
	"log/slog"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/vfs"
)

// DefaultDriver is the driver that Mount takes when none is named.
const DefaultDriver = "go-fuse"

// maxRequest is the most bytes one READ or WRITE carries on Linux.
const maxRequest = 1 << 20

// Options say what to mount, where and how.
type Options struct {
	FS     vfs.FS
	Origin vfs.Origin // this mount's own, so that its changes do not come back
	// MountPoint is an existing empty directory.
	MountPoint string
	// Replace says that MountPoint may be covered by a mount whose daemon has
	// died: the new one takes its place. In between nobody finds the bare
	// directory, but on kernels before 6.5 and with fusermount3, where there are
	// moments in which what is created by path lands in it and is hidden.
	Replace bool
	// Name is the workspace's, shown in /proc/mounts as vfsd#NAME.
	Name string
	// AllowOther lets other users in; the FS's permission checks rule.
	AllowOther bool
	ReadOnly   bool
	// Suid and Dev make set-id bits and device nodes count. Root only.
	Suid, Dev bool
	// NoFlush says that the handles' Flush has nothing to do, so that close(2)
	// need not ask.
	NoFlush bool
	// MaxRequest is the most bytes one read or write request carries; 0 means
	// 1 MiB. A driver may take less.
	MaxRequest int
	Debug      bool         // log every request
	Log        *slog.Logger // nil means slog.Default
}

// Mounted is a mount that is being served.
type Mounted interface {
	// Wait returns when the mount is gone: nil after an unmount, whoever did
	// it, else what ended it. The FS's handles and pins are released by then.
	Wait() error
	// Unmount detaches the mount and waits for its end. While it is in use, or
	// if it stays mounted in another mount namespace, the error is EBUSY and
	// names the processes.
	Unmount() error
	// Detach frees the mount point at once; the mount ends when the last who
	// uses it is gone.
	Detach() error
	// Abort ends the mount at once: whoever uses it gets ENOTCONN. It is for
	// shutdown and for tests; requests in flight are answered by nobody.
	Abort()
	Stats() Stats
	Capabilities() Capabilities
	Handover
}

// Stats counts what happened since the mount began.
type Stats struct {
	Requests      map[string]uint64 // by opcode, as "LOOKUP"; zeroes left out
	Notifications uint64            // sent to the kernel
	Inodes        uint64            // that the kernel holds
	Handles       uint64            // open files and directories
}

// Capabilities say what a driver passes on. What it lacks, the kernel answers
// by itself: EINVAL, EOPNOTSUPP or a slower way.
type Capabilities struct {
	RenameFlags    bool // renameat2 with NOREPLACE, EXCHANGE, WHITEOUT
	Seek           bool // SEEK_DATA and SEEK_HOLE; else the whole file is data
	CopyRange      bool // copy_file_range; else the kernel reads and writes
	ReadDirPlus    bool // attributes with listings
	Tmpfile        bool // O_TMPFILE
	Statx          bool // the birth time
	Umask          bool // the caller's umask; else default ACLs meet a masked mode
	AtomicTruncate bool // O_TRUNC as part of open
	ZeroRange      bool // fallocate's ZERO_RANGE
	Sticky         bool // modes show the sticky bit (the FS heeds it either way)
	Passthrough    bool // reads and writes that bypass the daemon
	Handover       bool // another process can take the mount over; see Handover
	// SubsecondBefore1970 is whether times before 1970 keep their fraction.
	SubsecondBefore1970 bool
	MaxRequest          int // bytes
}

// Conn is an attached FUSE connection, as a Driver gets it.
type Conn struct {
	// FD is an open /dev/fuse; the driver owns it.
	FD         int
	MountPoint string // for messages only; must not be touched
	MaxRequest int    // bytes, at most the driver's own limit
	Debug      bool
	Log        *slog.Logger
	// Init is how INIT went where it is over: the connection is resumed. nil:
	// it is to come, and the driver gives it to Server.SetInit.
	Init *Init
	// Pause asks a driver that has Capabilities.Handover to pause (true): it
	// stops taking requests from the kernel and, when those it took are
	// answered, Serve returns ErrPaused. false takes that back: once the driver
	// has received it, Serve goes on.
	Pause <-chan bool
}

// Driver is a FUSE library behind the request loop.
type Driver interface {
	Name() string
	Capabilities() Capabilities
	// Serve answers the kernel's INIT, calls ready, then answers requests with
	// s until the connection ends. It returns when no request is in flight any
	// more: nil for an unmount. It closes c.FD unless it returns ErrPaused.
	Serve(c Conn, s *Server, ready func()) error
}

var (
	driversMu sync.Mutex
	drivers   = map[string]Driver{} // guarded by driversMu
)

// Register makes a driver known by its name; packages of drivers call it from
// init.
func Register(d Driver) {
	driversMu.Lock()
	defer driversMu.Unlock()
	drivers[d.Name()] = d
}

// Drivers returns the names of the drivers that are linked in, sorted.
func Drivers() []string {
	driversMu.Lock()
	defer driversMu.Unlock()
	var names []string
	for name := range drivers {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// CapabilitiesOf returns what the named driver passes on.
func CapabilitiesOf(driverName string) (Capabilities, error) {
	d, err := driver(driverName)
	if err != nil {
		return Capabilities{}, err
	}
	return d.Capabilities(), nil
}

func driver(name string) (Driver, error) {
	if name == "" {
		name = DefaultDriver
	}
	driversMu.Lock()
	d := drivers[name]
	driversMu.Unlock()
	if d == nil {
		return nil, fmt.Errorf("mount: no driver %q: there is %s", name, strings.Join(Drivers(), ", "))
	}
	return d, nil
}

// errNotSupported is the answer of a platform without an attach of its own.
var errNotSupported = errors.New("mount: not supported on this platform")

// Mount attaches o.FS at o.MountPoint and serves it with the named driver
// ("" for the default) until it is unmounted. The mount is usable when it
// returns. An error is one line and says what to do about it.
func Mount(driverName string, o Options) (Mounted, error) {
	d, err := driver(driverName)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	limit := d.Capabilities().MaxRequest
	if o.MaxRequest <= 0 || o.MaxRequest > limit {
		o.MaxRequest = limit
	}
	if o.MountPoint, err = Preflight(o); err != nil {
		return nil, err
	}
	at, err := attach(&o)
	if err != nil {
		return nil, err
	}
	return serve(d, &o, at)
}

// mounted is one mount and the goroutine that serves it.
type mounted struct {
	o    *Options
	s    *Server
	d    Driver
	at   *attachment
	done chan struct{} // closed after err is set
	err  error

	pauses chan bool     // to the driver; see Conn.Pause
	paused chan struct{} // the driver has paused
	goOn   chan bool     // after a pause: serve again, or leave
	// touchOn ends the suspension of touches during a pause; whoever pauses owns it.
	touchOn func()
}

func newMounted(d Driver, o *Options, at *attachment) *mounted {
	m := &mounted{
		o: o, d: d, at: at, s: newServer(o, at.notify), done: make(chan struct{}),
		pauses: make(chan bool), paused: make(chan struct{}), goOn: make(chan bool),
	}
	m.s.touches.mountPoint, m.s.device = o.MountPoint, at.device()
	return m
}

func (m *mounted) conn() Conn {
	return Conn{
		FD: m.at.fd, MountPoint: m.o.MountPoint, MaxRequest: m.o.MaxRequest, Debug: m.o.Debug, Log: m.o.Log,
		Init: m.s.init, Pause: m.pauses,
	}
}

func serve(d Driver, o *Options, at *attachment) (Mounted, error) {
	m := newMounted(d, o, at)
	ready := make(chan struct{})
	owned.add(o.MountPoint)
	go m.serve(sync.OnceFunc(func() { m.s.start(); close(ready) }))
	select {
	case <-ready:
		at.tune(o)
		return m, nil
	case <-m.done:
		at.detach(true)
		if m.err == nil {
			m.err = syscall.ENOTCONN
		}
		return nil, fmt.Errorf("mount %s: the kernel did not begin: %w", o.MountPoint, m.err)
	}
}

// serve has the driver answer until the connection ends, or this process leaves
// it to another.
func (m *mounted) serve(ready func()) {
	err := m.d.Serve(m.conn(), m.s, ready)
	for errors.Is(err, ErrPaused) {
		m.paused <- struct{}{}
		if !<-m.goOn {
			m.left()
			return
		}
		err = m.d.Serve(m.conn(), m.s, ready)
	}
	m.at.notify.close()
	m.s.stop()
	owned.remove(m.o.MountPoint)
	m.err = err
	close(m.done)
}

func (m *mounted) Wait() error {
	<-m.done
	return m.err
}

func (m *mounted) Unmount() error {
	select {
	case <-m.done:
		return m.err
	default:
	}
	goOn := m.s.touches.suspend()
	err := m.at.detach(false)
	goOn()
	if err != nil {
		if m.at.gone() {
			return m.endRemains()
		}
		if errors.Is(err, syscall.EBUSY) {
			return fmt.Errorf("unmount %s: %w: in use by %s", m.o.MountPoint, syscall.EBUSY, describeUsers(m.o.MountPoint))
		}
		return fmt.Errorf("unmount %s: %w", m.o.MountPoint, err)
	}
	return m.waitElsewhere()
}

// remainsPatience bounds the wait for the end of a mount that somebody else
// has unmounted.
const remainsPatience = time.Second

// endRemains ends a mount that somebody has unmounted lazily (umount -l): it
// lives on for the files that are open in it, and whoever wants it ended may
// not have to wait for them.
func (m *mounted) endRemains() error {
	select {
	case <-m.done:
		return m.err
	case <-time.After(remainsPatience):
	}
	if who := m.at.holders(); who != "" {
		return fmt.Errorf("unmount %s: %w: gone here, but still mounted for %s", m.o.MountPoint, syscall.EBUSY, who)
	}
	m.o.Log.Info("ending what was left of a mount that somebody else unmounted", "at", m.o.MountPoint)
	if !m.at.cut() {
		return fmt.Errorf("unmount %s: %w: gone, but files of it are still open", m.o.MountPoint, syscall.EBUSY)
	}
	return m.waitElsewhere()
}

// waitElsewhere waits for the end of a mount that is detached here, unless
// another mount namespace holds a copy of it.
func (m *mounted) waitElsewhere() error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-m.done:
			return m.err
		case <-ticker.C:
			if who := m.at.holders(); who != "" {
				return fmt.Errorf("unmount %s: %w: gone here, but still mounted for %s", m.o.MountPoint, syscall.EBUSY, who)
			}
		}
	}
}

func (m *mounted) Detach() error {
	if err := m.at.detach(true); err != nil {
		return fmt.Errorf("unmount %s: %w", m.o.MountPoint, err)
	}
	return nil
}

func (m *mounted) Abort() {
	m.at.abort()
	m.at.detach(true)
}

func (m *mounted) Stats() Stats { return m.s.Stats() }

func (m *mounted) Capabilities() Capabilities { return m.d.Capabilities() }

// ownedMounts are the mount points that this process serves, which it must
// not touch.
type ownedMounts struct {
	mu    sync.Mutex
	paths map[string]bool // guarded by mu
}

var owned = ownedMounts{paths: map[string]bool{}}

func (w *ownedMounts) add(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paths[path] = true
}

func (w *ownedMounts) remove(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.paths, path)
}

// holding returns the mount point of ours that path is at or below.
func (w *ownedMounts) holding(path string) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for own := range w.paths {
		if path == own || strings.HasPrefix(path, own+"/") {
			return own, true
		}
	}
	return "", false
}
