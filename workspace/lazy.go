package workspace

import "github.com/vfsd/vfsd/chunk"

// store returns what bytes are read from.
func (w *Workspace) store() chunk.Store { return w.chunks }
