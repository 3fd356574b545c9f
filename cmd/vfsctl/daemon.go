package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/daemon"
)

// newDaemon is what "up" runs where there is no vfsd.
func newDaemon(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "daemon", Short: "Be the daemon, in the foreground", Hidden: true, Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			return daemon.Foreground(daemon.RunOptions{Options: daemon.Options{Dir: o.data}}, slog.LevelInfo)
		},
	}
}
