package parse

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// parseAll parses a whole source.
func parseAll(src string) ([]*syntax.Stmt, []string, error) {
	var warnings []string
	p := New(src, 1, Options{
		ExtGlob: func() bool { return true },
		Warn:    func(line int, msg string) { warnings = append(warnings, fmt.Sprintf("line %d: %s", line, msg)) },
	})
	var all []*syntax.Stmt
	for {
		stmts, err := p.Next()
		if err == io.EOF {
			return all, warnings, nil
		}
		var e *Error
		if errors.As(err, &e) && e.Resume {
			continue
		}
		if err != nil {
			return all, warnings, err
		}
		all = append(all, stmts...)
	}
}

// forms are sources that Bash accepts.
func forms(t testing.TB) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/forms.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n---\n")
}

// TestForms: what Bash accepts is accepted. The log says how many of the forms
// the tree's own parser refuses, which is why this package exists.
func TestForms(t *testing.T) {
	refused := 0
	all := forms(t)
	for _, src := range all {
		if _, _, err := parseAll(src); err != nil {
			t.Errorf("%q: %v", src, err)
		}
		if _, err := moduleParse(src); err != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("the module's parser accepts every form: this package is not needed any more")
	}
	t.Logf("of %d forms the module's parser refuses %d", len(all), refused)
}

func moduleParse(src string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
}

// TestAgainstModuleParser: where both parsers accept a source, the trees agree
// in everything but what the package comment lists.
func TestAgainstModuleParser(t *testing.T) {
	sources := forms(t)
	corpus, err := filepath.Glob("../testdata/corpus/*.sh")
	if err != nil || len(corpus) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	for _, file := range corpus {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split("\n"+string(b), "\n#### ")[1:] {
			_, script, _ := strings.Cut(part, "\n")
			sources = append(sources, script)
		}
	}
	compared := 0
	for _, src := range sources {
		want, err := moduleParse(src)
		if err != nil || differs(src) {
			continue
		}
		got, _, err := parseAll(src)
		if err != nil {
			continue // the module accepts some things that Bash does not
		}
		compared++
		if g, w := outline(got), outline(want.Stmts); g != w {
			t.Errorf("%q:\n%s\nwant\n%s", src, g, w)
		}
	}
	if compared < 200 {
		t.Errorf("only %d sources were compared", compared)
	}
}

// differs lists what the two parsers see differently, where this one sees it as
// Bash does.
func differs(src string) bool {
	return strings.Contains(src, "let ") || // an ordinary command here
		strings.Contains(src, "extglob") || // text of a word here
		strings.Contains(src, "| time") || // no keyword after a pipe
		strings.Contains(src, "# \\\n") || // a comment does not go on
		strings.Contains(src, `"${x+'}"`) || // ' does not quote in double quotes
		braceExpansion.MatchString(src) // split here, not there; Walk does not know the node
}

var braceExpansion = regexp.MustCompile(`\{[^{}\n;]*(,|\.\.)[^{}\n;]*\}`)

// outline shows a tree's commands, their order and nesting, and plain words.
func outline(stmts []*syntax.Stmt) string {
	var b strings.Builder
	depth := 0
	var words func(ws []*syntax.Word)
	words = func(ws []*syntax.Word) {
		for _, w := range ws {
			fmt.Fprintf(&b, " %q", w.Lit())
		}
	}
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			if n == nil {
				depth--
				return true
			}
			depth++
			indent := "\n" + strings.Repeat(" ", depth)
			switch n := n.(type) {
			case *syntax.Stmt:
				fmt.Fprintf(&b, "%sstmt neg=%v bg=%v redirs=%d", indent, n.Negated, n.Background, len(n.Redirs))
				for _, r := range n.Redirs {
					fmt.Fprintf(&b, " %s", r.Op)
				}
			case *syntax.CallExpr:
				fmt.Fprintf(&b, "%scall assigns=%d", indent, len(n.Assigns))
				words(n.Args)
			case *syntax.BinaryCmd:
				fmt.Fprintf(&b, "%sbinary %s", indent, n.Op)
			case *syntax.FuncDecl:
				fmt.Fprintf(&b, "%sfunc %s", indent, n.Name.Value)
			case *syntax.CaseItem:
				fmt.Fprintf(&b, "%sitem %d", indent, len(n.Patterns))
			case *syntax.WordIter:
				fmt.Fprintf(&b, "%sfor %s", indent, n.Name.Value)
			case *syntax.LetClause, *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.CStyleLoop, *syntax.TestClause,
				*syntax.Assign, *syntax.ArrayExpr, *syntax.ParamExp, *syntax.BraceExp:
				fmt.Fprintf(&b, "%s%T", indent, n)
				depth--
				return false // what is inside differs on purpose
			case *syntax.CmdSubst:
				fmt.Fprintf(&b, "%ssubst", indent)
				if n.Backquotes {
					depth--
					return false
				}
			case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause,
				*syntax.DeclClause, *syntax.TimeClause, *syntax.CoprocClause, *syntax.ProcSubst:
				fmt.Fprintf(&b, "%s%T", indent, n)
			}
			return true
		})
	}
	return b.String()
}

// TestErrors holds the messages of Bash 5.2 for what it refuses.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"if true; echo; fi", "1: syntax error near unexpected token `fi'|if true; echo; fi"},
		{"echo a )", "1: syntax error near unexpected token `)'|echo a )"},
		{"f() { }", "1: syntax error near unexpected token `}'|f() { }"},
		{"a &&", "2: syntax error: unexpected end of file"},
		{"cat <", "1: syntax error near unexpected token `newline'|cat <"},
		{"if a\nthen b", "3: syntax error: unexpected end of file"},
		{"f() {\n echo\n", "3: syntax error: unexpected end of file"},
		{"echo \"a\nb", "1: unexpected EOF while looking for matching `\"'"},
		{"echo 'a", "1: unexpected EOF while looking for matching `''"},
		{"echo `a", "1: unexpected EOF while looking for matching ``'"},
		{"echo ${a", "1: unexpected EOF while looking for matching `}'"},
		{"echo a\necho $(b", "3: unexpected EOF while looking for matching `)'"},
		{"echo $((1", "1: unexpected EOF while looking for matching `)'"},
		{"case x in\n a) echo\n b) echo;;\nesac", "3: syntax error near unexpected token `)'| b) echo;;"},
		{"foo\n  bar | (baz; if; )", "2: syntax error near unexpected token `;'|  bar | (baz; if; )"},
		{"done", "1: syntax error near unexpected token `done'|done"},
		{"echo &;", "1: syntax error near unexpected token `;'|echo &;"},
		{"a() b", "1: syntax error near unexpected token `b'|a() b"},
		{"{ echo; } x", "1: syntax error near unexpected token `x'|{ echo; } x"},
		{"for", "1: syntax error near unexpected token `newline'|for"},
		{"case x", "2: syntax error: unexpected end of file"},
		{"a=(1 2", "1: unexpected EOF while looking for matching `)'"},
		{"[[ a b ]]", "1: conditional binary operator expected"},
		{"[[ -f ]]", "1: unexpected argument `]]' to conditional unary operator"},
		{"[[ ( a ]]", "1: unexpected token `]]', expected `)'"},
		{"[[ a ) ]]", "1: syntax error in conditional expression: unexpected token `)'"},
		{"[[ < a ]]", "1: unexpected token `<' in conditional command"},
		{"a | ! b", "1: syntax error near unexpected token `!'|a | ! b"},
		{"for ((i=0; i<3)); do :; done", "1: syntax error: arithmetic expression required|((i=0; i<3))"},
	} {
		_, _, err := parseAll(c.src)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", c.src, err)
			continue
		}
		got := fmt.Sprintf("%d: %s", e.Line, e.Msg)
		if e.HasText {
			got += "|" + e.Text
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.src, got, c.want)
		}
	}
}

// TestLineByLine: what comes before a mistake is read before it is found.
func TestLineByLine(t *testing.T) {
	p := New("echo a; echo b\n\n# c\necho d &\nfi\n", 10, Options{})
	first, err := p.Next()
	if len(first) != 2 || err != nil {
		t.Fatalf("%d statements, %v", len(first), err)
	}
	second, err := p.Next()
	if len(second) != 1 || !second[0].Background || second[0].Position.Line() != 13 || err != nil {
		t.Fatalf("%+v, %v", second, err)
	}
	for range 2 {
		if _, err := p.Next(); err == nil || err.Error() != "line 14: syntax error near unexpected token `fi'" {
			t.Errorf("error %v", err)
		}
	}
}

func TestHeredocs(t *testing.T) {
	for _, c := range []struct{ src, body, warning string }{
		{"cat <<E\na\nE\n", "a\n", ""},
		{"cat <<-E\n\t\ta\n\tE\n", "a\n", ""},
		{"cat <<\"E F\"\n$a\nE F\n", "$a\n", ""},
		{"cat <<E\\\nF\na\nEF\n", "a\n", ""},
		{"cat <<E\na\\\nb\nE\n", "ab\n", ""},
		{"cat <<E\nE\\\n\nE\n", "", ""},
		{"cat <<E\na", "a\n", "line 2: here-document at line 1 delimited by end-of-file (wanted `E')"},
		{"cat <<''\na\n\nb", "a\n", ""},
		{"x=$(cat <<E\nit's )\nE\n)", "it's )\n", ""},
	} {
		stmts, warnings, err := parseAll(c.src)
		if err != nil {
			t.Errorf("%q: %v", c.src, err)
			continue
		}
		body := ""
		for _, s := range stmts {
			syntax.Walk(s, func(n syntax.Node) bool {
				if r, ok := n.(*syntax.Redirect); ok && r.Hdoc != nil {
					for _, p := range r.Hdoc.Parts {
						switch p := p.(type) {
						case *syntax.Lit:
							body += p.Value
						case *syntax.SglQuoted:
							body += p.Value
						}
					}
				}
				return true
			})
		}
		if body != c.body || strings.Join(warnings, ";") != c.warning {
			t.Errorf("%q: body %q, warnings %q", c.src, body, warnings)
		}
	}
}

func TestAliases(t *testing.T) {
	aliases := map[string]string{"e": "echo x", "loop": "loop a", "sp": "echo ", "b": "bb", "two": "echo 1; echo 2", "self": "self"}
	for _, c := range []struct{ src, want string }{
		{"e y", "echo x y"},
		{"loop", "loop a"},
		{"self b", "self b"},
		{"sp b b", "echo bb b"},
		{"echo e", "echo e"},
		{"a=1 e", "echo x"},
		{"two 3", "echo 1|echo 2 3"},
		{`\e y`, `\e y`},
		{"'e' y", "? y"},
		{"if e; then e; fi", "?"},
	} {
		p := New(c.src, 1, Options{Alias: func(n string) (string, bool) { v, ok := aliases[n]; return v, ok }})
		stmts, err := p.Next()
		if err != nil {
			t.Errorf("%q: %v", c.src, err)
			continue
		}
		var got []string
		for _, s := range stmts {
			call, ok := s.Cmd.(*syntax.CallExpr)
			if !ok {
				got = append(got, "?")
				continue
			}
			var words []string
			for _, w := range call.Args {
				text := "?"
				if l, ok := w.Parts[0].(*syntax.Lit); ok {
					text = l.Value
				}
				words = append(words, text)
			}
			got = append(got, strings.Join(words, " "))
		}
		if g := strings.Join(got, "|"); g != c.want {
			t.Errorf("%q: got %q, want %q", c.src, g, c.want)
		}
	}
}

// FuzzParse: any source ends in a tree or an error, soon.
func FuzzParse(f *testing.F) {
	for _, s := range forms(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 1<<12 {
			return
		}
		parseAll(src)
		Word(src)
		Array(src)
		Prompt(src)
	})
}
