package rg

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// walker finds the files to search.
type walker struct {
	c        *command.Context
	set      *settings
	wanted   *overrides
	types    *typeRules
	global   rules
	explicit rules  // of --ignore-file
	top      string // absolute path of the working directory, with a slash
	failed   bool
	visit    func(ctx context.Context, f found) error
}

// found is a file to search.
type found struct {
	name     string // as it is shown
	operand  bool   // it was named on the command line
	attr     vfs.Attr
	fromRoot *vfs.Walker // resolves path; nil for the working directory
	path     string
}

// complain prints a message about a file, and makes the status 2.
func (w *walker) complain(format string, args ...any) {
	w.failed = true
	w.c.Stdout.Flush()
	fmt.Fprintf(w.c.Stderr, format+"\n", args...)
}

// fail reports an error about a file.
func (w *walker) fail(name string, err error) {
	w.failed = true
	if !w.set.noMessages {
		if w.set.sorted {
			name += ": IO error for operation on " + name
		}
		w.complain("%s: %s", name, osError(err))
	}
}

// osError is an error the way Rust prints it.
func osError(err error) string {
	e := vfs.ToErrno(err)
	return command.Strerror(err) + " (os error " + strconv.Itoa(int(e)) + ")"
}

// prepare reads what comes from outside of the walk.
func (w *walker) prepare() error {
	top, err := w.c.FS.Path(w.c.FS.Dir)
	if err != nil {
		return err
	}
	w.top = slashed(top)
	if w.wanted, err = parseOverrides(w.set.globs); err != nil {
		return err
	}
	if w.types, err = w.set.typeTable.compile(w.set.types); err != nil {
		return err
	}
	for _, name := range w.set.ignoreFiles {
		b, err := w.c.FS.ReadFile(name, maxIgnoreFile)
		if err != nil {
			fmt.Fprintf(w.c.Stderr, "%s: %s\n", name, osError(err))
			continue
		}
		w.explicit = append(w.explicit, parseRules(string(b), w.set.ignoreFold, func(line int, err error) {
			if !w.set.noIgnoreMessages {
				w.complain("%s: line %d: %v", name, line, err)
			}
		})...)
	}
	config := w.c.Env.Get("XDG_CONFIG_HOME")
	if home := w.c.Env.Get("HOME"); config == "" && home != "" {
		config = home + "/.config"
	}
	if config != "" && !w.set.noIgnore && !w.set.noIgnoreVCS {
		w.global = w.ruleFile(slashed(config), "git/ignore")
	}
	return nil
}

func slashed(dir string) string {
	if strings.HasSuffix(dir, "/") {
		return dir
	}
	return dir + "/"
}

// operand visits what an operand names: a file whatever the rules say, the files
// of a directory by the rules.
func (w *walker) operand(ctx context.Context, name string) error {
	a, err := w.c.FS.Stat(name)
	if err != nil {
		w.fail(name, err)
		return nil
	}
	if !a.IsDir() {
		return w.visit(ctx, found{name: name, operand: true, attr: a, path: name})
	}
	shown := slashed(name)
	if w.set.implicit {
		shown = ""
	}
	abs, err := w.c.FS.Path(a.Ino)
	if err != nil {
		w.fail(name, err)
		return nil
	}
	return w.directory(ctx, w.c.FS.At(a.Ino), dir{shown: shown, abs: slashed(abs), ino: a.Ino, above: w.parents(slashed(abs))})
}

// parents are the rules of the directories above one.
func (w *walker) parents(abs string) *level {
	var l *level
	for i := range abs[:len(abs)-1] {
		if abs[i] != '/' {
			continue
		}
		base := abs[:i+1]
		l = w.enter(base, base, l, func(name string) bool {
			_, err := w.c.FS.Lstat(base + name)
			return err == nil
		})
		if w.set.noIgnoreParent {
			// That there is a repository counts all the same.
			l = &level{base: base, isRepo: l.isRepo, above: l.above}
		}
	}
	return l
}

// dir is a directory of the walk.
type dir struct {
	shown string // what stands before the names in it
	abs   string // absolute path, with a slash
	depth int
	ino   vfs.Ino
	above *level
	// chain are the directories above, that links may lead back to.
	chain []vfs.Ino
}

// directory visits the files of a directory and of those in it, by name.
func (w *walker) directory(ctx context.Context, fs *vfs.Walker, d dir) error {
	if w.set.maxDepth >= 0 && d.depth >= w.set.maxDepth {
		return nil
	}
	es, err := fs.ReadDir(".")
	if err != nil {
		w.fail(strings.TrimSuffix(d.shown, "/"), err)
		return nil
	}
	order := strings.Compare
	if w.set.sortKey == sortPath && w.set.sortReverse {
		order = func(a, b string) int { return strings.Compare(b, a) }
	}
	slices.SortFunc(es, func(a, b vfs.DirEntry) int { return order(a.Name, b.Name) })
	has := func(name string) bool {
		return slices.ContainsFunc(es, func(e vfs.DirEntry) bool { return e.Name == name })
	}
	l := w.enter(d.abs, d.abs, d.above, has)
	for i := range es {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.entry(ctx, fs, &d, l, &es[i]); err != nil {
			return err
		}
	}
	return nil
}

// entry visits one name of a directory.
func (w *walker) entry(ctx context.Context, fs *vfs.Walker, d *dir, l *level, e *vfs.DirEntry) error {
	shown := d.shown + e.Name
	a := vfs.Attr{Ino: e.Ino, Mode: e.Mode}
	var err error
	switch {
	case a.IsSymlink() && !w.set.follow:
		return nil
	case a.IsSymlink():
		if a, err = fs.Stat(e.Name); err == nil && a.IsDir() && (a.Ino == d.ino || slices.Contains(d.chain, a.Ino)) {
			w.complain("File system loop found: %s points to an ancestor", shown)
			return nil
		}
	case a.IsRegular() && (w.set.maxSize >= 0 || w.set.sortKey != sortPath):
		a, err = fs.Lstat(e.Name)
	}
	if err != nil {
		w.fail(shown, err)
		return nil
	}
	if w.skip(l, d.abs+e.Name, e.Name, a.IsDir()) {
		return nil
	}
	switch {
	case a.IsDir():
		below := dir{shown: shown + "/", abs: d.abs + e.Name + "/", depth: d.depth + 1, ino: a.Ino, above: l, chain: append(slices.Clip(d.chain), d.ino)}
		return w.directory(ctx, fs.At(a.Ino), below)
	case !a.IsRegular(), w.set.maxSize >= 0 && int64(a.Size) > w.set.maxSize:
		return nil
	}
	return w.visit(ctx, found{name: shown, attr: a, fromRoot: fs, path: e.Name})
}

// skip tells whether a path is to be left out.
func (w *walker) skip(l *level, path, name string, dir bool) bool {
	if len(w.wanted.rules) > 0 {
		if v := w.wanted.decide(strings.TrimPrefix(path, w.top), dir); v != undecided {
			return v == ignored
		}
	}
	keep := false
	if !w.set.noIgnore {
		v := w.decide(l, path, dir)
		if v == ignored {
			return true
		}
		keep = v == kept
	}
	switch w.types.decide(name, dir) {
	case ignored:
		return true
	case kept:
		keep = true
	}
	return !keep && !w.set.hidden && strings.HasPrefix(name, ".")
}
