package hostfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// OpenFile implements FS.
func (c *Crash) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	dir, n, base, err := c.find(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if flag&(os.O_RDWR|os.O_WRONLY) == os.O_WRONLY {
		flag += os.O_RDWR - os.O_WRONLY // Sync reads the file back
	}
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	switch {
	case n == nil:
		n = c.link(dir, base, false, perm)
	case flag&os.O_TRUNC != 0:
		c.record(crashChange{kind: changeCut, file: n})
	}
	return &crashFile{osFile{f}, c, n}, nil
}

// Mkdir implements FS.
func (c *Crash) Mkdir(name string, perm fs.FileMode) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mkdir(name, perm)
}

func (c *Crash) mkdir(name string, perm fs.FileMode) error {
	dir, n, base, err := c.find(name)
	if err == nil && n != nil {
		err = fs.ErrExist
	}
	if err != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	if err := os.Mkdir(name, perm); err != nil {
		return err
	}
	c.link(dir, base, true, perm)
	return nil
}

// MkdirAll implements FS.
func (c *Crash) MkdirAll(name string, perm fs.FileMode) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mkdirAll(filepath.Clean(name), perm)
}

func (c *Crash) mkdirAll(name string, perm fs.FileMode) error {
	if fi, err := os.Stat(name); err == nil && fi.IsDir() {
		return nil
	}
	if parent := filepath.Dir(name); parent != name {
		if err := c.mkdirAll(parent, perm); err != nil {
			return err
		}
	}
	return c.mkdir(name, perm)
}

// Remove implements FS.
func (c *Crash) Remove(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.remove(name)
}

func (c *Crash) remove(name string) error {
	dir, n, base, err := c.mustFind("remove", name)
	if err != nil {
		return err
	}
	if dir == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: errRoot}
	}
	content, err := c.contentOf(n)
	if err != nil {
		return err
	}
	if err := os.Remove(name); err != nil {
		return err
	}
	c.unlink(dir, base, content)
	return nil
}

// contentOf is content for what may be a directory, which has none.
func (c *Crash) contentOf(n *crashInode) ([]byte, error) {
	if n.isDir() {
		return nil, nil
	}
	return c.content(n)
}

// RemoveAll implements FS. A power cut may leave any part of the tree that
// was not removed yet.
func (c *Crash) RemoveAll(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.removeAll(name)
}

func (c *Crash) removeAll(name string) error {
	_, n, _, err := c.find(name)
	if err != nil {
		return &fs.PathError{Op: "removeall", Path: name, Err: err}
	}
	if n == nil {
		return nil
	}
	if n.isDir() {
		if err := c.adoptNames(n); err != nil {
			return err
		}
		for _, child := range sortedNames(n.names) {
			if err := c.removeAll(filepath.Join(name, child)); err != nil {
				return err
			}
		}
	}
	return c.remove(name)
}

// Rename implements FS.
func (c *Crash) Rename(from, to string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	fromDir, n, fromName, err := c.mustFind("rename", from)
	if err != nil {
		return err
	}
	toDir, target, toName, err := c.find(to)
	if err == nil && (fromDir == nil || toDir == nil) {
		err = errRoot
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	var content []byte
	if target != nil {
		if content, err = c.contentOf(target); err != nil {
			return err
		}
	}
	if err := os.Rename(from, to); err != nil || target == n {
		return err
	}
	if target != nil {
		target.parent, target.removed = nil, content
	}
	n.parent, n.name = toDir, toName
	c.record(crashChange{kind: changeMove, file: n, dir: toDir, name: toName, from: fromDir, old: fromName})
	return nil
}

// ReadDir implements FS.
func (c *Crash) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Stat implements FS.
func (c *Crash) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Usage implements FS.
func (c *Crash) Usage(name string) (Usage, error) { return OS{}.Usage(name) }

// SyncDir implements FS. For a directory outside the root it does nothing.
func (c *Crash) SyncDir(name string) error {
	if _, err := os.Stat(name); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, n, _, err := c.find(name)
	if errors.Is(err, errOutside) || c.opts.Lying {
		return nil
	}
	if err != nil {
		return &fs.PathError{Op: "syncdir", Path: name, Err: err}
	}
	if n == nil || !n.isDir() {
		return &fs.PathError{Op: "syncdir", Path: name, Err: fs.ErrInvalid}
	}
	if err := c.adoptNames(n); err != nil {
		return fmt.Errorf("crash model: %w", err)
	}
	reach := len(c.pending)
	for c.opts.StrictNames && reach > 0 && !c.pending[reach-1].touches(n) {
		reach--
	}
	c.commit(reach)
	return nil
}

// crashFile is an open file of a Crash.
type crashFile struct {
	osFile
	crash *Crash
	inode *crashInode
}

// Sync implements File: the bytes that the file has now are durable. The disk
// itself is left out of it.
func (f *crashFile) Sync() error {
	c := f.crash
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opts.Lying {
		return nil
	}
	if c.opts.StrictNames {
		c.commitCuts(f.inode)
	} else {
		c.commit(len(c.pending))
	}
	size, err := f.Size()
	if err != nil {
		return err
	}
	n := f.inode
	n.written = nil
	if int64(cap(n.durable)) < size {
		n.durable = make([]byte, size, size+size/4)
	}
	n.durable = n.durable[:size]
	read, err := f.ReadAt(n.durable, 0)
	if err != nil && err != io.EOF {
		return fmt.Errorf("crash model: %w", err)
	}
	n.durable = n.durable[:read]
	return nil
}

// commitCuts makes a file's truncations durable and nothing else.
func (c *Crash) commitCuts(n *crashInode) {
	rest := c.pending[:0]
	for _, ch := range c.pending {
		if ch.kind != changeCut || ch.file != n {
			rest = append(rest, ch)
		}
	}
	c.pending = rest
}

// Truncate implements File.
func (f *crashFile) Truncate(size int64) error {
	c := f.crash
	c.mu.Lock()
	defer c.mu.Unlock()
	before, err := f.Size()
	if err != nil {
		return err
	}
	if err := f.osFile.Truncate(size); err != nil {
		return err
	}
	if size < before {
		c.record(crashChange{kind: changeCut, file: f.inode, size: size})
	}
	return nil
}
