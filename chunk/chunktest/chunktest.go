// Package chunktest is the suite that every chunk.Store must pass.
package chunktest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/vfsd/vfsd/chunk"
)

// TestStore holds the stores that open makes to the contract of chunk.Store.
// Each call of open returns an empty store, which open cleans up itself.
func TestStore(t *testing.T, open func(t *testing.T) chunk.Store) {
	for name, test := range map[string]func(*testing.T, chunk.Store){
		"missing":    testMissing,
		"sizes":      testSizes,
		"again":      testAgain,
		"retained":   testRetained,
		"too long":   testTooLong,
		"cancelled":  testCancelled,
		"concurrent": testConcurrent,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func put(t *testing.T, s chunk.Store, data []byte) chunk.ID {
	t.Helper()
	id, err := s.Put(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	if want := chunk.Sum(data); id != want {
		t.Fatalf("Put returns %s, want %s", id, want)
	}
	return id
}

func holds(t *testing.T, s chunk.Store, id chunk.ID, want []byte) {
	t.Helper()
	got, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("Get returns %d other bytes", len(got))
	}
	if !s.Has(id) {
		t.Fatal("Has = false for a chunk that is there")
	}
}

func testMissing(t *testing.T, s chunk.Store) {
	for _, id := range []chunk.ID{{}, chunk.Sum(nil), chunk.Sum([]byte("nobody stored this"))} {
		if _, err := s.Get(t.Context(), id); !errors.Is(err, chunk.ErrNotFound) {
			t.Errorf("Get of a missing chunk: %v", err)
		}
		if s.Has(id) {
			t.Error("Has = true for a missing chunk")
		}
	}
}

func testSizes(t *testing.T, s chunk.Store) {
	for _, n := range []int{0, 1, 511, 512, 4096, chunk.WholeMax, chunk.MaxSize, chunk.MaxChunk} {
		for _, data := range [][]byte{make([]byte, n), noise(n)} {
			id := put(t, s, data)
			holds(t, s, id, data)
		}
	}
}

func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

func testAgain(t *testing.T, s chunk.Store) {
	data := []byte("stored twice")
	if put(t, s, data) != put(t, s, bytes.Clone(data)) {
		t.Error("equal chunks have different IDs")
	}
	holds(t, s, chunk.Sum(data), data)
}

// testRetained: what the caller does with its buffer after Put is its own
// matter.
func testRetained(t *testing.T, s chunk.Store) {
	for _, n := range []int{100, 10_000, 1 << 20} {
		data := noise(n)
		id := put(t, s, data)
		want := bytes.Clone(data)
		clear(data)
		holds(t, s, id, want)
	}
}

func testTooLong(t *testing.T, s chunk.Store) {
	data := make([]byte, chunk.MaxChunk+1)
	if _, err := s.Put(t.Context(), data); err == nil {
		t.Error("a chunk beyond MaxChunk is taken")
	}
	if s.Has(chunk.Sum(data)) {
		t.Error("a chunk beyond MaxChunk is stored")
	}
}

func testCancelled(t *testing.T, s chunk.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	data := []byte("nobody waits for this")
	if _, err := s.Put(ctx, data); !errors.Is(err, context.Canceled) {
		t.Errorf("Put with a cancelled context: %v", err)
	}
	put(t, s, data)
}

// testConcurrent: many callers store and read the same and different chunks.
func testConcurrent(t *testing.T, s chunk.Store) {
	var wg sync.WaitGroup
	for w := range uint64(8) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(w, 0))
			for range 100 {
				n := r.Uint64N(150)
				data := fmt.Appendf(nil, "chunk %d %s", n, bytes.Repeat(binary.LittleEndian.AppendUint64(nil, n), int(n)))
				id, err := s.Put(context.Background(), data)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := s.Get(context.Background(), id)
				if err != nil || !bytes.Equal(got, data) || !s.Has(id) {
					t.Errorf("Get after Put: %d bytes, %v", len(got), err)
					return
				}
			}
		})
	}
	wg.Wait()
}
