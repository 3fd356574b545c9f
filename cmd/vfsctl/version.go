package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/daemon"
)

// versionReport is what version --json prints.
type versionReport struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion(o *options, s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return runVersion(o, s) },
	}
	return jsonFlag(cmd, o)
}

func runVersion(o *options, s streams) error {
	v := versionReport{daemon.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	if o.json {
		return s.printJSON(v)
	}
	s.printf("vfsctl %s (%s, %s)\n", v.Version, v.Go, v.Platform)
	return nil
}
