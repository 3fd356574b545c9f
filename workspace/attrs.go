package workspace

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// Getattr implements vfs.FS.
func (w *Workspace) Getattr(op *vfs.Op, ino vfs.Ino) (vfs.Attr, error) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	n, err := w.load(ino)
	if err != nil {
		return vfs.Attr{}, err
	}
	return n.attr(), nil
}

// Access implements vfs.FS.
func (w *Workspace) Access(op *vfs.Op, ino vfs.Ino, mask uint32) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	n, err := w.load(ino)
	if err != nil {
		return err
	}
	return w.permit(op, n, mask)
}

// Setattr implements vfs.FS.
func (w *Workspace) Setattr(op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
	var a vfs.Attr
	if set.Mask&vfs.SetSize != 0 {
		if err := w.prepare(op, ino, int64(min(set.Size, vfs.MaxFileSize)), int64(min(set.Size, vfs.MaxFileSize))); err != nil {
			return a, err
		}
	}
	err := w.mutate(op, func(b *batch) error {
		n, err := w.load(ino)
		if err != nil {
			return err
		}
		acl, err := w.accessACL(n)
		if err != nil {
			return err
		}
		v := n.v
		if err := vfs.ApplySetattr(&v.Attr, acl, &op.Cred, set, now()); err != nil {
			return err
		}
		kind := vfs.Change{Kind: vfs.ChangeAttr, Ino: ino, Rights: set.Mask&(vfs.SetMode|vfs.SetUID|vfs.SetGID) != 0}
		if set.Mask&vfs.SetSize != 0 {
			kind = vfs.Change{Kind: vfs.ChangeData, Ino: ino, Off: int64(min(v.Size, set.Size)), Len: -1}
			if err := w.resize(b, n, &v, int64(set.Size)); err != nil {
				return err
			}
		}
		if set.Mask&vfs.SetMode != 0 && acl != nil {
			w.putXattr(b, n, vfs.XattrACLAccess, acl.Chmod(v.Mode).Encode())
		}
		b.set(n, v)
		b.change(kind)
		if set.Mask&(vfs.SetSize|vfs.SetUID|vfs.SetGID) != 0 && v.IsRegular() {
			if err := w.dropCapability(b, n); err != nil {
				return err
			}
			v = b.value(n)
		}
		a = (&inode{v: v}).attr()
		return nil
	})
	return a, err
}

// resize changes a file's length in v: what is cut off becomes a hole, so that
// it does not come back when the file grows again.
func (w *Workspace) resize(b *batch, n *inode, v *inodeValue, size int64) error {
	old := int64(v.Size)
	v.Size = uint64(size)
	// At the same length what is reserved past the end still goes, as on ext4.
	if size > old || size == old && n.v.flags&flagReserved == 0 {
		return nil
	}
	b.frees = true
	end := blockCeil(old)
	if n.v.flags&flagReserved != 0 {
		end = blockCeil(vfs.MaxFileSize)
	}
	// The block that the file now ends in stays if what is left of it has data.
	from := blockFloor(size)
	lost, err := w.allocated(n, from, end)
	if err != nil {
		return err
	}
	err = w.segments(n, from, size, func(p piece) error {
		if p.src != srcHole {
			lost--
			return errFound
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		return err
	}
	if lost < 0 || uint64(lost)*sectorsPerBlock > v.Blocks {
		return fmt.Errorf("inode %d counts %d blocks and would lose %d: %w", n.ino, v.Blocks/sectorsPerBlock, lost, vfs.ErrCorrupt)
	}
	v.Blocks -= uint64(lost) * sectorsPerBlock
	v.flags &^= flagReserved
	b.extent(n, piece{off: size, len: vfs.MaxFileSize - size, src: srcHole}, 0)
	return nil
}

// Statfs implements vfs.FS: the figures are the host's, whose disk it is, or
// the quota's where that is the tighter. What was deleted here counts as free
// at once, though the host gets it back later.
func (w *Workspace) Statfs(op *vfs.Op) (vfs.Statfs, error) {
	host, err := w.fsys.Usage(w.dir)
	if err != nil {
		return vfs.Statfs{}, err
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	s := vfs.Statfs{BlockSize: blockSize, NameMax: vfs.MaxName, Blocks: host.Total / blockSize}
	s.BlocksFree = min(s.Blocks, host.Free/blockSize+w.freed)
	s.BlocksAvail = min(s.BlocksFree, host.Available/blockSize+w.freed)
	if limit := w.quota.Bytes / blockSize; limit > 0 {
		left := limit - min(limit, w.usage.Blocks)
		s.Blocks, s.BlocksFree, s.BlocksAvail = limit, min(s.BlocksFree, left), min(s.BlocksAvail, left)
	}
	s.Files = w.quota.inodes()
	s.FilesFree = s.Files - min(s.Files, w.usage.Inodes)
	return s, nil
}

// Quota bounds what a workspace holds; zero fields do not.
type Quota struct {
	Bytes  uint64 // of allocated space
	Inodes uint64
}

func (q Quota) inodes() uint64 {
	if q.Inodes == 0 {
		return counterMask
	}
	return q.Inodes
}

// allow reports EDQUOT when holding blocks of blockSize is more than allowed.
func (q Quota) allow(blocks uint64) error {
	if q.Bytes > 0 && blocks > q.Bytes/blockSize {
		return syscall.EDQUOT
	}
	return nil
}
