package workspace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/vfs"
)

// A data directory goes from one process to another, while files in it are
// open, by what the disk has of it and by this state, which has what memory
// alone knows:
//
//	"vfsdWSH" version:1=1
//	n  n * (name  state of the workspace)      bytes each: uvarint length, then they
//	crc32c:4                                   little-endian, of all before
//
// The state of a workspace, numbers as uvarints:
//
//	next counter   freed   quota of bytes   quota of inodes
//	n  n * orphan, by inode number
//
//	orphan = ino  tmpfile:1  value of its inode key: bytes
//	         n  n * (name value)               attributes; bytes each
//	         n  n * piece, by offset
//	piece  = source:1 off len, then
//	         staging: epoch seq at    chunk: at digest:32    inline: bytes
//
// Which of its files are open is not in it: whoever opened them exports that,
// with ExportHandle. What else memory knows is built anew (what an fsync must
// make durable: all that the journal tells of) or may be lost (times of access
// that reading moved).
const handoverMagic = "vfsdWSH\x01"

// ErrUnwell is in the chain of HandOver's error when the disk has failed and
// no checkpoint has made up for it yet.
var ErrUnwell = errors.New("its disk has failed; make a checkpoint first")

// Handover is a data directory between two processes: it is closed, but its
// lock is held on.
type Handover struct {
	Lock  hostfs.File // of the data directory
	State []byte
}

// Lock returns the file whose lock makes the directory this process's. It stays
// the DataDir's. A process that inherits its descriptor shares the lock, which
// is free when neither has it open any more.
func (d *DataDir) Lock() hostfs.File { return d.lock }

// HandOver closes the data directory, without checkpoints, for an OpenDataDir
// with Options.Handover to go on with: open files that have no name live on. No
// operation may be under way. After an error nothing is closed.
func (d *DataDir) HandOver() (*Handover, error) {
	d.gcMu.Lock()
	defer d.gcMu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return nil, errClosed
	}
	for name, w := range d.open {
		if w.isClosed() {
			delete(d.open, name) // asleep
		}
	}
	b := []byte(handoverMagic)
	b = binary.AppendUvarint(b, uint64(len(d.open)))
	for _, name := range sortedKeys(d.open) {
		state, err := d.open[name].export()
		if err != nil {
			return nil, fmt.Errorf("hand over workspace %s: %w", name, err)
		}
		b = appendBytes(b, []byte(name))
		b = appendBytes(b, state)
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	d.done = true
	d.abandonAll()
	return &Handover{Lock: d.lock, State: b}, nil
}

// abandonAll closes everything but the lock; what is acknowledged is in the
// journals. mu is held.
func (d *DataDir) abandonAll() {
	for name, w := range d.open {
		if err := w.abandon(); err != nil {
			d.log.Error("close", "what", name, "err", err)
		}
	}
	if err := d.chunks.Close(); err != nil {
		d.log.Error("close", "what", "chunks", "err", err)
	}
}

// inherit opens the workspaces that another DataDir had open.
func (d *DataDir) inherit(state []byte) error {
	states, err := decodeHandover(state)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inherited = states
	for _, name := range sortedKeys(states) {
		if _, err := d.openLocked(name); err != nil {
			d.done = true
			d.abandonAll()
			return err
		}
	}
	d.inherited = nil
	return nil
}

// DropUnheld lets go of files without a name that nobody has taken up after a
// handover.
func (d *DataDir) DropUnheld() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.open {
		w.mu.RLock()
		orphans := sortedKeys(w.orphans)
		w.mu.RUnlock()
		for _, ino := range orphans {
			w.dropOrphan(ino)
		}
	}
}

func appendBytes(b, p []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(p))), p...)
}

// maxState bounds one byte string of a state.
const maxState = 1 << 40

func (d *decoder) sized() []byte { return d.bytes(d.uvarint(), maxState) }

// count reads how many items of at least size bytes each follow.
func (d *decoder) count(size int) uint64 {
	n := d.uvarint()
	if n > uint64(len(d.b)/size) {
		d.fail("count")
		return 0
	}
	return n
}

// done reports the first failure, or bytes that nothing asked for.
func (d *decoder) done() error {
	if d.err == nil && len(d.b) > 0 {
		d.fail("length")
	}
	return d.err
}

// decodeHandover returns the states of workspaces by name; they refer to state.
func decodeHandover(state []byte) (map[string][]byte, error) {
	end := len(state) - 4
	version := len(handoverMagic) - 1
	if end < len(handoverMagic) || string(state[:version]) != handoverMagic[:version] {
		return nil, fmt.Errorf("no state of a data directory: %w", vfs.ErrCorrupt)
	}
	if state[version] != handoverMagic[version] {
		return nil, fmt.Errorf("state of a data directory: version %d: %w", state[version], ErrNewer)
	}
	if crc32.Checksum(state[:end], castagnoli) != binary.LittleEndian.Uint32(state[end:]) {
		return nil, fmt.Errorf("state of a data directory: bad checksum: %w", vfs.ErrCorrupt)
	}
	d := decoder{b: state[len(handoverMagic):end]}
	states := map[string][]byte{}
	for n := d.count(2); n > 0 && d.err == nil; n-- {
		name := string(d.sized())
		if states[name] = d.sized(); d.err == nil && ValidName(name) != nil {
			d.fail("name")
		}
	}
	if err := d.done(); err != nil {
		return nil, fmt.Errorf("state of a data directory: %w", err)
	}
	return states, nil
}

// export describes what memory alone knows of w.
func (w *Workspace) export() ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return nil, errClosed
	case w.journalErr != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnwell, w.journalErr)
	}
	if err := w.staging.failed(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnwell, err)
	}
	var b []byte
	for _, v := range []uint64{w.next, w.freed, w.quota.Bytes, w.quota.Inodes, uint64(len(w.orphans))} {
		b = binary.AppendUvarint(b, v)
	}
	for _, ino := range sortedKeys(w.orphans) {
		var err error
		if b, err = w.appendOrphan(b, w.orphans[ino]); err != nil {
			return nil, fmt.Errorf("inode %d: %w", ino, err)
		}
	}
	return b, nil
}

// failed returns why an fsync of a staging file failed, if one did: another
// process would be told by its kernel that all is well.
func (s *staging) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		f.syncMu.Lock()
		err := f.syncFail
		f.syncMu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *Workspace) appendOrphan(b []byte, n *inode) ([]byte, error) {
	b = binary.AppendUvarint(b, uint64(n.ino))
	tmpfile := byte(0)
	if n.tmpfile {
		tmpfile = 1
	}
	b = append(b, tmpfile)
	v := n.v
	v.content, v.inline = contentNone, nil
	b = appendBytes(b, appendInode(nil, &v))
	b = binary.AppendUvarint(b, uint64(len(v.orphanXattrs)))
	for _, name := range sortedKeys(v.orphanXattrs) {
		b = appendBytes(b, []byte(name))
		b = appendBytes(b, v.orphanXattrs[name])
	}
	var ps []piece
	if v.IsRegular() {
		err := w.segments(n, 0, vfs.MaxFileSize, func(p piece) error {
			if p.src != srcHole {
				ps = append(ps, p)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	b = binary.AppendUvarint(b, uint64(len(ps)))
	for i := range ps {
		b = appendPiece(b, &ps[i])
	}
	return b, nil
}

func appendPiece(b []byte, p *piece) []byte {
	b = append(b, byte(p.src))
	b = binary.AppendUvarint(b, uint64(p.off))
	b = binary.AppendUvarint(b, uint64(p.len))
	switch p.src {
	case srcStaging:
		b = binary.AppendUvarint(b, p.file.id.epoch)
		b = binary.AppendUvarint(b, p.file.id.seq)
		b = binary.AppendUvarint(b, uint64(p.at))
	case srcChunk:
		b = binary.AppendUvarint(b, uint64(p.at))
		b = append(b, p.id[:]...)
	case srcInline:
		b = appendBytes(b, p.data)
	}
	return b
}

// inheritance is the state of a workspace, decoded.
type inheritance struct {
	next, freed uint64
	quota       Quota
	orphans     []inheritedOrphan
}

type inheritedOrphan struct {
	ino     vfs.Ino
	tmpfile bool
	v       inodeValue
	pieces  []pieceRecord
}

func decodeInheritance(b []byte) (*inheritance, error) {
	d := decoder{b: b}
	h := &inheritance{next: d.uvarint(), freed: d.uvarint(), quota: Quota{d.uvarint(), d.uvarint()}}
	for n := d.count(6); n > 0 && d.err == nil; n-- {
		o := d.orphan()
		if k := len(h.orphans); d.err == nil && k > 0 && h.orphans[k-1].ino >= o.ino {
			d.fail("order of inodes")
		}
		h.orphans = append(h.orphans, o)
	}
	if err := d.done(); err != nil {
		return nil, fmt.Errorf("state of a workspace: %w", err)
	}
	return h, nil
}

func (d *decoder) orphan() inheritedOrphan {
	o := inheritedOrphan{ino: vfs.Ino(d.uvarint())}
	tmpfile := d.byte()
	o.tmpfile = tmpfile == 1
	value := d.sized()
	if d.err != nil {
		return o
	}
	v, err := decodeInode(o.ino, value)
	if err != nil || o.ino == 0 || tmpfile > 1 || v.content != contentNone {
		d.fail("inode")
		return o
	}
	o.v = *v
	for n := d.count(2); n > 0 && d.err == nil; n-- {
		name, value := string(d.sized()), d.sized()
		if len(name) == 0 || len(name) > vfs.MaxXattrName || len(value) > vfs.MaxXattrValue {
			d.fail("attribute")
		}
		o.v.orphanXattrs = withXattr(o.v.orphanXattrs, name, value)
	}
	end := int64(0)
	for n := d.count(3); n > 0 && d.err == nil; n-- {
		p := d.piece()
		if d.err == nil && (p.p.off < end || !v.IsRegular()) {
			d.fail("order of extents")
		}
		end = p.p.end()
		o.pieces = append(o.pieces, p)
	}
	return o
}

func (d *decoder) piece() pieceRecord {
	var r pieceRecord
	p := &r.p
	p.src = source(d.byte())
	off, length, at := d.uvarint(), d.uvarint(), uint64(0)
	limit := uint64(vfs.MaxFileSize)
	switch p.src {
	case srcZero:
	case srcStaging:
		r.file = stagingID{d.uvarint(), d.uvarint()}
		at, limit = d.uvarint(), stagingLimit
	case srcChunk:
		at, limit = d.uvarint(), chunk.MaxSize
		copy(p.id[:], d.bytes(32, 32))
	case srcInline:
		p.data = slices.Clone(d.sized())
		limit = uint64(len(p.data))
	default:
		d.fail("source")
	}
	if d.err == nil && (length == 0 || length > vfs.MaxFileSize || off > vfs.MaxFileSize-length ||
		length > limit || at > limit-length || p.src == srcInline && length != limit) {
		d.fail("extent")
	}
	p.off, p.len, p.at = int64(off), int64(length), int64(at)
	return r
}

// adopt takes a state in. The journal is replayed, and what nothing refers to
// not yet removed; nobody else knows of w.
func (w *Workspace) adopt(state []byte) error {
	h, err := decodeInheritance(state)
	if err != nil {
		return err
	}
	w.next, w.freed = max(w.next, h.next), h.freed
	if w.quota != h.quota {
		w.quota, w.dirty = h.quota, true
	}
	for i := range h.orphans {
		if err := w.adoptOrphan(&h.orphans[i]); err != nil {
			return fmt.Errorf("inode %d without a name: %w", h.orphans[i].ino, err)
		}
	}
	return nil
}

func (w *Workspace) adoptOrphan(o *inheritedOrphan) error {
	n := &inode{ino: o.ino, v: o.v, orphan: true, tmpfile: o.tmpfile}
	if w.inodes.add(n) != n {
		return fmt.Errorf("it has one: %w", vfs.ErrCorrupt)
	}
	for i := range o.pieces {
		r := &o.pieces[i]
		if r.p.src == srcStaging {
			var err error
			if r.p.file, err = w.staging.reopen(r.file); err != nil {
				return err
			}
			size, err := r.p.file.f.Size()
			if err != nil {
				return err
			}
			if size < r.p.at+r.p.len {
				return fmt.Errorf("staging file %s has %d bytes: %w", r.file, size, vfs.ErrCorrupt)
			}
			n.unsynced.add(r.p.file, r.p.at, r.p.len)
		}
		if n.delta == nil {
			n.delta = &extentMap{}
		}
		n.delta.insert(r.p)
	}
	w.orphans[o.ino] = n
	return nil
}
