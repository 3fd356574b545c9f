package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vfsd/vfsd/internal/control"
)

// dataDir makes what --data was given an absolute path. An empty one is no
// directory at all, and above all not the current one.
func dataDir(given string) (string, error) {
	if given == "" {
		return "", control.Errorf(control.KindUsage, `--data "": it takes a directory; without --data it is $VFSD_DATA, else the default of vfsctl --help`)
	}
	return filepath.Abs(given)
}

// noArgs is for commands that take options alone.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("it takes no arguments and was given %s", control.Word(args[0]))
	}
	return nil
}

// flagError says of an option what is wrong with it, and what it takes.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if takes := ""; errors.As(err, &invalid) {
		f := invalid.GetFlag()
		switch t := f.Value.Type(); {
		case t == "bool":
			takes = "true or false"
		case t == "duration":
			takes = "a duration, as 10s or 2m"
		case strings.HasPrefix(t, "int"), strings.HasPrefix(t, "uint"):
			takes = "a number"
		}
		if takes != "" {
			err = fmt.Errorf("--%s %q: it takes %s", f.Name, invalid.GetValue(), takes)
		}
	}
	return control.Errorf(control.KindUsage, "%w; see %s --help", err, cmd.CommandPath())
}

// refuseUnknownTopics has help and completion fail where cobra's own print
// the help of something else and call that a success.
func refuseUnknownTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				if found, _, err := root.Find(args); err != nil || found == root && len(args) > 0 {
					return unknownCommand(root, strings.Join(args, " "))
				}
				return nil
			}
		case "completion":
			c.DisableFlagsInUseLine = true
			c.Args = nil // or cobra judges, before RunE, with words of its own
			c.RunE = func(cmd *cobra.Command, args []string) error {
				if len(args) == 0 {
					return cmd.Help()
				}
				return control.Errorf(control.KindUsage, "completion: no shell %q; there are bash, fish, powershell and zsh", args[0])
			}
		}
	}
}

// splitState takes WS@STATE apart; without an @, the state is "", which is the
// present. An @ with nothing after it is most likely a variable that is empty.
func splitState(command, arg string) (workspace, state string, err error) {
	workspace, state, at := strings.Cut(arg, "@")
	if at && state == "" {
		return "", "", control.Errorf(control.KindUsage, "%s %s: which state? name one as %s@SNAPSHOT; vfsctl log %s lists them", command, arg, workspace, workspace)
	}
	return workspace, state, nil
}
