package control

import (
	"os/exec"
	"testing"
)

func TestQuoting(t *testing.T) {
	for _, tt := range []struct{ text, printable, word string }{
		{"", "", "''"},
		{"plain/name.go", "plain/name.go", "plain/name.go"},
		{"größe", "größe", "größe"},
		{"two words", "two words", "'two words'"},
		{"it's", "it's", `'it'\''s'`},
		{"~user", "~user", "'~user'"},
		{"a~", "a~", "a~"},
		{"$HOME`x`*", "$HOME`x`*", "'$HOME`x`*'"},
		{"a\nb", `$'a\nb'`, `$'a\nb'`},
		{"a\tb", `$'a\tb'`, `$'a\tb'`},
		{"\x1b[31mred'\\", `$'\033[31mred\'\\'`, `$'\033[31mred\'\\'`},
		{"bytes\xff7", `$'bytes\3777'`, `$'bytes\3777'`},
		{"\u202egpj", `$'\342\200\256gpj'`, `$'\342\200\256gpj'`},
		{"\ufffd", "\ufffd", "'\ufffd'"},
	} {
		if got := Printable(tt.text); got != tt.printable {
			t.Errorf("Printable(%q) is %s, want %s", tt.text, got, tt.printable)
		}
		if got := Word(tt.text); got != tt.word {
			t.Errorf("Word(%q) is %s, want %s", tt.text, got, tt.word)
		}
		if bash, err := exec.LookPath("bash"); err == nil {
			out, err := exec.Command(bash, "-c", "printf %s "+tt.word).Output()
			if err != nil || string(out) != tt.text {
				t.Errorf("bash reads %s as %q, %v; want %q", tt.word, out, err, tt.text)
			}
		}
	}
}
