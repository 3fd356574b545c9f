package text

import (
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/shell/command/commandtest"

	"context"
)

func init() {
	// What xargs can run that fails in a way of its own.
	command.Register(command.Info{Name: "sh", RawArgs: true}, func(_ context.Context, c *command.Context, args []string) int {
		n := 0
		for _, d := range strings.TrimPrefix(args[2], "exit ") {
			n = n*10 + int(d-'0')
		}
		return n
	})
}

func TestXargs(t *testing.T) {
	w := commandtest.Case{Stdin: "one two\nthree 'four five' \"six seven\" eight\\ nine\n\n  ten\n", Files: map[string]string{"in": "a b\nc\n", "z": "a b\x00c'd\x00\ne\x00", "comma": "a,b,,c\n", "quote": "it's\n", "dquote": "say \"x\n", "bs": "end\\", "lines": "a b\nc d \ne f\ng\n", "e": "", "sp": "  \n \n", "eofs": "a\nEND\nb\n", "nums": "1\n2\n3\n4\n5\n"}}
	commandtest.Run(t, commandtest.Lines(w,
		"xargs", "xargs echo", "xargs -n 1", "xargs -n 2 echo x", "xargs -n1 -r echo", "xargs -L 1", "xargs -L 1 -a lines", "xargs -L 2 -a lines echo :", "xargs -l -a lines", "xargs -I {} echo '<{}>'", "xargs -I% echo %-%", "xargs -i echo [{}]", "xargs -i% echo [%]", "xargs -I {} -a lines echo {}", "xargs -0 -a z", "xargs -0 -n 1 -a z echo x", "xargs -0 -I {} -a z echo [{}]", "xargs -d , -a comma", "xargs -d, -n1 -a comma echo x", "xargs -d '\\n' -a in echo", "xargs -d '\\n' -n1 -a lines echo",
		"xargs -d '\\t' -a in", "xargs -d '\\x2c' -a comma", "xargs -d '\\054' -a comma", "xargs -d ab -a in", "xargs -d '\\q' -a in", "xargs -t -a in", "xargs -t -n1 -a in echo", "xargs -r -a e echo x", "xargs -a e echo x", "xargs -r -a sp echo x", "xargs -a sp echo x", "xargs -a quote", "xargs -a dquote", "xargs -a bs", "xargs -E END -a eofs", "xargs -eEND -a eofs", "xargs -e -a eofs", "xargs -s 12 -a nums echo", "xargs -s 9 -n 9 -a nums echo", "xargs -s 6 -a nums echo", "xargs -s 3 -a nums echo", "xargs -x -n 5 -s 10 -a nums echo",
		"xargs -a nope", "xargs -a in nosuchcommand", "xargs -n 0", "xargs -n x", "xargs -L 0", "xargs -P x", "xargs -P -1", "xargs -s 0", "xargs -Q", "xargs --null -a z", "xargs --max-args=1 -a in", "xargs --arg-file=in --replace=X echo X", "xargs -n1 -I {} -a in echo {}", "xargs -I {} -n1 -a in echo {}", "xargs -I {} -n2 -a in echo {}", "xargs -a in wc", "xargs -n1 -a in sh -c 'exit 3'", "xargs -n1 -a in sh -c 'exit 255'", "xargs -n1 -a in sh -c 'exit 126'", "xargs -I {} -a in echo a{}b{} {}", "xargs -p -a in", "xargs -n 3 -P 1 -a nums echo", "xargs -- echo -n", "xargs echo -n", "xargs -a in -- echo",
	))
	c := w
	c.Args = []string{"xargs", "-P", "4", "-n", "1", "-a", "nums", "echo"}
	if got := strings.Fields(sortedLines(commandtest.Inside(t, &c).Stdout)); strings.Join(got, "") != "12345" {
		t.Errorf("-P: %q", got)
	}
}

func sortedLines(s string) string {
	out := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i := range out {
		for j := i + 1; j < len(out); j++ {
			if out[j] < out[i] {
				out[i], out[j] = out[j], out[i]
			}
		}
	}
	return strings.Join(out, "\n")
}

func TestFmt(t *testing.T) {
	para := "The quick brown fox jumps over the lazy dog. It was a sunny day, and the fox felt\nvery happy about it; the dog (who was old) did not.  He slept on, dreaming of bones and\nsquirrels. A. B. Smith came by!\n"
	w := commandtest.Case{Stdin: "a b c\nd e f\n", Files: map[string]string{
		"p": para, "two": para + "\n" + para, "ind": "    Indented first line of a paragraph that goes on\n    and on with the same indentation until the end of it.\n\n  other\n", "crown": "   First line is indented more than the second one here\nsecond line starts at the left and goes on for a while yes\nthird line too.\n",
		"tab": "\tTabbed text that is long enough to be wrapped somewhere around the middle of it\n\tand more\n", "pre": "# comment one two three four five six seven eight nine ten eleven\n# twelve thirteen\ncode here\n#other\n", "long": strings.Repeat("averyveryveryveryveryverylongword", 4) + " x\n", "many": strings.Repeat("word and another, ", 900) + "end\n", "sent": "One.  Two.\nThree? Four! \"Five.\" (Six.)\n", "blank": "\n\na\n\n\nb\n", "noeol": "no newline at the end of this line", "e": "",
	}}
	commandtest.Run(t, commandtest.Lines(w,
		"fmt p", "fmt", "fmt -", "fmt -w 40 p", "fmt -40 p", "fmt -w 20 p", "fmt -w 100 p", "fmt -w 1 p", "fmt -w 10 two", "fmt two", "fmt -s p", "fmt -s -w 30 p", "fmt -u p", "fmt -u -w 50 sent", "fmt sent", "fmt -w 30 ind", "fmt ind", "fmt -c -w 40 crown", "fmt -t -w 40 crown", "fmt -w 40 crown", "fmt -w 40 tab", "fmt tab", "fmt -p '#' -w 30 pre", "fmt -p '# ' -w 30 pre", "fmt -w 30 pre", "fmt -w 40 long", "fmt many", "fmt -w 50 many", "fmt blank", "fmt noeol", "fmt e", "fmt p ind", "fmt -g 40 p", "fmt -g 40 -w 60 p", "fmt -w 0 p", "fmt -w x p", "fmt -w 3000 p", "fmt -g 80 -w 60 p", "fmt nope", "fmt p nope", "fmt -Q", "fmt --width=30 --split-only p", "fmt -cw 30 ind", "fmt -tw 30 ind",
	))
}

func TestColumn(t *testing.T) {
	w := commandtest.Case{Stdin: "a b c\nlonger x y\n", Files: map[string]string{"p": "root:x:0:0\nlonguser:x:1000:1000\nbin::2\n", "l": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n", "g": "a   b\n\nccc  d  e\n", "c": "x,y,z\n1,22,333\n,,q\n", "u": "\xc3\xa9t\xc3\xa9 x\nab y\n", "long": strings.Repeat("x", 90) + "\nshort\n", "e": ""}}
	commandtest.Run(t, commandtest.Lines(w,
		"column", "column -t", "column -t g", "column -t -s : p", "column -s : -t p", "column -t -s, c", "column -t -s, -o ' | ' c", "column -t -o , g", "column l", "column -c 40 l", "column -c 30 -x l", "column -x l", "column -c 10 l", "column long", "column -t -N A,B,C g", "column -t -N A,B,C,D -s: p", "column -t -s: -R 3,4 p", "column -t -s: -N N,X,U,G -R U p", "column -t -s: -N N,X,U,G -H X p", "column -t -s: -N N,X,U,G -O G,N p", "column -t -s: -l 2 p", "column -t -d -N A,B g", "column -J -s: -N N,X,U,G p", "column -J -N A,B,C,D g -n foo", "column -J -N A g", "column e", "column -t e", "column nope", "column -t g nope", "column -c x l", "column -Q", "column -L g", "column -t -L g", "column -J g", "column -N A g",
	))
}

func TestNumfmt(t *testing.T) {
	w := commandtest.Case{Stdin: "1000 2000\n5K x\n", Files: map[string]string{"e": ""}}
	commandtest.Run(t, commandtest.Lines(w,
		"numfmt 1000", "numfmt --to=si 1000", "numfmt --to=si 999 1000 1500 9999 10000 999999 1000000 123456789", "numfmt --to=iec 1024 1023 2048 1500000 1099511627776", "numfmt --to=iec-i 1024 4096000", "numfmt --from=si 1K 2.5M 1G 3", "numfmt --from=iec 1K 2M 1.5G", "numfmt --from=iec-i 1Ki 2Mi", "numfmt --from=iec-i 1K", "numfmt --from=auto 1K 1Ki 2M 2Mi", "numfmt 1K", "numfmt --from=si 1q", "numfmt --from=si 1Kx", "numfmt x", "numfmt ''", "numfmt 1.5 -2.25 .5", "numfmt 1.", "numfmt -- -5", "numfmt --to=si -- -1500", "numfmt -1500 --to=si",
		"numfmt --to=si --round=up 1001 1999", "numfmt --to=si --round=down 1999", "numfmt --to=si --round=nearest 1449 1451", "numfmt --to=si --round=towards-zero 1999", "numfmt --to=iec --padding=10 1024", "numfmt --padding=-10 5 --suffix=B", "numfmt --padding=10 5", "numfmt --suffix=B 5 6B", "numfmt --to=si --suffix=b 1500", "numfmt --from-unit=512 4", "numfmt --to-unit=1024 4096", "numfmt --from-unit=1K 2", "numfmt --to-unit=1Ki 2048", "numfmt --format=%.2f 1.234", "numfmt --format='%10.1f|' 1.25", "numfmt --format='%-10f|' 5", "numfmt --format='%010f' 5", "numfmt --format='a%fb' --to=si 1500", "numfmt --format=%.3f --to=si 1234567",
		"numfmt", "numfmt --field=2 --from=si", "numfmt --field=1 --to=si --invalid=ignore", "numfmt --field=2 --invalid=warn", "numfmt --field=2 --invalid=fail", "numfmt --field=- --invalid=ignore --to=si", "numfmt -d ' ' --field=1-2 --to=si --invalid=ignore", "numfmt --header --from=si", "numfmt --header=2", "numfmt -z 5", "numfmt --to=x 5", "numfmt --from=x 5", "numfmt --round=x 5", "numfmt --padding=0 5", "numfmt --padding=x 5", "numfmt --format=%d 5", "numfmt --format=x 5", "numfmt --format=%f%f 5", "numfmt --format=% 5", "numfmt --from-unit=x 5", "numfmt --field=0 5", "numfmt --header=x 5", "numfmt --invalid=x 5", "numfmt -d ab 5", "numfmt -Q", "numfmt --to=si 1e5", "numfmt 99999999999999999999", "numfmt --to=si 999999999999999999999999999", "numfmt --to=iec 1048575 1048576 10239 10240",
	))
}

func TestIconv(t *testing.T) {
	w := commandtest.Case{Stdin: "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n", Files: map[string]string{"l1": "caf\xe9\n", "u8": "na\xc3\xafve\n", "u16": "\xff\xfeh\x00i\x00\n\x00", "u16be": "\xfe\xff\x00h\x00i", "bad": "a\xffb\n", "cut": "a\xc3", "ascii": "plain\n", "w": "\x93x\x94 \x80\n", "ru": "\xd0\xbf\xd1\x80\n"}}
	commandtest.Run(t, commandtest.Lines(w,
		"iconv -f latin1 -t utf-8 l1", "iconv -f utf-8 -t latin1 u8", "iconv -f UTF-8 -t ISO-8859-15 -c", "iconv -f utf8 -t ascii u8", "iconv -f utf8 -t ascii//TRANSLIT u8", "iconv -f utf8 -t ascii//IGNORE u8", "iconv -c -f utf8 -t ascii u8", "iconv -f utf-8 -t utf-16 u8", "iconv -f utf-8 -t utf-16le", "iconv -f utf-8 -t utf-16be", "iconv -f utf-8 -t utf-32", "iconv -f utf-8 -t utf-32be u8", "iconv -f utf-16 -t utf-8 u16", "iconv -f utf-16 -t utf-8 u16be", "iconv -f utf-16le -t utf-8 u16", "iconv -f cp1252 -t utf-8 w", "iconv -f utf-8 -t koi8-r ru", "iconv -f utf-8 -t cp1251 ru", "iconv -f utf-8 -t cp866 ru", "iconv -f utf-8 -t iso-8859-5 ru",
		"iconv -f utf-8 -t utf-8 bad", "iconv -c -f utf-8 -t utf-8 bad", "iconv -f utf-8 -t utf-16le cut", "iconv -t utf-8 ascii", "iconv ascii", "iconv -f nope -t utf-8 ascii", "iconv -f utf-8 -t nope ascii", "iconv -f x -t y ascii", "iconv -f utf-8 -t latin1 nope", "iconv -f utf-8 -t latin1 -o out u8", "iconv -f utf-8 -t utf-8 u8 ascii", "iconv --from-code=latin1 --to-code=utf-8 l1",
	))
}
