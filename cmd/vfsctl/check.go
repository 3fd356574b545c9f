package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

func newCheck(o *options, s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check WORKSPACE[@STATE]",
		Short: "Verify the structure of a workspace",
		Long: `Verify that every name leads to an inode, that counts are right and that all
chunks are there. It does not read the bytes of files: vfsctl scrub does.
Exit code 3 says that problems were found.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCheck(cmd.Context(), o, s, args[0])
		},
	}
	return jsonFlag(cmd, o)
}

// checkReport is what check --json prints.
type checkReport struct {
	control.Checked
	Found []control.Problem `json:"found"`
}

func runCheck(ctx context.Context, o *options, s streams, arg string) (err error) {
	var r control.CheckRequest
	if r.Workspace, r.At, err = splitState("check", arg); err != nil {
		return err
	}
	c, err := connect(ctx, o)
	if err != nil {
		return err
	}
	defer c.close(o)
	report := checkReport{Found: []control.Problem{}}
	bar := newProgress(s, "check", countEntries)
	report.Checked, err = control.CheckStream.Do(ctx, c.Client, r, bar.update, func(p control.Problem) {
		report.Found = append(report.Found, p)
	})
	bar.end(err == nil)
	if err != nil {
		return err
	}
	if o.json {
		if err := s.printJSON(report); err != nil {
			return err
		}
	} else {
		printCheck(s, report)
	}
	if report.Problems > 0 {
		return errProblems
	}
	return nil
}

func printCheck(s streams, r checkReport) {
	for _, p := range r.Found {
		if p.Ino != 0 {
			s.printf("%s inode %d: %s\n", s.colour(red, "problem:"), p.Ino, control.Line(p.What))
		} else {
			s.printf("%s %s\n", s.colour(red, "problem:"), control.Line(p.What))
		}
	}
	verdict := s.colour(green, "no problems")
	if r.Problems > 0 {
		verdict = s.colour(red, plural(r.Problems, "problem", "problems"))
	}
	s.printf("%s at commit %s: %s, %s, %s: %s\n", r.Workspace, short(r.Commit), plural(r.Inodes, "inode", "inodes"),
		plural(r.Dentries, "name", "names"), plural(r.Chunks, "reference to chunks", "references to chunks"), verdict)
}
