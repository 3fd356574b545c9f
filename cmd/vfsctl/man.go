package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/daemon"
)

func newMan(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIRECTORY",
		Short: "Write manual pages into a directory",
		Long: `Write a manual page for each command into a directory, as
/usr/local/share/man/man1.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runMan(cmd.Root(), s, args[0]) },
	}
}

func runMan(root *cobra.Command, s streams, dir string) error {
	// Only the last of it: a path that is mistyped is no wish for its parents.
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return daemon.Classify(fmt.Errorf("manual pages: %w", err))
	}
	header := &doc.GenManHeader{Title: "VFSCTL", Section: "1", Source: "vfsd " + daemon.Version, Manual: "vfsd"}
	if err := doc.GenManTree(root, header, dir); err != nil {
		return daemon.Classify(fmt.Errorf("manual pages: %w", err))
	}
	s.printf("wrote the manual pages into %s\n", control.Printable(dir))
	return nil
}
