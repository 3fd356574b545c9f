package chunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vfsd/vfsd/internal/hostfs"
)

// soak reports whether the long form of a test is wanted: VFSD_SOAK=1.
func soak() bool { return os.Getenv("VFSD_SOAK") != "" }

// testPolynomial saves the search for a random one.
const testPolynomial = 0x3DA3358B4DC173

// fastFS is the host without its fsync: that the disk keeps its word is not
// what these tests are about, and it takes milliseconds each time.
type fastFS struct{ hostfs.OS }

func (fastFS) SyncDir(string) error { return nil }

func (fs fastFS) OpenFile(name string, flag int, perm os.FileMode) (hostfs.File, error) {
	f, err := fs.OS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return fastFile{f}, nil
}

type fastFile struct{ hostfs.File }

func (fastFile) Sync() error { return nil }

func testOptions(t testing.TB) Options {
	return Options{
		FS:         fastFS{},
		Dir:        t.TempDir() + "/chunks",
		PackSize:   1 << 20,
		CacheBytes: 1 << 20,
		Compress:   true,
		Polynomial: testPolynomial,
		Log:        testLog(t),
	}
}

// testLog shows what is logged if the test fails.
func testLog(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

func mustOpen(t testing.TB, opt Options) *Packs {
	t.Helper()
	p, err := Open(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func mustPut(t testing.TB, p Store, data []byte) ID {
	t.Helper()
	id, err := p.Put(context.Background(), data)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// sample returns n bytes: random ones or text that compresses.
func sample(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	if r.IntN(2) == 0 {
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	var buf bytes.Buffer
	for buf.Len() < n {
		fmt.Fprintf(&buf, "line %d of %d\n", r.IntN(50), r.Uint32())
	}
	return buf.Bytes()[:n]
}

// verify holds a store to a model.
func verify(t testing.TB, p *Packs, model map[ID][]byte) {
	t.Helper()
	for id, want := range model {
		got, err := p.Get(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("chunk %s: got %d other bytes", id, len(got))
		}
		if !p.Has(id) {
			t.Fatalf("Has(%s) = false", id)
		}
	}
	if n := p.Stats().Chunks; n != int64(len(model)) {
		t.Fatalf("the index holds %d chunks, want %d", n, len(model))
	}
	mustScrub(t, p)
}

// mustScrub fails the test if a scrub finds damage.
func mustScrub(t testing.TB, p *Packs) {
	t.Helper()
	err := p.Scrub(context.Background(), nil, func(d Damage) { t.Errorf("scrub: %v", d) })
	if err != nil {
		t.Fatal(err)
	}
}

// TestModel runs random operations beside a map, and reopens now and then.
func TestModel(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			ctx := context.Background()
			r := rand.New(rand.NewPCG(seed, 1))
			opt := testOptions(t)
			opt.PackSize = int64(64<<10) << (2 * seed)
			p := mustOpen(t, opt)
			model := make(map[ID][]byte)
			var ids []ID
			for range 3000 {
				switch k := r.IntN(100); {
				case k < 55:
					data := sample(r, r.IntN(1<<r.IntN(15)))
					put := p.Put
					if k < 20 {
						put = p.PutRaw
					}
					id, err := put(ctx, data)
					if err != nil {
						t.Fatal(err)
					}
					if _, ok := model[id]; !ok {
						ids = append(ids, id)
					}
					model[id] = data
				case k < 65 && len(ids) > 0:
					mustPut(t, p, model[ids[r.IntN(len(ids))]])
				case k < 97 && len(ids) > 0:
					id := ids[r.IntN(len(ids))]
					got, err := p.Get(ctx, id)
					if err != nil || !bytes.Equal(got, model[id]) {
						t.Fatalf("Get(%s): %d bytes, %v", id, len(got), err)
					}
				case k < 99:
					if err := p.Fsync(ctx); err != nil {
						t.Fatal(err)
					}
				case r.IntN(4) == 0:
					if err := p.Close(); err != nil {
						t.Fatal(err)
					}
					p = mustOpen(t, opt)
				}
			}
			verify(t, p, model)
			if _, err := p.Get(ctx, Sum([]byte("never stored"))); !errors.Is(err, ErrNotFound) {
				t.Fatalf("Get of what was never stored: %v", err)
			}
		})
	}
}

func TestConcurrent(t *testing.T) {
	p := mustOpen(t, testOptions(t))
	model := make(map[ID][]byte)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range uint64(8) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(w%4, 2)) // pairs of writers store the same
			for range 300 {
				data := sample(r, r.IntN(20000))
				id, err := p.Put(context.Background(), data)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := p.Get(context.Background(), id)
				if err != nil || !bytes.Equal(got, data) {
					t.Errorf("Get after Put: %v", err)
					return
				}
				if r.IntN(50) == 0 {
					if err := p.Fsync(context.Background()); err != nil {
						t.Error(err)
					}
				}
				mu.Lock()
				model[id] = data
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	verify(t, p, model)
}

// TestFewFiles reads many packs through few open files.
func TestFewFiles(t *testing.T) {
	opt := testOptions(t)
	opt.PackSize, opt.CacheBytes = 4<<10, -1
	var open, most atomic.Int64
	opt.FS = countingFS{open: &open, most: &most}
	p := mustOpen(t, opt)
	p.files.max = 3
	model := make(map[ID][]byte)
	for i := range 40 {
		data := noise(uint64(i), 5000)
		model[mustPut(t, p, data)] = data
	}
	if err := p.Fsync(t.Context()); err != nil {
		t.Fatal(err)
	}
	most.Store(0)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				for id, want := range model {
					if got, err := p.Get(t.Context(), id); err != nil || !bytes.Equal(got, want) {
						t.Errorf("Get: %v", err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	// Those allowed, those in use, the open pack and the lock.
	if n := most.Load(); n > 3+4+4+2 {
		t.Errorf("%d files were open at once", n)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if n := open.Load(); n != 0 {
		t.Errorf("%d files are still open after Close", n)
	}
}

// countingFS counts open files.
type countingFS struct {
	fastFS
	open, most *atomic.Int64
}

func (c countingFS) OpenFile(name string, flag int, perm os.FileMode) (hostfs.File, error) {
	f, err := c.fastFS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	n := c.open.Add(1)
	for m := c.most.Load(); n > m && !c.most.CompareAndSwap(m, n); m = c.most.Load() {
	}
	return &countedFile{f, c.open}, nil
}

type countedFile struct {
	hostfs.File
	open *atomic.Int64
}

func (f *countedFile) Close() error {
	f.open.Add(-1)
	return f.File.Close()
}

// TestCloseUnderLoad: calls under way when the store is closed finish or fail,
// and nothing is written after Close gave up the lock.
func TestCloseUnderLoad(t *testing.T) {
	opt := testOptions(t)
	opt.batch = 4 << 10
	p := mustOpen(t, opt)
	durable := make(map[ID][]byte)
	var mu sync.Mutex
	var wg, started sync.WaitGroup
	for w := range uint64(6) {
		started.Add(1)
		wg.Go(func() {
			r := rand.New(rand.NewPCG(w, 12))
			mine := make(map[ID][]byte)
			for i := 0; ; i++ {
				data := sample(r, r.IntN(3000))
				id, err := p.Put(context.Background(), data)
				if err == nil {
					mine[id] = data
					_, err = p.Get(context.Background(), id)
				}
				if err == nil && i%10 == 0 {
					if err = p.Fsync(context.Background()); err == nil {
						mu.Lock()
						maps.Copy(durable, mine)
						mu.Unlock()
					}
				}
				if i == 20 {
					started.Done()
				}
				if errors.Is(err, os.ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	started.Wait()
	wg.Go(func() {
		if err := p.Scrub(context.Background(), nil, func(d Damage) { t.Error(d) }); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	before := dirSizes(t, opt.Dir)
	wg.Wait()
	if after := dirSizes(t, opt.Dir); !maps.Equal(before, after) {
		t.Errorf("written after Close: %v, was %v", after, before)
	}
	p = mustOpen(t, opt)
	for id, want := range durable {
		if got, err := p.Get(t.Context(), id); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("Get of what was durable: %v", err)
		}
	}
}

func dirSizes(t *testing.T, dir string) map[string]int64 {
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	sizes := make(map[string]int64)
	for _, d := range names {
		st, err := d.Info()
		if err != nil {
			t.Fatal(err)
		}
		sizes[d.Name()] = st.Size()
	}
	return sizes
}
