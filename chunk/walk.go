package chunk

import (
	"bytes"
	"io"
)

// walker reads the records of a pack one after another, from its bytes alone.
// It takes any bytes: what it allocates is bounded by maxFooter and windowSize.
type walker struct {
	r      io.ReaderAt
	end    int64 // where the pack ends
	marker marker

	unread bool // the host failed to read somewhere, so records may be hidden

	win    []byte // bytes of the pack from winOff on
	winOff int64
	buf    []byte // backs win
}

const windowSize = 1 << 20

// item is a stretch of a pack: a record, a damaged record, or bytes that are
// no record at all.
type item struct {
	off, size int64
	rec       record
	known     bool   // the header is intact, so rec is right
	body      []byte // valid until the next call; nil if it cannot be read
	err       error  // what is wrong
}

// at returns the item that begins at off, which is less than w.end.
func (w *walker) at(off int64) item {
	head, err := w.peek(off, recordHeaderSize)
	var r record
	if err == nil {
		r, err = decodeRecord(head, w.marker)
	}
	if err == nil && off+r.size() > w.end {
		err = errTorn
	}
	if err != nil {
		return item{off: off, size: w.resync(off+1) - off, err: err}
	}
	it := item{off: off, size: r.size(), rec: r, known: true}
	it.body, it.err = w.peek(off+recordHeaderSize, int(r.length))
	if it.err == nil && crc(it.body) != r.crc {
		it.err = errBodyCRC
	}
	return it
}

// resync returns the offset of the first whole and verified record from off
// on, or w.end.
func (w *walker) resync(off int64) int64 {
	for off+recordHeaderSize <= w.end {
		n := min(windowSize, w.end-off)
		p, err := w.peek(off, int(n))
		if err != nil {
			// The host cannot read here: try the next sector.
			off += sectorSize - off%sectorSize
			continue
		}
		i := bytes.Index(p, w.marker[:])
		if i < 0 {
			// The marker may straddle the end of the window.
			off += n - int64(len(w.marker)) + 1
			continue
		}
		off += int64(i)
		if w.verified(off) {
			return off
		}
		off++
	}
	return w.end
}

const sectorSize = 4096

// verified reports whether a record begins at off and is right to the last bit.
func (w *walker) verified(off int64) bool {
	head, err := w.peek(off, recordHeaderSize)
	if err != nil {
		return false
	}
	r, err := decodeRecord(head, w.marker)
	if err != nil || off+r.size() > w.end {
		return false
	}
	body, err := w.peek(off+recordHeaderSize, int(r.length))
	if err != nil || crc(body) != r.crc {
		return false
	}
	_, err = decodeBody(&r, body)
	return err == nil
}

// peek returns n bytes at off. They are valid until the next call.
func (w *walker) peek(off int64, n int) ([]byte, error) {
	if off+int64(n) > w.end {
		return nil, errTorn
	}
	if at := off - w.winOff; at >= 0 && at+int64(n) <= int64(len(w.win)) {
		return w.win[at : at+int64(n)], nil
	}
	want := int(min(max(int64(n), windowSize), w.end-off))
	if cap(w.buf) < want {
		w.buf = make([]byte, want)
	}
	w.win = nil
	p := w.buf[:want]
	if m, err := w.r.ReadAt(p, off); m < want {
		p = p[:n]
		if m < n {
			// What lies behind may be what cannot be read.
			if m, err = w.r.ReadAt(p, off); m < n {
				w.unread = true
				return nil, err
			}
		}
	}
	w.win, w.winOff = p, off
	return p[:n], nil
}

// findMarker searches a pack whose header is damaged for the marker of its
// records: in the trailer, then in any record.
func findMarker(r io.ReaderAt, end int64) (marker, bool) {
	w := &walker{r: r, end: end}
	if p, err := w.peek(end-trailerSize, trailerSize); end >= trailerSize && err == nil {
		if t, err := decodeTrailer(p); err == nil {
			return t.marker, true
		}
	}
	for off := int64(0); off+recordHeaderSize <= end; off++ {
		p, err := w.peek(off, recordHeaderSize)
		if err != nil {
			off += sectorSize - 1
			continue
		}
		if r, err := decodeAnyRecord(p); err == nil && r.size() <= end-off {
			return marker(p[:8]), true
		}
	}
	return marker{}, false
}
