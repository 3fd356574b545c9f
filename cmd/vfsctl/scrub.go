package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

func newScrub(o *options, s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scrub",
		Short: "Read every stored byte and verify it",
		Long: `Read every byte of the data directory, packs, journals and heads, and verify it
against its digest or checksum. Exit code 3 says that damage was found; each is
listed with its file and offset.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runScrub(cmd.Context(), o, s) },
	}
	return jsonFlag(cmd, o)
}

// scrubReport is what scrub --json prints.
type scrubReport struct {
	control.Scrubbed
	Found []control.Damage `json:"found"`
}

func runScrub(ctx context.Context, o *options, s streams) (err error) {
	c, err := connect(ctx, o)
	if err != nil {
		return err
	}
	defer c.close(o)
	report := scrubReport{Found: []control.Damage{}}
	bar := newProgress(s, "scrub", countBytes)
	report.Scrubbed, err = control.ScrubStream.Do(ctx, c.Client, control.ScrubRequest{}, bar.update, func(d control.Damage) {
		report.Found = append(report.Found, d)
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
		for _, d := range report.Found {
			s.printf("%s %s at offset %d: %s\n", s.colour(red, "damage:"), control.Printable(d.File), d.Offset, control.Line(d.What))
		}
		verdict := s.colour(green, "no damage")
		if report.Damages > 0 {
			verdict = s.colour(red, plural(uint64(report.Damages), "damaged place", "damaged places"))
		}
		s.printf("read %s: %s\n", size(report.Bytes), verdict)
	}
	if report.Damages > 0 {
		return errProblems
	}
	return nil
}
