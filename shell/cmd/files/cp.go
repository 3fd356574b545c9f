package files

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
)

const (
	cpPreserve = 280 + iota
	cpNoPreserve
	cpParents
	cpSparse
	cpReflink
	cpAttributesOnly
	cpCopyContents
	cpRemoveDestination
	cpStripSlashes
)

func init() {
	options := []command.Option{
		{Short: 'a', Long: "archive", Help: "same as -dR --preserve=all"},
		{Long: "attributes-only", ID: cpAttributesOnly, Help: "don't copy the file data, just the attributes"},
		{Long: "copy-contents", ID: cpCopyContents, Help: "copy contents of special files when recursive"},
		{Short: 'd', Help: "same as --no-dereference --preserve=links"},
		{Short: 'f', Long: "force", Help: "if an existing destination file cannot be\nopened, remove it and try again"},
		{Short: 'i', Long: "interactive", Help: "prompt before overwrite"},
		{Short: 'H', Help: "follow command-line symbolic links in SOURCE"},
		{Short: 'l', Long: "link", Help: "hard link files instead of copying"},
		{Short: 'L', Long: "dereference", Help: "always follow symbolic links in SOURCE"},
		{Short: 'n', Long: "no-clobber", Help: "do not overwrite an existing file"},
		{Short: 'P', Long: "no-dereference", Help: "never follow symbolic links in SOURCE"},
		{Short: 'p', Help: "same as --preserve=mode,ownership,timestamps"},
		{Long: "preserve", Arg: command.OptionalArgument, ArgName: "ATTR_LIST", ID: cpPreserve, Help: "preserve the specified attributes:\nmode, ownership, timestamps, links, context, xattr, all"},
		{Long: "no-preserve", Arg: command.RequiredArgument, ArgName: "ATTR_LIST", ID: cpNoPreserve, Help: "don't preserve the specified attributes"},
		{Long: "parents", ID: cpParents, Help: "use full source file name under DIRECTORY"},
		{Short: 'R', Long: "recursive", Help: "copy directories recursively"},
		{Short: 'r', ID: 'R', Help: "the same"},
		{Long: "reflink", Arg: command.OptionalArgument, ArgName: "WHEN", ID: cpReflink, Help: "control clone/CoW copies: what can be shared always is"},
		{Long: "remove-destination", ID: cpRemoveDestination, Help: "remove each existing destination file before\nattempting to open it"},
		{Long: "sparse", Arg: command.RequiredArgument, ArgName: "WHEN", ID: cpSparse, Help: "control creation of sparse files: holes stay holes"},
		{Long: "strip-trailing-slashes", ID: cpStripSlashes, Help: "remove any trailing slashes from each SOURCE argument"},
		{Short: 's', Long: "symbolic-link", Help: "make symbolic links instead of copying"},
		{Short: 'u', Long: "update", Help: "copy only when the SOURCE file is newer\nthan the destination file or when the\ndestination file is missing"},
		{Short: 'v', Long: "verbose", Help: "explain what is being done"},
		{Short: 'x', Long: "one-file-system", Help: "stay on this file system"},
	}
	options = append(append(append(options, backupOptions...), targetOptions...), contextOptions...)
	command.Register(command.Info{
		Name:     "cp",
		Synopsis: "cp [OPTION]... [-T] SOURCE DEST\ncp [OPTION]... SOURCE... DIRECTORY\ncp [OPTION]... -t DIRECTORY SOURCE...",
		Summary:  "Copy SOURCE to DEST, or multiple SOURCE(s) to DIRECTORY.",
		Options:  options,
	}, cp)
}

var (
	preserveWords = []gnulib.Choice{{Word: "mode", Value: 1}, {Word: "timestamps", Value: 2}, {Word: "ownership", Value: 3},
		{Word: "links", Value: 4}, {Word: "context", Value: 5}, {Word: "xattr", Value: 6}, {Word: "all", Value: 7}}
	sparseWords  = []gnulib.Choice{{Word: "never", Value: 1}, {Word: "auto", Value: 2}, {Word: "always", Value: 3}}
	reflinkWords = []gnulib.Choice{{Word: "auto", Value: 1}, {Word: "always", Value: 2}, {Word: "never", Value: 3}}
)

// preserve takes the list of --preserve or --no-preserve.
func (k *copier) preserve(option, list string, on bool) bool {
	for _, word := range strings.Split(list, ",") {
		v, ok := gnulib.MatchArg(k.c, option, word, preserveWords)
		if !ok {
			return false
		}
		p := &k.keep
		switch v {
		case 1:
			p.mode = on
			k.noMode = !on
		case 2:
			p.times = on
		case 3:
			p.owner = on
		case 4:
			p.links = on
		case 6:
			p.xattr = on
		case 7:
			*p = preserved{on, on, on, on, on}
			k.noMode = !on
		}
	}
	return true
}

// placing is where the operands of cp, mv and install go.
type placing struct {
	target                       string // -t
	hasTarget, noTarget, parents bool
	strip                        bool
}

func cp(ctx context.Context, c *command.Context, args []string) int {
	k := newCopier(ctx, c)
	var where placing
	deref := follow(0)
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'a':
			deref, k.recursive = followNone, true
			k.keep = preserved{true, true, true, true, true}
		case 'd':
			deref, k.keep.links = followNone, true
		case 'H', 'L', 'P':
			deref = followOf(p.ID())
		case 'R':
			k.recursive = true
		case 'p':
			k.keep.mode, k.keep.owner, k.keep.times = true, true, true
		case 'n':
			k.overwrite = overwriteNo
		default:
			if status, ok := k.cpOption(p, &where); !ok {
				return status
			}
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if k.hardLinks && k.symlinks {
		return c.Usage("cannot make both hard and symbolic links")
	}
	if k.overwrite == overwriteNo && k.backup.asked {
		return c.Usage("options --backup and --no-clobber are mutually exclusive")
	}
	k.backup.finish(c)
	switch {
	case deref != 0:
		k.follow = deref
	case k.recursive && !k.hardLinks, k.hardLinks:
		k.follow = followNone
	default:
		k.follow = followAll
	}
	if k.symlinks {
		k.unlink = k.unlink || k.force
	}
	return k.place(names, &where)
}

// cpOption takes the options of cp that one line settles.
func (k *copier) cpOption(p *command.Parser, where *placing) (int, bool) {
	ok := true
	switch p.ID() {
	case 'b', optBackup, 'S':
		ok = k.backup.option(k.c, p)
	case 'f':
		k.force = true
	case 'i':
		k.overwrite = overwriteAsk
	case 'l':
		k.hardLinks = true
	case 's':
		k.symlinks = true
	case 'u':
		k.update = true
	case 'v':
		k.verbose = true
	case 't':
		if where.hasTarget {
			return k.c.Errorf("multiple target directories specified"), false
		}
		where.target, where.hasTarget = p.Arg(), true
	case 'T':
		where.noTarget = true
	case cpParents:
		where.parents = true
	case cpStripSlashes:
		where.strip = true
	case cpAttributesOnly:
		k.attrsOnly = true
	case cpCopyContents:
		k.contents = true
	case cpRemoveDestination:
		k.unlink = true
	case cpSparse:
		_, ok = gnulib.MatchArg(k.c, "--sparse", p.Arg(), sparseWords)
	case cpReflink:
		if p.HasArg() {
			_, ok = gnulib.MatchArg(k.c, "--reflink", p.Arg(), reflinkWords)
		}
	case cpPreserve:
		if p.HasArg() {
			ok = k.preserve("--preserve", p.Arg(), true)
		} else {
			k.keep.mode, k.keep.owner, k.keep.times = true, true, true
		}
	case cpNoPreserve:
		ok = k.preserve("--no-preserve", p.Arg(), false)
	}
	return 1, ok
}

// place finds the destination of every operand and copies it there.
func (k *copier) place(names []string, where *placing) int {
	c := k.c
	if status := where.check(k, names); status != 0 {
		return status
	}
	dir := ""
	switch last := names[len(names)-1]; {
	case where.hasTarget:
		if err := isDir(c, where.target); err != nil {
			return c.Errorf("target directory %s: %s", c.QuoteArg(where.target), command.Strerror(err))
		}
		dir = where.target
	case where.noTarget:
	default:
		err := isDir(c, last)
		switch {
		case err == nil:
			dir, names = last, names[:len(names)-1]
		case len(names) > 2 || where.parents && len(names) == 2:
			if where.parents && len(names) == 2 {
				return c.Usage("with --parents, the destination must be a directory")
			}
			return c.Errorf("target %s: %s", c.QuoteArg(last), command.Strerror(err))
		}
	}
	if where.strip {
		for i := range names {
			names[i] = gnulib.StripSlashes(names[i])
		}
	}
	if dir == "" {
		if where.parents {
			return c.Usage("with --parents, the destination must be a directory")
		}
		return status(k.single(names[0], names[1]))
	}
	ok := true
	for _, name := range names {
		if k.ctx.Err() != nil {
			return 1
		}
		dst, made := k.destination(dir, name, where.parents)
		ok = made && k.operand(name, dst) && ok
	}
	return status(ok)
}

func status(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

// single copies one operand to another path. With --force --backup a file may
// be copied onto itself: that makes a backup.
func (k *copier) single(src, dst string) bool {
	if k.force && k.backup.on() && !k.move && k.sameDentry(src, dst) {
		if a, err := k.c.FS.Stat(src); err == nil && a.IsRegular() {
			saved := k.backup.name(k.c, dst)
			k.backup.control = "none"
			return k.operand(src, saved)
		}
	}
	return k.operand(src, dst)
}

func (where *placing) check(k *copier, names []string) int {
	c := k.c
	switch {
	case len(names) == 0:
		return c.Usage("missing file operand")
	case len(names) == 1 && !where.hasTarget:
		return c.Usage("missing destination file operand after %s", c.QuoteArg(names[0]))
	case where.noTarget && where.hasTarget:
		return c.Errorf("cannot combine --target-directory (-t) and --no-target-directory (-T)")
	case where.noTarget && len(names) > 2:
		return c.Usage("extra operand %s", c.QuoteArg(names[2]))
	}
	return 0
}

// destination is where an operand goes in a directory; with parents all of the
// operand's path is made there.
func (k *copier) destination(dir, name string, parents bool) (string, bool) {
	if !parents {
		base := gnulib.Base(name)
		if base == ".." && !k.move {
			return dir, true
		}
		return gnulib.Join(dir, base), true
	}
	name = gnulib.StripSlashes(name)
	rel := strings.TrimLeft(name, "/")
	skipped := name[:len(name)-len(rel)]
	dst := gnulib.Join(dir, rel)
	for i := 0; i < len(rel); i++ {
		if rel[i] != '/' {
			continue
		}
		part, from := gnulib.Join(dir, rel[:i]), skipped+rel[:i]
		if a, err := k.c.FS.Stat(part); err == nil {
			if !a.IsDir() {
				return dst, k.errorf("%s exists but is not a directory", k.q(part))
			}
			continue
		}
		if !k.makeParent(from, part) {
			return dst, false
		}
	}
	return dst, true
}

func (k *copier) makeParent(from, part string) bool {
	a, err := k.c.FS.Stat(from)
	if err != nil {
		return k.fail(err, "failed to get attributes of %s", from)
	}
	if !a.IsDir() {
		return k.fail(syscall.ENOTDIR, "failed to get attributes of %s", from)
	}
	if err := k.c.FS.Mkdir(part, a.Mode&0o777|0o700); err != nil {
		return k.fail(err, "cannot make directory %s", part)
	}
	if k.verbose {
		fmt.Fprintf(k.c.Stdout, "%s -> %s\n", from, part)
	}
	j := job{src: from, dst: part, attr: a}
	mode := a.Mode & 0o777 &^ k.c.FS.Op.Umask
	return k.finish(&j, &mode)
}
