package main

import (
	"context"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

func newRestore(o *options, s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore WORKSPACE@STATE [PATH]",
		Short: "Bring a workspace, or one path in it, back to a state",
		Long: `Bring a workspace back to a snapshot or commit, or only PATH (from the root of
the workspace) with all below it. The state before becomes a commit first, so
that the restore can be undone; mounts show the change at once.`,
		Example: "  vfsctl restore ws@before\n  vfsctl restore ws@before src/main.go",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ws, at, err := splitState("restore", args[0])
			if err == nil && at == "" {
				_, _, err = splitState("restore", ws+"@")
			}
			if err != nil {
				return err
			}
			r := control.RestoreRequest{Workspace: ws, At: at}
			if len(args) == 2 {
				if r.Path, err = pathInside(args[1]); err != nil {
					return err
				}
			}
			return runRestore(cmd.Context(), o, s, r)
		},
	}
	return jsonFlag(cmd, o)
}

// pathInside cleans a path from the root of a workspace; "" is the root. An
// empty argument is not: it is most likely a variable that is empty, and would
// put the whole workspace back.
func pathInside(arg string) (string, error) {
	clean := path.Clean(strings.TrimLeft(arg, "/"))
	switch {
	case arg == "":
		return "", control.Errorf(control.KindUsage, `restore: the path is ""; leave it out, or give /, to restore the whole workspace`)
	case clean == "..", strings.HasPrefix(clean, "../"):
		return "", control.Errorf(control.KindUsage, "restore %s: the path leads out of the workspace", control.Word(arg))
	case clean == ".":
		return "", nil
	}
	return clean, nil
}

func runRestore(ctx context.Context, o *options, s streams, r control.RestoreRequest) error {
	res, err := call(ctx, o, control.RestoreCall, r)
	if err != nil {
		return err
	}
	if o.json {
		return s.printJSON(res)
	}
	what, back := r.Workspace, r.Workspace+"@"+short(res.Before)
	if r.Path != "" {
		what, back = control.Printable(r.Path)+" in "+r.Workspace, back+" "+control.Word(r.Path)
	}
	s.printf("restored %s to commit %s; vfsctl restore %s goes back\n", what, short(res.Commit), back)
	return nil
}
