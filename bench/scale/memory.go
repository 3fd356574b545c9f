package scale

import (
	"errors"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"

	"github.com/vfsd/vfsd/bench/report"
)

// memory returns what this process keeps, in MiB, after what it does not need
// has been given back: "heap" is the live heap, "memory" what is resident,
// where the system tells.
//
// With a Profile the live heap is written there too, for go tool pprof.
func (s *step) memory() (figures, error) {
	// FreeOSMemory collects once more: pools let go of memory one collection
	// later.
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f := figures{"heap": float64(m.HeapAlloc) / (1 << 20)}
	if rss, ok := resident(); ok {
		f["memory"] = float64(rss) / (1 << 20)
	}
	if s.Profile == "" {
		return f, nil
	}
	out, err := os.Create(s.Profile)
	if err != nil {
		return nil, err
	}
	return f, errors.Join(pprof.WriteHeapProfile(out), out.Close())
}

// settled adds this process's memory to figures.
func (s *step) settled(f figures) error {
	m, err := s.memory()
	maps.Copy(f, m)
	return err
}

func median(xs []float64) float64 { return report.Median(xs) }
