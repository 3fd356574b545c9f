package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// HasDataDir reports whether dir has been made a data directory. One that is
// empty, or holds what an interrupted first start has left, has not: commands
// that only read must not make it one.
func HasDataDir(dir string) bool {
	// Any other error than this has a better word than "none yet".
	_, err := os.Stat(filepath.Join(dir, "format"))
	return !errors.Is(err, fs.ErrNotExist)
}
