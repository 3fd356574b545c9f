package hostfs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Crash is a file system that knows what a power cut could do to it. It works
// on a real directory, because not every byte comes through the seam (wal
// writes with package os), and remembers beside it what has been made durable:
// the bytes of a file when its Sync was called, the names when SyncDir was.
// PowerCut, LoseUnsynced and Kill each write a directory that a machine might
// find when it comes up again; the live one goes on undisturbed, so that one
// run can be crashed at many points.
//
// # What a power cut may do
//
// The model is ext4 with data=ordered, widened where other file systems do
// worse:
//
//  1. Changes of names (create, mkdir, remove, rename) and truncations become
//     durable in the order in which they were made: what survives is a prefix
//     of them, for jbd2 commits transactions in order. A rename is atomic.
//  2. Any of these may have become durable without an fsync: the kernel
//     commits every few seconds.
//  3. SyncDir commits all changes made before it; so does Sync, because both
//     force the running transaction out. With StrictNames, Sync commits only
//     its own file, and SyncDir no more than it takes to reach the last change
//     in its directory: what POSIX allows, and code meant for other file
//     systems must expect.
//  4. Bytes written since a file's last Sync are there or not, each page of
//     4 KiB by itself: write-back takes pages in any order. A page that is not
//     there reads as it did at the last Sync, or as zeroes where the file did
//     not reach; never as other data, which ordered mode rules out. A page may
//     also be as it was at the last WriteBack, or torn by the disk between its
//     512-byte sectors.
//  5. The size of a file that has grown is anything from the durable to the
//     present size: it follows write-back.
//  6. A truncation that is lost brings back the old bytes, and what was
//     written behind its cut since is lost with it. A removal that is lost
//     brings back the name with what a power cut leaves of its bytes.
//
// Bytes and names are independent beyond this: a rename may be durable when the
// bytes of the renamed file are not (no auto_da_alloc).
//
// Names that appear or vanish behind the seam's back are noticed by SyncDir of
// their directory and when a crash is made, and count as made then. Hard and
// symbolic links, and files replaced behind its back under the same name, are
// outside the model.
type Crash struct {
	opts CrashOptions

	mu      sync.Mutex
	root    *crashInode   // guarded by mu
	pending []crashChange // guarded by mu: not durable yet, in order
}

// CrashOptions choose the model.
type CrashOptions struct {
	Root    string // the directory that can crash; its present content is durable
	Scratch string // where crashed copies are put; quickest in memory
	// StrictNames keeps a file's Sync from making names durable.
	StrictNames bool
	// Lying makes Sync and SyncDir return nil and do nothing, like a disk
	// that ignores flushes. A test that cannot fail under it proves nothing.
	Lying bool
}

var _ FS = (*Crash)(nil)

// crashInode is a file or directory; all fields are guarded by Crash.mu.
type crashInode struct {
	perm fs.FileMode

	// Where it is now; parent is nil for the root and for what was removed.
	parent *crashInode
	name   string

	// Of a directory: what is in it now, and what a power cut cannot take
	// or hide. nil for files.
	names        map[string]*crashInode
	durableNames map[string]*crashInode

	// Of a file: its durable bytes, those it had at the last WriteBack since,
	// and those it had when it was removed.
	durable []byte
	written []byte
	removed []byte
}

func (n *crashInode) isDir() bool { return n.names != nil }

// crashChange is a change that becomes durable as a whole and in order.
type crashChange struct {
	kind crashKind
	file *crashInode
	dir  *crashInode // where the name is made or removed
	name string
	from *crashInode // of a move: where the name was
	old  string      // of a move: what it was
	size int64       // of a cut: how much is left
}

type crashKind uint8

const (
	changeLink crashKind = iota + 1
	changeUnlink
	changeMove
	changeCut
)

// touches reports whether the change is one to the names in a directory.
func (c *crashChange) touches(dir *crashInode) bool { return c.dir == dir || c.from == dir }

// apply makes the change in the names that namesOf keeps for a directory.
func (c *crashChange) apply(namesOf func(*crashInode) map[string]*crashInode) {
	switch c.kind {
	case changeMove:
		delete(namesOf(c.from), c.old)
		namesOf(c.dir)[c.name] = c.file
	case changeLink:
		namesOf(c.dir)[c.name] = c.file
	case changeUnlink:
		delete(namesOf(c.dir), c.name)
	case changeCut: // no name changes
	}
}

// NewCrash returns a file system over a directory that exists.
func NewCrash(o CrashOptions) (*Crash, error) {
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return nil, fmt.Errorf("crash model: %w", err)
	}
	o.Root = root
	c := &Crash{opts: o, root: newCrashDir(0o755)}
	if err := c.adopt(c.root); err != nil {
		return nil, fmt.Errorf("crash model: %w", err)
	}
	c.commit(len(c.pending))
	err = c.eachFile(c.root, func(n *crashInode) (err error) {
		n.durable, err = os.ReadFile(c.path(n))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("crash model: %w", err)
	}
	return c, nil
}

func newCrashDir(perm fs.FileMode) *crashInode {
	return &crashInode{perm: perm, names: map[string]*crashInode{}, durableNames: map[string]*crashInode{}}
}

// eachFile calls fn for every file below a directory.
func (c *Crash) eachFile(dir *crashInode, fn func(*crashInode) error) error {
	for _, n := range dir.names {
		var err error
		if n.isDir() {
			err = c.eachFile(n, fn)
		} else {
			err = fn(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// path is where an inode is now.
func (c *Crash) path(n *crashInode) string {
	if n == c.root {
		return c.opts.Root
	}
	return filepath.Join(c.path(n.parent), n.name)
}

// content reads a file as it is now, or was when it was removed.
func (c *Crash) content(n *crashInode) ([]byte, error) {
	if n.parent == nil {
		return n.removed, nil
	}
	return os.ReadFile(c.path(n))
}

// adopt brings the names below a directory up to date with the real ones.
func (c *Crash) adopt(dir *crashInode) error {
	if err := c.adoptNames(dir); err != nil {
		return err
	}
	for _, name := range sortedNames(dir.names) {
		if n := dir.names[name]; n.isDir() {
			if err := c.adopt(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// adoptNames does it for one directory.
func (c *Crash) adoptNames(dir *crashInode) error {
	entries, err := os.ReadDir(c.path(dir))
	if err != nil {
		return err
	}
	present := make(map[string]bool, len(entries))
	for _, e := range entries {
		present[e.Name()] = true
		if dir.names[e.Name()] == nil {
			if err := c.adoptName(dir, e.Name()); err != nil {
				return err
			}
		}
	}
	for _, name := range sortedNames(dir.names) {
		if !present[name] {
			c.vanish(dir, name)
		}
	}
	return nil
}

// adoptName takes over what was made behind the seam's back, if anything was.
func (c *Crash) adoptName(dir *crashInode, name string) error {
	path := filepath.Join(c.path(dir), name)
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !fi.IsDir() && !fi.Mode().IsRegular() {
		return fmt.Errorf("%s is neither file nor directory", path)
	}
	c.link(dir, name, fi.IsDir(), fi.Mode().Perm())
	return nil
}

// vanish notes what was removed behind the seam's back. Nobody knows which
// unsynced bytes it had.
func (c *Crash) vanish(dir *crashInode, name string) {
	n := dir.names[name]
	for _, child := range sortedNames(n.names) {
		c.vanish(n, child)
	}
	c.unlink(dir, name, slices.Clone(n.durable))
}

// link notes a new name.
func (c *Crash) link(dir *crashInode, name string, isDir bool, perm fs.FileMode) *crashInode {
	n := &crashInode{perm: perm}
	if isDir {
		n = newCrashDir(perm)
	}
	n.parent, n.name = dir, name
	c.record(crashChange{kind: changeLink, file: n, dir: dir, name: name})
	return n
}

// unlink notes that a name is gone, and the bytes that its file had.
func (c *Crash) unlink(dir *crashInode, name string, content []byte) {
	n := dir.names[name]
	n.parent, n.removed = nil, content
	c.record(crashChange{kind: changeUnlink, file: n, dir: dir, name: name})
}

// record makes a change in the present names and notes it as not durable.
func (c *Crash) record(ch crashChange) {
	if ch.kind == changeCut {
		ch.file.written = ch.file.written[:min(int64(len(ch.file.written)), ch.size)]
	}
	ch.apply(func(n *crashInode) map[string]*crashInode { return n.names })
	c.pending = append(c.pending, ch)
}

// commit makes the first n pending changes durable.
func (c *Crash) commit(n int) {
	for i := range c.pending[:n] {
		ch := &c.pending[i]
		ch.apply(func(n *crashInode) map[string]*crashInode { return n.durableNames })
		switch ch.kind {
		case changeCut:
			ch.file.durable = ch.file.durable[:min(int64(len(ch.file.durable)), ch.size)]
		case changeUnlink:
			ch.file.removed = nil
		case changeLink, changeMove:
		}
	}
	c.pending = slices.Clone(c.pending[n:])
}

// WriteBack tells the model that the kernel writes dirty pages back just now:
// each page may be found later as it is at this moment. Nothing is durable by it.
// Without it no crash finds a page half filled by one of several appends.
func (c *Crash) WriteBack() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.eachFile(c.root, func(n *crashInode) error {
		now, err := c.content(n)
		if err == nil && !bytes.Equal(now, n.durable) {
			n.written = now
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("crash model: %w", err)
	}
	return nil
}

// find returns the inode that a path names, nil if there is none, and the
// directory that it is or would be in. What was made behind the seam's back is
// adopted on the way.
func (c *Crash) find(path string) (dir, n *crashInode, name string, err error) {
	rel, err := filepath.Rel(c.opts.Root, filepath.Clean(path))
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return nil, nil, "", fmt.Errorf("%w %s", errOutside, c.opts.Root)
	}
	n = c.root
	if rel == "." {
		return nil, n, "", nil
	}
	for part := range strings.SplitSeq(rel, "/") {
		if n == nil || !n.isDir() {
			return nil, nil, "", fs.ErrNotExist
		}
		dir, name = n, part
		if dir.names[part] == nil {
			if err := c.adoptName(dir, part); err != nil {
				return nil, nil, "", err
			}
		}
		n = dir.names[part]
	}
	return dir, n, name, nil
}

// mustFind is find for a path that must exist.
func (c *Crash) mustFind(op, path string) (dir, n *crashInode, name string, err error) {
	dir, n, name, err = c.find(path)
	if err == nil && n == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		err = &fs.PathError{Op: op, Path: path, Err: err}
	}
	return dir, n, name, err
}

var (
	errRoot    = errors.New("the root of the crash model stays where it is")
	errOutside = errors.New("the crash model does not reach beyond")
)
