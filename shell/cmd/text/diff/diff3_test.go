package diff

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

var threeWorld = commandtest.Case{
	Stdin: "1\n2\nx\n",
	Files: map[string]string{
		"m": "1\n2\n3\n", "o": "1\n2\n4\n", "y": "1\n5\n4\n", "e": "", "nonl": "1\n2", "nonl2": "1\n3",
		"m1": lines(1, 5) + "mine\n" + lines(7, 20), "o1": lines(1, 20), "y1": lines(1, 12) + "yours\n" + lines(15, 20) + "more\n", "z1": lines(1, 5) + "theirs\n.dot\n..dots\n" + lines(8, 20),
		"dm": ".a\nb\n", "do": "a\n.b\n.\n", "dy": "..\n.c\nb\n", "bin": "a\x00b\n", "crlf": "1\r\n2\r\n3\r\n", "d/f": "x\n",
	},
}

func TestDiff3(t *testing.T) {
	var all []string
	for _, form := range []string{"", "-m ", "-e ", "-A ", "-E ", "-x ", "-X ", "-3 ", "-mA ", "-me ", "-mE ", "-mx ", "-mX ", "-m3 "} {
		for _, files := range []string{"m o y", "m1 o1 y1", "m1 o1 z1", "o1 z1 m1", "dm do dy", "m m o", "o m m", "m o m", "m m m", "m e y", "e m o", "m o e", "nonl o y", "m nonl nonl2", "nonl nonl2 y", "y m nonl"} {
			all = append(all, "diff3 "+form+files)
		}
	}
	all = append(all,
		"diff3 - o y", "diff3 m - y", "diff3 m o -", "diff3 -m m - y", "diff3 -m m o -", "diff3 - - y", "diff3 -m m -- - -", "diff3 -T m o y", "diff3 -i m o y", "diff3 -ei m o y", "diff3 -Ai m1 o1 z1", "diff3 -im m o y", "diff3 -m -L A -L B -L C m o y", "diff3 -mL A m1 o1 z1", "diff3 -A -L A --label=B m1 o1 z1", "diff3 -L a m o y", "diff3 -m -L a -L b -L c -L d m o y", "diff3 -ex m o y", "diff3 m o", "diff3", "diff3 m o y e", "diff3 m o nope", "diff3 nope nope nope", "diff3 m d y", "diff3 m bin y", "diff3 -m m o bin", "diff3 -a m bin y", "diff3 --strip-trailing-cr m crlf y", "diff3 m crlf y", "diff3 -Q m o y", "diff3 --foo", "diff3 --merge m o y", "diff3 --show-all m o y", "diff3 --easy-only m o y",
	)
	commandtest.Run(t, commandtest.Lines(threeWorld, all...))
}

// TestRandomThree compares three-way regions with those of the real diff3, when
// it is there.
func TestRandomThree(t *testing.T) {
	if !commandtest.Live() && !commandtest.Recording() {
		t.Skip("compares with the real diff3: run with -live")
	}
	if _, err := exec.LookPath("diff3"); err != nil {
		t.Skip("there is no diff3")
	}
	r := rand.New(rand.NewPCG(11, 12))
	for n := range 400 {
		files := map[string]string{}
		var base []string
		for range r.IntN(40) {
			base = append(base, string(rune('a'+r.IntN(6)))+"\n")
		}
		for _, name := range []string{"m", "o", "y"} {
			var b strings.Builder
			for _, line := range base {
				switch r.IntN(12) {
				case 0:
				case 1:
					b.WriteString(string(rune('a'+r.IntN(6))) + "\n" + line)
				case 2:
					b.WriteString(".new\n")
				default:
					b.WriteString(line)
				}
			}
			files[name] = b.String()
		}
		form := []string{"-T", "-m", "-A", "-E", "-3", "-X"}[n%6]
		c := commandtest.Case{Args: []string{"diff3", form, "m", "o", "y"}, Files: files}
		got, want := commandtest.Inside(t, &c), commandtest.Outside(t, &c)
		if got.Stdout != want.Stdout || got.Status != want.Status {
			t.Fatalf("%s %q:\n%s\nwant\n%s", form, files, got.Stdout, want.Stdout)
		}
	}
}
