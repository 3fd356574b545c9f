package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/daemon"
)

// options are what every command takes.
type options struct {
	data string // the data directory
	json bool
	err  io.Writer // for notes beside what is reported
}

const rootLong = `vfsctl makes workspaces, mounts them and looks after them. A workspace is a whole
file system with a history: it can be mounted, snapshotted, forked, compared and
restored.

    vfsctl up ./ws             make the workspace ws and mount it there
    vfsctl snapshot ws before  keep the present state under a name
    vfsctl exec ws -c 'ls -l'  run a script in it, mounted or not
    vfsctl diff ws@before      what has changed since
    vfsctl down ./ws           unmount it

What mounts needs the daemon, which "up" starts. All other commands do without
one: where none runs, they open the data directory themselves.

The data directory is --data, else $VFSD_DATA, else $XDG_STATE_HOME/vfsd, else
~/.local/state/vfsd.

Exit codes:
  0  done
  1  an error, said in one line on standard error
  2  wrong usage
  3  check, scrub or doctor found problems, and listed them
exec ends with the exit code of its script, and with 125 for an error.`

// newRoot returns the whole command line.
func newRoot(s streams) *cobra.Command {
	o := &options{err: s.Err}
	root := &cobra.Command{
		Use:           "vfsctl",
		Short:         "Make workspaces, mount them and look after them",
		Long:          rootLong,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       daemon.Version,
		Args:          cobra.ArbitraryArgs,
		PersistentPreRunE: func(*cobra.Command, []string) (err error) {
			o.data, err = dataDir(o.data)
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().StringVar(&o.data, "data", daemon.DefaultDir(), "data `directory`")
	root.PersistentFlags().Lookup("data").DefValue = "" // differs from machine to machine; Long says it
	addCommands(root, o, s)
	refuseUnknownTopics(root)
	for _, c := range root.Commands() {
		c.Args = usageArgs(c.Args)
		if strings.Contains(c.Use, " WORKSPACE") {
			c.ValidArgsFunction = completeWorkspaces(o)
		}
	}
	return root
}

// The groups of the help.
const (
	groupMount = "mount"
	groupWork  = "work"
	groupRun   = "run"
	groupSync  = "sync"
	groupCare  = "care"
)

func addCommands(root *cobra.Command, o *options, s streams) {
	root.AddGroup(
		&cobra.Group{ID: groupMount, Title: "Mounting:"},
		&cobra.Group{ID: groupWork, Title: "Workspaces and their history:"},
		&cobra.Group{ID: groupRun, Title: "Running scripts in them:"},
		&cobra.Group{ID: groupSync, Title: "Sharing them with other machines:"},
		&cobra.Group{ID: groupCare, Title: "Looking after them:"},
	)
	add := func(group string, cmds ...*cobra.Command) {
		for _, c := range cmds {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupMount, newUp(o, s), newDown(o, s), newStatus(o, s), newVolumePlugin(o, s))
	add(groupWork, newCreate(o, s), newList(o, s), newRemove(o, s), newFork(o, s), newSnapshot(o, s),
		newSnapshots(o, s), newLog(o, s), newDiff(o, s), newRestore(o, s), newQuota(o, s))
	add(groupRun, newExec(o, s), newSh(o, s), newExecs(o, s))
	add(groupSync, newClone(o, s), newSync(o, s), newPull(o, s), newPush(o, s), newWatch(o, s), newRemote(o, s),
		newShare(o, s), newConflicts(o, s), newResolve(o, s), newPolicy(o, s), newCheckout(o, s))
	add(groupCare, newCheck(o, s), newScrub(o, s), newGC(o, s), newDoctor(o, s), newUpgradeDaemon(o, s), newBench(o, s), newConformance(o, s))
	root.AddCommand(newVersion(o, s), newMan(s), newDaemon(o))
}

// usageArgs makes what a validator of arguments finds an error of usage.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(cmd, args); err != nil {
			return control.Errorf(control.KindUsage, "%s: %w; usage: %s", cmd.Name(), err, cmd.UseLine())
		}
		return nil
	}
}

func unknownCommand(root *cobra.Command, name string) error {
	root.SuggestionsMinimumDistance = 2
	if near := root.SuggestionsFor(name); len(near) > 0 {
		return control.Errorf(control.KindUsage, "no command %q; did you mean %s?", name, strings.Join(near, ", "))
	}
	return control.Errorf(control.KindUsage, "no command %q; vfsctl --help lists them", name)
}

// jsonFlag adds --json to a command that reports.
func jsonFlag(cmd *cobra.Command, o *options) *cobra.Command {
	cmd.Flags().BoolVar(&o.json, "json", false, "report as JSON")
	return cmd
}

// plural counts things.
func plural(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
