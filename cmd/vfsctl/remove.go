package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

type removeOptions struct {
	*options
	workspace string
	yes       bool
}

func newRemove(o *options, s streams) *cobra.Command {
	r := removeOptions{options: o}
	cmd := &cobra.Command{
		Use:     "remove WORKSPACE",
		Aliases: []string{"rm"},
		Short:   "Remove a workspace with all its history",
		Long: `Remove a workspace with its snapshots and history. Its forks stay whole. It is
refused while the workspace is mounted. The disk space comes back with the next
garbage collection.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.workspace = args[0]
			return runRemove(cmd.Context(), r, s)
		},
	}
	cmd.Flags().BoolVarP(&r.yes, "yes", "y", false, "do not ask")
	return jsonFlag(cmd, o)
}

func runRemove(ctx context.Context, r removeOptions, s streams) error {
	if !r.yes {
		if err := confirmRemoval(ctx, r, s); err != nil {
			return err
		}
	}
	res, err := call(ctx, r.options, control.RemoveCall, control.RemoveRequest{Workspace: r.workspace})
	if err != nil {
		return err
	}
	if r.json {
		return s.printJSON(res)
	}
	s.printf("removed workspace %s; vfsctl gc frees its space\n", r.workspace)
	return nil
}

// confirmRemoval asks, after it is known that there is something to remove.
func confirmRemoval(ctx context.Context, r removeOptions, s streams) error {
	if !isTerminal(s.In) {
		return control.Errorf(control.KindUsage, "remove %s: nobody can be asked here; --yes says that it is meant", r.workspace)
	}
	q, err := call(ctx, r.options, control.QuotaCall, control.QuotaRequest{Workspace: r.workspace})
	what := plural(q.Inodes, "inode", "inodes") + ", " + plural(uint64(q.Snapshots), "snapshot", "snapshots")
	switch control.KindOf(err) {
	case "":
	case control.KindCorrupt:
		what = "damaged"
	default:
		return err
	}
	fmt.Fprintf(s.Err, "remove workspace %s (%s)? [y/N] ", r.workspace, what)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(s.In).ReadString('\n') // no answer is a no
		answer <- line
	}()
	select {
	case line := <-answer:
		if a := strings.ToLower(strings.TrimSpace(line)); a == "y" || a == "yes" {
			return nil
		}
		return control.Errorf(control.KindInterrupted, "remove %s: not confirmed; nothing was removed", r.workspace)
	case <-ctx.Done():
		return ctx.Err()
	}
}
