package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

// completeWorkspaces completes the first argument, and the second of diff, with
// the names of workspaces and, after an @, of their snapshots. What cannot be
// asked completes nothing.
func completeWorkspaces(o *options) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 1 || len(args) == 1 && cmd.Name() != "diff" {
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

// completeSnapshots completes an option with the snapshots of the workspace
// that the first argument names.
func completeSnapshots(o *options) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		res, err := call(cmd.Context(), o, control.SnapshotsCall, control.SnapshotsRequest{Workspace: args[0]})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for _, s := range res.Snapshots {
			names = append(names, s.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeMounts completes a mount point, where none fits with any file: it
// may be typed as a relative path.
func completeMounts(o *options) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		st, err := call(cmd.Context(), o, control.StatusCall, control.StatusRequest{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var points []string
		for _, m := range st.Mounts {
			if strings.HasPrefix(m.Point(), typed) {
				points = append(points, m.Point())
			}
		}
		return points, cobra.ShellCompDirectiveDefault
	}
}

// completeOption gives a command's option its completion. It is an error only
// of the program: there is no such option.
func completeOption(cmd *cobra.Command, name string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(name, f); err != nil {
		panic(err)
	}
}
