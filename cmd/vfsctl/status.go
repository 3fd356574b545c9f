package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

type statusOptions struct {
	*options
	ops string // a mount point
}

func newStatus(o *options, s streams) *cobra.Command {
	st := statusOptions{options: o}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "What is mounted, and how much is stored",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if st.ops != "" {
				return runOps(cmd.Context(), st, s)
			}
			return runStatus(cmd.Context(), st, s)
		},
	}
	cmd.Flags().StringVar(&st.ops, "ops", "", "count the requests of the mount at `MOUNTPOINT` instead")
	completeOption(cmd, "ops", completeMounts(o))
	return jsonFlag(cmd, o)
}

func runStatus(ctx context.Context, o statusOptions, s streams) error {
	st, err := call(ctx, o.options, control.StatusCall, control.StatusRequest{})
	if err != nil {
		return err
	}
	if o.json {
		return s.printJSON(st)
	}
	if st.Daemon {
		s.printf("daemon      pid %d, version %s, up %s\n", st.PID, st.Version, time.Since(st.Started).Round(time.Second))
	} else {
		s.printf("daemon      none runs; vfsctl up starts one\n")
	}
	s.printf("data        %s: %s, %s of different chunks stored in %s\n", control.Printable(st.DataDir),
		plural(uint64(st.Workspaces), "workspace", "workspaces"), size(st.Store.RawBytes), size(st.Store.StoredBytes))
	s.printf("disk        %s of %s free\n", size(st.Store.DiskFree), size(st.Store.DiskTotal))
	if st.Store.Damaged > 0 {
		s.printf("%s\n", s.colour(red, "damage      "+plural(uint64(st.Store.Damaged), "place", "places")+" in packs; vfsctl scrub lists them"))
	}
	for _, n := range st.Notes {
		s.printf("note        %s\n", control.Line(n))
	}
	if len(st.Mounts) == 0 {
		return nil
	}
	s.printf("\n")
	rows := [][]string{{"WORKSPACE", "MOUNT POINT", "STATE", "DRIVER", "OPTIONS", "INODES", "HANDLES"}}
	for _, m := range st.Mounts {
		rows = append(rows, []string{m.Workspace, control.Printable(m.Point()), string(m.State), m.Driver, mountOptions(m),
			strconv.FormatUint(m.Inodes, 10), strconv.FormatUint(m.Handles, 10)})
	}
	return s.table(rows)
}

func mountOptions(m control.Mount) string {
	var all []string
	if m.AllowOther {
		all = append(all, "allow-other")
	}
	if m.ReadOnly {
		all = append(all, "read-only")
	}
	if len(all) == 0 {
		return "-"
	}
	return strings.Join(all, ",")
}

func runOps(ctx context.Context, o statusOptions, s streams) error {
	point, err := realMountPoint(o.ops)
	if err != nil {
		return err
	}
	ops, err := call(ctx, o.options, control.OpsCall, control.OpsRequest{MountPoint: point, MountPointBytes: control.Bytes(point)})
	if err != nil {
		return err
	}
	if o.json {
		return s.printJSON(ops)
	}
	var names []string
	for name := range ops.Requests {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if ops.Requests[a] != ops.Requests[b] {
			return int(min(max(int64(ops.Requests[b])-int64(ops.Requests[a]), -1), 1))
		}
		return strings.Compare(a, b)
	})
	rows := [][]string{{"REQUEST", "COUNT"}}
	for _, name := range names {
		rows = append(rows, []string{name, strconv.FormatUint(ops.Requests[name], 10)})
	}
	rows = append(rows, []string{"(notifications sent)", strconv.FormatUint(ops.Notifications, 10)})
	return s.table(rows)
}
