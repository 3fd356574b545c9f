package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

func newDiff(o *options, s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff WORKSPACE@STATE [WORKSPACE[@STATE]]",
		Short: "List what differs between two states",
		Long: `List what differs between two states, each a snapshot or a commit. Without a
second one, it is the present state of the same workspace.

  + added    - removed    ~ modified    m only mode, owner, times or attributes
  > renamed, with its new name after the old

A name with bytes that cannot be printed is written as $'a\nb', which a shell
reads as the same bytes.`,
		Example: "  vfsctl diff ws@before\n  vfsctl diff ws@before ws@after\n  vfsctl diff ws@before experiment",
		Args: func(cmd *cobra.Command, args []string) error {
			if err := cobra.RangeArgs(1, 2)(cmd, args); err != nil {
				return err
			}
			if len(args) == 1 && !strings.Contains(args[0], "@") {
				return errors.New("a state must be named, as WORKSPACE@SNAPSHOT")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDiff(cmd.Context(), o, s, args)
		},
	}
	return jsonFlag(cmd, o)
}

func runDiff(ctx context.Context, o *options, s streams, args []string) error {
	var r control.DiffRequest
	var err error
	r.Workspace, r.From, err = splitState("diff", args[0])
	if len(args) == 2 && err == nil {
		r.ToWorkspace, r.To, err = splitState("diff", args[1])
	}
	if err != nil {
		return err
	}
	d, err := call(ctx, o, control.DiffCall, r)
	if err != nil {
		return err
	}
	if o.json {
		return s.printJSON(d)
	}
	for _, x := range d.Differences {
		s.printf("%s\n", diffLine(s, x))
	}
	return nil
}

func diffLine(s streams, x control.Difference) string {
	path := control.Name(x.Path, x.PathBytes)
	if x.Type == "directory" {
		path += "/"
	}
	path = control.Printable(path)
	switch x.Kind {
	case "added":
		return s.colour(green, "+ "+path)
	case "removed":
		return s.colour(red, "- "+path)
	case "renamed":
		return s.colour(yellow, "> "+control.Printable(control.Name(x.From, x.FromBytes))+" -> "+path)
	case "modified":
		return s.colour(yellow, "~ "+path)
	}
	return "m " + path
}
