//go:build !linux

package bench

import (
	"errors"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

func syncDisks() { unix.Sync() }

func dropCaches() error { return errors.New("not on " + runtime.GOOS) }

func busy() (time.Duration, bool) { return 0, false }

// ProcessUse is for Linux only; elsewhere it knows nothing.
func ProcessUse(int) (map[string]float64, error) { return nil, nil }
