package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

func newUpgradeDaemon(o *options, s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "upgrade-daemon",
		Short: "Hand the mounts to a new process of the daemon",
		Long: `Have the daemon start its successor, the vfsd beside vfsctl (or vfsctl itself
where there is none), and hand the mounts to it. Open files, working directories
and mappings survive, also of files that were removed; what is asked meanwhile
waits for a moment. If the new process does not come up, the old one serves on.
SIGUSR2 makes the daemon do the same with its own program.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runUpgradeDaemon(cmd.Context(), o, s) },
	}
	return jsonFlag(cmd, o)
}

func runUpgradeDaemon(ctx context.Context, o *options, s streams) error {
	program, err := daemonCommand(o.data)
	if err != nil {
		return err
	}
	res, err := call(ctx, o, control.UpgradeCall, control.UpgradeRequest{Program: program.Path, Args: program.Args[1:]})
	if err != nil {
		return err
	}
	if o.json {
		return s.printJSON(res)
	}
	s.printf("pid %d, version %s, has taken over from pid %d: %s and %s, paused for %s\n", res.PID, res.Version, res.From,
		plural(uint64(res.Mounts), "mount", "mounts"), plural(res.Handles, "open file or directory", "open files and directories"),
		time.Duration(res.Paused).Round(time.Millisecond))
	return nil
}
