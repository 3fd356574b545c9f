package workspace

import (
	"context"
	"sync"
	"syscall"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// Browse adds to a workspace the directory .vfsd/snapshots/NAME at its root, in
// which each snapshot can be read. The directory is in no listing, and nothing
// in it can be changed.
func (w *Workspace) Browse() vfs.FS {
	return &browser{Workspace: w, slots: map[uint64]*slot{}, byCommit: map[chunk.ID]uint64{}}
}

// The inode numbers below .vfsd have a slot in their top bits but one: which
// snapshot they are in. virtualSlot is for the directories made up here.
const (
	slotShift   = counterBits + replicaBits
	slotMask    = 0x7f
	virtualSlot = 0x7f
	maxSlots    = 0x7e

	dotName       = ".vfsd"
	snapshotsName = "snapshots"
	dotIno        = vfs.Ino(virtualSlot<<slotShift | 1)
	snapshotsIno  = vfs.Ino(virtualSlot<<slotShift | 2)
)

func slotOf(ino vfs.Ino) uint64 { return uint64(ino) >> slotShift }

func inSlot(s uint64, ino vfs.Ino) vfs.Ino { return vfs.Ino(s<<slotShift) | ino }

func outOfSlot(ino vfs.Ino) vfs.Ino { return ino & (1<<slotShift - 1) }

type browser struct {
	*Workspace

	mu       sync.Mutex
	slots    map[uint64]*slot    // guarded by mu
	byCommit map[chunk.ID]uint64 // guarded by mu
	clock    uint64              // guarded by mu
}

// slot is a snapshot that is being read.
type slot struct {
	view   *Workspace
	commit chunk.ID
	used   uint64 // clock at its last lookup
	pins   int    // inodes of it that somebody holds
}

// view returns the snapshot that a tagged inode number is in.
func (b *browser) view(ino vfs.Ino) (*Workspace, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.slots[slotOf(ino)]
	if s == nil {
		return nil, syscall.ESTALE
	}
	return s.view, nil
}

// enter returns the slot of a snapshot, taking that of the one least lately
// used which nobody holds when there are too many: EMFILE when all are held.
func (b *browser) enter(s Snapshot) (uint64, *Workspace, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock++
	if k, ok := b.byCommit[s.Commit]; ok {
		b.slots[k].used = b.clock
		return k, b.slots[k].view, nil
	}
	view, err := b.At(context.Background(), s.Commit)
	if err != nil {
		return 0, nil, err
	}
	k, err := b.freeSlot()
	if err != nil {
		return 0, nil, err
	}
	b.slots[k] = &slot{view: view, commit: s.Commit, used: b.clock}
	b.byCommit[s.Commit] = k
	return k, view, nil
}

func (b *browser) freeSlot() (uint64, error) {
	oldest := uint64(0)
	for k := uint64(1); k <= maxSlots; k++ {
		s := b.slots[k]
		if s == nil {
			return k, nil
		}
		if s.pins == 0 && (oldest == 0 || s.used < b.slots[oldest].used) {
			oldest = k
		}
	}
	if oldest == 0 {
		return 0, syscall.EMFILE
	}
	delete(b.byCommit, b.slots[oldest].commit)
	delete(b.slots, oldest)
	return oldest, nil
}

// virtual is the attributes of a directory made up here: it looks like the
// root, with nobody allowed to write.
func (b *browser) virtual(op *vfs.Op, ino vfs.Ino) (vfs.Attr, error) {
	a, err := b.Workspace.Getattr(op, vfs.RootIno)
	a.Ino, a.Nlink, a.Mode = ino, 2, vfs.ModeDir|0o555
	return a, err
}

// Lookup implements vfs.FS.
func (b *browser) Lookup(op *vfs.Op, parent vfs.Ino, name string) (vfs.Attr, error) {
	switch {
	case parent == vfs.RootIno && name == dotName:
		return b.virtual(op, dotIno)
	case parent == dotIno && name == snapshotsName:
		return b.virtual(op, snapshotsIno)
	case parent == dotIno:
		return b.lookupDot(op, name)
	case parent == snapshotsIno:
		return b.lookupSnapshot(op, name)
	case slotOf(parent) == 0:
		return b.Workspace.Lookup(op, parent, name)
	}
	v, err := b.view(parent)
	if err != nil {
		return vfs.Attr{}, err
	}
	a, err := v.Lookup(op, outOfSlot(parent), name)
	a.Ino = inSlot(slotOf(parent), a.Ino)
	return a, err
}

// lookupDot finds what the workspace itself has in a directory of that name:
// its merge policy.
func (b *browser) lookupDot(op *vfs.Op, name string) (vfs.Attr, error) {
	dot, err := b.Workspace.Lookup(op, vfs.RootIno, dotName)
	if err != nil {
		return vfs.Attr{}, err
	}
	if !dot.IsDir() {
		return vfs.Attr{}, syscall.ENOENT
	}
	a, err := b.Workspace.Lookup(op, dot.Ino, name)
	if err == nil && a.IsDir() {
		err = syscall.ENOENT // no way in leads further down
	}
	return a, err
}

func (b *browser) lookupSnapshot(op *vfs.Op, name string) (vfs.Attr, error) {
	for _, s := range b.Snapshots() {
		if s.Name == name {
			k, v, err := b.enter(s)
			if err != nil {
				return vfs.Attr{}, err
			}
			a, err := v.Getattr(op, vfs.RootIno)
			a.Ino = inSlot(k, a.Ino)
			return a, err
		}
	}
	return vfs.Attr{}, syscall.ENOENT
}

// Parent implements vfs.FS.
func (b *browser) Parent(op *vfs.Op, ino vfs.Ino) (vfs.Ino, error) {
	switch {
	case ino == dotIno:
		return vfs.RootIno, nil
	case ino == snapshotsIno:
		return dotIno, nil
	case slotOf(ino) == 0:
		return b.Workspace.Parent(op, ino)
	case outOfSlot(ino) == vfs.RootIno:
		return snapshotsIno, nil
	}
	v, err := b.view(ino)
	if err != nil {
		return 0, err
	}
	p, err := v.Parent(op, outOfSlot(ino))
	return inSlot(slotOf(ino), p), err
}

// Getattr implements vfs.FS.
func (b *browser) Getattr(op *vfs.Op, ino vfs.Ino) (vfs.Attr, error) {
	switch slotOf(ino) {
	case 0:
		return b.Workspace.Getattr(op, ino)
	case virtualSlot:
		return b.virtual(op, ino)
	}
	v, err := b.view(ino)
	if err != nil {
		return vfs.Attr{}, err
	}
	a, err := v.Getattr(op, outOfSlot(ino))
	a.Ino = ino
	return a, err
}

// Access implements vfs.FS.
func (b *browser) Access(op *vfs.Op, ino vfs.Ino, mask uint32) error {
	if slotOf(ino) == 0 {
		return b.Workspace.Access(op, ino, mask)
	}
	if mask&vfs.MayWrite != 0 {
		return syscall.EROFS
	}
	if slotOf(ino) == virtualSlot {
		return nil
	}
	v, err := b.view(ino)
	if err != nil {
		return err
	}
	return v.Access(op, outOfSlot(ino), mask)
}

// Readlink implements vfs.FS.
func (b *browser) Readlink(op *vfs.Op, ino vfs.Ino) (string, error) {
	v, err := b.reader(ino)
	if err != nil {
		return "", err
	}
	return v.Readlink(op, outOfSlot(ino))
}

// reader returns what holds the inode: the workspace itself or a snapshot.
func (b *browser) reader(ino vfs.Ino) (*Workspace, error) {
	switch slotOf(ino) {
	case 0:
		return b.Workspace, nil
	case virtualSlot:
		return nil, syscall.EINVAL
	}
	return b.view(ino)
}

// Open implements vfs.FS.
func (b *browser) Open(op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error) {
	if slotOf(ino) == virtualSlot {
		return nil, syscall.EISDIR
	}
	v, err := b.reader(ino)
	if err != nil {
		return nil, err
	}
	h, err := v.Open(op, outOfSlot(ino), flags)
	if err != nil || slotOf(ino) == 0 {
		return h, err
	}
	return taggedHandle{h.(*handle), ino}, nil
}

// taggedHandle is a handle in a snapshot.
type taggedHandle struct {
	*handle
	ino vfs.Ino
}

// Ino implements vfs.Handle.
func (h taggedHandle) Ino() vfs.Ino { return h.ino }

// OpenDir implements vfs.FS.
func (b *browser) OpenDir(op *vfs.Op, ino vfs.Ino) (vfs.DirHandle, error) {
	if slotOf(ino) == virtualSlot {
		return &virtualDir{b: b, ino: ino}, nil
	}
	v, err := b.reader(ino)
	if err != nil {
		return nil, err
	}
	h, err := v.OpenDir(op, outOfSlot(ino))
	if err != nil || slotOf(ino) == 0 {
		return h, err
	}
	return taggedDir{h, ino}, nil
}

// taggedDir is an open directory in a snapshot.
type taggedDir struct {
	vfs.DirHandle
	ino vfs.Ino
}

// Ino implements vfs.DirHandle.
func (d taggedDir) Ino() vfs.Ino { return d.ino }

// ReadDir implements vfs.DirHandle.
func (d taggedDir) ReadDir(op *vfs.Op, cookie uint64, attrs bool, emit func(*vfs.DirEntry) bool) error {
	k := slotOf(d.ino)
	return d.DirHandle.ReadDir(op, cookie, attrs, func(e *vfs.DirEntry) bool {
		e.Ino = inSlot(k, e.Ino)
		if e.Attr != nil {
			e.Attr.Ino = e.Ino
		}
		return emit(e)
	})
}

// virtualDir lists .vfsd or its snapshots.
type virtualDir struct {
	b   *browser
	ino vfs.Ino
}

// Ino implements vfs.DirHandle.
func (d *virtualDir) Ino() vfs.Ino { return d.ino }

// ReadDir implements vfs.DirHandle.
func (d *virtualDir) ReadDir(op *vfs.Op, cookie uint64, attrs bool, emit func(*vfs.DirEntry) bool) error {
	names := []string{snapshotsName, policyName}
	if d.ino == snapshotsIno {
		names = names[:0]
		for _, s := range d.b.Snapshots() {
			names = append(names, s.Name)
		}
	}
	for i := int(min(cookie, uint64(len(names)))); i < len(names); i++ {
		a, err := d.b.Lookup(op, d.ino, names[i])
		if err == syscall.ENOENT {
			continue
		}
		if err != nil {
			return err
		}
		e := vfs.DirEntry{Name: names[i], Ino: a.Ino, Mode: a.Mode, Cookie: uint64(i) + 1}
		if attrs {
			e.Attr = &a
		}
		if !emit(&e) {
			return nil
		}
	}
	return nil
}

// Fsync implements vfs.DirHandle.
func (d *virtualDir) Fsync(op *vfs.Op, dataOnly bool) error { return nil }

// Release implements vfs.DirHandle.
func (d *virtualDir) Release(op *vfs.Op) {}

// Getxattr implements vfs.FS.
func (b *browser) Getxattr(op *vfs.Op, ino vfs.Ino, name string) ([]byte, error) {
	v, err := b.reader(ino)
	if err != nil {
		return nil, syscall.ENODATA
	}
	return v.Getxattr(op, outOfSlot(ino), name)
}

// Listxattr implements vfs.FS.
func (b *browser) Listxattr(op *vfs.Op, ino vfs.Ino) ([]string, error) {
	v, err := b.reader(ino)
	if err != nil {
		return nil, nil
	}
	return v.Listxattr(op, outOfSlot(ino))
}

// Pin implements vfs.FS.
func (b *browser) Pin(ino vfs.Ino) { b.pin(ino, 1) }

// Unpin implements vfs.FS.
func (b *browser) Unpin(ino vfs.Ino) { b.pin(ino, -1) }

func (b *browser) pin(ino vfs.Ino, delta int) {
	if slotOf(ino) == 0 {
		if delta > 0 {
			b.Workspace.Pin(ino)
		} else {
			b.Workspace.Unpin(ino)
		}
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.slots[slotOf(ino)]; s != nil {
		s.pins += delta
	}
}

// refuse is what a change gets: nil where it concerns the live files only.
func refuse(inos ...vfs.Ino) error {
	for _, ino := range inos {
		if slotOf(ino) != 0 {
			return syscall.EROFS
		}
	}
	return nil
}

// refuseName also keeps .vfsd from being made, removed or renamed.
func refuseName(parent vfs.Ino, name string, taken error) error {
	if parent == vfs.RootIno && name == dotName {
		return taken
	}
	return refuse(parent)
}
