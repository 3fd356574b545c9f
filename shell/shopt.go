package shell

import (
	"fmt"
	"slices"
	"strings"
)

// shoptRequest is what shopt was asked for.
type shoptRequest struct {
	print, quiet, set, unset bool
	out                      strings.Builder
	status                   int
}

// optionSet is either of the two sets of options: of shopt, or of set -o.
type optionSet struct {
	names   []string
	get     func(i int) bool
	put     func(i int, on bool)
	what    string // "shell option"
	command string // how -p shows one: "shopt -s NAME"
	signs   [2]string
	lenient bool // setting a name that there is not is no failure
}

// builtinShopt sets and shows shopt options.
func builtinShopt(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "pqsuo")
	r := &shoptRequest{}
	set := s.shoptSet()
	for opts.next() {
		switch opts.opt {
		case 'p':
			r.print = true
		case 'q':
			r.quiet = true
		case 's':
			r.set = true
		case 'u':
			r.unset = true
		case 'o':
			set = s.optionSet()
		}
	}
	if opts.failed {
		return 2
	}
	if r.set && r.unset {
		s.builtinError(b, "cannot set and unset shell options simultaneously")
		return 1
	}
	names := opts.rest()
	if len(names) == 0 {
		for i := range set.names {
			if on := set.get(i); r.set && !on || r.unset && on {
				continue
			}
			r.show(set, i)
		}
	}
	for _, n := range names {
		i := slices.Index(set.names, n)
		switch {
		case i < 0:
			s.builtinError(b, "%s: invalid %s name", n, set.what)
			if !set.lenient || !r.set && !r.unset {
				r.status = 1
			}
		case r.set || r.unset:
			set.put(i, r.set)
		default:
			r.show(set, i)
			if !set.get(i) {
				r.status = 1
			}
		}
	}
	if n := s.print(b, r.out.String()); n != 0 {
		return n
	}
	return r.status
}

// show writes one option's line.
func (r *shoptRequest) show(set *optionSet, i int) {
	on := set.get(i)
	sign := set.signs[0]
	if on {
		sign = set.signs[1]
	}
	switch {
	case r.quiet:
	case r.print:
		fmt.Fprintf(&r.out, "%s %s %s\n", set.command, sign, set.names[i])
	default:
		fmt.Fprintf(&r.out, "%-15s\t%s\n", set.names[i], onOff(on))
	}
}

// shoptSet are the options of shopt.
func (s *state) shoptSet() *optionSet {
	set := &optionSet{get: s.opts.shopts, put: s.opts.putShopt, what: "shell option", command: "shopt", signs: [2]string{"-u", "-s"}}
	for i := range shoptNames {
		set.names = append(set.names, shoptNames[i].name)
	}
	return set
}

// optionSet are the options of set -o.
func (s *state) optionSet() *optionSet {
	set := &optionSet{
		get:  func(i int) bool { return s.opts.on(option(i)) },
		put:  func(i int, on bool) { s.opts.put(option(i), on) },
		what: "option", command: "set", signs: [2]string{"+o", "-o"}, lenient: true,
	}
	for i := range optionNames {
		set.names = append(set.names, optionNames[i].name)
	}
	return set
}
