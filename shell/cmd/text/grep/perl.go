package grep

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// perlTimeout is how long the search of one line with -P may take.
const perlTimeout = 2 * time.Second

// keepGroup names the empty group that stands for \K: the match starts there.
const keepGroup = "vfsdkeep"

var errPerlLimit = errors.New("exceeded PCRE's backtracking limit")

// perl matches Perl's regular expressions.
type perl struct {
	re   *regexp2.Regexp
	utf8 bool
	keep bool
	// The line in the form the matcher takes, and where each character starts.
	runes   []rune
	offsets []int
}

// newPerl compiles the one pattern of -P.
func newPerl(s *settings, wide bool) (matcher, error) {
	if len(s.patterns) > 1 {
		return nil, errors.New("the -P option only supports a single pattern")
	}
	if len(s.patterns) == 0 {
		return nothing{}, nil
	}
	t := perlTranslator{src: s.patterns[0]}
	if err := t.translate(); err != nil {
		return nil, err
	}
	pattern := t.out.String()
	switch {
	case s.line:
		pattern = `^(?:` + pattern + `)$`
	case s.word:
		pattern = `(?<![0-9A-Za-z_])(?:` + pattern + `)(?![0-9A-Za-z_])`
	}
	var options regexp2.RegexOptions = regexp2.Multiline
	if s.ignoreCase {
		options |= regexp2.IgnoreCase
	}
	if !wide {
		pattern = latin(pattern)
	}
	re, err := regexp2.Compile(pattern, options)
	if err != nil {
		return nil, perlError(err)
	}
	re.MatchTimeout = perlTimeout
	return &perl{re: re, utf8: wide, keep: t.keep}, nil
}

// latin turns each byte into the character of that number.
func latin(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// perlError says in PCRE's words what is wrong with a pattern, where that is
// known.
func perlError(err error) error {
	text := err.Error()
	for _, m := range [...][2]string{
		{"missing closing )", "missing closing parenthesis"},
		{"unexpected )", "unmatched closing parenthesis"},
		{"missing closing ]", "missing terminating ] for character class"},
		{"unterminated [] set", "missing terminating ] for character class"},
		{"missing argument to repetition operator", "quantifier does not follow a repeatable item"},
		{"nested repetition operator", "quantifier does not follow a repeatable item"},
		{"invalid nested repetition operator", "quantifier does not follow a repeatable item"},
		{"illegal \\ at end", "\\ at end of pattern"},
		{"trailing backslash", "\\ at end of pattern"},
		{"reverse order", "range out of order in character class"},
		{"undefined group", "reference to non-existent subpattern"},
		{"reference to undefined", "reference to non-existent subpattern"},
	} {
		if strings.Contains(text, m[0]) {
			return errors.New(m[1])
		}
	}
	return err
}

func (p *perl) required() ([]byte, bool) { return nil, false }

func (p *perl) match(ctx context.Context, line []byte) (bool, error) {
	start, _, err := p.find(ctx, line, 0)
	return start >= 0, err
}

func (p *perl) find(ctx context.Context, line []byte, from int) (start, end int, err error) {
	if err := ctx.Err(); err != nil {
		return -1, -1, context.Cause(ctx)
	}
	// A line is looked at again for each match in it: from > 0.
	if from == 0 {
		p.decode(line)
	}
	at := 0
	for at < len(p.offsets) && p.offsets[at] < from {
		at++
	}
	m, err := p.re.FindRunesMatchStartingAt(p.runes, at)
	if err != nil {
		return -1, -1, errPerlLimit
	}
	if m == nil {
		return -1, -1, nil
	}
	first := m.Index
	if p.keep {
		if g := m.GroupByName(keepGroup); g != nil && len(g.Captures) > 0 {
			first = g.Captures[len(g.Captures)-1].Index
		}
	}
	return p.offsets[first], p.offsets[m.Index+m.Length], nil
}

// decode makes runes of a line. A byte that is no character becomes one that no
// pattern of valid text can ask for.
func (p *perl) decode(line []byte) {
	p.runes, p.offsets = p.runes[:0], p.offsets[:0]
	for i := 0; i < len(line); {
		r, n := rune(line[i]), 1
		if p.utf8 && r >= utf8.RuneSelf {
			if r, n = utf8.DecodeRune(line[i:]); r == utf8.RuneError && n == 1 {
				r = rune(line[i]) + utf8.MaxRune + 1
			}
		}
		p.runes, p.offsets = append(p.runes, r), append(p.offsets, i)
		i += n
	}
	p.offsets = append(p.offsets, len(line))
}

// nothing matches nothing: the matcher of no pattern.
type nothing struct{}

func (nothing) match(context.Context, []byte) (bool, error) { return false, nil }
func (nothing) find(context.Context, []byte, int) (int, int, error) {
	return -1, -1, nil
}
func (nothing) required() ([]byte, bool) { return nil, false }

// perlTranslator rewrites a pattern of PCRE for regexp2, where the two differ.
type perlTranslator struct {
	src  string
	out  strings.Builder
	keep bool
}

// translate rewrites what is outside and inside of brackets.
func (t *perlTranslator) translate() error {
	for i := 0; i < len(t.src); {
		switch c := t.src[i]; {
		case c == '\\':
			n, err := t.escape(t.src[i:], false)
			if err != nil {
				return err
			}
			i += n
		case c == '[':
			n, err := t.bracket(t.src[i:])
			if err != nil {
				return err
			}
			i += n
		case strings.HasPrefix(t.src[i:], "(?P<"), strings.HasPrefix(t.src[i:], "(?P'"):
			t.out.WriteString("(?")
			i += len("(?P")
		case strings.HasPrefix(t.src[i:], "(?P="):
			name, _, ok := strings.Cut(t.src[i+len("(?P="):], ")")
			if !ok {
				return errors.New("missing closing parenthesis")
			}
			t.out.WriteString(`\k<` + name + ">")
			i += len("(?P=") + len(name) + 1
		case strings.IndexByte("*+?}", c) >= 0 && i+1 < len(t.src) && t.src[i+1] == '+':
			t.possessive(string(c))
			i += 2
		default:
			t.out.WriteByte(c)
			i++
		}
	}
	return nil
}

// possessive makes the last item, repeated, atomic: a++ is (?>a+).
func (t *perlTranslator) possessive(quantifier string) {
	s := t.out.String()
	at := lastItem(s)
	t.out.Reset()
	t.out.WriteString(s[:at] + "(?>" + s[at:] + quantifier + ")")
}

// lastItem returns where the last item of a pattern that can be repeated
// starts.
func lastItem(s string) int {
	end := len(s)
	if strings.HasSuffix(s, "}") {
		// possessive gets the brace itself; what is here is "a{2,3".
		return lastItem(s[:max(0, strings.LastIndexByte(s, '{'))])
	}
	if i := strings.LastIndexByte(s, '{'); i > 0 && strings.Trim(s[i+1:], "0123456789,") == "" {
		end = i
	}
	if end == 0 {
		return 0
	}
	open, shut := byte(0), s[end-1]
	switch shut {
	case ')':
		open = '('
	case ']':
		open = '['
	default:
		if end > 1 && s[end-2] == '\\' {
			return end - 2
		}
		return end - 1
	}
	depth := 0
	for i := end - 1; i >= 0; i-- {
		escaped := i > 0 && s[i-1] == '\\'
		if s[i] == shut && !escaped {
			depth++
		}
		if s[i] == open && !escaped {
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}

// bracket rewrites a character class and returns its length.
func (t *perlTranslator) bracket(s string) (int, error) {
	i := 1
	t.out.WriteByte('[')
	if strings.HasPrefix(s[i:], "^") {
		t.out.WriteByte('^')
		i++
	}
	for first := true; i < len(s); first = false {
		switch c := s[i]; {
		case c == ']' && first:
			t.out.WriteString(`\]`)
			i++
		case c == ']':
			t.out.WriteByte(']')
			return i + 1, nil
		case c == '\\':
			n, err := t.escape(s[i:], true)
			if err != nil {
				return 0, err
			}
			i += n
		case strings.HasPrefix(s[i:], "[:"):
			name, _, ok := strings.Cut(s[i+2:], ":]")
			members, known := perlClasses[strings.TrimPrefix(name, "^")]
			if !ok || !known || strings.HasPrefix(name, "^") {
				return 0, errors.New("unknown POSIX class name")
			}
			t.out.WriteString(members)
			i += len("[:") + len(name) + len(":]")
		case c == '[':
			t.out.WriteString(`\[`)
			i++
		default:
			t.out.WriteByte(c)
			i++
		}
	}
	return 0, errors.New("missing terminating ] for character class")
}

// perlClasses are the members of POSIX classes, for use inside brackets.
var perlClasses = map[string]string{
	"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": `\t-\r `,
	"blank": `\t `, "punct": `!-/:-@\[-` + "`" + `{-~`, "print": " -~", "graph": "!-~", "cntrl": `\x00-\x1f\x7f`,
	"xdigit": "0-9A-Fa-f", "word": `a-zA-Z0-9_`, "ascii": `\x00-\x7f`,
}

// escape rewrites an escape and returns its length; PCRE's \w, \d and \s know
// ASCII alone.
func (t *perlTranslator) escape(s string, inside bool) (int, error) {
	if len(s) < 2 {
		return 0, errors.New("\\ at end of pattern")
	}
	class := ""
	switch s[1] {
	case 'w', 'W':
		class = perlClasses["word"]
	case 'd', 'D':
		class = perlClasses["digit"]
	case 's', 'S':
		class = perlClasses["space"]
	case 'h', 'H':
		class = `\t \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000`
	case 'N':
		class = `\n`
	}
	switch c := s[1]; {
	case class != "" && (c >= 'a' || !inside):
		t.class(class, c < 'a', inside)
	case class != "":
		t.out.WriteString(s[:2]) // a negated class inside of brackets: its own form is near enough
	case c == 'K' && !inside:
		t.keep = true
		t.out.WriteString("(?<" + keepGroup + ">)")
	case c == 'R' && !inside:
		t.out.WriteString(`(?>\r\n|[\n-\r\u0085\u2028\u2029])`)
	case c == 'Q':
		text, _, _ := strings.Cut(s[2:], `\E`)
		t.out.WriteString(regexp2.Escape(text))
		return min(len(s), len(text)+4), nil
	case c == 'E':
	case c == 'x' && len(s) > 2 && s[2] == '{':
		return t.hex(s)
	case c == 'o' && len(s) > 2 && s[2] == '{':
		return 0, errors.New("unsupported escape \\o")
	case c == 'g' && !inside:
		return t.reference(s)
	default:
		t.out.WriteString(s[:2])
	}
	return 2, nil
}

// class writes a class for use inside or outside of brackets.
func (t *perlTranslator) class(members string, negated, inside bool) {
	switch {
	case inside:
		t.out.WriteString(members)
	case negated:
		t.out.WriteString("[^" + members + "]")
	default:
		t.out.WriteString("[" + members + "]")
	}
}

// hex rewrites \x{...}.
func (t *perlTranslator) hex(s string) (int, error) {
	digits, _, ok := strings.Cut(s[3:], "}")
	if !ok || strings.Trim(digits, "0123456789abcdefABCDEF") != "" || len(digits) > 8 {
		return 0, errors.New("non-hex character in \\x{} (closing brace missing?)")
	}
	r := rune(0)
	for _, d := range digits {
		r = r<<4 | rune(strings.IndexRune("0123456789abcdef", d|0x20))
	}
	t.out.WriteString(regexp2.Escape(string(r)))
	return len(digits) + len(`\x{}`), nil
}

// reference rewrites \g1, \g{1}, \g{-1} and \g{name}.
func (t *perlTranslator) reference(s string) (int, error) {
	rest := s[2:]
	if strings.HasPrefix(rest, "{") {
		name, _, ok := strings.Cut(rest[1:], "}")
		if !ok || strings.HasPrefix(name, "-") {
			return 0, errors.New("a relative reference is not supported")
		}
		t.out.WriteString(`\k<` + name + ">")
		return len(name) + len(`\g{}`), nil
	}
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	t.out.WriteString(`\k<` + rest[:n] + ">")
	return n + 2, nil
}

// Perl is a compiled regular expression of Perl's, for those that have such an
// option too. Each line may take a limited time.
type Perl struct{ m *perl }

// CompilePerl compiles a pattern; word and line make it match only whole words
// or lines.
func CompilePerl(pattern string, ignoreCase, word, line bool) (*Perl, error) {
	m, err := newPerl(&settings{patterns: []string{pattern}, ignoreCase: ignoreCase, word: word, line: line}, true)
	if err != nil {
		return nil, err
	}
	return &Perl{m.(*perl)}, nil
}

// Match reports whether a line has a match.
func (p *Perl) Match(ctx context.Context, line []byte) (bool, error) { return p.m.match(ctx, line) }

// Find returns the first match at or after from; start < 0: none.
func (p *Perl) Find(ctx context.Context, line []byte, from int) (start, end int, err error) {
	return p.m.find(ctx, line, from)
}
