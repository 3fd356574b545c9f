package text

import (
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

// world is the files that most cases run over.
var world = commandtest.Case{
	Stdin: "in one\nin two\nin three\n",
	Files: map[string]string{
		"f":     "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n",
		"g":     "a b c\nd\te f\n\n  g  h\n",
		"e":     "",
		"noeol": "x\ny",
		"nl":    "\n\n\n",
		"bin":   "a\x00b\xff\x80\n\x01\x1b\x7f\n",
		"utf":   "na\xc3\xafve caf\xc3\xa9\n\xe4\xb8\xad\xe6\x96\x87\n",
		"nul":   "one\x00two\x00three\x00",
		"csv":   "id,name,qty\n1,apple,10\n2,pear,\n3,\"a,b\",7\n\nnodelim\n",
		"tabs":  "a\tb\tc\nd\t\tf\nnone\n\tx\n",
		"dup":   "a\na\nB\nb\nc\nc\nc\n\n\nd\n",
		"d/x":   "x\n",
	},
	Entries: []commandtest.Entry{{Path: "ln", Link: "f"}, {Path: "bad", Link: "nowhere"}},
}

// inLocale is a world in which characters are UTF-8's.
func inLocale(w commandtest.Case) commandtest.Case {
	w.Env = append(append([]string(nil), w.Env...), "LC_ALL=C.UTF-8")
	return w
}

// prefixed makes the names of cases differ from those of others.
func prefixed(prefix string, cases []commandtest.Case) []commandtest.Case {
	for i := range cases {
		cases[i].Name = prefix + cases[i].Name
	}
	return cases
}

// both runs lines in both locales.
func both(w commandtest.Case, lines ...string) []commandtest.Case {
	return append(commandtest.Lines(w, lines...), prefixed("utf8 ", commandtest.Lines(inLocale(w), lines...))...)
}

func TestHead(t *testing.T) {
	cases := commandtest.Lines(world,
		"head f", "head", "head -", "head -n 3 f", "head -n3 f", "head -3 f", "head -n 0 f", "head -n -3 f", "head -n -100 f", "head -n -0 f", "head --lines=2 f", "head --lines=-10 f", "head -c 5 f", "head -c -5 f", "head -c 0 f", "head -c 1k f", "head -c 1K f", "head -c1b f", "head -c 2kB f",
		"head -c -1000 f", "head --bytes=3 f", "head -n 1 f g", "head -n 1 f g e", "head -q -n 1 f g", "head -v -n 1 f", "head -v -n1", "head -n 1 nope", "head -n 1 nope f g", "head d", "head -n 1 d f", "head -z -n 2 nul", "head -zn 1 f", "head -n 2 noeol", "head -n -1 noeol", "head -n -2 noeol", "head -c -1 noeol",
		"head -n x f", "head -c x f", "head -n '' f", "head -n 1x f", "head -n 99999999999999999999 f", "head -n -99999999999999999999 f", "head -n", "head -Q", "head --foo", "head -5c f", "head -2k f", "head -1v f", "head -1q f g", "head -5x f", "head -n 5 -c 3 f", "head -c 3 -n 1 f", "head -n -1", "head -c -4", "head -n 1 - f", "head -n +2 f",
		"head -n1K f", "head e", "head -n 1 e f", "head -- f", "head -n 2 bin", "head ln -n1", "head -n-1 nl", "head --silent -n1 f g", "head --verb -n 1 f", "head -n 1 'no such'",
	)
	c := world
	c.Stdin = strings.Repeat("line of text\n", 20000)
	commandtest.Run(t, append(cases, prefixed("big ", commandtest.Lines(c, "head -n -19998", "head -c -259990", "head -n -5000 -c 20", "tail -n 2", "tail -c 30", "tail -n +19999", "tail -c +259990"))...))
}

func TestTail(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"tail f", "tail", "tail -", "tail -n 3 f", "tail -n3 f", "tail -3 f", "tail -n 0 f", "tail -n -3 f", "tail -n +3 f", "tail -n +1 f", "tail -n +0 f", "tail -n +100 f", "tail -n 100 f", "tail +3 f", "tail --lines=2 f", "tail --lines=+11 f", "tail -c 5 f", "tail -c -5 f", "tail -c +5 f", "tail -c +1 f", "tail -c +0 f", "tail -c 0 f", "tail -c 1k f", "tail -c +1000 f",
		"tail -n 1 f g", "tail -q -n 1 f g", "tail -v -n 1 f", "tail -v -n1", "tail nope", "tail -n1 nope f g", "tail d", "tail -n1 d f", "tail -z -n 2 nul", "tail -n 1 noeol", "tail -n 2 noeol", "tail -n +2 noeol", "tail -n +2", "tail -n 1", "tail -c 3", "tail -c +3", "tail -2", "tail +2", "tail -5c f", "tail +5c f", "tail -1l f", "tail -n x f", "tail -c x f", "tail -n '' f",
		"tail -n", "tail -Q", "tail -n 99999999999999999999 f", "tail e", "tail -n1 e f", "tail -n 2 nl", "tail -n 1 - f", "tail --silent -n1 f g", "tail -n1K f", "tail -c 2b f", "tail -n 1 bin", "tail -r f", "tail -s x f", "tail --pid=x f", "tail --follow=x f", "tail -n 1 'no such'", "tail -n 3 -c 2 f", "tail -10 f g", "tail +2 f g", "tail -n +3 -q f g", "tail -1 f -v",
	))
}

func TestWc(t *testing.T) {
	w := world
	w.Files = map[string]string{"f": "one two\nthree\n", "g": strings.Repeat("word ", 1000) + "\n", "e": "", "noeol": "a b", "utf": "na\xc3\xafve caf\xc3\xa9\n\xe4\xb8\xad \xe6\x96\x87\n", "bin": "a\x00b \xff \x01 \xc3\n", "tabs": "a\tb\n\r\f long line here\v x\n\t\n", "names": "f\x00g\x00", "bad names": "f\x00\x00nope\x00", "d/": ""}
	commandtest.Run(t, both(w,
		"wc f", "wc", "wc -", "wc -l f", "wc -w f", "wc -c f", "wc -m f", "wc -L f", "wc -lw f", "wc -cl f", "wc -mc f", "wc -lwmcL f", "wc f g", "wc -l f g e", "wc e", "wc noeol", "wc utf", "wc -m utf", "wc -L utf", "wc -w utf", "wc bin", "wc -m bin", "wc -w bin", "wc -L bin", "wc tabs", "wc -L tabs", "wc -L f g",
		"wc nope", "wc f nope", "wc d", "wc d f", "wc f -", "wc -l", "wc -c", "wc -lw", "wc --files0-from=names", "wc --files0-from=nope", "wc --files0-from=names f", "wc -l --files0-from='bad names'", "wc --lines --words f", "wc --chars --bytes f", "wc --max-line-length f", "wc -Q", "wc -l nope",
	))
}

func TestCut(t *testing.T) {
	commandtest.Run(t, both(world,
		"cut -c 1 f", "cut -c 1-3 f", "cut -c -2 f", "cut -c 3- f", "cut -c 1,3 f", "cut -c 3,1 f", "cut -c 1-2,2-4 f", "cut -b 2 f", "cut -b 2-3 utf", "cut -c 3 utf", "cut -f 1 tabs", "cut -f 2 tabs", "cut -f 1,3 tabs", "cut -f 2- tabs", "cut -f -2 tabs", "cut -sf 1 tabs", "cut -s -f 2 tabs", "cut -d , -f 2 csv", "cut -d, -f1,3 csv", "cut -d, -f3,1 csv", "cut -d, -f2- csv", "cut -d, -sf2 csv",
		"cut -d ' ' -f 2 g", "cut -d '' -f 1 nul", "cut --complement -f 2 -d , csv", "cut --complement -c 2 f", "cut --complement -b 1-2 f", "cut --output-delimiter=: -d , -f 1,2 csv", "cut --output-delimiter=: -c 1,3 f", "cut --output-delimiter=: -c 1-2,3-4 f", "cut --output-delimiter=:: -f 1-3 tabs", "cut --output-delimiter= -d, -f1,2 csv", "cut -z -c 1 nul", "cut -z -d o -f 1 nul",
		"cut -d x -f 1", "cut -c 1", "cut -c 1 -", "cut -c1 f nope g", "cut -c1 d", "cut -f 1 noeol", "cut -c 1 noeol", "cut -d '\n' -f 1 f", "cut -d '\n' -f 1,3 f", "cut -d '\n' -s -f 1 noeol", "cut -n -b 1 f", "cut --bytes=1 f", "cut --fields=1 --delimiter=, csv", "cut --characters=2 f", "cut --only-delimited -f1 tabs",
		"cut", "cut f", "cut -f 0 f", "cut -c 0 f", "cut -f 2-1 f", "cut -f - f", "cut -c - f", "cut -f a f", "cut -c a f", "cut -f 1a f", "cut -f '' f", "cut -f , f", "cut -f 1, f", "cut -f 1,,2 f", "cut -f 1-2-3 f", "cut -f -0 f", "cut -c 1-x f", "cut -d ab -f 1 f", "cut -d , -c 1 f", "cut -s -c 1 f", "cut -f 1 -c 1 f", "cut -f 99999999999999999999 f", "cut -c 99999999999999999999- f",
		"cut -f 1-99999999999999999999 f", "cut -f '1 2' tabs", "cut -f '1\t3' tabs", "cut -Q", "cut -f", "cut -f 5 tabs", "cut -c 100 f", "cut -f 2-2,1 tabs", "cut -f1 e", "cut -c 2-1 f", "cut -b 1-2,4- f", "cut -d: -f1 csv", "cut -f 1 -f 2 f", "cut -d '\xc3' -f 1 utf",
	))
}

func TestTr(t *testing.T) {
	w := commandtest.Case{Stdin: "Hello World 123\nfoo  bar\t\tbaz\n\n\nAAbbCC\x00\xc3\xa9\xff\n"}
	commandtest.Run(t, both(w,
		"tr a b", "tr a-z A-Z", "tr A-Z a-z", "tr '[:lower:]' '[:upper:]'", "tr '[:upper:]' '[:lower:]'", "tr -d aeiou", "tr -d '[:digit:]'", "tr -d '\\n'", "tr -s ' '", "tr -s '\\n'", "tr -s 'a-zA-Z'", "tr -s ' \\t' '_'", "tr -cd '[:alnum:]\\n'", "tr -c '[:alnum:]' '_'", "tr -c 'a-z\\n' '*'", "tr -cs 'A-Za-z' '\\n'", "tr -ds o l", "tr -d -s a-z ' '", "tr -s", "tr -t abc xy",
		"tr abc xy", "tr abc x", "tr -t abcdef xy", "tr 'a-c' '[x*]'", "tr 'a-e' '[x*2]y'", "tr 'a-z' '[A*3]B[C*]'", "tr '[a-z]' '[A-Z]'", "tr '\\000' X", "tr '\\303\\251' e", "tr -d '\\200-\\377'", "tr '\\n' ' '", "tr '\\t' ' '", "tr ' ' '\\n'", "tr -- -x y", "tr '\\\\' /", "tr 'o\\-l' xyz", "tr '[=o=]' 0", "tr -d '[=o=]'", "tr '[:space:]' _", "tr -s '[:space:]'", "tr -s '[:blank:]' ' '",
		"tr '[:alpha:]' x", "tr -d '[:punct:][:cntrl:]'", "tr -dc '[:print:]\\n'", "tr '[:xdigit:]' x", "tr -s l", "tr lo 01", "tr -C a-z x", "tr --complement --delete a-z", "tr --squeeze-repeats l", "tr --truncate-set1 abc x", "tr a-zA-Z n-za-mN-ZA-M", "tr '0-9' '9876543210'", "tr '\\0' 0", "tr '\\08' xy",
		"tr", "tr a", "tr -d", "tr -d a b", "tr -ds a", "tr -s a b c", "tr a b c", "tr z-a x", "tr a ''", "tr '[:foo:]' x", "tr '[::]' x", "tr '[==]' x", "tr '[=ab=]' x", "tr '[x*]' y", "tr abc '[:alpha:]'", "tr abc '[=a=]'", "tr 'a-z' '[:upper:]'", "tr '[:lower:]' 'A[:upper:]'", "tr a '[x*y]'", "tr ab '[x*][y*]'", "tr -d 'a\\'", "tr 'a\\' bc", "tr '\\400' x", "tr -Q", "tr -c '[:alpha:]' ab", "tr -s '[x*]'", "tr -ds a '[b*]'",
		"tr 'a[b' xyz", "tr '[a' xy", "tr 'a]' xy", "tr '[:a' xyz", "tr '[x*010]' y", "tr ab '[x*010]y'", "tr '[:upper:][:lower:]' '[:lower:][:upper:]'", "tr '[:lower:]xyz' '[:upper:]123'", "tr '[:digit:]' '[:lower:]'", "tr -t '' x", "tr '' ''", "tr '' x", "tr -c '' x", "tr a-c '\\055-\\060'", "tr '+--' x", "tr 'a--' xy",
	))
}

func TestUniq(t *testing.T) {
	w := world
	w.Stdin = "a\na\nb\n"
	w.Files["fields"] = "1 a x\n2 a x\n3 b y\n3 b  y\n  4 b y\n"
	commandtest.Run(t, both(w,
		"uniq dup", "uniq", "uniq -", "uniq -c dup", "uniq -d dup", "uniq -u dup", "uniq -i dup", "uniq -D dup", "uniq -ci dup", "uniq -cd dup", "uniq -cu dup", "uniq -du dup", "uniq -Du dup", "uniq -id dup", "uniq -f 1 fields", "uniq -f 2 fields", "uniq -f1 -s1 fields", "uniq -s 2 fields", "uniq -w 1 fields", "uniq -w 0 fields", "uniq -1 fields", "uniq -1 -s 1 fields", "uniq -12 fields", "uniq -f 99 fields",
		"uniq --all-repeated dup", "uniq --all-repeated=none dup", "uniq --all-repeated=prepend dup", "uniq --all-repeated=separate dup", "uniq --all-repeated=x dup", "uniq --group dup", "uniq --group=separate dup", "uniq --group=prepend dup", "uniq --group=append dup", "uniq --group=both dup", "uniq --group=x dup", "uniq --group -c dup", "uniq -D -c dup", "uniq -z nul", "uniq dup out", "uniq -c dup out", "uniq - out", "uniq dup -", "uniq noeol", "uniq e", "uniq --group=append e", "uniq -c nl",
		"uniq nope", "uniq d", "uniq dup d", "uniq a b c", "uniq -f x dup", "uniq -s x dup", "uniq -w x dup", "uniq -Q", "uniq --count --repeated dup", "uniq --unique --ignore-case dup", "uniq --skip-fields=1 --skip-chars=1 --check-chars=1 fields", "uniq -f 99999999999999999999 fields", "uniq -D -i dup", "uniq --group -i dup", "uniq --group=both nl", "uniq bin",
	))
}

func TestSmall(t *testing.T) {
	w := world
	w.Files["sections"] = "head\n\\:\\:\\:\nH\n\\:\\:\nb1\n\nb2\n\\:\nfoot\n\\:\\:\nagain\n"
	w.Files["seps"] = "a,b,c,"
	w.Files["seps2"] = ",a,b"
	w.Files["one"] = "1\n2\n3\n"
	w.Files["two"] = "a\nb\n"
	commandtest.Run(t, both(w,
		"rev f", "rev", "rev noeol", "rev nope", "rev f nope g", "rev e", "rev -",
		"tac f", "tac", "tac -", "tac noeol", "tac e", "tac nl", "tac f g", "tac -b f", "tac -b noeol", "tac -s , seps", "tac -bs , seps", "tac -s , seps2", "tac -bs , seps2", "tac -s , f", "tac -s e f", "tac -r -s '[aeiou]' g", "tac -s '' nul", "tac nope", "tac d", "tac f nope g", "tac -rs '[' f", "tac -s ab f", "tac -Q", "tac -bs e f", "tac bin", "tac -r -s 'e\\|n' f",
		"nl f", "nl", "nl -", "nl g", "nl -ba g", "nl -bt g", "nl -bn g", "nl -bp^t f", "nl -b a -w 3 f", "nl -ba -nln f", "nl -ba -nrz f", "nl -nrn f", "nl -ba -s: f", "nl -ba -s '' f", "nl -v 10 f", "nl -v -3 -nrz f", "nl -i 5 f", "nl -i -1 f", "nl -ba -l 2 nl", "nl -ba -l 3 nl", "nl sections", "nl -ha -fa sections", "nl -p sections", "nl -d XY sections", "nl -d x sections", "nl -d '' sections", "nl f g", "nl noeol", "nl e", "nl nope", "nl d", "nl f nope",
		"nl -bx f", "nl -b '' f", "nl -nxx f", "nl -w 0 f", "nl -w x f", "nl -v x f", "nl -i x f", "nl -l 0 f", "nl -w 1 f", "nl -Q", "nl -hx -fx f", "nl --body-numbering=a --number-width=2 --number-separator=' ' g", "nl -bp f", "nl '-bp[' f", "nl -s '\\t' f", "nl -w2 -s' ' f",
		"paste one two", "paste two one", "paste one", "paste - - f", "paste -", "paste - -", "paste -d, one two", "paste -d ',;' one two f", "paste -d '\\t\\n' one two f", "paste -d '\\0' one two", "paste -d '' one two", "paste -d 'a\\' one two", "paste -s one", "paste -s one two", "paste -s -d, one two", "paste -sd '\\n,' f", "paste -s -d '' f", "paste -s", "paste -z nul one", "paste -s noeol", "paste noeol one", "paste e one", "paste one e", "paste -s e", "paste nope one", "paste one nope", "paste -s nope one", "paste d one", "paste -Q", "paste -d, - one", "paste one - two",
		"paste -s nl", "paste --serial --delimiters=: one", "paste", "paste -s -d '\\\\' one", "paste -d '\\b\\f\\r\\v' one two one two one",
		"tee", "tee out", "tee out out2", "tee -a f", "tee f", "tee d", "tee d out", "tee -", "tee -i out", "tee -p out", "tee --append one", "tee nope/x", "tee --output-error out", "tee --output-error=warn d out", "tee --output-error=exit d out", "tee --output-error=x out", "tee -Q",
		"yes --foo", "echo", "echo a b", "echo -n a", "echo -e 'a\\tb\\n'", "echo -E 'a\\tb'", "echo -ne 'a\\n'", "echo -nx a", "echo -- a", "echo - a", "echo 'a\\tb'", "echo -e 'a\\cb' c", "echo -e '\\0101\\x41\\e\\q\\\\'", "echo -e '\\101'", "echo -e '\\x'", "echo -e 'end\\'", "echo -e -n a", "echo a -n", "echo -eE 'a\\tb'", "echo -e '\\x4142'", "echo -n", "echo -e '\\00101'", "echo --help x",
	))
}

func TestSeq(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"seq 5", "seq 2 5", "seq 1 2 10", "seq 5 1", "seq 5 -1 1", "seq -3 3", "seq -5 -1", "seq 0", "seq 1", "seq -1", "seq 1 0.5 3", "seq 0.1 0.1 0.5", "seq 0 .1 1", "seq 1.0 3", "seq 1 3.0", "seq 1.50 0.25 2", "seq 1 -0.5 -1", "seq -w 8 11", "seq -w 1 100 201", "seq -w 0.5 10", "seq -w 1 10.00", "seq -w -5 5", "seq -w 9 -1 -2", "seq -w 1e2 100 300",
		"seq -s, 5", "seq -s ', ' 3", "seq -s '' 3", "seq --separator=: 3", "seq -f %03g 5", "seq -f '%.2f' 3", "seq -f 'x%gy' 3", "seq -f '%e' 2", "seq -f '%5.1f|' 2", "seq -f %g 1 0.5 2", "seq -f %%%g 2", "seq --format=%g 2", "seq -f %a 1 2", "seq -f %G 1e10 1e10", "seq 1e3 1e3 3e3", "seq 0x10 0x12", "seq 1e-1 1e-1 3e-1", "seq 99999999999999999998 100000000000000000001", "seq 18446744073709551614 18446744073709551616",
		"seq 1 1 3 4", "seq", "seq x", "seq 1 x", "seq 1 0 3", "seq nan", "seq 1 nan 3", "seq -f %d 3", "seq -f abc 3", "seq -f % 3", "seq -f %g%g 3", "seq -f %s 3", "seq -w -f %g 3", "seq -Q", "seq --foo 3", "seq -- -2 1", "seq '' 3", "seq ' 3'", "seq +3", "seq 1.", "seq .5 2", "seq 3 0x3", "seq -s", "seq 1 inf x", "seq inf 1", "seq -0 1", "seq 010", "seq 10 -3 0", "seq 1.1 1.1 3.3", "seq 0.1 0.1 0.3", "seq 1 0.1 1.5", "seq 1000000 1000002", "seq 1 .3333333333 2",
		"seq 5 5", "seq -f %.3e 1 3", "seq -f '%-8.3f|' 2", "seq -f '%+g' 2", "seq -f '% g' 2", "seq -f '%#g' 2", "seq -f '%08.2f' 2", "seq 1e1", "seq -w 1e1", "seq -w .1 .1 .3", "seq -w 1 3.", "seq -w -1 .5 1", "seq 1 2 3 --foo", "seq -2 -s x 1",
	))
}

func TestPrintf(t *testing.T) {
	commandtest.Run(t, both(world,
		"printf hello", "printf 'a\\n'", "printf '%s\\n' a b c", "printf '%s %s\\n' a b c", "printf '%d\\n' 42 -5 0x1f 010 +3", "printf '%i|%u|%o|%x|%X\\n' 10 10 10 255 255", "printf '%u\\n' -1", "printf '%x\\n' -1", "printf '%5d|%-5d|%05d|%+d|% d\\n' 1 2 3 4 5", "printf '%#x %#o\\n' 255 8", "printf '%.3d\\n' 5", "printf '%c%c\\n' abc def", "printf '%c' ''", "printf '%s|%10s|%-10s|%.2s|\\n' abc abc abc abc",
		"printf '%f %e %g %a\\n' 1.5 1.5 1.5 1.5", "printf '%F %E %G %A\\n' 1e10 1e10 1e10 1e10", "printf '%.2f\\n' 2.675 1e3 -0.5", "printf '%.20f\\n' 0.1", "printf '%10.3f|%-10.3f|%010.3f\\n' 3.14159 3.14159 3.14159", "printf '%*d|%-*d|%.*f\\n' 5 1 5 2 2 3.14159", "printf '%*d\\n' -5 3", "printf '%s\\n'", "printf '%d\\n'", "printf '%s %d\\n' a", "printf '%%\\n'", "printf '%b\\n' 'a\\tb\\n' '\\0101' '\\101' 'x\\cy' z",
		"printf '%q\\n' abc 'a b' \"it's\" '' 'a\\nb'", "printf '\\101\\x41\\e\\a\\b\\f\\r\\v\\t\\\\\\\"\\q\\n'", "printf '\\u00e9\\U0001F600\\n'", "printf '\\u0041'", "printf '\\u24 \\n'", "printf '\\x'", "printf '\\c' after", "printf 'a\\cb\\n'", "printf 'end\\'", "printf '%d\\n' abc", "printf '%d\\n' 12abc", "printf '%d\\n' ''", "printf '%d\\n' ' 5'", "printf '%d\\n' '5 '", "printf \"%d\\n\" \"'A\" '\"B' \"'\" \"'AB\"", "printf '%f\\n' abc 1.5x 0x1p3 inf nan -inf 1e400", "printf '%d\\n' 9223372036854775808 -9223372036854775809 99999999999999999999",
		"printf '%u\\n' 18446744073709551616", "printf '%d %d\\n' 1 2 3", "printf 'x\\n' a b", "printf '%y\\n'", "printf '%'", "printf '%5'", "printf '%z'", "printf", "printf --", "printf -- '-x\\n'", "printf -x", "printf --help x", "printf '%s' -n", "printf '%5%'", "printf '%#d' 1", "printf '%0s' 1", "printf '%ld %lld %hd %zu\\n' 1 2 3 4", "printf '%5b|' abc", "printf '%.1b|' abc", "printf '%-5q|' a", "printf '%d' 1e3", "printf '%g\\n' 100000 1000000 0.0001 0.00001 123456789", "printf '%s\\n' '\xc3\xa9'", "printf '%5s|\\n' '\xc3\xa9'", "printf '%c\\n' '\xc3\xa9'",
		"printf \"%d\\n\" \"'\xc3\xa9\"", "printf '%x' 0xffffffffffffffff", "printf '%.0f %.0f %.0f\\n' 0.5 1.5 2.5", "printf '%g' 0x10", "printf '%*s|' x a", "printf '%.*s|' 2 abc", "printf '%.*s|' -1 abc", "printf \"%'d\\n\" 1000000", "printf '%a\\n' 1 0.1 3.14 0 -2", "printf '%.3a\\n' 3.14159", "printf '%e\\n' 1e-4000", "printf '%i' 08", "printf '%o' 0o7", "printf '%d' 0x", "printf '%d' -", "printf '%d' +", "printf '%s%b' a '\\x41\\n'", "printf '\\1234'", "printf '\\0101'", "printf '%b' '\\01234'", "printf '%b' '\\1234'",
	))
}
