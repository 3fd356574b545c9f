package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

// completeWorkspaces completes the first argument with the names of workspaces
// and, after an @, of their snapshots. What cannot be asked completes nothing.
func completeWorkspaces(o *options) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		ws, _, at := strings.Cut(typed, "@")
		if at {
			res, err := call(cmd.Context(), o, control.SnapshotsCall, control.SnapshotsRequest{Workspace: ws})
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			for _, s := range res.Snapshots {
				names = append(names, ws+"@"+s.Name)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		}
		l, err := call(cmd.Context(), o, control.ListCall, control.ListRequest{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		for _, w := range l.Workspaces {
			names = append(names, w.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
