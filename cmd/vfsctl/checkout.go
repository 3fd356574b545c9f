package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

type checkoutOptions struct {
	*options
	watch, list bool
	remove      string
}

func newCheckout(o *options, s streams) *cobra.Command {
	c := checkoutOptions{options: o}
	cmd := &cobra.Command{
		Use:   "checkout WORKSPACE DIR",
		Short: "Keep a plain directory and a workspace equal",
		Long: `Bring a plain directory and a workspace to the same state, in both directions, with
modes, links, extended attributes and times: for machines and sandboxes without
FUSE. With --watch, go on doing so until Ctrl-C.

The directory counts as one more replica: what both sides have changed since the
last time is merged as vfsctl sync merges it, and conflicts are listed by vfsctl
conflicts. What is in the directory at first is kept; a file that differs from the
workspace's is given a name beside it. A directory that lost everything stops the
checkout instead of emptying the workspace.

--list lists the checkouts and --remove ends one; its directory stays as it is.`,
		Example: "  vfsctl checkout ws ./ws --watch\n  vfsctl checkout --list\n  vfsctl checkout --remove ./ws",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case c.list:
				return listCheckouts(cmd.Context(), c, s)
			case c.remove != "":
				return removeCheckout(cmd.Context(), c, s)
			case len(args) != 2:
				return control.Errorf(control.KindUsage, "checkout: it takes a workspace and a directory, --list or --remove DIR; usage: %s", cmd.UseLine())
			}
			return runCheckout(cmd.Context(), c, s, args[0], args[1])
		},
	}
	cmd.Flags().BoolVar(&c.watch, "watch", false, "go on until Ctrl-C")
	cmd.Flags().BoolVar(&c.list, "list", false, "list the checkouts")
	cmd.Flags().StringVar(&c.remove, "remove", "", "end the checkout of this `DIR`")
	return jsonFlag(cmd, o)
}

func runCheckout(ctx context.Context, o checkoutOptions, s streams, ws, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !os.IsExist(err) {
		return err
	}
	connectTo := connect
	if o.watch {
		connectTo = func(ctx context.Context, o *options) (*session, error) {
			c, _, err := connectDaemon(ctx, o)
			return c, err
		}
	}
	c, err := connectTo(ctx, o.options)
	if err != nil {
		return err
	}
	defer c.close(o.options)
	r := control.CheckoutRequest{Workspace: ws, Dir: dir, DirBytes: control.Bytes(dir), Watch: o.watch}
	show := func(x control.CheckedOut) {
		if o.json {
			_ = s.printJSON(x) // a reader that went away ends the command otherwise
		} else {
			printCheckedOut(s, x)
		}
	}
	res, err := control.CheckoutStream.Do(ctx, c.Client, r, nil, show)
	if err != nil || o.watch {
		return err
	}
	if o.json {
		return s.printJSON(res)
	}
	printCheckedOut(s, res)
	return nil
}

func printCheckedOut(s streams, r control.CheckedOut) {
	if r.Error != "" {
		fmt.Fprintf(s.Err, "%s %s; trying again\n", s.colour(yellow, "cannot:"), control.Line(r.Error))
	}
	var did []string
	for _, x := range []struct {
		n    int
		what string
	}{{r.Added, "added"}, {r.Changed, "changed"}, {r.Removed, "removed"}, {r.Moved, "moved"}} {
		if x.n > 0 {
			did = append(did, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	switch {
	case len(did) > 0 && r.Emitted > 0:
		s.printf("to the workspace: %s; to the directory: %s\n", strings.Join(did, ", "), plural(uint64(r.Emitted), "change", "changes"))
	case len(did) > 0:
		s.printf("to the workspace: %s\n", strings.Join(did, ", "))
	case r.Emitted > 0:
		s.printf("to the directory: %s\n", plural(uint64(r.Emitted), "change", "changes"))
	case r.Error == "" && len(r.Problems) == 0:
		s.printf("both are equal\n")
	}
	for _, c := range r.Conflicts {
		s.printf("%s %s was there already: it is %s now\n", s.colour(yellow, "kept:"),
			control.Printable(control.Name(c.Path, c.PathBytes)), control.Printable(control.Name(c.Beside, c.BesideBytes)))
	}
	for _, p := range r.Problems {
		s.printf("%s %s: %s\n", s.colour(red, "left out:"), control.Printable(control.Name(p.Path, p.PathBytes)), control.Line(p.Why))
	}
}

func listCheckouts(ctx context.Context, o checkoutOptions, s streams) error {
	res, err := call(ctx, o.options, control.CheckoutsCall, control.CheckoutsRequest{})
	if err != nil {
		return err
	}
	if o.json {
		return s.printJSON(res)
	}
	rows := [][]string{{"WORKSPACE", "DIRECTORY", "NOW"}}
	for _, c := range res.Checkouts {
		now := "-"
		if c.Busy {
			now = "kept equal"
		}
		rows = append(rows, []string{c.Workspace, control.Printable(control.Name(c.Dir, c.DirBytes)), now})
	}
	return s.table(rows)
}

func removeCheckout(ctx context.Context, o checkoutOptions, s streams) error {
	dir, err := filepath.Abs(o.remove)
	if err != nil {
		return err
	}
	res, err := call(ctx, o.options, control.RemoveCheckoutCall, control.RemoveCheckoutRequest{Dir: dir, DirBytes: control.Bytes(dir)})
	if err != nil {
		return err
	}
	if o.json {
		return s.printJSON(res)
	}
	s.printf("%s is not kept equal any more; it stays as it is\n", control.Printable(dir))
	return nil
}
