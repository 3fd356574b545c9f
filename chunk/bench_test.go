package chunk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/vfsd/vfsd/internal/hostfs"
)

// BenchmarkPut stores new chunks: noise, raw or tried for compression, and
// text that compresses.
func BenchmarkPut(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10, 512 << 10} {
		for _, kind := range []string{"raw", "noise", "text"} {
			b.Run(fmt.Sprintf("%s/%dKiB", kind, size>>10), func(b *testing.B) {
				benchPut(b, kind, size, batchSize)
			})
		}
	}
	// What one host call a chunk would cost.
	b.Run("unbatched/4KiB", func(b *testing.B) { benchPut(b, "raw", 4<<10, 1) })
}

func benchPut(b *testing.B, kind string, size, batch int) {
	opt := testOptions(b)
	opt.FS, opt.PackSize, opt.Log, opt.batch = hostfs.OS{}, 0, nil, batch
	opt.Compress = kind != "raw"
	p := mustOpen(b, opt)
	data := noise(1, size)
	if kind == "text" {
		for i := range data {
			data[i] = "the quick brown fox "[data[i]%20]
		}
	}
	b.SetBytes(int64(size))
	for i := range b.N {
		binary.LittleEndian.PutUint64(data, uint64(i))
		mustPut(b, p, data)
	}
}

// BenchmarkPutKnown stores what is there already.
func BenchmarkPutKnown(b *testing.B) {
	p := mustOpen(b, testOptions(b))
	data := noise(1, 4<<10)
	mustPut(b, p, data)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		mustPut(b, p, data)
	}
}

func BenchmarkGet(b *testing.B) {
	for _, cached := range []bool{true, false} {
		b.Run(fmt.Sprintf("cached=%v", cached), func(b *testing.B) {
			opt := testOptions(b)
			opt.PackSize, opt.Log, opt.CacheBytes = 0, nil, -1
			if cached {
				opt.CacheBytes = 64 << 20
			}
			p := mustOpen(b, opt)
			var ids []ID
			for i := range uint64(2000) {
				ids = append(ids, mustPut(b, p, noise(i, 4<<10)))
			}
			if err := p.Fsync(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(4 << 10)
			b.ResetTimer()
			var seed atomic.Uint64
			b.RunParallel(func(pb *testing.PB) {
				r := rand.New(rand.NewPCG(seed.Add(1), 0))
				for pb.Next() {
					if _, err := p.Get(b.Context(), ids[r.IntN(len(ids))]); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// BenchmarkCut includes no hashing and no storing.
func BenchmarkCut(b *testing.B) {
	c := newCutter(testPolynomial)
	data := noise(1, 8<<20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		cuts(b, c, bytes.NewReader(data))
	}
}
