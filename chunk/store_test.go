package chunk_test

import (
	"testing"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/chunk/chunktest"
	"github.com/vfsd/vfsd/internal/hostfs"
)

// TestStore holds Packs to the contract, with each option that changes how
// chunks are kept.
func TestStore(t *testing.T) {
	for name, opt := range map[string]chunk.Options{
		"default":    {},
		"compressed": {Compress: true},
		"uncached":   {CacheBytes: -1, Compress: true},
		"small":      {PackSize: 1, CacheBytes: 1 << 12},
	} {
		open := func(t *testing.T) *chunk.Packs {
			opt.FS, opt.Dir = hostfs.OS{}, t.TempDir()
			p, err := chunk.Open(t.Context(), opt)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			})
			return p
		}
		t.Run(name, func(t *testing.T) {
			chunktest.TestStore(t, func(t *testing.T) chunk.Store { return open(t) })
		})
		t.Run(name+" raw", func(t *testing.T) {
			chunktest.TestStore(t, func(t *testing.T) chunk.Store { return open(t).Raw() })
		})
	}
}
