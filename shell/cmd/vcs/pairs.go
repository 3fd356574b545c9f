package vcs

import (
	"bytes"
	"hash/maphash"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// renameScore is how alike, of 60000, two files must be to count as one that
// was renamed: half.
const (
	maxScore    = 60000
	renameScore = maxScore / 2
	// renameLimit bounds the pairs that are compared by content.
	renameLimit = 1000
)

// side is a file before or after.
type side struct {
	name string
	mode filemode.FileMode // 0: there is none
	hash plumbing.Hash     // zero for a file of the work tree that was not hashed
	// work says that the content is in the work tree.
	work bool
	data []byte
	read bool
}

// filePair is a file before and after.
type filePair struct {
	from, to side
	status   byte // A D M T R C U
	score    int  // of a rename, in percent
}

func (p *filePair) name() string {
	if p.to.mode == 0 && p.to.name == "" {
		return p.from.name
	}
	return p.to.name
}

// content reads a side.
func (r *repo) content(s *side) ([]byte, error) {
	if s.read || s.mode == 0 {
		return s.data, nil
	}
	var err error
	switch {
	case s.mode == filemode.Submodule:
		s.data = []byte("Subproject commit " + s.hash.String() + "\n")
	case s.work:
		a, e := r.lstat(s.name)
		if e != nil {
			return nil, e
		}
		s.data, err = r.fileData(s.name, &a)
	default:
		s.data, err = r.blob(s.hash)
	}
	s.read = err == nil
	return s.data, err
}

// newPair makes the pair of a name, or nil when nothing differs.
func newPair(name string, a, b treeFile, inA, inB bool) *filePair {
	p := &filePair{from: side{name: name}, to: side{name: name}}
	if inA {
		p.from.mode, p.from.hash = a.mode, a.hash
	}
	if inB {
		p.to.mode, p.to.hash = b.mode, b.hash
	}
	switch {
	case !inA && !inB || inA && inB && a == b:
		return nil
	case !inA:
		p.status = 'A'
	case !inB:
		p.status = 'D'
	case a.mode&0o170000 != b.mode&0o170000:
		p.status = 'T'
	default:
		p.status = 'M'
	}
	return p
}

// comparePairs compares two sets of files.
func comparePairs(a, b map[string]treeFile, specs pathspecs) []*filePair {
	var pairs []*filePair
	add := func(name string) {
		fa, inA := a[name]
		fb, inB := b[name]
		if specs.match(name) {
			if p := newPair(name, fa, fb, inA, inB); p != nil {
				pairs = append(pairs, p)
			}
		}
	}
	for name := range a {
		add(name)
	}
	for name := range b {
		if _, both := a[name]; !both {
			add(name)
		}
	}
	sortPairs(pairs)
	return pairs
}

func sortPairs(pairs []*filePair) {
	sort.SliceStable(pairs, func(i, j int) bool { return pairs[i].name() < pairs[j].name() })
}

// indexPairs compares a tree with the index. Unmerged names are left out.
func (r *repo) indexPairs(head map[string]treeFile, ix *stageIndex, specs pathspecs) []*filePair {
	files := make(map[string]treeFile, len(ix.Entries))
	unmerged := map[string]bool{}
	for _, e := range ix.Entries {
		switch {
		case e.Stage != 0:
			unmerged[e.Name] = true
		case !e.IntentToAdd:
			files[e.Name] = treeFile{e.Mode, e.Hash}
		}
	}
	pairs := comparePairs(head, files, specs)
	kept := pairs[:0]
	for _, p := range pairs {
		if !unmerged[p.name()] {
			kept = append(kept, p)
		}
	}
	return kept
}

// workPairs compares files with the work tree: base is the index's content, or
// a tree. Only names that the index or the base knows count.
func (r *repo) workPairs(ix *stageIndex, base map[string]treeFile, specs pathspecs) ([]*filePair, error) {
	var pairs []*filePair
	names := map[string]bool{}
	for _, e := range ix.Entries {
		names[e.Name] = true
	}
	for name := range base {
		names[name] = true
	}
	for name := range names {
		if !specs.match(name) {
			continue
		}
		p, err := r.workPair(ix, base, name)
		if err != nil {
			return nil, err
		}
		if p != nil {
			pairs = append(pairs, p)
		}
	}
	sortPairs(pairs)
	return pairs, nil
}

func (r *repo) workPair(ix *stageIndex, base map[string]treeFile, name string) (*filePair, error) {
	e := ix.at(name, 0)
	old, inA := base[name]
	if base == nil && e != nil {
		old, inA = treeFile{e.Mode, e.Hash}, !e.IntentToAdd
	}
	if e == nil {
		if ix.has(name) {
			return &filePair{from: side{name: name}, to: side{name: name}, status: 'U'}, nil
		}
		return newPair(name, old, treeFile{}, inA, false), nil
	}
	st, a, err := r.workState(ix, e)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return newPair(name, old, treeFile{}, inA, false), nil
	}
	now := treeFile{e.Mode, e.Hash}
	if st != 0 {
		now.mode = modeOf(a)
		b, err := r.fileData(name, a)
		if err != nil {
			return nil, err
		}
		now.hash = hashData(b)
	}
	p := newPair(name, old, now, inA, true)
	if p != nil {
		p.to.work = st != 0
	}
	return p, nil
}

// findRenames joins deletions and additions of files that are alike. With
// copies, files that were modified count as sources too.
func (r *repo) findRenames(pairs []*filePair, minimum int, copies bool) ([]*filePair, error) {
	var gone, added []*filePair
	for _, p := range pairs {
		switch {
		case p.status == 'D' && p.from.mode != filemode.Submodule:
			gone = append(gone, p)
		case p.status == 'A' && p.to.mode != filemode.Submodule:
			added = append(added, p)
		case copies && p.status == 'M':
			gone = append(gone, p)
		}
	}
	if len(gone) == 0 || len(added) == 0 {
		return pairs, nil
	}
	used := map[*filePair]bool{}
	done := map[*filePair]bool{}
	join := func(from, to *filePair, score int) {
		done[to] = true
		to.from, to.score, to.status = from.from, score*100/maxScore, 'R'
		if from.status != 'D' || used[from] {
			to.status = 'C'
		}
		used[from] = true
	}
	exactRenames(gone, added, used, join)
	if err := r.alikeRenames(gone, added, minimum, used, done, join); err != nil {
		return nil, err
	}
	kept := pairs[:0]
	for _, p := range pairs {
		if p.status != 'D' || !used[p] {
			kept = append(kept, p)
		}
	}
	sortPairs(kept)
	return kept, nil
}

// exactRenames joins files of equal content, those of equal last name first.
func exactRenames(gone, added []*filePair, used map[*filePair]bool, join func(from, to *filePair, score int)) {
	byHash := map[plumbing.Hash][]*filePair{}
	for _, p := range gone {
		byHash[p.from.hash] = append(byHash[p.from.hash], p)
	}
	for _, to := range added {
		var best *filePair
		bestScore := -1
		for _, from := range byHash[to.to.hash] {
			if used[from] || to.to.hash == emptyBlob || from.from.mode&0o170000 != to.to.mode&0o170000 {
				continue
			}
			score := 0
			if baseName(from.from.name) == baseName(to.to.name) {
				score = 1
			}
			if score > bestScore {
				best, bestScore = from, score
			}
		}
		if best != nil {
			join(best, to, maxScore)
		}
	}
}

var emptyBlob = plumbing.NewHash("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")

func baseName(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' {
			return name[i+1:]
		}
	}
	return name
}

// alikeRenames joins files by how much content they share, the best first.
func (r *repo) alikeRenames(gone, added []*filePair, minimum int, used, done map[*filePair]bool, join func(from, to *filePair, score int)) error {
	type candidate struct {
		from, to *filePair
		score    int
		same     bool
	}
	var found []candidate
	prints := map[*side]map[uint64]int{}
	left := renameLimit * renameLimit
	for _, to := range added {
		if done[to] {
			continue
		}
		for _, from := range gone {
			if used[from] || from.from.mode&0o170000 != to.to.mode&0o170000 || to.to.mode == filemode.Symlink {
				continue
			}
			if left--; left < 0 || r.ctx.Err() != nil {
				return r.ctx.Err()
			}
			score, err := r.similarity(&from.from, &to.to, minimum, prints)
			if err != nil {
				return err
			}
			if score >= minimum {
				found = append(found, candidate{from, to, score, baseName(from.from.name) == baseName(to.to.name)})
			}
		}
	}
	sort.SliceStable(found, func(i, j int) bool {
		if found[i].score != found[j].score {
			return found[i].score > found[j].score
		}
		return found[i].same && !found[j].same
	})
	for _, c := range found {
		if !used[c.from] && !done[c.to] {
			join(c.from, c.to, c.score)
		}
	}
	return nil
}

// chunkSeed makes the fingerprints of one process comparable.
var chunkSeed = maphash.MakeSeed()

// fingerprint counts the bytes of each distinct line, or piece of 64 bytes.
func fingerprint(b []byte) map[uint64]int {
	counts := map[uint64]int{}
	text := !isBinary(b)
	for len(b) > 0 {
		n := bytes.IndexByte(b[:min(len(b), 64)], '\n') + 1
		if n == 0 {
			n = min(len(b), 64)
		}
		piece := b[:n]
		b = b[n:]
		if text && n > 1 && piece[n-1] == '\n' && piece[n-2] == '\r' {
			piece = append(append([]byte{}, piece[:n-2]...), '\n')
		}
		counts[maphash.Bytes(chunkSeed, piece)] += len(piece)
	}
	return counts
}

// similarity estimates how much of a file is in another, of maxScore.
func (r *repo) similarity(a, b *side, minimum int, prints map[*side]map[uint64]int) (int, error) {
	da, err := r.content(a)
	if err != nil {
		return 0, err
	}
	db, err := r.content(b)
	if err != nil {
		return 0, err
	}
	large, small := max(len(da), len(db)), min(len(da), len(db))
	if small == 0 || large-small > large*(maxScore-minimum)/maxScore {
		return 0, nil
	}
	for s, d := range map[*side][]byte{a: da, b: db} {
		if prints[s] == nil {
			prints[s] = fingerprint(d)
		}
	}
	copied := 0
	for h, n := range prints[a] {
		copied += min(n, prints[b][h])
	}
	return copied * maxScore / large, nil
}
