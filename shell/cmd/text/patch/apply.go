package patch

import (
	"strings"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// application is one patch being applied to one file.
type application struct {
	*patcher
	t        target
	out      string // the name of the result
	link     bool   // the file is a symlink, its target the text
	hunks    int
	failures int
	mismatch bool // not everything fit exactly
	rejected []byte
}

// prepare reads the file and says what is being done.
func (a *application) prepare() error {
	p, h := a.patcher, a.head
	if p.skip {
		return nil
	}
	kind := h.fileType()
	if kind == 0 {
		p.say("File %s: can't change file type from 0%o to 0%o.\n", p.quote(p.name), h.modes[p.reversed()]&vfs.ModeTypeMask, h.modes[1-p.reversed()]&vfs.ModeTypeMask)
		p.skip, p.failed = true, true
	}
	a.out = p.name
	switch {
	case p.set.outFile != "":
		a.out = p.set.outFile
	case (h.rename || h.copy) && p.set.name == "":
		a.out = h.names[1-p.reversed()]
	}
	a.link = kind == vfs.ModeSymlink
	if !p.skip && p.missing == nil && p.attr.Mode&vfs.ModeTypeMask != kind {
		what := "regular file"
		if a.link {
			what = "symbolic link"
		}
		p.say("File %s is not a %s -- refusing to patch\n", p.quote(p.name), what)
		p.skip, p.failed = true, true
	}
	a.readOnly()
	if p.skip {
		return nil
	}
	if err := p.settle(); err != nil {
		return err
	}
	if err := a.read(); err != nil {
		return err
	}
	a.announce()
	return nil
}

// settle does what is queued when this patch is of what that makes of the file,
// which the names that git has for the contents tell.
func (p *patcher) settle() error {
	old := p.head.hashes[p.reversed()]
	for i := range p.queue {
		q := &p.queue[i]
		if q.name != p.name || q.remove || old == "" || q.hash != old {
			continue
		}
		if err := p.flush(); err != nil {
			return err
		}
		p.attr, p.missing = p.look(p.name)
		return nil
	}
	return nil
}

// readOnly says, or refuses, that a file may not be written.
func (a *application) readOnly() {
	p := a.patcher
	if p.skip || p.set.readOnly == "ignore" || p.missing != nil || p.attr.IsSymlink() || p.fs.Access(p.name, vfs.MayWrite) == nil {
		return
	}
	if p.set.readOnly == "warn" {
		p.say("File %s is read-only; trying to patch anyway\n", p.quote(p.name))
		return
	}
	p.say("File %s is read-only; refusing to patch\n", p.quote(p.name))
	p.skip, p.failed = true, true
}

// read reads the file to patch.
func (a *application) read() error {
	p := a.patcher
	a.t.loose = p.set.loose
	switch {
	case p.missing != nil:
		return nil
	case a.link:
		s, err := p.fs.Readlink(p.name)
		if err != nil {
			return fatalf("Can't read symbolic link %s : %s", p.quote(p.name), command.Strerror(err))
		}
		a.t.lines = splitLines([]byte(s))
		return nil
	}
	f, err := p.fs.Open(p.name)
	if err != nil {
		return fatalf("Can't open file %s : %s", p.quote(p.name), command.Strerror(err))
	}
	data, err := p.readAll(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fatalf("Can't read file %s : %s", p.quote(p.name), command.Strerror(err))
	}
	a.t.lines = splitLines(data)
	return nil
}

// announce says which file is being patched.
func (a *application) announce() {
	p, h := a.patcher, a.head
	if p.set.silent {
		return
	}
	verb, kind := "patching", "file"
	if p.set.dry {
		verb = "checking"
	}
	if a.link {
		kind = "symbolic link"
	}
	p.say("%s %s %s", verb, kind, p.quote(a.out))
	how, from := "read", p.name
	switch {
	case h.copy:
		how = "copied"
	case h.rename:
		how = "renamed"
	}
	if a.out == p.name && (h.copy || h.rename) {
		how, from = "already "+how, h.names[p.reversed()]
	}
	if a.out != from {
		p.say(" (%s from %s)", how, p.quote(from))
	}
	p.say("\n")
	p.chat("Using Plan A...\n")
}

// hunk applies one hunk, or rejects it.
func (a *application) hunk(k *hunk) error {
	p := a.patcher
	a.hunks++
	where, fuzz := 0, 0
	if !p.skip {
		where, fuzz = a.find(k)
	}
	at := k.first
	if where > 0 {
		at = where
	}
	at += a.t.growth
	ok := !p.skip && where > 0
	if ok && where == 1 && p.head.says[p.reversed()] == 2 && p.missing == nil && p.attr.Size > 0 {
		ok = false
	}
	if ok {
		if err := p.grow(k); err != nil {
			return err
		}
		if ok = a.t.apply(k, where); !ok {
			p.say("misordered hunks! output would be garbled\n")
		}
	}
	if !ok {
		a.reject(k)
		a.failures++
		switch {
		case p.skip:
			p.chat("Hunk #%d ignored at %d.\n", a.hunks, at)
		case !p.set.silent:
			note := ""
			if a.otherEnds(k, at) {
				note = " (different line endings)"
			}
			p.say("Hunk #%d FAILED at %d%s.\n", a.hunks, at, note)
		}
		return nil
	}
	if p.set.verbose || !p.set.silent && (fuzz > 0 || a.t.drift != 0) {
		p.say("Hunk #%d succeeded at %d", a.hunks, at)
		if fuzz > 0 {
			p.say(" with fuzz %d", fuzz)
		}
		if d := a.t.drift; d != 0 {
			s := "s"
			if d == 1 {
				s = ""
			}
			p.say(" (offset %d line%s)", d, s)
		}
		p.say(".\n")
	}
	return nil
}

// grow announces what a hunk adds.
func (p *patcher) grow(k *hunk) error {
	n := int64(0)
	for _, l := range k.new {
		n += int64(len(l.text))
	}
	if err := p.c.Memory.Grow(n); err != nil {
		return fatalf("out of memory")
	}
	p.held += n
	return nil
}

// find looks for the place of a hunk, with more and more fuzz. If the first
// hunk fits only the other way round, the patch may be reversed.
func (a *application) find(k *hunk) (where, fuzz int) {
	p := a.patcher
	most := min(p.set.fuzz, max(k.prefix, k.suffix))
	for ; fuzz <= most && !p.skip; fuzz++ {
		where = a.t.locate(k, fuzz)
		if where == 0 || fuzz > 0 || a.t.drift != 0 {
			a.mismatch = true
		}
		if a.hunks == 1 && where == 0 && !p.set.force && !p.anyway && p.reverse == p.set.reverse {
			k.swap()
			where = a.t.locate(k, fuzz)
			what := "Reversed (or previously applied)"
			if p.reverse {
				what = "Unreversed"
			}
			if where != 0 && p.okToReverse("%s patch detected!", what) {
				p.reverse = !p.reverse
			} else {
				k.swap()
				if where != 0 {
					p.anyway = true
					fuzz--
					where = 0
				}
			}
		}
		if where != 0 {
			return where, fuzz
		}
	}
	return 0, fuzz
}

// otherEnds reports whether a hunk would have other line ends than the lines of
// the file.
func (a *application) otherEnds(k *hunk, at int) bool {
	if len(k.old) == 0 || at < 1 || at > len(a.t.lines) {
		return false
	}
	crlf := func(line []byte) bool { return strings.HasSuffix(string(line), "\r\n") }
	return crlf(k.old[0].text) != crlf(a.t.lines[at-1])
}

// finish puts the result in its place, and says how it went.
func (a *application) finish() error {
	p := a.patcher
	if !p.skip {
		if p.missing != nil && a.failures > 0 {
			if err := p.keep(a.out); err != nil {
				return err
			}
			return fatalf("Can't reopen file %s : %s", p.quote(p.name), command.Strerror(p.missing))
		}
		a.t.take(len(a.t.lines) + 1)
		if err := a.place(); err != nil {
			return err
		}
	}
	if a.failures == 0 {
		return nil
	}
	p.failed = true
	s, how := "s", "FAILED"
	if a.hunks == 1 {
		s = ""
	}
	if p.skip {
		how = "ignored"
	}
	p.say("%d out of %d hunk%s %s", a.failures, a.hunks, s, how)
	if a.out == "" || p.set.rejects == "-" {
		p.say("\n")
		return nil
	}
	name := p.set.rejects
	if name == "" {
		name = a.out + ".rej"
	}
	if p.set.dry {
		p.say("\n")
		return nil
	}
	p.say(" -- saving rejects to file %s\n", p.quote(name))
	if p.set.rejects != "" {
		p.rej = append(p.rej, a.rejected...)
		return nil
	}
	return p.write(name, a.rejected, 0o666&^p.fs.Op.Umask)
}
