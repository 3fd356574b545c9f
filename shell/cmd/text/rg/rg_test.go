package rg

import (
	"regexp"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

var timings = regexp.MustCompile(`\d+\.\d+ seconds|"elapsed(_total)?":\{[^}]*\}`)

// untimed takes out what differs from run to run; and the number of bytes
// printed, in which the real one counts differently for its buffers.
func untimed(s string) string { return timings.ReplaceAllString(s, "TIME") }

var world = commandtest.Case{
	Stdin: "in foo\nother\n",
	Files: map[string]string{
		"a.txt": "foo bar\nbaz\nfoo foo\n", "b.go": "x\nfoo\ny\n", "e": "", "nonl": "last foo", "crlf": "foo\r\nbar\r\n", "bin": "foo\x00bar\nfoo2\n", "bin2": "foo1\nline\x00x\nfoo2\n", "late": strings.Repeat("foo line\n", 8000) + "x\x00\nfoo end\n",
		"inv": "a\xc3\xa9\xffb\nfoo\xff\n", "bom": "\xef\xbb\xbffoo\n", "u16": "\xff\xfef\x00o\x00o\x00\n\x00\xe9\x00\n\x00", "u16be": "\xfe\xff\x00f\x00o\x00o\x00\n", "latin": "na\xefve foo\n", "long": strings.Repeat("x", 50) + "foo" + strings.Repeat("y", 50) + "foo\nshort foo\n", "ctx": "1\n2\nfoo 3\n4\n5\n6\n7\nfoo 8\nfoo 9\n10\n", "words": "foo food foo-bar _foo foo\nfoo\nafoo\n", "ws": "  \tfoo  bar\n", "utf": "na\xc3\xafve caf\xc3\xa9\n\xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82\n123 \xd9\xa3\n", "code": "func main() {\n\tfmt.Println(\"hi\")\n}\n", "pats": "foo\nbaz\n", "nul": "one foo\x00two\x00foo three\x00",
	},
}

func run(t *testing.T, w commandtest.Case, lines ...string) {
	t.Helper()
	w.Clean = untimed
	commandtest.Run(t, commandtest.Lines(w, lines...))
}

func TestLines(t *testing.T) {
	run(t, world,
		"rg foo a.txt", "rg foo a.txt b.go --sort path", "rg foo -", "rg foo", "rg nope a.txt", "rg foo e", "rg foo nonl", "rg -n foo a.txt", "rg -H foo a.txt", "rg -I foo a.txt b.go --sort path", "rg -c foo a.txt", "rg -c foo a.txt b.go e --sort path", "rg -c --include-zero foo a.txt e --sort path", "rg --count-matches foo a.txt", "rg -c -o foo a.txt", "rg -l foo a.txt b.go e --sort path", "rg --files-without-match foo a.txt b.go e --sort path", "rg -q foo a.txt", "rg -q nope a.txt", "rg -v foo a.txt", "rg -vc foo a.txt", "rg -lv foo a.txt", "rg -o fo a.txt", "rg -on --column fo a.txt", "rg --column fo a.txt", "rg --vimgrep fo a.txt", "rg --vimgrep fo a.txt b.go --sort path", "rg -b fo a.txt", "rg -bo o a.txt", "rg -bn --column foo a.txt", "rg -i FOO a.txt", "rg -S FOO a.txt", "rg -S foo a.txt", "rg -s FOO a.txt", "rg -S '\\SOO' a.txt", "rg -e foo -e baz a.txt", "rg -f pats a.txt", "rg -f e a.txt", "rg -f nope a.txt", "rg -F 'foo b' a.txt", "rg -F . a.txt", "rg -m1 foo a.txt", "rg -m0 foo a.txt", "rg -m1 -A2 foo a.txt", "rg -m 2 foo ctx", "rg '' a.txt", "rg -c '' a.txt", "rg -o '' nonl", "rg -on '' a.txt", "rg -o '$' a.txt", "rg -o '^' -n a.txt", "rg --count-matches '' a.txt", "rg -v '' a.txt", "rg -vo foo a.txt", "rg -v --column foo a.txt", "rg -0l foo a.txt", "rg -0H foo a.txt", "rg -0c foo a.txt -H", "rg --trim foo ws", "rg --trim -n bar ws", "rg --trim -o '\\s+foo' ws", "rg --passthru baz a.txt", "rg --passthru -n baz a.txt", "rg -N foo a.txt", "rg -nN foo a.txt", "rg --no-line-number --column foo a.txt",
		"rg -w foo words", "rg -wo foo words", "rg -wc foo words", "rg -w fo words", "rg -x foo words", "rg -w --column foo words", "rg -w --count-matches foo words", "rg -wF foo words", "rg -wi FOO words", "rg -w 'foo|food' -o words", "rg -w -- '-bar' words", "rg 'foo$' crlf", "rg --crlf 'foo$' crlf", "rg --crlf -c '^bar$' crlf", "rg --null-data foo nul", "rg --null-data -n foo nul", "rg --null-data -v foo nul",
	)
}

func TestContextLines(t *testing.T) {
	run(t, world,
		"rg -C1 baz a.txt", "rg -nC1 foo ctx", "rg -n -A1 foo ctx", "rg -n -B1 foo ctx", "rg -n -A2 -B1 foo ctx", "rg -n -C2 -A0 foo ctx", "rg -C1 foo a.txt ctx --sort path", "rg -A1 foo b.go a.txt --sort path", "rg -nC1 -v foo ctx", "rg --context-separator XX -C1 foo ctx", "rg --no-context-separator -C1 foo ctx", "rg --context-separator '\\t' -C1 foo ctx", "rg --field-match-separator @ -n foo a.txt", "rg --field-context-separator @ -C1 -n baz a.txt", "rg --heading -n foo a.txt b.go --sort path", "rg --heading -C1 -n foo a.txt ctx --sort path", "rg --heading -c foo a.txt b.go --sort path", "rg --heading -l foo a.txt b.go --sort path", "rg --no-heading foo a.txt b.go --sort path", "rg -p foo a.txt", "rg -p foo a.txt b.go --sort path", "rg --color always foo a.txt", "rg --color always -H -n --column -b foo a.txt", "rg --color always -C1 -nH baz a.txt", "rg --color always -l foo a.txt", "rg --color always -c foo a.txt -H", "rg --color always -o foo a.txt", "rg --color always -v foo a.txt", "rg --color always -r X foo a.txt", "rg --color never foo a.txt", "rg --color auto foo a.txt",
		"rg -M 20 foo long", "rg -M 20 -C1 short long", "rg -M 20 --column foo long", "rg -M 20 --max-columns-preview foo long", "rg -M 20 --max-columns-preview --column foo long", "rg -M 60 --max-columns-preview --column foo long", "rg -M 20 -o 'x*foo' long", "rg -M 20 --max-columns-preview -C1 short long", "rg -M 103 foo long", "rg -M 106 foo long", "rg -M 107 foo long",
	)
}

func TestReplace(t *testing.T) {
	run(t, world, "rg -r X foo a.txt", "rg -r '' foo a.txt", "rg -r '[$0]' 'fo+' a.txt", "rg -or '$1-${1}' '(b)a' a.txt", "rg -r '$1x' '(b)a' a.txt", "rg -r '${1}x' '(b)a' a.txt", "rg -r '$name!' '(?P<name>ba.)' a.txt", "rg -r '$$' foo a.txt", "rg -r '$9' foo a.txt", "rg -r X --column foo a.txt", "rg -r XX -C1 baz a.txt", "rg -wr X foo words", "rg -wr '$1$1' '(fo)o' words", "rg -r X -c foo a.txt", "rg -or X -b foo a.txt")
}

func TestPatterns(t *testing.T) {
	run(t, world, "rg '\\w+' -o utf", "rg '\\bcaf' utf", "rg '\\d' -o utf", "rg '\\s' -c utf", "rg '\\W' -o utf", "rg '^\\w+$' utf", "rg '[\\w]+' -o utf", "rg '[^\\d\\s]+' -o utf", "rg -i \u043f\u0420\u0418 utf", "rg 'caf.$' utf", "rg '\\p{Cyrillic}+' -o utf", "rg '\\x{e9}' -o utf", "rg '\\u{e9}' -o utf", "rg '\\u00e9' -o utf", "rg . inv", "rg -o . inv", "rg '[^a]' -o inv", "rg 'fo{2}' a.txt", "rg '(foo|bar) ' a.txt", "rg 'ba[rz]' -o a.txt", "rg '^foo' -c ctx", "rg '[[:digit:]]$' ctx", "rg 'a.*?r' -o a.txt", "rg '(?i)FOO' a.txt", "rg 'Println\\(' code", "rg --no-unicode '\\w+' -o utf", "rg 'k' -i utf", "rg '\\bfoo\\b' -o words", "rg 'foo\\B' -o words", "rg '[0-9]{2,}' utf", "rg '^$' -c a.txt", "rg 'a|b|c' -o utf", "rg '[a-c]' -o utf", "rg 'x{0}foo' a.txt", "rg '\\Afoo' a.txt",
		"rg '(' a.txt", "rg ')' a.txt", "rg '[' a.txt", "rg '*' a.txt", "rg 'a{2,1}' a.txt", "rg '\\y' a.txt", "rg '[z-a]' a.txt", "rg 'x(?=y)' a.txt", "rg '(?<!y)x' a.txt", "rg '\\p{Foo}' a.txt", "rg 'a\\nb' a.txt", "rg '\\' a.txt", "rg 'a((b)' a.txt", "rg 'a(b))' a.txt",
		"rg -P '(?<=f)o' a.txt", "rg -Po '(?<=f)o' a.txt", "rg -P '(o)\\1' -c a.txt", "rg -U 'bar\\nbaz' a.txt", "rg -nU 'bar\\nbaz' a.txt", "rg -U -o 'bar\\nb' -n a.txt", "rg -U -c 'bar\\nb' a.txt", "rg -U --column -C1 'r\\nb' a.txt", "rg -U -v 'bar\\nbaz' a.txt", "rg -U foo a.txt", "rg -Un foo ctx", "rg -U --multiline-dotall 'bar.baz' a.txt", "rg -U 'bar.baz' a.txt", "rg -U '(?s)bar.baz' a.txt", "rg -U -n -C1 'foo 8\\nfoo' ctx", "rg -Ul 'bar\\nbaz' a.txt", "rg -U foo nonl",
	)
}

func TestEncodings(t *testing.T) {
	run(t, world, "rg '^foo' bom", "rg foo u16", "rg . u16", "rg foo u16be", "rg -E utf-16le foo u16", "rg -E none foo bom", "rg -E latin1 'na.ve' latin", "rg -E latin1 -o 'na.ve' latin", "rg foo latin", "rg -E nope foo a.txt",
		"rg foo bin", "rg foo bin2", "rg -a foo bin", "rg -c foo bin", "rg -l foo bin", "rg -v foo bin", "rg -o foo bin", "rg -q foo bin", "rg foo bin a.txt --sort path", "rg -n foo bin2", "rg -C1 foo bin", "rg --count-matches foo bin", "rg --files-without-match foo bin", "rg -c foo late", "rg nope bin", "rg 'bar' bin", "rg x bin2", "rg --text -n foo bin2", "rg -v nope bin2")
}

func TestStructured(t *testing.T) {
	run(t, world, "rg --json foo a.txt", "rg --json -C1 baz a.txt", "rg --json foo inv", "rg --json nope a.txt", "rg --json -U 'bar\\nb' a.txt", "rg --json foo a.txt b.go e --sort path", "rg --json '\"' code", "rg --stats nope a.txt", "rg --stats foo a.txt", "rg --stats -c foo a.txt b.go --sort path", "rg --stats -q foo a.txt", "rg --stats -l foo a.txt")
}

var tree = commandtest.Case{
	Files: map[string]string{
		"a.txt": "foo a\n", "sub/b.go": "foo b\n", "sub/deep/c.txt": "foo c\n", ".hid": "foo h\n", ".hd/x": "foo hx\n", "node_modules/n.js": "foo n\n", "bin": "x\nfoo\x00\n", "build/out.o": "foo o\n", "sub/build/k": "foo k\n", "keep.log": "foo keep\n", "x.log": "foo log\n", "sub/y.log": "foo y\n", "t/.rgignore": "r*\n", "t/.ignore": "i*\n!r2\n", "t/.gitignore": "g*\n!i2\n", "t/r1": "foo\n", "t/r2": "foo\n", "t/i1": "foo\n", "t/i2": "foo\n", "t/g1": "foo\n", "t/ok": "foo\n", "gone/inner/z": "foo\n", "gone/z": "foo\n", "Makefile": "foo m\n", "script.sh": "foo s\n", "UP.TXT": "foo up\n", "img.[1]": "foo\n",
		".gitignore": "# comment\nnode_modules\n/build\n*.log\n!keep.log\n\ntrail   \ngone/inner/\n", ".git/HEAD": "x\n", ".git/info/exclude": "excluded\n", "excluded": "foo ex\n", "trail": "foo t\n", "extra": "*.go\n",
	},
	Entries: []commandtest.Entry{{Path: "ln", Link: "a.txt"}, {Path: "lnd", Link: "sub"}, {Path: "dang", Link: "nope"}},
}

func TestTree(t *testing.T) {
	var sorted []string
	for _, l := range []string{
		"rg foo ./", "rg foo . -l", "rg foo sub", "rg foo sub/", "rg foo sub a.txt", "rg -uu foo ./ -l", "rg -u foo ./ -l", "rg -uuu foo ./", "rg --hidden foo ./ -l", "rg -. foo ./ -l", "rg --no-ignore foo ./ -l", "rg --no-ignore-vcs foo ./ -l", "rg --no-ignore-dot foo ./ -l", "rg --no-ignore-exclude foo ./ -l", "rg -L foo ./ -l", "rg --max-depth 1 foo ./ -l", "rg --max-depth 0 foo ./", "rg --max-depth 2 foo ./ -l", "rg -g *.go foo ./ -l", "rg -g !*.go foo ./ -l", "rg -g *.log foo ./ -l", "rg -g *.{go,txt} foo ./ -l", "rg -g sub/** foo ./ -l", "rg -g /a.txt foo ./ -l", "rg -g !sub foo ./ -l", "rg -g **/deep/** foo ./ -l", "rg -g !*.txt -g a.txt foo ./ -l", "rg -g *.TXT foo ./ -l", "rg --iglob *.TXT foo ./ -l", "rg --glob-case-insensitive -g *.TXT foo ./ -l", "rg -g [ab].* foo ./ -l", "rg -g ?.txt foo ./ -l", "rg -g img.[[]1] foo ./ -l", "rg -tgo foo ./ -l", "rg -Tgo foo ./ -l", "rg -tgo -ttxt foo ./ -l", "rg -tsh foo ./ -l", "rg -tmake foo ./ -l", "rg --type-add foo:*.txt -tfoo foo ./ -l", "rg --type-add foo:include:go,sh -tfoo foo ./ -l", "rg --type-clear go --type-add go:*.txt -tgo foo ./ -l", "rg -ttxt -g !a* foo ./ -l", "rg --ignore-file extra foo ./ -l", "rg --ignore-file nope foo ./ -l", "rg --max-filesize 6 foo ./ -l", "rg --max-filesize 1K foo ./ -l", "rg foo node_modules", "rg foo build", "rg foo node_modules/n.js", "rg foo t -l", "rg --no-ignore-parent foo t -l", "rg --files ./", "rg --files sub", "rg --files -uu ./", "rg --files -tgo ./", "rg --files -g *.go ./", "rg --files-without-match a ./", "rg -c foo ./", "rg -n foo ./", "rg --heading foo ./", "rg --vimgrep foo sub", "rg foo nope ./ -l", "rg -q foo nope ./", "rg --no-messages foo nope ./ -l", "rg nope ./", "rg --path-separator / foo sub", "rg -0 -l foo sub", "rg --binary foo ./ -c", "rg foo ln", "rg foo lnd", "rg foo dang", "rg -L foo dang", "rg -L foo ./ --files", "rg --no-require-git foo t -l", "rg -j1 foo ./ -l", "rg --files bin a.txt", "rg --one-file-system foo ./ -l", "rg --no-config foo a.txt", "rg --no-hidden --hidden foo ./ -l",
	} {
		sorted = append(sorted, l+" --sort path")
	}
	run(t, tree, append(sorted, "rg --sortr path -l foo ./", "rg --files --sortr path sub", "rg -t nope foo ./", "rg --type-add foo -tgo foo", "rg -g '[' foo ./", "rg -g '{a' foo ./", "rg --files -q ./", "rg --files -q -g nope ./")...)
}

// TestNoRepository shows that without a .git the rules of git do not apply.
func TestNoRepository(t *testing.T) {
	bare := tree
	bare.Files = map[string]string{}
	for name, content := range tree.Files {
		if !strings.HasPrefix(name, ".git/") {
			bare.Files[name] = content
		}
	}
	run(t, bare, "rg foo ./ -l --sort path", "rg --no-require-git foo ./ -l --sort path", "rg foo t -l --sort path")
}

func TestMistakes(t *testing.T) {
	run(t, world, "rg", "rg -A x foo a.txt", "rg -m x foo a.txt", "rg --sort x foo a.txt", "rg --color x foo a.txt", "rg --max-filesize x foo a.txt", "rg foo nope", "rg foo nope a.txt")
}

// FuzzFilter shows that the filter lets all lines pass that match.
func FuzzFilter(f *testing.F) {
	for _, p := range []string{"foo", "(?i)sk", "a.b", `\bx\b`, "[^a]+$", "(a|bc)*d", `\pL{2,3}`, "^$", "[a-z]+é", "x{0}", "(?s).", `[\]^-]a`} {
		f.Add(p, "foo sk \u212a\u017f axb x bcd é ]a")
		f.Add(p, "\xffa\x00b")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if strings.ContainsRune(text, '\n') {
			return
		}
		for _, flags := range []string{"(?m)", "(?mi)"} {
			re, err := compile(flags+"(?:"+pattern+")", true)
			if err != nil {
				return
			}
			filter, whole := newFilter(flags + "(?:" + pattern + ")")
			if filter == nil || !re.MatchString(text) {
				continue
			}
			if ok, err := filter.Match(t.Context(), []byte(text)); err == nil && !ok {
				t.Fatalf("%q matches %q, but the filter does not", flags+pattern, text)
			}
			if literal, _ := filter.Required(); !strings.Contains(text, string(literal)) {
				t.Fatalf("%q matches %q without %q (%v)", flags+pattern, text, literal, whole)
			}
		}
	})
}

// FuzzGlob compiles any glob, and any ignore file.
func FuzzGlob(f *testing.F) {
	for _, g := range []string{"*.go", "**/a/**", "{a,b}*", "[!a-c]?", `\*`, "a/**/b", "[]]", "!x/", "#", "a{b{c", "[z-a]"} {
		f.Add(g, "a/b/c.go")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if g, err := compileGlob(pattern, false); err == nil {
			g.match(path)
		}
		parseRules(pattern, true, func(int, error) {}).decide(path, true)
	})
}
