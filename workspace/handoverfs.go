package workspace

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/vfsd/vfsd/vfs"
)

// What a mount has open goes to another process by these methods of Browse's
// file system; see mount.HandoverFS. Numbers are uvarints, bytes have their
// length before them:
//
//	view   = n  n * (slot  commit:32 root:32  inodes blocks  used)
//	handle = ino flags error            error: bytes, of an fsync that failed
//	dir    = ino listed:1, then if listed is 1
//	         done:1 packed              packed: bytes, as in listing

// errForeign is a handle that this file system has not opened.
var errForeign = errors.New("a handle of another file system")

// ExportView describes which snapshot each slot of the inode numbers is.
func (b *browser) ExportView() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := binary.AppendUvarint(nil, uint64(len(b.slots)))
	for _, k := range sortedKeys(b.slots) {
		s := b.slots[k]
		root := s.view.layers.base.Root()
		out = binary.AppendUvarint(out, k)
		out = append(append(out, s.commit[:]...), root[:]...)
		for _, v := range []uint64{s.view.usage.Inodes, s.view.usage.Blocks, s.used} {
			out = binary.AppendUvarint(out, v)
		}
	}
	return out
}

// ImportView is the inverse of ExportView, for a file system that nobody has
// used.
func (b *browser) ImportView(state []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := decoder{b: state}
	for n := d.count(68); n > 0 && d.err == nil; n-- {
		k := d.uvarint()
		c := &Commit{}
		s := &slot{}
		copy(s.commit[:], d.bytes(32, 32))
		copy(c.Root[:], d.bytes(32, 32))
		c.Inodes, c.Blocks, s.used = d.uvarint(), d.uvarint(), d.uvarint()
		if d.err == nil && (k == 0 || k > maxSlots || b.slots[k] != nil) {
			d.fail("slot")
		}
		if d.err != nil {
			break
		}
		s.view = b.viewOf(s.commit, c)
		b.slots[k], b.byCommit[s.commit] = s, k
		b.clock = max(b.clock, s.used)
	}
	if err := d.done(); err != nil {
		return fmt.Errorf("state of a view: %w", err)
	}
	return nil
}

// ExportHandle describes an open file.
func (b *browser) ExportHandle(h vfs.Handle) ([]byte, error) {
	own, ok := h.(*handle)
	if tagged, is := h.(taggedHandle); is {
		own, ok = tagged.handle, true
	}
	if !ok {
		return nil, errForeign
	}
	out := binary.AppendUvarint(nil, uint64(h.Ino()))
	out = binary.AppendUvarint(out, uint64(own.flags))
	own.mu.Lock()
	defer own.mu.Unlock()
	failure := ""
	if own.syncErr != nil {
		failure = own.syncErr.Error()
	}
	return appendBytes(out, []byte(failure)), nil
}

// ImportHandle is the inverse of ExportHandle. Nothing is checked again of what
// was checked when the file was opened.
func (b *browser) ImportHandle(state []byte) (vfs.Handle, error) {
	d := decoder{b: state}
	ino, flags, failure := vfs.Ino(d.uvarint()), d.uvarint(), string(d.sized())
	if d.err == nil && flags > 1<<31-1 {
		d.fail("flags")
	}
	if err := d.done(); err != nil {
		return nil, fmt.Errorf("state of a handle: %w", err)
	}
	w, n, err := b.reopen(ino, (*inode).isFile)
	if err != nil {
		return nil, fmt.Errorf("open inode %d again: %w", ino, err)
	}
	h := &handle{w: w, n: n, flags: int(flags)}
	if failure != "" {
		h.syncErr = errors.New(failure)
	}
	if slotOf(ino) != 0 {
		return taggedHandle{h, ino}, nil
	}
	return h, nil
}

func (n *inode) isFile() bool { return n.v.IsRegular() }
func (n *inode) isDir() bool  { return n.v.IsDir() }

// reopen counts one more handle of an inode that is of the right kind.
func (b *browser) reopen(ino vfs.Ino, kind func(*inode) bool) (*Workspace, *inode, error) {
	w, err := b.reader(ino)
	if err != nil {
		return nil, nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.load(outOfSlot(ino))
	if err != nil {
		return nil, nil, err
	}
	if !kind(n) {
		return nil, nil, fmt.Errorf("mode %o: %w", n.v.Mode, vfs.ErrCorrupt)
	}
	n.handles++
	return w, n, nil
}

// ExportDir describes an open directory. Of its listing that is what was read:
// names are in order, so what comes is what the directory has after them.
func (b *browser) ExportDir(h vfs.DirHandle) ([]byte, error) {
	out := binary.AppendUvarint(nil, uint64(h.Ino()))
	if tagged, is := h.(taggedDir); is {
		h = tagged.DirHandle
	}
	switch h := h.(type) {
	case *virtualDir:
		return append(out, 0), nil
	case *dirHandle:
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.listing == nil {
			return append(out, 0), nil
		}
		out = append(out, 1, 0)
		if h.listing.done {
			out[len(out)-1] = 1
		}
		return appendBytes(out, h.listing.packed), nil
	}
	return nil, errForeign
}

// ImportDir is the inverse of ExportDir.
func (b *browser) ImportDir(state []byte) (vfs.DirHandle, error) {
	d := decoder{b: state}
	ino, listed := vfs.Ino(d.uvarint()), d.byte()
	l := &listing{}
	if listed == 1 {
		l.done = d.byte() != 0
		l.unpack(&d, d.sized())
	}
	if d.err == nil && listed > 1 {
		d.fail("listing")
	}
	if err := d.done(); err != nil {
		return nil, fmt.Errorf("state of an open directory: %w", err)
	}
	if slotOf(ino) == virtualSlot {
		return &virtualDir{b: b, ino: ino}, nil
	}
	w, n, err := b.reopen(ino, (*inode).isDir)
	if err != nil {
		return nil, fmt.Errorf("open directory %d again: %w", ino, err)
	}
	h := &dirHandle{w: w, n: n}
	if listed == 1 {
		h.listing = l
		w.resumeListing(n, l)
	}
	if slotOf(ino) != 0 {
		return taggedDir{h, ino}, nil
	}
	return h, nil
}

// unpack takes entries over that were read before; see listing.
func (l *listing) unpack(d *decoder, packed []byte) {
	for at := 0; at < len(packed); {
		const before = 10 // ino, type, length
		rest := packed[at:]
		if len(rest) < before || len(rest) < before+int(rest[9]) || rest[9] == 0 || len(packed) > 1<<32-1 {
			d.fail("entry")
			return
		}
		l.offsets = append(l.offsets, uint32(at))
		at += before + int(rest[9])
	}
	l.packed = append([]byte(nil), packed...)
}

// resumeListing makes l go on after the last name that was read.
func (w *Workspace) resumeListing(n *inode, l *listing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l.changed = ^uint64(0) // no name is known to be still there
	if l.done = l.done || n.orphan; l.done {
		return
	}
	lo, hi := inoRange(keyDentry, n.ino)
	if k := len(l.offsets); k > 0 {
		last := l.packed[l.offsets[k-1]:]
		lo = append(dentryKey(n.ino, string(last[10:])), 0)
	}
	view := w.layers.view()
	l.it = view.iter(context.Background(), lo, hi)
}
