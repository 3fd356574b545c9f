package shell

import (
	"sort"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// functionText is a function's definition as declare -f shows it.
func (s *state) functionText(f *function) string {
	p := &sourcePrinter{}
	name := f.name
	if !validName(name) && !plainFunctionName(name) {
		p.b.WriteString("function ")
	}
	p.b.WriteString(name + " () \n")
	p.functionBody(f.decl.Body)
	return p.b.String()
}

// plainFunctionName reports whether a name needs no "function" before it.
func plainFunctionName(name string) bool { return !isKeyword(name) && !hasMeta(name) }

// flags are the options of a declare that makes the function what it is.
func (f *function) flags() string {
	flags := "-f"
	if f.attr&attrReadonly != 0 {
		flags += "r"
	}
	if f.attr&attrTrace != 0 {
		flags += "t"
	}
	if f.attr&attrExport != 0 {
		flags += "x"
	}
	return flags
}

// functionList lists all functions: their definitions, or only their names.
func (s *state) functionList(namesOnly bool, with attr) string {
	names := make([]string, 0, len(s.funcs))
	for n := range s.funcs {
		names = append(names, n)
	}
	sort.Strings(names)
	var out strings.Builder
	for _, n := range names {
		f := s.funcs[n]
		if with != 0 && f.attr&with != with {
			continue
		}
		if !namesOnly {
			out.WriteString(s.functionText(f) + "\n")
			if f.attr&(attrExport|attrReadonly) == 0 {
				continue
			}
		}
		out.WriteString("declare " + f.flags() + " " + n + "\n")
	}
	return out.String()
}

// stmtSource is a command on one line, as jobs shows it.
func stmtSource(st *syntax.Stmt) string {
	p := &sourcePrinter{}
	p.stmt(st)
	p.flushHeredocs("")
	return p.b.String()
}

// commandText is BASH_COMMAND.
func (s *state) commandText() string {
	if s.cmd == nil {
		return ""
	}
	return stmtSource(s.cmd)
}

// setCommand notes the command for BASH_COMMAND, unless a trap runs it.
func (s *state) setCommand(st *syntax.Stmt) {
	if s.traps == nil || s.handling == 0 {
		s.cmd = st
	}
}
