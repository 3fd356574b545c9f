package memfs

import (
	"sort"

	"github.com/vfsd/vfsd/vfs"
)

// directory is what a directory inode holds. FS.mu guards it.
//
// Each entry has a sequence number, its cookie, given when the name appears
// and kept while the name stays, whatever inode it is bound to. So a listing
// is a walk up the sequence: what is deleted disturbs nobody's position.
type directory struct {
	parent vfs.Ino
	names  map[string]*entry
	order  []*entry // by seq; a removed entry's ino is 0
	dead   int      // removed entries in order
	seq    uint64   // the last one given
}

type entry struct {
	name string
	ino  vfs.Ino
	seq  uint64
}

func newDirectory(parent vfs.Ino) *directory {
	return &directory{parent: parent, names: map[string]*entry{}}
}

// bind makes name lead to ino, whatever it led to before.
func (d *directory) bind(name string, ino vfs.Ino) {
	if e := d.names[name]; e != nil {
		e.ino = ino
		return
	}
	d.seq++
	e := &entry{name: name, ino: ino, seq: d.seq}
	d.names[name] = e
	d.order = append(d.order, e)
}

func (d *directory) unbind(name string) {
	e := d.names[name]
	delete(d.names, name)
	e.ino = 0
	d.dead++
	if d.dead < 16 || d.dead <= len(d.order)/2 {
		return
	}
	live := make([]*entry, 0, len(d.names))
	for _, e := range d.order {
		if e.ino != 0 {
			live = append(live, e)
		}
	}
	d.order, d.dead = live, 0
}

// dirHandle is an open directory.
type dirHandle struct {
	fs *FS
	n  *inode
	// last is the highest sequence that the present listing shows; guarded by
	// FS.mu. Without it a listing that renames what it sees would never end.
	last uint64
}

// OpenDir opens the directory ino for listing.
func (fs *FS) OpenDir(op *vfs.Op, ino vfs.Ino) (vfs.DirHandle, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	n, err := fs.getDir(op, ino, vfs.MayRead)
	if err != nil {
		return nil, err
	}
	n.opens++
	return &dirHandle{fs: fs, n: n, last: n.dir.seq}, nil
}

func (h *dirHandle) Ino() vfs.Ino { return h.n.attr.Ino }

func (h *dirHandle) ReadDir(op *vfs.Op, cookie uint64, attrs bool, emit func(*vfs.DirEntry) bool) error {
	if cookie == 0 {
		h.fs.mu.Lock()
		h.last = h.n.dir.seq
		h.fs.mu.Unlock()
	}
	h.list(cookie, attrs, emit)
	if !op.NoAtime {
		h.fs.accessed(op, h.n)
	}
	return nil
}

func (h *dirHandle) list(cookie uint64, attrs bool, emit func(*vfs.DirEntry) bool) {
	h.fs.mu.RLock()
	defer h.fs.mu.RUnlock()
	order := h.n.dir.order
	i := sort.Search(len(order), func(i int) bool { return order[i].seq > cookie })
	var out vfs.DirEntry
	var attr vfs.Attr
	for _, e := range order[i:] {
		if e.seq > h.last {
			return
		}
		if e.ino == 0 {
			continue
		}
		n := h.fs.inodes[e.ino]
		out = vfs.DirEntry{Name: e.name, Ino: e.ino, Mode: n.attr.Mode, Cookie: e.seq}
		if attrs {
			attr = n.attr
			out.Attr = &attr
		}
		if !emit(&out) {
			return
		}
	}
}

func (h *dirHandle) Fsync(op *vfs.Op, dataOnly bool) error { return nil }

func (h *dirHandle) Release(op *vfs.Op) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	h.n.opens--
	h.fs.drop(h.n)
}
