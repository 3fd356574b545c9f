package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/hostfs"
)

// tableName is the file in a data directory that says what is mounted.
const (
	tableName    = "mounts.json"
	tableVersion = 1
	tableLimit   = 1 << 20 // bytes
)

// table is its content.
type table struct {
	Version int          `json:"version"`
	Mounts  []tableEntry `json:"mounts"`
}

// tableEntry is a mount, with all that it takes to mount it again.
type tableEntry struct {
	Workspace  string `json:"workspace"`
	MountPoint string `json:"mount_point"`
	Driver     string `json:"driver"`
	AllowOther bool   `json:"allow_other"`
	ReadOnly   bool   `json:"read_only"`
}

// MarshalJSON keeps a mount point that is not UTF-8 beside its string.
func (e tableEntry) MarshalJSON() ([]byte, error) {
	return json.Marshal(entryFile{plainEntry(e), control.Bytes(e.MountPoint)})
}

// UnmarshalJSON is the reverse.
func (e *tableEntry) UnmarshalJSON(b []byte) error {
	var f entryFile
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	f.MountPoint = control.Name(f.MountPoint, f.MountPointBytes)
	*e = tableEntry(f.plainEntry)
	return nil
}

// plainEntry is a tableEntry without its methods.
type plainEntry tableEntry

// entryFile is a tableEntry as it is in the file.
type entryFile struct {
	plainEntry
	MountPointBytes []byte `json:"mount_point_bytes,omitempty"`
}

// readTable returns the mounts that the table of dir lists.
func readTable(dir string) ([]tableEntry, error) {
	name := filepath.Join(dir, tableName)
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Size() > tableLimit {
		return nil, fmt.Errorf("%s: %d bytes are more than it can have", name, info.Size())
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	t, err := decodeTable(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t.Mounts, nil
}

func decodeTable(b []byte) (table, error) {
	var t table
	if err := json.Unmarshal(b, &t); err != nil {
		return table{}, err
	}
	if t.Version != tableVersion {
		return table{}, fmt.Errorf("version %d, known is %d", t.Version, tableVersion)
	}
	for _, e := range t.Mounts {
		if !filepath.IsAbs(e.MountPoint) || e.MountPoint != filepath.Clean(e.MountPoint) {
			return table{}, fmt.Errorf("mount point %q is no clean absolute path", e.MountPoint)
		}
	}
	return t, nil
}

// writeTable replaces the table, whole and durably. An empty one is no file:
// taking it away works on a full disk too.
func writeTable(fsys hostfs.FS, dir string, mounts []tableEntry) error {
	name := filepath.Join(dir, tableName)
	if len(mounts) == 0 {
		if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return fsys.SyncDir(dir)
	}
	mounts = slices.Clone(mounts)
	slices.SortFunc(mounts, func(a, b tableEntry) int { return strings.Compare(a.MountPoint, b.MountPoint) })
	b, err := json.MarshalIndent(table{tableVersion, mounts}, "", "  ")
	if err != nil {
		return err
	}
	return hostfs.ReplaceFile(fsys, name, append(b, '\n'), 0o600)
}

// loadTable reads the table. One that cannot be read is no reason not to
// start: it is noted, and its dead mounts are left to doctor.
func (d *Daemon) loadTable() []tableEntry {
	mounts, err := readTable(d.dir)
	if err != nil {
		d.note("the list of mounts cannot be read and is begun anew; vfsctl doctor finds dead mounts: %v", err)
	}
	return mounts
}

// saveTable writes what is mounted now or is about to be.
//
// A table that cannot be written, on a full disk, keeps nobody from mounting:
// all that is lost is the cleaning up after a crash.
func (d *Daemon) saveTable() {
	d.tableMu.Lock()
	defer d.tableMu.Unlock()
	d.mu.Lock()
	all := slices.Clone(d.left)
	if d.coming != nil {
		all = append(all, *d.coming)
	}
	for _, m := range d.mounts {
		all = append(all, m.entry)
	}
	d.mu.Unlock()
	if err := writeTable(hostfs.OS{}, d.dir, all); err != nil {
		d.note("the list of mounts cannot be written, so that a dead mount would have to be cleared by hand after a crash: %v", err)
	}
}
