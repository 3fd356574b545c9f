package rg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vfsd/vfsd/shell/cmd/regex"
	"github.com/vfsd/vfsd/shell/cmd/text/grep"
)

// matcher finds the patterns in a line, or in a whole text.
type matcher struct {
	re *regexp.Regexp
	// next finds what follows a first match with -w, where re would take the
	// start of the rest for the start of a line.
	next *regexp.Regexp
	perl *grep.Perl
	// filter matches every line that re matches, and few others, but faster.
	filter  *regex.Regexp
	literal []byte // what every match contains
	exact   bool   // the literal is all there is to it
	word    bool
	// substitute puts newlines in the place of bytes that are no text, for
	// those match nothing.
	substitute bool
	copied     []byte
}

// newMatcher compiles the patterns.
func newMatcher(s *settings) (*matcher, error) {
	m := &matcher{word: s.word}
	fold := s.fold || s.smart && !anyUpper(s)
	if s.perl && !s.fixed {
		p, err := grep.CompilePerl(alternatives(s.patterns), fold, s.word, s.line)
		if err != nil {
			return nil, fmt.Errorf("PCRE2: error compiling pattern: %v", err)
		}
		m.perl = p
		return m, nil
	}
	pattern, err := goPattern(s)
	if err != nil {
		return nil, err
	}
	flags := "(?m"
	if fold {
		flags += "i"
	}
	if s.multiline && s.dotAll {
		flags += "s"
	}
	flags += ")"
	if m.re, err = compile(flags+wrap(pattern, s), !s.multiline); err != nil {
		return nil, patternError(pattern, err)
	}
	if s.word {
		if m.next, err = compile(flags+notWord+"("+pattern+")(?:"+notWord+"|$)", !s.multiline); err != nil {
			return nil, err
		}
	}
	m.substitute = !s.multiline
	if !s.multiline {
		var whole bool
		m.filter, whole = newFilter(flags + "(?:" + pattern + ")")
		if m.filter != nil {
			m.literal, _ = m.filter.Required()
			m.exact = whole && len(m.literal) > 0 && !s.word && !s.line
			if len(m.literal) == 0 {
				m.literal = nil
			}
		}
	}
	return m, nil
}

// compile compiles a pattern; with lines nothing in it matches a newline.
func compile(pattern string, lines bool) (*regexp.Regexp, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if lines {
		dropNewlines(re)
		pattern = re.String()
	}
	return regexp.Compile(pattern)
}

// dropNewlines takes the newline out of all classes.
func dropNewlines(re *syntax.Regexp) {
	for _, sub := range re.Sub {
		dropNewlines(sub)
	}
	if re.Op == syntax.OpAnyChar {
		re.Op = syntax.OpAnyCharNotNL
	}
	if re.Op != syntax.OpCharClass {
		return
	}
	var out []rune
	for i := 0; i+1 < len(re.Rune); i += 2 {
		lo, hi := re.Rune[i], re.Rune[i+1]
		if lo > '\n' || hi < '\n' {
			out = append(out, lo, hi)
			continue
		}
		if lo < '\n' {
			out = append(out, lo, '\n'-1)
		}
		if hi > '\n' {
			out = append(out, '\n'+1, hi)
		}
	}
	re.Rune = out
}

// text is a line in the form that the expression is to see.
func (m *matcher) text(line []byte) []byte {
	if !m.substitute || utf8.Valid(line) {
		return line
	}
	m.copied = append(m.copied[:0], line...)
	for i := 0; i < len(m.copied); {
		r, n := utf8.DecodeRune(m.copied[i:])
		if r == utf8.RuneError && n == 1 {
			m.copied[i] = '\n'
		}
		i += n
	}
	return m.copied
}

// notWord is what is no part of a word.
const notWord = `[^\pL\pM\p{Nd}\p{Nl}\p{Pc}]`

// wrap makes a pattern match whole words or lines.
func wrap(pattern string, s *settings) string {
	switch {
	case s.word:
		return "(?:^|" + notWord + ")(" + pattern + ")(?:" + notWord + "|$)"
	case s.line:
		return "^(?:" + pattern + ")$"
	}
	return pattern
}

func alternatives(patterns []string) string {
	if len(patterns) == 1 {
		return patterns[0]
	}
	return "(?:" + strings.Join(patterns, ")|(?:") + ")"
}

// goPattern makes one pattern of all, in the syntax of package regexp.
func goPattern(s *settings) (string, error) {
	var parts []string
	for _, p := range s.patterns {
		if s.fixed {
			parts = append(parts, regexp.QuoteMeta(p))
			continue
		}
		t := p
		if !s.noUnicode {
			t = unicodeClasses(p)
		}
		re, err := syntax.Parse(t, syntax.Perl)
		if err != nil {
			return "", patternError(p, err)
		}
		if !s.multiline && matchesNewline(re) {
			return "", errors.New("the literal '\"\\n\"' is not allowed in a regex\n\nConsider enabling multiline mode with the --multiline flag (or -U for short).\nWhen multiline mode is enabled, new line characters can be matched.")
		}
		parts = append(parts, t)
	}
	if len(parts) == 0 {
		return `[^\x00-\x{10ffff}]`, nil
	}
	return alternatives(parts), nil
}

// matchesNewline tells whether a pattern names a newline.
func matchesNewline(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral {
		for _, r := range re.Rune {
			if r == '\n' {
				return true
			}
		}
	}
	for _, sub := range re.Sub {
		if matchesNewline(sub) {
			return true
		}
	}
	return false
}

// anyUpper tells whether a pattern has capital letters that stand for themselves.
func anyUpper(s *settings) bool {
	for _, p := range s.patterns {
		for i := 0; i < len(p); {
			r, n := utf8.DecodeRuneInString(p[i:])
			if r == '\\' && !s.fixed {
				i += n
				if i < len(p) && (p[i] == 'p' || p[i] == 'P') && strings.HasPrefix(p[i+1:], "{") {
					i += max(strings.IndexByte(p[i:], '}'), 0)
				}
				_, n = utf8.DecodeRuneInString(p[min(i, len(p)):])
				i += n
				continue
			}
			if unicode.IsUpper(r) {
				return true
			}
			i += n
		}
	}
	return false
}

// unicodeClasses spells out \d, \s and \w, which in Rust are those of Unicode, and
// rewrites escapes that package regexp does not know.
func unicodeClasses(p string) string {
	const digit, white, word = `\p{Nd}`, `\s\x{85}\p{Z}\v`, `\pL\pM\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}`
	var b strings.Builder
	class := 0 // position behind the bracket that opened one, or 0
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c != '\\' || i+1 == len(p) {
			switch {
			case c == '[' && class == 0:
				class = i + 1
				if strings.HasPrefix(p[class:], "^") {
					class++
				}
			case c == '[' && strings.HasPrefix(p[i:], "[:"):
				if n := strings.Index(p[i:], ":]"); n > 0 {
					b.WriteString(p[i : i+n+2])
					i += n + 1
					continue
				}
			case c == ']' && class > 0 && i > class:
				class = 0
			}
			b.WriteByte(c)
			continue
		}
		i++
		open, shut := "[", "]"
		if class > 0 {
			open, shut = "", ""
		}
		switch p[i] {
		case 'd':
			b.WriteString(digit)
		case 's':
			b.WriteString(open + white + shut)
		case 'w':
			b.WriteString(open + word + shut)
		case 'D':
			b.WriteString(`\P{Nd}`)
		case 'S', 'W':
			set := white
			if p[i] == 'W' {
				set = word
			}
			if class > 0 {
				b.WriteString(p[i-1 : i+1])
			} else {
				b.WriteString("[^" + set + "]")
			}
		case 'u', 'U':
			i += writeCode(&b, p[i:])
		default:
			b.WriteString(p[i-1 : i+1])
		}
	}
	return b.String()
}

// writeCode rewrites \uFFFF, \UFFFFFFFF and \u{...}; it returns how far behind the
// letter that reaches.
func writeCode(b *strings.Builder, s string) int {
	if strings.HasPrefix(s[1:], "{") {
		b.WriteString(`\x`)
		return 0
	}
	n := 4
	if s[0] == 'U' {
		n = 8
	}
	if len(s) <= n {
		b.WriteString(`\` + s[:1])
		return 0
	}
	b.WriteString(`\x{` + s[1:1+n] + `}`)
	return n
}

// patternError says what is wrong with a pattern the way Rust does, where that is
// known.
func patternError(pattern string, err error) error {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return err
	}
	at, n := max(0, strings.Index(pattern, e.Expr)), len(e.Expr)
	text := string(e.Code)
	hint := ""
	switch e.Code {
	case syntax.ErrMissingParen:
		at, n, text = unclosed(pattern), 1, "unclosed group"
	case syntax.ErrUnexpectedParen:
		at, n, text = unopened(pattern), 1, "unopened group"
	case syntax.ErrMissingBracket:
		n, text = 1, "unclosed character class"
	case syntax.ErrMissingRepeatArgument:
		n, text = 1, "repetition operator missing expression"
	case syntax.ErrInvalidRepeatSize:
		text = "invalid repetition count range, the start must be <= the end"
	case syntax.ErrInvalidEscape:
		text = "unrecognized escape sequence"
	case syntax.ErrInvalidCharRange:
		text = "invalid character class range, the start must be <= the end"
		if strings.HasPrefix(e.Expr, `\p`) || strings.HasPrefix(e.Expr, `\P`) {
			text = "Unicode property not found"
		}
	case syntax.ErrTrailingBackslash:
		at, n, text = len(pattern)-1, 1, "incomplete escape sequence, reached end of pattern prematurely"
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidNamedCapture:
		if strings.HasPrefix(e.Expr, "(?=") || strings.HasPrefix(e.Expr, "(?!") || strings.HasPrefix(e.Expr, "(?<") {
			n, text = 3, "look-around, including look-ahead and look-behind, is not supported"
			if len(e.Expr) > 3 && e.Expr[2] == '<' && (e.Expr[3] == '=' || e.Expr[3] == '!') {
				n = 4
			}
			hint = "\n\nConsider enabling PCRE2 with the --pcre2 flag, which can handle backreferences\nand look-around."
		}
	}
	return fmt.Errorf("regex parse error:\n    %s\n    %s%s\nerror: %s%s", pattern, strings.Repeat(" ", at), strings.Repeat("^", n), text, hint)
}

// unclosed and unopened find the parenthesis that has no counterpart.
func unclosed(p string) int {
	var open []int
	skim(p, func(i int) {
		if p[i] == '(' {
			open = append(open, i)
		} else if len(open) > 0 {
			open = open[:len(open)-1]
		}
	})
	if len(open) == 0 {
		return 0
	}
	return open[len(open)-1]
}

func unopened(p string) int {
	depth, at := 0, -1
	skim(p, func(i int) {
		if p[i] == '(' {
			depth++
		} else if depth--; depth < 0 && at < 0 {
			at = i
		}
	})
	return max(at, 0)
}

// skim calls f for each parenthesis that is an operator.
func skim(p string, f func(i int)) {
	class := false
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '(', ')':
			if !class {
				f(i)
			}
		}
	}
}

// match reports whether a line has a match.
func (m *matcher) match(ctx context.Context, line []byte) (bool, error) {
	if m.perl != nil {
		return m.perl.Match(ctx, line)
	}
	if m.literal != nil {
		if !bytes.Contains(line, m.literal) {
			return false, ctx.Err()
		}
		if m.exact {
			return true, ctx.Err()
		}
	}
	if m.filter != nil {
		ok, err := m.filter.Match(ctx, line)
		if err == nil && !ok || err != nil && !errors.Is(err, regex.ErrTooComplex) {
			return false, err
		}
	}
	return m.re.Match(m.text(line)), ctx.Err()
}

// all finds the matches in a line: for each, the start and end of it and of its
// groups, -1 for groups without part in it.
func (m *matcher) all(ctx context.Context, line []byte) ([][]int, error) {
	switch {
	case m.perl != nil:
		return m.allPerl(ctx, line)
	case m.word:
		return m.allWords(m.text(line)), ctx.Err()
	}
	return m.re.FindAllSubmatchIndex(m.text(line), -1), ctx.Err()
}

func (m *matcher) allPerl(ctx context.Context, line []byte) ([][]int, error) {
	var all [][]int
	for from := 0; from <= len(line); {
		start, end, err := m.perl.Find(ctx, line, from)
		if start < 0 || err != nil {
			return all, err
		}
		all = append(all, []int{start, end})
		from = end
		if end == start {
			_, n := utf8.DecodeRune(line[end:])
			from += max(n, 1)
		}
	}
	return all, nil
}

// allWords finds whole words. The character before and behind belongs to the
// expression, not to the match.
func (m *matcher) allWords(line []byte) [][]int {
	var all [][]int
	re, from := m.re, 0
	for from <= len(line) {
		loc := re.FindSubmatchIndex(line[from:])
		if loc == nil {
			break
		}
		loc = loc[2:]
		for i := range loc {
			if loc[i] >= 0 {
				loc[i] += from
			}
		}
		all = append(all, loc)
		if loc[1] == from && from == len(line) {
			break
		}
		from = loc[1]
		if loc[0] == loc[1] {
			from++
		}
		re = m.next
	}
	return all
}

// expand writes a replacement for a match.
func (m *matcher) expand(out []byte, template string, line []byte, loc []int) []byte {
	if m.perl != nil {
		return append(out, strings.ReplaceAll(template, "$0", string(line[loc[0]:loc[1]]))...)
	}
	if !m.word {
		return m.re.Expand(out, []byte(template), line, loc)
	}
	// The groups of the expression are those of the pattern but for the first,
	// which is the match.
	return m.re.Expand(out, []byte(shiftGroups(template)), line, append([]int{loc[0], loc[1]}, loc...))
}

// shiftGroups makes $1 of a template $2, and so on.
func shiftGroups(template string) string {
	return regexp.MustCompile(`\$(\{?)([0-9]+)`).ReplaceAllStringFunc(template, func(s string) string {
		digits := strings.TrimLeft(s, "${")
		if digits == "0" {
			return s
		}
		var n int
		if _, err := fmt.Sscan(digits, &n); err != nil {
			return s
		}
		return strings.TrimSuffix(s, digits) + fmt.Sprint(n+1)
	})
}
