package main

import (
	"math"
	"strconv"
	"strings"
	"unicode"

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
			return runQuota(cmd, q, s, args[0])
		},
	}
	cmd.Flags().StringVar(&q.bytes, "bytes", "", "bound the allocated `SIZE`, as 10GiB; none unbinds")
	cmd.Flags().StringVar(&q.inodes, "inodes", "", "bound the `NUMBER` of inodes; none unbinds")
	return jsonFlag(cmd, o)
}

func runQuota(cmd *cobra.Command, q quotaOptions, s streams, ws string) error {
	r := control.QuotaRequest{Workspace: ws}
	var err error
	if r.Bytes, err = bound(cmd, "bytes", "a size, as 1000000 or 10GiB, or none", readBytes); err != nil {
		return err
	}
	if r.Inodes, err = bound(cmd, "inodes", "a number, as 1000000, or none", readCount); err != nil {
		return err
	}
	w, err := call(cmd.Context(), q.options, control.QuotaCall, r)
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
func bound(cmd *cobra.Command, flag, takes string, read func(string) (uint64, error)) (*uint64, error) {
	f := cmd.Flags().Lookup(flag)
	if !f.Changed {
		return nil, nil
	}
	var n uint64
	if text := f.Value.String(); text != "none" {
		var err error
		if n, err = read(text); err != nil || n == 0 || n > math.MaxInt64 {
			return nil, control.Errorf(control.KindUsage, "quota: --%s %q: it takes %s", flag, text, takes)
		}
	}
	return &n, nil
}

// readCount reads a number of things, of which there is no fraction; commas
// are as quota prints them.
func readCount(text string) (uint64, error) {
	return strconv.ParseUint(strings.ReplaceAll(text, ",", ""), 10, 64)
}

// readBytes reads a size; a fraction takes a unit.
func readBytes(text string) (uint64, error) {
	if n, err := readCount(text); err == nil || !strings.ContainsFunc(text, unicode.IsLetter) {
		return n, err
	}
	return humanize.ParseBytes(text)
}
