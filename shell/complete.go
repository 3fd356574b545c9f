package shell

import (
	"sort"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/command"
)

// functionOf returns the function that a statement defines, or nil.
func functionOf(st *syntax.Stmt) *syntax.FuncDecl {
	f, _ := st.Cmd.(*syntax.FuncDecl)
	return f
}

// completionSpec is what compgen and complete are asked for.
type completionSpec struct {
	actions        []string
	words          string
	hasWords       bool
	glob           string
	function       string
	command        string
	filter         string
	prefix, suffix string
	options        []string
	print, remove  bool
}

const completionOptions = "abcdefgjksuvo:A:G:W:F:C:X:P:S:prDEI"

// actionLetters are the actions that have a letter of their own.
var actionLetters = map[byte]string{
	'a': "alias", 'b': "builtin", 'c': "command", 'd': "directory", 'e': "export", 'f': "file", 'g': "group",
	'j': "job", 'k': "keyword", 's': "service", 'u': "user", 'v': "variable",
}

var actionNames = map[string]bool{
	"alias": true, "arrayvar": true, "binding": true, "builtin": true, "command": true, "directory": true,
	"disabled": true, "enabled": true, "export": true, "file": true, "function": true, "group": true,
	"helptopic": true, "hostname": true, "job": true, "keyword": true, "running": true, "service": true,
	"setopt": true, "shopt": true, "signal": true, "stopped": true, "user": true, "variable": true,
}

// parse reads the options; a status that is not 0 ends the builtin.
func (c *completionSpec) parse(s *state, b *builtin, o *optionParser) int {
	for o.next() {
		switch o.opt {
		case 'o':
			c.options = append(c.options, o.arg)
		case 'A':
			if !actionNames[o.arg] {
				s.builtinError(b, "%s: invalid action name", o.arg)
				return 2
			}
			c.actions = append(c.actions, o.arg)
		case 'G':
			c.glob = o.arg
		case 'W':
			c.words, c.hasWords = o.arg, true
		case 'F':
			c.function = o.arg
		case 'C':
			c.command = o.arg
		case 'X':
			c.filter = o.arg
		case 'P':
			c.prefix = o.arg
		case 'S':
			c.suffix = o.arg
		case 'p':
			c.print = true
		case 'r':
			c.remove = true
		case 'D', 'E', 'I':
		default:
			c.actions = append(c.actions, actionLetters[o.opt])
		}
	}
	if o.failed {
		return 2
	}
	return 0
}

// builtinCompgen prints the completions of a word.
func builtinCompgen(s *state, b *builtin, args []string) int {
	var c completionSpec
	opts := newOptions(s, b, args, completionOptions)
	if status := c.parse(s, b, opts); status != 0 {
		return status
	}
	if len(c.actions) == 0 && !c.hasWords && c.glob == "" && c.function == "" && c.command == "" {
		return 0
	}
	word := ""
	if rest := opts.rest(); len(rest) > 0 {
		word = rest[0]
	}
	var list []string
	for _, a := range c.actions {
		list = append(list, s.candidates(a, word)...)
	}
	if c.glob != "" {
		list = append(list, s.globPaths(c.glob)...)
	}
	if c.hasWords {
		list = append(list, s.wordList(c.words)...)
	}
	if c.function != "" && s.funcs[c.function] != nil {
		s.callFunction(s.funcs[c.function], []string{c.function, "compgen", word, ""}, nil)
		if v := s.vars["COMPREPLY"]; v != nil {
			list = append(list, s.elements(v)...)
		}
	}
	if c.filter != "" {
		list = s.filterWords(list, c.filter, word)
	}
	var out strings.Builder
	found := false
	for _, w := range list {
		if strings.HasPrefix(w, word) || c.function != "" {
			out.WriteString(c.prefix + w + c.suffix + "\n")
			found = true
		}
	}
	if n := s.print(b, out.String()); n != 0 {
		return n
	}
	if !found {
		return 1
	}
	return 0
}

// filterWords removes the words that match a pattern, or with "!" keeps only
// those; & in it stands for the word that is completed.
func (s *state) filterWords(list []string, filter, word string) []string {
	keep := false
	if strings.HasPrefix(filter, "!") {
		keep, filter = true, filter[1:]
	}
	p := s.pattern(strings.ReplaceAll(filter, "&", word), s.patternFlags(false))
	var out []string
	for _, w := range list {
		if p.Match(w) == keep {
			out = append(out, w)
		}
	}
	return out
}

// wordList splits the argument of -W and expands its words.
func (s *state) wordList(text string) []string {
	ifs := s.splitter()
	var out []string
	for i := 0; i < len(text); {
		for i < len(text) && ifs.sep[text[i]] {
			i++
		}
		start := i
		for i < len(text) && !ifs.sep[text[i]] {
			i++
		}
		if i > start {
			out = append(out, s.prompt(text[start:i]))
		}
	}
	return out
}

// candidates lists what an action offers.
func (s *state) candidates(action, word string) []string {
	var out []string
	switch action {
	case "alias":
		for n := range s.aliases {
			out = append(out, n)
		}
	case "builtin", "enabled":
		return builtinNames()
	case "helptopic":
		return append(builtinNames(), keywords...)
	case "disabled":
		for n := range s.disabled {
			out = append(out, n)
		}
	case "keyword":
		return keywords
	case "function":
		for n := range s.funcs {
			out = append(out, n)
		}
	case "variable", "export", "arrayvar":
		for n, v := range s.vars {
			if action == "export" && v.attr&attrExport == 0 || action == "arrayvar" && !v.isArray() {
				continue
			}
			if v.set || v.special != nil {
				out = append(out, n)
			}
		}
	case "setopt":
		for i := range optionNames {
			out = append(out, optionNames[i].name)
		}
	case "shopt":
		for i := range shoptNames {
			out = append(out, shoptNames[i].name)
		}
	case "signal":
		for n := command.Signal(1); n <= 64; n++ {
			if name := n.Name(); name != "" {
				out = append(out, "SIG"+name)
			}
		}
		return out
	case "file", "directory":
		return s.fileCandidates(word, action == "directory")
	case "command":
		out = append(append(builtinNames(), keywords...), s.candidates("function", word)...)
		out = append(out, s.candidates("alias", word)...)
		out = append(out, command.Names()...)
	case "user":
		return []string{"root", "nobody"}
	case "group":
		return []string{"root", "nogroup"}
	}
	sort.Strings(out)
	return out
}

// fileCandidates lists the paths that start with word.
func (s *state) fileCandidates(word string, dirs bool) []string {
	dir, base := "", word
	if i := strings.LastIndexByte(word, '/'); i >= 0 {
		dir, base = word[:i+1], word[i+1:]
	}
	where := dir
	if where == "" {
		where = "."
	}
	es, err := s.walker().ReadDir(where)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range es {
		if !strings.HasPrefix(e.Name, base) || base == "" && e.Name[0] == '.' {
			continue
		}
		if dirs {
			if a, err := s.walker().Stat(dir + e.Name); err != nil || !a.IsDir() {
				continue
			}
		}
		out = append(out, dir+e.Name)
	}
	sort.Strings(out)
	return out
}

// builtinComplete keeps completion specifications, which a script may list.
func builtinComplete(s *state, b *builtin, args []string) int {
	var c completionSpec
	opts := newOptions(s, b, args, completionOptions)
	if status := c.parse(s, b, opts); status != 0 {
		return status
	}
	rest := opts.rest()
	if c.print || len(args) == 1 {
		return s.listCompletions(b, rest)
	}
	specs := map[string]string{}
	for k, v := range s.completions {
		specs[k] = v
	}
	if c.remove {
		if len(rest) == 0 {
			specs = nil
		}
		status := 0
		for _, n := range rest {
			if _, ok := specs[n]; !ok {
				s.builtinError(b, "%s: no completion specification", n)
				status = 1
			}
			delete(specs, n)
		}
		s.completions = specs
		return status
	}
	if len(rest) == 0 {
		s.usage(b)
		return 2
	}
	for _, n := range rest {
		specs[n] = c.source()
	}
	s.completions = specs
	return 0
}

// source is the specification as complete -p shows it.
func (c *completionSpec) source() string {
	var b strings.Builder
	for _, o := range c.options {
		b.WriteString("-o " + o + " ")
	}
	letters := map[string]byte{}
	for l, n := range actionLetters {
		letters[n] = l
	}
	for _, a := range c.actions {
		if l := letters[a]; l != 0 {
			b.WriteString("-" + string(rune(l)) + " ")
		} else {
			b.WriteString("-A " + a + " ")
		}
	}
	for _, o := range []struct{ flag, value string }{
		{"-G", c.glob}, {"-W", c.words}, {"-P", c.prefix}, {"-S", c.suffix}, {"-X", c.filter}, {"-C", c.command},
	} {
		if o.value != "" {
			b.WriteString(o.flag + " " + singleQuote(o.value) + " ")
		}
	}
	if c.function != "" {
		b.WriteString("-F " + c.function + " ")
	}
	return b.String()
}

func (s *state) listCompletions(b *builtin, names []string) int {
	status := 0
	if len(names) == 0 {
		for n := range s.completions {
			names = append(names, n)
		}
		sort.Strings(names)
	}
	var out strings.Builder
	for _, n := range names {
		spec, ok := s.completions[n]
		if !ok {
			s.builtinError(b, "%s: no completion specification", n)
			status = 1
			continue
		}
		out.WriteString("complete " + spec + n + "\n")
	}
	if n := s.print(b, out.String()); n != 0 {
		return n
	}
	return status
}

// builtinCompopt changes the completion that runs, of which there is none.
func builtinCompopt(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "o:DEI")
	opts.plus = true
	for opts.next() {
	}
	if opts.failed {
		return 2
	}
	if len(opts.rest()) == 0 {
		s.builtinError(b, "not currently executing completion function")
		return 1
	}
	status := 0
	for _, name := range opts.rest() {
		if _, ok := s.completions[name]; !ok {
			s.builtinError(b, "%s: no completion specification", name)
			status = 1
		}
	}
	return status
}
