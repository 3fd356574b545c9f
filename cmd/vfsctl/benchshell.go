package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	benchshell "github.com/vfsd/vfsd/bench/shell"
)

func newBenchShell(o *options, s streams) *cobra.Command {
	opts := benchshell.Options{Log: func(what string) { fmt.Fprintln(s.Err, what) }}
	cmd := &cobra.Command{
		Use:   "shell DIR",
		Short: "Measure scripts beside bash and just-bash",
		Long: `Run the same scripts in the daemon's shell over a workspace, with bash and the
GNU tools on the file system of DIR, and with just-bash, which npm puts into a
directory of its own for that time. It leaves the daemon alone.`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Dir = args[0]
			r, err := benchshell.Run(cmd.Context(), opts)
			if err != nil {
				return err
			}
			if o.json {
				enc := json.NewEncoder(s.Out)
				enc.SetIndent("", "  ")
				return enc.Encode(r)
			}
			return r.WriteMarkdown(s.Out)
		},
	}
	f := cmd.Flags()
	f.IntVar(&opts.Runs, "runs", 10, "`times` that each script runs")
	f.StringVar(&opts.JustBash, "just-bash", "", "`directory` with just-bash's node_modules; none leaves it out")
	f.StringSliceVar(&opts.Rows, "row", nil, "only these `names`: grep, sed, loop, echo")
	return jsonFlag(cmd, o)
}
