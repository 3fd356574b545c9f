package files

import (
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

// sortLines makes two listings in different directory orders alike.
func sortLines(s string) string {
	lines := strings.SplitAfter(s, "\n")
	sort.Strings(lines)
	return strings.Join(lines, "")
}

var findWorld = commandtest.Case{
	Clean: sortLines,
	Entries: []commandtest.Entry{
		{Path: "a.txt", Content: "hello\n", Time: past}, {Path: "b.c", Content: strings.Repeat("x", 3000), Time: past.AddDate(0, 0, 1)}, {Path: "empty", Time: past},
		{Path: "src/main.go", Content: "package main\n", Time: past}, {Path: "src/lib/util.go", Content: "package lib\n", Time: past.AddDate(1, 0, 0)}, {Path: "src/lib/util_test.go", Time: past},
		{Path: "src/.hidden", Content: "h", Time: past}, {Path: "run.sh", Content: "#!/bin/sh\n", Mode: 0o755, Time: past}, {Path: "priv", Content: "p", Mode: 0o600, Time: past}, {Path: "suid", Content: "p", Mode: 0o4755, Time: past},
		{Path: "hollow/", Time: past}, {Path: "node_modules/x/index.js", Content: "1", Time: past}, {Path: "with space", Content: "w", Time: past}, {Path: "pipe", FIFO: true},
		{Path: "hard", Hard: "a.txt"}, {Path: "link", Link: "a.txt"}, {Path: "dirlink", Link: "src"}, {Path: "broken", Link: "nowhere"}, {Path: "UPPER.TXT", Content: "U", Time: past},
	},
}

func TestFind(t *testing.T) {
	w := findWorld
	cyclic := commandtest.Case{Clean: sortLines, AnyStderr: true, Files: map[string]string{"d/x": "x"}, Entries: []commandtest.Entry{{Path: "d/up", Link: ".."}, {Path: "self", Link: "self"}}}
	ordered := commandtest.Case{Files: map[string]string{"a/b/c": "c\n"}}
	asked := findWorld
	asked.Stdin = "y\nn\n"
	yearless := findWorld
	yearless.Clean = func(s string) string {
		s = recent(regexp.MustCompile(`(?m)^ *\d+ +\d+ `).ReplaceAllString(s, "I B "))
		s = regexp.MustCompile(`(?m)^(I B d.*root) +\d+ `).ReplaceAllString(s, "$1 S ")
		return sortLines(regexp.MustCompile(`(?m)^(I B [lp]\S+ .*root +\d+ ).{12} `).ReplaceAllString(s, "$1 T "))
	}
	commandtest.Run(t, join(commandtest.Lines(w,
		"find", "find .", "find src", "find ./src/", "find a.txt src", "find nope", "find src nope -name '*.go'", "find . -name '*.go'", "find . -iname '*.TXT'", "find . -name '*.txt' -o -name '*.c'", "find . ! -name '*.go' -type f", "find . -not -type d", "find . ( -name a* -o -name b* ) -type f", "find . -path './src/*'", "find . -ipath './SRC/*'", "find . -wholename './src/lib'", "find . -name .hidden", "find . -name '*idden'", "find . -name '[ab]*'", "find . -name '?.c'", "find . -name 'with space'",
		"find . -regex '.*/[a-z]+\\.go'", "find . -regex '\\./src.*'", "find . -regextype posix-extended -regex '.*\\.(go|c)'", "find . -iregex '.*upper.*'", "find . -regextype egrep -regex '.*/(a|b)\\..*'", "find . -regextype bogus -regex x", "find . -regex '.*\\(go\\|c\\)'", "find . -regextype sed -regex '.*/[a-z]\\{3,4\\}'",
		"find . -type d", "find . -type f", "find . -type l", "find . -type p", "find . -type f,l", "find . -type z", "find . -type ff", "find . -type f,f", "find . -type f,", "find . -xtype f", "find . -xtype d", "find . -xtype l", "find -L . -type l", "find -L . -name main.go", "find -H dirlink", "find dirlink", "find dirlink/", "find -L dirlink", "find -P link", "find -H link -type f",
		"find . -maxdepth 1", "find . -mindepth 2", "find . -mindepth 1 -maxdepth 1 -type d", "find . -maxdepth 0", "find . -maxdepth x", "find . -maxdepth", "find . -depth -name '*.go'", "find src -depth", "find . -name src -prune -o -print", "find . -name node_modules -prune -o -type f -print", "find . -path ./src -prune", "find . -prune", "find . -type d -prune",
		"find . -empty", "find . -empty -type d", "find . -size 0", "find . -size +1k", "find . -size -2k", "find . -size 6c", "find . -size +2999c -size -3001c", "find . -size 1", "find . -size +5", "find . -size 1M", "find . -size 3k", "find . -size 3w", "find . -size 1x", "find . -size x",
		"find . -mtime +30 -name '*.txt'", "find . -mtime -1 -type f", "find . -mtime +99999", "find . -mmin +10 -name b.c", "find . -newer b.c -type f", "find . -newer nope", "find . -newermt 2020-06-01 -type f", "find . ! -newermt '2020-02-03 12:00' -type f", "find . -newermt bogus", "find . -anewer b.c -type f -name '*.go'", "find . -newermm b.c -type f", "find . -newerXX b.c", "find . -daystart -mtime +30 -name a.txt", "find . -mtime x", "find . -used +999999",
		"find . -perm 600", "find . -perm -u+x -type f", "find . -perm /111 -type f", "find . -perm -4000", "find . -perm 0755 -type f", "find . -perm u=rw,go=", "find . -perm zz", "find . -perm /u+s,g+s", "find . -perm -644 -name '*.txt'", "find . -executable -type f", "find . -readable -name priv", "find . -writable -name priv",
		"find . -user root -name a.txt", "find . -user 0 -name a.txt", "find . -uid 0 -name a.txt", "find . -uid +0", "find . -user nosuch", "find . -group nosuch", "find . -group root -name b.c", "find . -nouser", "find . -links 2 -type f", "find . -links +1 -type f", "find . -samefile a.txt", "find -L . -samefile a.txt", "find . -lname 'a*'", "find . -ilname 'A*'", "find . -inum x", "find . -gid 0 -name b.c", "find . -true -name b.c", "find . -false", "find . -false -o -name b.c", "find . -name b.c , -name a.txt", "find . -name b.c -print , -name a.txt -print",
		"find a.txt src/main.go -print0", "find src -print -print", "find . -name '*.go' -print -o -name '*.c'", "find . -name b.c -quit", "find src -name main.go -print -quit", "find src -type f -delete", "find src -delete", "find . -name '*.go' -delete -print", "find . -delete", "find hollow src -empty -delete", "find src -maxdepth 0 -delete", "find src -delete -prune",
		"find . -name '*.go' -exec basename {} ;", "find . -name '*.go' -exec basename {} .go ;", "find . -name main.go -exec cat {} +", "find src -type f -exec ls -d {} +", "find . -name a.txt -exec cat {} {} ;", "find . -name main.go -execdir ls {} ;", "find . -name main.go -execdir ls {} +", "find . -name a.txt -exec cat nope{} ;", "find . -name a.txt -exec cat nope {} +", "find . -name a.txt -exec rm {} ; -print", "find . -name a.txt -exec cat nope ; -print", "find . -exec", "find . -exec ;", "find . -exec ls {}", "find . -exec ls {} {} +", "find . -exec +", "find src/main.go -exec nosuchcommand {} ;", "find src/main.go -exec nosuchcommand {} +", "find . -name '*.sh' ! -exec cat nope ; -print",
		"find . -printf '%p\\n'", "find src -printf '%f %h %P %H %d\\n'", "find . -type f -printf '%s %m %M %p\\n'", "find . -name link -printf '%p -> %l %y %Y\\n'", "find . -name broken -printf '%y %Y\\n'", "find a.txt -printf '%TY-%Tm-%Td %TH:%TM %T@\\n'", "find a.txt -printf '%t|%T+|%TT|%TS|%Tc|%TA\\n'", "find a.txt -printf '%u %g %U %G %n %k\\n'", "find a.txt -printf '%10s|%-10s|%010s|%5m|%.2f|%#m\\n'", "find a.txt -printf 'x\\ty\\\\\\101\\0end\\n'", "find a.txt -printf '%%\\n'", "find a.txt -printf 'a\\cb' -print", "find a.txt -printf '%q\\n'", "find a.txt -printf '\\q\\n'", "find a.txt -printf '%'", "find . -maxdepth 0 -printf '%f|%h|%P|%H|%p\\n'", "find ./src/ -maxdepth 1 -printf '%f|%h|%P|%H|%p\\n'", "find / -maxdepth 0 -printf '%f|%h|%P|%H|%p\\n'",
		"find . -name a.txt -fprint out", "find . -name '*.go' -fprintf out 'x\\n' -print", "find . -name a.txt -fprint0 out -fprint out", "find . -fprint no/out", "find . -name a.txt -fprint /dev/stdout", "find a.txt -fprintf /dev/stderr '%f\\n'",
		"find . -foo", "find . -name", "find -name x y", "find . ( -name x", "find . -name x )", "find . -o -name x", "find . !", "find . -name x -o", "find . -a", "find . ( )", "find . ,", "find . -name b.c ,", "find . -not", "find . -name a.txt b.c", "find . -name *.c b.c", "find . -name x -maxdepth 1", "find -O3 a.txt", "find -Oz", "find -D", "find -- a.txt", "find . -xdev -name b.c", "find . -mount -noleaf -name b.c", "find '' -name x", "find . -context x", "find . --name b.c", "find - -name x", "find . -L", "find . -name a.txt -a -type f -and -size -1k", "find . ! ! -name a.txt", "find . -not ( -name '*.go' -o -type d )", "find src/lib src/main.go -name '*.go'", "find . -type f -name '*.go' -newer a.txt",
	), commandtest.Lines(yearless, "find a.txt b.c 'with space' -ls", "find . -ls", "find link -ls", "find src -maxdepth 0 -false -fls out"),
		commandtest.Lines(cyclic, "find -L .", "find -L d", "find ./d", "find -L self", "find self", "find d/up/d/x", "find -H self"),
		commandtest.Lines(ordered, "find a -depth", "find a -print -depth", "find a -exec ls -d {} ;", "find a -exec ls -d {} + -printf '%d '", "find a -depth -execdir ls -d {} ;", "find a -mindepth 1 -execdir ls -d {} +"),
		commandtest.Lines(asked, "find a.txt b.c -ok rm {} ;", "find a.txt b.c -okdir ls {} ; -print"),
		[]commandtest.Case{
			{Name: "files0", Args: []string{"find", "-files0-from", "-", "-name", "a*"}, Stdin: "a.txt\x00src\x00\x00nope\x00", Clean: sortLines, Entries: w.Entries},
			{Name: "files0 extra", Args: []string{"find", "src", "-files0-from", "-"}, Stdin: "a.txt\x00", Entries: w.Entries},
			{Name: "utf8", Args: []string{"find", ".", "-name", "?"}, Env: []string{"LC_ALL=C.UTF-8"}, Files: map[string]string{"é": "", "ab": "", "\xff": ""}, Clean: sortLines},
			{Name: "utf8 message", Args: []string{"find", "nope"}, Env: []string{"LC_ALL=C.UTF-8"}},
		},
	))
}

func TestAgeMatches(t *testing.T) {
	day := 24 * time.Hour
	for _, tc := range []struct {
		arg  string
		age  time.Duration
		unit time.Duration
		want bool
	}{
		{"0", 0, day, true}, {"0", day - 1, day, true}, {"0", day, day, false}, {"1", day, day, true}, {"1", 2*day - 1, day, true}, {"+1", 2*day - 1, day, false},
		{"+1", 2 * day, day, true}, {"-1", day - 1, day, true}, {"-1", day, day, false}, {"-0", -1, day, true}, {"+0", day - 1, day, false}, {"+0", day, day, true},
	} {
		c, ok := parseComparison(tc.arg)
		if !ok {
			t.Fatalf("%q is no comparison", tc.arg)
		}
		if got := ageMatches(c, tc.age, tc.unit); got != tc.want {
			t.Errorf("%s matches %v: %v, want %v", tc.arg, tc.age, got, tc.want)
		}
	}
}
