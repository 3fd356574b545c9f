package scale

import (
	"runtime"
	"runtime/debug"

	"github.com/vfsd/vfsd/bench/report"
)

// memory returns what this process keeps, in MiB, after what it does not need
// has been given back: "heap" is the live heap, "memory" what is resident,
// where the system tells.
func memory() figures {
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
	return f
}

func median(xs []float64) float64 { return report.Median(xs) }
