package system

import (
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

var past = time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)

func join(lists ...[]commandtest.Case) []commandtest.Case {
	var out []commandtest.Case
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func TestSleep(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(commandtest.Case{}, "sleep 0", "sleep 0.01", "sleep 0.001s 0 0m", "sleep x", "sleep", "sleep -1", "sleep 0 x y", "sleep 1x", "sleep --x", "sleep 0x1p-9", "sleep ''",
		"timeout 5 true", "timeout 5 false", "timeout 0.05 sleep 5", "timeout -s KILL 0.05 sleep 5", "timeout -s INT 0.05 sleep 5", "timeout --preserve-status 0.05 sleep 5", "timeout -v 0.05 sleep 5", "timeout x true", "timeout 5", "timeout", "timeout 5 nosuchcommand", "timeout -s BOGUS 1 true", "timeout -k 1 0.05 sleep 5", "timeout -k x 1 true", "timeout 0 true", "timeout 1d env -i A=b", "timeout --foreground 5 true", "timeout -x 1 true"))
}

func TestEnv(t *testing.T) {
	w := commandtest.Case{Env: []string{"FOO=bar", "EMPTY=", "MULTI=a b"}, Files: map[string]string{"d/f": ""}}
	only := func(lines ...string) []commandtest.Case { return commandtest.Lines(w, lines...) }
	commandtest.Run(t, only("env -i", "env -i A=1 B=2", "env - A=1", "env -i A=1 printenv A", "env -u FOO printenv FOO", "env -u FOO printenv EMPTY", "env FOO=x printenv FOO", "env -0i A=1 B=2", "env -i -0 A=1 true", "env nosuchcommand", "env -i PATH=/bin:/usr/bin 'no such'", "env -C d true", "env -C nope true", "env -C d", "env -u A=b true", "env -u '' true", "env -S 'A=1 printenv A'", "env '-SA=1 printenv A'", "env -i '-S A=\"x y\" printenv A'", "env '-Sprintenv FOO'", "env '-S printenv ${FOO}x'", "env '-S$FOO'", "env '-S\\q'", "env '-S\"x'", "env '-Sx\\'", "env -vx", "env --bogus", "env false", "env -i A=1 env", "env '-iS A=1 B=2'", "env --split-string='printenv FOO'", "env -uFOO -uEMPTY printenv FOO EMPTY",
		"printenv FOO", "printenv NOPE", "printenv FOO NOPE EMPTY", "printenv -0 FOO MULTI", "printenv FOO=bar", "printenv -x", "printenv FOO FOO"))
}

func TestIdentity(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(commandtest.Case{}, "id", "id -u", "id -g", "id -G", "id -un", "id -gn", "id -Gn", "id -nr", "id -ug", "id -uz", "id -z", "id root", "id nosuchuser", "id -u root", "id -x", "id 0", "id root nosuchuser", "id -a", "id -ru", "whoami", "whoami x", "whoami -x", "groups", "groups root", "groups nosuchuser", "id -Z"))
}

func TestUname(t *testing.T) {
	w := commandtest.Case{}
	commandtest.Run(t, commandtest.Lines(w, "uname", "uname -s", "uname -o", "uname -m", "uname -sm", "uname -p", "uname -i", "uname x", "uname -z", "arch", "arch x", "nproc --ignore=100", "nproc x", "nproc --ignore=x", "tty", "tty -s", "tty x", "nice -n 5 true", "nice -5 true", "nice -n x true", "nice -n 5", "nice false", "nice nosuchcommand", "nohup true", "nohup", "nohup nosuchcommand", "stdbuf -oL true", "stdbuf true", "stdbuf -ox true", "stdbuf -o0", "stdbuf -iL true", "setsid true"))
	for _, line := range []string{"hostname", "hostname -s", "uname -a", "uptime", "uptime -p", "uptime -s", "nproc", "ps", "ps aux", "ps -ef", "ps -o pid,args", "pgrep x", "kill -l", "time true"} {
		r := commandtest.Inside(t, &commandtest.Lines(w, line)[0])
		if r.Status > 1 || strings.Contains(r.Stderr, "panic") {
			t.Errorf("%s: status %d, %q", line, r.Status, r.Stderr)
		}
	}
}

func TestTest(t *testing.T) {
	w := commandtest.Case{Entries: []commandtest.Entry{{Path: "f", Content: "x", Time: past}, {Path: "e", Time: past.AddDate(1, 0, 0)}, {Path: "d/"}, {Path: "l", Link: "f"}, {Path: "gone", Link: "no"}, {Path: "x", Mode: 0o755, Time: past}, {Path: "h", Hard: "f"}, {Path: "p", FIFO: true}, {Path: "s", Mode: 0o7755}}}
	var lines []string
	for _, e := range []string{"", "x", "''", "! x", "! ''", "-n x", "-n ''", "-z ''", "-z x", "a = a", "a = b", "a != b", "a == a", "1 -eq 1", "1 -eq 01", "1 -ne 2", "1 -lt 2", "2 -le 2", "3 -gt 2", "2 -ge 3", "-1 -lt 0", "' 1 ' -eq 1", "1 -eq x", "x -eq 1", "1 -eq", "-e f", "-e nope", "-f f", "-f d", "-d d", "-d f", "-L l", "-h l", "-L f", "-e gone", "-L gone", "-s f", "-s e", "-x x", "-x f", "-r f", "-w f", "-p p", "-S f", "-b f", "-c f", "-u s", "-g s", "-k s", "-u f", "-O f", "-G f", "-N f", "-t 0", "-t x", "f -nt e", "e -nt f", "f -ot e", "f -ot nope", "f -nt nope", "f -ef h", "f -ef l", "f -ef e", "x -a y", "x -a ''", "'' -o y", "'' -o ''", "x -o y -a ''", "! x -a y", "( x )", "( '' )", "! ( x )", "( x -a y )", "( a = a ) -a ( b = b )", "a b", "a b c", "a b c d", "-f", "-f f x", "( x", "x )", "-X f", "-f f -a -d d", "-f f -o -d nope", "! -f nope", "! a = b", "a = b -o c = c", "-n", "=", "-a", "! !", "( ! x )", "-l abc -eq 3", "99999999999999999999 -gt 1", "1 -eq 1 -a", "! ! x", "-e f -a ! -e nope", "a -foo b", "-z", "-n x -a -z x", "1 = 1 -a", "+1 -eq 1", "-f f )"} {
		lines = append(lines, "test "+e, "[ "+e+" ]")
	}
	lines = append(lines, "[", "[ x", "[ --help ] x", "true", "true x", "false", "false x", "[ -f")
	commandtest.Run(t, commandtest.Lines(w, lines...))
}

func TestExpr(t *testing.T) {
	w := commandtest.Case{}
	var lines []string
	for _, e := range []string{"1 + 2", "1 - 2", "2 * 3", "7 / 2", "-7 / 2", "-7 % 3", "7 % 0", "7 / 0", "1 + x", "1 + 2 * 3", "( 1 + 2 ) * 3", "abc : 'a\\(.\\)c'", "abc : a.c", "abc : x", "abc : '\\(x\\)'", "abc : b", "aaa : 'a*'", "a < b", "b < a", "10 < 9", "10 '<' 9", "1 = 1", "1 = 01", "a = a", "a != b", "a == a", "2 >= 1", "2 <= 1", "0 | 5", "3 | 5", "'' | 5", "0 | 0", "'' | ''", "3 & 5", "0 & 5", "3 & 0", "'' & 3", "length abc", "length ''", "substr abcdef 2 3", "substr abc 0 1", "substr abc 2 99", "substr abc x 1", "index abcdef dc", "index abc x", "match abc 'a\\(b\\)'", "+ length", "length + length", "", "1 +", "1 2", "( 1", "( 1 2", ")", "1 )", "99999999999999999999 + 1", "99999999999999999999 '*' 99999999999999999999", "-5", "-- -5", "0", "''", "00", "-0", "a", "1 + 1 = 2", "x : '\\(.*\\)'", "'a\nb' : '.*'", "abc : '^a'", "1 | 1 / 0", "0 & 1 / 0", "substr", "length", "match a", "abc : '['", "abc : 'a\\|b'", "foo.c : '\\(.*\\)\\.c'", "/a/b/c : '.*/\\(.*\\)'", "a : a : a", "1 = 2 = 0", "abab : '\\(ab\\)\\1'", "5 - -3", "1.5 + 1", "' 1' + 1", "+1 + 1", "length a b", "1 '<' 2 '<' 3"} {
		lines = append(lines, "expr "+e)
	}
	utf := w
	utf.Env = []string{"LC_ALL=C.UTF-8"}
	cases := commandtest.Lines(w, append(lines, "expr --help x", "expr --", "expr --bogus")...)
	t.Run("UTF-8", func(t *testing.T) {
		commandtest.Run(t, commandtest.Lines(utf, "expr length héllo", "expr substr héllo 2 1", "expr index héllo l", "expr héllo : h.l", "expr 1 2", "expr 'é' : '.'"))
	})
	commandtest.Run(t, cases)
}

func TestFactor(t *testing.T) {
	w := commandtest.Case{Stdin: "12 13\n100\nx\n", Files: map[string]string{"bin/": ""}, Entries: []commandtest.Entry{{Path: "bin/tool", Mode: 0o755}, {Path: "bin/data"}, {Path: "more/tool", Mode: 0o755}}, Env: []string{"PATH=$DIR/bin:$DIR/more"}}
	plain := commandtest.Case{Stdin: w.Stdin}
	commandtest.Run(t, join(commandtest.Lines(plain, "factor 1", "factor 0", "factor 2 3 4", "factor 360360", "factor 97", "factor 1000000007", "factor 18446744073709551615", "factor 18446744073709551557", "factor 340282366920938463463374607431768211455", "factor", "factor x", "factor -1", "factor 1.5", "factor ' 12'", "factor +12", "factor 1000000016000000063", "factor ''", "factor 9223372036854775783 6")))
	for line, want := range map[string]string{"which tool": "$DIR/bin/tool\n", "which -a tool": "$DIR/bin/tool\n$DIR/more/tool\n", "which data": "", "which": "", "which tool nope": "$DIR/bin/tool\n", "which bin/tool": "bin/tool\n"} {
		r := commandtest.Inside(t, &commandtest.Lines(w, line)[0])
		if r.Stdout != want {
			t.Errorf("%s: %q, want %q", line, r.Stdout, want)
		}
	}
}

func TestCal(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(commandtest.Case{}, "cal 1 2024", "cal -3 1 2024", "cal -1 2 2023", "cal -m 3 2024", "cal -m feb 2024", "cal -y 2024", "cal 2023", "cal -j 1 2024", "cal -jy 2024", "cal -3j 1 2024", "cal 9 1752", "cal 1752", "cal 2 1900", "cal 2 1700", "cal 12 9999", "cal 1 1", "cal 13 2024", "cal x", "cal 0 2024", "cal 10000", "cal 1 2024 3", "cal -A 1 -B 1 1 2024", "cal -A 3 11 2024", "cal feb 2024", "cal -d 2024-02", "cal -z", "cal -y 5", "cal february 2024", "cal 10 1582", "cal 1 1753", "cal 2 2000", "cal -m 13 2024"))
}
