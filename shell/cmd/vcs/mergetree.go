package vcs

import (
	"sort"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// treeMerge merges two sets of files that come from a common one.
type treeMerge struct {
	*repo
	base, ours, theirs map[string]treeFile
	labels             [2]string
	favor              string // "ours", "theirs": how to settle conflicts
	// result are the merged files; stages those of names in conflict, with what
	// is to stand in the work tree.
	result    map[string]treeFile
	conflicts map[string]*conflict
	messages  []string
}

// conflict is a name that could not be merged.
type conflict struct {
	stages [3]treeFile // base, ours, theirs; mode 0 where there is none
	file   treeFile    // what the work tree gets
}

// run merges name by name. Renames of one side take the other side's edits
// along.
func (m *treeMerge) run() error {
	m.result, m.conflicts = map[string]treeFile{}, map[string]*conflict{}
	if err := m.followRenames(); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, set := range []map[string]treeFile{m.base, m.ours, m.theirs} {
		for n := range set {
			names[n] = true
		}
	}
	list := make([]string, 0, len(names))
	for n := range names {
		list = append(list, n)
	}
	sort.Strings(list)
	for _, n := range list {
		if err := m.one(n); err != nil {
			return err
		}
	}
	return m.directories(list)
}

// followRenames gives the other side's file the new name, when one side renamed
// it, so that the two meet.
func (m *treeMerge) followRenames() error {
	move := func(side, other map[string]treeFile) error {
		pairs, err := m.findRenames(comparePairs(m.base, side, nil), renameScore, false)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			if p.status != 'R' {
				continue
			}
			from, to := p.from.name, p.to.name
			f, has := other[from]
			_, taken := other[to]
			if !has || taken {
				continue
			}
			other[to], m.base[to] = f, m.base[from]
			delete(other, from)
			delete(m.base, from)
		}
		return nil
	}
	m.base, m.ours, m.theirs = clone(m.base), clone(m.ours), clone(m.theirs)
	if err := move(m.ours, m.theirs); err != nil {
		return err
	}
	return move(m.theirs, m.ours)
}

func clone(files map[string]treeFile) map[string]treeFile {
	out := make(map[string]treeFile, len(files))
	for n, f := range files {
		out[n] = f
	}
	return out
}

// one merges one name.
func (m *treeMerge) one(n string) error {
	b, inB := m.base[n]
	o, inO := m.ours[n]
	t, inT := m.theirs[n]
	take := func(f treeFile, in bool) {
		if in {
			m.result[n] = f
		}
	}
	switch {
	case inO == inT && o == t, inT == inB && t == b:
		take(o, inO)
		return nil
	case inO == inB && o == b:
		take(t, inT)
		return nil
	case !inO || !inT:
		m.deleted(n, b, o, t, inO)
		return nil
	}
	return m.content(n, b, o, t)
}

// deleted is an edit against a deletion.
func (m *treeMerge) deleted(n string, b, o, t treeFile, inO bool) {
	if m.favor == "ours" && !inO || m.favor == "theirs" && inO {
		return
	}
	keep, gone, here := o, m.labels[1], m.labels[0]
	if !inO {
		keep, gone, here = t, m.labels[0], m.labels[1]
	}
	if m.favor != "" {
		m.result[n] = keep
		return
	}
	m.conflicts[n] = &conflict{stages: [3]treeFile{b, o, t}, file: keep}
	m.messages = append(m.messages, "CONFLICT (modify/delete): "+n+" deleted in "+gone+" and modified in "+here+".  Version "+here+" of "+n+" left in tree.")
}

// content merges two edits of a file.
func (m *treeMerge) content(n string, b, o, t treeFile) error {
	mode := o.mode
	if o.mode == b.mode {
		mode = t.mode
	}
	if typeChange(o.mode, t.mode) || o.mode == filemode.Symlink || o.mode == filemode.Submodule {
		if m.settle(n, o, t) {
			return nil
		}
		m.conflicts[n] = &conflict{stages: [3]treeFile{b, o, t}, file: o}
		m.messages = append(m.messages, "CONFLICT ("+m.kind(b)+"): Merge conflict in "+n)
		return nil
	}
	base := b
	if typeChange(b.mode, o.mode) {
		base = treeFile{}
	}
	data := make([][]byte, 3)
	for i, f := range []treeFile{base, o, t} {
		var err error
		if data[i], err = m.blob(f.hash); err != nil {
			return err
		}
	}
	if o.hash == t.hash {
		m.result[n] = treeFile{mode, o.hash}
		return nil
	}
	if isBinary(data[0]) || isBinary(data[1]) || isBinary(data[2]) {
		if m.settle(n, o, t) {
			return nil
		}
		m.conflicts[n] = &conflict{stages: [3]treeFile{b, o, t}, file: o}
		m.messages = append(m.messages, "warning: Cannot merge binary files: "+n+" ("+m.labels[0]+" vs. "+m.labels[1]+")", "Auto-merging "+n,
			"CONFLICT ("+m.kind(b)+"): Merge conflict in "+n)
		return nil
	}
	merged, conflicts, err := m.merge3(data[0], data[1], data[2], m.labels)
	if err != nil {
		return err
	}
	m.messages = append(m.messages, "Auto-merging "+n)
	if conflicts > 0 && m.settle(n, o, t) {
		return nil
	}
	h, err := m.store(plumbing.BlobObject, merged)
	if err != nil {
		return err
	}
	if conflicts > 0 {
		m.conflicts[n] = &conflict{stages: [3]treeFile{b, o, t}, file: treeFile{mode, h}}
		m.messages = append(m.messages, "CONFLICT ("+m.kind(b)+"): Merge conflict in "+n)
		return nil
	}
	m.result[n] = treeFile{mode, h}
	return nil
}

func (m *treeMerge) kind(b treeFile) string {
	if b.mode == 0 {
		return "add/add"
	}
	return "content"
}

// settle takes a side when -X says which.
func (m *treeMerge) settle(n string, o, t treeFile) bool {
	switch m.favor {
	case "ours":
		m.result[n] = o
	case "theirs":
		m.result[n] = t
	default:
		return false
	}
	return true
}

// directories looks for files of one side where the other has a directory.
func (m *treeMerge) directories(names []string) error {
	for i, n := range names {
		_, file := m.result[n]
		if !file && m.conflicts[n] == nil {
			continue
		}
		for _, below := range names[i+1:] {
			if len(below) <= len(n) || below[:len(n)] != n {
				break
			}
			if _, ok := m.result[below]; ok && below[len(n)] == '/' {
				return failf("file/directory conflict at %s: not supported", n)
			}
		}
	}
	return nil
}

// apply takes the index and the work tree from ours to the result.
func (m *treeMerge) apply(ix *stageIndex, current map[string]treeFile) error {
	target := clone(m.result)
	for n, c := range m.conflicts {
		target[n] = c.file
	}
	if err := m.switchTree(ix, current, target, false, "merge"); err != nil {
		return err
	}
	for n, c := range m.conflicts {
		ix.remove(n)
		for i, f := range c.stages {
			if f.mode != 0 {
				e := entryOf(n, f)
				e.Stage = stageOf(i + 1)
				ix.put(e)
			}
		}
	}
	return m.writeIndex(ix)
}
