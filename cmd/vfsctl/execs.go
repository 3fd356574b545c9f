package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

func newExecs(o *options, s streams) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:   "execs [WORKSPACE]",
		Short: "List executions",
		Long: `List the executions that run and the last that have ended, of one workspace or of
all, oldest first. vfsctl exec --attach ID shows the output of one again, and
follows it while it runs; vfsctl exec --kill ID ends it. The last 1000 are kept,
of each the beginning and the end of its output, some 16 MiB.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runExecs(cmd.Context(), o, s, strings.Join(args, ""), all)
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "all that are kept, not only the last 20")
	return jsonFlag(cmd, o)
}

// execsShown is how many are shown without --all.
const execsShown = 20

func runExecs(ctx context.Context, o *options, s streams, workspace string, all bool) error {
	res, err := call(ctx, o, control.ExecsCall, control.ExecsRequest{Workspace: workspace})
	if err != nil {
		return err
	}
	if o.json {
		return s.printJSON(res)
	}
	list := res.Executions
	if len(list) == 0 {
		s.printf("no executions; vfsctl exec WORKSPACE -c SCRIPT makes one\n")
		return nil
	}
	if !all && len(list) > execsShown {
		s.printf("%d older ones are not shown: --all\n", len(list)-execsShown)
		list = list[len(list)-execsShown:]
	}
	rows := [][]string{{"ID", "WORKSPACE", "STARTED", "TOOK", "OUTPUT", "ENDED", "COMMAND"}}
	for _, e := range list {
		rows = append(rows, []string{e.ID, e.Workspace, moment(e.Started), took(e), size(e.Output), howEnded(e), commandLine(e)})
	}
	return s.table(rows)
}

func took(e control.Execution) string {
	end := e.Ended
	switch {
	case e.State == "lost":
		return "-"
	case end.IsZero():
		end = time.Now()
	}
	return end.Sub(e.Started).Round(time.Millisecond).String()
}

func howEnded(e control.Execution) string {
	switch {
	case e.State != "ended":
		return e.State
	case e.Limit != "":
		return "limit: " + e.Limit
	case e.Canceled:
		return "killed"
	}
	return fmt.Sprintf("exit %d", e.Status)
}

// commandWidth is how much of a command a list shows.
const commandWidth = 50

// commandLine is the beginning of a command, on one line.
func commandLine(e control.Execution) string {
	text := strings.Join(strings.Fields(control.Name(e.Command, e.CommandBytes)), " ")
	text = control.Line(text)
	if r := []rune(text); len(r) > commandWidth {
		text = string(r[:commandWidth-3]) + "..."
	}
	return text
}

// completeExecutions completes the IDs of executions, of all or of those that
// run.
func completeExecutions(o *options, running bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		res, err := call(cmd.Context(), o, control.ExecsCall, control.ExecsRequest{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var ids []string
		for i := len(res.Executions) - 1; i >= 0; i-- {
			if e := res.Executions[i]; !running || e.State == "running" || e.State == "waiting" {
				ids = append(ids, e.ID+"\t"+commandLine(e))
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}
