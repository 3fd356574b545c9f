package chunk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/vfs"
)

// ErrNotFound says that a store does not have a chunk.
var ErrNotFound = errors.New("chunk not found")

// Store keeps chunks: local packs, a remote peer or an object store. All
// methods are safe for concurrent use.
type Store interface {
	// Get returns the bytes of a chunk, verified against id. They may be shared
	// with a cache: the caller must not modify them. A chunk that the store
	// does not have is ErrNotFound; one whose bytes are damaged is
	// vfs.ErrCorrupt, with the place of the damage.
	Get(ctx context.Context, id ID) ([]byte, error)

	// Put stores a chunk of at most MaxChunk bytes and returns its ID. Storing
	// it again costs nothing and succeeds. data is not retained. The chunk can
	// be read at once, but need not outlive the process before an Fsync.
	Put(ctx context.Context, data []byte) (ID, error)

	// Has reports whether Get would find a chunk, as far as is known without
	// reading it.
	Has(id ID) bool
}

// Options says how to open Packs.
type Options struct {
	FS  hostfs.FS // required
	Dir string    // required: the directory of the packs; made if it is missing

	// PackSize is where a pack ends, in bytes. Default 64 MiB.
	PackSize int64
	// CacheBytes bounds the cache of decoded chunks. Default 64 MiB; negative:
	// no cache.
	CacheBytes int64
	// Compress lets Put, and garbage collection, compress what gets smaller by
	// an eighth or more.
	Compress bool
	// Polynomial is what a new store cuts files with; zero means a random one.
	// Stores cut alike only if they have the same. It must be irreducible and
	// of degree 53. A store that has one already keeps it.
	Polynomial uint64
	// Log receives what recovery did and every damage met. Default: none.
	Log *slog.Logger

	batch int // bytes written to the host at once; batchSize but in tests
}

// Packs is the Store on local disk. See the package comment.
type Packs struct {
	opt   Options
	log   *slog.Logger
	lock  hostfs.File // holds the advisory lock of Dir
	index *index
	cache *cache
	files *files
	cut   *Cutter

	closed atomic.Bool

	packsMu sync.RWMutex
	packs   map[uint32]*pack // guarded by packsMu

	gcMu    sync.Mutex    // held by Sweep
	gcMarks atomic.Uint64 // counts the collections begun
	fsyncMu sync.Mutex    // held by whoever fsyncs packs
	flushMu sync.Mutex    // held by whoever takes batches to the page cache
	w       writer

	durableSeq uint64      // guarded by fsyncMu; appends up to it are durable
	newNames   atomic.Bool // a pack's name may not be durable

	rawBytes   atomic.Int64
	dedupHits  atomic.Uint64
	dedupBytes atomic.Uint64
}

var _ Store = (*Packs)(nil)

// Open opens the packs in a directory, making it if it is missing, and takes
// its lock until Close. It recovers what a crash left: the torn tail of a pack
// is dropped. Damage elsewhere does not keep the store from opening: it is
// logged, and the chunks that are hurt are ErrCorrupt or ErrNotFound to Get. A
// pack of a newer format is an error, and so is a directory that somebody else
// has open (EWOULDBLOCK).
func Open(ctx context.Context, opt Options) (*Packs, error) {
	if opt.PackSize == 0 {
		opt.PackSize = 64 << 20
	}
	if opt.CacheBytes == 0 {
		opt.CacheBytes = 64 << 20
	}
	if opt.batch == 0 {
		opt.batch = batchSize
	}
	if opt.PackSize < 0 || opt.PackSize > MaxPackSize {
		return nil, fmt.Errorf("open packs %s: pack size %d is not in 1..%d", opt.Dir, opt.PackSize, MaxPackSize)
	}
	p := &Packs{
		opt:   opt,
		log:   opt.Log,
		index: newIndex(),
		cache: newCache(max(opt.CacheBytes, 0)),
		files: newFiles(opt.FS),
		packs: make(map[uint32]*pack),
	}
	p.w.next, p.w.lost = 1, make(map[ID]lostChunk)
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if err := p.open(ctx); err != nil {
		p.files.close()
		if p.lock != nil {
			err = errors.Join(err, p.lock.Close())
		}
		return nil, fmt.Errorf("open packs %s: %w", opt.Dir, err)
	}
	return p, nil
}

func (p *Packs) open(ctx context.Context) error {
	fs, dir := p.opt.FS, p.opt.Dir
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := fs.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	p.lock = lock
	if err := lock.Lock(); err != nil {
		return err
	}
	if p.cut, err = openCutter(fs, dir, p.opt.Polynomial); err != nil {
		return err
	}
	if err := p.recover(ctx); err != nil {
		return err
	}
	// Names that a killed process left in the directory count as durable from
	// here on.
	if err := fs.SyncDir(dir); err != nil {
		return err
	}
	return fs.SyncDir(filepath.Dir(dir))
}

// Close makes everything durable, ends a collection that runs, and gives the
// directory back. The Packs must not be used afterwards; other calls that are
// under way finish or fail with os.ErrClosed.
func (p *Packs) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	p.gcMu.Lock()
	defer p.gcMu.Unlock()
	p.fsyncMu.Lock()
	defer p.fsyncMu.Unlock()
	err := p.fsyncAll()
	if err == nil {
		err = p.fsyncPacks(true) // the mark
	}
	p.flushMu.Lock()
	defer p.flushMu.Unlock()
	p.w.mu.Lock()
	p.w.closed = true
	p.w.mu.Unlock()
	p.files.close()
	return errors.Join(err, p.lock.Close())
}

func (p *Packs) usable(ctx context.Context) error {
	if p.closed.Load() {
		return fmt.Errorf("packs %s: %w", p.opt.Dir, os.ErrClosed)
	}
	return ctx.Err()
}

// Cutter returns what cuts files into chunks for this store.
func (p *Packs) Cutter() *Cutter { return p.cut }

// Put implements Store. The bytes are in memory or in the page cache when it
// returns: they are durable after the next Fsync, and after a kill the last few
// MiB may be missing, so the caller keeps their source (staging, journal) until
// Fsync returned nil. It compresses if Options.Compress says so.
//
// An error of the host, such as ENOSPC, means that the chunk was not stored.
// The store is as good as before and goes on when the host does.
func (p *Packs) Put(ctx context.Context, data []byte) (ID, error) {
	return p.put(ctx, data, p.opt.Compress)
}

// PutRaw is Put without compression, for chunks that are read often, such as
// tree nodes. Garbage collection may compress them.
func (p *Packs) PutRaw(ctx context.Context, data []byte) (ID, error) {
	return p.put(ctx, data, false)
}

// Raw returns p as a Store whose Put is PutRaw.
func (p *Packs) Raw() Store { return rawPacks{p} }

type rawPacks struct{ *Packs }

func (r rawPacks) Put(ctx context.Context, data []byte) (ID, error) { return r.PutRaw(ctx, data) }

func (p *Packs) put(ctx context.Context, data []byte, zip bool) (ID, error) {
	if err := p.usable(ctx); err != nil {
		return ID{}, err
	}
	if len(data) > MaxChunk {
		return ID{}, fmt.Errorf("put chunk of %d bytes: the limit is %d", len(data), MaxChunk)
	}
	id := Sum(data)
	if p.index.touch(id) {
		p.hit(len(data))
		return id, nil
	}
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	r, body := encodeChunk(id, data, zip, buf)
	dup, err := p.store(&r, body)
	if err != nil {
		return ID{}, fmt.Errorf("put chunk %s: %w", id, err)
	}
	if dup {
		p.hit(len(data))
	} else {
		p.throttle()
	}
	return id, nil
}

func (p *Packs) hit(n int) {
	p.dedupHits.Add(1)
	p.dedupBytes.Add(uint64(n))
}

// encodeChunk returns the record of a chunk. Its body is data, or lies in buf.
func encodeChunk(id ID, data []byte, zip bool, buf *[]byte) (record, []byte) {
	r := record{kind: kindChunk, raw: uint32(len(data)), digest: id}
	body := data
	if zip {
		out, ok := compress((*buf)[:0], data)
		if ok {
			body, r.flags = out, recordZstd
		}
		*buf = out
	}
	r.length, r.crc = uint32(len(body)), crc(body)
	return r, body
}

// Has implements Store. While a garbage collection runs it also keeps the chunk
// from being collected, but not what the chunk refers to.
func (p *Packs) Has(id ID) bool { return p.index.touch(id) }

// Get implements Store.
func (p *Packs) Get(ctx context.Context, id ID) ([]byte, error) {
	if data, ok := p.cache.get(id); ok {
		return data, nil
	}
	if err := p.usable(ctx); err != nil {
		return nil, err
	}
	for {
		at, _, ok := p.index.lookup(id)
		if !ok {
			return nil, fmt.Errorf("get chunk %s: %w", id, ErrNotFound)
		}
		data, err := p.read(id, at)
		if err == nil {
			p.cache.add(id, data)
			return data, nil
		}
		// Garbage collection may have moved it meanwhile.
		now, f, ok := p.index.lookup(id)
		if !ok || now != at {
			continue
		}
		if errors.Is(err, vfs.ErrCorrupt) && f&flagDamaged == 0 {
			p.index.flag(id, at, flagDamaged)
			p.log.Error("damaged chunk", "err", err)
		}
		return nil, err
	}
}

// read returns the verified bytes of the chunk at l.
func (p *Packs) read(id ID, l loc) ([]byte, error) {
	pk := p.pack(l.pack)
	if pk == nil {
		return nil, corrupt("get chunk", packPath(p.opt.Dir, l.pack), int64(l.off), errors.New("no such pack"))
	}
	r, body, err := p.readRecord(pk, l, id)
	if err != nil {
		return nil, err
	}
	data, err := decodeBody(&r, body)
	if err != nil {
		return nil, corrupt("get chunk", pk.path, int64(l.off), fmt.Errorf("chunk %s: %w", id, err))
	}
	return data, nil
}

// readRecord returns the record of chunk id at l. The body is the caller's and
// is not verified.
func (p *Packs) readRecord(pk *pack, l loc, id ID) (record, []byte, error) {
	buf := make([]byte, l.n)
	if err := p.readAt(pk, buf, l); err != nil {
		return record{}, nil, err
	}
	r, err := decodeRecord(buf, pk.marker)
	if err == nil && (r.kind != kindChunk || r.digest != id || r.size() != int64(l.n)) {
		err = errors.New("another record is there")
	}
	if err != nil {
		return record{}, nil, corrupt("get chunk", pk.path, int64(l.off), fmt.Errorf("chunk %s: %w", id, err))
	}
	return r, buf[recordHeaderSize:], nil
}

// readAt reads the record at l from the file of its pack, or from memory if it
// is not in the file yet.
func (p *Packs) readAt(pk *pack, buf []byte, l loc) error {
	if int64(l.off)+int64(l.n) > pk.flushed.Load() && p.readPending(buf, l) {
		return nil
	}
	h, err := p.files.acquire(pk)
	if err != nil {
		return &vfs.Error{Op: "get chunk", Path: pk.path, Err: err}
	}
	defer p.files.release(h)
	n, err := h.ReadAt(buf, int64(l.off))
	switch {
	case n == len(buf):
		return nil
	case err == io.EOF:
		return corrupt("get chunk", pk.path, int64(l.off), errTorn)
	}
	return &vfs.Error{Op: "get chunk", Path: pk.path, Err: fmt.Errorf("offset %d: %w", l.off, err)}
}

func (p *Packs) readPending(buf []byte, l loc) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	rec := pendingBytes(p.w.batches, l)
	copy(buf, rec)
	return rec != nil
}

func (p *Packs) pack(no uint32) *pack {
	p.packsMu.RLock()
	defer p.packsMu.RUnlock()
	return p.packs[no]
}

func (p *Packs) addPack(pk *pack) {
	p.packsMu.Lock()
	defer p.packsMu.Unlock()
	p.packs[pk.no] = pk
}

func (p *Packs) removePack(no uint32) {
	p.packsMu.Lock()
	defer p.packsMu.Unlock()
	delete(p.packs, no)
}

// corrupt is the error about damage in a pack. Its chain holds vfs.ErrCorrupt.
func corrupt(op, path string, off int64, err error) error {
	return &vfs.Error{Op: op, Path: path, Err: fmt.Errorf("%w at offset %d: %w", vfs.ErrCorrupt, off, err)}
}
