package workspace

import (
	"context"
	"fmt"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// Problem is something that a check found wrong.
type Problem struct {
	Ino  vfs.Ino `json:"ino,omitempty"`
	What string  `json:"what"`
}

// CheckReport counts what a check looked at.
type CheckReport struct {
	Commit   string `json:"commit"`
	Inodes   uint64 `json:"inodes"`
	Dentries uint64 `json:"dentries"`
	Extents  uint64 `json:"extents"`
	Xattrs   uint64 `json:"xattrs"`
	Chunks   uint64 `json:"chunks"`             // references, counted as often as they occur
	Promised uint64 `json:"promised,omitempty"` // of these, to chunks that are with a peer still
	Problems uint64 `json:"problems"`           // of which problem heard each
}

// Check verifies the structure of the present state, after making it a commit:
// tree nodes, that every name leads to an inode and every inode has as many
// names as it says, that directories form one tree and count their entries,
// that extents are in order and their chunks are there. It does not read the
// chunks: that is what a scrub does.
func (w *Workspace) Check(ctx context.Context, progress func(entries uint64), problem func(Problem)) (CheckReport, error) {
	id, err := w.Checkpoint(ctx, CauseCheckpoint, "")
	if err != nil {
		return CheckReport{}, err
	}
	return w.CheckCommit(ctx, id, progress, problem)
}

// CheckCommit verifies one commit. progress and problem may be nil.
func (w *Workspace) CheckCommit(ctx context.Context, id chunk.ID, progress func(entries uint64), problem func(Problem)) (CheckReport, error) {
	c, err := getCommit(ctx, w.chunks, id)
	if err != nil {
		return CheckReport{}, err
	}
	k := &checker{ctx: ctx, chunks: w.chunks, lazy: w.Lazy(), progress: progress, tell: problem,
		inodes: map[vfs.Ino]*checkedInode{}, report: CheckReport{Commit: id.String()}}
	t := tree.Load(w.chunks.Raw(), w.cache, c.Root)
	nodes, err := tree.Check(ctx, t)
	if err != nil {
		return k.report, err
	}
	for _, p := range nodes.Problems {
		k.problem(0, "tree node %s: %v", p.ID, p.Err)
	}
	if len(nodes.Problems) > 0 {
		return k.report, nil // what hangs below a damaged node cannot be judged
	}
	if err := k.read(t); err != nil {
		return k.report, err
	}
	k.judge(c)
	return k.report, nil
}

// checkedInode is what the dentries, extents and attributes say of an inode.
type checkedInode struct {
	v       *inodeValue
	names   uint32
	parent  vfs.Ino // of the latest dentry met
	entries uint64
	subdirs uint32
	blocks  uint64
	end     int64 // of the last extent
	extents bool
	xattrs  bool
	visited bool
}

type checker struct {
	ctx      context.Context
	chunks   *chunk.Packs
	lazy     bool // chunks may be with a peer
	progress func(uint64)
	tell     func(Problem)
	inodes   map[vfs.Ino]*checkedInode
	report   CheckReport
	seen     uint64
}

func (k *checker) problem(ino vfs.Ino, format string, args ...any) {
	k.report.Problems++
	if k.tell != nil {
		k.tell(Problem{Ino: ino, What: fmt.Sprintf(format, args...)})
	}
}

func (k *checker) of(ino vfs.Ino) *checkedInode {
	x := k.inodes[ino]
	if x == nil {
		x = &checkedInode{}
		k.inodes[ino] = x
	}
	return x
}

func (k *checker) read(t *tree.Tree) error {
	return t.Scan(k.ctx, nil, nil, func(key, value []byte) bool {
		if k.seen++; k.progress != nil && k.seen%4096 == 0 {
			k.progress(k.seen)
		}
		if !validKey(key) {
			k.problem(0, "key %q is of no known kind", key)
			return true
		}
		k.entry(key, value)
		return true
	})
}

func (k *checker) entry(key, value []byte) {
	ino := keyIno(key)
	x := k.of(ino)
	switch key[0] {
	case keyInode:
		k.report.Inodes++
		v, err := decodeInode(ino, value)
		if err != nil {
			k.problem(ino, "%v", err)
			return
		}
		x.v = v
		if v.content == contentChunk {
			k.chunk(ino, v.chunk)
		}
	case keyDentry:
		k.report.Dentries++
		d, err := decodeDentry(value)
		if err != nil {
			k.problem(ino, "name %q: %v", keySuffix(key), err)
			return
		}
		x.entries++
		if d.mode == vfs.ModeDir {
			x.subdirs++
		}
		child := k.of(d.ino)
		child.names++
		child.parent = ino
	case keyExtent:
		k.report.Extents++
		k.extent(ino, x, key, value)
	case keyXattr:
		k.report.Xattrs++
		x.xattrs = true
		if len(value) == 33 && value[0] == xattrChunk {
			k.chunk(ino, chunk.ID(value[1:]))
		}
	}
}

func (k *checker) chunk(ino vfs.Ino, id chunk.ID) {
	k.report.Chunks++
	switch {
	case k.chunks.Has(id):
	case k.lazy:
		k.report.Promised++
	default:
		k.problem(ino, "chunk %s is missing", id)
	}
}

func (k *checker) extent(ino vfs.Ino, x *checkedInode, key, value []byte) {
	p, err := decodePiece(key, value)
	if err != nil {
		k.problem(ino, "extent at %d: %v", keyOffset(key), err)
		return
	}
	if p.off < x.end {
		k.problem(ino, "extent at %d overlaps the one before it", p.off)
	}
	// Extents that meet within a block share it: the first has counted it.
	from := max(blockFloor(p.off), blockCeil(x.end))
	if to := blockCeil(p.end()); to > from {
		x.blocks += uint64(to-from) / blockSize
	}
	x.end = p.end()
	x.extents = true
	if p.src == srcChunk {
		k.chunk(ino, p.id)
		if p.at != 0 {
			k.problem(ino, "extent at %d begins within its chunk", p.off)
		}
	}
}

// judge compares what inodes say of themselves with what was counted.
func (k *checker) judge(c *Commit) {
	var used usage
	for ino, x := range k.inodes {
		if x.v == nil {
			k.problem(ino, "is named, or has bytes, attributes or entries, and is not there")
			continue
		}
		used.add(1, int64(x.v.Blocks))
		k.judgeNames(ino, x)
		k.judgeBytes(ino, x)
		if x.xattrs != (x.v.flags&flagXattr != 0) {
			k.problem(ino, "says that it has attributes: %v, has: %v", x.v.flags&flagXattr != 0, x.xattrs)
		}
	}
	for ino := range k.inodes {
		k.judgeReach(ino)
	}
	if used.Inodes != c.Inodes || used.Blocks != c.Blocks {
		k.problem(0, "the commit counts %d inodes and %d blocks, there are %d and %d",
			c.Inodes, c.Blocks, used.Inodes, used.Blocks)
	}
}

func (k *checker) judgeNames(ino vfs.Ino, x *checkedInode) {
	if !x.v.IsDir() {
		if x.names != x.v.Nlink {
			k.problem(ino, "link count is %d and it has %d names", x.v.Nlink, x.names)
		}
		if x.entries > 0 {
			k.problem(ino, "has entries and is no directory")
		}
		if x.v.Nlink == 1 && x.v.parent != 0 && x.v.parent != x.parent {
			k.problem(ino, "says it is in directory %d and is in %d", x.v.parent, x.parent)
		}
		return
	}
	want := uint32(1)
	if ino == vfs.RootIno {
		want = 0
	}
	if x.names != want {
		k.problem(ino, "directory has %d names", x.names)
	}
	if want == 1 && x.v.parent != x.parent {
		k.problem(ino, "directory says its parent is %d and is in %d", x.v.parent, x.parent)
	}
	if x.v.Nlink != 2+x.subdirs {
		k.problem(ino, "directory has link count %d and %d subdirectories", x.v.Nlink, x.subdirs)
	}
	if x.v.Size != x.entries {
		k.problem(ino, "directory counts %d entries and has %d", x.v.Size, x.entries)
	}
}

func (k *checker) judgeBytes(ino vfs.Ino, x *checkedInode) {
	if !x.v.IsRegular() {
		if x.extents {
			k.problem(ino, "has extents and is no file")
		}
		return
	}
	size := int64(x.v.Size)
	switch x.v.content {
	case contentInline, contentChunk:
		x.blocks = uint64(blockCeil(size)) / blockSize
		if size == 0 {
			k.problem(ino, "is empty and has content")
		}
	case contentExtents:
		if !x.extents {
			k.problem(ino, "says that it has extents and has none")
		}
		if x.end > size && x.v.flags&flagReserved == 0 {
			k.problem(ino, "extents end at %d in a file of %d bytes", x.end, size)
		}
	}
	if x.extents && x.v.content != contentExtents {
		k.problem(ino, "has extents and does not say so")
	}
	if got := x.v.Blocks / sectorsPerBlock; got != x.blocks {
		k.problem(ino, "counts %d blocks and has %d", got, x.blocks)
	}
}

// judgeReach follows parents to the root: what runs in a circle never gets
// there.
func (k *checker) judgeReach(ino vfs.Ino) {
	var path []*checkedInode
	for at := ino; at != vfs.RootIno; {
		x := k.inodes[at]
		if x == nil || x.v == nil || x.names == 0 {
			return // said already
		}
		if x.visited {
			break
		}
		for _, y := range path {
			if y == x {
				k.problem(ino, "is not reached from the root: its directories form a circle")
				return
			}
		}
		path = append(path, x)
		at = x.parent
	}
	for _, x := range path {
		x.visited = true
	}
}
