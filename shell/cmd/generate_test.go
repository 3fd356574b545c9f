package cmd_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sort"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

// generated are the tools that are compared with the real ones on random
// command lines: flags to choose from, arguments that go with some, and
// operands.
var generated = []struct {
	name     string
	flags    []string
	patterns []string // the first operand, when the tool takes one
	files    int      // most files
	noStderr bool     // words of messages differ on purpose
}{
	{"cat", []string{"-n", "-b", "-s", "-E", "-T", "-v", "-A", "-e", "-t"}, nil, 3, false},
	{"head", []string{"-n1", "-n", "2", "-c5", "-n-1", "-c-3", "-q", "-v", "-z"}, nil, 3, false},
	{"tail", []string{"-n1", "-n+2", "-c4", "-c+3", "-q", "-v", "-z", "-n0"}, nil, 3, false},
	{"wc", []string{"-l", "-w", "-c", "-m", "-L"}, nil, 3, false},
	{"sort", []string{"-r", "-n", "-u", "-f", "-k2", "-k1,1", "-t:", "-b", "-s", "-g", "-h", "-V", "-d", "-i", "-z", "-M", "-c"}, nil, 2, false},
	{"uniq", []string{"-c", "-d", "-u", "-i", "-f1", "-s2", "-w3", "-D", "-z"}, nil, 1, false},
	{"cut", []string{"-f1", "-f2-", "-d:", "-d ", "-c1-3", "-c2", "-b-2", "-s", "--complement", "--output-delimiter=_", "-z"}, nil, 2, false},
	{"tr", []string{"-d", "-s", "-c", "-t"}, []string{"a-z A-Z", "[:upper:] [:lower:]", "aeiou *", "[:space:] _", "\\n \\t", "a-c x", "0-9"}, 0, false},
	{"grep", []string{"-n", "-c", "-i", "-v", "-w", "-x", "-o", "-l", "-L", "-h", "-H", "-A1", "-B1", "-C1", "-m1", "-E", "-F", "-q", "-s", "-b", "-z"},
		[]string{"a", "^b", "[0-9]", "a.c", "a*b", "\\(a\\)\\1", "x\\|y", "(a|b)+", "", "$", "\\bfoo", "[[:alpha:]]+"}, 3, false},
	{"sed", []string{"-n", "-E", "-s", "-z"}, []string{"s/a/X/", "s/a/X/g", "2d", "$p", "/a/,/b/d", "y/abc/xyz/", "s/\\(a\\)\\(b\\)/\\2\\1/", "1!G;h;$!d", "$!N;s/\\n/-/", "/^$/d", "s/./&&/2", "2q", "=", "l", "s/b*/x/g", "1~2p", "2,+1d", "a\\foo", "i\\bar", "c\\baz", "N;P;D"}, 2, false},
	{"awk", []string{"-F:", "-vx=3"}, []string{"{print $1}", "NR==2", "{n+=$2} END{print n}", "END{print NR}", "{print NF, $NF}", "/a/{c++} END{print c+0}", "{$2=\"x\"; print}", "length>3", "{print toupper($0)}", "{gsub(/a/,\"<&>\"); print}", "{printf \"%5s|%-5s|%d\\n\", $1, $2, $1}", "!seen[$0]++", "{print substr($0,2,3)}", "{print index($0,\"b\")}", "{split($0,a,\"\"); print a[1]}", "BEGIN{OFS=\"-\"} {$1=$1} 1", "{print x $1}"}, 2, false},
	{"paste", []string{"-d:", "-s", "-d,;", "-z"}, nil, 3, false},
	{"nl", []string{"-ba", "-bt", "-s:", "-w3", "-nrz", "-nln", "-v5", "-i2"}, nil, 2, false},
	{"fold", []string{"-w5", "-s", "-b"}, nil, 2, false},
	{"comm", []string{"-1", "-2", "-3", "-i", "--total", "--nocheck-order"}, nil, 2, false},
	{"join", []string{"-t:", "-a1", "-v2", "-i", "-1", "1", "-o1.1,2.1", "--nocheck-order", "-e_"}, nil, 2, false},
	{"diff", []string{"-u", "-c", "-q", "-i", "-w", "-b", "-B", "-y", "-e", "-n", "-U1", "-s"}, nil, 2, false},
	{"cmp", []string{"-l", "-s", "-b", "-n5", "-i1"}, nil, 2, false},
	{"tac", []string{"-b", "-s:", "-r"}, nil, 2, false},
	{"rev", nil, nil, 2, true},
	{"expand", []string{"-t4", "-i", "-t2,5"}, nil, 2, false},
	{"unexpand", []string{"-a", "-t4", "--first-only"}, nil, 2, false},
	{"od", []string{"-An", "-c", "-x", "-tx1", "-td2", "-j2", "-N5", "-v", "-w4", "-ta"}, nil, 2, false},
	{"fmt", []string{"-w20", "-s", "-u", "-c", "-t"}, nil, 2, true},
	{"ls", []string{"-1", "-a", "-A", "-F", "-p", "-r", "-R", "-d", "-m", "-x", "-C", "-Q", "-S"}, nil, 2, false},
	{"find", nil, []string{". -name f*", ". -type f", ". -maxdepth 1", ". -empty", "d -print0", ". -size +1c -type f", ". -not -name f1", ". -name f1 -o -name f2"}, 0, false},
	{"stat", []string{"-c%n", "-c%s", "-c%F", "-c%a", "-c%A", "-L"}, nil, 2, false},
	{"md5sum", []string{"-b", "--tag", "-z"}, nil, 2, false},
	{"base64", []string{"-w5", "-d", "-i"}, nil, 1, false},
	{"printf", nil, []string{"%s\\n a b", "%5d|%-5d| 3 4", "%x %o %X 255 8 171", "%.2f 3.14159", "%q a'b", "%b a\\tb", "%c abc", "%e 12345.678", "%s %s\\n a b c", "%d 0x1f", "%d abc", "%05d -3", "%+d 5", "%%", "%*d 5 3"}, 0, false},
	{"seq", []string{"-w", "-s,", "-f%03g"}, []string{"3", "2 5", "1 2 9", "5 -1 1", "0.5 2", "1e1", "x", "3 1"}, 0, false},
	{"basename", []string{"-a", "-z", "-s.c"}, []string{"a/b.c", "/", "a/", "a/b.c .c", "x y"}, 0, false},
	{"dirname", []string{"-z"}, []string{"a/b", "/", "a", "a//b//", "/a"}, 0, false},
	{"numfmt", []string{"--to=iec", "--from=si", "--to=si", "--round=up", "--padding=8"}, []string{"1000", "1K", "1536 2M", "abc", "-5"}, 0, false},
	{"expr", nil, []string{"1 + 2", "3 * 4", "7 / 2", "7 % 0", "abc : a.*", "abc : \\(b\\)", "length abc", "substr abcd 2 2", "index abc c", "1 < 2", "a = b", "( 1 + 2 )"}, 0, false},
}

// contents are what the files of generated cases hold.
var contents = []string{
	"", "\n", "a\n", "no newline", "foo bar\nbaz:qux\n\n\nabc 12\n", "b 2\na 10\nc 1\na 10\n", "a:b:c\nd:e\n:\n\tx\ty\n", "3\n10\n2K\n1M\n-5\n0x1f\n",
	"line one\r\nline two\r\n", "\x00bin\x01\xff\n", "aaa aaa\nbbb\nAAA\nBbb\n", strings.Repeat("long ", 60) + "\n", "Jan\nfeb\nMAR\n1.2.10\n1.2.9\n", "xyz",
	"a\x00b\x00c", "  indented\n\ttab\n        eight\n",
}

// generate makes a case of a seed.
func generate(seed uint64) commandtest.Case {
	r := rand.New(rand.NewPCG(seed, 1))
	g := &generated[r.IntN(len(generated))]
	c := commandtest.Case{Name: fmt.Sprintf("seed %d", seed), Args: []string{g.name}, Files: map[string]string{}, AnyStderr: g.noStderr}
	for n := r.IntN(4); n > 0 && len(g.flags) > 0; n-- {
		c.Args = append(c.Args, g.flags[r.IntN(len(g.flags))])
	}
	for i := range 3 {
		c.Files[fmt.Sprintf("f%d", i)] = contents[r.IntN(len(contents))]
	}
	c.Files["d/g"] = contents[r.IntN(len(contents))]
	c.Stdin = contents[r.IntN(len(contents))]
	switch g.name {
	case "stat": // without a format it shows numbers of inodes
		c.Args = append(c.Args, "-c%n %s")
	case "find": // in the order of the directory
		c.Clean = sortedLines
	}
	if len(g.patterns) > 0 {
		p := g.patterns[r.IntN(len(g.patterns))]
		switch g.name {
		case "grep", "sed", "awk":
			c.Args = append(c.Args, p)
		default:
			c.Args = append(c.Args, strings.Split(p, " ")...)
		}
	}
	if g.files > 0 {
		for n := r.IntN(g.files + 1); n > 0; n-- {
			c.Args = append(c.Args, []string{"f0", "f1", "f2", "-", "nope", "d", "f0"}[r.IntN(7)])
		}
	}
	c.Name += ": " + strings.Join(c.Args, " ")
	return c
}

// sortedLines makes the order of lines not count.
func sortedLines(s string) string {
	lines := strings.Split(s, "\n")
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// differs says why a generated case is known to differ.
func differs(seed uint64, name string) string {
	if name == "rev" {
		return "bytes that are no UTF-8 are reversed as they are; util-linux refuses them"
	}
	return map[uint64]string{
		638:  "tr -c -t with a class is taken; GNU asks for a map of all characters",
		918:  "GNU join names its own argument cut at the comma",
		924:  "GNU cmp does not read what is twice the same directory",
		1376: "GNU join has an empty field behind a blank at the end of a line",
		1550: "sed -z ends an added line with a newline when the file has none",
		1726: "sed -z ends the text of c with a newline",
		2136: "sed -z -n N meets a directory as the last file",
		2137: "GNU cmp opens the second file before it reads the first",
	}[seed]
}

// TestGenerated compares random command lines with the real tools: VFSD_SOAK=1
// go test -run TestGenerated ./shell/cmd. The seed of a failure stands in its
// name.
func TestGenerated(t *testing.T) {
	if os.Getenv("VFSD_SOAK") == "" {
		t.Skip("needs the GNU tools and a minute: VFSD_SOAK=1")
	}
	tried, failed := map[string]int{}, map[string]int{}
	for seed := range uint64(3000) {
		c := generate(seed)
		if _, err := exec.LookPath(c.Args[0]); err != nil {
			continue
		}
		if out, err := exec.Command(c.Args[0], "--version").Output(); c.Args[0] == "awk" && (err != nil || !strings.HasPrefix(string(out), "GNU Awk")) {
			continue // the measure is GNU's
		}
		tried[c.Args[0]]++
		want := commandtest.Outside(t, &c)
		got := commandtest.Inside(t, &c)
		if d := commandtest.Difference(&c, &got, &want); d != "" {
			if why := differs(seed, c.Args[0]); why != "" {
				t.Logf("%s: %s", c.Name, why)
				failed[c.Args[0]]++
				continue
			}
			failed[c.Args[0]]++
			t.Errorf("%s\nfiles %q stdin %q\n%s", c.Name, c.Files, c.Stdin, d)
		}
	}
	for name, n := range tried {
		t.Logf("%-10s %4d tried, %d passed", name, n, n-failed[name])
	}
}
