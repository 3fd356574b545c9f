package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	syncbench "github.com/vfsd/vfsd/bench/sync"
	"github.com/vfsd/vfsd/internal/control"
)

type benchSyncOptions struct {
	*options
	rtts     []time.Duration
	programs []string
	small    bool
}

func newBenchSync(o *options, s streams) *cobra.Command {
	b := benchSyncOptions{options: o}
	cmd := &cobra.Command{
		Use:   "sync DIR",
		Short: "Compare the cost of syncing with other programs",
		Long: `Bring the same edits of a tree of 20,001 files and 216 MB to another place with vfsd,
rsync, unison and git, through a proxy that delays and counts, and compare bytes
and seconds. DIR takes the trees, which are removed at the end. Programs that are
not installed are left out and named. It takes root, or fusermount3.`,
		Example: "  vfsctl bench sync /var/tmp --rtt 0s,20ms,100ms",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			opts := syncbench.Options{Dir: args[0], Vfsctl: self, RTTs: b.rtts, Programs: b.programs, Size: syncbench.Full, Seed: 1,
				Progress: func(program, step string, rtt time.Duration) {
					fmt.Fprintf(s.Err, "%s, round trip %v: %s\n", program, rtt, step)
				}}
			if b.small {
				opts.Size = syncbench.Tiny
			}
			for _, p := range b.programs {
				if err := knownProgram(p); err != nil {
					return err
				}
			}
			results, missing, err := syncbench.Run(cmd.Context(), opts)
			if err != nil {
				return err
			}
			for _, name := range missing {
				fmt.Fprintf(s.Err, "note: %s is not installed\n", name)
			}
			if o.json {
				return s.printJSON(results)
			}
			s.printf("%s", syncbench.Markdown(results))
			return nil
		},
	}
	cmd.Flags().DurationSliceVar(&b.rtts, "rtt", []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond}, "round `TIMES` of the links")
	cmd.Flags().StringSliceVar(&b.programs, "with", nil, "only these `programs`")
	cmd.Flags().BoolVar(&b.small, "small", false, "a tiny tree: to see that everything works")
	return jsonFlag(cmd, o)
}

func knownProgram(name string) error {
	for _, p := range syncbench.Programs() {
		if p == name {
			return nil
		}
	}
	return control.Errorf(control.KindUsage, "bench sync: --with %q: it takes %v", name, syncbench.Programs())
}
