package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

func newSync(o *options, s streams) *cobra.Command {
	return exchangeCommand(o, s, control.Both, &cobra.Command{
		Use:   "sync WORKSPACE [REMOTE]",
		Short: "Bring a workspace and a remote to the same state",
		Long: `Take the remote's changes, merge them with those here, and give it the result.
Without a name it is the only remote, or origin.

Changes of both sides are merged by file, whatever was renamed meanwhile. What
both have edited is kept side by side, as name.conflict-REPLICA-N, and listed by
vfsctl conflicts; .vfsd/policy in the workspace can decide otherwise by path.
Nothing is overwritten. The workspace may be mounted and in use meanwhile.

Ctrl-C leaves a transfer that goes on where it stopped.`,
	})
}

func newPull(o *options, s streams) *cobra.Command {
	return exchangeCommand(o, s, control.Pull, &cobra.Command{
		Use:   "pull WORKSPACE [REMOTE]",
		Short: "Take a remote's changes and merge them",
		Long:  "Take a remote's changes and merge them, as vfsctl sync does, and give it nothing.",
	})
}

func newPush(o *options, s streams) *cobra.Command {
	return exchangeCommand(o, s, control.Push, &cobra.Command{
		Use:   "push WORKSPACE [REMOTE]",
		Short: "Give a remote the changes made here",
		Long: `Give a remote the changes made here. A remote that has changes of its own is
left as it is: vfsctl sync merges.`,
	})
}

func exchangeCommand(o *options, s streams, d control.Direction, cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.RangeArgs(1, 2)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r := control.SyncRequest{Workspace: args[0], Direction: d}
		if len(args) == 2 {
			r.Remote = args[1]
		}
		return runExchange(cmd.Context(), o, s, cmd.Name(), func(ctx context.Context, c *session, show func(control.SyncProgress)) (control.Synced, error) {
			return control.SyncStream.Do(ctx, c.Client, r, nil, show)
		})
	}
	return jsonFlag(cmd, o)
}

func runExchange(ctx context.Context, o *options, s streams, what string, do func(context.Context, *session, func(control.SyncProgress)) (control.Synced, error)) error {
	c, err := connectOrMake(ctx, o)
	if err != nil {
		return err
	}
	defer c.close(o)
	t := newTicker(s, what)
	res, err := do(ctx, c, t.show)
	t.end()
	if err != nil {
		return err
	}
	if o.json {
		return s.printJSON(res)
	}
	printSynced(s, res)
	return nil
}

// printSynced says what an exchange did.
func printSynced(s streams, r control.Synced) {
	var did string
	switch {
	case r.Lost != "":
		s.printf("%s %s; trying again\n", s.colour(yellow, "no connection:"), control.Line(r.Lost))
		return
	case r.Merged && r.Pushed:
		did = "merged with " + r.Remote + ", which has the result"
	case r.Merged:
		did = "merged with " + r.Remote
	case r.Pulled && r.Pushed:
		did = "both ways with " + r.Remote
	case r.Pulled:
		did = "taken from " + r.Remote
	case r.Pushed:
		did = "given to " + r.Remote
	default:
		did = "nothing to do: " + r.Remote + " is at the same commit"
	}
	s.printf("%s, at commit %s (%s)\n", did, short(r.Head), passed(r.Passed, time.Duration(r.Took)))
	if r.Conflicts > 0 {
		s.printf("%s; vfsctl conflicts lists them\n", s.colour(yellow, plural(uint64(r.Conflicts), "conflict", "conflicts")))
	}
}

// passed tells what went over the wire.
func passed(p control.SyncProgress, took time.Duration) string {
	parts := []string{fmt.Sprintf("%s out, %s in", humanize.IBytes(p.BytesOut), humanize.IBytes(p.BytesIn))}
	if n := p.ChunksIn + p.ChunksOut; n > 0 {
		parts = append(parts, plural(n, "chunk", "chunks"))
	}
	if p.ChunksHad > 0 {
		parts = append(parts, fmt.Sprintf("%s had already", humanize.Comma(int64(p.ChunksHad))))
	}
	if seconds := took.Seconds(); seconds >= 0.5 {
		parts = append(parts, humanize.IBytes(uint64(float64(p.BytesIn+p.BytesOut)/seconds))+"/s")
	}
	return strings.Join(parts, ", ")
}

// ticker shows how far a transfer has come on a terminal, in one line that is
// written over.
type ticker struct {
	s     streams
	what  string
	begun time.Time
	shown bool
}

func newTicker(s streams, what string) *ticker { return &ticker{s: s, what: what, begun: time.Now()} }

func (t *ticker) show(p control.SyncProgress) {
	if !isTerminal(t.s.Err) {
		return
	}
	t.shown = true
	fmt.Fprintf(t.s.Err, "\r\x1b[K%s: %s", t.what, passed(p, time.Since(t.begun)))
}

func (t *ticker) end() {
	if t.shown {
		fmt.Fprint(t.s.Err, "\r\x1b[K")
	}
}

type cloneOptions struct {
	remoteOptions
	lazy bool
}

func newClone(o *options, s streams) *cobra.Command {
	c := cloneOptions{remoteOptions: remoteOptions{options: o}}
	cmd := &cobra.Command{
		Use:   "clone URL [WORKSPACE]",
		Short: "Make a workspace that is a replica of a peer's",
		Long: `Make a workspace that is a replica of a peer's, with its history. Where it came
from is its remote "origin". Without a name it is called as the peer's.

` + aboutURLs + `

Ctrl-C leaves a clone that goes on where it stopped when the same command is given
again.`,
		Example: "  vfsctl clone vfs://hub.example/ws --token @ws.token\n  vfsctl clone unix:/srv/vfsd/vfsd.sock#ws copy",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			token, ca, err := c.read(cmd.InOrStdin())
			if err != nil {
				return err
			}
			r := control.CloneRequest{URL: args[0], Token: token, CA: ca, Lazy: c.lazy}
			if len(args) == 2 {
				r.Workspace = args[1]
			}
			return runClone(cmd.Context(), c, s, r)
		},
	}
	c.flags(cmd)
	cmd.Flags().BoolVar(&c.lazy, "lazy", false, "take names and attributes now, the bytes of files when they are first used")
	return jsonFlag(cmd, o)
}

func runClone(ctx context.Context, o cloneOptions, s streams, r control.CloneRequest) error {
	c, err := connectOrMake(ctx, o.options)
	if err != nil {
		return err
	}
	defer c.close(o.options)
	t := newTicker(s, "clone")
	res, err := control.CloneStream.Do(ctx, c.Client, r, nil, t.show)
	t.end()
	if err != nil {
		return err
	}
	if o.json {
		return s.printJSON(res)
	}
	s.printf("workspace %s is a clone of %s, at commit %s (%s)\ntry next:\n  vfsctl up %s MOUNTPOINT\n  vfsctl sync %s\n",
		s.colour(bold, res.Workspace), r.URL, short(res.Head), passed(res.Passed, time.Duration(res.Took)), res.Workspace, res.Workspace)
	return nil
}

func newWatch(o *options, s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch WORKSPACE [REMOTE]",
		Short: "Keep a workspace and a remote at the same state",
		Long: `Bring every change to the other side soon after it was made, until Ctrl-C. A
connection that was lost is made again, and what happened meanwhile is merged.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := control.WatchRequest{Workspace: args[0]}
			if len(args) == 2 {
				r.Remote = args[1]
			}
			c, _, err := connectDaemon(cmd.Context(), o)
			if err != nil {
				return err
			}
			defer c.close(o)
			_, err = control.WatchStream.Do(cmd.Context(), c.Client, r, nil, func(x control.Synced) {
				if o.json {
					err = s.printJSON(x)
				} else {
					printSynced(s, x)
				}
			})
			return err
		},
	}
	return jsonFlag(cmd, o)
}
