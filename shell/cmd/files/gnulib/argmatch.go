package gnulib

import (
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

// Choice is one word that an option's argument may be. Choices of the same
// value that follow each other are synonyms.
type Choice struct {
	Word  string
	Value int
}

// MatchArg finds the choice that arg spells, in full or by a prefix that only
// one value has. Otherwise it reports the mistake and what the choices are;
// the command then returns its usage status.
func MatchArg(c *command.Context, option, arg string, choices []Choice) (int, bool) {
	v, found, ambiguous := matchChoice(arg, choices)
	if found {
		return v, true
	}
	kind := "invalid"
	if ambiguous {
		kind = "ambiguous"
	}
	var b strings.Builder
	for i, ch := range choices {
		if i > 0 && choices[i-1].Value == ch.Value {
			b.WriteString(", " + c.Quote(ch.Word))
		} else {
			b.WriteString("\n  - " + c.Quote(ch.Word))
		}
	}
	c.Usage("%s argument %s for %s\nValid arguments are:%s", kind, c.Quote(arg), c.Quote(option), b.String())
	return 0, false
}

func matchChoice(arg string, choices []Choice) (value int, found, ambiguous bool) {
	for _, ch := range choices {
		if ch.Word == arg {
			return ch.Value, true, false
		}
		if !strings.HasPrefix(ch.Word, arg) {
			continue
		}
		if found && ch.Value != value {
			ambiguous = true
		}
		if !found {
			value, found = ch.Value, true
		}
	}
	return value, found && !ambiguous, ambiguous
}
