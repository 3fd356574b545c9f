package workspace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/hostfs"
)

// What a peer sends lies in the chunk store and nothing refers to it until the
// import is finished. A *ledger* beside the head lists it, so that a collection
// leaves it alone, and a transfer that broke can go on where it stopped:
//
//	workspaces/NAME/incoming/TARGET    "vfsdINCM":8  version:4 little-endian  digest:32 ...
//
// TARGET is the commit in hex. An id is listed before its bytes are stored. A
// ledger is a hint: the last ids may be missing after a crash, an incomplete one
// at its end is passed over. One that nobody has gone on with for a week goes,
// and the oldest of more than 16.
const (
	incomingName   = "incoming"
	ledgerMagic    = "vfsdINCM"
	ledgerVersion  = 1
	ledgerHeader   = len(ledgerMagic) + 4
	ledgerLimit    = 1 << 30 // bytes: 32 million ids
	maxLedgers     = 16
	ledgerLifetime = 7 * 24 * time.Hour
	// ledgerBuffer is how many ids may be missing after a kill, ledgerBytes how
	// many bytes they may name.
	ledgerBuffer = 64
	ledgerBytes  = 1 << 20
)

// ledger is an open one.
type ledger struct {
	fsys hostfs.FS
	path string

	mu      sync.Mutex
	f       hostfs.File // guarded by mu; nil once it is gone
	at      int64       // guarded by mu: where the next id goes
	pending []byte      // guarded by mu: ids not in the file yet
	bytes   int         // guarded by mu: what they name
}

func incomingDir(dir string) string { return filepath.Join(dir, incomingName) }

func openLedger(fsys hostfs.FS, dir string, target chunk.ID) (*ledger, error) {
	if err := fsys.MkdirAll(incomingDir(dir), 0o700); err != nil {
		return nil, err
	}
	if err := dropOldLedgers(fsys, dir); err != nil {
		return nil, err
	}
	l := &ledger{fsys: fsys, path: filepath.Join(incomingDir(dir), target.String())}
	f, err := fsys.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err == nil {
		header := binary.LittleEndian.AppendUint32([]byte(ledgerMagic), ledgerVersion)
		_, err = f.WriteAt(header, 0)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	l.f = f
	l.at = int64(ledgerHeader) + max(0, size-int64(ledgerHeader))/chunk.IDSize*chunk.IDSize
	return l, nil
}

// add lists an id before n bytes are stored under it.
func (l *ledger) add(id chunk.ID, n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return os.ErrClosed
	}
	if l.at+int64(len(l.pending)) >= ledgerLimit {
		return fmt.Errorf("import of more than %d chunks: %w", ledgerLimit/chunk.IDSize, ErrInvalid)
	}
	l.pending = append(l.pending, id[:]...)
	l.bytes += n
	if len(l.pending) < ledgerBuffer*chunk.IDSize && l.bytes < ledgerBytes {
		return nil
	}
	return l.flush()
}

// flush takes what is pending to the page cache. mu is held.
func (l *ledger) flush() error {
	if l.f == nil || len(l.pending) == 0 {
		return nil
	}
	if _, err := l.f.WriteAt(l.pending, l.at); err != nil {
		return err
	}
	l.at += int64(len(l.pending))
	l.pending, l.bytes = l.pending[:0], 0
	return nil
}

// close keeps the file, for the transfer to go on, or removes it.
func (l *ledger) close(remove bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	err := l.flush()
	if cerr := l.f.Close(); err == nil {
		err = cerr
	}
	l.f = nil
	if remove {
		err = l.fsys.Remove(l.path)
	}
	return err
}

// ledgers lists the ledger files of a workspace, the oldest first.
func ledgers(fsys hostfs.FS, dir string) ([]fs.FileInfo, error) {
	names, err := fsys.ReadDir(incomingDir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []fs.FileInfo
	for _, n := range names {
		if _, err := chunk.ParseID(n.Name()); err != nil {
			continue
		}
		st, err := fsys.Stat(filepath.Join(incomingDir(dir), n.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, st)
	}
	slices.SortStableFunc(all, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	return all, nil
}

func dropOldLedgers(fsys hostfs.FS, dir string) error {
	all, err := ledgers(fsys, dir)
	if err != nil {
		return err
	}
	for i, st := range all {
		if len(all)-i < maxLedgers && time.Since(st.ModTime()) < ledgerLifetime {
			break
		}
		if err := fsys.Remove(filepath.Join(incomingDir(dir), st.Name())); err != nil {
			return err
		}
	}
	return nil
}

// readLedgers calls fn for every id in the ledgers of a workspace that are not
// too old.
func readLedgers(fsys hostfs.FS, dir string, fn func(chunk.ID)) error {
	all, err := ledgers(fsys, dir)
	if err != nil {
		return err
	}
	for _, st := range all {
		if time.Since(st.ModTime()) >= ledgerLifetime {
			continue
		}
		if err := readLedger(fsys, filepath.Join(incomingDir(dir), st.Name()), fn); err != nil {
			return err
		}
	}
	return nil
}

func readLedger(fsys hostfs.FS, path string, fn func(chunk.ID)) error {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // finished meanwhile
	}
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	buf := make([]byte, 1024*chunk.IDSize)
	for at := int64(ledgerHeader); at+chunk.IDSize <= min(size, ledgerLimit); {
		n := min(int64(len(buf)), (size-at)/chunk.IDSize*chunk.IDSize)
		got, err := f.ReadAt(buf[:n], at)
		if int64(got) < n {
			return err
		}
		for ids := buf[:n]; len(ids) > 0; ids = ids[chunk.IDSize:] {
			fn(chunk.ID(ids[:chunk.IDSize]))
		}
		at += n
	}
	return nil
}
