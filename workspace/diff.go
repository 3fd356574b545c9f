package workspace

import (
	"context"
	"slices"
	"strings"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// DifferenceKind says what became of a path; the values are for people and
// programs alike.
type DifferenceKind string

// The kinds of difference.
const (
	Added    DifferenceKind = "added"
	Removed  DifferenceKind = "removed"
	Renamed  DifferenceKind = "renamed"
	Modified DifferenceKind = "modified" // its bytes or target
	Metadata DifferenceKind = "metadata" // mode, owner, times or attributes alone
)

// Difference is one path that two commits do not agree on.
type Difference struct {
	Kind DifferenceKind `json:"kind"`
	Path string         `json:"path"`
	From string         `json:"from,omitempty"` // a renamed one's path before
	Type string         `json:"type"`           // "file", "directory", ...
	Ino  vfs.Ino        `json:"ino"`
}

// Diff returns what differs from one commit to another, sorted by path. Its
// cost is that of what differs, and a lookup for each path to name.
func (w *Workspace) Diff(ctx context.Context, from, to chunk.ID) ([]Difference, error) {
	a, err := w.At(ctx, from)
	if err != nil {
		return nil, err
	}
	b, err := w.At(ctx, to)
	if err != nil {
		return nil, err
	}
	d := &diff{ctx: ctx, inodes: map[vfs.Ino]*inodeDiff{},
		old: newNamer(ctx, &a.layers), new: newNamer(ctx, &b.layers)}
	err = tree.Diff(ctx, a.layers.base, b.layers.base, func(c tree.Change) bool {
		d.err = d.add(c)
		return d.err == nil
	})
	if err == nil {
		err = d.err
	}
	if err != nil {
		return nil, err
	}
	return d.result()
}

// name is a dentry: where an inode is bound.
type name struct {
	parent vfs.Ino
	name   string
}

// inodeDiff gathers what differs of one inode.
type inodeDiff struct {
	lost, won  []name
	old, new   *inodeValue
	bytes      bool // an extent differs
	attributes bool // an extended attribute differs
}

type diff struct {
	ctx      context.Context
	err      error
	inodes   map[vfs.Ino]*inodeDiff
	old, new *namer
	out      []Difference
}

func (d *diff) of(ino vfs.Ino) *inodeDiff {
	x := d.inodes[ino]
	if x == nil {
		x = &inodeDiff{}
		d.inodes[ino] = x
	}
	return x
}

func (d *diff) add(c tree.Change) error {
	if !validKey(c.Key) {
		return errCorruptKey
	}
	ino := keyIno(c.Key)
	switch c.Key[0] {
	case keyDentry:
		at := name{ino, string(keySuffix(c.Key))}
		if c.Old != nil {
			v, err := decodeDentry(c.Old)
			if err != nil {
				return err
			}
			d.of(v.ino).lost = append(d.of(v.ino).lost, at)
		}
		if c.New != nil {
			v, err := decodeDentry(c.New)
			if err != nil {
				return err
			}
			d.of(v.ino).won = append(d.of(v.ino).won, at)
		}
	case keyInode:
		x := d.of(ino)
		var err error
		if c.Old != nil {
			if x.old, err = decodeInode(ino, c.Old); err != nil {
				return err
			}
		}
		if c.New != nil {
			x.new, err = decodeInode(ino, c.New)
		}
		return err
	case keyExtent:
		d.of(ino).bytes = true
	case keyXattr:
		if !isPrivate(string(keySuffix(c.Key))) {
			d.of(ino).attributes = true
		}
	}
	return nil
}

func (d *diff) result() ([]Difference, error) {
	for ino, x := range d.inodes {
		if err := d.inode(ino, x); err != nil {
			return nil, err
		}
	}
	d.pair()
	slices.SortFunc(d.out, func(a, b Difference) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(string(a.Kind), string(b.Kind))
	})
	return d.out, nil
}

// pair makes one line of a path that was removed and added with the same type:
// the file was written anew, or restored, and has another inode.
func (d *diff) pair() {
	removed := map[string]int{}
	for i, x := range d.out {
		if x.Kind == Removed {
			removed[x.Type+" "+x.Path] = i
		}
	}
	gone := map[int]bool{}
	for i := range d.out {
		x := &d.out[i]
		at, ok := removed[x.Type+" "+x.Path]
		if x.Kind == Added && ok && x.Type != vfs.TypeName(vfs.ModeDir) {
			x.Kind = Modified
			gone[at] = true
		}
	}
	kept := d.out[:0]
	for i, x := range d.out {
		if !gone[i] {
			kept = append(kept, x)
		}
	}
	d.out = kept
}

// inode turns what differs of an inode into lines: each name lost is paired
// with one won, as a rename, while there are both.
func (d *diff) inode(ino vfs.Ino, x *inodeDiff) error {
	lost, won := x.lost, x.won
	for len(lost) > 0 && len(won) > 0 {
		from, err := d.old.path(lost[0])
		if err != nil {
			return err
		}
		if err := d.emit(d.new, Renamed, ino, won[0], from); err != nil {
			return err
		}
		lost, won = lost[1:], won[1:]
	}
	for _, at := range lost {
		if err := d.emit(d.old, Removed, ino, at, ""); err != nil {
			return err
		}
	}
	for _, at := range won {
		if err := d.emit(d.new, Added, ino, at, ""); err != nil {
			return err
		}
	}
	kind := x.kind()
	if kind == "" {
		return nil
	}
	if ino == vfs.RootIno { // it has no name
		d.out = append(d.out, Difference{Kind: kind, Path: "/", Type: vfs.TypeName(vfs.ModeDir), Ino: ino})
		return nil
	}
	at, err := d.new.nameOf(ino)
	if err != nil {
		return err
	}
	return d.emit(d.new, kind, ino, at, "")
}

// kind classifies a change of the inode itself; "" when there is none worth a
// line: one of the two trees does not have it, or it is a directory that
// differs in nothing but its entries.
func (x *inodeDiff) kind() DifferenceKind {
	if x.old == nil && x.new == nil {
		switch {
		case x.bytes:
			return Modified
		case x.attributes:
			return Metadata
		}
		return ""
	}
	if x.old == nil || x.new == nil {
		return ""
	}
	a, b := *x.old, *x.new
	if x.bytes || a.content != b.content || a.chunk != b.chunk || string(a.inline) != string(b.inline) ||
		a.target != b.target || a.Size != b.Size && !a.IsDir() {
		return Modified
	}
	same := a.Mode == b.Mode && a.UID == b.UID && a.GID == b.GID && a.Rdev == b.Rdev && a.flags == b.flags
	if same && !x.attributes && (a.IsDir() || a.Mtime == b.Mtime) {
		return "" // counts, and times that follow from other changes
	}
	return Metadata
}

func (d *diff) emit(n *namer, kind DifferenceKind, ino vfs.Ino, at name, from string) error {
	p, err := n.path(at)
	if err != nil {
		return err
	}
	in, err := loadInode(n.l, ino)
	if err != nil {
		return err
	}
	d.out = append(d.out, Difference{Kind: kind, Path: p, From: from, Type: vfs.TypeName(in.v.Mode), Ino: ino})
	return nil
}

// namer finds the paths of inodes in one tree.
type namer struct {
	ctx  context.Context
	l    *layers
	dirs map[vfs.Ino]string // paths of directories, "" for the root
}

func newNamer(ctx context.Context, l *layers) *namer {
	return &namer{ctx: ctx, l: l, dirs: map[vfs.Ino]string{vfs.RootIno: ""}}
}

// path returns the path of a dentry, without a leading slash.
func (n *namer) path(at name) (string, error) {
	dir, err := n.dir(at.parent)
	if err != nil {
		return "", err
	}
	if dir == "" {
		return at.name, nil
	}
	return dir + "/" + at.name, nil
}

func (n *namer) dir(ino vfs.Ino) (string, error) {
	if p, ok := n.dirs[ino]; ok {
		return p, nil
	}
	at, err := n.nameOf(ino)
	if err != nil {
		return "", err
	}
	p, err := n.path(at)
	if err == nil {
		n.dirs[ino] = p
	}
	return p, err
}

// nameOf finds a name of an inode: in the directory that its value tells of,
// or, when that is not known any more, anywhere.
func (n *namer) nameOf(ino vfs.Ino) (name, error) {
	in, err := loadInode(n.l, ino)
	if err != nil {
		return name{}, err
	}
	if in.v.parent != 0 {
		lo, hi := inoRange(keyDentry, in.v.parent)
		if at, ok, err := n.search(lo, hi, ino); err != nil || ok {
			return at, err
		}
	}
	lo, _ := inoRange(keyDentry, 0)
	at, ok, err := n.search(lo, []byte{keyDentry + 1}, ino)
	if err == nil && !ok && ino != vfs.RootIno {
		err = errNameless
	}
	return at, err
}

func (n *namer) search(lo, hi []byte, ino vfs.Ino) (at name, ok bool, err error) {
	err = n.l.scan(n.ctx, lo, hi, func(k, v []byte) (bool, error) {
		d, err := decodeDentry(v)
		if err == nil && d.ino == ino {
			at, ok = name{keyIno(k), string(keySuffix(k))}, true
		}
		return !ok, err
	})
	return at, ok, err
}
