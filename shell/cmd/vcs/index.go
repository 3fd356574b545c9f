package vcs

import (
	"bufio"
	"bytes"
	"errors"
	"path"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/vfsd/vfsd/vfs"
)

// stageIndex is the index: entries sorted by name, then stage.
type stageIndex struct {
	*index.Index
}

// readIndex reads the index; one that is not there is empty.
func (r *repo) readIndex() (*stageIndex, error) {
	idx := &index.Index{Version: 2}
	f, err := r.FS.Open(r.file("index"))
	if errors.Is(err, syscall.ENOENT) {
		return &stageIndex{idx}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if a, err := f.Stat(); err == nil {
		idx.ModTime = time.Unix(0, a.Mtime)
	}
	if err := index.NewDecoder(bufio.NewReader(f)).Decode(idx); err != nil {
		return nil, fatalf("index file corrupt: %v", err)
	}
	for _, e := range idx.Entries {
		if !safeName(e.Name) {
			return nil, fatalf("invalid path '%s'", e.Name)
		}
	}
	ix := &stageIndex{idx}
	ix.sort()
	return ix, nil
}

// safeName rejects names of trees and indexes that lead out of the work tree
// or into the repository.
func safeName(name string) bool {
	if name == "" || len(name) > 4096 {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return false
		}
	}
	return strings.IndexByte(name, 0) < 0
}

func (ix *stageIndex) sort() {
	sort.SliceStable(ix.Entries, func(i, j int) bool {
		a, b := ix.Entries[i], ix.Entries[j]
		return a.Name < b.Name || a.Name == b.Name && a.Stage < b.Stage
	})
}

// writeIndex replaces the index file, by way of its lock.
func (r *repo) writeIndex(ix *stageIndex) error {
	ix.sort()
	out := &index.Index{Version: 2, Entries: ix.Entries}
	for _, e := range ix.Entries {
		if e.IntentToAdd || e.SkipWorktree {
			out.Version = 3
		}
	}
	var b bytes.Buffer
	if err := index.NewEncoder(&b).Encode(out); err != nil {
		return err
	}
	lock := r.file("index.lock")
	f, err := r.FS.OpenFile(lock, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, 0o666)
	if errors.Is(err, syscall.EEXIST) {
		return fatalf("Unable to create '%s': File exists.\n\nAnother git process seems to be running in this repository, e.g.\n"+
			"an editor opened by 'git commit'. Please make sure all processes\nare terminated then try again. If it still fails, a git process\n"+
			"may have crashed in this repository earlier:\nremove the file manually to continue.", lock)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return errors.Join(err, r.FS.Unlink(lock))
	}
	return r.FS.Rename(lock, r.file("index"), 0)
}

// pos is where entries of a name begin, or would.
func (ix *stageIndex) pos(name string) int {
	return sort.Search(len(ix.Entries), func(i int) bool { return ix.Entries[i].Name >= name })
}

// at finds an entry by name and stage.
func (ix *stageIndex) at(name string, stage int) *index.Entry {
	for i := ix.pos(name); i < len(ix.Entries) && ix.Entries[i].Name == name; i++ {
		if int(ix.Entries[i].Stage) == stage {
			return ix.Entries[i]
		}
	}
	return nil
}

// has reports whether a name has an entry of any stage.
func (ix *stageIndex) has(name string) bool {
	i := ix.pos(name)
	return i < len(ix.Entries) && ix.Entries[i].Name == name
}

// hasBelow reports whether there are entries below a directory.
func (ix *stageIndex) hasBelow(dir string) bool {
	i := ix.pos(dir + "/")
	return i < len(ix.Entries) && strings.HasPrefix(ix.Entries[i].Name, dir+"/")
}

// remove drops all entries of a name.
func (ix *stageIndex) remove(name string) {
	i := ix.pos(name)
	j := i
	for j < len(ix.Entries) && ix.Entries[j].Name == name {
		j++
	}
	ix.Entries = append(ix.Entries[:i:i], ix.Entries[j:]...)
}

// put makes e the only entry of its name, or of its name and stage, and drops
// what cannot be beside it: a file where e needs a directory, or below e.
func (ix *stageIndex) put(e *index.Entry) {
	if e.Stage == 0 {
		ix.remove(e.Name)
		for d := path.Dir(e.Name); d != "."; d = path.Dir(d) {
			ix.remove(d)
		}
		for ix.hasBelow(e.Name) {
			ix.remove(ix.Entries[ix.pos(e.Name+"/")].Name)
		}
	}
	i := ix.pos(e.Name)
	for i < len(ix.Entries) && ix.Entries[i].Name == e.Name && ix.Entries[i].Stage < e.Stage {
		i++
	}
	ix.Entries = append(ix.Entries, nil)
	copy(ix.Entries[i+1:], ix.Entries[i:])
	ix.Entries[i] = e
}

// unmerged reports whether conflicts are recorded.
func (ix *stageIndex) unmerged() bool {
	for _, e := range ix.Entries {
		if e.Stage != 0 {
			return true
		}
	}
	return false
}

// modeOf is the mode that git records for a file.
func modeOf(a *vfs.Attr) filemode.FileMode {
	switch {
	case a.IsSymlink():
		return filemode.Symlink
	case a.IsDir():
		return filemode.Dir
	case a.Mode&0o100 != 0:
		return filemode.Executable
	}
	return filemode.Regular
}

// fillStat records what tells later that the file has not changed.
func fillStat(e *index.Entry, a *vfs.Attr) {
	e.CreatedAt, e.ModifiedAt = time.Unix(0, a.Ctime), time.Unix(0, a.Mtime)
	e.Inode, e.UID, e.GID, e.Size = uint32(a.Ino), a.UID, a.GID, uint32(a.Size)
}

// sameStat reports whether the file is as the index last saw it, so that it
// need not be read. A file changed in the very moment in which the index was
// written might look the same, and does not count.
func (ix *stageIndex) sameStat(e *index.Entry, a *vfs.Attr) bool {
	m := time.Unix(0, a.Mtime)
	return e.ModifiedAt.Equal(m) && e.Size == uint32(a.Size) && (e.Inode == 0 || e.Inode == uint32(a.Ino)) && m.Before(ix.ModTime)
}

// treeFile is a file of a tree.
type treeFile struct {
	mode filemode.FileMode
	hash plumbing.Hash
}

// flatten lists the files of a tree by name.
func (r *repo) flatten(h plumbing.Hash) (map[string]treeFile, error) {
	files := map[string]treeFile{}
	if h.IsZero() {
		return files, nil
	}
	return files, r.flattenInto(files, h, "", 0)
}

// maxTreeDepth keeps a hostile tree from exhausting the stack.
const maxTreeDepth = 1000

func (r *repo) flattenInto(files map[string]treeFile, h plumbing.Hash, prefix string, depth int) error {
	if depth > maxTreeDepth {
		return fatal("tree is too deep")
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	t, err := object.GetTree(r.st, h)
	if err != nil {
		return fatalf("not a tree object: %s", h)
	}
	for _, e := range t.Entries {
		if !safeName(e.Name) || strings.Contains(e.Name, "/") {
			return fatalf("invalid path '%s'", prefix+e.Name)
		}
		if e.Mode == filemode.Dir {
			if err := r.flattenInto(files, e.Hash, prefix+e.Name+"/", depth+1); err != nil {
				return err
			}
			continue
		}
		mode := e.Mode
		if mode == filemode.Deprecated {
			mode = filemode.Regular
		}
		files[prefix+e.Name] = treeFile{mode, e.Hash}
	}
	return nil
}

// headFiles lists the files of HEAD's commit; none when there is no commit yet.
func (r *repo) headFiles() (map[string]treeFile, error) {
	_, h, born := r.head()
	if !born {
		return map[string]treeFile{}, nil
	}
	c, err := r.commit(h)
	if err != nil {
		return nil, err
	}
	return r.flatten(c.TreeHash)
}

// writeTree stores the trees of the index and returns the top one.
func (r *repo) writeTree(ix *stageIndex) (plumbing.Hash, error) {
	entries := make([]*index.Entry, 0, len(ix.Entries))
	for _, e := range ix.Entries {
		if e.Stage != 0 {
			return plumbing.ZeroHash, fatalf("%s: unmerged (%s)", e.Name, e.Hash)
		}
		if !e.IntentToAdd {
			entries = append(entries, e)
		}
	}
	return r.writeSubtree(entries, "")
}

func (r *repo) writeSubtree(entries []*index.Entry, prefix string) (plumbing.Hash, error) {
	t := &object.Tree{}
	for i := 0; i < len(entries); {
		name, _, below := strings.Cut(entries[i].Name[len(prefix):], "/")
		if !below {
			t.Entries = append(t.Entries, object.TreeEntry{Name: name, Mode: entries[i].Mode, Hash: entries[i].Hash})
			i++
			continue
		}
		dir := prefix + name + "/"
		j := i
		for j < len(entries) && strings.HasPrefix(entries[j].Name, dir) {
			j++
		}
		h, err := r.writeSubtree(entries[i:j], dir)
		if err != nil {
			return h, err
		}
		t.Entries = append(t.Entries, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: h})
		i = j
	}
	sort.Sort(object.TreeEntrySorter(t.Entries))
	return r.encode(t)
}

// newIndex is an empty index.
func newIndex() *stageIndex { return &stageIndex{&index.Index{Version: 2}} }

// entryOf makes the entry of a file that is in a tree.
func entryOf(name string, f treeFile) *index.Entry {
	return &index.Entry{Name: name, Mode: f.mode, Hash: f.hash}
}
