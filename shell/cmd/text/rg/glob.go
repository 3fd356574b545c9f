package rg

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"
)

// glob is a compiled pattern of a path: * and ? match no slash, ** as a whole
// component matches any number of components, {a,b} is one of several.
type glob struct {
	// What most patterns are needs no regexp: a base name, or a suffix of one.
	base, suffix string
	fold         bool
	re           *regexp.Regexp
}

// compileGlob compiles a pattern.
func compileGlob(pattern string, fold bool) (*glob, error) {
	if rest, ok := strings.CutPrefix(pattern, "**/"); ok && !fold {
		if plainName(rest) {
			return &glob{base: rest}, nil
		}
		if ext, ok := strings.CutPrefix(rest, "*"); ok && plainName(ext) {
			return &glob{suffix: ext}, nil
		}
	}
	t := globTranslator{src: pattern}
	if err := t.translate(); err != nil {
		return nil, err
	}
	flags := "(?s)"
	if fold {
		flags = "(?si)"
	}
	re, err := regexp.Compile(flags + "^(?:" + t.out.String() + ")$")
	if err != nil {
		return nil, err
	}
	return &glob{re: re, fold: fold}, nil
}

// plainName tells whether a pattern is just a name.
func plainName(s string) bool {
	return s != "" && !strings.ContainsAny(s, `*?[]{}\/,`) && utf8.ValidString(s)
}

// match reports whether the glob matches a path.
func (g *glob) match(path string) bool {
	if g.re != nil {
		return g.re.MatchString(path)
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	if g.base != "" {
		return base == g.base
	}
	return strings.HasSuffix(base, g.suffix)
}

// globTranslator makes a regexp of a glob.
type globTranslator struct {
	src   string
	i     int
	out   strings.Builder
	depth int // of braces
}

func (t *globTranslator) translate() error {
	for t.i < len(t.src) {
		c := t.src[t.i]
		switch c {
		case '*':
			t.stars()
			continue
		case '?':
			t.out.WriteString("[^/]")
		case '[':
			if err := t.class(); err != nil {
				return err
			}
			continue
		case '{':
			t.depth++
			t.out.WriteString("(?:")
		case '}':
			if t.depth == 0 {
				return errors.New("unopened alternate group; missing '{' (maybe escape '}' with '[}]'?)")
			}
			t.depth--
			t.out.WriteByte(')')
		case ',':
			if t.depth > 0 {
				t.out.WriteByte('|')
			} else {
				t.out.WriteByte(',')
			}
		case '\\':
			t.i++
			if t.i == len(t.src) {
				return errors.New("dangling '\\'")
			}
			t.literal()
			continue
		default:
			t.literal()
			continue
		}
		t.i++
	}
	if t.depth > 0 {
		return errors.New("unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)")
	}
	return nil
}

// literal writes the character at i as it is.
func (t *globTranslator) literal() {
	_, n := utf8.DecodeRuneInString(t.src[t.i:])
	t.out.WriteString(regexp.QuoteMeta(t.src[t.i : t.i+n]))
	t.i += n
}

// stars writes what a run of stars stands for.
func (t *globTranslator) stars() {
	start := t.i
	for t.i < len(t.src) && t.src[t.i] == '*' {
		t.i++
	}
	first := start == 0
	behind := start > 0 && t.src[start-1] == '/'
	last := t.i == len(t.src)
	before := !last && t.src[t.i] == '/'
	if t.i-start != 2 || !first && !behind || !last && !before {
		t.out.WriteString("[^/]*")
		return
	}
	switch {
	case first && last:
		t.out.WriteString(".*")
	case first:
		t.out.WriteString("(?:/?|.*/)")
		t.i++
	case last:
		t.out.WriteString(".*")
	default:
		// The slash before it is written already.
		t.out.WriteString("(?:|.*/)")
		t.i++
	}
}

// class writes a bracket expression.
func (t *globTranslator) class() error {
	unclosed := errors.New("unclosed character class; missing ']'")
	i := t.i + 1
	t.out.WriteByte('[')
	if i < len(t.src) && (t.src[i] == '!' || t.src[i] == '^') {
		t.out.WriteString("^/")
		i++
	}
	for n := 0; ; n++ {
		if i >= len(t.src) {
			return unclosed
		}
		if t.src[i] == ']' && n > 0 {
			break
		}
		_, k := utf8.DecodeRuneInString(t.src[i:])
		lo := t.src[i : i+k]
		i += k
		t.out.WriteString(quoteInClass(lo))
		if i+1 < len(t.src) && t.src[i] == '-' && t.src[i+1] != ']' {
			_, k := utf8.DecodeRuneInString(t.src[i+1:])
			hi := t.src[i+1 : i+1+k]
			i += 1 + k
			if hi < lo {
				return errors.New("invalid range; '" + lo + "' > '" + hi + "'")
			}
			t.out.WriteString("-" + quoteInClass(hi))
		}
	}
	t.out.WriteByte(']')
	t.i = i + 1
	return nil
}

func quoteInClass(s string) string {
	if strings.ContainsAny(s, `\]^-[&~`) {
		return `\` + s
	}
	return s
}
