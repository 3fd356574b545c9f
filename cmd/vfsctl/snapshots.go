package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

type snapshotsOptions struct {
	*options
	workspace string
	remove    string
}

func newSnapshots(o *options, s streams) *cobra.Command {
	x := snapshotsOptions{options: o}
	cmd := &cobra.Command{
		Use:   "snapshots WORKSPACE",
		Short: "List the snapshots of a workspace, or remove one",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			x.workspace = args[0]
			if x.remove != "" {
				return runRemoveSnapshot(cmd.Context(), x, s)
			}
			return runSnapshots(cmd.Context(), x, s)
		},
	}
	cmd.Flags().StringVar(&x.remove, "remove", "", "forget the snapshot `NAME`; its commit stays while the log has it")
	completeOption(cmd, "remove", completeSnapshots(o))
	return jsonFlag(cmd, o)
}

func runSnapshots(ctx context.Context, x snapshotsOptions, s streams) error {
	res, err := call(ctx, x.options, control.SnapshotsCall, control.SnapshotsRequest{Workspace: x.workspace})
	if err != nil {
		return err
	}
	if x.json {
		return s.printJSON(res)
	}
	if len(res.Snapshots) == 0 {
		s.printf("no snapshots yet; vfsctl snapshot %s NAME makes one\n", x.workspace)
		return nil
	}
	rows := [][]string{{"SNAPSHOT", "COMMIT", "TIME"}}
	for _, n := range res.Snapshots {
		rows = append(rows, []string{n.Name, short(n.Commit), moment(n.Time)})
	}
	return s.table(rows)
}

func runRemoveSnapshot(ctx context.Context, x snapshotsOptions, s streams) error {
	res, err := call(ctx, x.options, control.RemoveSnapshotCall, control.RemoveSnapshotRequest{Workspace: x.workspace, Name: x.remove})
	if err != nil {
		return err
	}
	if x.json {
		return s.printJSON(res)
	}
	s.printf("removed snapshot %s@%s\n", x.workspace, x.remove)
	return nil
}
