package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/parse"
)

// declArg is one argument of a declaration: an option, a name or an assignment.
type declArg struct {
	text  string // as written, for messages; an option or a name when nothing else is set
	name  string
	value string
	has   bool // it assigns
	add   bool
	sub   *subscript
	array *syntax.ArrayExpr
}

// declClause runs declare and its kin, whose arguments may be assignments of
// every form.
func (s *state) declClause(st *syntax.Stmt, c *syntax.DeclClause) {
	s.at(st.Position)
	s.setCommand(st)
	s.debugTrap()
	s.substStatus = -1
	s.noFork = false
	name := c.Variant.Value
	mark := len(s.procFDs)
	var undo undoFDs
	defer func() {
		s.restoreFDs(undo)
		s.closeProcFDs(mark)
	}()
	args := s.declArgs(c)
	words := []string{name}
	for i := range args {
		words = append(words, args[i].text)
	}
	s.traceDecl(name, c, args)
	if len(st.Redirs) > 0 && !s.redirect(st.Redirs, &undo) {
		s.status = 1
		s.checkError()
		return
	}
	if s.funcs[name] != nil || s.builtin(name) == nil {
		s.invoke(st, words, nil, false, &undo)
		return
	}
	s.cmdName = name
	s.status = s.declare(builtins[name], args)
	s.cmdName = ""
	s.lastArg = words[len(words)-1]
	if n := len(args); n > 0 && args[n-1].array != nil {
		s.lastArg = args[n-1].name
	}
	s.checkError()
}

// declArgs expands the arguments.
func (s *state) declArgs(c *syntax.DeclClause) []declArg {
	var out []declArg
	assoc := false
	for _, a := range c.Args {
		if n := len(out); n > 0 && strings.HasPrefix(out[n-1].text, "-") && strings.Contains(out[n-1].text, "A") {
			assoc = true
		}
		switch {
		case a.Naked && a.Name != nil:
			out = append(out, declArg{text: a.Name.Value, name: a.Name.Value})
		case a.Naked:
			for _, text := range s.expandFields([]*syntax.Word{a.Value}) {
				out = append(out, parseDeclArg(text))
			}
		default:
			d := declArg{name: a.Name.Value, has: true, add: a.Append, array: a.Array}
			op := "="
			if a.Append {
				op = "+="
			}
			d.text = d.name
			if a.Index != nil {
				w, _ := a.Index.(*syntax.Word)
				d.sub = &subscript{word: w}
				d.text += "[" + wordSource(w) + "]"
			}
			if a.Array == nil {
				d.value = s.expandValue(a.Value)
			} else {
				v, _, _ := s.lookup(d.name)
				d.array = s.quoteArray(a.Array, assoc || v != nil && v.attr&attrAssoc != 0)
			}
			d.text += op + d.value
			out = append(out, d)
		}
	}
	return out
}

// quoteArray expands the elements of an array and quotes what comes of them:
// that happens before the variable is declared, and before it is shown.
func (s *state) quoteArray(arr *syntax.ArrayExpr, assoc bool) *syntax.ArrayExpr {
	out := &syntax.ArrayExpr{}
	word := func(text string) *syntax.Word {
		return &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: text}}}
	}
	for _, el := range arr.Elems {
		if el.Index == nil && assoc {
			out.Elems = append(out.Elems, &syntax.ArrayElem{Value: word(s.expandValue(el.Value))})
			continue
		}
		if el.Index == nil {
			for _, t := range s.expandFields([]*syntax.Word{el.Value}) {
				out.Elems = append(out.Elems, &syntax.ArrayElem{Value: word(t)})
			}
			continue
		}
		w, _ := el.Index.(*syntax.Word)
		value, add := s.elementValue(el)
		e := &syntax.ArrayElem{Index: w, Value: word(value)}
		if assoc {
			e.Index = word(s.expandString(w))
		}
		if add {
			e.Value.Parts = append([]syntax.WordPart{parse.AppendMark}, e.Value.Parts...)
		}
		out.Elems = append(out.Elems, e)
	}
	return out
}

// parseDeclArg takes an argument apart that was expanded: name, name=value,
// name[sub]=value.
func parseDeclArg(text string) declArg {
	d := declArg{text: text, name: text}
	eq := strings.IndexByte(text, '=')
	if eq <= 0 || text[0] == '-' || text[0] == '+' {
		if i := strings.IndexByte(text, '['); i > 0 && strings.HasSuffix(text, "]") {
			sub := subscriptText(text[i+1 : len(text)-1])
			d.name, d.sub = text[:i], &sub
		}
		return d
	}
	if i := strings.IndexByte(text, '['); i > 0 && i < eq {
		if end := strings.Index(text, "]="); end > i {
			eq = end + 1
		} else if end := strings.Index(text, "]+="); end > i {
			eq = end + 2
		}
	}
	d.has, d.value = true, text[eq+1:]
	d.name = text[:eq]
	if strings.HasSuffix(d.name, "+") {
		d.name, d.add = d.name[:len(d.name)-1], true
	}
	if i := strings.IndexByte(d.name, '['); i > 0 && strings.HasSuffix(d.name, "]") {
		sub := subscriptText(d.name[i+1 : len(d.name)-1])
		d.name, d.sub = d.name[:i], &sub
	}
	return d
}
