package archive

import (
	"archive/tar"
	"io"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/regex"
	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
)

// option takes one option; false ends the command with that status.
func (a *archiver) option(p *command.Parser) (int, bool) {
	flags := map[int]*bool{'p': &a.perms, 'P': &a.absolute, 'h': &a.deref, tarHardDereference: &a.hardDeref, 'k': &a.keepOld, tarSkipOld: &a.skipOld, tarKeepNewer: &a.keepNewer,
		tarOverwrite: &a.overwrite, 'm': &a.touch, 'O': &a.stdout, tarNumeric: &a.numeric, tarSameOwner: &a.sameOwner, tarNoRecursion: &a.noRecursion, tarNull: &a.null,
		tarWildcards: &a.wildcards, tarAnchored: &a.anchored, tarTotals: &a.totals, tarRemoveFiles: &a.removeFiles, tarFullTime: &a.fullTime, 'a': &a.auto}
	if f := flags[p.ID()]; f != nil {
		*f = true
		return 0, true
	}
	clears := map[int]*bool{tarNoSameOwner: &a.sameOwner, tarNoSamePermissions: &a.perms, tarNoWildcards: &a.wildcards, tarRecursion: &a.noRecursion, tarNoAnchored: &a.anchored}
	if f := clears[p.ID()]; f != nil {
		*f = false
		return 0, true
	}
	filters := map[int]*filter{'z': &gzipFilter, 'j': &bzip2Filter, 'J': &xzFilter, tarZstd: &zstdFilter, tarLzma: &lzmaFilter}
	if f := filters[p.ID()]; f != nil {
		if a.filter != nil && a.filter != f {
			return a.usage("Conflicting compression options"), false
		}
		a.filter = f
		return 0, true
	}
	switch id := p.ID(); id {
	case 'A', 'c', 'd', 'r', 't', 'u', 'x', tarDelete:
		if a.mode != 0 && a.mode != id {
			return a.usage("You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option"), false
		}
		a.mode = id
	case 'f':
		a.file = p.Arg()
	case 'C':
		return a.chdir(p.Arg())
	case 'v':
		a.verbose++
	case tarUTC:
		a.loc = time.UTC
	case tarExclude:
		a.exclude = append(a.exclude, tarExclusion{p.Arg(), len(a.names), "--exclude " + a.c.Quote(p.Arg())})
	case tarExcludeVCS:
		for _, name := range []string{".git", ".gitignore", ".gitmodules", ".gitattributes", ".svn", ".hg", ".hgignore", ".hgtags", ".bzr", ".bzrignore", "CVS", ".cvsignore", "RCS", "SCCS", "_darcs"} {
			a.exclude = append(a.exclude, tarExclusion{name, len(a.names), "--exclude-vcs"})
		}
	case tarOneTop:
		a.hasTop, a.top = true, p.Arg()
	case tarPosix:
		a.format = tar.FormatPAX
	case tarAddFile:
		a.names = append(a.names, tarName{name: p.Arg(), at: a.dir})
	case tarIgnored, tarIgnoredArg, tarShowNames:
	default:
		return a.valued(p)
	}
	return 0, true
}

// valued takes the options whose argument must be understood.
func (a *archiver) valued(p *command.Parser) (int, bool) {
	c := a.c
	switch p.ID() {
	case 'T', 'X':
		return a.listFrom(p.Arg(), p.ID() == 'X')
	case 'I':
		prog, _, _ := strings.Cut(gnulib.Base(p.Arg()), " ")
		for _, f := range []*filter{&gzipFilter, &bzip2Filter, &xzFilter, &zstdFilter, &lzmaFilter} {
			if f.name == prog || prog == "pigz" && f == &gzipFilter || prog == "un"+f.name {
				a.filter = f
				return 0, true
			}
		}
		a.die("%s: no such compression here", p.Arg())
		return 2, false
	case tarStrip:
		n, err := gnulib.ParseSize(p.Arg(), "")
		if err != nil || n > 1<<20 {
			return a.usage(p.Arg() + ": Invalid number of elements"), false
		}
		a.strip = int(n)
	case 'b':
		n, err := strconv.Atoi(p.Arg())
		if err != nil || n < 1 || n > 1<<16 {
			return a.usage("Invalid blocking factor"), false
		}
		a.blocking = n
	case tarTransform:
		t, ok := parseTransform(p.Arg(), c.Env.UTF8())
		if !ok {
			a.die("Invalid transform expression")
			return 2, false
		}
		a.transforms = append(a.transforms, t...)
	case tarOwner, tarGroup:
		n := a.ownerName(p.Arg(), p.ID() == tarOwner)
		if p.ID() == tarOwner {
			a.owner = n
		} else {
			a.group = n
		}
	case tarMtime:
		return a.setMtime(p.Arg())
	case tarMode:
		m, ok := gnulib.ParseMode(p.Arg())
		if !ok {
			a.die("Invalid mode given on option")
			return 2, false
		}
		a.chmod = m
	case tarSort:
		switch p.Arg() {
		case "name":
			a.sorted = true
		case "none", "inode":
			a.sorted = false
		default:
			c.Errorf("invalid argument %s for %s\nValid arguments are:\n  - %s\n  - %s\n  - %s", c.Quote(p.Arg()), c.Quote("--sort"), c.Quote("none"), c.Quote("name"), c.Quote("inode"))
			return 2, false
		}
	case tarFormat:
		switch p.Arg() {
		case "gnu", "oldgnu":
			a.format = tar.FormatGNU
		case "pax", "posix":
			a.format = tar.FormatPAX
		case "ustar", "v7":
			a.format = tar.FormatUSTAR
		default:
			return a.usage(p.Arg() + ": Invalid archive format"), false
		}
	}
	return 0, true
}

// chdir makes the names that follow relative to a directory.
func (a *archiver) chdir(dir string) (int, bool) {
	at, err := a.dir.Stat(dir)
	if err == nil && !at.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		a.die("%s: Cannot open: %s", a.quote(dir), command.Strerror(err))
		return 2, false
	}
	a.dir = a.dir.At(at.Ino)
	return 0, true
}

// maxList bounds a list of names.
const maxList = 64 << 20

// listFrom reads names or patterns from a file.
func (a *archiver) listFrom(name string, patterns bool) (int, bool) {
	f, err := a.c.Open(name)
	if err != nil {
		a.die("%s: Cannot stat: %s", a.quote(name), command.Strerror(err))
		return 2, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxList))
	if err != nil {
		a.die("%s: Read error: %s", a.quote(name), command.Strerror(err))
		return 2, false
	}
	sep := "\n"
	if a.null && !patterns {
		sep = "\x00"
	}
	for _, line := range strings.Split(string(b), sep) {
		switch {
		case line == "":
		case patterns:
			a.exclude = append(a.exclude, tarExclusion{line, len(a.names), "--exclude-from " + a.c.Quote(name)})
		default:
			a.names = append(a.names, tarName{name: line, at: a.dir})
		}
	}
	return 0, true
}

func (a *archiver) setMtime(s string) (int, bool) {
	if strings.HasPrefix(s, "/") || strings.HasPrefix(s, ".") {
		at, err := a.c.FS.Stat(s)
		if err != nil {
			a.die("%s: Cannot stat: %s", a.quote(s), command.Strerror(err))
			return 2, false
		}
		t := time.Unix(0, at.Mtime)
		a.mtime = &t
		return 0, true
	}
	t, ok := gnulib.ParseDate(s, a.c.Now().In(a.loc), tz.Load)
	if !ok {
		a.message("Substituting now for unknown date format %s", a.c.Quote(s))
		t = a.c.Now()
	}
	a.mtime = &t
	return 0, true
}

// ownerName reads NAME, NAME:ID or a number.
func (a *archiver) ownerName(s string, user bool) *tarOwnerName {
	name, id, ok := strings.Cut(s, ":")
	o := &tarOwnerName{name: name, id: -1}
	if n, err := strconv.Atoi(id); ok && err == nil {
		o.id = n
		return o
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "+")); err == nil {
		o.name, o.id = "", n
		return o
	}
	if user {
		if u, ok := a.c.System.UserByName(name); ok {
			o.id = int(u.UID)
		}
	} else if g, ok := a.c.System.GroupByName(name); ok {
		o.id = int(g.GID)
	}
	return o
}

// transform is one s/// of --transform.
type transform struct {
	re          *regex.Regexp
	replacement string
	global      bool
	number      int
	symlinks    bool
	hardlinks   bool
	regular     bool
}

// parseTransform reads s/RE/REPLACEMENT/FLAGS, several of them after ;.
func parseTransform(s string, utf8 bool) ([]*transform, bool) {
	var out []*transform
	for s != "" {
		if len(s) < 4 || s[0] != 's' {
			return nil, false
		}
		delim := s[1]
		var parts [2]string
		rest := s[2:]
		for i := range parts {
			end := 0
			for end < len(rest) && rest[end] != delim {
				if rest[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(rest) {
				return nil, false
			}
			parts[i], rest = rest[:end], rest[end+1:]
		}
		flags, after, _ := strings.Cut(rest, ";")
		s = after
		t := &transform{replacement: parts[1], symlinks: true, hardlinks: true, regular: true}
		syntax, reFlags := regex.Basic, regex.Flags(0)
		if utf8 {
			reFlags |= regex.UTF8
		}
		for i := 0; i < len(flags); i++ {
			switch ch := flags[i]; {
			case ch == 'g':
				t.global = true
			case ch == 'i':
				reFlags |= regex.IgnoreCase
			case ch == 'x':
				syntax = regex.Extended
			case ch == 'S':
				t.symlinks = false
			case ch == 'H':
				t.hardlinks = false
			case ch == 'R':
				t.regular = false
			case ch == 'r' || ch == 's' || ch == 'h':
			case ch >= '0' && ch <= '9':
				t.number = t.number*10 + int(ch-'0')
			default:
				return nil, false
			}
		}
		re, err := regex.Compile(strings.ReplaceAll(parts[0], `\`+string([]byte{delim}), string([]byte{delim})), syntax, reFlags)
		if err != nil {
			return nil, false
		}
		t.re = re
		out = append(out, t)
	}
	return out, true
}

// apply replaces in a name.
func (t *transform) apply(a *archiver, name string) string {
	var b strings.Builder
	pos, count := 0, 0
	text := []byte(name)
	for pos <= len(text) {
		loc, err := t.re.FindGroups(a.ctx, text, pos, nil)
		if err != nil || loc == nil {
			break
		}
		count++
		b.WriteString(name[pos:loc[0]])
		if count >= max(t.number, 1) {
			t.expand(&b, name, loc)
		} else {
			b.WriteString(name[loc[0]:loc[1]])
		}
		if loc[1] == loc[0] {
			if loc[0] < len(name) {
				b.WriteByte(name[loc[0]])
			}
			pos = loc[1] + 1
		} else {
			pos = loc[1]
		}
		if !t.global && count >= max(t.number, 1) {
			break
		}
	}
	if pos < len(name) {
		b.WriteString(name[pos:])
	}
	return b.String()
}

// expand writes the replacement: & and \1 stand for what matched, \U and \L
// change case to the end.
func (t *transform) expand(b *strings.Builder, name string, loc []int) {
	fold := func(s string) string { return s }
	for i := 0; i < len(t.replacement); i++ {
		ch := t.replacement[i]
		switch {
		case ch == '&':
			b.WriteString(fold(name[loc[0]:loc[1]]))
		case ch == '\\' && i+1 < len(t.replacement):
			i++
			switch d := t.replacement[i]; {
			case d >= '0' && d <= '9':
				if g := int(d-'0') * 2; g+1 < len(loc) && loc[g] >= 0 {
					b.WriteString(fold(name[loc[g]:loc[g+1]]))
				}
			case d == 'U':
				fold = strings.ToUpper
			case d == 'L':
				fold = strings.ToLower
			case d == 'E':
				fold = func(s string) string { return s }
			default:
				b.WriteByte(d)
			}
		default:
			b.WriteString(fold(string([]byte{ch})))
		}
	}
}
