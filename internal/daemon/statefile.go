package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vfsd/vfsd/internal/hostfs"
)

// stateFile is a small JSON file in the data directory that is replaced whole.
// What it holds may be secret: it is for its owner alone.
type stateFile struct {
	dir, name string
}

// maxState bounds such a file in bytes.
const maxState = 16 << 20

// load reads the file into v, which stays as it is when there is none.
func (f stateFile) load(v any) error {
	name := filepath.Join(f.dir, f.name)
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.Size() > maxState {
		err = fmt.Errorf("%d bytes are more than it can have", info.Size())
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(name)
	}
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return fmt.Errorf("%s: %w; mend it or remove it", name, err)
	}
	return nil
}

// save replaces the file, durably.
func (f stateFile) save(v any) error {
	b, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err
	}
	return hostfs.ReplaceFile(hostfs.OS{}, filepath.Join(f.dir, f.name), append(b, '\n'), 0o600)
}
