package files

import (
	"context"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// follow says which symlinks a walk of a hierarchy follows.
type follow byte

const (
	followNone    follow = 'P'
	followCommand follow = 'H' // those named on the command line
	followAll     follow = 'L'
)

// stage says what a walk has to say of an entry.
type stage uint8

const (
	stageFile       stage = iota // anything but a directory
	stagePre                     // a directory, before what is in it
	stagePost                    // the same directory, after
	stageUnreadable              // a directory that cannot be listed: after stagePre, instead of stagePost
	stageCycle                   // a directory that contains itself by way of a symlink
	stageMissing                 // what cannot be examined
)

// entry is one step of a walk. A file is best reached as name from at, which
// holds against renames above it and has no limit of length; path is for
// messages.
type entry struct {
	at    *vfs.Walker
	name  string
	path  string
	attr  vfs.Attr
	err   error // stageUnreadable, stageMissing
	stage stage
	depth int
	// followed says that name is a symlink which the walk followed: attr is
	// what it leads to.
	followed bool
	dirs     []vfs.Ino // the directories above, outermost first
}

// verdict is what a visitor tells the walk.
type verdict uint8

const (
	goOn verdict = iota
	skip         // do not enter this directory; its stagePost is left out
	stop         // end the walk
)

// hierarchy walks what is below the paths of a command line, in the file
// system's order, depth first.
type hierarchy struct {
	c      *command.Context
	follow follow
	sorted func(es []vfs.DirEntry) // nil leaves the order
	visit  func(e *entry) verdict
}

// walk visits path and all below it. It returns false when the walk is to end.
func (h *hierarchy) walk(ctx context.Context, path string) bool {
	e := &entry{at: h.c.FS, name: path, path: path}
	h.examine(e, h.follow != followNone)
	return h.step(ctx, e)
}

// examine fills in the attributes; a symlink that leads nowhere counts as
// itself.
func (h *hierarchy) examine(e *entry, followIt bool) {
	a, err := e.at.Lstat(e.name)
	if err == nil && a.IsSymlink() && followIt {
		to, terr := e.at.Stat(e.name)
		switch errno := vfs.ToErrno(terr); {
		case terr == nil:
			a, e.followed = to, true
		case errno != syscall.ENOENT && errno != syscall.ENOTDIR:
			err = terr
		}
	}
	e.attr, e.err = a, err
	switch {
	case err != nil:
		e.stage = stageMissing
	case a.IsDir():
		e.stage = stagePre
	}
}

func (h *hierarchy) step(ctx context.Context, e *entry) bool {
	if ctx.Err() != nil {
		return false
	}
	if e.stage == stagePre && h.follow != followNone {
		for _, ino := range e.dirs {
			if ino == e.attr.Ino {
				e.stage = stageCycle
			}
		}
	}
	v := h.visit(e)
	if e.stage != stagePre || v != goOn {
		return v != stop
	}
	es, held, err := h.list(e)
	if err != nil {
		e.stage, e.err = stageUnreadable, err
		return h.visit(e) != stop
	}
	defer h.c.Memory.Shrink(held)
	at := e.at.At(e.attr.Ino)
	dirs := append(e.dirs[:len(e.dirs):len(e.dirs)], e.attr.Ino)
	for i := range es {
		child := &entry{at: at, name: es[i].Name, path: gnulib.Join(e.path, es[i].Name), depth: e.depth + 1, dirs: dirs}
		h.examine(child, h.follow == followAll)
		if !h.step(ctx, child) {
			return false
		}
	}
	e.stage = stagePost
	return h.visit(e) != stop
}

// entrySize is what a listed name is taken to hold of memory, beside its bytes.
const entrySize = 64

// list reads a directory; held is what it took from the memory account.
func (h *hierarchy) list(e *entry) (es []vfs.DirEntry, held int64, err error) {
	if es, err = e.at.ReadDirIno(e.attr.Ino); err != nil {
		return nil, 0, err
	}
	for i := range es {
		held += int64(len(es[i].Name)) + entrySize
	}
	if err := h.c.Memory.Grow(held); err != nil {
		return nil, 0, err
	}
	if h.sorted != nil {
		h.sorted(es)
	}
	return es, held, nil
}
