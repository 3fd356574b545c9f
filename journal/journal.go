package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/tidwall/wal"

	"github.com/vfsd/vfsd/internal/hostfs"
)

// ErrLocked is in the chain of Open's error when the journal is open already,
// in this process or another.
var ErrLocked = errors.New("the journal is open already")

// ErrFailed is in the chain of every error of a journal that an earlier error
// has stopped; so is that first error.
var ErrFailed = errors.New("the journal has stopped after an error")

// Options say where a journal is and how to keep it. Only Dir is required.
type Options struct {
	FS  hostfs.FS // the host's files; nil is hostfs.OS
	Dir string    // the journal's own directory; made if missing, in one that exists
	// First is the LSN of the first record, 1 if 0. A directory that holds a
	// journal with another first LSN is refused as corrupt, because then a
	// segment is missing or the wrong directory was named; 0 accepts any.
	First LSN
	// SegmentSize is the size in bytes that ends a segment; a record may
	// reach beyond it. 0 is 4 MiB, the most is 64 MiB. A segment is also
	// held in memory while it is the last.
	SegmentSize int
	// Reserve is how much disk space to keep for ReleaseReserve, in bytes.
	Reserve int64
	Log     *slog.Logger // nil discards
}

const (
	defaultSegmentSize = 4 << 20
	lockName           = "LOCK"
	reserveName        = "RESERVE"
)

func (o *Options) fill() error {
	if o.Dir == "" {
		return errors.New("no directory")
	}
	if o.FS == nil {
		o.FS = hostfs.OS{}
	}
	if o.SegmentSize == 0 {
		o.SegmentSize = defaultSegmentSize
	}
	if o.SegmentSize < 0 || o.SegmentSize > maxSegmentSize {
		return fmt.Errorf("segment size %d is not in 1..%d", o.SegmentSize, maxSegmentSize)
	}
	if o.First > MaxLSN {
		return fmt.Errorf("first LSN %d is above %d", o.First, uint64(MaxLSN))
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	o.Dir, err = filepath.Abs(o.Dir)
	return err
}

// Journal is an open journal. Its methods are safe for concurrent use.
type Journal struct {
	fs          hostfs.FS
	dir         string
	segmentSize int64
	slog        *slog.Logger
	lock        hostfs.File // the flocked LOCK file
	reserveSize int64

	applied atomic.Uint64 // written under mu
	durable atomic.Uint64 // written under mu
	size    atomic.Int64  // written under mu

	mu       sync.Mutex
	fsynced  sync.Cond // on mu: an fsync has ended
	log      *wal.Log  // guarded by mu
	tail     segment   // guarded by mu; its file is used without mu while fsyncing is set
	first    LSN       // guarded by mu
	dropped  *Torn     // guarded by mu
	fsyncing bool      // guarded by mu: somebody leads an fsync without holding mu
	appended bool      // guarded by mu: Replay's time is over
	err      error     // guarded by mu: the first error
	closed   bool      // guarded by mu
	buf      []byte    // guarded by mu: the record being written
}

// segment is the last segment.
type segment struct {
	path  string
	first LSN
	size  int64
	file  hostfs.File // to fsync it; wal has its own descriptor to write it
}

// Open opens the journal in a directory, or makes one. It takes the
// directory's lock or fails with ErrLocked, verifies every record, drops a torn
// tail (see Dropped) and refuses other damage with an error that wraps
// vfs.ErrCorrupt. All records found are durable when it returns.
func Open(o Options) (*Journal, error) {
	if err := o.fill(); err != nil {
		return nil, fmt.Errorf("journal: open: %w", err)
	}
	j := &Journal{
		fs: o.FS, dir: o.Dir, segmentSize: int64(o.SegmentSize), slog: o.Log, reserveSize: o.Reserve,
	}
	j.fsynced.L = &j.mu
	if err := j.open(o.First); err != nil {
		j.release()
		return nil, err
	}
	if err := j.RestoreReserve(); err != nil {
		// The journal is whole without it, and a full disk is when it is
		// opened to make room.
		j.slog.Warn("journal has no reserve", "dir", j.dir, "err", err)
	}
	return j, nil
}

// open does the work of Open; what it has opened when it fails, release closes.
func (j *Journal) open(first LSN) error {
	if err := j.makeDir(); err != nil {
		return fmt.Errorf("journal: open: %w", err)
	}
	lock, err := j.fs.OpenFile(filepath.Join(j.dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("journal: open: %w", err)
	}
	j.lock = lock
	if err := lock.Lock(); errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("journal: open %s: %w", j.dir, ErrLocked)
	} else if err != nil {
		return fmt.Errorf("journal: open: %w", err)
	}
	return j.load(first)
}

// makeDir makes the directory and its name durable.
func (j *Journal) makeDir() error {
	err := j.fs.Mkdir(j.dir, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return j.fs.SyncDir(filepath.Dir(j.dir))
}

// load scrubs and opens the segments.
func (j *Journal) load(first LSN) error {
	s := scrubber{fs: j.fs, dir: j.dir}
	if err := s.run(); err != nil {
		return err
	}
	if s.report.Segments == 0 {
		first = max(first, 1)
		if err := j.makeSegment(first); err != nil {
			return err
		}
		s.report.First, s.report.Last = first, first-1
	} else {
		if first != 0 && first != s.report.First {
			return &CorruptError{segmentPath(j.dir, s.report.First), 0, first, "the journal's first segment is missing"}
		}
		if err := j.mend(&s); err != nil {
			return err
		}
	}
	j.dropped = s.report.Torn
	j.first = s.report.First
	j.size.Store(s.report.Bytes)
	j.applied.Store(uint64(s.report.Last))
	j.durable.Store(uint64(s.report.Last))
	if err := j.openLog(); err != nil {
		return fmt.Errorf("journal: open %s: %w", j.dir, err)
	}
	return nil
}

// makeSegment makes the segment that begins with first, durable as a name and
// empty, and the tail of the journal.
func (j *Journal) makeSegment(first LSN) error {
	path := segmentPath(j.dir, first)
	// Not O_EXCL: a failed attempt may have left it behind, empty as it is.
	f, err := j.fs.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("journal: make segment: %w", err)
	}
	if err := j.fs.SyncDir(j.dir); err != nil {
		return errors.Join(fmt.Errorf("journal: make segment %s: %w", path, err), f.Close())
	}
	j.tail = segment{path: path, first: first, file: f}
	return nil
}

// mend makes what was found in the last segment durable: it cuts off a torn
// tail, writes the good records again in place, fsyncs, and opens the segment
// as the journal's tail.
//
// Writing again is what upholds invariant 4. After a failed fsync the kernel
// may hold pages that it believes clean and the disk never got; an fsync of
// them succeeds and does nothing. The bytes are the same, so a power cut here
// can take nothing away.
func (j *Journal) mend(s *scrubber) error {
	f, err := j.fs.OpenFile(s.last.path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("journal: open: %w", err)
	}
	good := s.data
	if torn := s.report.Torn; torn != nil {
		good = good[:torn.Offset]
		j.slog.Warn("journal drops a torn tail", "tail", torn)
	}
	j.tail = segment{path: s.last.path, first: s.last.first, size: int64(len(good)), file: f}
	if s.report.Torn != nil {
		if err := f.Truncate(int64(len(good))); err != nil {
			return fmt.Errorf("journal: drop torn tail: %w", err)
		}
	}
	if len(good) > 0 {
		if _, err := f.WriteAt(good, 0); err != nil {
			return fmt.Errorf("journal: rewrite %s: %w", s.last.path, err)
		}
	}
	if len(s.data) > 0 {
		if err := f.Sync(); err != nil {
			return fmt.Errorf("journal: open: fsync %s: %w", s.last.path, err)
		}
	}
	if err := j.fs.SyncDir(j.dir); err != nil {
		return fmt.Errorf("journal: open: fsync %s: %w", j.dir, err)
	}
	return nil
}

// openLog gives the directory to wal, which finds the tail as its last
// segment. wal must not begin segments by itself: it would do so in the write
// that filled the last one, whose record is then complete even if that fails,
// and behind the seam's back.
func (j *Journal) openLog() error {
	log, err := wal.Open(j.dir, &wal.Options{
		NoSync:           true,
		SegmentSize:      math.MaxInt,
		SegmentCacheSize: 1,
		NoCopy:           true,
		AllowEmpty:       true,
		DirPerms:         0o700,
		FilePerms:        0o600,
	})
	if err != nil {
		return err
	}
	j.log = log
	last, err := log.LastIndex()
	if err != nil {
		return err
	}
	if LSN(last) != j.Applied() {
		return fmt.Errorf("wal finds %d as the last record, not %d", last, j.Applied())
	}
	return nil
}

// closeLog closes wal's descriptor. wal leaves it open when the fsync that it
// insists on fails, but such an error is reported once, so the second call
// gets through.
func closeLog(log *wal.Log) error {
	err := log.Close()
	if err != nil && !errors.Is(err, wal.ErrClosed) {
		err = errors.Join(err, log.Close())
	}
	return err
}

// release closes all descriptors. With mu held, or before anybody else can
// know the journal.
func (j *Journal) release() error {
	err := j.releaseTail()
	if j.lock != nil {
		err = errors.Join(err, j.lock.Close())
		j.lock = nil
	}
	return err
}

// releaseTail closes what belongs to the last segment.
func (j *Journal) releaseTail() error {
	var err error
	if j.log != nil {
		err = closeLog(j.log)
		j.log = nil
	}
	if j.tail.file != nil {
		err = errors.Join(err, j.tail.file.Close())
		j.tail.file = nil
	}
	return err
}

// Close makes everything durable, unless the journal has failed, and gives up
// the directory. The error is the fsync's, or from closing.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return fmt.Errorf("journal: close %s: %w", j.dir, os.ErrClosed)
	}
	var err error
	if j.err == nil {
		err = j.fsync(j.Applied())
	}
	for j.fsyncing {
		j.fsynced.Wait()
	}
	if j.closed {
		return errors.Join(err, fmt.Errorf("journal: close %s: %w", j.dir, os.ErrClosed))
	}
	j.closed = true
	j.fsynced.Broadcast()
	return errors.Join(err, j.release())
}

// Reopen is the way out of failure that keeps the lock and the LSNs: it closes
// the segments, scrubs, drops what a failed Append has left, makes the rest
// durable and goes on. It fails, and the journal stays stopped, while the disk
// does, and with vfs.ErrCorrupt in the chain if records that Append had
// acknowledged are gone. A journal that has not failed may be reopened too.
func (j *Journal) Reopen() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.fsyncing {
		j.fsynced.Wait()
	}
	if j.closed {
		return fmt.Errorf("journal: reopen %s: %w", j.dir, os.ErrClosed)
	}
	if err := j.reload(); err != nil {
		j.fail("reopen", err)
		return err
	}
	j.err = nil
	return nil
}

func (j *Journal) reload() error {
	applied, durable, size := j.applied.Load(), j.durable.Load(), j.size.Load()
	if err := j.releaseTail(); err != nil {
		// The descriptors are gone all the same, and what they had not
		// flushed is written again below.
		j.slog.Warn("journal closes a failed segment", "dir", j.dir, "err", err)
	}
	err := j.load(j.first)
	if found := j.applied.Load(); err == nil && found != applied {
		err = &CorruptError{j.tail.path, j.tail.size, LSN(found) + 1,
			fmt.Sprintf("the records from here to LSN %d were appended and are gone", applied)}
	}
	if err != nil {
		j.applied.Store(applied)
		j.durable.Store(durable)
		j.size.Store(size)
	}
	return err
}

// fail stops the journal with its first error and returns what to tell the
// caller. With mu held.
func (j *Journal) fail(op string, cause error) error {
	if j.err == nil {
		j.err = cause
		j.slog.Error("journal stops", "dir", j.dir, "op", op, "err", cause)
	}
	j.fsynced.Broadcast()
	return fmt.Errorf("journal: %s: %w: %w", op, ErrFailed, cause)
}

// usable returns why the journal takes no more work. With mu held.
func (j *Journal) usable(op string) error {
	if j.closed {
		return fmt.Errorf("journal: %s: %w", op, os.ErrClosed)
	}
	if j.err != nil {
		return fmt.Errorf("journal: %s: %w: %w", op, ErrFailed, j.err)
	}
	return nil
}

// Applied returns the LSN of the last record appended, or First-1.
func (j *Journal) Applied() LSN { return LSN(j.applied.Load()) }

// Durable returns the LSN of the last record known to be fsynced, or First-1.
func (j *Journal) Durable() LSN { return LSN(j.durable.Load()) }

// Size returns the bytes of all records on disk, the reserve apart.
func (j *Journal) Size() int64 { return j.size.Load() }

// Dropped returns the torn tail that Open (or the last Reopen) dropped, or nil.
func (j *Journal) Dropped() *Torn {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.dropped
}

// Err returns the error that has stopped the journal, or nil.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}
