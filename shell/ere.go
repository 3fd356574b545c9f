package shell

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vfsd/vfsd/shell/pattern"
)

// ereTranslator rewrites a POSIX extended regular expression, with GNU's
// additions but back-references, for Go.
type ereTranslator struct {
	src string
	i   int
	out []byte
	// atom is where the last atom starts in out, -1 when a repetition has
	// nothing to repeat; repeated says that it has been repeated once.
	atom     int
	repeated bool
	groups   []int // where open groups start in out
}

// regexError is what regerror(3) says.
type regexError string

func (e regexError) Error() string { return string(e) }

func (t *ereTranslator) translate() (string, error) {
	t.atom = -1
	for t.i < len(t.src) {
		if err := t.step(); err != nil {
			return "", err
		}
	}
	if len(t.groups) > 0 {
		return "", regexError("Unmatched ( or \\(")
	}
	return string(t.out), nil
}

// item appends an atom.
func (t *ereTranslator) item(text string) {
	t.atom, t.repeated = len(t.out), false
	t.out = append(t.out, text...)
}

func (t *ereTranslator) step() error {
	c := t.src[t.i]
	switch c {
	case '\\':
		return t.escape()
	case '[':
		return t.bracket()
	case '(':
		t.i++
		t.groups = append(t.groups, len(t.out))
		t.out = append(t.out, '(')
		t.atom = -1
	case ')':
		t.i++
		n := len(t.groups)
		if n == 0 { // it stands for itself
			t.item(`\)`)
			return nil
		}
		t.out = append(t.out, ')')
		t.atom, t.repeated = t.groups[n-1], false
		t.groups = t.groups[:n-1]
	case '|':
		t.i++
		t.out = append(t.out, '|')
		t.atom = -1
	case '*', '+', '?':
		t.i++
		return t.repeat(string(rune(c)))
	case '{':
		return t.interval()
	case '^':
		t.i++
		t.out = append(t.out, '^')
		t.atom = -1
	case '$', '.':
		t.i++
		t.item(string(rune(c)))
	default:
		_, n := utf8.DecodeRuneInString(t.src[t.i:])
		t.item(regexp.QuoteMeta(t.src[t.i : t.i+n]))
		t.i += n
	}
	return nil
}

// repeat applies a repetition to the last atom.
func (t *ereTranslator) repeat(op string) error {
	if t.atom < 0 {
		return regexError("Invalid preceding regular expression")
	}
	if t.repeated {
		inner := string(t.out[t.atom:])
		t.out = append(append(append(t.out[:t.atom], "(?:"...), inner...), ')')
	}
	t.repeated = true
	t.out = append(t.out, op...)
	return nil
}

// interval reads {n}, {n,}, {,m} or {n,m}; anything else stands for itself.
func (t *ereTranslator) interval() error {
	end := strings.IndexByte(t.src[t.i:], '}')
	if end < 0 {
		if t.atom < 0 {
			return regexError("Invalid preceding regular expression")
		}
		t.i++
		t.item(`\{`)
		return nil
	}
	lo, hi, comma := strings.Cut(t.src[t.i+1:t.i+end], ",")
	valid := func(s string) bool { return s == "" || isDigits(s) }
	if !valid(lo) || !valid(hi) || lo == "" && !comma {
		t.i++
		t.item(`\{`)
		return nil
	}
	t.i += end + 1
	if lo == "" {
		lo = "0"
	}
	a, err := strconv.Atoi(lo)
	b := a
	if err == nil && hi != "" {
		b, err = strconv.Atoi(hi)
	}
	if err != nil || b < a {
		return regexError("Invalid content of \\{\\}")
	}
	if comma {
		return t.repeat("{" + lo + "," + hi + "}")
	}
	return t.repeat("{" + lo + "}")
}

// escape reads a backslash and what it escapes.
func (t *ereTranslator) escape() error {
	if t.i+1 >= len(t.src) {
		return regexError("Trailing backslash")
	}
	c := t.src[t.i+1]
	t.i += 2
	switch c {
	case 'w', 'W', 's', 'S', 'b', 'B':
		t.item(`\` + string(rune(c)))
	case '<', '>':
		t.item(`\b`)
	case '`':
		t.item(`\A`)
	case '\'':
		t.item(`\z`)
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return regexError("back-references are not supported")
	default:
		t.i--
		_, n := utf8.DecodeRuneInString(t.src[t.i:])
		t.item(regexp.QuoteMeta(t.src[t.i : t.i+n]))
		t.i += n
	}
	return nil
}

// bracket reads a bracket expression, in which a backslash is a character like
// any other.
func (t *ereTranslator) bracket() error {
	var b strings.Builder
	b.WriteByte('[')
	i := t.i + 1
	if strings.HasPrefix(t.src[i:], "^") {
		b.WriteByte('^')
		i++
	}
	for first := true; ; first = false {
		if i >= len(t.src) {
			return regexError("Unmatched [, [^, [:, [., or [=")
		}
		rest := t.src[i:]
		if rest[0] == ']' && !first {
			break
		}
		if strings.HasPrefix(rest, "[:") {
			end := strings.Index(rest, ":]")
			if end < 0 {
				return regexError("Unmatched [, [^, [:, [., or [=")
			}
			name := rest[2:end]
			if _, ok := pattern.Classes[name]; !ok {
				return regexError("Invalid character class name")
			}
			b.WriteString(goClass(name))
			i += end + 2
			continue
		}
		r, n := bracketRune(rest)
		i += n
		writeBracketRune(&b, r)
		if i+1 < len(t.src) && t.src[i] == '-' && t.src[i+1] != ']' {
			hi, n := bracketRune(t.src[i+1:])
			if hi < r {
				return regexError("Invalid range end")
			}
			b.WriteByte('-')
			writeBracketRune(&b, hi)
			i += 1 + n
		}
	}
	b.WriteByte(']')
	t.i = i + 1
	t.item(b.String())
	return nil
}

// goClass is a character class in Go's syntax.
func goClass(name string) string {
	switch name {
	case "alpha":
		return `\pL`
	case "lower":
		return `\p{Ll}`
	case "upper":
		return `\p{Lu}`
	case "alnum":
		return `\pL\p{Nd}`
	}
	return "[:" + name + ":]"
}

// bracketRune reads one character of a bracket expression: itself, [.x.] or
// [=x=].
func bracketRune(s string) (rune, int) {
	if len(s) > 4 && s[0] == '[' && (s[1] == '.' || s[1] == '=') {
		if r, n := utf8.DecodeRuneInString(s[2:]); strings.HasPrefix(s[2+n:], string([]byte{s[1], ']'})) {
			return r, n + 4
		}
	}
	return utf8.DecodeRuneInString(s)
}

func writeBracketRune(b *strings.Builder, r rune) {
	if strings.ContainsRune(`\]^-[`, r) {
		b.WriteByte('\\')
	}
	b.WriteRune(r)
}
