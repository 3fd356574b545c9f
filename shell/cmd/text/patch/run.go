package patch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// patcher is one run of patch.
type patcher struct {
	c   *command.Context
	ctx context.Context
	set settings
	fs  *vfs.Walker // in the directory of -d
	in  *intake

	held   int64 // bytes on the account
	failed bool
	warned map[string]bool // names that were refused
	seen   map[string]bool // files that this run has written
	queue  []placement     // what git's patches do, at their end
	outs   []byte          // what goes to -o FILE
	rej    []byte          // what goes to -r FILE

	// The present patch.
	reverse bool
	skip    bool // leave out the rest of it
	anyway  bool // apply it although it looks applied
	head    *header
	name    string // the file to patch; "" when it is not known
	attr    vfs.Attr
	missing error // why there is no such file
}

// say prints a message on standard output, or standard error when that is where
// the patched file goes.
func (p *patcher) say(format string, args ...any) {
	if p.set.outFile == "-" {
		fmt.Fprintf(p.c.Stderr, format, args...)
		return
	}
	fmt.Fprintf(p.c.Stdout, format, args...)
}

// ask asks a question that nobody is there to answer.
func (p *patcher) ask(format string, args ...any) { p.say(format+"\n", args...) }

func (p *patcher) quote(name string) string { return p.c.QuoteName(name) }

func orMissing(err error) error {
	if err == nil {
		return syscall.ENOENT
	}
	return err
}

// date reads a time of a header.
func (p *patcher) date(s string) (time.Time, bool) {
	if strings.TrimSpace(s) == "" {
		return time.Time{}, false
	}
	now := p.c.Now().In(p.c.Location)
	if p.set.utc || !p.set.setTime {
		now = now.UTC()
	}
	load := func(string) *time.Location { return nil }
	return gnulib.ParseDate(strings.TrimSpace(s), now, load)
}

// run applies all patches of the patch file.
func (p *patcher) run() error {
	data, err := p.readPatch()
	if err != nil {
		return err
	}
	p.in = newIntake(data)
	if err := p.checkOut(); err != nil {
		return err
	}
	for {
		p.reverse, p.skip, p.anyway = p.set.reverse, false, false
		p.name, p.missing = "", nil
		more, err := p.another()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := p.one(); err != nil {
			return err
		}
	}
	if err := p.flush(); err != nil {
		return err
	}
	return p.finish()
}

// checkOut sees that the file of -o can be made.
func (p *patcher) checkOut() error {
	name := p.set.outFile
	if name == "" || name == "-" {
		return nil
	}
	found, err := p.fs.Walk(name, true)
	if err == nil && found.Exists && found.Attr.IsDir() {
		err = syscall.EISDIR
	}
	if err != nil {
		return fatalf("Can't create file %s : %s", p.quote(name), command.Strerror(err))
	}
	return nil
}

// readPatch reads the patch file whole.
func (p *patcher) readPatch() ([]byte, error) {
	name := p.set.patchFile
	var src io.ReadCloser
	var err error
	if name == "" || name == "-" {
		src, err = p.c.Open("-")
	} else {
		src, err = p.fs.Open(name)
	}
	if err != nil {
		return nil, fatalf("Can't open patch file %s : %s", p.quote(name), command.Strerror(err))
	}
	defer src.Close()
	data, err := p.readAll(src)
	if err != nil {
		return nil, fatalf("read error : %s", command.Strerror(err))
	}
	return data, nil
}

// readAll reads a stream, announcing what it takes.
func (p *patcher) readAll(src io.Reader) ([]byte, error) {
	var b []byte
	for {
		if err := p.ctx.Err(); err != nil {
			return nil, err
		}
		if len(b) == cap(b) {
			more := max(int64(cap(b)), 8<<10)
			// The lines take about as much again.
			if err := p.c.Memory.Grow(2 * more); err != nil {
				return nil, err
			}
			p.held += 2 * more
			grown := make([]byte, len(b), int64(cap(b))+more)
			copy(grown, b)
			b = grown
		}
		n, err := src.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// formNames are what --verbose calls the forms.
var formNames = map[form]string{
	formUnified: "a unified diff", formContext: "a context diff", formNewContext: "a new-style context diff", formNormal: "a normal diff", formGitBinary: "a git binary diff",
}

// another finds the next patch, and the file that it is for.
func (p *patcher) another() (more bool, err error) {
	in := p.in
	first := in.base == 0
	if in.base > 0 && in.base >= len(in.lines) {
		p.chat("done\n")
		return false, nil
	}
	p.chat("Hmm...")
	if p.head, err = p.scan(p.set.name == "" && !p.set.posix); err != nil {
		return false, err
	}
	h := p.head
	if h.form == formNone {
		if !first {
			p.chat("  Ignoring the trailing garbage.\ndone\n")
			return false, nil
		}
		p.chat("  I can't seem to find a patch in there anywhere.\n")
		if len(in.lines) > 0 || in.partial {
			return false, fatalf("Only garbage was found in the patch input.")
		}
		return false, nil
	}
	p.intuit()
	defer func() { in.next = h.start }()
	if p.skip {
		return true, nil
	}
	if first {
		p.chat("  Looks like %s to me...\n", formNames[h.form])
	} else {
		p.chat("  The next patch looks like %s to me...\n", formNames[h.form])
	}
	p.describe()
	if p.name == "" {
		p.noFile()
	}
	return true, nil
}

// chat says what only --verbose wants to know.
func (p *patcher) chat(format string, args ...any) {
	if p.set.verbose {
		p.say(format, args...)
	}
}

// describe says what there is to be said about a patch that was found.
func (p *patcher) describe() {
	in, h := p.in, p.head
	if !p.set.silent {
		if in.indent > 0 {
			s := "s"
			if in.indent == 1 {
				s = ""
			}
			p.say("(Patch is indented %d space%s.)\n", in.indent, s)
		}
		if in.stripCR {
			p.say("(Stripping trailing CRs from patch; use --binary to disable.)\n")
		}
		if p.name == "" {
			p.say("can't find file to patch at input line %d\n", h.number)
			switch {
			case h.form == formNormal:
			case p.set.strip < 0:
				p.say("Perhaps you should have used the -p or --strip option?\n")
			default:
				p.say("Perhaps you used the wrong -p or --strip option?\n")
			}
		}
	}
	if (p.set.verbose || p.name == "") && in.base < h.start {
		p.say("The text leading up to this was:\n--------------------------\n")
		for _, line := range in.lines[in.base:h.start] {
			p.say("|%s", line)
		}
		p.say("--------------------------\n")
	}
}

// noFile gives up on a patch whose file is not known.
func (p *patcher) noFile() {
	p.skip = true
	if p.set.force || p.set.batch {
		p.say("No file to patch.  Skipping patch.\n")
		return
	}
	p.ask("File to patch: ")
	p.ask("Skip this patch? [y] ")
	if !p.set.silent {
		p.say("Skipping patch.\n")
	}
}

// one applies the patch that was found.
func (p *patcher) one() error {
	h := p.head
	if !h.git {
		if err := p.flush(); err != nil {
			return err
		}
	}
	a := &application{patcher: p, t: target{ctx: p.ctx}}
	if h.form == formGitBinary {
		p.say("File %s: git binary diffs are not supported.\n", p.quote(p.name))
		p.skip, p.failed = true, true
		p.in.base = p.in.next + 1
		return nil
	}
	if err := a.prepare(); err != nil {
		return err
	}
	for {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		k, err := p.hunk(h.form)
		if err != nil {
			return err
		}
		if k == nil {
			break
		}
		if err := a.hunk(k); err != nil {
			return err
		}
	}
	return a.finish()
}

// lines divides text into lines with their newlines.
func splitLines(data []byte) [][]byte {
	var lines [][]byte
	for len(data) > 0 {
		n := bytes.IndexByte(data, '\n') + 1
		if n == 0 {
			n = len(data)
		}
		lines = append(lines, data[:n:n])
		data = data[n:]
	}
	return lines
}
