// Command vfsd is the daemon: it keeps the workspaces of a data directory and
// mounts them. See vfsctl for what it can be asked.
package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/daemon"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// Exit codes.
const (
	exitError = 1
	exitUsage = 2
)

// run returns the exit code.
func run(args []string) int {
	code := exitUsage // until the arguments have been understood
	cmd := newCommand(func() { code = exitError })
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil {
		fmt.Fprintf(os.Stderr, "vfsd: %v\n", err)
		return code
	}
	return 0
}

func newCommand(begun func()) *cobra.Command {
	var o daemon.RunOptions
	var debug bool
	cmd := &cobra.Command{
		Use:   "vfsd",
		Short: "Keep workspaces and mount them",
		Long: `vfsd keeps the workspaces of a data directory and answers vfsctl on the unix
socket vfsd.sock in it. It runs in the foreground and logs to standard error. The
directory is --data, else $VFSD_DATA, else $XDG_STATE_HOME/vfsd, else
~/.local/state/vfsd; it is made where it is missing.

SIGTERM and SIGINT stop it: mounts are unmounted (those still in use after
--stop-wait are taken from their users), everything is flushed and checkpointed. A
second signal ends it at once, which loses nothing that was acknowledged. SIGUSR2
hands the mounts, with all that is open in them, to a new process of vfsd, as
vfsctl upgrade-daemon does.

Exit codes: 0 stopped as asked, 1 error, 2 wrong usage.`,
		Args:    cobra.NoArgs,
		Version: daemon.Version,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if o.Dir == "" { // it would be the working directory
				return errors.New(`--data "": it takes a directory`)
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			begun()
			level := slog.LevelInfo
			if debug {
				level = slog.LevelDebug
			}
			return daemon.Foreground(o, level)
		},
		SilenceUsage: true, SilenceErrors: true,
	}
	cmd.PersistentFlags().StringVar(&o.Dir, "data", daemon.DefaultDir(), "data `directory`")
	cmd.PersistentFlags().Lookup("data").DefValue = "" // differs from machine to machine; Long says it
	cmd.Flags().BoolVar(&debug, "debug", false, "log more")
	cmd.Flags().DurationVar(&o.StopWait, "stop-wait", daemon.DefaultStopWait, "how long to wait for mounts in use when stopping")
	cmd.Flags().StringSliceVar(&o.Listen, "listen", nil, "listen for peers on `HOST:PORT`, with TLS; more than once for more")
	cmd.Flags().StringVar(&o.Metrics, "metrics", "", "serve Prometheus metrics on `HOST:PORT`, under /metrics")
	cmd.AddCommand(newServe(begun, &o.Dir), newGuest(begun, &o.Dir))
	cmd.CompletionOptions.DisableDefaultCmd = true
	return cmd
}
