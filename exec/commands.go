package exec

// The commands that scripts find.
import _ "github.com/vfsd/vfsd/shell/cmd"
