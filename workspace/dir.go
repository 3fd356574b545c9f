package workspace

import (
	"context"
	"encoding/binary"
	"sync"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// dirHandle is an open directory. A listing reads a frozen view of the names,
// so that positions stay good whatever changes, and leaves out what has gone
// meanwhile.
type dirHandle struct {
	w *Workspace
	n *inode

	mu      sync.Mutex
	listing *listing // guarded by mu; nil before the first ReadDir
}

// listing is one pass over a directory: the entries read so far, packed, and
// the iterator that goes on from there. An entry's cookie is its place in
// offsets, plus one.
type listing struct {
	it      *layersIter
	changed uint64 // Workspace.changed when the view was taken
	packed  []byte // ino:8 type:1 length:1 name
	offsets []uint32
	done    bool
	stale   bool // the directory's access time is to be moved
}

// OpenDir implements vfs.FS.
func (w *Workspace) OpenDir(op *vfs.Op, ino vfs.Ino) (vfs.DirHandle, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.load(ino)
	if err != nil {
		return nil, err
	}
	if !n.v.IsDir() {
		return nil, syscall.ENOTDIR
	}
	if err := w.permit(op, n, vfs.MayRead); err != nil {
		return nil, err
	}
	n.handles++
	return &dirHandle{w: w, n: n}, nil
}

// Ino implements vfs.DirHandle.
func (d *dirHandle) Ino() vfs.Ino { return d.n.ino }

// ReadDir implements vfs.DirHandle.
func (d *dirHandle) ReadDir(op *vfs.Op, cookie uint64, attrs bool, emit func(*vfs.DirEntry) bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if cookie == 0 || d.listing == nil {
		d.listing = d.w.list(d.n)
		if d.listing.stale && !op.NoAtime {
			d.w.touchAtime(d.n)
		}
	}
	l := d.listing
	var e vfs.DirEntry
	var a vfs.Attr
	for ; ; cookie++ {
		ok, err := l.entry(cookie, &e)
		if err != nil || !ok {
			return err
		}
		if !attrs && d.w.unchangedSince(l.changed) {
			if !emit(&e) {
				return nil
			}
			continue
		}
		present, err := d.w.entryAttr(d.n.ino, &e, &a)
		if err != nil {
			return err
		}
		if !present {
			continue
		}
		if attrs {
			e.Attr = &a
		}
		if !emit(&e) {
			return nil
		}
	}
}

func (w *Workspace) list(n *inode) *listing {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n.orphan {
		return &listing{done: true}
	}
	view := w.layers.view()
	lo, hi := inoRange(keyDentry, n.ino)
	return &listing{it: view.iter(context.Background(), lo, hi), changed: w.changed, stale: w.atimeStale(n)}
}

func (w *Workspace) unchangedSince(changed uint64) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.changed == changed
}

// entryAttr reports whether the entry is still bound as it was listed, and its
// inode's attributes.
func (w *Workspace) entryAttr(dir vfs.Ino, e *vfs.DirEntry, a *vfs.Attr) (bool, error) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	b, ok, err := w.layers.get(dentryKey(dir, e.Name))
	if err != nil || !ok {
		return false, err
	}
	v, err := decodeDentry(b)
	if err != nil || v.ino != e.Ino {
		return false, err
	}
	n, err := w.peek(e.Ino)
	if err != nil {
		return false, err
	}
	*a = n.attr()
	return true, nil
}

// entry yields the entry after cookie; false at the end.
func (l *listing) entry(cookie uint64, e *vfs.DirEntry) (bool, error) {
	for uint64(len(l.offsets)) <= cookie {
		if more, err := l.readOne(); err != nil || !more {
			return false, err
		}
	}
	p := l.packed[l.offsets[cookie]:]
	e.Ino = vfs.Ino(binary.LittleEndian.Uint64(p))
	e.Mode = uint32(p[8]) << 12
	e.Name = string(p[10 : 10+int(p[9])])
	e.Cookie, e.Attr = cookie+1, nil
	return true, nil
}

// readOne moves one entry from the iterator to the packed ones.
func (l *listing) readOne() (bool, error) {
	if l.done {
		return false, nil
	}
	k, v, ok := l.it.next()
	if !ok {
		l.done = true
		err := l.it.err()
		l.it = nil
		return false, err
	}
	d, err := decodeDentry(v)
	if err != nil {
		return false, err
	}
	name := keySuffix(k)
	l.offsets = append(l.offsets, uint32(len(l.packed)))
	l.packed = binary.LittleEndian.AppendUint64(l.packed, uint64(d.ino))
	l.packed = append(l.packed, byte(d.mode>>12), byte(len(name)))
	l.packed = append(l.packed, name...)
	return true, nil
}

// Fsync implements vfs.DirHandle: names are in the journal, so all of it is
// one fsync.
func (d *dirHandle) Fsync(op *vfs.Op, dataOnly bool) error { return d.w.fsyncInode(d.n) }

// Release implements vfs.DirHandle.
func (d *dirHandle) Release(op *vfs.Op) { d.w.releaseInode(d.n) }
