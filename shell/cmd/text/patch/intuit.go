package patch

import (
	"math"

	"github.com/vfsd/vfsd/vfs"
)

// look is stat(2), of a symlink itself unless told to follow.
func (p *patcher) look(name string) (vfs.Attr, error) {
	for i := range p.queue {
		if q := &p.queue[i]; q.name == name {
			if q.remove {
				return vfs.Attr{}, orMissing(nil)
			}
		}
	}
	if p.set.follow {
		return p.fs.Stat(name)
	}
	return p.fs.Lstat(name)
}

// fileType is the type of the file that the patch is for.
func (h *header) fileType() uint32 {
	old, changed := h.modes[oldName]&vfs.ModeTypeMask, h.modes[newName]&vfs.ModeTypeMask
	switch {
	case old != 0 && changed != 0 && old != changed:
		return 0
	case old != 0:
		return old
	case changed != 0:
		return changed
	}
	return vfs.ModeRegular
}

// intuit finds the name of the file to patch, by the rules of POSIX with those
// that GNU has added, and sees whether the patch is the wrong way round.
func (p *patcher) intuit() {
	h := p.head
	if p.set.name != "" {
		p.name = p.set.name
		p.attr, p.missing = p.look(p.name)
		if p.missing != nil || p.attr.Mode&vfs.ModeTypeMask == h.fileType() {
			p.maybeReversed(p.name, p.missing != nil, p.missing != nil || p.attr.Size == 0)
		}
		return
	}
	if !p.set.posix && (h.names[oldName] != "" || h.names[newName] != "") {
		h.names[indexName] = ""
	}
	var attrs [3]vfs.Attr
	var errs [3]error
	last, chosen := noName, noName
	for i, name := range h.names {
		if name == "" {
			continue
		}
		attrs[i], errs[i] = p.look(name)
		last = i
		if errs[i] == nil && p.set.posix && p.safe(name) {
			chosen = i
			break
		}
	}
	if !p.set.posix {
		chosen = p.choose(last, &attrs, &errs)
	}
	r := p.reversed()
	if (h.rename || h.copy) && (chosen > newName || h.names[1-r] == "" || !p.safe(h.names[1-r])) {
		verb := "copy"
		if h.rename {
			verb = "rename"
		}
		p.say("Cannot %s file without two valid file names\n", verb)
		p.skip = true
	}
	if chosen != noName {
		p.name, p.attr, p.missing = h.names[chosen], attrs[chosen], errs[chosen]
	}
}

// reversed is 1 when the patch is applied backwards: then the new file is the
// one to patch.
func (p *patcher) reversed() int {
	if p.reverse {
		return 1
	}
	return 0
}

// choose picks one of the names: the best of the files that are there, or the
// best name to make.
func (p *patcher) choose(last int, attrs *[3]vfs.Attr, errs *[3]error) int {
	h := p.head
	i := p.best(&h.names, func(i int) bool { return errs[i] != nil })
	if last == noName {
		return i
	}
	if i == noName || attrs[i].Mode&vfs.ModeTypeMask == h.fileType() {
		name := h.names[last]
		if i != noName {
			name = h.names[i]
		}
		if p.maybeReversed(name, i == noName, i == noName || attrs[i].Size == 0) && i == noName {
			i = last
		}
	}
	if i != noName || h.says[p.reversed()] == 0 {
		return i
	}
	// Of the names to make, those that need the fewest new directories.
	var dirs [3]int
	least := math.MaxInt
	for k, name := range h.names {
		if name == "" {
			continue
		}
		dirs[k] = math.MaxInt
		if p.safe(name) {
			dirs[k] = p.components(name, false) - p.components(name, true)
		}
		least = min(least, dirs[k])
	}
	return p.best(&h.names, func(k int) bool { return dirs[k] != least })
}

// maybeReversed sees whether a patch would make what is there, or unmake what
// is not, and asks whether to reverse it. It reports whether it looks so.
func (p *patcher) maybeReversed(name string, missing, empty bool) bool {
	h := p.head
	flip := func(b bool) int {
		if b {
			return 1 - p.reversed()
		}
		return p.reversed()
	}
	full := 1
	if empty {
		full = 0
	}
	if empty && h.says[flip(missing)] == 1 && h.says[1-flip(missing)] == 2 {
		return false
	}
	if full >= h.says[flip(empty)] {
		return false
	}
	when, verb, state := "", "create", "already exists"
	if p.reverse {
		when = ", when reversed,"
	}
	switch {
	case missing:
		verb, state = "delete", "does not exist"
	case empty:
		verb, state = "empty out", "is already empty"
	}
	if p.okToReverse("The next patch%s would %s the file %s,\nwhich %s!", when, verb, p.quote(name), state) {
		p.reverse = !p.reverse
	}
	return true
}

// okToReverse asks what to do about a patch that seems the wrong way round.
func (p *patcher) okToReverse(format string, args ...any) bool {
	s := &p.set
	if s.forward || !(s.force && s.silent) {
		p.say(format, args...)
	}
	switch {
	case s.forward:
		p.say("  Skipping patch.\n")
		p.skip = true
	case s.force:
		if !s.silent {
			p.say("  Applying it anyway.\n")
		}
	case s.batch:
		if p.reverse {
			p.say("  Ignoring -R.\n")
		} else {
			p.say("  Assuming -R.\n")
		}
		return true
	default:
		if p.reverse {
			p.ask("  Ignore -R? [n] ")
		} else {
			p.ask("  Assume -R? [n] ")
		}
		p.ask("Apply anyway? [n] ")
		if !s.silent {
			p.say("Skipping patch.\n")
		}
		p.skip = true
	}
	return false
}
