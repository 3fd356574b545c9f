package main

import (
	"context"

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
			ws, at := splitAt(args[0])
			r := control.RestoreRequest{Workspace: ws, At: at}
			if at == "" {
				return control.Errorf(control.KindUsage, "restore %s: which state? name one as %s@SNAPSHOT; vfsctl log %s lists them", args[0], ws, ws)
			}
			if len(args) == 2 {
				r.Path = args[1]
			}
			return runRestore(cmd.Context(), o, s, r)
		},
	}
	return jsonFlag(cmd, o)
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
		what, back = r.Path+" in "+r.Workspace, back+" "+r.Path
	}
	s.printf("restored %s to commit %s; vfsctl restore %s goes back\n", what, short(res.Commit), back)
	return nil
}
