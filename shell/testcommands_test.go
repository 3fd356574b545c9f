package shell_test

import (
	"github.com/vfsd/vfsd/shell/command"

	// The scripts of these tests use the real commands.
	_ "github.com/vfsd/vfsd/shell/cmd/archive"
	_ "github.com/vfsd/vfsd/shell/cmd/data"
	_ "github.com/vfsd/vfsd/shell/cmd/files"
	_ "github.com/vfsd/vfsd/shell/cmd/system"
	_ "github.com/vfsd/vfsd/shell/cmd/text"
)

// testCommands are commands that one test adds.
var testCommands = map[string]*command.Command{}

func lookupTestCommand(name string) *command.Command {
	if c := testCommands[name]; c != nil {
		return c
	}
	return command.Lookup(name)
}
