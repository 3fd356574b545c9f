package awk

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

// records reads the records of one stream, as RS says at each.
type records struct {
	r    *lines.Reader
	next bool // a newline at the start belongs to what was before (RS is "")
}

func newRecords(in *interp, src io.Reader) *records {
	return &records{r: lines.NewReader(src, in.c.Memory)}
}

// read returns the next record, and what ended it.
func (r *records) read(in *interp) (rec, end string, err error) {
	rs := in.special[vRS].string("%.6g")
	switch {
	case rs == "\n" || rs == "":
	case len(rs) == 1 && !(in.ignoring && isLetter(rs[0])):
	default:
		return r.byRegex(in, rs)
	}
	if rs == "" {
		return r.paragraph(in)
	}
	r.r.Delim = rs[0]
	line, ended, err := r.r.Next()
	if err != nil {
		return "", "", err
	}
	if ended {
		end = rs
	}
	return string(line), end, nil
}

// paragraph reads a record that blank lines end.
func (r *records) paragraph(in *interp) (rec, end string, err error) {
	r.r.Delim = '\n'
	var b strings.Builder
	newlines := 0
	for {
		line, ended, err := r.r.Next()
		if err == io.EOF && b.Len() > 0 {
			break
		}
		if err != nil {
			return "", "", err
		}
		if len(line) == 0 && ended {
			if b.Len() == 0 {
				continue // before the first
			}
			newlines = 2
			break
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		in.checkSize(b.Len())
		b.Write(line)
		newlines = 0
		if ended {
			newlines = 1
		}
	}
	// All blank lines that follow belong to the separator.
	for newlines == 2 || newlines > 2 {
		w, err := r.r.Window()
		if err != nil || w[0] != '\n' {
			break
		}
		r.r.Skip(1)
		newlines++
	}
	return b.String(), strings.Repeat("\n", newlines), nil
}

// byRegex reads a record that a match of RS ends. A match that reaches the end
// of what was read might go on, so more is read before it counts.
func (r *records) byRegex(in *interp, rs string) (rec, end string, err error) {
	re := in.compile(rs)
	w, err := r.r.Window()
	if err != nil {
		return "", "", err
	}
	var eof error
	for {
		from, to := -1, 0
		for at := 0; at <= len(w); {
			s, e, err := re.Find(in.ctx, w, at)
			in.regexDone(err)
			if s < 0 {
				break
			}
			if e > s {
				from, to = s, e
				break
			}
			at = s + 1
		}
		if from >= 0 && (to < len(w) || eof != nil) {
			rec, end = string(w[:from]), string(w[from:to])
			r.r.Skip(to)
			return rec, end, nil
		}
		if eof != nil {
			rec = string(w)
			r.r.Skip(len(w))
			// A last newline is no part of the last record.
			if strings.HasSuffix(rec, "\n") && !bytes.Contains([]byte(rs), []byte("\n")) {
				return rec[:len(rec)-1], "\n", nil
			}
			return rec, "", nil
		}
		if w, err = r.r.More(); err != nil {
			if err != io.EOF {
				return "", "", err
			}
			eof = err
		}
	}
}

// mainInput is the files of the command line, one after the other.
type mainInput struct {
	arg    int // index in ARGV of the next operand
	src    io.Closer
	recs   *records
	used   bool // some operand was a file
	done   bool
	noEnd  bool
	name   string
	failed bool
}

// next makes the next record the present one; false at the end of all input.
// exited is set when exit ran in a BEGINFILE or ENDFILE.
func (m *mainInput) next(in *interp) (ok, exited bool) {
	for {
		in.step()
		if m.recs == nil {
			open, exited := m.open(in)
			if !open || exited {
				return false, exited
			}
			continue
		}
		rec, end, err := m.recs.read(in)
		if err == nil {
			in.nr++
			in.fnr++
			in.setRecord(rec)
			in.special[vRT].value = text(end)
			return true, false
		}
		if err != io.EOF {
			m.readFailed(in, err)
		}
		if m.skipFile(in) {
			return false, true
		}
	}
}

func (m *mainInput) readFailed(in *interp, err error) {
	if in.ctx.Err() != nil {
		panic(&failure{status: 2})
	}
	if errors.Is(err, syscall.ENOMEM) {
		in.fatal("memory exhausted")
	}
	in.at = pos{}
	in.special[vERRNO].value = text(command.Strerror(err))
	in.fatal("error reading input file `%s': %s", m.name, command.Strerror(err))
}

// skipFile leaves the present file; true after an exit in ENDFILE.
func (m *mainInput) skipFile(in *interp) (exited bool) {
	if m.recs == nil {
		return false
	}
	for _, s := range in.prog.endFile {
		if in.action(s) == flowExit {
			exited = true
			break
		}
	}
	m.closeFile()
	return exited
}

func (m *mainInput) closeFile() {
	if m.recs != nil {
		m.recs.r.Release()
		m.recs = nil
	}
	if m.src != nil {
		m.src.Close()
		m.src = nil
	}
}

func (m *mainInput) close(in *interp) {
	if m.recs != nil && m.src == nil {
		m.recs.r.Unread() // standard input may have other readers after us
	}
	m.closeFile()
}

// open opens the next operand that is a file; operands that are assignments
// are done on the way.
func (m *mainInput) open(in *interp) (ok, exited bool) {
	if m.done {
		return false, false
	}
	argv := in.special[vARGV].arr
	for {
		argc := in.special[vARGC].float()
		if float64(m.arg) >= argc {
			break
		}
		e := argv.m[strconv.Itoa(m.arg)]
		m.arg++
		if e == nil {
			continue
		}
		name := e.string(in.convfmt())
		if name == "" || in.assignOperand(name) {
			continue
		}
		m.used = true
		in.special[vARGIND].value = number(float64(m.arg - 1))
		return m.openFile(in, name)
	}
	m.done = true
	if m.used {
		return false, false
	}
	return m.openFile(in, "")
}

// openFile opens a file; "" and "-" are standard input.
func (m *mainInput) openFile(in *interp, name string) (ok, exited bool) {
	in.fnr = 0
	m.name = name
	if m.name == "" {
		m.name = "-"
	}
	in.special[vFILENAME].value = input(m.name)
	src, err := in.openInput(name)
	if err == nil {
		if errors.Is(checkDir(src), syscall.EISDIR) {
			src.Close()
			in.at = pos{}
			in.warning("command line argument `%s' is a directory: skipped", name)
			return true, false
		}
		in.special[vERRNO].value = text("")
		m.recs = newRecords(in, src)
		if name != "" && name != "-" {
			m.src = src
		}
	} else {
		in.special[vERRNO].value = text(command.Strerror(err))
	}
	for _, s := range in.prog.beginFile {
		switch in.action(s) {
		case flowExit:
			return false, true
		case flowNextFile:
			m.closeFile()
			return true, false
		}
	}
	if err != nil {
		in.fatal("cannot open file `%s' for reading: %s", name, command.Strerror(err))
	}
	return true, false
}

// checkDir returns EISDIR for a directory.
func checkDir(src io.Reader) error {
	_, err := src.Read(nil)
	return err
}

// assignOperand does an operand that is NAME=VALUE; false when it is a file.
func (in *interp) assignOperand(arg string) bool {
	name, v, ok := strings.Cut(arg, "=")
	if !ok || !isName(name) {
		return false
	}
	in.assignNamed(name, v)
	return true
}

func isName(s string) bool {
	if s == "" || !isNameStart(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isNameStart(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// assignNamed assigns text with escapes to a variable by its name.
func (in *interp) assignNamed(name, v string) {
	val := input(unescape(v, func(m string) { in.warning("%s", m) }))
	val.settle()
	if i, ok := specials[name]; ok {
		if !isArrayVar(i) {
			in.setSpecial(i, val)
		}
		return
	}
	for i, g := range in.prog.globals {
		if g == name {
			if in.globals[i].arr != nil {
				in.fatal("cannot use array `%s' as a variable", name)
			}
			in.globals[i].value = val
			return
		}
	}
}
