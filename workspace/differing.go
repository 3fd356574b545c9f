package workspace

import (
	"context"
	"errors"

	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// differing is what caches must forget when one tree replaces another.
type differing struct {
	changes []vfs.Change
	inodes  map[vfs.Ino]bool // nil: too many to list
	count   int
}

// differing compares two trees of the workspace.
func (w *Workspace) differing(ctx context.Context, from, to *tree.Tree) (*differing, error) {
	d := &differing{inodes: map[vfs.Ino]bool{}}
	var inner error
	kinds := map[vfs.Ino]int{} // place of the change of an inode, plus one
	err := tree.Diff(ctx, from, to, func(c tree.Change) bool {
		d.count++
		if len(d.changes) > maxChanges {
			return true
		}
		ino := keyIno(c.Key)
		switch {
		case !validKey(c.Key):
			inner = errCorruptKey
		case c.Key[0] == keyDentry:
			inner = d.entry(ino, c)
		default:
			d.inodes[ino] = true
			inner = d.inode(ino, c, kinds)
		}
		return inner == nil
	})
	if err = errors.Join(err, inner); err != nil {
		return nil, err
	}
	if len(d.changes) > maxChanges {
		d.changes, d.inodes = []vfs.Change{{Kind: vfs.ChangeAll}}, nil
	}
	return d, nil
}

func (d *differing) entry(parent vfs.Ino, c tree.Change) error {
	v := c.New
	if v == nil {
		v = c.Old
	}
	x, err := decodeDentry(v)
	d.changes = append(d.changes, vfs.Change{Kind: vfs.ChangeEntry, Parent: parent, Name: string(keySuffix(c.Key)), Ino: x.ino, Gone: c.New == nil})
	return err
}

// inode notes a change of an inode: of its bytes when they may differ, else of
// its attributes, so that what the kernel has cached of a file lives on when
// only its mode has changed.
func (d *differing) inode(ino vfs.Ino, c tree.Change, kinds map[vfs.Ino]int) error {
	x := vfs.Change{Kind: vfs.ChangeAttr, Ino: ino}
	switch c.Key[0] {
	case keyExtent:
		x = vfs.Change{Kind: vfs.ChangeData, Ino: ino, Len: -1}
	case keyXattr:
		x.Rights = string(keySuffix(c.Key)) == vfs.XattrACLAccess
	case keyInode:
		if c.Old == nil || c.New == nil {
			x.Rights = true
			break
		}
		a, err := decodeInode(ino, c.Old)
		if err != nil {
			return err
		}
		b, err := decodeInode(ino, c.New)
		if err != nil {
			return err
		}
		if a.IsRegular() && !sameHead(a, b) {
			x = vfs.Change{Kind: vfs.ChangeData, Ino: ino, Len: -1}
		}
		x.Rights = a.Mode != b.Mode || a.UID != b.UID || a.GID != b.GID
	}
	at := kinds[ino]
	if at == 0 {
		d.changes = append(d.changes, x)
		kinds[ino] = len(d.changes)
		return nil
	}
	was := &d.changes[at-1]
	if x.Kind == vfs.ChangeData {
		was.Kind, was.Off, was.Len = x.Kind, x.Off, x.Len
	}
	was.Rights = was.Rights || x.Rights
	return nil
}

// reload makes what is cached agree with a new base. mu is held exclusively and
// the overlay is empty.
func (w *Workspace) reload(d *differing) error {
	if d.inodes == nil {
		return w.reloadInodes()
	}
	var first error
	for _, n := range w.inodes.all() {
		if d.inodes[n.ino] || n.orphan {
			if err := w.reloadInode(n); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
}
