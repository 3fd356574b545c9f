package checkout

import (
	"errors"

	"github.com/vfsd/vfsd/workspace"
)

// Errors that a caller may want to tell apart.
var (
	ErrOtherDisk = errors.New("another disk is there now; mount the right one, or make a new checkout")
	ErrEmptied   = errors.New("everything in it is gone; nothing was removed from the workspace: put it back, or remove the checkout and make it anew")
	ErrInside    = errors.New("it is inside the data directory, or holds it")
)

// Options say what is kept equal with what. All are required.
type Options struct {
	Dir      string // exists
	StateDir string // of this checkout alone, outside Dir
	Name     string // of the workspace, for the names of conflicts
	// Shadow is the private fork of Live that stands for what Dir held when both
	// last agreed. Nobody else writes to it.
	Shadow *workspace.Workspace
	Live   *workspace.Workspace
}

// Report says what a pass did. Paths are relative to the directory.
type Report struct {
	Added   int // names that the directory gave to the workspace
	Changed int // files whose bytes it changed there
	Removed int
	Moved   int
	Emitted int // changes that the workspace gave to the directory
	// Conflicts are files that were kept beside the ones they are about.
	Conflicts []Conflict
	Problems  []Problem // what could not be kept equal, and why
}

// Conflict is two versions that were kept.
type Conflict struct{ Path, Beside string }

// Problem is a path that was passed over.
type Problem struct {
	Path string
	Err  error
}

// Quiet reports whether a pass found nothing to do.
func (r *Report) Quiet() bool {
	return r.Added+r.Changed+r.Removed+r.Moved+r.Emitted+len(r.Conflicts)+len(r.Problems) == 0
}
