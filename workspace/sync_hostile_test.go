package workspace

import (
	"context"
	"errors"
	"math/rand"
	"testing"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// TestImportHostile offers trees that no workspace can have (P7): each is
// refused before anything refers to it, whether there is a base or not.
func TestImportHostile(t *testing.T) {
	ctx := context.Background()
	x := newReplicas(t, 1, func(a *shellActor) {
		a.write("f", "hello")
		a.write("g", "hello")
		a.ln("g", "h")
		a.mkdir("d")
		a.mkdir("d/e")
		a.write("d/e/x", string(make([]byte, 200000)))
		a.setxattr("f", "user.a", "b")
	})
	a := x.on(0)
	base := syncHead(t, a.w)
	w := a.w
	commit, err := w.Commit(ctx, base)
	must(t, err)
	at := func(p string) (vfs.Ino, *inodeValue) {
		ino := a.ino(p)
		b, _, err := w.treeAt(commit.Root).Get(ctx, inodeKey(ino))
		must(t, err)
		v, err := decodeInode(ino, b)
		must(t, err)
		return ino, v
	}
	edit := func(p string, change func(*inodeValue)) tree.Edit {
		ino, v := at(p)
		change(v)
		return tree.Edit{Key: inodeKey(ino), Value: appendInode(nil, v)}
	}
	bind := func(dir, name, to string) tree.Edit {
		_, v := at(to)
		return tree.Edit{Key: dentryKey(a.ino(dir), name), Value: dentryValue{v.Ino, v.Mode & vfs.ModeTypeMask}.encode()}
	}
	raw := func(dir vfs.Ino, name string) []byte { return append(inoKey(keyDentry, dir, 0), name...) }
	d, e, f := a.ino("d"), a.ino("d/e"), a.ino("f")
	for _, c := range []struct {
		name  string
		edits []tree.Edit
	}{
		{"a name with a slash", []tree.Edit{{Key: raw(1, "a/b"), Value: dentryValue{f, vfs.ModeRegular}.encode()}}},
		{"a name with a NUL", []tree.Edit{{Key: raw(1, "a\x00"), Value: dentryValue{f, vfs.ModeRegular}.encode()}}},
		{"dot dot", []tree.Edit{{Key: raw(1, ".."), Value: dentryValue{f, vfs.ModeRegular}.encode()}}},
		{"a long name", []tree.Edit{{Key: raw(1, string(make([]byte, 256))), Value: dentryValue{f, vfs.ModeRegular}.encode()}}},
		{"an unknown kind of key", []tree.Edit{{Key: []byte("zzzzzzzzz"), Value: []byte("1")}}},
		{"an inode number in a snapshot's range", []tree.Edit{{Key: inodeKey(1 << 57), Value: []byte{1}}}},
		{"a link more than counted", []tree.Edit{bind("/", "i", "g")}},
		{"a link less than counted", []tree.Edit{edit("g", func(v *inodeValue) { v.Nlink = 1 })}},
		{"a name to nothing", []tree.Edit{{Key: dentryKey(1, "n"), Value: dentryValue{12345, vfs.ModeRegular}.encode()}}},
		{"a name of another type", []tree.Edit{{Key: dentryKey(1, "f"), Value: dentryValue{f, vfs.ModeDir}.encode()}}},
		{"an inode without a name", []tree.Edit{{Key: dentryKey(1, "f"), Delete: true}, edit("/", func(v *inodeValue) { v.Size-- })}},
		{"a deleted inode with names", []tree.Edit{{Key: inodeKey(f), Delete: true}}},
		{"a deleted inode with attributes", []tree.Edit{{Key: dentryKey(1, "f"), Delete: true}, {Key: inodeKey(f), Delete: true}, edit("/", func(v *inodeValue) { v.Size-- })}},
		{"no root", []tree.Edit{{Key: inodeKey(1), Delete: true}}},
		{"a name of the root", []tree.Edit{{Key: dentryKey(e, "r"), Value: dentryValue{1, vfs.ModeDir}.encode()}}},
		{"a file that became a directory", []tree.Edit{edit("f", func(v *inodeValue) { v.Mode = vfs.ModeDir | 0o755 })}},
		{"entries of a file", []tree.Edit{bind("f", "g", "g"), edit("g", func(v *inodeValue) { v.Nlink++ })}},
		{"entries that are not counted", []tree.Edit{edit("d", func(v *inodeValue) { v.Size = 7 })}},
		{"another parent", []tree.Edit{edit("d/e", func(v *inodeValue) { v.parent = 1 })}},
		{"a cycle", []tree.Edit{
			{Key: dentryKey(1, "d"), Delete: true},
			{Key: dentryKey(e, "d"), Value: dentryValue{d, vfs.ModeDir}.encode()},
			edit("d", func(v *inodeValue) { v.parent = e }),
			edit("d/e", func(v *inodeValue) { v.Size++; v.Nlink++ }),
			edit("/", func(v *inodeValue) { v.Size--; v.Nlink-- }),
		}},
		{"extents beyond the end", []tree.Edit{edit("d/e/x", func(v *inodeValue) { v.Size = 5 })}},
		{"blocks that are not there", []tree.Edit{edit("d/e/x", func(v *inodeValue) { v.Blocks += 8 })}},
		{"extents that overlap", []tree.Edit{{Key: extentKey(a.ino("d/e/x"), 1), Value: extentValue{length: 100, id: chunk.Sum(nil)}.encode()}}},
		{"an extent within a chunk", []tree.Edit{{Key: extentKey(a.ino("d/e/x"), 0), Value: extentValue{length: 100, off: 5, id: chunk.Sum(nil)}.encode()}}},
		{"extents of nobody", []tree.Edit{{Key: extentKey(999, 0), Value: extentValue{length: 100, id: chunk.Sum(nil)}.encode()}}},
		{"attributes that are not flagged", []tree.Edit{{Key: xattrKey(a.ino("g"), "user.a"), Value: []byte{0, 1}}}},
		{"attributes of nobody", []tree.Edit{{Key: xattrKey(999, "user.a"), Value: []byte{0, 1}}}},
		{"an ACL that is none", []tree.Edit{{Key: xattrKey(f, vfs.XattrACLAccess), Value: []byte{0, 1, 2}}, edit("f", func(v *inodeValue) { v.flags |= flagACL })}},
		{"a chunk that is not here", []tree.Edit{edit("f", func(v *inodeValue) {
			v.content, v.inline, v.chunk, v.Size = contentChunk, nil, chunk.Sum([]byte("none")), 1000
		})}},
		{"a symlink of no length", []tree.Edit{edit("f", func(v *inodeValue) { v.Mode = vfs.ModeSymlink | 0o777 })}},
	} {
		for _, walk := range []bool{false, true} {
			im, err := w.Import(ctx, chunk.Sum([]byte(c.name)))
			must(t, err)
			sortEdits(c.edits)
			root, err := im.Apply(ctx, commit.Root, c.edits)
			if err == nil {
				im.mu.Lock()
				im.nodes = walk
				im.mu.Unlock()
				err = offer(t, w, im, base, root, commit)
			}
			if !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrMissing) {
				t.Errorf("%s: accepted, or %v", c.name, err)
			}
			must(t, im.Close())
		}
	}
	if w.Head() != base || len(w.Refs()) != 1 {
		t.Errorf("something of it is kept: %v", w.Refs())
	}
	checkClean(t, w)
	// A commit that counts wrongly, and a good one.
	im, err := w.Import(ctx, chunk.Sum(nil))
	must(t, err)
	if err := offer(t, w, im, base, commit.Root, &Commit{Inodes: commit.Inodes + 1, Blocks: commit.Blocks}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a commit that counts wrongly: %v", err)
	}
	must(t, offer(t, w, im, base, commit.Root, commit))
	must(t, im.Close())
}

// offer finishes an import of a commit with a root.
func offer(t testing.TB, w *Workspace, im *Import, base, root chunk.ID, like *Commit) error {
	t.Helper()
	c := &Commit{Root: root, Parents: []chunk.ID{base}, Replica: 5, Cause: CauseCheckpoint, Inodes: like.Inodes, Blocks: like.Blocks, Polynomial: w.Polynomial()}
	b, err := encodeCommit(c)
	must(t, err)
	return im.Finish(context.Background(), chunk.Sum(b), [][]byte{b}, false)
}

// TestImportGarbage feeds bytes that are nothing.
func TestImportGarbage(t *testing.T) {
	ctx := context.Background()
	x := newReplicas(t, 1, nil)
	im, err := x.w[0].Import(ctx, chunk.Sum(nil))
	must(t, err)
	defer im.Close()
	r := rand.New(rand.NewSource(4))
	for range 200 {
		p := make([]byte, r.Intn(300))
		r.Read(p)
		if err := im.PutNode(ctx, chunk.Sum(p), p); !errors.Is(err, ErrInvalid) {
			t.Fatalf("a node of garbage: %v", err)
		}
		if err := im.PutChunk(ctx, chunk.Sum([]byte("other")), p); !errors.Is(err, ErrInvalid) {
			t.Fatalf("a chunk by another name: %v", err)
		}
		if err := im.Finish(ctx, chunk.Sum(p), [][]byte{p}, false); !errors.Is(err, ErrInvalid) {
			t.Fatalf("a commit of garbage: %v", err)
		}
	}
}

// TestInspectNode refuses the empty leaf, and nodes of entries that no workspace
// has.
func TestInspectNode(t *testing.T) {
	if _, err := InspectNode([]byte("vt\x01\x00\x00\x00\x00\x00")); !errors.Is(err, ErrInvalid) {
		t.Errorf("the empty leaf: %v", err)
	}
}

// TestOtherPolynomial refuses commits that are cut in another way, but for a
// workspace in which nothing has happened.
func TestOtherPolynomial(t *testing.T) {
	a, b, _ := twoStores(t)
	a.write("f", "1")
	b.write("g", "1")
	target := syncHead(t, a.w)
	syncHead(t, b.w)
	ctx := context.Background()
	im, err := b.w.Import(ctx, target)
	must(t, err)
	defer im.Close()
	var c carried
	commit, err := a.w.Commit(ctx, target)
	must(t, err)
	carryDelta(t, a.w, im, chunk.ID{}, commit.Root, &c, false)
	if err := im.Finish(ctx, target, newRecords(t, a.w, b.w, target), false); !errors.Is(err, ErrInvalid) {
		t.Errorf("finish: %v", err)
	}
}
