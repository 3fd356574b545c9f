package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// carried counts what a transfer moves.
type carried struct {
	edits, editBytes  int
	nodes             int
	chunks, chunkSize int
	records           int
}

// carry brings a commit of one workspace to another as protocol would: records,
// then a delta from base or, if walk, node by node; then chunks, unless lazy.
func carry(t testing.TB, from, to *Workspace, base, target chunk.ID, walk, lazy bool) carried {
	t.Helper()
	ctx := context.Background()
	im, err := to.Import(ctx, target)
	must(t, err)
	defer func() { must(t, im.Close()) }()
	var c carried
	records := newRecords(t, from, to, target)
	c.records = len(records)
	commit, err := from.Commit(ctx, target)
	must(t, err)
	if walk {
		carryNodes(t, from, im, commit.Root, &c, lazy)
	} else {
		carryDelta(t, from, im, base, commit.Root, &c, lazy)
	}
	must(t, im.Finish(ctx, target, records, lazy))
	return c
}

// newRecords returns the commits that the other end does not have.
func newRecords(t testing.TB, from, to *Workspace, target chunk.ID) [][]byte {
	t.Helper()
	ctx := context.Background()
	var records [][]byte
	must(t, from.past(ctx).walk(target, 1<<20, func(id chunk.ID, _ *Commit) (bool, error) {
		if !to.Stored(id) {
			b, err := from.CommitRecord(ctx, id)
			records = append(records, b)
			return true, err
		}
		return true, nil
	}))
	return records
}

func carryDelta(t testing.TB, from *Workspace, im *Import, base, target chunk.ID, c *carried, lazy bool) {
	t.Helper()
	ctx := context.Background()
	root := tree.EmptyRoot()
	if !base.IsZero() {
		b, err := from.Commit(ctx, base)
		must(t, err)
		root = b.Root
	}
	at := root
	var batch []tree.Edit
	flush := func() {
		var err error
		at, err = im.Apply(ctx, at, batch)
		must(t, err)
		batch = nil
	}
	for x, err := range from.Delta(ctx, root, target) {
		must(t, err)
		c.edits++
		c.editBytes += len(x.Key) + len(x.New)
		batch = append(batch, tree.Edit{Key: bytes.Clone(x.Key), Value: x.New, Delete: x.New == nil})
		if x.New != nil {
			ids, err := ChunksOf(x.Key, x.New)
			must(t, err)
			carryChunks(t, from, im, ids, c, lazy)
		}
		if len(batch) == 100 {
			flush()
		}
	}
	flush()
	if at != target {
		t.Fatalf("the delta leads to %s, want %s", at, target)
	}
}

func carryNodes(t testing.TB, from *Workspace, im *Import, root chunk.ID, c *carried, lazy bool) {
	t.Helper()
	ctx := context.Background()
	work := []chunk.ID{root}
	for len(work) > 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		b, err := from.StoredBytes(ctx, id)
		must(t, err)
		if !im.Has(id) {
			c.nodes++
			must(t, im.PutNode(ctx, id, b))
		}
		n, err := InspectNode(b)
		must(t, err)
		work = append(work, n.Children...)
		carryChunks(t, from, im, n.Chunks, c, lazy)
	}
}

func carryChunks(t testing.TB, from *Workspace, im *Import, ids []chunk.ID, c *carried, lazy bool) {
	t.Helper()
	ctx := context.Background()
	for _, id := range ids {
		if lazy || im.Has(id) {
			continue
		}
		b, err := from.StoredBytes(ctx, id)
		must(t, err)
		c.chunks++
		c.chunkSize += len(b)
		must(t, im.PutChunk(ctx, id, b))
	}
}

// twoStores returns a workspace, and a blank one in another store.
func twoStores(t testing.TB) (*shellActor, *shellActor, *testDataDir) {
	t.Helper()
	a, b := newTestDataDir(t), newTestDataDir(t)
	w, err := a.d.Create(context.Background(), "w", 0, 0)
	must(t, err)
	v, err := b.d.Create(context.Background(), "w", 7, 7)
	must(t, err)
	return &shellActor{t, w}, &shellActor{t, v}, b
}

func syncHead(t testing.TB, w *Workspace) chunk.ID {
	t.Helper()
	id, err := w.SyncHead(context.Background())
	must(t, err)
	return id
}

func equalRoots(t testing.TB, a, b *Workspace) {
	t.Helper()
	if x, y := a.Stats().Root, b.Stats().Root; x != y {
		t.Fatalf("roots differ: %s and %s\n%s", x, y, firstDifference(dump(t, a, true), dump(t, b, true)))
	}
}

// TestCarry clones a workspace into another store, by a delta and node by node,
// and brings edits after it, either way: the roots are equal though the stores
// cut in different ways (P5), and an edit costs what it changes.
func TestCarry(t *testing.T) {
	for _, walk := range []bool{false, true} {
		t.Run(fmt.Sprintf("walk=%v", walk), func(t *testing.T) {
			a, b, dir := twoStores(t)
			if a.w.Polynomial() == b.w.Polynomial() {
				t.Fatal("two stores have one polynomial")
			}
			r := rand.New(rand.NewSource(1))
			big := make([]byte, 3<<20)
			r.Read(big)
			a.mkdir("d")
			for i := range 300 {
				a.write(fmt.Sprintf("d/f%d", i), strings.Repeat(fmt.Sprint(i), 200))
			}
			a.write("big", string(big))
			a.setxattr("big", "user.large", strings.Repeat("x", 5000))
			first := syncHead(t, a.w)
			carry(t, a.w, b.w, chunk.ID{}, first, walk, false)
			must(t, b.w.MoveHead(context.Background(), syncHead(t, b.w), first))
			equalRoots(t, a.w, b.w)
			checkClean(t, b.w)
			if b.w.Replica() == a.w.Replica() && b.w.next <= a.w.next {
				t.Error("the clone makes inode numbers of the origin's")
			}

			b.patch("big", 1<<20, "edited on the other side")
			b.write("new", string(big[:1<<20]))
			second := syncHead(t, b.w)
			c := carry(t, b.w, a.w, first, second, walk, false)
			must(t, a.w.MoveHead(context.Background(), first, second))
			equalRoots(t, a.w, b.w)
			checkClean(t, a.w)
			if c.chunks > 20 || c.edits > 60 {
				t.Errorf("the edit took %+v", c)
			}
			// The same bytes written there give the same tree.
			a.write("twin", string(big[7:2<<20]))
			b.write("twin", string(big[7:2<<20]))
			at := func(w *Workspace) string {
				syncHead(t, w)
				at, err := w.Lookup(rootOp, vfs.RootIno, "twin")
				must(t, err)
				out := ""
				lo, hi := inoRange(keyExtent, at.Ino)
				must(t, w.treeAt(w.head.Root).Scan(context.Background(), lo, hi, func(k, v []byte) bool {
					out += fmt.Sprintf("%x %x,", keySuffix(k), v)
					return true
				}))
				return out
			}
			if x, y := at(a.w), at(b.w); x != y || x == "" {
				t.Errorf("equal bytes are cut differently:\n%s\n%s", x, y)
			}
			// A restart keeps the polynomial.
			pol := b.w.Polynomial()
			dir.kill()
			if w := dir.ws("w"); w.Polynomial() != pol || w.cut.Polynomial() != pol {
				t.Error("the polynomial is lost in a restart")
			}
		})
	}
}

// TestCarryCosts holds what deltas cost: changed keys, and nothing else.
func TestCarryCosts(t *testing.T) {
	a, b, _ := twoStores(t)
	a.mkdir("d")
	for i := range 1000 {
		a.write(fmt.Sprintf("d/file%d", i), strings.Repeat("x", 100+i))
	}
	at := syncHead(t, a.w)
	carry(t, a.w, b.w, chunk.ID{}, at, false, false)
	must(t, b.w.MoveHead(context.Background(), syncHead(t, b.w), at))
	for _, c := range []struct {
		what  string
		do    func()
		limit int
	}{
		{"one byte", func() { a.patch("d/file500", 5, "y") }, 300},
		{"a directory renamed", func() { a.mv("d", "e") }, 400},
		{"a mode", func() { a.chmod("e/file7", 0o600) }, 200},
		{"1000 files deleted", func() { a.rm("e") }, 40000},
	} {
		c.do()
		next := syncHead(t, a.w)
		cost := carry(t, a.w, b.w, at, next, false, false)
		must(t, b.w.MoveHead(context.Background(), at, next))
		equalRoots(t, a.w, b.w)
		t.Logf("%s: %+v", c.what, cost)
		if cost.editBytes > c.limit || cost.records != 1 || cost.chunks > 1 {
			t.Errorf("%s: %+v, want at most %d bytes of edits", c.what, cost, c.limit)
		}
		at = next
	}
}

// TestMoveHead holds when a head moves and when it does not.
func TestMoveHead(t *testing.T) {
	ctx := context.Background()
	x := newReplicas(t, 2, func(a *shellActor) { a.write("f", "1") })
	a, b := x.on(0), x.on(1)
	base := syncHead(t, a.w)
	a.write("g", "2")
	target := syncHead(t, a.w)

	b.write("h", "3") // dirty: old does not have it
	if err := b.w.MoveHead(ctx, base, target); !errors.Is(err, ErrHeadMoved) {
		t.Errorf("a dirty head moved: %v", err)
	}
	mine := syncHead(t, b.w)
	if err := b.w.MoveHead(ctx, mine, target); !errors.Is(err, ErrDiverged) {
		t.Errorf("a head moved to what does not descend from it: %v", err)
	}
	if err := b.w.MoveHead(ctx, mine, chunk.Sum([]byte("nothing"))); !errors.Is(err, chunk.ErrNotFound) {
		t.Errorf("a head moved to nothing: %v", err)
	}
	r, err := b.w.Merge(ctx, target, MergeOptions{})
	must(t, err)
	if r.FastForward || r.Before != mine || r.Base != base || r.Conflicts != 0 {
		t.Errorf("merge: %+v", r)
	}
	must(t, a.w.MoveHead(ctx, target, r.Head))
	if got := a.tree(); got != "f=1 g=2 h=3" {
		t.Errorf("after the move: %s", got)
	}
	if r, err := a.w.Merge(ctx, base, MergeOptions{}); err != nil || r.Head != r.Before {
		t.Errorf("merge of an ancestor: %+v, %v", r, err)
	}
	// It is durable.
	root := a.w.Stats().Root
	x.d.kill()
	if got := x.d.ws("r0").Stats().Root; got != root {
		t.Errorf("after a kill the root is %s, want %s", got, root)
	}
}

// changeLog is a watcher that remembers.
type changeLog struct {
	mu  sync.Mutex
	all []vfs.Change
}

func (l *changeLog) Origin() vfs.Origin { return 99 }
func (l *changeLog) Changed(cs []vfs.Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, cs...)
}

// TestMergeLive merges while files are open, and tells watchers exactly what has
// changed.
func TestMergeLive(t *testing.T) {
	ctx := context.Background()
	x := newReplicas(t, 2, func(a *shellActor) {
		for _, f := range []string{"edited", "gone", "mode", "mine", "same"} {
			a.write(f, "1")
		}
	})
	a, b := x.on(0), x.on(1)
	open := map[string]vfs.Handle{}
	for _, f := range []string{"edited", "gone", "mine"} {
		h, err := a.w.Open(rootOp, a.ino(f), syscall.O_RDWR)
		must(t, err)
		defer h.Release(rootOp)
		open[f] = h
	}
	edited, mode := a.ino("edited"), a.ino("mode")
	b.write("edited", "22")
	b.rm("gone")
	b.chmod("mode", 0o600)
	b.write("new", "4")
	_, err := open["mine"].Write(rootOp, []byte("33"), 0)
	must(t, err)
	log := &changeLog{}
	defer a.w.Watch(log)()
	theirs := syncHead(t, b.w)
	_, err = a.w.Merge(ctx, theirs, MergeOptions{})
	must(t, err)
	read := func(f string) string {
		p := make([]byte, 10)
		n, err := open[f].Read(rootOp, p, 0)
		must(t, err)
		return string(p[:n])
	}
	if e, g, m := read("edited"), read("gone"), read("mine"); e != "22" || g != "1" || m != "33" {
		t.Errorf("open files read %q, %q, %q", e, g, m)
	}
	want := map[string]bool{}
	for _, c := range log.all {
		switch c.Kind {
		case vfs.ChangeEntry:
			want[fmt.Sprintf("entry %s gone=%v", c.Name, c.Gone)] = true
		case vfs.ChangeData:
			want[fmt.Sprintf("data %v", c.Ino == edited)] = true
		case vfs.ChangeAttr:
			want[fmt.Sprintf("attr mode=%v rights=%v", c.Ino == mode, c.Rights)] = true
		default:
			t.Errorf("announced %+v", c)
		}
	}
	for _, w := range []string{"entry gone gone=true", "entry new gone=false", "data true", "attr mode=true rights=true"} {
		if !want[w] {
			t.Errorf("%q was not announced: %+v", w, log.all)
		}
	}
	if want["data false"] {
		t.Errorf("bytes were announced of a file that has not changed: %+v", log.all)
	}
	// The open files still work.
	_, err = open["edited"].Write(rootOp, []byte("55"), 2)
	must(t, err)
	if got := read("edited"); got != "2255" {
		t.Errorf("after a write: %q", got)
	}
	checkClean(t, a.w)
}

// TestMergeUnderLoad merges again and again while writers go on.
func TestMergeUnderLoad(t *testing.T) {
	ctx := context.Background()
	const files = 1500
	x := newReplicas(t, 2, func(a *shellActor) { a.mkdir("d") })
	var wg sync.WaitGroup
	for i, w := range x.w {
		dir := x.on(i).ino("d")
		wg.Go(func() {
			for n := range files {
				_, h, err := w.Create(rootOp, dir, fmt.Sprintf("%d-%d", i, n), 0o644, syscall.O_WRONLY)
				if err == nil {
					_, err = h.Write(rootOp, []byte("x"), 0)
					h.Release(rootOp)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	written := make(chan struct{})
	go func() { wg.Wait(); close(written) }()
	for going := true; going; {
		select {
		case <-written:
			going = false
		default:
		}
		for i := range 2 {
			head, err := x.w[1-i].SyncHead(ctx)
			must(t, err)
			_, err = x.w[i].Merge(ctx, head, MergeOptions{})
			must(t, err)
		}
	}
	x.exchange(0, 1)
	if got := len(list(t, x.w[0], x.on(0).ino("d"))); got != 2*files {
		t.Errorf("%d files, want %d", got, 2*files)
	}
	checkClean(t, x.w[0])
}
