package workspace

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// peer is a source that has what another workspace has.
type peer struct {
	w *Workspace

	mu      sync.Mutex
	fetched int
	lie     bool          // send other bytes
	hang    chan struct{} // wait for it, or for the end of the call
	lacks   map[chunk.ID]bool
}

func (p *peer) Fetch(ctx context.Context, ids []chunk.ID, got func(chunk.ID, []byte) error) error {
	p.mu.Lock()
	hang, lie, lacks := p.hang, p.lie, p.lacks
	p.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, id := range ids {
		if lacks[id] {
			continue
		}
		b, err := p.w.StoredBytes(ctx, id)
		if err != nil {
			return err
		}
		if lie {
			b = []byte("a lie")
		}
		if err := got(id, b); err != nil {
			return err
		}
		p.mu.Lock()
		p.fetched++
		p.mu.Unlock()
	}
	return nil
}

func (p *peer) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetched
}

// newLazyClone makes a workspace with files, and a clone of its tree alone.
func newLazyClone(t testing.TB) (origin, clone *shellActor, source *peer, dir *testDataDir) {
	t.Helper()
	a, b, dir := twoStores(t)
	r := rand.New(rand.NewSource(3))
	p := make([]byte, 8<<20)
	r.Read(p)
	a.write("big", string(p))
	a.mkdir("d")
	for i := range 20 {
		a.write(fmt.Sprintf("d/f%d", i), strings.Repeat(fmt.Sprintf("%d.", i), 1000))
	}
	a.setxattr("big", "user.large", strings.Repeat("x", 5000))
	target := syncHead(t, a.w)
	c := carry(t, a.w, b.w, chunk.ID{}, target, false, true)
	if c.chunks > 0 {
		t.Fatal("a lazy transfer carried chunks")
	}
	must(t, b.w.MoveHead(context.Background(), syncHead(t, b.w), target))
	equalRoots(t, a.w, b.w)
	return a, b, &peer{w: a.w}, dir
}

// TestLazy reads, writes and collects in a clone whose chunks are with a peer.
func TestLazy(t *testing.T) {
	ctx := context.Background()
	a, b, source, dir := newLazyClone(t)
	if !b.w.Lazy() {
		t.Fatal("the clone does not know that it is lazy")
	}
	n, err := b.w.Promised(ctx)
	must(t, err)
	if n < 50 {
		t.Fatalf("%d chunks are promised", n)
	}
	report, err := b.w.Check(ctx, nil, func(p Problem) { t.Errorf("check: %+v", p) })
	must(t, err)
	if report.Promised == 0 {
		t.Error("a check does not say what is promised")
	}
	must(t, dir.d.Scrub(ctx, nil, func(file string, _ int64, err error) { t.Errorf("scrub: %s: %v", file, err) }))

	b.w.SetSource(source)
	if got, want := readFileAt(t, b.w, b.ino("d/f7")), strings.Repeat("7.", 1000); got != want {
		t.Errorf("a file reads %.20q", got)
	}
	if v, err := b.w.Getxattr(rootOp, b.ino("big"), "user.large"); err != nil || len(v) != 5000 {
		t.Errorf("an attribute: %d bytes, %v", len(v), err)
	}
	if source.count() != 2 {
		t.Errorf("%d chunks came for one file and one attribute", source.count())
	}
	gc, err := dir.d.GC(ctx, false)
	must(t, err)
	if gc.Missing > 0 {
		t.Errorf("a collection misses %d chunks that are promised", gc.Missing)
	}
	// An edit in the middle fetches what it needs and gives the root that the
	// same edit gives where everything is.
	b.patch("big", 5<<20, "edited")
	syncHead(t, b.w)
	if source.count() > 25 {
		t.Errorf("an edit fetched %d chunks", source.count())
	}
	carry(t, b.w, a.w, a.w.Head(), b.w.Head(), false, false)
	must(t, a.w.MoveHead(ctx, a.w.Head(), b.w.Head()))
	equalRoots(t, a.w, b.w)
	if x, y := readFileAt(t, a.w, a.ino("big")), readFileAt(t, b.w, b.ino("big")); x != y || len(x) != 8<<20 {
		t.Error("the edited file differs")
	}

	must(t, b.w.SetPinned([]string{"/d/"}))
	must(t, b.w.HydratePinned(ctx))
	if err := b.w.SetLazy(ctx, false); err != nil && !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	must(t, b.w.Hydrate(ctx, "", nil))
	must(t, b.w.SetLazy(ctx, false))
	b.w.SetSource(nil)
	dir.kill()
	b = &shellActor{t, dir.ws("w")}
	if b.w.Lazy() || len(b.w.Pinned()) != 1 {
		t.Error("what the head says of laziness is lost")
	}
	checkClean(t, b.w)
	equalRoots(t, a.w, b.w)
}

// TestLazyPeerAway holds that a peer that is away, slow, lying or forgetful is
// an error to the one who needs it (P8, P4).
func TestLazyPeerAway(t *testing.T) {
	_, b, source, dir := newLazyClone(t)
	read := func(path string) error {
		h, err := b.w.Open(rootOp, b.ino(path), syscall.O_RDONLY)
		must(t, err)
		defer h.Release(rootOp)
		_, err = h.Read(rootOp, make([]byte, 10), 0)
		return err
	}
	if err := read("d/f1"); vfs.ToErrno(err) != syscall.EIO || !errors.Is(err, ErrPromised) {
		t.Errorf("without a peer: %v", err)
	}
	if h, err := b.w.Open(rootOp, b.ino("d/f2"), syscall.O_WRONLY); err == nil {
		if _, err = h.Write(rootOp, []byte("x"), 5); vfs.ToErrno(err) != syscall.EIO {
			t.Errorf("a write that needs the peer: %v", err)
		}
		h.Release(rootOp)
	}
	b.w.SetSource(source)
	set := func(change func()) {
		source.mu.Lock()
		defer source.mu.Unlock()
		change()
	}
	patience := func(d time.Duration) {
		b.w.lazy.mu.Lock()
		defer b.w.lazy.mu.Unlock()
		b.w.lazy.timeout = d
	}
	set(func() { source.lie = true })
	if err := read("d/f1"); !errors.Is(err, vfs.ErrCorrupt) {
		t.Errorf("a lying peer: %v", err)
	}
	hang := make(chan struct{})
	set(func() { source.lie, source.hang = false, hang })
	patience(50 * time.Millisecond)
	waiting := make(chan error)
	go func() { waiting <- read("d/f1") }()
	// Everyone else is served meanwhile.
	b.write("other", "1")
	b.rm("d/f3")
	syncHead(t, b.w)
	if err := <-waiting; vfs.ToErrno(err) != syscall.ETIMEDOUT {
		t.Errorf("a peer that hangs: %v", err)
	}
	close(hang)
	patience(fetchTimeout)
	b.write("d/f4", "replaced whole") // needs nothing
	id, err := b.w.chunkOf(b.ino("d/f5"))
	must(t, err)
	set(func() { source.lacks = map[chunk.ID]bool{id: true} })
	if err := read("d/f5"); !errors.Is(err, ErrWithdrawn) {
		t.Errorf("a peer without the chunk: %v", err)
	}
	must(t, read("d/f1"))
	syncHead(t, b.w)
	dir.kill()
	b = &shellActor{t, dir.ws("w")}
	if !b.w.Lazy() {
		t.Error("the clone forgot that it is lazy")
	}
	if got := readFileAt(t, b.w, b.ino("d/f4")); got != "replaced whole" {
		t.Errorf("a write reads %q", got)
	}
}

// chunkOf returns the one chunk of a file.
func (w *Workspace) chunkOf(ino vfs.Ino) (chunk.ID, error) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	n, err := w.load(ino)
	if err != nil {
		return chunk.ID{}, err
	}
	return n.base.chunk, nil
}

// TestLazyAtOnce lets many readers want the same chunks: each comes once.
func TestLazyAtOnce(t *testing.T) {
	_, b, source, _ := newLazyClone(t)
	b.w.SetSource(source)
	want, err := b.w.Promised(context.Background())
	must(t, err)
	ino := b.ino("big")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := len(readFileAt(t, b.w, ino)); got != 8<<20 {
				t.Errorf("%d bytes", got)
			}
		})
	}
	wg.Wait()
	if source.count() > want {
		t.Errorf("%d chunks came, %d were promised", source.count(), want)
	}
}
