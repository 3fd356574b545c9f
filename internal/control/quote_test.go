package control

import (
	"os/exec"
	"testing"
)

// TestErrorsPrint: the message of an error is one line that a terminal only
// prints, whatever name is in it.
func TestErrorsPrint(t *testing.T) {
	for text, want := range map[string]string{
		"no such path größe":           "no such path größe",
		"one\ntwo\r\nthree":            "one; two; three",
		"path \x1b]0;title\a\xff gone": `path \033]0;title\007\377 gone`,
		"it's $HOME":                   "it's $HOME",
	} {
		if got := Errorf(KindNotFound, "%s", text).Message; got != want {
			t.Errorf("the message of %q is %q, want %q", text, got, want)
		}
	}
}

func TestQuoting(t *testing.T) {
	for _, tt := range []struct{ text, printable, word string }{
		{"", "", "''"},
		{"plain/name.go", "plain/name.go", "plain/name.go"},
		{"größe", "größe", "größe"},
		{"$'a'", `$'$\'a\''`, `'$'\''a'\'''`},
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
