package workspace

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/vfs"
)

// Staging holds bytes that are acknowledged but not yet chunked. A staging file
// is only ever appended to: a place in it, once journaled, never changes, so
// readers need no lock, a checkpoint sees what it froze, and a checksum of
// what was written tells after a power cut whether the bytes made it.
//
//	staging/EPOCH-SEQUENCE     both decimal; bytes as they were written
const stagingMax = 256 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// stagingID names a staging file: the journal epoch it belongs to and a count.
type stagingID struct {
	epoch uint64
	seq   uint64
}

func (id stagingID) String() string { return fmt.Sprintf("%d-%d", id.epoch, id.seq) }

func parseStagingID(name string) (stagingID, bool) {
	a, b, ok := strings.Cut(name, "-")
	if !ok {
		return stagingID{}, false
	}
	epoch, err1 := strconv.ParseUint(a, 10, 64)
	seq, err2 := strconv.ParseUint(b, 10, 64)
	id := stagingID{epoch, seq}
	return id, err1 == nil && err2 == nil && id.String() == name
}

// stagingFile is one append-only file. It is closed and removed when its last
// reference goes.
type stagingFile struct {
	id   stagingID
	f    hostfs.File
	fsys hostfs.FS
	refs atomic.Int32 // one for its staging, one for each reader under way
	end  int64        // next free offset; guarded by staging.mu
	busy int          // writes under way; guarded by staging.mu
	sums []sumOf      // of long stretches, by where they are; guarded by staging.mu

	syncMu   sync.Mutex
	synced   int64 // all bytes before it are durable; guarded by syncMu
	named    bool  // its directory entry is durable; guarded by syncMu
	syncFail error // an fsync that failed stays failed; guarded by syncMu
}

// acquire takes a reference unless the file is gone already.
func (f *stagingFile) acquire() { f.refs.Add(1) }

func (f *stagingFile) release() error {
	if f.refs.Add(-1) > 0 {
		return nil
	}
	err := f.f.Close()
	if rerr := f.fsys.Remove(f.f.Name()); err == nil && rerr != nil {
		err = rerr
	}
	return err
}

// fsync makes the bytes before upTo durable. complete is an offset before which
// no write was under way when the caller looked: only that far may later calls
// be spared.
func (f *stagingFile) fsync(upTo, complete int64) error {
	f.syncMu.Lock()
	defer f.syncMu.Unlock()
	if f.syncFail != nil {
		return f.syncFail
	}
	if f.named && f.synced >= upTo {
		return nil
	}
	err := f.f.Sync()
	if err == nil && !f.named {
		err = f.fsys.SyncDir(filepath.Dir(f.f.Name()))
	}
	if err != nil {
		f.syncFail = fmt.Errorf("fsync staging file %s: %w", f.f.Name(), err)
		return f.syncFail
	}
	f.named = true
	f.synced = max(f.synced, complete)
	return nil
}

// staging appends to the staging files of one workspace.
type staging struct {
	fsys hostfs.FS
	dir  string

	appended atomic.Int64 // bytes in this epoch
	budget   atomic.Int64 // bytes that may come before the free space is looked at again

	mu    sync.Mutex
	epoch uint64
	seq   uint64
	cur   *stagingFile
	files map[stagingID]*stagingFile // all that are not retired
}

func openStaging(fsys hostfs.FS, dir string, epoch uint64) (*staging, error) {
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &staging{fsys: fsys, dir: dir, epoch: epoch, files: map[stagingID]*stagingFile{}}, nil
}

// append writes p and returns where it is and its checksum. The place stays
// private until it is journaled; after an error it is lost, which costs space
// until the next checkpoint and nothing else.
func (s *staging) append(p []byte) (f *stagingFile, at int64, sum uint32, err error) {
	if s.budget.Add(-int64(len(p))) < 0 {
		if err := s.refill(int64(len(p))); err != nil {
			return nil, 0, 0, err
		}
	}
	f, at, err = s.place(int64(len(p)))
	if err != nil {
		return nil, 0, 0, err
	}
	_, err = f.f.WriteAt(p, at)
	if err == nil {
		sum = crc32.Checksum(p, castagnoli)
	}
	s.mu.Lock()
	f.busy--
	if err == nil && len(p) >= longStretch {
		f.remember(sumOf{at, int64(len(p)), sum})
	}
	s.mu.Unlock()
	if rerr := f.release(); err == nil {
		err = rerr
	}
	if err != nil {
		return nil, 0, 0, fmt.Errorf("write staging file %s: %w", f.f.Name(), err)
	}
	return f, at, sum, nil
}

// place sets n bytes of the current file apart and takes a reference to it. A
// long stretch begins a page: the host's page cache copies whole pages faster.
func (s *staging) place(n int64) (f *stagingFile, at int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f = s.cur
	if f == nil || f.end+n > stagingMax && f.end > 0 {
		if f, err = s.next(); err != nil {
			return nil, 0, err
		}
	}
	at = f.end
	if n >= longStretch {
		at = blockCeil(at)
	}
	s.appended.Add(at + n - f.end)
	f.end = at + n
	f.busy++
	f.acquire()
	return f, at, nil
}

// spaceFloor is how much of the disk data may not take: what it needs to become
// less full, journal records and a checkpoint of a few deletions, must go on.
const spaceFloor = 4 << 20

// refill looks at the free space: ENOSPC when n bytes would go below the floor.
func (s *staging) refill(n int64) error {
	u, err := s.fsys.Usage(s.dir)
	if err != nil {
		return err
	}
	room := int64(min(u.Available, 1<<40)) - spaceFloor - n
	if room < 0 {
		s.budget.Store(0)
		return fmt.Errorf("stage %d bytes: %d MiB are free: %w", n, u.Available>>20, syscall.ENOSPC)
	}
	s.budget.Store(room / 2) // others write to the disk too
	return nil
}

// next starts a new staging file; s.mu is held.
func (s *staging) next() (*stagingFile, error) {
	id := stagingID{s.epoch, s.seq + 1}
	f, err := s.open(id, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	s.seq++
	s.cur = f
	return f, nil
}

func (s *staging) open(id stagingID, flags int) (*stagingFile, error) {
	name := filepath.Join(s.dir, id.String())
	h, err := s.fsys.OpenFile(name, os.O_RDWR|flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open staging file: %w", err)
	}
	f := &stagingFile{id: id, f: h, fsys: s.fsys}
	f.refs.Store(1)
	s.files[id] = f
	return f, nil
}

// reopen opens a file that the journal names, making it when a power cut took
// it, so that its missing bytes are seen as missing.
func (s *staging) reopen(id stagingID) (*stagingFile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[id]; f != nil {
		return f, nil
	}
	f, err := s.open(id, os.O_CREATE)
	if err != nil {
		return nil, err
	}
	f.end, err = f.f.Size()
	if id.epoch == s.epoch {
		s.seq = max(s.seq, id.seq)
	}
	return f, err
}

// rotate makes later appends go to files of a new epoch.
func (s *staging) rotate(epoch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch, s.seq, s.cur = epoch, 0, nil
	s.appended.Store(0)
}

// size returns how many bytes are staged in all.
func (s *staging) size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var n int64
	for _, f := range s.files {
		n += f.end
	}
	return n
}

// complete returns how far f is written without a gap; s.mu is held.
func (f *stagingFile) complete() int64 {
	if f.busy > 0 {
		return 0
	}
	return f.end
}

// fsync makes every byte appended so far durable.
func (s *staging) fsync() error {
	s.mu.Lock()
	all := make([]*stagingFile, 0, len(s.files))
	for _, f := range s.files {
		all = append(all, f)
	}
	s.mu.Unlock()
	var err error
	for _, f := range all {
		if ferr := s.fsyncFile(f, 1<<63-1); err == nil {
			err = ferr
		}
	}
	return err
}

// fsyncFile makes the bytes of one file before upTo durable, or all of them.
func (s *staging) fsyncFile(f *stagingFile, upTo int64) error {
	s.mu.Lock()
	if s.files[f.id] != f {
		s.mu.Unlock()
		return nil // retired meanwhile: its bytes are in the tree, durably
	}
	upTo = min(upTo, f.end)
	complete := f.complete()
	f.acquire()
	s.mu.Unlock()
	err := f.fsync(upTo, complete)
	if rerr := f.release(); err == nil {
		err = rerr
	}
	return err
}

// retire forgets the files of epochs before epoch that keep does not want; they
// vanish when their last reader is done.
func (s *staging) retire(epoch uint64, keep func(*stagingFile) bool) error {
	s.mu.Lock()
	var gone []*stagingFile
	for id, f := range s.files {
		if id.epoch < epoch && !keep(f) {
			delete(s.files, id)
			gone = append(gone, f)
		}
	}
	s.mu.Unlock()
	var err error
	for _, f := range gone {
		if rerr := f.release(); err == nil {
			err = rerr
		}
	}
	return err
}

// close lets go of every file and leaves them on disk.
func (s *staging) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, f := range s.files {
		if cerr := f.f.Close(); err == nil {
			err = cerr
		}
	}
	s.files, s.cur = map[stagingID]*stagingFile{}, nil
	return err
}

// removeUnknown deletes the staging files that nothing refers to once the
// journal is replayed: those of epochs that are in the tree already, and those
// whose bytes were never journaled.
func (s *staging) removeUnknown() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	names, err := s.fsys.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		name := filepath.Join(s.dir, n.Name())
		id, ok := parseStagingID(n.Name())
		if !ok {
			return fmt.Errorf("%s: no staging file of ours: %w", name, vfs.ErrCorrupt)
		}
		if s.files[id] == nil {
			if err := s.fsys.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// readStaged fills p from a staging file.
func readStaged(f *stagingFile, p []byte, at int64) error {
	if n, err := f.f.ReadAt(p, at); n < len(p) {
		return fmt.Errorf("read staging file %s at %d: %w: %w", f.f.Name(), at, err, vfs.ErrCorrupt)
	}
	return nil
}
