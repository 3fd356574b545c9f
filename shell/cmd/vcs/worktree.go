package vcs

import (
	"errors"
	"path"
	"sort"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/vfsd/vfsd/vfs"
)

// absent says that a name is not there, or that something else is in its way.
func absent(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR)
}

// lstat finds a name of the work tree; a symlink in the way counts as absence,
// since git does not look behind it.
func (r *repo) lstat(name string) (vfs.Attr, error) {
	for i := 0; i < len(name); i++ {
		if name[i] != '/' {
			continue
		}
		a, err := r.FS.Lstat(r.abs(name[:i]))
		if err != nil {
			return a, err
		}
		if !a.IsDir() {
			return a, syscall.ENOTDIR
		}
	}
	return r.FS.Lstat(r.abs(name))
}

// workState is how a file of the work tree differs from its index entry: 0 when
// it does not, M, D or T.
func (r *repo) workState(ix *stageIndex, e *index.Entry) (byte, *vfs.Attr, error) {
	a, err := r.lstat(e.Name)
	if absent(err) {
		return 'D', nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	mode := modeOf(&a)
	if e.Mode == filemode.Submodule {
		if !a.IsDir() {
			return 'T', &a, nil
		}
		return 0, &a, nil
	}
	if a.IsDir() {
		return 'D', nil, nil
	}
	if mode == filemode.Executable && !r.cfg.flag("core.filemode", true) {
		mode = e.Mode
	}
	if (mode == filemode.Symlink) != (e.Mode == filemode.Symlink) || !a.IsSymlink() && !a.IsRegular() {
		return 'T', &a, nil
	}
	if mode != e.Mode || e.IntentToAdd {
		return 'M', &a, nil
	}
	if ix.sameStat(e, &a) {
		return 0, &a, nil
	}
	b, err := r.fileData(e.Name, &a)
	if err != nil {
		return 0, nil, err
	}
	if hashData(b) != e.Hash {
		return 'M', &a, nil
	}
	// The content is the same: remember how the file looks, for a later writer.
	fillStat(e, &a)
	return 0, &a, nil
}

// scan finds the files that are not tracked.
type scan struct {
	*repo
	ix    *stageIndex
	specs pathspecs
	// all lists every file rather than directories with nothing tracked.
	all bool
	// ignored collects what is ignored too.
	ignored bool
	// noRules treats ignored files as any other.
	noRules bool

	untracked []string // a directory ends in a slash
	skipped   []string // the ignored ones
}

// walk looks through a directory. top is "" or a name without a slash at its
// end.
func (s *scan) walk(dir string, rules ignores) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	es, err := s.FS.ReadDir(s.abs(dir))
	if err != nil {
		return err
	}
	sort.Slice(es, func(i, j int) bool { return es[i].Name < es[j].Name })
	if !s.noRules {
		rules = s.enter(rules, dir)
	}
	for _, e := range es {
		name := path.Join(dir, e.Name)
		if strings.EqualFold(e.Name, ".git") {
			continue
		}
		isDir := e.Mode&vfs.ModeTypeMask == vfs.ModeDir
		if err := s.visit(name, isDir, rules); err != nil {
			return err
		}
	}
	return nil
}

func (s *scan) visit(name string, dir bool, rules ignores) error {
	if !dir {
		if s.ix.has(name) || !s.specs.match(name) {
			return nil
		}
		switch {
		case !rules.match(name, false):
			s.untracked = append(s.untracked, name)
		case s.ignored:
			s.skipped = append(s.skipped, name)
		}
		return nil
	}
	if e := s.ix.at(name, 0); e != nil && e.Mode == filemode.Submodule || !s.specs.below(name) {
		return nil
	}
	tracked := s.ix.hasBelow(name)
	if rules.match(name, true) {
		if tracked {
			// What is tracked stays so; the rest of it is ignored.
			return s.walk(name, append(rules[:len(rules):len(rules)], s.everythingBelow(name)))
		}
		if s.ignored {
			s.skipped = append(s.skipped, name+"/")
		}
		return nil
	}
	if tracked {
		return s.walk(name, rules)
	}
	if s.isGitDir(s.abs(name + "/.git")) {
		s.untracked = append(s.untracked, name+"/")
		return nil
	}
	if s.all || !s.specs.match(name) {
		return s.walk(name, rules)
	}
	return s.collapse(name, rules)
}

// collapse lists a directory with nothing tracked as one line, if there is
// anything in it.
func (s *scan) collapse(name string, rules ignores) error {
	sub := *s
	sub.all, sub.untracked, sub.skipped = true, nil, nil
	if err := sub.walk(name, rules); err != nil {
		return err
	}
	switch {
	case len(sub.untracked) > 0:
		s.untracked = append(s.untracked, name+"/")
		s.skipped = append(s.skipped, sub.skipped...)
	case len(sub.skipped) > 0:
		s.skipped = append(s.skipped, name+"/")
	}
	return nil
}

// everythingBelow is a rule that ignores all of a directory.
func (s *scan) everythingBelow(dir string) ignoreRule {
	return ignoreRule{pattern: gitignore.ParsePattern("*", strings.Split(dir, "/"))}
}

// newScan prepares a scan of the work tree.
func (r *repo) newScan(ix *stageIndex, specs pathspecs) *scan {
	return &scan{repo: r, ix: ix, specs: specs}
}

// run walks the whole work tree.
func (s *scan) run() error {
	var rules ignores
	if !s.noRules {
		rules = s.baseIgnores()
	}
	return s.walk("", rules)
}

// stageFile records a file of the work tree in the index.
func (r *repo) stageFile(ix *stageIndex, name string, a *vfs.Attr) error {
	if !a.IsRegular() && !a.IsSymlink() {
		return failf("%s: can only add regular files, symbolic links or git-directories", name)
	}
	if e := ix.at(name, 0); e != nil && !e.IntentToAdd && e.Mode == modeOf(a) && ix.sameStat(e, a) {
		return nil
	}
	b, err := r.fileData(name, a)
	if err != nil {
		return err
	}
	h, err := r.store(plumbing.BlobObject, b)
	if err != nil {
		return err
	}
	e := &index.Entry{Name: name, Mode: modeOf(a), Hash: h}
	fillStat(e, a)
	ix.put(e)
	return nil
}

// writeFile makes a file of the work tree equal to a blob and returns its
// attributes.
func (r *repo) writeFile(name string, f treeFile) (vfs.Attr, error) {
	p := r.abs(name)
	if err := r.clearWay(name); err != nil {
		return vfs.Attr{}, err
	}
	if f.mode == filemode.Submodule {
		if err := r.FS.MkdirAll(p, 0o777); err != nil {
			return vfs.Attr{}, err
		}
		return r.FS.Lstat(p)
	}
	b, err := r.blob(f.hash)
	if err != nil {
		return vfs.Attr{}, err
	}
	switch f.mode {
	case filemode.Symlink:
		err = r.FS.Symlink(string(b), p)
	case filemode.Executable:
		err = r.FS.WriteFile(p, b, 0o777)
	default:
		err = r.FS.WriteFile(p, b, 0o666)
	}
	if err != nil {
		return vfs.Attr{}, err
	}
	return r.FS.Lstat(p)
}

// clearWay makes the directories of a name and removes what stands in its
// place: a file, a link, an empty directory; and files and links in place of
// its directories, so that nothing is written through a link.
func (r *repo) clearWay(name string) error {
	for i := 0; i < len(name); i++ {
		if name[i] != '/' {
			continue
		}
		d := r.abs(name[:i])
		a, err := r.FS.Lstat(d)
		if err == nil && !a.IsDir() {
			if err = r.FS.Unlink(d); err == nil {
				err = syscall.ENOENT
			}
		}
		if errors.Is(err, syscall.ENOENT) {
			err = r.FS.Mkdir(d, 0o777)
		}
		if err != nil {
			return err
		}
	}
	p := r.abs(name)
	a, err := r.FS.Lstat(p)
	switch {
	case errors.Is(err, syscall.ENOENT):
		return nil
	case err != nil:
		return err
	case a.IsDir():
		return r.FS.Rmdir(p)
	}
	return r.FS.Unlink(p)
}

// removeFile removes a file of the work tree and the directories that become
// empty, but not the working directory.
func (r *repo) removeFile(name string) error {
	if _, err := r.lstat(name); absent(err) {
		return nil
	}
	if err := r.FS.Unlink(r.abs(name)); err != nil && !absent(err) {
		if errors.Is(err, syscall.EISDIR) {
			return nil
		}
		return err
	}
	for d := path.Dir(name); d != "."; d = path.Dir(d) {
		if d+"/" == r.prefix || r.FS.Rmdir(r.abs(d)) != nil {
			break
		}
	}
	return nil
}
