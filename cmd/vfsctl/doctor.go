package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/daemon"
)

func newDoctor(o *options, s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find what is wrong with this machine or the data directory",
		Long: `Examine this machine and the data directory, and name the command that mends what
is wrong. It repairs nothing by itself, and works with or without a daemon. Exit
code 3 says that something is bad; warnings do not count.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), o, s) },
	}
	return jsonFlag(cmd, o)
}

// doctorReport is what doctor --json prints.
type doctorReport struct {
	DataDir  string           `json:"data_dir"`
	Findings []daemon.Finding `json:"findings"`
	Bad      int              `json:"bad"`
	Warnings int              `json:"warnings"`
}

func runDoctor(ctx context.Context, o *options, s streams) error {
	r := doctorReport{DataDir: o.data, Findings: daemon.Diagnose(ctx, o.data, func(ctx context.Context) (*control.Client, func() error, error) {
		c, err := connect(ctx, o)
		if err != nil {
			return nil, nil, err
		}
		return c.Client, c.end, nil
	})}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, f := range r.Findings {
		switch f.Health {
		case daemon.Bad:
			r.Bad++
		case daemon.Warning:
			r.Warnings++
		}
	}
	if o.json {
		if err := s.printJSON(r); err != nil {
			return err
		}
	} else {
		printDoctor(s, r)
	}
	if r.Bad > 0 {
		return errProblems
	}
	return nil
}

func printDoctor(s streams, r doctorReport) {
	colours := map[daemon.Health]string{daemon.Good: green, daemon.Warning: yellow, daemon.Bad: red}
	for _, f := range r.Findings {
		s.printf("%s  %s: %s\n", s.colour(colours[f.Health], pad(string(f.Health), 7)), control.Line(f.What), control.Line(f.Detail))
		if f.Mend != "" {
			s.printf("         mend: %s\n", control.Line(f.Mend))
		}
	}
	if r.Bad+r.Warnings == 0 {
		s.printf("all is well\n")
		return
	}
	s.printf("%s, %s\n", plural(uint64(r.Bad), "thing is bad", "things are bad"), plural(uint64(r.Warnings), "warning", "warnings"))
}
