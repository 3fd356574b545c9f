package harness

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// maxHashed bounds the bytes of a file that a Tree looks at.
const maxHashed = 1 << 16

// Tree is everything that can be seen of the case's directory and below: a
// line for each path. Access times are left out, for looking moves them.
type Tree map[string]string

// Tree looks at the case's directory.
func (t *T) Tree() Tree {
	tree := make(Tree)
	t.grow(tree, ".")
	return tree
}

func (t *T) grow(tree Tree, path string) {
	s := t.Lstat(path)
	line := fmt.Sprintf("ino %d mode %o links %d owner %d:%d rdev %x size %d mtime %d ctime %d", s.Ino, s.Mode, s.Nlink,
		s.UID, s.GID, s.Rdev, s.Size, s.Mtime, s.Ctime)
	if list, err := ListXattr(path); err == nil && len(list) > 0 {
		line += " xattrs " + strings.Join(list, ",")
	}
	switch s.Type() {
	case unix.S_IFLNK:
		buf := make([]byte, unix.PathMax)
		n, err := unix.Readlink(path, buf)
		t.Must(err)
		line += fmt.Sprintf(" -> %q", buf[:n])
	case unix.S_IFREG:
		line += t.hash(path)
	}
	tree[path] = line
	if s.Type() == unix.S_IFDIR {
		for _, name := range t.Names(path) {
			t.grow(tree, path+"/"+name)
		}
	}
}

func (t *T) hash(path string) string {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOATIME, 0)
	if err != nil {
		return "" // not ours to read
	}
	defer unix.Close(fd)
	b, err := ReadFrom(fd, 0, maxHashed)
	t.Must(err)
	h := fnv.New64a()
	h.Write(b)
	return fmt.Sprintf(" content %x", h.Sum64())
}

// Unchanged runs fn and asserts that it left everything below the case's
// directory as it was, times included: one assertion.
func (t *T) Unchanged(fn func()) bool {
	before := t.Tree()
	fn()
	return t.SameTree(before, t.Tree())
}

// SameTree asserts that two looks saw the same.
func (t *T) SameTree(before, after Tree) bool {
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if now, ok := after[path]; !ok {
			return t.Check(false, "%q is gone", path)
		} else if now != before[path] {
			return t.Check(false, "%q was\n\t%s and is\n\t%s", path, before[path], now)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			return t.Check(false, "%q appeared", path)
		}
	}
	return t.Check(true, "")
}

// ListXattr returns the names of a path's extended attributes, of a link
// itself too.
func ListXattr(path string) ([]string, error) {
	buf := make([]byte, 64<<10)
	n, err := unix.Llistxattr(path, buf)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range strings.Split(string(buf[:n]), "\x00") {
		if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
