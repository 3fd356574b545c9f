package chunk

import (
	"container/list"
	"errors"
	"os"
	"sync"

	"github.com/vfsd/vfsd/internal/hostfs"
)

// maxOpenFiles bounds the packs that are open only for reading.
const maxOpenFiles = 256

// files keeps pack files open: those being written, and of the others the most
// recently read.
type files struct {
	fs  hostfs.FS
	max int // files that are not pinned

	mu     sync.Mutex
	closed bool               // guarded by mu
	open   map[uint32]*handle // guarded by mu; by pack number
	lru    *list.List         // guarded by mu; pack numbers, not pinned, newest first
}

// handle is an open pack file. It is closed when it has left files.open and
// nobody holds it.
type handle struct {
	hostfs.File
	no   uint32
	refs int           // guarded by files.mu
	gone bool          // guarded by files.mu; left files.open
	elem *list.Element // guarded by files.mu; nil while pinned
}

func newFiles(fs hostfs.FS) *files {
	return &files{fs: fs, max: maxOpenFiles, open: make(map[uint32]*handle), lru: list.New()}
}

// acquire returns the open file of a pack; release gives it back.
func (f *files) acquire(pk *pack) (*handle, error) {
	if h := f.lookup(pk.no); h != nil {
		return h, nil
	}
	file, err := f.fs.OpenFile(pk.path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.open[pk.no]
	switch {
	case f.closed:
		return nil, errors.Join(os.ErrClosed, file.Close())
	case h != nil: // somebody else was faster
		file.Close()
	default:
		h = &handle{File: file, no: pk.no}
		f.open[pk.no] = h
		f.unpin(h)
	}
	h.refs++
	return h, nil
}

func (f *files) lookup(no uint32) *handle {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.open[no]
	if h != nil {
		h.refs++
		if h.elem != nil {
			f.lru.MoveToFront(h.elem)
		}
	}
	return h
}

func (f *files) release(h *handle) {
	f.mu.Lock()
	h.refs--
	last := h.gone && h.refs == 0
	f.mu.Unlock()
	if last {
		// It was read from, or written and fsynced: a failing close loses nothing.
		h.Close()
	}
}

// pin adds the file of a pack that is being written. It stays open until
// settle or drop.
func (f *files) pin(no uint32, file hostfs.File) *handle {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := &handle{File: file, no: no}
	f.open[no] = h
	return h
}

// settle makes the file of a pack one that may be closed at any time.
func (f *files) settle(no uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if h := f.open[no]; h != nil && h.elem == nil {
		f.unpin(h)
	}
}

func (f *files) unpin(h *handle) {
	h.elem = f.lru.PushFront(h.no)
	for f.lru.Len() > f.max {
		f.forget(f.open[f.lru.Back().Value.(uint32)])
	}
}

// drop closes the file of a pack as soon as nobody reads it.
func (f *files) drop(no uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if h := f.open[no]; h != nil {
		f.forget(h)
	}
}

func (f *files) forget(h *handle) {
	delete(f.open, h.no)
	if h.elem != nil {
		f.lru.Remove(h.elem)
	}
	h.gone = true
	if h.refs == 0 {
		h.Close()
	}
}

// close drops all files; none can be opened any more.
func (f *files) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, h := range f.open {
		f.forget(h)
	}
}
