package awk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/regex"
	"github.com/vfsd/vfsd/shell/command"
)

const usageStatus = 1

func init() {
	for _, name := range []string{"awk", "gawk", "mawk", "nawk"} {
		command.Register(command.Info{
			Name: name,
			Synopsis: name + " [POSIX or GNU style options] -f progfile [--] file ...\n" +
				name + " [POSIX or GNU style options] [--] 'program' file ...",
			Summary: "Scan files for patterns and process what matches.",
			Options: []command.Option{
				{Short: 'f', Long: "file", Arg: command.RequiredArgument, ArgName: "PROGFILE", Help: "read the program from PROGFILE"},
				{Short: 'F', Long: "field-separator", Arg: command.RequiredArgument, ArgName: "FS", Help: "use FS for the input field separator"},
				{Short: 'v', Long: "assign", Arg: command.RequiredArgument, ArgName: "VAR=VAL", Help: "assign VAL to the variable VAR before the program starts"},
				{Short: 'b', Long: "characters-as-bytes", Help: "treat each byte as a character"},
				{Short: 'c', Long: "traditional", Help: "(ignored)"},
				{Short: 'e', Long: "source", Arg: command.RequiredArgument, ArgName: "PROGRAM", Help: "use PROGRAM as program text"},
				{Short: 'E', Long: "exec", Arg: command.RequiredArgument, ArgName: "FILE", Help: "like -f, and end the options"},
				{Short: 'i', Long: "include", Arg: command.RequiredArgument, ArgName: "FILE", Help: "read FILE before the program"},
				{Short: 'h', ID: 'h'},
				{Short: 'n', Long: "non-decimal-data", Help: "accept octal and hexadecimal input"},
				{Short: 'N', Long: "use-lc-numeric", Help: "(ignored)"},
				{Short: 'O', Long: "optimize", Help: "(ignored)"},
				{Short: 'P', Long: "posix", Help: "(ignored)"},
				{Short: 'r', Long: "re-interval", Help: "(ignored)"},
				{Short: 's', Long: "no-optimize", Help: "(ignored)"},
				{Short: 'S', Long: "sandbox", Help: "forbid system(), redirections and further files"},
				{Short: 't', Long: "lint-old", Help: "(ignored)"},
				{Short: 'L', Long: "lint", Arg: command.OptionalArgument, Help: "(ignored)"},
				{Short: 'V', ID: 'V'},
				{Short: 'W', Arg: command.RequiredArgument, ID: 'W'},
			},
			UsageStatus:   usageStatus,
			StopAtOperand: true,
		}, awk)
	}
}

// errUsage says that a mistake in the options was reported.
var errUsage = errors.New("usage")

// options is what the command line asks for.
type options struct {
	sources []*source
	assign  []string
	fs      string
	hasFS   bool
	bytes   bool
	sandbox bool
	nonDec  bool
	end     bool // -E ended the options
	done    bool // help or the version was printed
}

func awk(ctx context.Context, c *command.Context, args []string) int {
	o := &options{}
	p := c.Options(args)
	for p.Next() && !o.end {
		if err := o.option(c, p); err == errUsage {
			return usageStatus
		} else if err != nil {
			fmt.Fprintf(c.Stderr, "%s: fatal: %v\n", c.Command.Name, err)
			return 2
		}
		if o.done {
			return 0
		}
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	if len(o.sources) == 0 {
		if len(operands) == 0 {
			io.WriteString(c.Stderr, c.Command.Help())
			return usageStatus
		}
		o.sources = []*source{{name: "cmd. line", text: operands[0], line: 1}}
		operands = operands[1:]
	}
	in, status := newInterp(ctx, c, o, operands)
	if in == nil {
		return status
	}
	return in.run()
}

// maxProgram bounds the bytes of a program file.
const maxProgram = 16 << 20

func (o *options) option(c *command.Context, p *command.Parser) error {
	switch p.ID() {
	case 'f', 'E', 'i':
		o.end = p.ID() == 'E'
		return o.file(c, p.Arg())
	case 'e':
		o.sources = append(o.sources, &source{name: "cmd. line", text: p.Arg(), line: 1})
	case 'F':
		o.fs, o.hasFS = p.Arg(), true
	case 'v':
		name, _, ok := strings.Cut(p.Arg(), "=")
		if !ok {
			fmt.Fprintf(c.Stderr, "%s: `%s' argument to `-v' not in `var=value' form\n\n%s", c.Command.Name, p.Arg(), c.Command.Help())
			return errUsage
		}
		if !isName(name) {
			return fmt.Errorf("`%s' is not a legal variable name", name)
		}
		o.assign = append(o.assign, p.Arg())
	case 'b':
		o.bytes = true
	case 'n':
		o.nonDec = true
	case 'S':
		o.sandbox = true
	case 'h':
		c.Stdout.WriteString(c.Command.Help())
		o.done = true
	case 'V':
		c.Stdout.WriteString("GNU Awk 5.2.1 (vfsd)\n")
		o.done = true
	}
	return nil
}

func (o *options) file(c *command.Context, name string) error {
	f, err := c.Open(name)
	if err != nil {
		return fmt.Errorf("cannot open source file `%s' for reading: %s", name, command.Strerror(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, min(maxProgram, c.Memory.Left())))
	if err != nil {
		return fmt.Errorf("cannot read source file `%s': %s", name, command.Strerror(err))
	}
	o.sources = append(o.sources, &source{name: name, text: string(b), line: 1})
	return nil
}

// newInterp parses the program and sets the variables. It returns nil and a
// status after a mistake.
func newInterp(ctx context.Context, c *command.Context, o *options, operands []string) (*interp, int) {
	name := c.Command.Name
	p := newParser(c.Env.UTF8() && !o.bytes, func(at pos, message string) {
		fmt.Fprintf(c.Stderr, "%s: %s:%d: warning: %s\n", name, at.src.name, at.line, message)
	})
	for _, src := range o.sources {
		if err := p.parse(src); err != nil {
			var e *syntaxError
			errors.As(err, &e)
			io.WriteString(c.Stderr, e.report(name))
			if strings.HasPrefix(e.message, "fatal: ") {
				return nil, 2
			}
			return nil, 1
		}
	}
	if err := p.finish(); err != nil {
		fmt.Fprintf(c.Stderr, "%s: %v\n", name, err)
		return nil, 2
	}
	in := &interp{
		c: c, ctx: ctx, prog: p.prog, name: name, utf8: c.Env.UTF8() && !o.bytes, sandbox: o.sandbox, nonDec: o.nonDec,
		regexes: map[string]*regex.Regexp{}, warned: map[string]bool{},
	}
	in.globals = make([]slot, len(in.prog.globals))
	in.main.arg = 1
	ok := in.protect(func() { in.initVars(o, operands) })
	if !ok {
		return nil, in.status
	}
	return in, 0
}

// initVars gives the special variables their first values.
func (in *interp) initVars(o *options, operands []string) {
	for i, v := range map[int]string{vFS: " ", vOFS: " ", vORS: "\n", vRS: "\n", vSUBSEP: "\x1c", vCONVFMT: "%.6g", vOFMT: "%.6g",
		vFPAT: "[^[:space:]]+", vTEXTDOMAIN: "messages", vFILENAME: "", vERRNO: "", vRT: "", vFIELDWIDTHS: ""} {
		in.special[i].value = text(v)
	}
	for _, i := range []int{vRSTART, vRLENGTH, vIGNORECASE, vBINMODE, vLINT, vARGIND} {
		in.special[i].value = number(0)
	}
	in.special[vRLENGTH].value = number(-1)
	in.setRecord("")
	for _, i := range []int{vARGV, vENVIRON, vPROCINFO} {
		in.special[i].arr = newArray()
	}
	set := func(index int, key string, v value) {
		s, _ := in.special[index].arr.get(key)
		v.settle()
		s.value = v
	}
	set(vARGV, "0", text(in.name))
	for i, a := range operands {
		set(vARGV, strconv.Itoa(i+1), input(a))
	}
	in.special[vARGC].value = number(float64(len(operands) + 1))
	for _, kv := range in.c.Env {
		name, v, _ := strings.Cut(kv, "=")
		set(vENVIRON, name, input(v))
	}
	op := &in.c.FS.Op
	for key, v := range map[string]value{
		"version": text("5.2.1"), "strftime": text(defaultTime), "platform": text("posix"), "FS": text("FS"),
		"uid": number(float64(op.UID)), "euid": number(float64(op.UID)), "gid": number(float64(op.GID)), "egid": number(float64(op.GID)),
		"pid": number(float64(in.c.System.Self(in.c))),
	} {
		set(vPROCINFO, key, v)
	}
	if o.hasFS {
		in.setSpecial(vFS, text(unescape(o.fs, nil)))
	}
	for _, a := range o.assign {
		name, v, _ := strings.Cut(a, "=")
		in.assignNamed(name, v)
	}
}
