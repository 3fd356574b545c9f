package grep

import (
	"context"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/regex"
)

// matcher finds what was asked for in one line.
type matcher interface {
	// match reports whether the line has a match.
	match(ctx context.Context, line []byte) (bool, error)
	// find returns the first match at or after from; start < 0: none.
	find(ctx context.Context, line []byte, from int) (start, end int, err error)
	// required returns bytes that every line with a match contains, or nil, and
	// whether each line that contains them has one.
	required() (literal []byte, exact bool)
}

// newMatcher compiles the patterns; warnings are to be printed in any case.
func newMatcher(s *settings, utf8 bool) (matcher, []string, error) {
	if s.matcher == 'P' {
		m, err := newPerl(s, utf8)
		return m, nil, err
	}
	flags := regex.StrictClass
	if utf8 {
		flags |= regex.UTF8
	}
	if s.ignoreCase {
		flags |= regex.IgnoreCase
	}
	if s.word {
		flags |= regex.WholeWord
	}
	if s.line {
		flags |= regex.WholeLine
	}
	var re *regex.Regexp
	var err error
	if s.matcher == 'F' || literal(s) {
		re, err = regex.Literals(s.patterns, flags)
	} else {
		syntax := regex.Grep
		if s.matcher == 'E' {
			syntax = regex.GrepExtended
		}
		re, err = regex.CompileAll(s.patterns, syntax, flags)
	}
	if err != nil {
		return nil, nil, err
	}
	return expression{re}, re.Warnings(), nil
}

// literal reports whether no pattern has anything special in it, so that many
// patterns can share their beginnings.
func literal(s *settings) bool {
	for _, p := range s.patterns {
		if strings.ContainsAny(p, `\[].*^$+?(){}|`) {
			return false
		}
	}
	return true
}

// expression is a POSIX regular expression.
type expression struct{ re *regex.Regexp }

func (e expression) match(ctx context.Context, line []byte) (bool, error) {
	return e.re.Match(ctx, line)
}

func (e expression) find(ctx context.Context, line []byte, from int) (int, int, error) {
	return e.re.Find(ctx, line, from)
}

func (e expression) required() ([]byte, bool) { return e.re.Required() }
