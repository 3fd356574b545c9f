package shell

import (
	"errors"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/regex"
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
	x, err := s.compileRegex(re)
	if err != nil {
		s.setArray("BASH_REMATCH", nil)
		return 2
	}
	at, err := x.FindGroups(s.p.ctx, []byte(text), 0, nil)
	s.tick()
	if errors.Is(err, regex.ErrTooComplex) {
		s.errorf("[[: %s: %v", re, err)
	}
	if at == nil {
		s.setArray("BASH_REMATCH", nil)
		return 1
	}
	groups := make([]string, 0, len(at)/2)
	for i := 0; i < len(at); i += 2 {
		g := ""
		if at[i] >= 0 {
			g = text[at[i]:at[i+1]]
		}
		groups = append(groups, g)
	}
	s.setArray("BASH_REMATCH", groups)
	return 0
}

// compileRegex compiles a POSIX extended regular expression; the last few are
// kept.
func (s *state) compileRegex(re string) (*regex.Regexp, error) {
	var flags regex.Flags
	if s.opts.shopts(shoptNocasematch) {
		flags |= regex.IgnoreCase
	}
	if s.wide() {
		flags |= regex.UTF8
	}
	key := string(rune(flags)) + re
	// A compiled expression learns while it matches, so a subshell, which runs
	// beside its parent, compiles its own.
	if s.regexOwn != s.own {
		s.regexes, s.regexOwn = nil, s.own
	}
	if x := s.regexes[key]; x != nil {
		return x, nil
	}
	x, err := regex.Compile(re, regex.Extended, flags)
	if err != nil {
		return nil, err
	}
	if s.regexes == nil || len(s.regexes) >= 32 {
		s.regexes = map[string]*regex.Regexp{}
	}
	s.regexes[key] = x
	return x, nil
}
