package memfs

import (
	"syscall"

	"github.com/tidwall/btree"
	"github.com/vfsd/vfsd/vfs"
)

const pageSize = 4096

type page [pageSize]byte

// data is a file's bytes: a sparse, ordered map of pages. A page that is not
// there is a hole. Bytes of a page beyond the file's size are zero.
type data struct {
	pages btree.Map[int64, *page]
}

// read fills p from off; holes are zero. The caller keeps to the file's size.
func (d *data) read(p []byte, off int64) {
	end := off + int64(len(p))
	at := off // everything before it is filled
	d.pages.Ascend(off/pageSize, func(i int64, pg *page) bool {
		start := i * pageSize
		if start >= end {
			return false
		}
		if start > at {
			clear(p[at-off : start-off])
			at = start
		}
		at += int64(copy(p[at-off:], pg[at-start:]))
		return true
	})
	clear(p[at-off:])
}

// missing counts the pages that a write of [off, off+n) would add.
func (d *data) missing(off, n int64) int64 {
	if n == 0 {
		return 0
	}
	first, last := off/pageSize, (off+n-1)/pageSize
	want := last - first + 1
	d.pages.Ascend(first, func(i int64, _ *page) bool {
		if i > last {
			return false
		}
		want--
		return true
	})
	return want
}

func (d *data) write(p []byte, off int64) {
	for len(p) > 0 {
		i := off / pageSize
		pg, ok := d.pages.Get(i)
		if !ok {
			pg = new(page)
			d.pages.Set(i, pg)
		}
		n := copy(pg[off%pageSize:], p)
		p, off = p[n:], off+int64(n)
	}
}

// punch makes [off, end) read as zero and returns how many pages it freed.
func (d *data) punch(off, end int64) (freed int64) {
	var whole []int64
	d.pages.Ascend(off/pageSize, func(i int64, pg *page) bool {
		start := i * pageSize
		if start >= end {
			return false
		}
		from, to := max(off-start, 0), min(end-start, pageSize)
		if from == 0 && to == pageSize {
			whole = append(whole, i)
		} else {
			clear(pg[from:to])
		}
		return true
	})
	for _, i := range whole {
		d.pages.Delete(i)
	}
	return int64(len(whole))
}

// truncate cuts the data at size and returns how many pages it freed.
func (d *data) truncate(size int64) (freed int64) {
	if pg, ok := d.pages.Get(size / pageSize); ok && size%pageSize != 0 {
		clear(pg[size%pageSize:])
	}
	first := (size + pageSize - 1) / pageSize
	for {
		i, _, ok := d.pages.Max()
		if !ok || i < first {
			return freed
		}
		d.pages.PopMax()
		freed++
	}
}

func (d *data) clear() (freed int64) {
	freed = int64(d.pages.Len())
	d.pages = btree.Map[int64, *page]{}
	return freed
}

// seekData returns the first offset from off on that has data; false if none.
func (d *data) seekData(off int64) (int64, bool) {
	found, at := false, int64(0)
	d.pages.Ascend(off/pageSize, func(i int64, _ *page) bool {
		found, at = true, max(off, i*pageSize)
		return false
	})
	return at, found
}

// seekHole returns the first offset from off on that has none.
func (d *data) seekHole(off int64) int64 {
	next := off / pageSize
	d.pages.Ascend(next, func(i int64, _ *page) bool {
		if i != next {
			return false
		}
		next++
		return true
	})
	return max(off, next*pageSize)
}

// reserve accounts for n more pages, or refuses with ENOSPC.
func (fs *FS) reserve(n int64) error {
	if n > 0 && fs.pages+n > fs.limit {
		return syscall.ENOSPC
	}
	fs.pages += n
	return nil
}

// writeAt puts p into n at off and moves size and times. The caller announces.
func (fs *FS) writeAt(op *vfs.Op, n *inode, p []byte, off int64) error {
	if off < 0 {
		return syscall.EINVAL
	}
	end := off + int64(len(p))
	if end < 0 || uint64(end) > vfs.MaxFileSize {
		return syscall.EFBIG
	}
	if len(p) == 0 {
		return nil
	}
	if err := fs.reserve(n.data.missing(off, int64(len(p)))); err != nil {
		return err
	}
	n.data.write(p, off)
	n.attr.Size = max(n.attr.Size, uint64(end))
	n.modified(op)
	return nil
}

// resize sets the size; the caller moves the times.
func (fs *FS) resize(n *inode, size uint64) {
	if size < n.attr.Size {
		fs.pages -= n.data.truncate(int64(size))
	}
	n.attr.Size = size
	n.attr.Blocks = n.blocks()
}

func (n *inode) blocks() uint64 { return uint64(n.data.pages.Len()) * (pageSize / 512) }

// modified is what a change of data does to attributes: times move, what made
// the file run with privileges goes.
func (n *inode) modified(op *vfs.Op) {
	t := now()
	n.attr.Mtime, n.attr.Ctime = t, t
	n.attr.Blocks = n.blocks()
	n.attr.Mode = vfs.WrittenMode(&n.attr, &op.Cred)
	delete(n.xattrs, xattrCapability)
}
