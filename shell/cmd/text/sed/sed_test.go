package sed

import (
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

var world = commandtest.Case{
	Stdin: "one\ntwo words\n\nfour\nfive 5\nlast",
	Files: map[string]string{
		"f":      "alpha\nbeta\ngamma\ndelta\nepsilon\nzeta\n",
		"g":      "first\nsecond",
		"h":      "third\n",
		"empty":  "",
		"utf":    "na\xc3\xafve caf\xc3\xa9\n\xc3\x89t\xc3\xa9\n",
		"bin":    "a\x00b\xff\nc\td\n",
		"nul":    "one\x00two\nx\x00three",
		"prog":   "2d\n# comment\ns/a/A/g\n",
		"nprog":  "#n\n2p\n",
		"bad":    "p\np\nk\n",
		"shprog": "#!/bin/sed -f\n$d\n",
		"d/x":    "x\n",
		"crlf":   "a\r\nb\r\n",
		"num":    "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
		"html":   "<a><b>text</b></a>\nkey = value # note\n/usr/local/bin\n",
	},
	Entries: []commandtest.Entry{{Path: "ln", Link: "f"}, {Path: "x.sh", Content: "echo\n", Mode: 0o755}, {Path: "ro", Content: "ro\n", Mode: 0o400}},
}

// script makes a case of one script, over the file f.
func scripts(world commandtest.Case, list ...string) []commandtest.Case {
	var cases []commandtest.Case
	for _, s := range list {
		for _, args := range [][]string{{"sed", s, "f"}, {"sed", "-n", s}} {
			c := world
			c.Name = args[0] + " " + args[1]
			if args[1] == "-n" {
				c.Name += " " + s
			}
			c.Args = args
			cases = append(cases, c)
		}
	}
	return cases
}

func TestCommands(t *testing.T) {
	commandtest.Run(t, scripts(world,
		"p", "=", "d", "2d", "$d", "2,4d", "2!d", "$!d", "2,$d", "/a/d", "/a/!p", "/beta/,/delta/p", "/beta/,+1p", "2,~3p", "1~2p", "0~3p", "2~0p", "4,2p", "2,2p", "/a/,/a/p", "0,/a/p", "1,/a/p", "0,/alpha/d",
		"2,/a/d", "/beta/,3p", "/delta/,1p", "$p", "$=", "/^$/d", "\\,a,p", "\\xalphaxp", "/A/Ip", "/a/I,/e/Id", "2{p;p}", "2{p;p;}", "{p}", "2,3{=;p}", "/a/{/b/p}", "/a/{/b/!p;}", "2q", "q", "q5", "3Q", "Q7", "$q3",
		"a text", "a\\text", "a\\\ntext", "2a\\\nline 1\\\nline 2", "2i ins", "2i\\\nins\\\n  two", "2c changed", "2,4c changed", "$c changed", "2!c x", "/a/c\\\nnew", "1a\\  keep", "1a   strip", "1a back\\slash", "1a tab\\there", "$a end", "1i\\\\ttab",
		"a\\", "a a\\\\b", "2i\\  x\\\n  y", "1{a foo\n}", "a one\\\n\\  two", "a one\\ntwo", "y/abc/xyz/", "y/a\\/b/b\\na/", "y,a\\,b,1\\,2,", "y/\\n/x/", "N;y/\\n/-/", "y/abc/\\n\\t\\\\/",
		"n;d", "$!n;p", "n;n;s/^/x/", "N;P;D", "N;s/\\n/-/", "$!N;s/\\n/-/", "N;N;l", ":a;N;$!ba;s/\\n/,/g", ":a\ns/a/X/\nta", ":a;s/a/X/;ta", "s/a/X/;t;s/e/Y/", "s/a/X/;T;s/l/L/", "b;d", "/a/b end;d;:end", "/a/bend;d;: end", "ba;d;:a;p",
		"h;G", "H;x", "G", "x;p;x", "1h;2,$H;$!d;g", "1!G;h;$!d", "x;$G", "g", "$!{h;d};H;x", "z", "z;s/^/x/", "l", "l 5", "l 1", "l 0", "l;d", "F", "P", "D", "$!N;P;D", "N;D", "v", "v 4.2",
		"# comment", "p # comment", "p;p", "p;;p", ";p", "  p", "p\np", "{\np\n}", "2 p", "2 , 3 p", "2,3 ! p", "2!{p}", "$!{$!p}", "1~3d", "2,4!d", "5,$ d", "/x/,/y/p", "2,4{n;p}", "2,4{s/a/X/;b};p", "2,3N;l",
	))
}

func TestSubstitute(t *testing.T) {
	w := world
	w.Files = map[string]string{"f": "hello world\nfoo bar foo baz foo\naaa bbb\n\nABC abc Abc\npath/to/file.txt\n"}
	w.Stdin = "one two\nxx.yy\n"
	commandtest.Run(t, scripts(w,
		"s/o/0/", "s/o/0/g", "s/o/0/2", "s/o/0/2g", "s/foo/X/3", "s/foo/X/4", "s/foo/X/p", "s/foo/X/gp", "s/foo/X/w out", "s/abc/X/I", "s/abc/X/Ig", "s/abc/X/gi", "s/x*/-/g", "s/a*/x/g", "s/b*/[&]/g", "s/b*/[&]/2", "s/a*/x/2", "s/$/!/", "s/^/> /",
		"s/^/x/g", "s/$/x/g", "s/.*/[&]/", "s/.*/\\&/", "s/\\(.*\\) \\(.*\\)/\\2 \\1/", "s/[aeiou]/<&>/g", "s/\\//|/g", "s,/,|,g", "s|/|\\||g", "s#/#\\##", "s/o/\\n/", "s/ /\\\n/", "s/ /\\t/", "s/\\bfoo\\b/X/g", "s/\\<./\\u&/g", "s/.*/\\U&/", "s/.*/\\L&/",
		"s/\\w\\+/\\u&/g", "s/\\w\\+/\\L\\u&/g", "s/\\(.\\)\\(.*\\)/\\U\\1\\E\\2/", "s/\\(\\w\\+\\) \\(\\w\\+\\)/\\U\\1 \\E\\2/", "s/\\(x*\\)\\([a-z]\\)/\\u\\1\\2/", "s/.*/\\l&/", "s/.*/\\U\\l&/", "s/o/\\Ux\\Ey/g", "s/o/a\\Ub\\lCd\\Ee/", "s/./\\x41/", "s/./\\o101/", "s/./\\d065/", "s/\\x6f/0/g",
		"s/\\x2e/D/", "s/[\\x2e]/D/", "s/\\x5e/b/", "s/\\x26/and/", "s/o/\\x26/", "s/a/\\cA/", "s/\\t/T/", "s/[\\n]/N/;N;s/[\\n]/N/", "s/a\\|o/X/g", "s/a\\+/X/g", "s/a\\?b/X/g", "s/a\\{2\\}/X/", "s/\\(a\\)\\1/X/", "s/[[:space:]]/_/g", "s/[^[:alpha:]]//g", "s/[/]/-/g", "s/[]]/x/",
		"s/\\./D/", "s/.$//", "s/^.//", "s/\\(^\\|[^a-z]\\)foo/\\1X/g", "s/o//g", "s/ *$//", "s/foo\\(.*\\)foo/\\1/", "s//X/", "/foo/s//X/g", "s/foo/&&/", "s/\\n//", "s/a/b/;s/b/c/", "s/o/0/g;s/0/o/2", "s/ /\\\n/g", "s/[a-c]\\{3\\}/<&>/Ig", "s/a.*b/X/", "s/\\s\\+/ /g", "s/\\S\\+/X/2",
		"s/e/E/;ta;s/$/ no/;:a", "s/a/\\\\/", "s/a/[\\/]/", "s/\\(a\\)\\(a\\)/\\2\\1\\0/", "s/^a\\|o$/X/", "s/a\\{,2\\}/X/", "s/l\\{1,\\}/L/", "s/\\`h/X/", "s/o\\'/X/", "N;s/^/x/mg", "N;s/$/x/Mg", "N;s/^./X/M2", "N;s/\\`./X/Mg", "N;s/o.\\'/X/Mg", "s/\\W/_/g", "s/\\B./x/g", "s/o\\b/0/g",
		"s/a/b/w /dev/stdout", "s/o/0/w /dev/stderr", "s/\\cM//", "s/\\//\\n\\//2", "s/foo/a\\&b/", "s/\\(foo\\|bar\\)/(\\1)/g", "s/a/x/gI", "s/a/x/2I", "s/o/&\\n&/", "s|a\\|b|X|", "s.a\\.b.X.", "s*a\\**X*", "s,a\\,b,X,", "s;o;0;g", "s:o:0:2", "s o 0 g", "s\"o\"0\"",
	))
}

func TestExtended(t *testing.T) {
	w := world
	w.Files = map[string]string{"f": "hello world\nfoo bar foo\naaa {b} (c) a|b a+b\n2024-01-15 12:30\n"}
	var cases []commandtest.Case
	for _, s := range []string{
		`s/(\w+) (\w+)/\2 \1/`, `s/(foo|bar)+/X/g`, `s/a{2}/X/`, `s/a+/X/g`, `s/a?b/X/g`, `s/\(c\)/X/`, `s/\{b\}/X/`, `s/a\|b/X/`, `s/a\+b/X/`, `s/([0-9]+)-([0-9]+)-([0-9]+)/\3.\2.\1/`, `s/^(.)(.*)$/\2\1/`, `s/(o)\1/00/`,
		`s/(a)(b)?/[\1\2]/g`, `s/()/x/`, `s/(^|[^a-z])b/\1B/g`, `s|a\|b|X|`, `s+a\++X+`, `s/\x2b/P/`, `s/\x28c\x29/P/`, `/(foo|aaa)/!d`, `s/[()]//g`, `s/\w+$/<&>/`, `s/\b(.)/\U\1/g`, `s/(.*)/"\1"/`, `/^[0-9]{4}-/p`, `s/(x)?o/<\1>/`, `s/a{,2}/X/`,
	} {
		c := w
		c.Args = []string{"sed", "-E", s, "f"}
		cases = append(cases, c)
	}
	commandtest.Run(t, cases)
}

func TestOptions(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"sed p g h", "sed -n p g h", "sed -s '$d' g h", "sed '$d' g h", "sed -n '$=' f g h", "sed -sn '$=' f g h", "sed -s 1d f g h", "sed 1d f g h", "sed -n 'F;=' g h", "sed p empty", "sed -n '$p' g empty", "sed '$d' g empty", "sed '' g h", "sed '' g",
		"sed G g", "sed 'a x' g h", "sed 'i x' g h", "sed 'r h' g", "sed 'r g' h", "sed 'r nope' h", "sed '2r h' g", "sed '$r g' f", "sed 'R h' f", "sed 'R g' f", "sed 'R g' h g", "sed 'R nope' g", "sed 'w out' g", "sed -n 'w out\nw out2' g h", "sed -n '1w a\n2w b' g",
		"sed 'W out' g", "sed 'N;W out' g", "sed 'w /dev/stdout' g", "sed 'w d/no/x' g", "sed -n '/a/w x\n/e/w x' f", "sed 'w out\nr out' g", "sed -e p -e d g", "sed -e 'a\\' -e 'text' g", "sed -e 'a foo\\' -e 'bar' g", "sed -e '1{' -e 'p' -e '}' g", "sed -f prog f", "sed -f nprog f", "sed -n -f prog f",
		"sed -f bad f", "sed -f shprog f", "sed -f nope f", "sed -f prog -e p g", "sed -e p -f prog g", "sed --expression=p g", "sed --quiet p g", "sed --silent -e p g", "sed -nf nprog f", "sed -z s/^/x/ nul", "sed -z 's/\\n/N/g' nul", "sed -z '$d' nul", "sed -zn l nul", "sed -z 's/^t/T/mg' nul", "sed -zn 'N;P' nul",
		"sed -z 's/$/!/' f", "sed -u p g", "sed -l 20 -n l f", "sed -l 5 -n l f", "sed -l 1 -n l f", "sed -l x p f", "sed --line-length=10 -n l f", "sed -n l bin", "sed -n l utf", "sed 's/\\r$//' crlf", "sed -b p crlf", "sed --sandbox p g",
		"sed --sandbox 'w x' g", "sed --sandbox 's/a/b/w x' g", "sed --sandbox 'r x' g", "sed -s 'F' g h", "sed -n '$p' f g nope", "sed p nope", "sed p nope g", "sed p d", "sed p d g", "sed p -", "sed p - g", "sed -n 2p", "sed '$!N;$!D' num", "sed '$!d' num", "sed -n '$!{$!{p}}' num",
		"sed = num", "sed -n '2{p;q}' num", "sed '3,5!d' num", "sed -n '/2/,/4/p' num", "sed -n '2,4!p' num", "sed '/1/,+2d' num", "sed '2,~4d' num", "sed '0~4d' num", "sed -n '1~4p' num", "sed '10q' num", "sed -n '/1/{n;p}' num", "sed '/5/,/5/d' num", "sed '/[02468]$/!s/$/ odd/' num", "sed 'N;N;s/\\n/ /g' num", "sed -e :a -e '$q;N;11,$D;ba' num",
		"sed -n '$!{h;d};H;x;p' num", "sed '1!G;h;$!d' num", "sed -e :a -e 's/^.\\{1,10\\}$/ &/;ta' num", "sed 's/<[^>]*>//g' html", "sed 's/#.*//;s/ *$//' html", "sed -n 's/.*= *\\([^ #]*\\).*/\\1/p' html", "sed 's|/usr/local|/opt|' html", "sed 's/.*\\///' html", "sed -n '/key/s/[^=]*= //p' html",
	))
}

// TestUsage compares only that there is a message: the text of the help is our
// own.
func TestUsage(t *testing.T) {
	w := world
	w.AnyStderr = true
	commandtest.Run(t, commandtest.Lines(w, "sed", "sed -n", "sed -Q", "sed --foo", "sed -e", "sed -n -e"))
}

func TestInPlace(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"sed -i s/a/X/g f", "sed -i.bak s/a/X/ f", "sed -i.bak p g h", "sed --in-place=.orig 1d f", "sed -i 's/^/x/' g h", "sed -n -i p f", "sed -i d f", "sed -i 2q f", "sed -i 2Q f", "sed -i '1i top' f g", "sed -i '$a end' f g", "sed -i = g h", "sed -i 's/x/y/' nope", "sed -i p nope f", "sed -i p d", "sed -i p d f",
		"sed -ibk_* p g", "sed -i'*.bak' p g", "sed -id/* p g", "sed -i s/a/X/ ln", "sed -i --follow-symlinks s/a/X/ ln", "sed -i s/e/E/ x.sh", "sed -i 'w out' g h", "sed -i 'w /dev/stdout' g", "sed -i -e 1d -e '$d' f", "sed -i 1d f g h", "sed -i 'N;s/\\n/-/' f g", "sed -i -s F g h", "sed -i.b -E 's/(a)/\\1\\1/' f",
		"sed -i 's/b/B/;w o' f", "sed -i p", "sed -i r\\ h g", "sed -i '/beta/,/delta/d' f f", "sed -Ei s/a+/b/ f", "sed -i ''", "sed -i 's/(/x/' f", "sed -i 'k' f", "sed -ni '/a/p' f g", "sed -zi 's/\\n/,/g' f", "sed -i s/ro/rw/ ro", "sed -i '0,/a/d' f g", "sed -i x f g",
	))
}

func TestMistakes(t *testing.T) {
	commandtest.Run(t, scripts(world,
		"k", "p x", "pp", "s/a/b", "s/a", "s", "s/a/b/x", "s/a/b/gg", "s/a/b/pp", "s/a/b/0", "s/a/b/2 3", "s/\\(/x/", "s/a\\)/x/", "s/a/\\1/", "s/[/x/", "s/a**/x/", "s/*/x/", "s/a\\{1/x/", "s/[[:foo:]]/x/", "s/[:space:]/x/", "y/abc/de/", "y/a/b", "y/a", "y/a/b/g", "y/a\\bc/xyz/", "y/aa/bc/", "b foo", "t foo;:bar", ":",
		": ;p", "1:a", ":a b", ":a;:a", "a", "1,p", "0p", "0,5p", "0~0p", "+1p", "~1p", "1!!p", "1! !p", "1! p", "3,q", "1,2q", "1,2=", "r", "w", "1{p", "}", "1}", "{p;}}", "#n", "1#x", "5", "1,3", "//p", "s//x/I", "/a", "/a/x/", "/[/p", "\\ap", "1,/a", "!", "1!", "p;p x", "p\np\nk", "2,3a\\", "l x", "q x", "q5x", "=x", "n2", "{", "v 9.0", "p}", "dp", "/a/Jp", "s/a/b/ ;p", "s/a/b/;;p", "y/a/b/;p", "y/a/b/ p", "r nope", "1~p", "1~xp", "2,+p", "1 2p", "$$p", "a\nb",
	))
}

func TestWide(t *testing.T) {
	w := world
	w.Env = []string{"LC_ALL=C.UTF-8"}
	commandtest.Run(t, commandtest.Lines(w,
		"sed 's/./X/g' utf", "sed 's/caf./C/' utf", "sed 's/.*/\\U&/' utf", "sed 's/.*/\\L&/' utf", "sed 's/\\(.\\)t/\\l\\1t/' utf", "sed 'y/\xc3\xa9\xc3\xaf/ei/' utf", "sed 'y/ab/\xc3\xa9x/' utf", "sed -n l utf", "sed 's/\\w/w/g' utf", "sed 's/\xc3\x89/e/I' utf",
		"sed 's/./X/g' bin", "sed 's/[^a]/X/g' bin", "sed 's/\\xc3/X/' utf", "sed 's/\xc3\xa9*$/E/' utf", "sed 's/\\b/|/g' utf", "sed k utf", "sed 's/(/\xc3\xa9/k' utf", "sed 's\xc3\xa9a\xc3\xa9b\xc3\xa9' utf",
	))
}

// TestRefused shows that no script starts a program.
func TestRefused(t *testing.T) {
	for _, script := range []string{"e ls", "s/a/b/e", "1e"} {
		c := world
		c.Args = []string{"sed", script, "f"}
		if r := commandtest.Inside(t, &c); r.Status != exitUsage || r.Stdout != "" || !strings.Contains(r.Stderr, "disabled") {
			t.Errorf("%q: %d %q %q", script, r.Status, r.Stdout, r.Stderr)
		}
	}
}
