package main

import (
	"github.com/spf13/cobra"

	benchreport "github.com/vfsd/vfsd/bench/report"
	"github.com/vfsd/vfsd/bench/workload"
	"github.com/vfsd/vfsd/internal/control"
)

const benchMergeLong = `Put reports together that were made in pieces, so that no piece keeps the machine
to itself for long. Each DIR is what a bench or a bench scale wrote with --out;
they must come from the same machine, versions and settings. Of a figure that is
in several, the last counts.

    vfsctl bench /mnt/w --baseline /var/tmp --workload 'create*' --leave --out pieces/1
    vfsctl bench /mnt/w --baseline /var/tmp --workload 'write' --leave --out pieces/2
    vfsctl bench merge pieces/1 pieces/2 --out results`

func newBenchMerge(o *options, s streams) *cobra.Command {
	out := ""
	cmd := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Put reports together that were made in pieces",
		Long:  benchMergeLong,
		Args:  usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return control.Errorf(control.KindUsage, "bench merge: it takes --out, a directory to write into")
			}
			return runBenchMerge(args, out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write the whole report into this `directory`")
	return cmd
}

func runBenchMerge(dirs []string, out string) error {
	var reports []*benchreport.Report
	var growth []*benchreport.Scale
	for _, dir := range dirs {
		r, s, err := benchreport.Load(dir)
		if err != nil {
			return err
		}
		if r != nil {
			reports = append(reports, r)
		}
		if s != nil {
			growth = append(growth, s)
		}
	}
	if len(reports) > 0 {
		var order []string
		for _, w := range workload.All(workload.Full) {
			order = append(order, w.Name)
		}
		whole, err := benchreport.Merge(order, reports...)
		if err != nil {
			return err
		}
		if err := benchreport.Save(out, whole); err != nil {
			return err
		}
	}
	if len(growth) == 0 {
		return nil
	}
	whole, err := benchreport.MergeScale(growth...)
	if err != nil {
		return err
	}
	return benchreport.SaveScale(out, whole)
}
