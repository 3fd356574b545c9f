package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

type logOptions struct {
	*options
	workspace string
	limit     int
}

func newLog(o *options, s streams) *cobra.Command {
	l := logOptions{options: o}
	cmd := &cobra.Command{
		Use:   "log WORKSPACE",
		Short: "List the commits of a workspace, newest first",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l.workspace = args[0]
			return runLog(cmd.Context(), l, s)
		},
	}
	cmd.Flags().IntVarP(&l.limit, "limit", "n", 0, "at most `N` commits (default 64)")
	return jsonFlag(cmd, o)
}

func runLog(ctx context.Context, l logOptions, s streams) error {
	if l.limit < 0 {
		return control.Errorf(control.KindUsage, "log: --limit %d: it takes a number of commits", l.limit)
	}
	res, err := call(ctx, l.options, control.LogCall, control.LogRequest{Workspace: l.workspace, Limit: l.limit})
	if err != nil {
		return err
	}
	if l.json {
		return s.printJSON(res)
	}
	rows := [][]string{{"COMMIT", "TIME", "INODES", "SIZE", "MADE BY", "SNAPSHOTS"}}
	for _, c := range res.Commits {
		rows = append(rows, []string{short(c.ID), moment(c.Time), strconv.FormatUint(c.Inodes, 10), size(c.Bytes),
			c.Cause, strings.Join(c.Snapshots, ", ")})
	}
	return s.table(rows)
}
