package text

import (
	"regexp"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

var prDate = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d`)

func TestPr(t *testing.T) {
	w := commandtest.Case{
		Stdin: "in 1\nin 2\nin 3\n",
		Files: map[string]string{
			"n5": "1\n2\n3\n4\n5\n", "n12": "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", "e": "", "nonl": "a\nb", "tb": "a\tb\n\tc\nlong line that goes on and on and on and on beyond what a column has\n", "ff": "one\ntwo\f three\nfour\n", "ff2": "\f\fa\n\f\nb\f", "ctl": "a\x01b\x7f\xe9\n\bx\n", "blank": "\n\na\n\n", "a_name_that_is_rather_long_for_a_header_of_a_page_so_that_it_does_not_fit": "x\n",
		},
		Clean: func(s string) string { return prDate.ReplaceAllString(s, "2000-01-01 00:00") },
	}
	commandtest.Run(t, commandtest.Lines(w,
		"pr n5", "pr -t n12", "pr e", "pr nonl", "pr -", "pr", "pr n5 n12", "pr blank", "pr -t blank", "pr a_name_that_is_rather_long_for_a_header_of_a_page_so_that_it_does_not_fit", "pr -2 -t n12", "pr -3 -t n12", "pr -3 -t n5", "pr -a -3 -t n5", "pr -a -3 n12", "pr -3 n12", "pr -12 -t n5", "pr -m -t n5 n12", "pr -m -t n12 n5", "pr -m n5 n12", "pr -m -t n5 e n12", "pr -m -t e n5", "pr -m -t n5 n12 tb", "pr -t -n n5", "pr -t -n:3 n5", "pr -t -n3 n12", "pr -t -n1 n12", "pr -t -n: n5", "pr -2 -t -n n5", "pr -2 -t -n: n5", "pr -a -2 -t -n n5", "pr -m -t -n n5 n12", "pr -m -t -n n12 n5", "pr -m -t -n:2 n5 n12", "pr -n -N 10 -t n5", "pr -t -N 10 -n n5 n12",
		"pr -2t -s n5", "pr -2t -s: n5", "pr -2t -S n5", "pr -2t -S@@ n5", "pr -2 -t -w 20 tb", "pr -2 -t -w 20 n5", "pr -mts: n5 n12 tb", "pr -mt -J n5 tb", "pr -mts n5 tb", "pr -mt -S n5 tb", "pr -mt -S' | ' n5 tb", "pr -mt -w 30 n5 tb", "pr -mt -w 30 -s n5 tb", "pr -mt -W 30 n5 tb", "pr -mt -J -S: n5 tb", "pr -3t -J n12", "pr -3t -s, n12", "pr -3at -s, n12", "pr -t -o 4 n5", "pr -2t -o 4 n5", "pr -o 3 -l 12 n5", "pr -mt -o 2 n5 n12", "pr -t -e tb", "pr -t -e4 tb", "pr -t -en tb", "pr -t -i tb", "pr -t -e -i tb", "pr -t -e -i_4 tb", "pr -t -d n5", "pr -2 -t -d n5", "pr -d n5", "pr -d -l 13 n12", "pr -t ff", "pr -T ff", "pr -t -2 ff", "pr ff", "pr -l 12 ff", "pr ff2", "pr -t ff2", "pr -m ff n5", "pr -mt ff n5", "pr -mt n5 ff", "pr -l 12 n5", "pr -2 -l 13 n12", "pr -3 -l 12 n12", "pr -a -2 -l 12 n12", "pr -l 12 -h HEAD ff", "pr -h '' n5", "pr -l 15 -F n5", "pr -l 12 -f n12", "pr -a -2 -s, -t n5", "pr -W 10 -t tb", "pr -w 10 -t tb", "pr -W 40 n5", "pr -w 40 n5", "pr -l 10 n5", "pr -l 3 n5", "pr -l 11 n5",
		"pr +2 -l 12 n12", "pr +2:3 -l 12 n12", "pr --pages=2 -l 12 n12", "pr +9 -l 12 n12", "pr +2 -t -l 3 n12", "pr +2 -n -l 12 n12", "pr --columns=3 -t n12", "pr -D %Y n5", "pr -c -t ctl", "pr -v -t ctl", "pr -t ctl", "pr -2t ctl", "pr -r nope n5", "pr nope n5", "pr -m -t n5 nope n12",
		"pr -Q n5", "pr -0 n5", "pr -l x n5", "pr -l 0 n5", "pr -w 1 -3 n5", "pr -m -a n5", "pr -2 -m n5", "pr nope", "pr +x n5", "pr -e0 n5", "pr -w 0 n5", "pr -o x n5", "pr --pages=x n5", "pr --columns=x n5", "pr -N x n5", "pr -n0 n5", "pr -nx n5", "pr -l 99999999999 n5",
	))
}
