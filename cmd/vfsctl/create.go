package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

func newCreate(o *options, s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create WORKSPACE",
		Short: "Make an empty workspace",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCreate(cmd.Context(), o, s, args[0])
		},
	}
	return jsonFlag(cmd, o)
}

func runCreate(ctx context.Context, o *options, s streams, name string) (err error) {
	c, err := connectOrMake(ctx, o)
	if err != nil {
		return err
	}
	defer c.close(o)
	w, err := control.CreateCall.Do(ctx, c.Client, control.CreateRequest{
		Workspace: name, UID: uint32(os.Getuid()), GID: uint32(os.Getgid()),
	})
	if err != nil {
		return err
	}
	if o.json {
		return s.printJSON(w)
	}
	s.printf("made workspace %s; vfsctl up %s MOUNTPOINT mounts it\n", w.Name, w.Name)
	return nil
}
