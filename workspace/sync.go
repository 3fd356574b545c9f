package workspace

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// What a peer needs of a workspace to bring another one to the same state:
//
//	head, err := w.SyncHead(ctx)                       // commits what is dirty
//	raw, err := w.CommitRecord(ctx, head)              // and so on to its parents
//	for c, err := range w.Delta(ctx, base, root) {...} // what differs, and ChunksOf each value
//
// and at the other end
//
//	im, err := w.Import(ctx, target)         // goes on where a transfer broke
//	root, err = im.Apply(ctx, root, edits)   // or im.PutNode, node by node
//	err = im.PutChunk(ctx, id, data)
//	err = im.Finish(ctx, target, records, lazy)
//	im.Close()
//	err = w.MoveHead(ctx, head, target)      // or w.Merge(ctx, target, options)

// Errors of synchronisation.
var (
	// ErrInvalid is in the chain of an error about something of a peer's that no
	// workspace can hold.
	ErrInvalid = errors.New("not a valid workspace")
	// ErrHeadMoved says that the head is not the commit that was expected.
	ErrHeadMoved = errors.New("the head has moved")
	// ErrDiverged says that a commit does not descend from the head, which a
	// merge would take care of.
	ErrDiverged = errors.New("it does not have what the head has; merge them")
	// ErrNoTree says that a commit is known and its tree is not here.
	ErrNoTree = errors.New("the tree of that commit is not here")
)

// invalid is an error about what a peer sent.
func invalid(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, ErrInvalid)...)
}

// ID returns the number of the workspace, which no other one has.
func (w *Workspace) ID() [16]byte { return w.id }

// Replica returns the number that its inode numbers begin with.
func (w *Workspace) Replica() uint32 { return w.replica }

// Polynomial returns what cuts its files; see chunk.NewCutter.
func (w *Workspace) Polynomial() uint64 {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.head.Polynomial
}

// Head returns the newest commit. Changes since are not in it.
func (w *Workspace) Head() chunk.ID {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.head.Commit
}

// SyncHead returns a commit of the present state that says all that another
// store must know, committing what is dirty first.
func (w *Workspace) SyncHead(ctx context.Context) (chunk.ID, error) {
	w.checkpointing.Lock()
	defer w.checkpointing.Unlock()
	id, err := w.checkpoint(ctx, CauseCheckpoint, "")
	if err != nil {
		return id, err
	}
	c, err := getCommit(ctx, w.chunks, id)
	if err != nil || c.Polynomial != 0 {
		return id, err
	}
	return w.relabel(ctx, CauseCheckpoint, "") // it is of before commits said it
}

// CommitRecord returns the bytes of a commit.
func (w *Workspace) CommitRecord(ctx context.Context, id chunk.ID) ([]byte, error) {
	b, err := w.chunks.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if _, err := decodeCommit(b); err != nil {
		return nil, fmt.Errorf("commit %s: %w", id, err)
	}
	return b, nil
}

// ParseCommit decodes the bytes of a commit, which may be hostile.
func ParseCommit(b []byte) (*Commit, error) { return decodeCommit(b) }

// Commit returns a commit.
func (w *Workspace) Commit(ctx context.Context, id chunk.ID) (*Commit, error) {
	return getCommit(ctx, w.chunks, id)
}

// Delta yields, in the order of keys, what differs between the trees with the
// roots base and target, either of which may be tree.EmptyRoot. It reads what
// differs and holds little of it. Slices are good until the next change is
// asked for. After an error it yields nothing.
func (w *Workspace) Delta(ctx context.Context, base, target chunk.ID) iter.Seq2[tree.Change, error] {
	return func(yield func(tree.Change, error) bool) {
		stopped := false
		err := tree.Diff(ctx, w.treeAt(base), w.treeAt(target), func(c tree.Change) bool {
			stopped = !yield(c, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(tree.Change{}, err)
		}
	}
}

func (w *Workspace) treeAt(root chunk.ID) *tree.Tree {
	return tree.Load(w.chunks.Raw(), w.cache, root)
}

// TreeSize returns the extent of the tree with a root, from its root node.
func (w *Workspace) TreeSize(ctx context.Context, root chunk.ID) (tree.Size, error) {
	return w.treeAt(root).Size(ctx)
}

// ChunksOf returns the chunks that an entry of a tree refers to, having
// checked that the entry is one that a workspace may have by itself. It is a
// pure function.
func ChunksOf(key, value []byte) ([]chunk.ID, error) {
	if err := validEntry(key, value); err != nil {
		return nil, err
	}
	return chunksOf(key, value)
}

// TreeNode is what synchronisation must know of an encoded tree node.
type TreeNode struct {
	Level    int
	Children []chunk.ID // none of a leaf
	Chunks   []chunk.ID // what the entries of a leaf refer to, repeats included
}

// InspectNode decodes a tree node, which may be hostile, and checks each entry
// of a leaf by itself. It is a pure function.
func InspectNode(node []byte) (TreeNode, error) {
	level, children, err := tree.Inspect(node)
	if err != nil {
		return TreeNode{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	n := TreeNode{Level: level, Children: children}
	var inner error
	err = tree.Entries(node, func(k, v []byte) bool {
		var ids []chunk.ID
		if ids, inner = ChunksOf(k, v); inner != nil {
			return false
		}
		n.Chunks = append(n.Chunks, ids...)
		return true
	})
	return n, errors.Join(err, inner)
}

// HasTree reports whether the tree of a commit is here with all its nodes, for
// certain, as far as that shows without walking it.
func (w *Workspace) HasTree(ctx context.Context, commit chunk.ID) bool {
	w.mu.RLock()
	h := w.head
	w.mu.RUnlock()
	if commit == h.Commit ||
		slices.ContainsFunc(h.Snapshots, func(s Snapshot) bool { return s.Commit == commit }) ||
		slices.ContainsFunc(h.Refs, func(r Ref) bool { return r.Commit == commit }) {
		return true
	}
	own, err := w.ownHistory(ctx, keptCommits)
	return err == nil && slices.Contains(own, commit)
}

// Bases returns commits for which HasTree holds, those first that a peer is
// likely to have too, at most limit of them.
func (w *Workspace) Bases(ctx context.Context, limit int) ([]chunk.ID, error) {
	w.mu.RLock()
	h := w.head
	w.mu.RUnlock()
	all := []chunk.ID{h.Commit}
	for _, r := range slices.Backward(h.Refs) {
		all = append(all, r.Commit)
	}
	for _, s := range slices.Backward(h.Snapshots) {
		all = append(all, s.Commit)
	}
	own, err := w.ownHistory(ctx, keptCommits)
	if err != nil {
		return nil, err
	}
	var out []chunk.ID
	for _, id := range append(all, own...) {
		if len(out) < limit && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// ownHistory returns the newest commits that this replica made and that a
// collection keeps: their trees were whole here once, so they are.
func (w *Workspace) ownHistory(ctx context.Context, limit int) ([]chunk.ID, error) {
	log, err := w.Log(ctx, limit)
	var own []chunk.ID
	for _, e := range log {
		if e.Replica == w.replica && e.Cause != CauseMerge {
			own = append(own, e.ID)
		}
	}
	return own, err
}

// maxRefs bounds what a head names; maxRefName what a ref may be called.
const (
	maxRefs    = 256
	maxRefName = 128
	// importRefs begin the names of commits that an import has finished; the
	// oldest of too many go.
	importRefs    = "import/"
	maxImportRefs = 16
	// syncRefs begin the names of commits of other replicas that the head has
	// taken up, by the number of the replica: the next merge with it goes on
	// from there.
	syncRefs    = "sync/"
	maxSyncRefs = 64
	forkRef     = syncRefs + "fork"
)

// Refs returns the commits that are kept by name, the oldest first.
func (w *Workspace) Refs() []Ref {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return slices.Clone(w.head.Refs)
}

// Ref returns the commit that a name refers to.
func (w *Workspace) Ref(name string) (chunk.ID, bool) {
	for _, r := range w.Refs() {
		if r.Name == name {
			return r.Commit, true
		}
	}
	return chunk.ID{}, false
}

// SetRef keeps a commit, which is to be whole here, by a name, durably: the
// one that a peer is known to have, say, from which the next exchange starts.
// The zero commit forgets the name.
func (w *Workspace) SetRef(ctx context.Context, name string, commit chunk.ID) error {
	if name == "" || len(name) > maxRefName || strings.HasPrefix(name, importRefs) || strings.HasPrefix(name, syncRefs) {
		return fmt.Errorf("ref %q: %w", name, ErrBadName)
	}
	if !commit.IsZero() && !w.HasTree(ctx, commit) {
		return fmt.Errorf("ref %s: commit %s: %w", name, commit, ErrNoTree)
	}
	w.checkpointing.Lock()
	defer w.checkpointing.Unlock()
	return w.putRef(name, commit)
}

// putRef writes a head with a ref set, or dropped. checkpointing is held.
func (w *Workspace) putRef(name string, commit chunk.ID) error {
	w.mu.RLock()
	h := w.head
	w.mu.RUnlock()
	h.Refs = withRef(h.Refs, name, commit)
	if len(h.Refs) > maxRefs {
		return fmt.Errorf("ref %s: there are %d already", name, maxRefs)
	}
	return w.moveHead(h)
}

func withRef(refs []Ref, name string, commit chunk.ID) []Ref {
	refs = slices.DeleteFunc(slices.Clone(refs), func(r Ref) bool { return r.Name == name })
	if !commit.IsZero() {
		refs = append(refs, Ref{name, commit})
	}
	return dropOldest(dropOldest(refs, importRefs, maxImportRefs), syncRefs, maxSyncRefs)
}

// dropOldest keeps the newest refs whose names begin so.
func dropOldest(refs []Ref, prefix string, keep int) []Ref {
	n := 0
	for _, r := range refs {
		if strings.HasPrefix(r.Name, prefix) {
			n++
		}
	}
	return slices.DeleteFunc(refs, func(r Ref) bool {
		drop := n > keep && strings.HasPrefix(r.Name, prefix)
		if drop {
			n--
		}
		return drop
	})
}

// withoutImport drops what an import has kept, once the head has it.
func withoutImport(refs []Ref, commit chunk.ID) []Ref {
	return slices.DeleteFunc(slices.Clone(refs), func(r Ref) bool {
		return r.Commit == commit && strings.HasPrefix(r.Name, importRefs)
	})
}

// validEntry checks what can be told of an entry by itself.
func validEntry(key, value []byte) error {
	if !validKey(key) || keyIno(key) >= 1<<slotShift {
		return invalid("key %.300q", key)
	}
	var err error
	switch key[0] {
	case keyInode:
		var v *inodeValue
		if v, err = decodeInode(keyIno(key), value); err == nil {
			return validInode(v)
		}
	case keyDentry:
		var d dentryValue
		if d, err = decodeDentry(value); err == nil && (d.ino >= 1<<slotShift || d.ino == vfs.RootIno) {
			return invalid("name %q leads to inode %d", keySuffix(key), d.ino)
		}
	case keyExtent:
		var p piece
		if p, err = decodePiece(key, value); err == nil && (p.at != 0 || p.off > vfs.MaxFileSize-p.len) {
			return invalid("extent at %d of inode %d", p.off, keyIno(key))
		}
	case keyXattr:
		ok := len(value) > 0 && value[0] == xattrInline && len(value) <= xattrInlineMax ||
			len(value) == 33 && value[0] == xattrChunk
		if !ok {
			return invalid("value of attribute %q of inode %d", keySuffix(key), keyIno(key))
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// validInode checks the fields of an inode against one another.
func validInode(v *inodeValue) error {
	size, blocks := int64(v.Size), v.Blocks/sectorsPerBlock
	ok := vfs.TypeName(v.Mode) != "unknown" && v.Mode&^(vfs.ModeTypeMask|vfs.ModePerm) == 0 &&
		v.parent < 1<<slotShift && v.Nlink > 0
	switch v.Mode & vfs.ModeTypeMask {
	case vfs.ModeRegular:
		switch v.content {
		case contentNone:
			ok = ok && blocks == 0
		case contentInline:
			ok = ok && size > 0 && blocks == 1
		case contentChunk:
			ok = ok && size > inlineMax && size <= chunk.WholeMax && blocks == uint64(blockCeil(size))/blockSize
		}
	case vfs.ModeSymlink:
		ok = ok && v.target != "" && size == int64(len(v.target)) && !strings.Contains(v.target, "\x00")
	case vfs.ModeDir:
		ok = ok && v.Nlink >= 2 && v.parent != 0 && blocks == 0
	}
	if !ok || v.flags&flagXattr == 0 && v.flags&(flagACL|flagDefaultACL) != 0 {
		return invalid("attributes of inode %d", v.Ino)
	}
	return nil
}
