package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

func newFork(o *options, s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fork WORKSPACE[@STATE] NEW",
		Short: "Make a workspace that begins as another, without copying",
		Long: `Make a workspace that begins as the present state of another, or as its snapshot
or commit STATE. Nothing is copied, whatever its size; the two go their own ways.
The new one has no quota, whatever the other's is: vfsctl quota NEW sets one.`,
		Example: "  vfsctl fork ws experiment\n  vfsctl fork ws@before retry",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runFork(cmd.Context(), o, s, args[0], args[1])
		},
	}
	return jsonFlag(cmd, o)
}

func runFork(ctx context.Context, o *options, s streams, from, name string) error {
	ws, at, err := splitState("fork", from)
	if err != nil {
		return err
	}
	res, err := call(ctx, o, control.ForkCall, control.ForkRequest{Workspace: ws, At: at, Name: name})
	if err != nil {
		return err
	}
	if o.json {
		return s.printJSON(res)
	}
	s.printf("made workspace %s from %s at commit %s; vfsctl up %s MOUNTPOINT mounts it\n", name, ws, short(res.Commit), name)
	return nil
}
