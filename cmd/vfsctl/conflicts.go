package main

import (
	"io"
	"os"

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

func newPolicy(o *options, s streams) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "policy WORKSPACE",
		Short: "Show or set what merges do with files that both sides edited",
		Long: `Show or set what merges do with files that both sides edited. A policy is lines of a
pattern, as in .gitignore, and one of

  both      keep both versions, side by side (what is done without a policy)
  text      merge by lines; where that fails, keep both
  ours      keep the version of the replica that merges
  theirs    keep the other one

of which the last that matches counts. It is kept in the workspace, as .vfsd/policy,
and travels with it.`,
		Example: "  vfsctl policy ws --set policy.txt\n  echo '*.md text' | vfsctl policy ws --set -",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := control.PolicyRequest{Workspace: args[0]}
			if cmd.Flags().Changed("set") {
				text, err := readPolicy(cmd.InOrStdin(), file)
				if err != nil {
					return err
				}
				r.Set = &text
			}
			p, err := call(cmd.Context(), o, control.PolicyCall, r)
			if err != nil {
				return err
			}
			if o.json {
				return s.printJSON(p)
			}
			s.printf("%s", p.Text)
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "set", "", "take the policy of this `FILE`, - for standard input; an empty one removes it")
	return jsonFlag(cmd, o)
}

func readPolicy(stdin io.Reader, file string) (string, error) {
	if file == "-" {
		b, err := io.ReadAll(io.LimitReader(stdin, 1<<20))
		return string(b), err
	}
	b, err := os.ReadFile(file)
	return string(b), err
}
