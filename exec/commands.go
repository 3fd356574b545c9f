package exec

// The commands that scripts find.
import (
	_ "github.com/vfsd/vfsd/shell/cmd/archive"
	_ "github.com/vfsd/vfsd/shell/cmd/data"
	_ "github.com/vfsd/vfsd/shell/cmd/files"
	_ "github.com/vfsd/vfsd/shell/cmd/system"
	_ "github.com/vfsd/vfsd/shell/cmd/text"
)
