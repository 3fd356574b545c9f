package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

type downOptions struct {
	*options
	mountPoint string
	all        bool
	force      bool
}

func newDown(o *options, s streams) *cobra.Command {
	d := downOptions{options: o}
	cmd := &cobra.Command{
		Use:   "down MOUNTPOINT | down --all",
		Short: "Unmount a workspace, or all and stop the daemon",
		Long: `Unmount a workspace; nothing in it is lost. While processes use it, that is
refused and they are named. With --all, everything is unmounted and the daemon
stopped. A dead mount is cleared, with or without a daemon.`,
		Args: func(_ *cobra.Command, args []string) error {
			if d.all == (len(args) == 1) || len(args) > 1 {
				return errors.New("it takes one mount point, or --all")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if d.all {
				return runDownAll(cmd.Context(), d, s)
			}
			d.mountPoint = args[0]
			return runDown(cmd.Context(), d, s)
		},
	}
	cmd.Flags().BoolVar(&d.all, "all", false, "unmount everything and stop the daemon")
	cmd.Flags().BoolVar(&d.force, "force", false, "take mounts from the processes that use them: these get errors")
	cmd.ValidArgsFunction = completeMounts(o)
	return jsonFlag(cmd, o)
}

func runDown(ctx context.Context, d downOptions, s streams) error {
	point, err := realMountPoint(d.mountPoint)
	if err != nil {
		return err
	}
	res, err := call(ctx, d.options, control.UnmountCall, control.UnmountRequest{MountPoint: point, MountPointBytes: control.Bytes(point), Force: d.force})
	if err != nil {
		return err
	}
	if d.json {
		return s.printJSON(res)
	}
	switch res.Was {
	case control.Mounted:
		s.printf("unmounted workspace %s from %s\n", res.Workspace, control.Printable(point))
	case control.Dead:
		s.printf("cleared the dead mount at %s\n", control.Printable(point))
	case control.Absent:
		s.printf("workspace %s will not be mounted at %s again\n", res.Workspace, control.Printable(point))
	}
	return nil
}

func runDownAll(ctx context.Context, d downOptions, s streams) (err error) {
	c, err := connect(ctx, d.options)
	if err != nil {
		return err
	}
	defer c.close(d.options)
	if c.IsLocal() {
		return clearAll(ctx, c, d, s)
	}
	res, err := control.StopCall.Do(ctx, c.Client, control.StopRequest{Force: d.force})
	if err != nil {
		return err
	}
	if err := awaitEnd(ctx, res.PID); err != nil {
		return err
	}
	for _, n := range res.Notes {
		fmt.Fprintf(s.Err, "note: %s\n", control.Line(n))
	}
	if d.json {
		return s.printJSON(res)
	}
	for _, p := range res.Unmounted {
		s.printf("unmounted %s\n", control.Printable(p))
	}
	s.printf("stopped the daemon, pid %d\n", res.PID)
	return nil
}

// clearAll is down --all without a daemon: what one that died left is cleared.
func clearAll(ctx context.Context, c *session, d downOptions, s streams) error {
	st, err := control.StatusCall.Do(ctx, c.Client, control.StatusRequest{})
	if err != nil {
		return err
	}
	res := control.StopResult{Unmounted: []string{}, Notes: []string{}}
	for _, m := range st.Mounts {
		if _, err := control.UnmountCall.Do(ctx, c.Client, control.UnmountRequest{MountPoint: m.MountPoint, MountPointBytes: m.MountPointBytes}); err != nil {
			return err
		}
		res.Unmounted = append(res.Unmounted, m.Point())
	}
	if d.json {
		return s.printJSON(res)
	}
	for _, p := range res.Unmounted {
		s.printf("cleared %s, left by a daemon that died\n", control.Printable(p))
	}
	s.printf("no daemon runs\n")
	return nil
}

// endPause is between two looks whether a process has ended.
const endPause = 10 * time.Millisecond

// awaitEnd waits until the process is gone: it checkpoints first.
func awaitEnd(ctx context.Context, pid int) error {
	for {
		p, err := os.FindProcess(pid)
		if err != nil {
			return nil
		}
		if err := p.Signal(syscall.Signal(0)); err != nil && !errors.Is(err, syscall.EPERM) {
			return nil
		}
		select {
		case <-time.After(endPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
