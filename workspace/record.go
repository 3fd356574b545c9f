package workspace

import (
	"bytes"
	"fmt"
	"math"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/journal"
	"github.com/vfsd/vfsd/vfs"
)

// The types of journal records; the values are part of the format.
const (
	recBatch  journal.Type = 1
	recStaged journal.Type = 2
)

// A batch record is one operation, all of it:
//
//	[ [key, value]... , [pieceRecord]... ]     msgpack arrays
//
// A nil value deletes its key. Inode values carry no content: the pieces say
// what became of a file's bytes, in order.
//
//	piece = [ino, off, len, source, epoch, seq, at, crc, digest]
//
// epoch and seq name the staging file; crc is CRC-32C of the staged bytes;
// fields that the source has no use for are 0 and digest is empty.
//
// A staged record carries bytes that were staged before, so that one fsync of
// the journal makes them durable: [epoch, seq, at, bytes].
type batchRecord struct {
	edits  []edit
	pieces []pieceRecord
}

type edit struct {
	key   []byte
	value []byte // nil deletes
}

type pieceRecord struct {
	ino  vfs.Ino
	p    piece
	file stagingID
	crc  uint32
}

type stagedRecord struct {
	file  stagingID
	at    int64
	bytes []byte
}

// maxRecordItems bounds the lists of a record before anything is allocated:
// an item takes at least this many bytes less than it counts.
const maxRecordItems = 1 << 24

// recordEncoder reuses its buffers; the bytes it returns are good until the
// next call.
type recordEncoder struct {
	buf bytes.Buffer
	enc *msgpack.Encoder
}

func newRecordEncoder() *recordEncoder {
	e := &recordEncoder{}
	e.enc = msgpack.NewEncoder(&e.buf)
	e.enc.UseCompactInts(true)
	return e
}

// batch encodes r. Writes to a bytes.Buffer cannot fail, so errors are those
// of values that msgpack cannot hold, of which there are none.
func (e *recordEncoder) batch(r *batchRecord) ([]byte, error) {
	e.buf.Reset()
	w := &fieldWriter{enc: e.enc}
	w.array(2)
	w.array(len(r.edits))
	for i := range r.edits {
		w.array(2)
		w.bytes(r.edits[i].key)
		w.bytes(r.edits[i].value)
	}
	w.array(len(r.pieces))
	for i := range r.pieces {
		w.piece(&r.pieces[i])
	}
	return e.buf.Bytes(), w.err
}

func (e *recordEncoder) staged(r *stagedRecord) ([]byte, error) {
	e.buf.Reset()
	w := &fieldWriter{enc: e.enc}
	w.array(4)
	w.uint(r.file.epoch)
	w.uint(r.file.seq)
	w.uint(uint64(r.at))
	w.bytes(r.bytes)
	return e.buf.Bytes(), w.err
}

// fieldWriter keeps the first error of a run of encodes.
type fieldWriter struct {
	enc *msgpack.Encoder
	err error
}

func (w *fieldWriter) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *fieldWriter) array(n int)    { w.keep(w.enc.EncodeArrayLen(n)) }
func (w *fieldWriter) uint(v uint64)  { w.keep(w.enc.EncodeUint(v)) }
func (w *fieldWriter) bytes(p []byte) { w.keep(w.enc.EncodeBytes(p)) }

func (w *fieldWriter) piece(r *pieceRecord) {
	w.array(9)
	w.uint(uint64(r.ino))
	w.uint(uint64(r.p.off))
	w.uint(uint64(r.p.len))
	w.uint(uint64(r.p.src))
	w.uint(r.file.epoch)
	w.uint(r.file.seq)
	w.uint(uint64(r.p.at))
	w.uint(uint64(r.crc))
	if r.p.src == srcChunk {
		w.bytes(r.p.id[:])
	} else {
		w.bytes([]byte{})
	}
}

// decodeBatch reads a batch record; the result refers to payload.
func decodeBatch(payload []byte) (*batchRecord, error) {
	d := newFieldReader(payload)
	d.array(2, 2)
	r := &batchRecord{}
	for n := d.array(0, maxRecordItems); n > 0 && d.err == nil; n-- {
		d.array(2, 2)
		e := edit{key: d.bytes(), value: d.bytes()}
		if d.err == nil && !validKey(e.key) {
			d.fail("key")
		}
		r.edits = append(r.edits, e)
	}
	for n := d.array(0, maxRecordItems); n > 0 && d.err == nil; n-- {
		r.pieces = append(r.pieces, d.piece())
	}
	return r, d.done()
}

func decodeStaged(payload []byte) (*stagedRecord, error) {
	d := newFieldReader(payload)
	d.array(4, 4)
	r := &stagedRecord{file: stagingID{d.uint(math.MaxUint64), d.uint(math.MaxUint64)}}
	r.at = int64(d.uint(math.MaxInt64))
	r.bytes = d.bytes()
	if d.err == nil && (r.at > stagingLimit || len(r.bytes) > inlineSync) {
		d.fail("staged extent")
	}
	return r, d.done()
}

// stagingLimit is above every offset in a staging file: the last append may
// start just below stagingMax and be as long as one write may be.
const stagingLimit = stagingMax + maxWrite

// fieldReader reads the msgpack of a record that may be hostile.
type fieldReader struct {
	r   *bytes.Reader
	dec *msgpack.Decoder
	err error
}

func newFieldReader(p []byte) *fieldReader {
	r := bytes.NewReader(p)
	return &fieldReader{r: r, dec: msgpack.NewDecoder(r)}
}

func (d *fieldReader) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("record: bad %s: %w", what, vfs.ErrCorrupt)
	}
}

func (d *fieldReader) array(lo, hi int) int {
	if d.err != nil {
		return 0
	}
	n, err := d.dec.DecodeArrayLen()
	if err != nil || n < lo || n > hi || n > d.r.Len()+2 {
		d.fail("list")
		return 0
	}
	return n
}

func (d *fieldReader) uint(limit uint64) uint64 {
	if d.err != nil {
		return 0
	}
	v, err := d.dec.DecodeUint64()
	if err != nil || v > limit {
		d.fail("number")
		return 0
	}
	return v
}

// bytes returns nil for msgpack's nil.
func (d *fieldReader) bytes() []byte {
	if d.err != nil {
		return nil
	}
	n, err := d.dec.DecodeBytesLen()
	if err != nil || n > d.r.Len() {
		d.fail("bytes")
		return nil
	}
	if n < 0 {
		return nil
	}
	p := make([]byte, n)
	if err := d.dec.ReadFull(p); err != nil {
		d.fail("bytes")
	}
	return p
}

func (d *fieldReader) piece() pieceRecord {
	d.array(9, 9)
	r := pieceRecord{ino: vfs.Ino(d.uint(math.MaxUint64))}
	r.p.off = int64(d.uint(vfs.MaxFileSize))
	r.p.len = int64(d.uint(vfs.MaxFileSize))
	r.p.src = source(d.uint(uint64(srcChunk)))
	r.file = stagingID{d.uint(math.MaxUint64), d.uint(math.MaxUint64)}
	r.p.at = int64(d.uint(math.MaxInt64))
	r.crc = uint32(d.uint(math.MaxUint32))
	id := d.bytes()
	if d.err != nil {
		return r
	}
	limit := int64(vfs.MaxFileSize)
	switch r.p.src {
	case srcHole, srcZero:
	case srcStaging:
		limit = stagingLimit
	case srcChunk:
		limit = chunk.MaxSize
		if len(id) != len(r.p.id) {
			d.fail("digest")
			return r
		}
		copy(r.p.id[:], id)
	default:
		d.fail("source")
	}
	if r.p.len < 1 || r.p.off > vfs.MaxFileSize-r.p.len || r.p.at > limit-min(limit, r.p.len) {
		d.fail("extent")
	}
	return r
}

// done reports the first failure, or bytes that nothing asked for.
func (d *fieldReader) done() error {
	if d.err == nil && d.r.Len() > 0 {
		d.fail("length")
	}
	return d.err
}
