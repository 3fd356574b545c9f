//go:build !fakefsync

package hostfs

import "os"

func fsync(f *os.File) error { return f.Sync() }
