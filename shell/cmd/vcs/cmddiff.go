package vcs

import (
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// splitArgs tells revisions from paths: what stands before "--" is a revision;
// without one, the first operand that names no revision begins the paths and
// must be there.
func (r *repo) splitArgs(p *parsed) (revs, paths []string, err error) {
	if p.before >= 0 {
		return p.operands[:p.before], p.operands[p.before:], nil
	}
	for i, a := range p.operands {
		if r.isRevision(a) {
			continue
		}
		for _, rest := range p.operands[i:] {
			if _, err := r.FS.Lstat(r.workPath(rest)); err != nil && !strings.ContainsAny(rest, "*?[:") {
				return nil, nil, ambiguous(rest)
			}
		}
		return p.operands[:i], p.operands[i:], nil
	}
	return p.operands, nil, nil
}

// workPath finds an operand from the working directory.
func (r *repo) workPath(p string) string {
	if path.IsAbs(p) || r.work == "" {
		return p
	}
	return path.Join(r.work, r.prefix, p)
}

// isRevision reports whether an operand names a revision or a range.
func (r *repo) isRevision(a string) bool {
	a = strings.TrimPrefix(a, "^")
	for _, sep := range []string{"...", ".."} {
		if x, y, ok := strings.Cut(a, sep); ok {
			return r.endOfRange(x) && r.endOfRange(y) && x+y != ""
		}
	}
	for _, suffix := range []string{"^!", "^@", "^-"} {
		a = strings.TrimSuffix(a, suffix)
	}
	_, ok := r.resolve(a)
	return ok
}

func (r *repo) endOfRange(rev string) bool {
	if rev == "" {
		return true
	}
	_, ok := r.resolve(rev)
	return ok
}

// cmdDiff is git diff.
func (g *git) cmdDiff(args []string) error {
	p, err := g.parse(args, diffTable+"cached staged no-index merge-base ours base theirs 0 1 2 3")
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil || p.has("no-index") {
		return g.diffNoIndex(p, err)
	}
	f, err := r.diffOptions(p)
	if err != nil {
		return err
	}
	if !f.chosen() {
		f.patch = true
	}
	revs, paths, err := r.splitArgs(p)
	if err != nil {
		return err
	}
	specs, err := r.pathspecs(paths)
	if err != nil {
		return err
	}
	if f.relative && r.prefix != "" {
		specs = append(specs, pathspec{pattern: strings.TrimSuffix(r.prefix, "/")})
	}
	pairs, err := r.diffPairs(p, revs, specs)
	if err != nil {
		return err
	}
	if pairs, err = r.prepare(pairs, f); err != nil {
		return err
	}
	if !f.quiet {
		if err := r.show(pairs, f); err != nil {
			return err
		}
	}
	if f.exitCode && len(pairs) > 0 {
		return status(1)
	}
	return nil
}

// diffPairs finds what is to be compared.
func (r *repo) diffPairs(p *parsed, revs []string, specs pathspecs) ([]*filePair, error) {
	if len(revs) == 1 {
		for _, sep := range []string{"...", ".."} {
			if a, b, ok := strings.Cut(revs[0], sep); ok {
				if a, b = orHead(a), orHead(b); sep == "..." {
					base, err := r.mergeBaseOf(a, b)
					if err != nil {
						return nil, err
					}
					a = base.String()
				}
				revs = []string{a, b}
				break
			}
		}
	}
	switch {
	case p.has("cached") || p.has("staged"):
		return r.cachedPairs(revs, specs)
	case len(revs) == 0:
		ix, err := r.readIndex()
		if err != nil {
			return nil, err
		}
		if r.work == "" {
			return nil, fatal("this operation must be run in a work tree")
		}
		return r.workPairs(ix, nil, specs)
	case len(revs) == 1:
		files, err := r.filesOf(revs[0])
		if err != nil {
			return nil, err
		}
		ix, err := r.readIndex()
		if err != nil {
			return nil, err
		}
		return r.workPairs(ix, files, specs)
	case len(revs) == 2:
		if pair, ok, err := r.blobPair(revs); ok || err != nil {
			return []*filePair{pair}, err
		}
		a, err := r.filesOf(revs[0])
		if err != nil {
			return nil, err
		}
		b, err := r.filesOf(revs[1])
		if err != nil {
			return nil, err
		}
		return comparePairs(a, b, specs), nil
	}
	return nil, fatal("combined diffs of several revisions are not supported")
}

func orHead(rev string) string {
	if rev == "" {
		return "HEAD"
	}
	return rev
}

func (r *repo) cachedPairs(revs []string, specs pathspecs) ([]*filePair, error) {
	ix, err := r.readIndex()
	if err != nil {
		return nil, err
	}
	head, err := r.headFiles()
	if len(revs) > 0 {
		head, err = r.filesOf(revs[0])
	}
	if err != nil {
		return nil, err
	}
	return r.indexPairs(head, ix, specs), nil
}

// filesOf lists the files of a revision.
func (r *repo) filesOf(rev string) (map[string]treeFile, error) {
	h, ok := r.resolve(rev)
	if !ok {
		return nil, ambiguous(rev)
	}
	t, err := r.treeOf(h)
	if err != nil {
		return nil, err
	}
	return r.flatten(t.Hash)
}

// blobPair compares two files named REV:PATH.
func (r *repo) blobPair(revs []string) (*filePair, bool, error) {
	p := &filePair{status: 'M'}
	for i, s := range []*side{&p.from, &p.to} {
		h, ok := r.resolve(revs[i])
		if !ok {
			return nil, false, ambiguous(revs[i])
		}
		_, t, err := r.peel(h)
		if err != nil || t != plumbing.BlobObject {
			return nil, false, err
		}
		name := revs[i]
		if _, file, ok := cutColon(name); ok {
			name = file
		}
		*s = side{name: name, mode: filemode.Regular, hash: h}
	}
	return p, true, nil
}

// diffNoIndex compares two files that no repository needs to know.
func (g *git) diffNoIndex(p *parsed, cause error) error {
	if len(p.operands) != 2 {
		if cause != nil && !p.has("no-index") {
			g.complain("warning: Not a git repository. Use --no-index to compare two paths outside a working tree")
		}
		return g.usage("")
	}
	cfg, err := g.config()
	if err != nil {
		return err
	}
	r := &repo{git: g, cfg: cfg, work: "/"}
	f, err := r.diffOptions(p)
	if err != nil {
		return err
	}
	if !f.chosen() {
		f.patch = true
	}
	pair := &filePair{status: 'M'}
	for i, s := range []*side{&pair.from, &pair.to} {
		a, err := g.FS.Stat(p.operands[i])
		if err != nil {
			return failf("Could not access '%s'", p.operands[i])
		}
		b, err := g.FS.ReadFile(p.operands[i], maxBlob)
		if err != nil {
			return err
		}
		*s = side{name: strings.TrimPrefix(p.operands[i], "/"), mode: modeOf(&a), hash: hashData(b), data: b, read: true}
	}
	if pair.from.hash == pair.to.hash {
		return nil
	}
	if err := r.showDetached([]*filePair{pair}, f); err != nil {
		return err
	}
	return status(1)
}

// showDetached prints pairs without a repository to abbreviate by.
func (r *repo) showDetached(pairs []*filePair, f *diffForm) error {
	if f.quiet {
		return nil
	}
	return r.show(pairs, f)
}
