package vcs

import (
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// movedTo is where a checkout of the reflog went.
func movedTo(message string) string {
	rest, ok := strings.CutPrefix(message, "checkout: moving from ")
	if !ok {
		return ""
	}
	_, to, _ := strings.Cut(rest, " to ")
	return to
}

// switchTree takes the index and the work tree from one tree to another: only
// files that differ between the two are touched, and none that has changes of
// its own unless force is set.
func (r *repo) switchTree(ix *stageIndex, from, to map[string]treeFile, force bool, what string) error {
	names := map[string]bool{}
	for n := range from {
		names[n] = true
	}
	for n := range to {
		names[n] = true
	}
	if force {
		for _, e := range ix.Entries {
			names[e.Name] = true
		}
	}
	var list []string
	for n := range names {
		list = append(list, n)
	}
	sort.Strings(list)
	var update, remove, local, untracked []string
	for _, n := range list {
		old, inOld := from[n]
		now, inNew := to[n]
		if inOld == inNew && old == now && !force {
			continue
		}
		if !force {
			state, err := r.overwritten(ix, n, old, inOld, now, inNew)
			if err != nil {
				return err
			}
			switch state {
			case 'L':
				local = append(local, n)
				continue
			case 'U':
				untracked = append(untracked, n)
				continue
			case 'K':
				continue
			}
		}
		if inNew {
			update = append(update, n)
		} else {
			remove = append(remove, n)
		}
	}
	if err := r.refuse(local, untracked, what); err != nil {
		return err
	}
	for _, n := range remove {
		if ix.has(n) || !force {
			if err := r.removeFile(n); err != nil {
				return err
			}
		}
		ix.remove(n)
	}
	for _, n := range update {
		if err := r.put(ix, n, to[n], force); err != nil {
			return err
		}
	}
	return nil
}

// put writes a file of a tree to the work tree and the index. With force it
// looks first whether the file is that already.
func (r *repo) put(ix *stageIndex, name string, f treeFile, force bool) error {
	if e := ix.at(name, 0); force && e != nil && e.Hash == f.hash && e.Mode == f.mode {
		if st, _, err := r.workState(ix, e); err == nil && st == 0 {
			return nil
		}
	}
	a, err := r.writeFile(name, f)
	if err != nil {
		return failf("unable to create file %s: %v", name, err)
	}
	e := entryOf(name, f)
	if f.mode != filemode.Submodule {
		fillStat(e, &a)
	}
	ix.put(e)
	return nil
}

// overwritten says what would be lost by going from old to now: 0 nothing, L
// local changes, U a file that is not tracked, K nothing to do since the index
// is there already.
func (r *repo) overwritten(ix *stageIndex, name string, old treeFile, inOld bool, now treeFile, inNew bool) (byte, error) {
	e := ix.at(name, 0)
	if e == nil {
		if ix.has(name) {
			return 'L', nil
		}
		if !inNew {
			return 'K', nil
		}
		if inOld {
			return 'L', nil // removed from the index
		}
		a, err := r.lstat(name)
		if absent(err) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		if a.IsDir() {
			return 0, nil
		}
		b, err := r.fileData(name, &a)
		if err != nil {
			return 0, err
		}
		if hashData(b) == now.hash {
			return 0, nil
		}
		if _, ignored := r.ignoredBy(name, false); ignored {
			return 0, nil
		}
		return 'U', nil
	}
	if inNew && e.Hash == now.hash && e.Mode == now.mode {
		return 'K', nil
	}
	if !inOld || e.Hash != old.hash || e.Mode != old.mode {
		return 'L', nil
	}
	st, _, err := r.workState(ix, e)
	if err != nil {
		return 0, err
	}
	if st == 'M' || st == 'T' {
		return 'L', nil
	}
	return 0, nil
}

// refuse says which files are in the way.
func (r *repo) refuse(local, untracked []string, what string) error {
	if len(local)+len(untracked) == 0 {
		return nil
	}
	verb := map[string]string{"checkout": "switch branches", "merge": "merge"}[what]
	if verb == "" {
		verb = what
	}
	if len(local) > 0 {
		r.complain("error: Your local changes to the following files would be overwritten by " + what + ":\n\t" + strings.Join(local, "\n\t") +
			"\nPlease commit your changes or stash them before you " + verb + ".")
	}
	if len(untracked) > 0 {
		r.complain("error: The following untracked working tree files would be overwritten by " + what + ":\n\t" + strings.Join(untracked, "\n\t") +
			"\nPlease move or remove them before you " + verb + ".")
	}
	r.complain("Aborting")
	return failure("")
}
