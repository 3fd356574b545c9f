//go:build !linux

package scale

func resident() (int64, bool) { return 0, false }
