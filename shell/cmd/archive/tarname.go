package archive

import (
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
)

// safeName takes off a name what would lead out of the directory: slashes at
// the start, and everything up to the last "..". It says so, once for each
// prefix.
func (a *archiver) safeName(name string, link bool) string {
	if a.absolute {
		return name
	}
	cut := 0
	for i := 0; i < len(name); {
		end := strings.IndexByte(name[i:], '/')
		if end < 0 {
			end = len(name)
		} else {
			end += i
		}
		part := name[i:end]
		if end < len(name) {
			end++
		}
		if part == ".." || part == "" && i == cut {
			cut = end
		}
		i = end
	}
	for cut < len(name) && name[cut] == '/' {
		cut++
	}
	if cut == 0 {
		return name
	}
	prefix, what := name[:cut], "member names"
	if link {
		what = "hard link targets"
	}
	if !a.prefixes[prefix+what] {
		a.prefixes[prefix+what] = true
		a.message("Removing leading `%s' from %s", prefix, what)
	}
	if name = name[cut:]; name == "" {
		if !a.prefixes["empty"+what] {
			a.prefixes["empty"+what] = true
			if link {
				a.message("Substituting `.' for empty hard link target")
			} else {
				a.message("Substituting `.' for empty member name")
			}
		}
		name = "."
	}
	return name
}

// excluded reports whether a name is to be left out: a pattern matches it, or
// the part of it after a slash.
func (a *archiver) excluded(name string) bool {
	name = strings.TrimSuffix(name, "/")
	adding := a.mode == 'c' || a.mode == 'r' || a.mode == 'u'
	for _, x := range a.exclude {
		if adding && x.from > a.current {
			continue
		}
		pattern := strings.TrimSuffix(x.pattern, "/")
		for part := name; ; {
			if matchLeading(pattern, part) {
				return true
			}
			i := strings.IndexByte(part, '/')
			if i < 0 || a.anchored {
				break
			}
			part = part[i+1:]
		}
	}
	return false
}

// matchLeading reports whether a pattern matches a name or a directory above
// it.
func matchLeading(pattern, name string) bool {
	if gnulib.Fnmatch(pattern, name, 0) {
		return true
	}
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '/' && gnulib.Fnmatch(pattern, name[:i], 0) {
			return true
		}
	}
	return false
}

// positional reports options that come after all operands and so concern none.
func (a *archiver) positional() (int, bool) {
	told := map[string]bool{}
	for _, x := range a.exclude {
		if x.from < len(a.names) || told[x.option] {
			continue
		}
		if len(told) == 0 {
			a.message("The following options were used after any non-optional arguments in archive create or update mode.  These options are positional and affect only arguments that follow them.  Please, rearrange them properly.")
			a.status = 2
		}
		told[x.option] = true
		a.message("%s has no effect", x.option)
	}
	return 2, true
}

// patternWarning says that operands look like patterns and are none.
func (a *archiver) patternWarning() {
	for _, n := range a.names {
		if !a.wildcards && strings.ContainsAny(n.name, "*?[") {
			a.message("Pattern matching characters used in file names")
			a.message("Use --wildcards to enable pattern matching, or --no-wildcards to suppress this warning")
			return
		}
	}
}

// wanted reports whether a member is one of the operands, or below one; it is
// then extracted where that operand says.
func (a *archiver) wanted(name string) bool {
	a.target = a.dir
	if len(a.names) == 0 {
		return true
	}
	bare := strings.TrimSuffix(name, "/")
	for i := range a.names {
		n := &a.names[i]
		operand := strings.TrimRight(n.name, "/")
		match := operand == bare || strings.HasPrefix(bare, operand+"/") && !a.noRecursion
		if a.wildcards {
			match = matchLeading(operand, bare)
		}
		if match {
			n.used = true
			a.target = n.at
			return true
		}
	}
	return false
}

// rename gives a member the name that it is extracted under; false when
// nothing is left of it.
func (a *archiver) rename(name string) (string, bool) {
	for _, t := range a.transforms {
		if t.regular {
			name = t.apply(a, name)
		}
	}
	return a.stripped(name)
}

// relink gives the target of a link the name that it has by then.
func (a *archiver) relink(target string, symlink bool) (string, bool) {
	for _, t := range a.transforms {
		if symlink && t.symlinks || !symlink && t.hardlinks {
			target = t.apply(a, target)
		}
	}
	if symlink {
		return target, true
	}
	return a.stripped(target)
}

// stripped is --strip-components.
func (a *archiver) stripped(name string) (string, bool) {
	for range a.strip {
		name = strings.TrimLeft(name, "/")
		i := strings.IndexByte(name, '/')
		if i < 0 {
			return "", false
		}
		name = strings.TrimLeft(name[i+1:], "/")
	}
	return name, name != ""
}
