package main

import (
	"context"
	"math"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

type quotaOptions struct {
	*options
	bytes, inodes string
}

func newQuota(o *options, s streams) *cobra.Command {
	q := quotaOptions{options: o}
	cmd := &cobra.Command{
		Use:     "quota WORKSPACE",
		Short:   "Show or set how large a workspace may become",
		Example: "  vfsctl quota ws --bytes 10GiB --inodes 1000000\n  vfsctl quota ws --bytes none",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runQuota(cmd.Context(), q, s, args[0])
		},
	}
	cmd.Flags().StringVar(&q.bytes, "bytes", "", "bound the allocated `SIZE`, as 10GiB; none unbinds")
	cmd.Flags().StringVar(&q.inodes, "inodes", "", "bound the `NUMBER` of inodes; none unbinds")
	return jsonFlag(cmd, o)
}

func runQuota(ctx context.Context, q quotaOptions, s streams, ws string) error {
	r := control.QuotaRequest{Workspace: ws}
	var err error
	if r.Bytes, err = bound("--bytes", q.bytes); err != nil {
		return err
	}
	if r.Inodes, err = bound("--inodes", q.inodes); err != nil {
		return err
	}
	w, err := call(ctx, q.options, control.QuotaCall, r)
	if err != nil {
		return err
	}
	if q.json {
		return s.printJSON(w)
	}
	limit := func(n uint64, text string) string {
		if n == 0 {
			return "no bound"
		}
		return text
	}
	return s.table([][]string{
		{"", "USED", "BOUND"},
		{"bytes", size(w.Bytes), limit(w.Quota.Bytes, size(w.Quota.Bytes))},
		{"inodes", humanize.Comma(int64(w.Inodes)), limit(w.Quota.Inodes, humanize.Comma(int64(w.Quota.Inodes)))},
	})
}

// bound reads a bound: nil when it is not given, 0 for none.
func bound(flag, text string) (*uint64, error) {
	if text == "" {
		return nil, nil
	}
	var n uint64
	if text != "none" {
		var err error
		if n, err = humanize.ParseBytes(text); err != nil || n == 0 || n > math.MaxInt64 {
			return nil, control.Errorf(control.KindUsage, "quota: %s %q: it takes a number, as 1000000 or 10GiB, or none", flag, text)
		}
	}
	return &n, nil
}
