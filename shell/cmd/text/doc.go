// Package text holds the commands that read and write text, one file each; the
// large ones have packages of their own, which this one imports, so that an
// import of text registers them all.
//
// The characters of a text are those of its locale: UTF-8 sequences when
// LC_ALL, LC_CTYPE or LANG says so, bytes otherwise. Order is by byte value in
// either. That is what the real tools do in the locales C and C.UTF-8, with
// which the tests compare.
package text

import (
	// The commands that are packages.
	_ "github.com/vfsd/vfsd/shell/cmd/text/awk"
	_ "github.com/vfsd/vfsd/shell/cmd/text/diff"
	_ "github.com/vfsd/vfsd/shell/cmd/text/grep"
	_ "github.com/vfsd/vfsd/shell/cmd/text/patch"
	_ "github.com/vfsd/vfsd/shell/cmd/text/rg"
	_ "github.com/vfsd/vfsd/shell/cmd/text/sed"
	_ "github.com/vfsd/vfsd/shell/cmd/text/sort"
)
