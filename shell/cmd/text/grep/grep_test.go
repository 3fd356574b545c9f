package grep

import (
	"sort"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

var world = commandtest.Case{
	Stdin: "stdin foo\nbar\n",
	Files: map[string]string{
		"f":         "foo\nbar\nFoo bar\nfoobar foo\n\nbaz qux\nfoo_bar foo-bar\nx\n",
		"g":         "one\ntwo\nthree\nfour\nfive\nsix\nseven\ntwo\nnine\nten\ntwo\n",
		"noeol":     "a foo\nb",
		"bin":       "text foo\nbin\x00foo\nafter foo\n",
		"enc":       "ok foo\nbad \xff foo\nmore foo\n",
		"nul":       "one\x00two foo\nx\x00three\x00",
		"utf":       "na\xc3\xafve caf\xc3\xa9\n\xc3\x89COLE \xc3\xa9cole\n",
		"empty":     "",
		"pats":      "two\nfi\n",
		"nopats":    "",
		"globs":     "*.h\n",
		"code.c":    "int main(void) { return a[0] * 2; }\n#define X(a) (a+1)\n",
		"tab":       "a\tb\n\tfoo\nfoo\r\n",
		"d/a.c":     "foo in a\n",
		"d/b.h":     "foo in b\nnot\n",
		"d/s/c.c":   "deep foo\n",
		"d/.hid":    "hidden foo\n",
		"d/s2/":     "",
		"d/bin.dat": "\x00foo\n",
	},
	Entries: []commandtest.Entry{{Path: "ln", Link: "f"}, {Path: "d/ln", Link: "../f"}, {Path: "dln", Link: "d"}, {Path: "bad", Link: "nowhere"}, {Path: "p", FIFO: true}},
}

// wide is the world in a locale with UTF-8.
func wide() commandtest.Case {
	w := world
	w.Env = []string{"LC_ALL=C.UTF-8"}
	return w
}

func TestBasics(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"grep foo f", "grep foo", "grep foo -", "grep foo f g noeol", "grep -h foo f noeol", "grep -H foo f", "grep -n foo f noeol", "grep -c foo f g", "grep -c foo f",
		"grep -v foo f", "grep -i FOO f", "grep -w foo f", "grep -x foo f", "grep -wx 'foo' f", "grep -wv foo f", "grep -l foo f g noeol", "grep -L foo f g noeol", "grep -q foo f",
		"grep -q nope f", "grep nope f", "grep -o foo f", "grep -on foo f", "grep -ob foo f", "grep -b foo f", "grep -oi foo f", "grep -ov foo f", "grep -m1 foo f", "grep -m 2 -n foo f g",
		"grep -m0 foo f", "grep -m -1 foo f", "grep -e foo -e bar f", "grep -efoo -ebaz f", "grep -f pats g", "grep -f nopats g", "grep -vf nopats pats", "grep -f pats -e ten g", "grep -cv '' f",
		"grep '' f", "grep -v '' f", "grep '' empty", "grep -c '' empty", "grep -c '' noeol", "grep 'foo\nbaz' f", "grep -F 'a[0]' code.c", "grep -F -x foo f", "grep -F -w foo f", "grep -Fi FOO f",
		"grep -F '*' code.c", "grep 'a\\[0\\]' code.c", "grep 'X(a)' code.c", "grep -E 'X\\(a\\)' code.c", "grep -E '^(foo|baz)' f", "grep 'foo\\|baz' f", "grep -E 'o{2}' f", "grep 'o\\{2\\}b' f",
		"grep '^$' f", "grep -n '^' noeol", "grep '\\<bar' f", "grep 'bar\\>' f", "grep '\\bfoo\\b' f", "grep '\\Bbar' f", "grep '\\w\\+-' f", "grep '[[:upper:]]' f", "grep '\\(o\\)\\1' f", "grep -E '(.)\\1b' f",
		"egrep 'foo|baz' f", "fgrep 'foo.' f", "grep -y FOO f", "grep -io --no-ignore-case FOO f", "grep -s foo nope", "grep -sq foo nope f", "grep -q foo nope f", "grep foo nope f", "grep foo d", "grep -s foo d f",
		"grep -H foo", "grep --label=in -H foo", "grep -c foo - f", "grep -lZ foo f noeol", "grep -HZ foo f", "grep -cZ foo f noeol", "grep -T foo f", "grep -nT foo f", "grep -HnT foo f", "grep -HnbT foo f",
		"grep --count --max-count=2 foo f", "grep -lc foo f g", "grep -lv foo f", "grep -lq foo f", "grep -L foo f", "grep -L nope f", "grep -a foo f", "grep -U foo f", "grep foo bad", "grep foo ln",
		"grep -lm1 foo f", "grep -Lm0 foo f", "grep -z foo f", "grep -n foo tab", "grep 'foo$' tab", "grep --line-buffered foo f", "grep -ow '[a-z]*' f", "grep -o '' f", "grep -o 'o*' f", "grep -ob 'o*' f",
		"grep -w '' f", "grep -x '' f", "grep -vw '' f", "grep -vx '' f", "grep -wo 'foo\\|foo_bar' f", "grep -E 'a**b|c' f", "grep -m1 -v foo f", "grep -c -v foo f", "grep -i 'FOO[ -]BAR' f",
	))
}

func TestContext(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"grep -A1 two g", "grep -B1 two g", "grep -C1 two g", "grep -1 two g", "grep -n -C1 two g", "grep -A0 two g", "grep -B0 -n two g", "grep -A1 -B2 two g", "grep -A 100 five g", "grep -B 100 five g",
		"grep -A1 two g pats", "grep -nC2 two g pats", "grep -A1 -m1 two g", "grep -A9 -m1 two g", "grep -A1 -v two g", "grep -oA1 two g", "grep -onB1 two g", "grep -cA1 two g", "grep -lA1 two g", "grep -qC1 two g",
		"grep --group-separator=XX -A1 two g", "grep --no-group-separator -A1 two g", "grep --group-separator= -A1 two g", "grep -bC1 two g", "grep -2n two g", "grep -12 two g", "grep -1 -2 two g", "grep -n1 two g",
		"grep -C1 nope g", "grep -HC1 nine g", "grep -TnC1 nine g", "grep -A1 one g pats", "grep -B1 -A3 -n 'two\\|five' g", "grep -ZHA1 nine g", "grep --context=1 nine g", "grep --context nine g", "grep -C x nine g", "grep -A -1 nine g",
	))
}

func TestBinary(t *testing.T) {
	lines := []string{"grep foo bin", "grep -a foo bin", "grep -I foo bin", "grep -c foo bin", "grep -n text bin", "grep -v zzz bin", "grep -l foo bin", "grep -q foo bin", "grep nope bin", "grep '^foo' bin", "grep -c '' bin", "grep -ac '' bin",
		"grep --binary-files=text foo bin", "grep --binary-files=without-match foo bin f", "grep --binary-files=binary foo bin", "grep --binary-files=x foo bin", "grep -o foo bin", "grep -ao foo bin", "grep foo enc", "grep -a foo enc", "grep -c foo enc",
		"grep -n more enc", "grep -v ok enc", "grep bad enc", "grep -o foo enc", "grep -o 'bad.*' enc", "grep -I bad enc", "grep -C1 more enc", "grep -C1 ok enc", "grep -z two nul", "grep -zc '' nul", "grep -zo 'tw.' nul", "grep -z '^x' nul", "grep -z 'foo$' nul", "grep -zx three nul",
		"grep -zv one nul", "grep -znH three nul", "grep foo bin f", "grep -m1 foo bin f", "grep -L foo bin", "grep -A1 text bin", "grep -P foo bin", "grep -P foo enc", "grep -aP foo enc"}
	commandtest.Run(t, append(commandtest.Lines(world, lines...), rename("wide ", commandtest.Lines(wide(), lines...))...))
}

func rename(prefix string, cases []commandtest.Case) []commandtest.Case {
	for i := range cases {
		cases[i].Name = prefix + cases[i].Name
	}
	return cases
}

func TestWide(t *testing.T) {
	lines := []string{"grep caf. utf", "grep -o 'caf.$' utf", "grep -i '\xc3\xa9cole' utf", "grep -io '\xc3\x89' utf", "grep -o '\\w*' utf", "grep -w 'na' utf", "grep -o '[[:alpha:]]*' utf",
		"grep -Fi '\xc3\x89' utf", "grep -o 'caf\\W*' utf", "grep -ow 'caf[^ ]*' utf", "grep '\xff' enc", "grep -a '\xff' enc", "grep -o '^.' utf", "grep -oP '.$' utf", "grep -P '\xc3\xa9' utf"}
	commandtest.Run(t, append(commandtest.Lines(world, lines...), rename("wide ", commandtest.Lines(wide(), lines...))...))
}

func TestPerl(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"grep -P 'fo{2}' f", "grep -oP 'foo\\Kbar' f", "grep -oP '(?<=foo)bar' f", "grep -P '^foo(?!bar)' f", "grep -P '\\bfoo\\b' f", "grep -oP '\\w+' f", "grep -oP '\\d+' code.c", "grep -P '^\\s*$' f", "grep -Pi FOO f", "grep -Pw foo f",
		"grep -Px foo f", "grep -Pv foo f", "grep -Pc foo f", "grep -P '(' f", "grep -P ')' f", "grep -P '[a' f", "grep -P '*a' f", "grep -P 'a\\' f", "grep -P -e a -e b f", "grep -P 'foo\nbar' f", "grep -oP 'o+?' f", "grep -oP '(?i)FOO' f",
		"grep -oP '[[:upper:]]\\w*' f", "grep -oP '[\\w-]+' f", "grep -oP '[^\\s]+' f", "grep -oP '\\Qa[0]\\E' code.c", "grep -oP 'fo++' f", "grep -oP '(?>fo+)' f", "grep -oP '(\\w)\\1' f", "grep -oP '(?<x>o)\\k<x>' f", "grep -oP '(?P<x>o)(?P=x)' f",
		"grep -oP '(o)\\g1' f", "grep -oP '\\x66oo' f", "grep -oP '\\x{66}oo' f", "grep -P '\\tfoo' tab", "grep -oP '\\bba\\w' f", "grep -oP '^\\S+' f", "grep -P '' f", "grep -oP 'b|o' f", "grep -P '\\h' f", "grep -bnoP 'ba.' f",
	))
}

func sorted(s string) string {
	lines := strings.SplitAfter(s, "\n")
	sort.Strings(lines)
	return strings.Join(lines, "")
}

func TestRecursive(t *testing.T) {
	w := world
	w.Clean = sorted
	commandtest.Run(t, commandtest.Lines(w,
		"grep -r foo d", "grep -r foo d/", "grep -rI foo", "grep -rI foo .", "grep -R foo d", "grep -rl foo d", "grep -rL foo d", "grep -rc foo d", "grep -rh foo d", "grep -rn foo d f", "grep -r foo f", "grep -rH foo f", "grep -ri FOO d/s",
		"grep -r --include=*.c foo d", "grep -r --exclude=*.c foo d", "grep -r --include=*.c --include=*.h foo d", "grep -r --include=*.c --exclude=a* foo d", "grep -r --exclude=a* --include=*.c foo d", "grep -r --exclude-dir=s foo d", "grep -r --exclude-dir=s/ foo d",
		"grep -r --exclude-dir=d foo d", "grep -r --exclude-dir='*' foo .", "grep -r --exclude-from=globs foo d", "grep --include=*.c foo f d/a.c", "grep --exclude=f foo f noeol", "grep --exclude=*.c foo d/a.c f", "grep -r --include=*.c foo f d",
		"grep -d recurse foo d", "grep -d skip foo d f", "grep -d read foo d", "grep -d x foo d", "grep -D skip foo f p", "grep -D x foo f", "grep -r foo dln", "grep -r foo dln/", "grep -rI foo d", "grep -ra foo d", "grep -r foo nope", "grep -rs foo nope d",
		"grep -r foo -", "grep -rq foo d", "grep -rm1 foo d", "grep -rZl foo d/s", "grep -ro foo d", "grep -R foo d/ln d/s", "grep -r --exclude-from=nope foo d", "grep -rw deep d", "grep -rA1 deep d", "grep -r --exclude='d/*' foo d", "grep --exclude-dir=d foo d/a.c",
	))
}

func TestMistakes(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"grep", "grep -E", "grep -Q foo f", "grep --foo foo f", "grep --co foo f", "grep -m x foo f", "grep -m '' foo f", "grep -A x foo f", "grep -f nope f", "grep -E -P foo f", "grep -P -F foo f", "grep -E -F foo f", "grep -e", "grep --color=never foo f", "grep --color foo f",
		"grep 'a\\{1' f", "grep -E '(a' f", "grep -E 'a)' f", "grep '[a' f", "grep '[:space:]' f", "grep '[[:foo:]]' f", "grep 'a\\' f", "grep '\\(' f", "grep '\\)' f", "grep -E '*a' f", "grep -E 'x|*a' f", "grep -E '(+a)' f", "grep -E '{1}a' f", "grep '\\1' f", "grep -E 'a{2,1}' f", "grep '[z-a]' f", "grep -E '^*foo' f",
		"grep -u foo f", "grep -d", "egrep -Q foo f", "grep -E 'a{1,99999}' f", "grep '[[.space.]]' f", "grep -nonexistent f",
	))
}

func TestColor(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"grep --color=always foo f", "grep --color=always -n foo f noeol", "grep --color=always -on foo f", "grep --color=always -c foo f noeol", "grep --color=always -l foo f", "grep --color=always -A1 two g", "grep --color=always -nHb two g", "grep --color=always -v two g", "grep --color=always '' g", "grep --colour=always -i foo f", "grep --color=always -Z foo f noeol", "grep --color=always -vA1 three g",
		"grep --color=always '^foo\\|$' f", "grep --color=always -T -n foo f",
	))
}
