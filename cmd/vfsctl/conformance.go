package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/conformance"
	"github.com/vfsd/vfsd/internal/control"
)

const conformanceLong = `Check that DIR behaves as ext4 does on this kernel: same results, same error
numbers, same side effects. DIR may be on any file system. The suite works in a
fresh directory below it, and removes that at the end; some of its cases need
root, and say so when they are skipped.

    vfsctl conformance /mnt/w
    vfsctl conformance --group rename --group xattr /mnt/w
    vfsctl conformance --match 'rename/plain/*' --verbose /mnt/w

What a file system is known to lack is declared and counted as "differs"; --as
says whose declarations count. For a mount of the data directory's daemon that is
known: vfsd, which declares nothing, or vfsd-bazil for a mount by that driver.

Exit code 3 says that a case failed.`

func newConformance(o *options, s streams) *cobra.Command {
	var opt conformance.Options
	var tap, verbose bool
	cmd := &cobra.Command{
		Use:   "conformance DIR",
		Short: "Check that a directory behaves as POSIX and ext4 do",
		Long:  conformanceLong,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt.Dir = args[0]
			if opt.FS == "" {
				opt.FS = mountedAs(cmd.Context(), o, opt.Dir)
			}
			w := conformance.NewText(s.Out, verbose)
			switch {
			case o.json && tap:
				return control.Errorf(control.KindUsage, "conformance: --json or --tap, not both")
			case o.json:
				w = conformance.NewJSON(s.Out)
			case tap:
				w = conformance.NewTAP(s.Out)
			}
			return runConformance(cmd.Context(), opt, w)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&opt.Groups, "group", nil, "run this `group` only (repeatable): "+strings.Join(conformance.Groups(), ", "))
	f.StringArrayVar(&opt.Match, "match", nil, "run the cases whose names match the `pattern` only (repeatable)")
	f.BoolVar(&opt.Short, "short", false, "leave out the cases that take seconds each")
	f.StringVar(&opt.FS, "as", "", "`name` whose declared differences count (default: what is mounted there)")
	f.StringVar(&opt.Second, "second", "", "the same `directory` by another mount, for the cases that compare two")
	f.BoolVar(&tap, "tap", false, "report in the Test Anything Protocol")
	f.BoolVarP(&verbose, "verbose", "v", false, "print a line for every case")
	return jsonFlag(cmd, o)
}

func runConformance(ctx context.Context, opt conformance.Options, w conformance.Writer) error {
	sum, err := conformance.Run(ctx, opt, w.Result)
	if err != nil {
		return err
	}
	if err := w.End(sum); err != nil {
		return err
	}
	if !sum.OK() {
		return errProblems
	}
	return nil
}

// mountedAs returns what the suite calls a mount of the daemon's that dir is in:
// "" for any other directory, or when no daemon answers.
func mountedAs(ctx context.Context, o *options, dir string) string {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil || control.Probe(ctx, o.data) != nil {
		return ""
	}
	st, err := call(ctx, o, control.StatusCall, control.StatusRequest{})
	if err != nil {
		return "" // the suite runs on any directory, without a daemon too
	}
	for _, m := range st.Mounts {
		rel, err := filepath.Rel(m.Point(), abs)
		if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			continue
		}
		if m.Driver == "bazil" {
			return "vfsd-bazil"
		}
		return "vfsd"
	}
	return ""
}
