package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

func newGC(o *options, s streams) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Free the disk space of what nothing needs any more",
		Long: `Free the chunks that no workspace, snapshot, recent commit or open file needs.
Mounts stay usable meanwhile.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runGC(cmd.Context(), o, s, dryRun) },
	}
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "only say what would be freed")
	return jsonFlag(cmd, o)
}

func runGC(ctx context.Context, o *options, s streams, dryRun bool) error {
	g, err := call(ctx, o, control.CollectGarbageCall, control.GCRequest{DryRun: dryRun})
	if err != nil {
		return err
	}
	if o.json {
		return s.printJSON(g)
	}
	s.printf("%s of %d are needed: %s live, %s dead\n", plural(uint64(g.LiveChunks), "chunk", "chunks"), g.Chunks,
		size(g.LiveBytes), size(g.DeadBytes))
	verb := "freed"
	if g.DryRun {
		verb = "would free"
	}
	s.printf("%s %s: %s deleted, %d of them repacked\n", verb, size(g.FreedBytes),
		plural(uint64(g.DeletedPacks), "pack", "packs"), g.Repacked)
	if g.Missing > 0 {
		s.printf("%s\n", s.colour(red, plural(uint64(g.Missing), "chunk is", "chunks are")+" missing; vfsctl check names the files"))
	}
	return nil
}
