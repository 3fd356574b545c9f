package mount

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/vfsd/vfsd/vfs"
)

// The state of a mount, as one process hands it to another:
//
//	"vfsdMNT" version:1=1
//	driver  mount point  name                 bytes each: uvarint length, then they
//	flags                                     uvarint: allow_other, read_only, suid, dev,
//	                                          no_flush, debug, setuid, epochs from bit 0 on
//	max_request  major  minor                 uvarint each; the device of the mount
//	INIT request  INIT reply                  bytes each
//	view of the FS                            bytes
//	notifications  n  n * requests            uvarint each; by opcode
//	n  n * (ino lookups flags from)           uvarint each: what the kernel holds
//	n  n * ino                                inodes of recent SETATTRs
//	n  n * (number flags FS's state)          files: flags are append, direct, exec
//	n  n * (number FS's state)                directories
//	crc32c:4                                  little-endian, of all before
//
// It never outlives the two processes; the version is for a new program that
// follows an old one.
const (
	stateMagic = "vfsdMNT\x01"
	// maxSlots bounds the number of an open file.
	maxSlots = 1 << 24
)

var stateTable = crc32.MakeTable(crc32.Castagnoli)

// ErrBadState is a state that no mount of this version has written.
var ErrBadState = errors.New("mount: bad state of a mount")

// savedMount is what of a mount's state is neither an option nor the Server's.
type savedMount struct {
	driver       string
	setuid       bool
	major, minor uint32
	init         Init
}

type stateWriter struct{ b []byte }

func (w *stateWriter) uint(v uint64) { w.b = binary.AppendUvarint(w.b, v) }

func (w *stateWriter) bytes(p []byte) {
	w.uint(uint64(len(p)))
	w.b = append(w.b, p...)
}

func (w *stateWriter) flags(all ...bool) {
	var v uint64
	for i, set := range all {
		if set {
			v |= 1 << i
		}
	}
	w.uint(v)
}

func (w *stateWriter) seal() []byte {
	return binary.LittleEndian.AppendUint32(w.b, crc32.Checksum(w.b, stateTable))
}

func (w *stateWriter) options(m *mounted) {
	o, at := m.o, m.at.saved()
	w.bytes([]byte(m.d.Name()))
	w.bytes([]byte(o.MountPoint))
	w.bytes([]byte(o.Name))
	w.flags(o.AllowOther, o.ReadOnly, o.Suid, o.Dev, o.NoFlush, o.Debug, at.setuid, m.s.kernel.epochs.Load())
	w.uint(uint64(o.MaxRequest))
	w.uint(uint64(at.major))
	w.uint(uint64(at.minor))
	w.bytes(m.s.init.Request)
	w.bytes(m.s.init.Reply)
}

// stateReader reads what may be hostile; after the first failure everything is
// zero and err stays.
type stateReader struct {
	b      []byte
	err    error
	epochs bool
}

func openState(state []byte) (*stateReader, error) {
	n := len(state) - 4
	if n < len(stateMagic) || string(state[:len(stateMagic)-1]) != stateMagic[:len(stateMagic)-1] {
		return nil, fmt.Errorf("%w: no magic", ErrBadState)
	}
	if v := state[len(stateMagic)-1]; v != stateMagic[len(stateMagic)-1] {
		return nil, fmt.Errorf("%w: version %d, known is %d", ErrBadState, v, stateMagic[len(stateMagic)-1])
	}
	if crc32.Checksum(state[:n], stateTable) != binary.LittleEndian.Uint32(state[n:]) {
		return nil, fmt.Errorf("%w: checksum", ErrBadState)
	}
	return &stateReader{b: state[len(stateMagic):n]}, nil
}

func (r *stateReader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrBadState, what)
	}
	r.b = nil
}

func (r *stateReader) uint(limit uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > limit {
		r.fail("number")
		return 0
	}
	r.b = r.b[n:]
	return v
}

// bytes returns bytes that are part of the state.
func (r *stateReader) bytes() []byte {
	n := r.uint(uint64(len(r.b)))
	if n > uint64(len(r.b)) {
		r.fail("length")
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

// count returns how many items of at least size bytes follow.
func (r *stateReader) count(size uint64) uint64 { return r.uint(uint64(len(r.b)) / size) }

func (r *stateReader) ino() vfs.Ino {
	ino := vfs.Ino(r.uint(1<<64 - 1))
	if ino == 0 {
		r.fail("inode 0")
	}
	return ino
}

func (r *stateReader) options() (*Options, savedMount) {
	var s savedMount
	s.driver = string(r.bytes())
	o := &Options{MountPoint: string(r.bytes()), Name: string(r.bytes())}
	flags := r.uint(1<<8 - 1)
	for i, p := range []*bool{&o.AllowOther, &o.ReadOnly, &o.Suid, &o.Dev, &o.NoFlush, &o.Debug, &s.setuid, &r.epochs} {
		*p = flags&(1<<i) != 0
	}
	o.MaxRequest = int(r.uint(maxRequest))
	s.major, s.minor = uint32(r.uint(1<<32-1)), uint32(r.uint(1<<32-1))
	s.init = Init{Request: r.bytes(), Reply: r.bytes()}
	if r.err == nil && (o.MountPoint == "" || o.MaxRequest == 0) {
		r.fail("options")
	}
	return o, s
}

// export writes what the kernel knows of s and what is open. The mount is
// paused.
func (s *Server) export(w *stateWriter, fs HandoverFS) error {
	w.bytes(fs.ExportView())
	w.uint(s.kernel.sent.Load())
	w.uint(opCount)
	for i := range s.counts {
		w.uint(s.counts[i].Load())
	}
	s.inodes.export(w)
	recent := s.setattrs.all()
	w.uint(uint64(len(recent)))
	for _, ino := range recent {
		w.uint(uint64(ino))
	}
	err := s.files.export(w, func(f *openFile) ([]byte, error) {
		w.flags(f.append, f.direct, f.exec)
		return fs.ExportHandle(f.h)
	})
	if err != nil {
		return err
	}
	return s.dirs.export(w, func(d *openDir) ([]byte, error) { return fs.ExportDir(d.h) })
}

// restore is the inverse of export, for a server that has answered nothing.
func (s *Server) restore(r *stateReader, fs HandoverFS) error {
	s.kernel.epochs.Store(r.epochs)
	if err := fs.ImportView(r.bytes()); err != nil {
		return err
	}
	s.kernel.sent.Store(r.uint(1<<64 - 1))
	for i, n := uint64(0), r.count(1); i < n; i++ {
		if v := r.uint(1<<64 - 1); i < opCount { // another version may know more, or fewer
			s.counts[i].Store(v)
		}
	}
	s.inodes.restore(r)
	s.standIns.Store(true) // whether the kernel has any is not in the state
	for n := r.count(1); n > 0 && r.err == nil; n-- {
		s.setattrs.add(r.ino())
	}
	err := s.files.restore(r, func() (*openFile, error) {
		flags := r.uint(1<<3 - 1)
		f := &openFile{append: flags&1 != 0, direct: flags&2 != 0, exec: flags&4 != 0}
		var err error
		if f.h, err = fs.ImportHandle(r.bytes()); err == nil && f.exec {
			s.running.add(f.h.Ino())
		}
		return f, err
	})
	if err == nil {
		err = s.dirs.restore(r, func() (*openDir, error) {
			h, err := fs.ImportDir(r.bytes())
			return &openDir{h: h}, err
		})
	}
	if err == nil && r.err == nil && len(r.b) > 0 {
		r.fail("length")
	}
	return errors.Join(err, r.err)
}

func (t *inodeTable) export(w *stateWriter) {
	w.uint(t.len())
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		for ino, st := range sh.m {
			w.uint(uint64(ino))
			w.uint(st.word >> flagBits)
			w.uint(st.word & (1<<flagBits - 1))
			w.uint(uint64(st.from))
		}
		sh.mu.Unlock()
	}
}

func (t *inodeTable) restore(r *stateReader) {
	for n := r.count(4); n > 0 && r.err == nil; n-- {
		ino, lookups := r.ino(), r.uint(1<<(64-flagBits)-1)
		st := inodeState{word: lookups<<flagBits | r.uint(1<<flagBits-1), from: vfs.Ino(r.uint(1<<64 - 1))}
		if r.err != nil {
			return
		}
		sh := t.shard(ino)
		sh.mu.Lock()
		_, known := sh.m[ino]
		switch {
		case lookups == 0, known && ino != vfs.RootIno:
			r.fail("inode")
		default:
			if !known {
				t.fs.Pin(ino)
			}
			sh.m[ino] = st
		}
		sh.mu.Unlock()
	}
}

func (r *recentInos) all() []vfs.Ino {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn()
	var inos []vfs.Ino
	for _, m := range []map[vfs.Ino]struct{}{r.cur, r.prev} {
		for ino := range m {
			inos = append(inos, ino)
		}
	}
	return inos
}

// export writes what is open; state writes what is the mount's of it and
// returns what is the FS's.
func (t *handleTable[T]) export(w *stateWriter, state func(T) ([]byte, error)) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(t.slots) > maxSlots {
		return fmt.Errorf("%d numbers of handles, more than %d: %w", len(t.slots), maxSlots, ErrNoHandover)
	}
	w.uint(uint64(len(t.slots) - len(t.free)))
	for i := range t.slots {
		if !t.slots[i].used {
			continue
		}
		w.uint(uint64(i) + 1)
		p, err := state(t.slots[i].v)
		if err != nil {
			return fmt.Errorf("handle %d: %w", i+1, err)
		}
		w.bytes(p)
	}
	return nil
}

// restore is the inverse of export. Numbers keep their meaning; those that were
// free are free.
func (t *handleTable[T]) restore(r *stateReader, state func() (T, error)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for n := r.count(2); n > 0 && r.err == nil; n-- {
		id := r.uint(maxSlots)
		if r.err == nil && id <= uint64(len(t.slots)) {
			r.fail("handle")
		}
		if r.err != nil {
			break
		}
		for uint64(len(t.slots)) < id-1 {
			t.slots = append(t.slots, slot[T]{})
			t.free = append(t.free, uint64(len(t.slots)))
		}
		v, err := state()
		if err != nil {
			return fmt.Errorf("handle %d: %w", id, err)
		}
		t.slots = append(t.slots, slot[T]{v, true})
	}
	return nil
}
