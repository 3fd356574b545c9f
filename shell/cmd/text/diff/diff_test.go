package diff

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

var stamp = time.Date(2024, 3, 5, 7, 8, 9, 123456789, time.UTC)

// dated makes entries with a fixed time.
func dated(files map[string]string) []commandtest.Entry {
	var es []commandtest.Entry
	for name, content := range files {
		es = append(es, commandtest.Entry{Path: name, Content: content, Time: stamp})
	}
	// The order does not matter to the tools, but to the checksum.
	for i := range es {
		for j := i + 1; j < len(es); j++ {
			if es[j].Path < es[i].Path {
				es[i], es[j] = es[j], es[i]
			}
		}
	}
	return es
}

var clock = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}|\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}`)

func noClock(s string) string { return clock.ReplaceAllString(s, "TIME") }

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

var world = commandtest.Case{
	Stdin: "a\nb\nX\n",
	Entries: append(dated(map[string]string{
		"a": "a\nb\nc\nd\ne\n", "b": "a\nB\nc\ne\nf\n", "same": "a\nb\nc\nd\ne\n", "e": "", "nonl": "a\nb\nc\nd\ne", "nonl2": "a\nb\nc\nd\nE", "one": "one\n",
		"long1": lines(1, 30), "long2": lines(1, 4) + "new\n" + lines(6, 14) + lines(16, 30) + "end\n", "ws1": "a b\n\tc\nd  \ne\n\nf\n", "ws2": "a  b\n    c\nd\ne\nf\n", "case1": "Hello\nWorld\n", "case2": "hello\nworld\n",
		"bl1": "a\n\n\nb\nc\n", "bl2": "a\nb\n\nc\n", "bin1": "a\x00b\n", "bin2": "a\x00c\n", "crlf": "a\r\nb\r\nc\r\nd\r\ne\r\n", "tab1": "a\tb\nc\n", "tab2": "a       b\nd\n", "dot1": "x\n", "dot2": "x\n.\ny\n",
		"c1": "int main(void)\n{\n\tint a;\n\ta = 1;\n\tb();\n\tc();\n\td();\n\te();\n}\n\nvoid f(void)\n{\n\tone();\n\ttwo();\n\tthree();\n\tfour();\n\tfive();\n}\n", "c2": "int main(void)\n{\n\tint a;\n\ta = 2;\n\tb();\n\tc();\n\td();\n\te();\n}\n\nvoid f(void)\n{\n\tone();\n\ttwo();\n\tthree();\n\tfour();\n\tFIVE();\n}\n",
		"d1/x": "1\n", "d1/only1": "o\n", "d1/s/y": "y\n", "d1/s/z": "z\n", "d1/k": "kind\n", "d1/same": "s\n", "d2/x": "2\n", "d2/only2": "o\n", "d2/s/y": "Y\n", "d2/s/z": "z\n", "d2/k/in": "dir\n", "d2/same": "s\n", "d2/new/f": "n\n", "sp ace": "a\n", "pats": "only*\n", "u1": "na\xc3\xafve\nb\n", "u2": "naive\nb\n",
		"wide1": strings.Repeat("x", 80) + "\nshort\n", "wide2": strings.Repeat("x", 79) + "y\nshort\tt\n",
	}), commandtest.Entry{Path: "ln", Link: "a"}, commandtest.Entry{Path: "ln2", Link: "b"}),
	Clean: noClock,
}

func TestDiff(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"diff a b", "diff a same", "diff a e", "diff e a", "diff e e", "diff a nonl", "diff nonl a", "diff nonl nonl2", "diff a -", "diff - a", "diff -u a b", "diff -u a same", "diff -u a e", "diff -u e a", "diff -u a nonl", "diff -u nonl nonl2", "diff -u long1 long2", "diff -U 1 long1 long2", "diff -U0 long1 long2", "diff -U 0 a b", "diff -u1 long1 long2", "diff -2u long1 long2", "diff --unified=5 long1 long2", "diff --unified long1 long2", "diff -c a b", "diff -c a e", "diff -c e a", "diff -c long1 long2", "diff -C 1 long1 long2", "diff -C0 a b", "diff -c nonl nonl2", "diff --context=2 long1 long2", "diff --context a b",
		"diff -e a b", "diff -e e a", "diff -e a e", "diff -e dot1 dot2", "diff -e nonl nonl2", "diff -n a b", "diff -n long1 long2", "diff -f a b", "diff -q a b", "diff -q a same", "diff -s a same", "diff -s a b", "diff -qs a same", "diff --brief a b", "diff --normal a b", "diff -i case1 case2", "diff case1 case2", "diff -b ws1 ws2", "diff -w ws1 ws2", "diff -Z ws1 ws2", "diff -E tab1 tab2", "diff -B bl1 bl2", "diff -B -u bl1 bl2", "diff -wB ws1 ws2", "diff -I '^[bB]$' a b", "diff -I x -u a b", "diff -I '[bB]' -I '[def]' a b", "diff -a bin1 bin2", "diff bin1 bin2", "diff -q bin1 bin2", "diff bin1 bin1", "diff -u bin1 bin2", "diff bin1 a", "diff --strip-trailing-cr a crlf", "diff a crlf",
		"diff -t tab1 tab2", "diff -T a b", "diff -T -u a b", "diff -T -c a b", "diff -u --label L1 a b", "diff -u --label L1 --label L2 a b", "diff -c -L x -L y a b", "diff -u -L x -L y -L z a b", "diff -p c1 c2", "diff -up c1 c2", "diff -u -F '^void' c1 c2", "diff -F '^int' -c c1 c2", "diff -U1 -p c1 c2", "diff -d a b", "diff -u 'sp ace' a", "diff -u a 'sp ace'", "diff u1 u2", "diff --color=never a b", "diff --color=always -q a same", "diff --suppress-blank-empty -u bl1 bl2", "diff -l a same", "diff --speed-large-files a b", "diff --horizon-lines=5 a b", "diff ln a", "diff ln b", "diff --no-dereference ln ln2", "diff --no-dereference ln a", "diff --tabsize=4 -t tab1 tab2",
		"diff a", "diff", "diff a b c", "diff a nope", "diff nope nope2", "diff -N a nope", "diff -N nope a", "diff -Nu nope a", "diff -P nope a", "diff -Q a b", "diff --foo a b", "diff -u -c a b", "diff -U x a b", "diff -C x a b", "diff -W x a b", "diff --tabsize=0 a b", "diff -I '[' a b", "diff --from-file=a b same", "diff --to-file=a b same", "diff -y -u a b", "diff --color=x a b", "diff -e -q a b", "diff -u -W 20 a b",
	))
}

func TestDirectories(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"diff d1 d2", "diff -r d1 d2", "diff -ru d1 d2", "diff -rq d1 d2", "diff -rN d1 d2", "diff -rNu d1 d2", "diff -rqN d1 d2", "diff -rs d1 d2", "diff -r -x only1 d1 d2", "diff -r -x 'only*' -x k d1 d2", "diff -rX pats d1 d2", "diff -r d1/ d2/", "diff -P -r d1 d2", "diff d1 a", "diff d1/x d2", "diff x d2", "diff d2 d1/x", "diff -r d1 d1", "diff -r d1 nope", "diff - d1", "diff -r -S s d1 d2", "diff -r -u -x k -x new d1 d2", "diff -rU1 d1 d2", "diff -r --unified=1 d1 d2", "diff -rC 1 d1 d2", "diff -rX nope d1 d2", "diff -qr d1/s d2/s",
	))
}

func TestSideBySide(t *testing.T) {
	w := world
	w.Env = []string{"LC_ALL=C.UTF-8"}
	wide := commandtest.Lines(w, "diff -y u1 u2", "diff -y -W 20 u1 u2")
	for i := range wide {
		wide[i].Name = "utf8 " + wide[i].Name
	}
	commandtest.Run(t, append(commandtest.Lines(world,
		"diff -y a b", "diff -y a same", "diff -y a e", "diff -y e a", "diff -y nonl nonl2", "diff -y a nonl", "diff -y nonl a", "diff -y -W 40 a b", "diff -y -W 10 a b", "diff -y -W 3 a b", "diff -y -W 200 a b", "diff -y --left-column a b", "diff -y --suppress-common-lines a b", "diff -yt a b", "diff -y tab1 tab2", "diff -yt -W 30 tab1 tab2", "diff -y wide1 wide2", "diff -y -W 50 wide1 wide2", "diff -y u1 u2", "diff -y -B bl1 bl2", "diff -y -w ws1 ws2", "diff -y -i case1 case2", "diff -y crlf a", "diff -yr d1 d2", "diff --side-by-side --width=60 long1 long2", "diff -y --tabsize=4 tab1 tab2", "diff -yq a b", "diff -y bin1 bin2",
	), wide...))
}

// TestRandom compares the changes that are found with those of the real diff,
// when it is there.
func TestRandom(t *testing.T) {
	if !commandtest.Live() && !commandtest.Recording() {
		t.Skip("compares with the real diff: run with -live")
	}
	if _, err := exec.LookPath("diff"); err != nil {
		t.Skip("there is no diff")
	}
	r := rand.New(rand.NewPCG(7, 8))
	for n := range 300 {
		var texts [2]string
		letters, length := 2+r.IntN(8), r.IntN(120)
		for i := range texts {
			var b strings.Builder
			for range length {
				if i == 1 && r.IntN(4) > 0 && len(texts[0]) > b.Len() {
					b.WriteString(texts[0][b.Len() : b.Len()+2])
					continue
				}
				b.WriteString(string(rune('a'+r.IntN(letters))) + "\n")
			}
			texts[i] = b.String()
		}
		c := commandtest.Case{Args: []string{"diff", "a", "b"}, Files: map[string]string{"a": texts[0], "b": texts[1]}}
		if n%2 == 0 {
			c.Args = []string{"diff", "-U2", "--label", "a", "--label", "b", "a", "b"}
		}
		got, want := commandtest.Inside(t, &c), commandtest.Outside(t, &c)
		if got.Stdout != want.Stdout || got.Status != want.Status {
			t.Fatalf("%q and %q:\n%s\nwant\n%s", texts[0], texts[1], got.Stdout, want.Stdout)
		}
	}
}

// TestScript shows that every script turns the one text into the other.
func TestScript(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 500 {
		a, b := make([]int, r.IntN(60)), make([]int, r.IntN(60))
		for _, s := range [][]int{a, b} {
			for i := range s {
				s[i] = 1 + r.IntN(6)
			}
		}
		script, err := compare(context.Background(), a, b, false, r.IntN(4))
		if err != nil {
			t.Fatal(err)
		}
		var out []int
		i := 0
		for _, c := range script {
			out = append(out, a[i:c.line0]...)
			if len(out) != c.line1 {
				t.Fatalf("%v to %v: %v", a, b, script)
			}
			out = append(out, b[c.line1:c.line1+c.inserted]...)
			i = c.line0 + c.deleted
		}
		out = append(out, a[i:]...)
		if fmt.Sprint(out) != fmt.Sprint(b) {
			t.Fatalf("%v to %v by %v: %v", a, b, script, out)
		}
	}
}

func TestSdiff(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"sdiff a b", "sdiff a same", "sdiff -s a b", "sdiff -l a b", "sdiff -w 40 a b", "sdiff -i case1 case2", "sdiff -W ws1 ws2", "sdiff -b ws1 ws2", "sdiff -B bl1 bl2", "sdiff -I '[bB]' a b", "sdiff -t tab1 tab2", "sdiff --tabsize=4 tab1 tab2", "sdiff --strip-trailing-cr a crlf", "sdiff -s -w 30 long1 long2", "sdiff -dH a b", "sdiff -E tab1 tab2", "sdiff -a bin1 bin2", "sdiff bin1 bin2", "sdiff - a", "sdiff a nope", "sdiff", "sdiff a", "sdiff a b c", "sdiff -Q a b", "sdiff -w x a b", "sdiff d1 a",
	))
}
