// Package cmd registers every in-process command: import it for its effect.
package cmd

import (
	// Each group registers its commands in init functions.
	_ "github.com/vfsd/vfsd/shell/cmd/archive"
	_ "github.com/vfsd/vfsd/shell/cmd/data"
	_ "github.com/vfsd/vfsd/shell/cmd/files"
	_ "github.com/vfsd/vfsd/shell/cmd/js"
	_ "github.com/vfsd/vfsd/shell/cmd/net"
	_ "github.com/vfsd/vfsd/shell/cmd/system"
	_ "github.com/vfsd/vfsd/shell/cmd/text"
	_ "github.com/vfsd/vfsd/shell/cmd/text/awk"
	_ "github.com/vfsd/vfsd/shell/cmd/text/diff"
	_ "github.com/vfsd/vfsd/shell/cmd/text/grep"
	_ "github.com/vfsd/vfsd/shell/cmd/text/patch"
	_ "github.com/vfsd/vfsd/shell/cmd/text/rg"
	_ "github.com/vfsd/vfsd/shell/cmd/text/sed"
	_ "github.com/vfsd/vfsd/shell/cmd/text/sort"
	_ "github.com/vfsd/vfsd/shell/cmd/vcs"
)
