package workspace

import "github.com/vfsd/vfsd/vfs"

// nameTmpfile puts an inode that was made without a name into dir: all that
// memory alone knew of it goes into one record.
func (w *Workspace) nameTmpfile(b *batch, dir *inode, name string, n *inode, a *vfs.Attr) error {
	v := n.v
	v.Nlink, v.parent, v.Ctime = 1, dir.ino, now()
	for _, key := range sortedKeys(v.orphanXattrs) {
		b.put(xattrKey(n.ino, key), append([]byte{xattrInline}, v.orphanXattrs[key]...))
	}
	v.orphanXattrs = nil
	var err error
	n.delta.scan(func(p piece) bool {
		err = w.journalPiece(b, n, p)
		return err == nil
	})
	if err != nil {
		return err
	}
	b.name(n, v)
	b.bind(dir.ino, name, n, v.Mode)
	w.touchDir(b, dir, 1, 0, v.Ctime)
	*a = (&inode{v: v}).attr()
	return nil
}

// journalPiece adds one piece of a file that had no name to the batch.
func (w *Workspace) journalPiece(b *batch, n *inode, p piece) error {
	ps, err := w.current(p)
	if err != nil {
		return err
	}
	for _, p := range ps {
		parts := []summed{{piece: p}}
		if p.src == srcStaging {
			if parts, err = w.staging.sums(p); err != nil {
				return err
			}
		}
		for _, part := range parts {
			r := pieceRecord{ino: n.ino, p: part.piece, crc: part.crc}
			if p.src == srcStaging {
				r.file = p.file.id
			}
			b.rec.pieces = append(b.rec.pieces, r)
			b.extents = append(b.extents, pendingPiece{n, part.piece})
		}
	}
	return nil
}
