package shell

import (
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// escapeRegex escapes what is special in a regular expression.
func escapeRegex(s string) string {
	if strings.IndexAny(s, regexSpecial) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(regexSpecial, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

const regexSpecial = `\.^$*+?()[]{}|`

// matchRegex is [[ text =~ re ]]: it sets BASH_REMATCH and returns 0, 1, or 2
// when re is no regular expression.
func (s *state) matchRegex(text, re string) int {
	bytes := !ascii(text+re) && !(s.wide() && utf8.ValidString(text) && utf8.ValidString(re))
	subject := text
	if bytes {
		// Every byte becomes the character of its number, which goes through
		// Go's regular expressions and comes back unharmed.
		subject, re = widen(text), widen(re)
	}
	x, err := s.compileRegex(re)
	if err != nil {
		s.setArray("BASH_REMATCH", nil)
		return 2
	}
	var at []int
	const large = 1 << 14
	if len(subject) < large {
		at = x.FindStringSubmatchIndex(subject)
	} else {
		at = x.FindReaderSubmatchIndex(&tickingReader{s: s, text: subject})
		s.tick()
	}
	if at == nil {
		s.setArray("BASH_REMATCH", nil)
		return 1
	}
	groups := make([]string, 0, len(at)/2)
	for i := 0; i < len(at); i += 2 {
		g := ""
		if at[i] >= 0 {
			g = subject[at[i]:at[i+1]]
		}
		if bytes {
			g = narrow(g)
		}
		groups = append(groups, g)
	}
	s.setArray("BASH_REMATCH", groups)
	return 0
}

// widen makes of each byte the character of that number.
func widen(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// narrow undoes widen.
func narrow(s string) string {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

// tickingReader yields the characters of a long text until the state must stop.
type tickingReader struct {
	s    *state
	text string
	n    int
}

// ReadRune implements io.RuneReader.
func (r *tickingReader) ReadRune() (rune, int, error) {
	if r.text == "" {
		return 0, 0, io.EOF
	}
	if r.n++; r.n&0xfff == 0 && (r.s.x.stopped.Load() || r.s.p.killed.Load() != 0) {
		return 0, 0, io.EOF
	}
	c, n := utf8.DecodeRuneInString(r.text)
	r.text = r.text[n:]
	return c, n, nil
}

// compileRegex compiles a POSIX extended regular expression; the last few are
// kept.
func (s *state) compileRegex(re string) (*regexp.Regexp, error) {
	key := re
	if s.opts.shopts(shoptNocasematch) {
		key = "i" + re
	} else {
		key = "c" + re
	}
	if x := s.regexes[key]; x != nil {
		return x, nil
	}
	t := ereTranslator{src: re}
	text, err := t.translate()
	if err != nil {
		return nil, err
	}
	flags := "(?s)"
	if key[0] == 'i' {
		flags = "(?is)"
	}
	x, err := regexp.Compile(flags + text)
	if err != nil {
		return nil, err
	}
	x.Longest()
	if len(s.regexes) >= 32 || s.regexOwn != s.own {
		s.regexes, s.regexOwn = map[string]*regexp.Regexp{}, s.own
	}
	s.regexes[key] = x
	return x, nil
}
