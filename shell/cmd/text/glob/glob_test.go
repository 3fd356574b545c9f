package glob

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		o             Options
		want          bool
	}{
		{"*.c", "a.c", 0, true}, {"*.c", "a.h", 0, false}, {"*", "a/b", 0, true}, {"*", "a/b", Pathname, false},
		{"a?c", "a/c", Pathname, false}, {"a?c", "aéc", 0, true}, {"[a-c]x", "bx", 0, true}, {"[!a-c]x", "bx", 0, false},
		{"[]x]", "]", 0, true}, {"[a", "[a", 0, true}, {`\*`, "*", 0, true}, {`\*`, "x", 0, false}, {"[[:digit:]]*", "1x", 0, true},
		{"A*", "ab", Fold, true}, {"[A-C]", "b", Fold, true}, {"*", ".x", Period, false}, {".*", ".x", Period, true},
		{"*/.x", "a/.x", Pathname | Period, true}, {"a*b*c", "aXbYc", 0, true}, {"", "", 0, true}, {"*", "", 0, true}, {"?", "", 0, false},
		{`a[\]]`, "a]", 0, true}, {"[[:foo:]]", "f", 0, false},
	} {
		if got := Match(c.pattern, c.name, c.o); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.name, got)
		}
	}
	// This takes an exponential matcher for ever.
	if Match(strings.Repeat("*a", 40)+"b", strings.Repeat("a", 200), 0) {
		t.Error("matched")
	}
}
