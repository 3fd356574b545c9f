//go:build linux

package checkout

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/vfs"
)

// The state of a checkout is two files. "emission" names the commit that the
// directory is being brought to; it is there, durably, before the first change
// and goes after the last. "index" is the cache of what the directory looked
// like.
const (
	emissionFile = "emission"
	indexFile    = "index"
	indexMagic   = "vfsdCKIX\x01"
)

type savedNode struct {
	Path  string
	Ino   uint64
	Dir   bool
	Stale bool
	Host  hostStat
}

// save writes the index of a directory that is at base, unless that is what is
// written already.
func (x *index) save(dir string, base chunk.ID) error {
	if !x.changed && x.savedFor == base {
		return nil
	}
	var b bytes.Buffer
	b.WriteString(indexMagic)
	b.Write(base[:])
	enc := msgpack.NewEncoder(&b)
	enc.UseArrayEncodedStructs(true)
	if err := x.encode(enc, x.root, ""); err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(dir, indexFile), b.Bytes()); err != nil {
		return err
	}
	x.changed, x.savedFor = false, base
	return nil
}

func (x *index) encode(enc *msgpack.Encoder, n *node, p string) error {
	if err := enc.Encode(savedNode{Path: p, Ino: uint64(n.ino), Dir: n.isDir(), Stale: n.stale, Host: n.host}); err != nil {
		return err
	}
	for name, c := range n.children {
		if err := x.encode(enc, c, strings.TrimPrefix(p+"/"+name, "/")); err != nil {
			return err
		}
	}
	return nil
}

// loadIndex reads the cache. One that is missing, damaged or of another commit
// is an empty one.
func loadIndex(dir string, base chunk.ID) *index {
	b, err := os.ReadFile(filepath.Join(dir, indexFile))
	header := len(indexMagic) + len(base)
	if err != nil || len(b) < header || string(b[:len(indexMagic)]) != indexMagic || !bytes.Equal(b[len(indexMagic):header], base[:]) {
		return newIndex()
	}
	x := newIndex()
	dec := msgpack.NewDecoder(bytes.NewReader(b[header:]))
	for {
		var s savedNode
		if err := dec.Decode(&s); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return newIndex()
		}
		if s.Path == "" {
			x.saw(x.root, s.Host)
			continue
		}
		parent := x.at(filepath.Dir(s.Path))
		if parent == nil || !parent.isDir() || !validPath(s.Path) {
			return newIndex()
		}
		x.add(parent, filepath.Base(s.Path), vfs.Ino(s.Ino), s.Host, s.Dir).stale = s.Stale
	}
	x.changed, x.savedFor = false, base
	return x
}

// validPath reports whether a relative path has only ordinary names.
func validPath(p string) bool {
	for _, name := range strings.Split(p, "/") {
		if vfs.ValidName(name) != nil {
			return false
		}
	}
	return true
}

func splitPath(p string) []string {
	if p == "" || p == "." {
		return nil
	}
	return strings.Split(p, "/")
}

// beginEmission writes down which commit the directory is brought to.
func beginEmission(dir string, to chunk.ID) error {
	return replaceFile(filepath.Join(dir, emissionFile), []byte(to.String()+"\n"))
}

func endEmission(dir string) error {
	err := os.Remove(filepath.Join(dir, emissionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = hostfs.OS{}.SyncDir(dir)
	}
	return err
}

// pendingEmission returns the commit of an emission that did not end.
func pendingEmission(dir string) (chunk.ID, bool, error) {
	b, err := os.ReadFile(filepath.Join(dir, emissionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return chunk.ID{}, false, nil
	}
	if err != nil {
		return chunk.ID{}, false, err
	}
	id, err := chunk.ParseID(strings.TrimSpace(string(b)))
	if err != nil {
		return chunk.ID{}, false, fmt.Errorf("%s: %w", filepath.Join(dir, emissionFile), err)
	}
	return id, true, nil
}

// replaceFile makes a file of the state, durably.
func replaceFile(name string, b []byte) error {
	return hostfs.ReplaceFile(hostfs.OS{}, name, b, 0o600)
}
