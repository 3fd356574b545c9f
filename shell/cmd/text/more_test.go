package text

import (
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

func TestComm(t *testing.T) {
	w := commandtest.Case{Stdin: "a\nc\n", Files: map[string]string{"a": "a\nb\nd\ne\n", "b": "b\nc\nd\nf\n", "same": "a\nb\nd\ne\n", "uns": "b\na\nc\n", "e": "", "noeol": "a\nb", "n1": "a\x00b\x00", "n2": "b\x00c\x00", "d/": ""}}
	commandtest.Run(t, commandtest.Lines(w,
		"comm a b", "comm -1 a b", "comm -2 a b", "comm -3 a b", "comm -12 a b", "comm -23 a b", "comm -13 a b", "comm -123 a b", "comm a same", "comm a e", "comm e a", "comm a -", "comm - b", "comm noeol a", "comm --total a b", "comm --total -12 a b", "comm --output-delimiter=, a b", "comm --output-delimiter=:: --total a b", "comm --output-delimiter= a b", "comm --output-delimiter=a --output-delimiter=b a b",
		"comm uns a", "comm a uns", "comm uns uns", "comm --check-order uns a", "comm --check-order uns uns", "comm --nocheck-order uns a", "comm -z n1 n2", "comm a nope", "comm nope a", "comm a", "comm", "comm a b c", "comm d a", "comm -4 a b", "comm --foo a b",
	))
}

func TestJoin(t *testing.T) {
	w := commandtest.Case{Stdin: "1 x\n3 z\n", Files: map[string]string{"a": "1 a p\n2 b q\n4 d r\n", "b": "1 x\n2 y\n3 z\n", "c1": "k,1\nk,2\nm,3\n", "c2": "k,x\nk,y\nn,z\n", "uns": "2 a\n1 b\n", "up": "A 1\nb 2\n", "lo": "a x\nB y\n", "h1": "id name\n2 b\n1 a\n", "h2": "id val\n1 x\n2 y\n", "sp": "  1   a\t b\n2 c\n", "f2": "x 1\ny 2\n", "e": "", "n1": "1 a\x002 b\x00", "n2": "1 x\x00", "short": "1\n2\n"}}
	commandtest.Run(t, commandtest.Lines(w,
		"join a b", "join -a 1 a b", "join -a 2 a b", "join -a1 -a2 a b", "join -v 1 a b", "join -v 2 a b", "join -v1 -v2 a b", "join -t , c1 c2", "join -t, -a1 -a2 c1 c2", "join -1 2 -2 1 f2 b", "join -2 2 b f2", "join -j 1 a b", "join -j 2 f2 f2", "join -o 1.1,2.2 a b", "join -o '1.1 2.2' a b", "join -o 0,1.2,2.2 -a1 -a2 a b", "join -o auto a b", "join -o auto -a1 -a2 -e NA a b", "join -e X -o 0,1.3,2.2 -a 1 -a 2 a b", "join -e X -a1 a b", "join -o 1.9,0 a b",
		"join -i up lo", "join up lo", "join --header h1 h2", "join --header --nocheck-order h1 h2", "join --header -a1 -a2 a b", "join sp b", "join a -", "join - b", "join a e", "join -a1 a e", "join e e", "join uns b", "join b uns", "join --check-order uns b", "join --nocheck-order uns b", "join -z n1 n2", "join -t '' a b", "join -t '\\0' a b", "join short b", "join -a1 -e X -o auto short b", "join -o 1.1 2.2 a b", "join -t ' ' sp b",
		"join a", "join", "join a b c", "join a nope", "join nope b", "join - -", "join -a 3 a b", "join -a x a b", "join -1 0 a b", "join -1 x a b", "join -1 1 -1 2 a b", "join -t ab a b", "join -t, -t: a b", "join -o 3.1 a b", "join -o 1 a b", "join -o 1.0 a b", "join -o x a b", "join -o 0.1 a b", "join -e a -e b a b", "join -Q a b", "join -1 99999999999999999999 a b",
	))
}

func TestFold(t *testing.T) {
	w := commandtest.Case{Stdin: "stdin line that is rather long for a fold\n", Files: map[string]string{"f": "the quick brown fox jumps over the lazy dog and runs far away into the deep dark woods of the north\nshort\n\n", "t": "a\tb\tc\tdefghijkl\n", "bs": "abc\bdef\rghi jkl\n", "long": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbb\n", "u": "na\xc3\xafve caf\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87\n", "noeol": "abcdef", "sp": "abc   def   ghi\n"}}
	commandtest.Run(t, both(w,
		"fold f", "fold", "fold -", "fold -w 10 f", "fold -w10 -s f", "fold -s f", "fold -sw 20 f", "fold -b -w 10 f", "fold -w 5 t", "fold -w 10 t", "fold -b -w 5 t", "fold -w 4 bs", "fold -bw 4 bs", "fold -w 10 -s long", "fold -w 5 u", "fold -s -w 5 u", "fold -w 1 f", "fold -20 f", "fold -10s f", "fold -w 4 noeol", "fold -w 6 noeol", "fold -sw 4 sp", "fold -w 0 f", "fold -w x f", "fold -w '' f", "fold -w 99999999999999999999 f", "fold nope", "fold -Q", "fold --width=7 --spaces f", "fold f nope", "fold -s -w 8 t",
		"expand t", "expand", "expand -t 4 t", "expand -t 3,7,12 t", "expand -t4 f t", "expand -i t", "expand -i -t 4 t", "expand -4 t", "expand -3,7 t", "expand -t '2 5' t", "expand -t /4 t", "expand -t 2,/4 t", "expand -t 2,+4 t", "expand -t 1,2,3 t", "expand -t 0 t", "expand -t 5,3 t", "expand -t x t", "expand -t 4x t", "expand -t 99999999999999999999 t", "expand -t 1/ t", "expand -t /2,/3 t", "expand bs", "expand nope", "expand -Q", "expand --tabs=6 --initial t", "expand -t 2 -t 5 t", "expand -t +3 t", "expand u",
	))
	w.Files = map[string]string{"s": "        eight\n    four\n                sixteen        mid\na       b\n  x\t  y\n\t\tz\n       seven\n        \n", "t": "a\tb  c    d\n    \tx\n", "bs": "    \b    x\n", "noeol": "        x"}
	t.Run("back", func(t *testing.T) {
		commandtest.Run(t, prefixed("un ", commandtest.Lines(w,
			"unexpand s", "unexpand -a s", "unexpand --first-only -a s", "unexpand -t 4 s", "unexpand -t 4 --first-only s", "unexpand -t 2,6,10 s", "unexpand -4 s", "unexpand -a t", "unexpand t", "unexpand -t 4 t", "unexpand bs", "unexpand noeol", "unexpand", "unexpand nope", "unexpand -t x s", "unexpand -t 0 s", "unexpand -t 1 s", "unexpand -t 3 s", "unexpand -Q", "unexpand -t 5,3 s", "unexpand -t /4 s", "unexpand -t 2,+3 s", "unexpand -a -t 8 s",
		)))
	})
}
