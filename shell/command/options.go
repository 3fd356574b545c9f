package command

import (
	"fmt"
	"sort"
	"strings"
)

// Argument says whether an option takes an argument.
type Argument uint8

// The kinds of option arguments.
const (
	NoArgument       Argument = 0
	RequiredArgument Argument = 1
	OptionalArgument Argument = 2 // only attached: -xARG, --long=ARG
)

// Option is one line of a command's table.
type Option struct {
	Short   byte   // 0 when there is only a long form
	Long    string // "" when there is only a short form
	Arg     Argument
	ArgName string // for --help; "" means ARG
	Help    string // "" hides the option from --help
	// ID is what Parser.ID yields; 0 means Short. Long-only options take
	// constants above 255.
	ID int
}

func (o *Option) id() int {
	if o.ID != 0 {
		return o.ID
	}
	return int(o.Short)
}

// IDs of the two options that every command has.
const (
	idHelp    = -1
	idVersion = -2
)

var (
	helpOption    = Option{Long: "help", ID: idHelp, Help: "display this help and exit"}
	versionOption = Option{Long: "version", ID: idVersion, Help: "output version information and exit"}
)

// Parser yields the options of a command line one by one, as getopt_long does:
// bundled short options, arguments attached or apart, unique prefixes of long
// names, "--", and operands anywhere unless the command or POSIXLY_CORRECT
// forbids it. Mistakes are reported in getopt's words.
type Parser struct {
	c        *Context
	rest     []string
	bundle   string // what is left of a bundle of short options
	operands []string
	permute  bool

	opt    *Option
	arg    string
	hasArg bool
	spell  string
	inside bool // the option is not the first of its argument

	status int
	stop   bool
}

// Options starts parsing args, whose first element is the command's name.
func (c *Context) Options(args []string) *Parser {
	_, posix := c.Env.Lookup("POSIXLY_CORRECT")
	return &Parser{c: c, rest: args[1:], permute: !posix && !c.Command.StopAtOperand}
}

// Next moves to the next option; false at the end, and after a mistake.
func (p *Parser) Next() bool {
	if p.stop {
		return false
	}
	p.arg, p.hasArg = "", false
	if p.inside = p.bundle != ""; p.inside {
		return p.short()
	}
	for len(p.rest) > 0 {
		a := p.rest[0]
		switch {
		case a == "--":
			p.operands = append(p.operands, p.rest[1:]...)
			p.rest = nil
			return false
		case len(a) < 2 || a[0] != '-':
			if !p.permute {
				p.operands = append(p.operands, p.rest...)
				p.rest = nil
				return false
			}
			p.operands = append(p.operands, a)
			p.rest = p.rest[1:]
			continue
		}
		p.rest = p.rest[1:]
		if a[1] == '-' {
			return p.long(a[2:])
		}
		p.bundle = a[1:]
		return p.short()
	}
	return false
}

// short takes one option from the bundle.
func (p *Parser) short() bool {
	ch := p.bundle[0]
	p.bundle = p.bundle[1:]
	p.spell = string([]byte{'-', ch})
	p.opt = nil
	for i := range p.c.Command.Options {
		if o := &p.c.Command.Options[i]; o.Short == ch && ch != 0 {
			p.opt = o
			break
		}
	}
	if p.opt == nil {
		return p.mistake("invalid option -- '%c'", ch)
	}
	switch p.opt.Arg {
	case OptionalArgument:
		p.arg, p.hasArg, p.bundle = p.bundle, p.bundle != "", ""
	case RequiredArgument:
		if p.bundle == "" && len(p.rest) == 0 {
			return p.mistake("option requires an argument -- '%c'", ch)
		}
		p.hasArg = true
		if p.bundle != "" {
			p.arg, p.bundle = p.bundle, ""
		} else {
			p.arg, p.rest = p.rest[0], p.rest[1:]
		}
	}
	return true
}

// long takes the long option s, which may have "=argument" with it.
func (p *Parser) long(s string) bool {
	name, arg, has := strings.Cut(s, "=")
	o, ok := p.find(name, s)
	if !ok {
		return false
	}
	p.opt, p.spell = o, "--"+o.Long
	switch o.Arg {
	case NoArgument:
		if has {
			return p.mistake("option '--%s' doesn't allow an argument", o.Long)
		}
	case OptionalArgument:
		p.arg, p.hasArg = arg, has
	case RequiredArgument:
		switch {
		case has:
			p.arg = arg
		case len(p.rest) > 0:
			p.arg, p.rest = p.rest[0], p.rest[1:]
		default:
			return p.mistake("option '--%s' requires an argument", o.Long)
		}
		p.hasArg = true
	}
	switch o.ID {
	case idHelp:
		p.c.Stdout.WriteString(p.c.Command.Help())
		p.stop = true
		return false
	case idVersion:
		fmt.Fprintf(p.c.Stdout, "%s (vfsd)\n", p.c.Command.Name)
		p.stop = true
		return false
	}
	return true
}

// find looks a long name up: itself, or the only one that it is a prefix of.
func (p *Parser) find(name, whole string) (*Option, bool) {
	var found []*Option
	consider := func(o *Option) bool {
		if o.Long == "" || !strings.HasPrefix(o.Long, name) {
			return false
		}
		if o.Long == name {
			found = []*Option{o}
			return true
		}
		found = append(found, o)
		return false
	}
	for i := range p.c.Command.Options {
		if consider(&p.c.Command.Options[i]) {
			return found[0], true
		}
	}
	if consider(&helpOption) || consider(&versionOption) {
		return found[len(found)-1], true
	}
	if len(found) == 0 {
		return nil, p.mistake("unrecognized option '--%s'", whole)
	}
	for _, o := range found[1:] {
		if o.id() != found[0].id() || o.Arg != found[0].Arg {
			return nil, p.ambiguous(whole, found)
		}
	}
	return found[0], true
}

func (p *Parser) ambiguous(whole string, found []*Option) bool {
	var b strings.Builder
	for _, o := range found {
		fmt.Fprintf(&b, " '--%s'", o.Long)
	}
	return p.mistake("option '--%s' is ambiguous; possibilities:%s", whole, b.String())
}

func (p *Parser) mistake(format string, args ...any) bool {
	p.status = p.c.Usage(format, args...)
	p.stop = true
	return false
}

// ID is the present option's: its Short or ID of the table.
func (p *Parser) ID() int { return p.opt.id() }

// Arg is the option's argument.
func (p *Parser) Arg() string { return p.arg }

// HasArg tells an optional argument that is empty from one that is not there.
func (p *Parser) HasArg() bool { return p.hasArg }

// Bundled reports whether the option stands behind another in one argument, as
// b does in -ab.
func (p *Parser) Bundled() bool { return p.inside }

// Spelled is the option as messages name it: "-n" or "--lines".
func (p *Parser) Spelled() string { return p.spell }

// End returns the operands. When stop is set the command is to return status
// at once: a mistake was reported, or help was printed.
func (p *Parser) End() (operands []string, status int, stop bool) {
	return p.operands, p.status, p.stop
}

// Help is what --help prints.
func (i *Info) Help() string {
	var b strings.Builder
	for n, line := range strings.Split(i.Synopsis, "\n") {
		word := "Usage"
		if n > 0 {
			word = "  or"
		}
		fmt.Fprintf(&b, "%s: %s\n", word, line)
	}
	if i.Summary != "" {
		b.WriteString(i.Summary + "\n")
	}
	b.WriteByte('\n')
	options := append([]Option(nil), i.Options...)
	sort.SliceStable(options, func(a, c int) bool { return options[a].sortKey() < options[c].sortKey() })
	for _, o := range append(options, helpOption, versionOption) {
		o.help(&b)
	}
	if i.Notes != "" {
		b.WriteString("\n" + i.Notes + "\n")
	}
	return b.String()
}

func (o *Option) sortKey() string {
	if o.Short != 0 {
		return strings.ToLower(string(rune(o.Short))) + string(rune(o.Short))
	}
	return o.Long
}

// help prints one option in two columns.
func (o *Option) help(b *strings.Builder) {
	if o.Help == "" {
		return
	}
	const column = 30
	arg := o.ArgName
	if arg == "" {
		arg = "ARG"
	}
	s := "     "
	if o.Short != 0 {
		s = fmt.Sprintf("  -%c", o.Short)
		switch {
		case o.Long != "":
			s += ","
		case o.Arg == RequiredArgument:
			s += " " + arg
		case o.Arg == OptionalArgument:
			s += "[" + arg + "]"
		}
	}
	if o.Long != "" {
		s += " --" + o.Long
		switch o.Arg {
		case RequiredArgument:
			s += "=" + arg
		case OptionalArgument:
			s += "[=" + arg + "]"
		}
	}
	for n, line := range strings.Split(o.Help, "\n") {
		if n > 0 || len(s) > column-2 {
			if n == 0 {
				b.WriteString(s + "\n")
			}
			s = ""
		}
		fmt.Fprintf(b, "%-*s%s\n", column, s, line)
	}
}
