package regex

import (
	"context"
	"errors"
	"unicode/utf8"
)

// Syntax is a dialect.
type Syntax uint8

// The dialects. They differ in what an operator out of place means.
const (
	Basic        Syntax = iota // regcomp(3) without REG_EXTENDED: sed, expr, csplit
	Extended                   // regcomp(3) with REG_EXTENDED: sed -E, [[ =~ ]]
	Grep                       // grep
	GrepExtended               // grep -E
	Awk                        // gawk: extended, with awk's escapes and no back-references
	Emacs                      // find -regex: basic, but + and ? are operators as they stand
)

// Flags modify how a pattern is read or matched.
type Flags uint16

// The flags.
const (
	// IgnoreCase makes letters match in either case.
	IgnoreCase Flags = 1 << 0
	// UTF8 makes characters of UTF-8 sequences; see the package comment.
	UTF8 Flags = 1 << 1
	// Multiline lets ^ and $ match around newlines in the text too.
	Multiline Flags = 1 << 2
	// NoNewline keeps . and negated brackets from matching a newline.
	NoNewline Flags = 1 << 3
	// WholeWord accepts only matches with no word character on either side.
	WholeWord Flags = 1 << 4
	// WholeLine accepts only matches of the whole text.
	WholeLine Flags = 1 << 5
	// StrictClass refuses [:space:] where [[:space:]] must be meant.
	StrictClass Flags = 1 << 6
)

// Error is a mistake in a pattern, in the C library's words.
type Error string

// Error returns the message.
func (e Error) Error() string { return string(e) }

// The mistakes.
const (
	ErrCollate     = Error("Invalid collation character")
	ErrClassName   = Error("Invalid character class name")
	ErrEscape      = Error("Trailing backslash")
	ErrBackref     = Error("Invalid back reference")
	ErrBracket     = Error("Unmatched [, [^, [:, [., or [=")
	ErrParen       = Error(`Unmatched ( or \(`)
	ErrBrace       = Error(`Unmatched \{`)
	ErrBadBrace    = Error(`Invalid content of \{\}`)
	ErrRange       = Error("Invalid range end")
	ErrRepeat      = Error("Invalid preceding regular expression")
	ErrSize        = Error("Regular expression too big")
	ErrCloseParen  = Error(`Unmatched ) or \)`)
	ErrClassSyntax = Error("character class syntax is [[:space:]], not [:space:]")
)

// ErrTooComplex ends a match with back-references that took too many steps.
var ErrTooComplex = errors.New("regular expression too complex")

// Regexp is a compiled pattern. It is not safe for concurrent use: it learns
// while it matches.
type Regexp struct {
	prog     *prog
	dfa      *dfa
	groups   int
	warnings []string
	must     []byte
	exact    bool

	capture  captures
	track    backtracker
	backrefs bool
	utf8     bool
}

// Compile compiles a pattern.
func Compile(pattern string, syntax Syntax, flags Flags) (*Regexp, error) {
	return CompileAll([]string{pattern}, syntax, flags)
}

// CompileAll compiles the alternation of several patterns, each read for
// itself: a back-reference means a group of its own pattern, and groups are
// numbered through.
func CompileAll(patterns []string, syntax Syntax, flags Flags) (*Regexp, error) {
	re := &Regexp{utf8: flags&UTF8 != 0}
	var alts []*node
	for _, pattern := range patterns {
		p := parser{src: pattern, dialect: dialects[syntax], flags: flags, base: re.groups}
		n, err := p.parse()
		if err != nil {
			return nil, err
		}
		re.groups += p.groups
		re.backrefs = re.backrefs || p.backrefs
		re.warnings = append(re.warnings, p.warnings...)
		alts = append(alts, n)
	}
	if err := re.build(alternate(alts), flags); err != nil {
		return nil, err
	}
	return re, nil
}

// Literals compiles the alternation of strings that stand for themselves.
func Literals(words []string, flags Flags) (*Regexp, error) {
	re := &Regexp{utf8: flags&UTF8 != 0}
	if err := re.build(literals(words, flags), flags); err != nil {
		return nil, err
	}
	return re, nil
}

// build makes the program of a tree.
func (re *Regexp) build(n *node, flags Flags) error {
	re.must, re.exact = required(n, flags)
	switch {
	case flags&WholeLine != 0:
		n, re.exact = concat(assertion(beginText), n, assertion(endText)), false
	case flags&WholeWord != 0:
		n, re.exact = concat(assertion(afterNonWord), n, assertion(beforeNonWord)), false
	}
	prog, err := compile(n, re.groups, flags)
	if err != nil {
		return err
	}
	re.prog = prog
	loose := prog
	if re.backrefs {
		// The automaton matches a superset: each back-reference is a copy of
		// the group it names.
		if loose, err = compile(loosen(n, map[int]*node{}), 0, flags); err != nil {
			return err
		}
	}
	re.dfa = newDFA(loose)
	return nil
}

// Groups returns the number of groups.
func (re *Regexp) Groups() int { return re.groups }

// Warnings returns what GNU grep warns of in the pattern.
func (re *Regexp) Warnings() []string { return re.warnings }

// Required returns bytes that every match contains, and whether every
// occurrence of them is a match; nil when nothing is known. It is for those
// who can skip much text by a search for them.
func (re *Regexp) Required() (literal []byte, exact bool) { return re.must, re.exact }

// Match reports whether text has a match.
func (re *Regexp) Match(ctx context.Context, text []byte) (bool, error) {
	if !re.backrefs {
		start, _, err := re.dfa.find(ctx, text, 0, true)
		return start >= 0, err
	}
	start, _, err := re.find(ctx, text, 0, true)
	return start >= 0, err
}

// Find returns the leftmost-longest match that starts at from or later; start
// is -1 when there is none. What is before from is context for ^, \b and the
// like, never part of the match.
func (re *Regexp) Find(ctx context.Context, text []byte, from int) (start, end int, err error) {
	return re.find(ctx, text, from, false)
}

func (re *Regexp) find(ctx context.Context, text []byte, from int, any bool) (start, end int, err error) {
	start, end, err = re.dfa.find(ctx, text, from, any && !re.backrefs)
	if start < 0 || err != nil || !re.backrefs {
		return start, end, err
	}
	re.track.reset(re.prog, any)
	for s := start; s <= len(text); s++ {
		if s < len(text) {
			if s = re.dfa.first.next(text, s); s < 0 {
				break
			}
			if re.utf8 && !utf8.RuneStart(text[s]) && leadOf(text, s) != s {
				continue
			}
		}
		end, err := re.track.longest(ctx, text, s)
		if err != nil {
			return -1, -1, err
		}
		if end >= 0 {
			return s, end, nil
		}
	}
	return -1, -1, nil
}

// FindGroups is Find that yields the groups too: loc[2*n] and loc[2*n+1] are
// where group n starts and ends, -1 when it took no part; group 0 is the match.
// It appends to loc[:0], and returns nil when there is no match.
func (re *Regexp) FindGroups(ctx context.Context, text []byte, from int, loc []int) ([]int, error) {
	start, end, err := re.find(ctx, text, from, false)
	if start < 0 || err != nil {
		return nil, err
	}
	loc = loc[:0]
	if re.groups == 0 {
		return append(loc, start, end), nil
	}
	if re.backrefs {
		loc = append(loc, re.track.best[:2*(re.groups+1)]...)
	} else {
		for range 2 * (re.groups + 1) {
			loc = append(loc, -1)
		}
		if err := re.capture.run(ctx, re.prog, text, start, end, loc); err != nil {
			return nil, err
		}
	}
	loc[0], loc[1] = start, end
	return loc, nil
}
