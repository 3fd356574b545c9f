package grep

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/text/glob"
	"github.com/vfsd/vfsd/vfs"
)

// rule is an --include or --exclude.
type rule struct {
	pattern string
	include bool
}

// rules decide together; the last one that matches wins.
type rules []rule

// skip reports whether a name is excluded. One from the command line may match
// with any of its tails.
func (r rules) skip(name string, operand bool) bool {
	if len(r) == 0 {
		return false
	}
	for _, rule := range slices.Backward(r) {
		if glob.Match(rule.pattern, name, 0) {
			return !rule.include
		}
		for i := 0; operand && i < len(name); i++ {
			if name[i] == '/' && glob.Match(rule.pattern, name[i+1:], 0) {
				return !rule.include
			}
		}
	}
	return r[0].include
}

// operands searches what the command line names.
func (g *search) operands(ctx context.Context, names []string) int {
	if len(names) == 0 {
		if g.dirs == dirRecurse {
			names = []string{""}
		} else {
			names = []string{"-"}
		}
	}
	for _, name := range names {
		if err := g.operand(ctx, name); err != nil {
			break
		}
	}
	switch {
	case g.failed && !(g.quiet && g.matched):
		return 2
	case g.matched:
		return 0
	}
	return 1
}

// operand searches a file or directory that was named.
func (g *search) operand(ctx context.Context, name string) error {
	if name == "-" {
		if g.files.skip(name, true) {
			return nil
		}
		return g.one(ctx, g.c.Stdin, g.label)
	}
	path := name
	if name == "" {
		path = "."
	}
	a, err := g.c.FS.Stat(path)
	if err != nil {
		g.fail(name, err)
		return nil
	}
	switch {
	case a.IsDir() && g.dirs == dirSkip, g.skipDevs && device(a.Mode):
		return nil
	case a.IsDir() && g.dirs == dirRecurse:
		if name != "" && g.dirRules.skip(strings.TrimRight(name, "/"), true) {
			return nil
		}
		if g.names == namesInside {
			g.showName = true
		}
		return g.directory(ctx, name, a.Ino, nil)
	case g.files.skip(name, true):
		return nil
	}
	return g.file(ctx, path, name)
}

func device(mode uint32) bool {
	switch mode & vfs.ModeTypeMask {
	case vfs.ModeChar, vfs.ModeBlock, vfs.ModeFIFO, vfs.ModeSocket:
		return true
	}
	return false
}

// file searches the file at path.
func (g *search) file(ctx context.Context, path, name string) error {
	f, err := g.c.FS.Open(path)
	if err != nil {
		g.fail(name, err)
		return nil
	}
	err = g.one(ctx, f, name)
	if cerr := f.Close(); err == nil && cerr != nil {
		g.fail(name, cerr)
	}
	return err
}

// directory searches what is below a directory; above are the directories that
// lead to it.
func (g *search) directory(ctx context.Context, name string, ino vfs.Ino, above []vfs.Ino) error {
	if slices.Contains(above, ino) {
		g.c.Errorf("warning: %s: recursive directory loop", name)
		return nil
	}
	es, err := g.c.FS.ReadDirIno(ino)
	if err != nil {
		g.fail(name, err)
		return nil
	}
	slices.SortFunc(es, func(a, b vfs.DirEntry) int { return strings.Compare(a.Name, b.Name) })
	above = append(above, ino)
	dir := g.c.FS.At(ino)
	for i := range es {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := g.entry(ctx, dir, name, &es[i], above); err != nil {
			return err
		}
	}
	return nil
}

// entry searches one name of a directory.
func (g *search) entry(ctx context.Context, dir *vfs.Walker, parent string, e *vfs.DirEntry, above []vfs.Ino) error {
	name := e.Name
	if parent != "" {
		name = strings.TrimSuffix(parent, "/") + "/" + name
	}
	mode, ino := e.Mode, e.Ino
	if mode&vfs.ModeTypeMask == vfs.ModeSymlink {
		if !g.follow {
			return nil
		}
		a, err := dir.Stat(e.Name)
		if err != nil {
			g.fail(name, err)
			return nil
		}
		mode, ino = a.Mode, a.Ino
	}
	switch {
	case mode&vfs.ModeTypeMask == vfs.ModeDir:
		if g.dirRules.skip(e.Name, false) {
			return nil
		}
		return g.directory(ctx, name, ino, above)
	case device(mode) && !g.readDevs, g.files.skip(e.Name, false):
		return nil
	}
	f, err := dir.Open(e.Name)
	if errors.Is(err, syscall.ENOENT) && mode&vfs.ModeTypeMask == vfs.ModeRegular {
		return nil // it went away while we walked
	}
	if err != nil {
		g.fail(name, err)
		return nil
	}
	defer f.Close()
	return g.one(ctx, io.Reader(f), name)
}
