package workspace

import "time"

// Summary is a workspace in figures that take no opening it.
type Summary struct {
	Name      string `json:"name"`
	Inodes    uint64 `json:"inodes"` // at the newest commit, while it is not open
	Bytes     uint64 `json:"bytes"`
	Snapshots int    `json:"snapshots"`
	Commit    string `json:"commit"`
	Root      string `json:"root"`
	Quota     Quota  `json:"quota"`
	Created   int64  `json:"created"` // ns since 1970
	Open      bool   `json:"open"`
}

// Peek returns the figures of a workspace without opening it. The error is why
// it cannot be opened, as far as that is known.
func (d *DataDir) Peek(name string) (Summary, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.exists(name); err != nil {
		return Summary{}, err
	}
	if err := d.hurt[name]; err != nil {
		return Summary{}, err
	}
	h, err := readHead(d.fsys, d.path(name))
	if err != nil {
		return Summary{}, err
	}
	s := Summary{Name: name, Inodes: h.Inodes, Bytes: h.Blocks * blockSize, Snapshots: len(h.Snapshots),
		Commit: h.Commit.String(), Root: h.Root.String(), Quota: h.Quota, Created: h.Created}
	if w := d.open[name]; w != nil && !w.isClosed() {
		x := w.Stats()
		s.Inodes, s.Bytes, s.Open = x.Inodes, x.Bytes, true
	}
	return s, nil
}

// CloseIdle closes the workspaces that nobody has asked for since, and that
// nobody uses. They open again when they are asked for.
func (d *DataDir) CloseIdle(since time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var first error
	for name, w := range d.open {
		if d.used[name].After(since) || w.inUse() {
			continue
		}
		if err := w.Close(); err != nil && first == nil {
			first = err
		}
		delete(d.open, name)
		delete(d.used, name)
	}
	return first
}
