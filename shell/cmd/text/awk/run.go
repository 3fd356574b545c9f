package awk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/regex"
	"github.com/vfsd/vfsd/shell/command"
)

// failure ends the program: with a message, or without one when the cause is
// told elsewhere.
type failure struct {
	message string
	status  int
}

// interp runs a program.
type interp struct {
	c    *command.Context
	ctx  context.Context
	prog *program
	name string // that awk was called by
	utf8 bool

	globals []slot
	locals  []slot
	special [numSpecial]slot
	// nr and fnr are the values of NR and FNR.
	nr, fnr float64

	record
	main    mainInput
	streams streams
	random  random
	regexes map[string]*regex.Regexp

	at       pos // of what runs, for messages
	result   value
	status   int
	depth    int
	steps    int
	inBegin  bool
	sandbox  bool
	nonDec   bool
	held     int64 // bytes on the account
	warned   map[string]bool
	scratch  []byte
	loc      []int
	ignoring bool // IGNORECASE
}

// fatal ends the program with a message that says where it was.
func (in *interp) fatal(format string, args ...any) {
	panic(&failure{in.where() + "fatal: " + fmt.Sprintf(format, args...), 2})
}

// warning prints a message.
func (in *interp) warning(format string, args ...any) {
	fmt.Fprintf(in.c.Stderr, "%s: %swarning: %s\n", in.name, in.where(), fmt.Sprintf(format, args...))
}

// where is the place in the program and in the input.
func (in *interp) where() string {
	var b strings.Builder
	if in.at.src != nil {
		fmt.Fprintf(&b, "%s:%d: ", in.at.src.name, in.at.line)
	}
	if in.fnr > 0 {
		name := in.special[vFILENAME].string("%.6g")
		if name == "" {
			name = "-"
		}
		fmt.Fprintf(&b, "(FILENAME=%s FNR=%s) ", name, formatNumber(in.fnr, "%.6g"))
	}
	return b.String()
}

// stepsBetween is how many steps pass between looks at the context.
const stepsBetween = 1 << 10

// step counts work that could go on for ever.
func (in *interp) step() {
	if in.steps++; in.steps%stepsBetween == 0 && in.ctx.Err() != nil {
		panic(&failure{status: 2})
	}
}

// maxHeldStep is how much strings may grow before the account is asked.
const maxHeldStep = 64 << 10

// hold announces n more bytes; negative ones are given back.
func (in *interp) hold(n int64) {
	if n > 0 {
		if err := in.c.Memory.Grow(n); err != nil {
			in.fatal("memory exhausted")
		}
	} else {
		in.c.Memory.Shrink(-n)
	}
	in.held += n
}

// checkSize refuses a string that the account has no room for.
func (in *interp) checkSize(n int) {
	if n > maxHeldStep && int64(n) > in.c.Memory.Left() {
		in.fatal("memory exhausted")
	}
}

// stdoutGone ends the program when standard output takes no more.
func (in *interp) stdoutGone() {
	panic(&failure{status: 2})
}

// run runs the whole program and returns its status.
func (in *interp) run() (status int) {
	defer in.c.Memory.Shrink(in.held)
	ok := in.protect(func() {
		in.rules()
	})
	if !ok {
		in.streams.abandon()
		return in.status
	}
	in.protect(func() { in.streams.closeAll(in) })
	return in.status
}

// protect runs f and reports a failure that it throws; false when it did.
func (in *interp) protect(f func()) (ok bool) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *failure:
			ok = false
			in.status = v.status
			if v.message != "" {
				in.c.Stdout.Flush()
				fmt.Fprintf(in.c.Stderr, "%s: %s\n", in.name, v.message)
			}
		default:
			panic(v)
		}
	}()
	f()
	return true
}

// rules runs BEGIN, the rules over all records, and END.
func (in *interp) rules() {
	exited := false
	in.inBegin = true
	for _, s := range in.prog.begin {
		if in.action(s) == flowExit {
			exited = true
			break
		}
	}
	in.inBegin = false
	p := in.prog
	if !exited && len(p.rules)+len(p.end)+len(p.beginFile)+len(p.endFile) > 0 {
		exited = in.records()
	}
	in.main.close(in)
	if exited && in.main.noEnd {
		return
	}
	for _, s := range p.end {
		if in.action(s) == flowExit {
			return
		}
	}
}

// action runs a statement; where functions have exit or next in them those
// arrive here by a panic.
func (in *interp) action(s stmt) (f flow) {
	if !in.prog.unwinds {
		return s.exec(in)
	}
	return in.unwound(func() flow { return s.exec(in) })
}

func (in *interp) unwound(run func() flow) (f flow) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case unwind:
			f = flow(v)
			in.locals, in.depth = nil, 0
		default:
			panic(v)
		}
	}()
	return run()
}

// records runs the rules over the main input; true after exit.
func (in *interp) records() bool {
	for {
		ok, exited := in.main.next(in)
		if exited {
			return true
		}
		if !ok {
			return false
		}
		switch in.oneRecord() {
		case flowExit:
			return true
		case flowNextFile:
			if in.main.skipFile(in) {
				return true
			}
		}
	}
}

// oneRecord runs the rules over the present record.
func (in *interp) oneRecord() flow {
	if !in.prog.unwinds {
		return in.applyRules()
	}
	f := in.unwound(in.applyRules)
	if f == flowNext {
		return flowOn
	}
	return f
}

func (in *interp) applyRules() flow {
	for _, r := range in.prog.rules {
		if !in.selects(r) {
			continue
		}
		if r.body == nil {
			in.printRecord()
			continue
		}
		switch f := r.body.exec(in); f {
		case flowOn:
		case flowNext:
			return flowOn
		default:
			return f
		}
	}
	return flowOn
}

// selects reports whether a rule applies to the record.
func (in *interp) selects(r *rule) bool {
	if r.pattern == nil {
		return true
	}
	if r.to == nil {
		v := r.pattern.eval(in)
		return v.bool()
	}
	if !r.active {
		v := r.pattern.eval(in)
		if !v.bool() {
			return false
		}
		r.active = true
	}
	v := r.to.eval(in)
	if v.bool() {
		r.active = false
	}
	return true
}

func (in *interp) printRecord() {
	in.c.Stdout.WriteString(in.line())
	if _, err := in.c.Stdout.WriteString(in.special[vORS].string("%.6g")); err != nil {
		in.stdoutGone()
	}
}

// The statements.

func (s *exprStmt) exec(in *interp) flow {
	in.at = s.pos
	s.x.eval(in)
	return flowOn
}

func (s *blockStmt) exec(in *interp) flow {
	for _, x := range s.list {
		if f := x.exec(in); f != flowOn {
			return f
		}
	}
	return flowOn
}

func (s *ifStmt) exec(in *interp) flow {
	v := s.cond.eval(in)
	switch {
	case v.bool():
		return s.then.exec(in)
	case s.els != nil:
		return s.els.exec(in)
	}
	return flowOn
}

// loop runs a loop's body; done tells that the loop is over, with out.
func loop(in *interp, body stmt) (out flow, done bool) {
	in.step()
	switch f := body.exec(in); f {
	case flowOn, flowContinue:
		return flowOn, false
	case flowBreak:
		return flowOn, true
	default:
		return f, true
	}
}

func (s *whileStmt) exec(in *interp) flow {
	for {
		v := s.cond.eval(in)
		if !v.bool() {
			return flowOn
		}
		if f, done := loop(in, s.body); done {
			return f
		}
	}
}

func (s *doStmt) exec(in *interp) flow {
	for {
		if f, done := loop(in, s.body); done {
			return f
		}
		v := s.cond.eval(in)
		if !v.bool() {
			return flowOn
		}
	}
}

func (s *forStmt) exec(in *interp) flow {
	if s.init != nil {
		s.init.exec(in)
	}
	for {
		if s.cond != nil {
			if v := s.cond.eval(in); !v.bool() {
				return flowOn
			}
		}
		if f, done := loop(in, s.body); done {
			return f
		}
		if s.step != nil {
			s.step.exec(in)
		}
	}
}

func (s *forInStmt) exec(in *interp) flow {
	in.at = s.pos
	a := s.array.find(in)
	for _, k := range in.sortedKeys(a) {
		in.assign(s.to.locate(in), input(k))
		if f, done := loop(in, s.body); done {
			return f
		}
	}
	return flowOn
}

func (s *switchStmt) exec(in *interp) flow {
	v := s.x.eval(in)
	start := -1
	for i := range s.cases {
		c := &s.cases[i]
		if c.x == nil {
			if start < 0 {
				start = i
			}
			continue
		}
		if in.caseMatches(&v, c.x) {
			start = i
			break
		}
	}
	if start < 0 {
		return flowOn
	}
	for _, c := range s.cases[start:] {
		for _, x := range c.body {
			switch f := x.exec(in); f {
			case flowOn:
			case flowBreak:
				return flowOn
			default:
				return f
			}
		}
	}
	return flowOn
}

func (in *interp) caseMatches(v *value, x expr) bool {
	if re, ok := x.(*regexLit); ok {
		return in.matches(re.compiled(in), v.string(in.convfmt()))
	}
	w := x.eval(in)
	if w.kind == kNumber && v.isNumeric() {
		return v.float() == w.num
	}
	if w.kind == kNumber {
		return false
	}
	return !(v.kind == kNumber || v.kind == kBoth) && v.string(in.convfmt()) == w.string(in.convfmt())
}

func (s *jumpStmt) exec(in *interp) flow {
	if s.flow == flowNext && in.inBegin {
		in.at = s.pos
		in.fatal("`next' cannot be called from a BEGIN rule")
	}
	return s.flow
}

func (s *exitStmt) exec(in *interp) flow {
	if s.x != nil {
		v := s.x.eval(in)
		in.status = int(int64(v.float())) & 0xff
	}
	return flowExit
}

func (s *returnStmt) exec(in *interp) flow {
	in.result = value{}
	if s.x != nil {
		in.result = s.x.eval(in)
	}
	return flowReturn
}

func (s *deleteStmt) exec(in *interp) flow {
	in.at = s.pos
	a := s.array.find(in)
	if s.subs == nil {
		in.hold(-a.cost())
		a.clear()
		return flowOn
	}
	key := in.subscript(s.subs)
	if e := a.m[key]; e != nil {
		in.hold(-e.cost())
	}
	a.delete(key)
	return flowOn
}

// elementCost is what an element takes besides its strings.
const elementCost = 160

func (e *element) cost() int64 { return int64(len(e.key)+len(e.str)) + elementCost }

func (a *array) cost() (n int64) {
	for _, e := range a.m {
		n += e.cost()
	}
	return n
}

func (s *printStmt) exec(in *interp) flow {
	in.at = s.pos
	if s.to == nil {
		w := in.c.Stdout
		s.write(in, w)
		if w.Err() != nil {
			in.stdoutGone()
		}
		return flowOn
	}
	text := ""
	if s.printf {
		text = in.format(s.args)
	}
	v := s.to.eval(in)
	in.at = s.pos
	out := in.streams.output(in, v.string(in.convfmt()), s.op)
	if s.printf {
		out.w.WriteString(text)
	} else {
		s.write(in, out.w)
	}
	if err := out.w.Err(); err == nil {
		err = out.flushed()
		if err == nil {
			return flowOn
		}
	}
	in.outputFailed(out)
	return flowOn
}

// outputFailed ends the program after a failed write.
func (in *interp) outputFailed(out *outStream) {
	err := out.w.Err()
	if out.std {
		in.stdoutGone()
	}
	if errors.Is(err, syscall.EPIPE) {
		err = syscall.EPIPE
	}
	in.fatal("%s to \"%s\" failed: %s", "print", out.name, command.Strerror(err))
}

// write writes what is to be printed.
func (s *printStmt) write(in *interp, w *command.Writer) {
	if s.printf {
		in.at = s.pos
		w.WriteString(in.format(s.args))
		return
	}
	if len(s.args) == 0 {
		w.WriteString(in.line())
	}
	for i, x := range s.args {
		v := x.eval(in)
		if i > 0 {
			w.WriteString(in.special[vOFS].string("%.6g"))
		}
		if v.kind == kNumber {
			w.WriteString(v.string(in.ofmt()))
		} else {
			w.WriteString(v.str)
		}
	}
	w.WriteString(in.special[vORS].string("%.6g"))
}

func (in *interp) convfmt() string { return in.special[vCONVFMT].str }
func (in *interp) ofmt() string    { return in.special[vOFMT].str }
