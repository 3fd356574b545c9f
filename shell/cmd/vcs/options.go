package vcs

import (
	"fmt"
	"strings"
)

// option is one that was given.
type option struct {
	name string // the long name, or the letter where there is none
	arg  string
	has  bool // an argument was given
	no   bool // --no-NAME
}

// spec is one option that a subcommand takes.
type spec struct {
	short, long string
	arg         byte // 0: none, '=': required, '?': optional and attached, '~': the next argument if there is one
}

func (s *spec) name() string {
	if s.long != "" {
		return s.long
	}
	return s.short
}

// parsed is a subcommand's command line.
type parsed struct {
	options  []option
	operands []string
	// before counts the operands in front of "--"; -1 when there was none.
	before int
}

// has reports whether an option was given last in its positive form.
func (p *parsed) has(name string) bool {
	for i := len(p.options) - 1; i >= 0; i-- {
		if p.options[i].name == name {
			return !p.options[i].no
		}
	}
	return false
}

// given reports whether an option was given in any form.
func (p *parsed) given(name string) bool {
	_, ok := p.last(name)
	return ok
}

func (p *parsed) last(name string) (option, bool) {
	for i := len(p.options) - 1; i >= 0; i-- {
		if p.options[i].name == name {
			return p.options[i], true
		}
	}
	return option{}, false
}

// get returns the last argument of an option.
func (p *parsed) get(name string) string {
	o, _ := p.last(name)
	if o.no {
		return ""
	}
	return o.arg
}

// all returns the arguments of every use of an option.
func (p *parsed) all(name string) []string {
	var args []string
	for _, o := range p.options {
		switch {
		case o.name != name:
		case o.no:
			args = nil
		default:
			args = append(args, o.arg)
		}
	}
	return args
}

// parseSpecs reads a table: "a,all m,message= u,untracked-files?".
func parseSpecs(table string) []spec {
	var specs []spec
	for _, word := range strings.Fields(table) {
		var s spec
		if c := word[len(word)-1]; c == '=' || c == '?' || c == '~' {
			s.arg, word = c, word[:len(word)-1]
		}
		short, long, both := strings.Cut(word, ",")
		switch {
		case both:
			s.short, s.long = short, long
		case len(word) == 1:
			s.short = word
		default:
			s.long = word
		}
		specs = append(specs, s)
	}
	return specs
}

// parse reads the options of a subcommand as git's parse-options does. A
// number as an option (-3) is the option "n" when the table has it.
func (g *git) parse(args []string, table string) (*parsed, error) {
	specs := parseSpecs(table)
	p := &parsed{before: -1}
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		var err error
		switch {
		case a == "--":
			p.before = len(p.operands)
			p.operands = append(p.operands, args...)
			return p, nil
		case a == "-h" && findShort(specs, "h") == nil:
			return nil, g.usage("")
		case strings.HasPrefix(a, "--"):
			args, err = g.parseLong(p, specs, a[2:], args)
		case len(a) > 1 && a[0] == '-':
			args, err = g.parseShort(p, specs, a[1:], args)
		default:
			p.operands = append(p.operands, a)
		}
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

func findShort(specs []spec, c string) *spec {
	for i := range specs {
		if specs[i].short == c {
			return &specs[i]
		}
	}
	return nil
}

// findLong finds a long name or the only one that it begins.
func findLong(specs []spec, name string) *spec {
	var found *spec
	for i := range specs {
		s := &specs[i]
		if s.long == name && name != "" {
			return s
		}
		if s.long != "" && strings.HasPrefix(s.long, name) {
			if found != nil {
				return nil
			}
			found = s
		}
	}
	return found
}

func (g *git) parseLong(p *parsed, specs []spec, text string, args []string) ([]string, error) {
	name, arg, has := strings.Cut(text, "=")
	s := findLong(specs, name)
	no := false
	if rest, ok := strings.CutPrefix(name, "no-"); ok && (s == nil || s.long != name) {
		if t := findLong(specs, rest); t != nil {
			s, no = t, true
		}
	}
	if s == nil {
		return nil, g.usage(fmt.Sprintf("unknown option `%s'", text))
	}
	o := option{name: s.name(), arg: arg, has: has, no: no}
	switch {
	case no:
		if has {
			return nil, g.usage(fmt.Sprintf("option `no-%s' takes no value", s.long))
		}
	case s.arg == 0 && has:
		return nil, g.usage(fmt.Sprintf("option `%s' takes no value", s.long))
	case s.arg == '~' && !has && len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		o.arg, o.has, args = args[0], true, args[1:]
	case s.arg == '=' && !has:
		if len(args) == 0 {
			return nil, g.usage(fmt.Sprintf("option `%s' requires a value", s.long))
		}
		o.arg, o.has, args = args[0], true, args[1:]
	}
	p.options = append(p.options, o)
	return args, nil
}

func (g *git) parseShort(p *parsed, specs []spec, bundle string, args []string) ([]string, error) {
	for bundle != "" {
		c := bundle[:1]
		s := findShort(specs, c)
		if s == nil && c >= "0" && c <= "9" {
			if t := findShort(specs, "n"); t != nil && t.arg == '=' {
				p.options = append(p.options, option{name: t.name(), arg: bundle, has: true})
				return args, nil
			}
		}
		if s == nil {
			return nil, g.usage(fmt.Sprintf("unknown switch `%s'", c))
		}
		bundle = bundle[1:]
		o := option{name: s.name()}
		switch s.arg {
		case '?':
			o.arg, o.has, bundle = bundle, bundle != "", ""
		case '=':
			if bundle == "" {
				if len(args) == 0 {
					return nil, g.usage(fmt.Sprintf("switch `%s' requires a value", c))
				}
				bundle, args = args[0], args[1:]
			}
			o.arg, o.has, bundle = bundle, true, ""
		}
		p.options = append(p.options, o)
	}
	return args, nil
}
