package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

func newSnapshot(o *options, s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot WORKSPACE NAME",
		Short: "Keep the present state under a name",
		Long: `Keep the present state of a workspace under a name. It holds everything that was
done before. In a mount it can be read below .vfsd/snapshots/NAME.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSnapshot(cmd.Context(), o, s, args[0], args[1])
		},
	}
	return jsonFlag(cmd, o)
}

func runSnapshot(ctx context.Context, o *options, s streams, ws, name string) error {
	snap, err := call(ctx, o, control.SnapshotCall, control.SnapshotRequest{Workspace: ws, Name: name})
	if err != nil {
		return err
	}
	if o.json {
		return s.printJSON(snap)
	}
	s.printf("snapshot %s@%s is commit %s\n", ws, name, short(snap.Commit))
	return nil
}
