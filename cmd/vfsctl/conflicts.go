package main

import (
	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

func newConflicts(o *options, s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "conflicts WORKSPACE",
		Short: "List what merges could not decide",
		Long: `List what merges could not decide. Both versions are in the workspace; look at
them, change the file as it should be, and take the conflict off the list with
vfsctl resolve.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			res, err := call(cmd.Context(), o, control.ConflictsCall, control.ConflictsRequest{Workspace: args[0]})
			if err != nil {
				return err
			}
			return printConflicts(o, s, res)
		},
	}
	return jsonFlag(cmd, o)
}

func printConflicts(o *options, s streams, res control.Conflicts) error {
	if o.json {
		return s.printJSON(res)
	}
	if len(res.Conflicts) == 0 {
		s.printf("no conflicts\n")
		return nil
	}
	rows := [][]string{{"ID", "WHAT", "PATH", "OTHER VERSION", "WHEN"}}
	for _, c := range res.Conflicts {
		other := control.Printable(control.Name(c.Other, c.OtherBytes))
		if other == "" {
			other = "-"
		}
		rows = append(rows, []string{c.ID, c.Kind, control.Printable(control.Name(c.Path, c.PathBytes)), other, c.Time.Local().Format("2006-01-02 15:04:05")})
	}
	return s.table(rows)
}

func newResolve(o *options, s streams) *cobra.Command {
	r := control.ResolveRequest{}
	cmd := &cobra.Command{
		Use:   "resolve WORKSPACE [ID...]",
		Short: "End conflicts",
		Long: `End conflicts, by their IDs or all of them. What --keep removes is in the history
still (vfsctl log, vfsctl restore).`,
		Example: "  vfsctl resolve ws 8f1e\n  vfsctl resolve ws --all --keep this",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Workspace, r.IDs = args[0], args[1:]
			if r.All == (len(r.IDs) > 0) {
				return control.Errorf(control.KindUsage, "resolve: it takes IDs of conflicts, or --all; usage: %s", cmd.UseLine())
			}
			res, err := call(cmd.Context(), o, control.ResolveCall, r)
			if err != nil {
				return err
			}
			return printConflicts(o, s, res)
		},
	}
	cmd.Flags().BoolVar(&r.All, "all", false, "end all conflicts")
	cmd.Flags().StringVar(&r.Keep, "keep", "both", "`WHICH` version stays: both, this (under its name) or other (takes the name)")
	completeOption(cmd, "keep", cobra.FixedCompletions([]string{"both", "this", "other"}, cobra.ShellCompDirectiveNoFileComp))
	return jsonFlag(cmd, o)
}
