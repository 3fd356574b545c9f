package data

import (
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

// TestYqHostile gives yq documents that are deep, or whose aliases multiply:
// it must refuse them, or finish, within the process's limits.
func TestYqHostile(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := '1'; i <= '9'; i++ {
		bomb.WriteString("a" + string(i) + ": &a" + string(i) + " [" + strings.Repeat("*a"+string(i-1)+",", 9) + "]\n")
	}
	const deep = 200_000
	for _, c := range []struct{ format, text string }{
		{"yaml", bomb.String()}, {"yaml", strings.Repeat("[", deep)}, {"yaml", strings.Repeat("- ", deep)}, {"yaml", strings.Repeat("{a: ", deep)},
		{"json", strings.Repeat("[", deep) + strings.Repeat("]", deep)}, {"json", strings.Repeat(`{"a":`, deep)},
		{"toml", "a = " + strings.Repeat("[", deep)}, {"toml", strings.Repeat("a.", deep) + "a = 1"}, {"xml", strings.Repeat("<a>", deep)}, {"lua", "return " + strings.Repeat("{", deep)},
		{"props", strings.Repeat("a.", deep) + " = 1"}, {"hcl", "a = " + strings.Repeat("[", deep)},
	} {
		r := commandtest.Inside(t, &commandtest.Case{Args: []string{"yq", "-p", c.format, "-o", "json", "explode(.)"}, Stdin: c.text})
		if r.Status == 0 && len(r.Stdout) > 100<<20 {
			t.Errorf("%s %.20s: %d bytes", c.format, c.text, len(r.Stdout))
		}
		t.Logf("%s %.20s: %d %.80q %.200q", c.format, c.text, r.Status, r.Stdout, r.Stderr)
	}
}
