package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

func newList(o *options, s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the workspaces",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runList(cmd.Context(), o, s) },
	}
	return jsonFlag(cmd, o)
}

func runList(ctx context.Context, o *options, s streams) error {
	l, err := call(ctx, o, control.ListCall, control.ListRequest{})
	if err != nil {
		return err
	}
	if o.json {
		return s.printJSON(l)
	}
	if len(l.Workspaces) == 0 {
		s.printf("no workspaces yet; vfsctl up MOUNTPOINT makes one\n")
		return nil
	}
	rows := [][]string{{"WORKSPACE", "INODES", "SIZE", "SNAPSHOTS", "MOUNTED AT"}}
	for _, w := range l.Workspaces {
		at := control.Line(strings.Join(w.Mounts, ", "))
		if at == "" {
			at = "-"
		}
		if w.Damage != "" {
			rows = append(rows, []string{w.Name, "-", "-", "-", s.colour(red, "damaged: "+control.Line(w.Damage))})
			continue
		}
		rows = append(rows, []string{w.Name, strconv.FormatUint(w.Inodes, 10), size(w.Bytes),
			strconv.Itoa(w.Snapshots), at})
	}
	return s.table(rows)
}
