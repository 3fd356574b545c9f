package tree

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/vfsd/vfsd/chunk"
)

// The benchmarks run over a tree shaped like a namespace of a million files:
// 2.2 million keys of inodes, dentries and some extents. Build it once.
const benchFiles = 1_000_000

var benchTree = sync.OnceValues(func() (*copyStore, chunk.ID) {
	s := newStore()
	t, err := Build(ctx, s, NewCache(0), namespace(benchFiles))
	if err != nil {
		panic(err)
	}
	return &copyStore{memStore: s}, t.Root()
})

// copyStore reads as a store on disk does: into memory of its own. It drops
// what is written, so that a benchmark of writing does not measure a growing
// heap.
type copyStore struct {
	*memStore
	written, puts int
}

func (s *copyStore) Get(ctx context.Context, id chunk.ID) ([]byte, error) {
	raw, err := s.memStore.Get(ctx, id)
	return bytes.Clone(raw), err
}

func (s *copyStore) Put(_ context.Context, node []byte) (chunk.ID, error) {
	s.written += len(node)
	s.puts++
	return chunk.Sum(node), nil
}

func inodeKey(ino uint64) []byte { return binary.BigEndian.AppendUint64([]byte("i"), ino) }

func inodeValue(ino uint64) []byte {
	v := make([]byte, 0, 48)
	for i := range uint64(6) {
		v = binary.LittleEndian.AppendUint64(v, ino*0x9e3779b97f4a7c15>>(8*i))
	}
	return v
}

func dentryKey(dir uint64, name int) []byte {
	k := binary.BigEndian.AppendUint64([]byte("d"), dir)
	return fmt.Appendf(k, "file%05d.go", name)
}

func dentryValue(ino uint64) []byte { return append(binary.LittleEndian.AppendUint64(nil, ino), 8) }

// namespace returns the entries of n files, a hundred a directory, for Build.
func namespace(n int) func() (k, v []byte, ok bool) {
	i, phase := -1, 0
	return func() ([]byte, []byte, bool) {
		for {
			if i++; phase == 0 && i < n {
				return dentryKey(uint64(n+i/100), i%100), dentryValue(uint64(i)), true
			}
			if phase == 1 && i < n/5 {
				k := append(inodeKey(uint64(5*i)), 0, 0, 0, 0, 0, 0, 0, 0)
				k[0] = 'e'
				return k, inodeValue(uint64(i))[:40], true
			}
			if phase == 2 && i < n+n/100 {
				return inodeKey(uint64(i)), inodeValue(uint64(i)), true
			}
			if phase++; phase == 3 {
				return nil, nil, false
			}
			i = -1
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	b.ReportAllocs()
	var n uint64
	for b.Loop() {
		s := newStore()
		t, err := Build(ctx, s, NewCache(0), namespace(benchFiles/10))
		if err != nil {
			b.Fatal(err)
		}
		size, _ := Load(s, NewCache(1<<20), t.Root()).Size(ctx)
		b.SetBytes(int64(size.Bytes))
		n = size.Entries
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entry")
}

func BenchmarkGet(b *testing.B) {
	s, root := benchTree()
	for _, c := range []struct {
		name  string
		cache int64
		keys  int
	}{{"cold", 0, benchFiles}, {"uncached", 1 << 20, benchFiles}, {"warm", 256 << 20, 10000}} {
		b.Run(c.name, func(b *testing.B) {
			t := Load(s, NewCache(c.cache), root)
			r := rand.New(rand.NewPCG(1, 1))
			for i := range c.keys {
				if c.name == "warm" {
					t.Get(ctx, inodeKey(uint64(i)))
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, ok, err := t.Get(ctx, inodeKey(uint64(r.IntN(c.keys)))); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	s, root := benchTree()
	for _, c := range []struct {
		name  string
		cache int64
	}{{"cold", 0}, {"warm", 256 << 20}} {
		b.Run(c.name, func(b *testing.B) {
			t := Load(s, NewCache(c.cache), root)
			var n int
			for b.Loop() {
				n = 0
				if err := t.Scan(ctx, nil, nil, func(k, v []byte) bool { n++; return true }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entry")
		})
	}
}

// BenchmarkCreate applies what one new file changes: two new keys and the
// directory's inode.
func BenchmarkCreate(b *testing.B) {
	s, root := benchTree()
	t := Load(s, NewCache(64<<20), root)
	r := rand.New(rand.NewPCG(2, 2))
	s.puts, s.written = 0, 0
	b.ReportAllocs()
	for i := uint64(0); b.Loop(); i++ {
		dir := uint64(benchFiles + r.IntN(benchFiles/100))
		_, err := t.Apply(ctx, []Edit{
			{Key: dentryKey(dir, 5000), Value: dentryValue(1 << 30)},
			{Key: inodeKey(dir), Value: inodeValue(i)},
			{Key: inodeKey(1 << 30), Value: inodeValue(i)},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(s.written)/float64(b.N), "written-B/op")
	b.ReportMetric(float64(s.puts)/float64(b.N), "nodes/op")
}

func BenchmarkNewEntries36k(b *testing.B) {
	s, root := benchTree()
	t := Load(s, NewCache(64<<20), root)
	var batch []Edit
	for i := range 18000 {
		batch = append(batch, Edit{Key: dentryKey(1<<30, i), Value: dentryValue(uint64(i))})
	}
	for i := range 18000 {
		batch = append(batch, Edit{Key: inodeKey(1<<30 + uint64(i)), Value: inodeValue(uint64(i))})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.Apply(ctx, batch); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScattered100k changes the values of every tenth inode, as a
// checkpoint of scattered changes does.
func BenchmarkScattered100k(b *testing.B) {
	s, root := benchTree()
	t := Load(s, NewCache(64<<20), root)
	var batch []Edit
	for i := range uint64(benchFiles / 10) {
		batch = append(batch, Edit{Key: inodeKey(10 * i), Value: inodeValue(i + 7)})
	}
	s.written = 0
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.Apply(ctx, batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(s.written)/float64(b.N), "written-B/op")
}

func BenchmarkDiffOneKey(b *testing.B) {
	s, root := benchTree()
	t := Load(s, NewCache(64<<20), root)
	other, err := Load(s.memStore, t.cache, root).Apply(ctx, []Edit{{Key: inodeKey(benchFiles / 2), Value: nil}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		n := 0
		if err := Diff(ctx, t, other, func(Change) bool { n++; return true }); err != nil || n != 1 {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkMerge200ASide(b *testing.B) {
	s, root := benchTree()
	base := Load(s, NewCache(64<<20), root)
	side := func(odd uint64) *Tree {
		var batch []Edit
		for i := range uint64(200) {
			batch = append(batch, Edit{Key: inodeKey(i*4001 + 10 + odd), Value: inodeValue(i + odd + 77)})
		}
		t, err := Load(s.memStore, base.cache, root).Apply(ctx, batch)
		if err != nil {
			b.Fatal(err)
		}
		return t
	}
	ours, theirs := side(0), side(1)
	for b.Loop() {
		_, stats, err := Merge(ctx, base, ours, theirs, nil)
		if err != nil || stats.Theirs != 200 {
			b.Fatal(stats, err)
		}
	}
}

// BenchmarkResident reports the heap that a full scan through a bounded cache
// leaves behind, beside that of the store.
func BenchmarkResident(b *testing.B) {
	s, root := benchTree()
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		t := Load(s, NewCache(64<<20), root)
		if err := t.Scan(ctx, nil, nil, func(k, v []byte) bool { return true }); err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
		b.ReportMetric(float64(t.cache.Stats().Bytes)/(1<<20), "cache-MiB")
	}
	size, _ := Load(s, NewCache(1<<20), root).Size(ctx)
	b.ReportMetric(float64(size.Levels), "levels")
	b.ReportMetric(float64(size.Entries), "entries")
	b.ReportMetric(float64(len(s.nodes)), "nodes")
	b.ReportMetric(float64(s.bytes)/(1<<20), "stored-MiB")
}
