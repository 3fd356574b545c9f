package patch

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// change replaces lines of a text, counted from 1.
func change(text string, lines map[int]string) string {
	parts := strings.SplitAfter(text, "\n")
	for n, line := range lines {
		parts[n-1] = line
	}
	return strings.Join(parts, "")
}

const heading = "--- f\t2024-01-02 03:04:05.000000000 +0000\n+++ f\t2024-01-02 03:04:06.000000000 +0000\n"

// two is a patch of lines 5 and 25 of a text of 30.
const two = heading + "@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n-line 5\n+five\n line 6\n line 7\n line 8\n@@ -22,7 +22,8 @@ context\n line 22\n line 23\n line 24\n-line 25\n+twenty\n+five\n line 26\n line 27\n line 28\n"

const twoContext = "*** f\tTue Jan  2 03:04:05 2024\n--- f\tTue Jan  2 03:04:06 2024\n***************\n*** 2,8 ****\n  line 2\n  line 3\n  line 4\n! line 5\n  line 6\n  line 7\n  line 8\n--- 2,8 ----\n  line 2\n  line 3\n  line 4\n! five\n  line 6\n  line 7\n  line 8\n*************** context\n*** 22,27 ****\n  line 22\n  line 23\n  line 24\n- line 25\n  line 26\n  line 27\n--- 22,26 ----\n"

const twoNormal = "5c5\n< line 5\n---\n> five\n25a26,27\n> more\n> lines\n28d29\n< line 28\n"

var base = numbered(1, 30)

var world = map[string]string{
	"f": base, "two.diff": two, "ctx.diff": twoContext, "norm.diff": twoNormal, "empty": "", "e.diff": "",
	"shift":  "zero\nhalf\n" + base,
	"done":   change(base, map[int]string{5: "five\n", 25: "twenty\nfive\n"}),
	"fuzz":   change(base, map[int]string{2: "LINE 2\n", 28: "LINE 28\n"}),
	"fuzz2":  change(base, map[int]string{2: "LINE 2\n", 3: "LINE 3\n"}),
	"fuzz3":  change(base, map[int]string{2: "x\n", 3: "y\n", 4: "z\n"}),
	"bad":    change(base, map[int]string{5: "other\n"}),
	"bad2":   change(base, map[int]string{5: "other\n", 25: "another\n"}),
	"spaced": change(base, map[int]string{4: "line   4\n", 6: "line\t6 \n"}),
	"crlf":   strings.ReplaceAll(base, "\n", "\r\n"), "nonl": "a\nb\nc", "one": "a\n", "sub/f": base, "sub/deep/f": base, "keep/f": base,
	"garbage": "no patch\nin here\n", "indent.diff": strings.ReplaceAll("    "+strings.TrimSuffix(strings.ReplaceAll(two, "\n", "\n    "), "    "), "    \n", "\n"),
	"crlf.diff": strings.ReplaceAll(two, "\n", "\r\n"),
	"nonl.diff": "--- nonl\n+++ nonl\n@@ -1,3 +1,3 @@\n a\n b\n-c\n\\ No newline at end of file\n+c\n", "nonl2.diff": "--- nonl\n+++ nonl\n@@ -1,3 +1,4 @@\n a\n b\n c\n\\ No newline at end of file\n+d\n", "nonl3.diff": "--- nonl\n+++ nonl\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\\ No newline at end of file\n",
	"new.diff": "--- /dev/null\n+++ new/deep/file\n@@ -0,0 +1,2 @@\n+a\n+b\n", "epoch.diff": "--- born\t1970-01-01 00:00:00.000000000 +0000\n+++ born\t2024-01-02 03:04:06.000000000 +0000\n@@ -0,0 +1 @@\n+born\n", "del.diff": "--- one\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "delmore.diff": "--- f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-line 1\n-line 2\n", "delsub.diff": "--- keep/f\n+++ /dev/null\n@@ -1,30 +0,0 @@\n-" + strings.TrimSuffix(strings.ReplaceAll(base, "\n", "\n-"), "-"), "emptied.diff": "--- one\n+++ one\n@@ -1 +0,0 @@\n-a\n", "fill.diff": "--- empty\n+++ empty\n@@ -0,0 +1 @@\n+full\n", "fillone.diff": "--- /dev/null\n+++ one\n@@ -0,0 +1 @@\n+full\n",
	"paths.diff": "diff -r a/sub/f b/sub/f\n--- a/sub/f\t2024\n+++ b/sub/f\t2024\n@@ -1,3 +1,3 @@\n-line 1\n+ONE\n line 2\n line 3\n", "unsafe.diff": "--- ../f\n+++ ../f\n@@ -1,3 +1,3 @@\n-line 1\n+ONE\n line 2\n line 3\n", "abs.diff": "--- /f\n+++ /f\n@@ -1,3 +1,3 @@\n-line 1\n+ONE\n line 2\n line 3\n", "index.diff": "Index: sub/f\n===================================================================\n--- nope\n+++ nope\n@@ -1,3 +1,3 @@\n-line 1\n+ONE\n line 2\n line 3\n", "index2.diff": "Index: sub/f\n@@ -1,3 +1,3 @@\n-line 1\n+ONE\n line 2\n line 3\n",
	"git.diff":  "diff --git a/f b/g\nsimilarity index 90%\nrename from f\nrename to g\nindex 1234567..89abcde 100644\n--- a/f\n+++ b/g\n@@ -1,3 +1,3 @@\n-line 1\n+ONE\n line 2\n line 3\ndiff --git a/one b/two\nsimilarity index 100%\nrename from one\nrename to two\ndiff --git a/x b/x\nnew file mode 100755\nindex 0000000..1234567\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+#!x\ndiff --git a/nonl b/nonl\ndeleted file mode 100644\nindex 1234567..0000000\n--- a/nonl\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-a\n-b\n-c\n\\ No newline at end of file\ndiff --git a/shift b/shift\nold mode 100644\nnew mode 100755\n",
	"copy.diff": "diff --git a/one b/uno\nsimilarity index 50%\ncopy from one\ncopy to uno\n--- a/one\n+++ b/uno\n@@ -1 +1,2 @@\n a\n+b\n", "swap.diff": "diff --git a/one b/nonl\nrename from one\nrename to nonl\ndiff --git a/nonl b/one\nrename from nonl\nrename to one\n", "bin.diff": "diff --git a/b b/b\nindex 1234567..89abcde 100644\nGIT binary patch\nliteral 3\nKcmZQzWMT#Y01f~L\n\n", "gitempty.diff": "diff --git a/hollow b/hollow\nnew file mode 100644\nindex 0000000..e69de29\n", "symlink.diff": "diff --git a/lnk b/lnk\nnew file mode 120000\nindex 0000000..1234567\n--- /dev/null\n+++ b/lnk\n@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n",
	"many.diff": "Some text.\n" + two + "trailing garbage\n--- one\n+++ one\n@@ -1 +1 @@\n-a\n+A\nmore\n", "mal1.diff": heading + "@@ -1,3 +1,3 @@\n line 1\n-line 2\nfoo\n", "mal2.diff": heading + "@@ -1,3 +1,3 @@\n line 1\n-line 2\n", "mal3.diff": heading + "@@ -1,9 +1,9 @@\n line 1\n-line 2\n+x\n", "mal4.diff": heading + "@@ -x +1 @@\n", "mal5.diff": heading + "@@ -1 1 @@\n", "mal6.diff": heading + "@@ -1,2 +1,2 @@\n line 1\n-line 2\n+two", "mal7.diff": "--- f\n+++ f\n@@ -1,3 +1,3 @@\n line 1\n line 2\n line 3\n", "mal8.diff": "5c5\n< line 5\n> five\n", "mal9.diff": "5c5\n< line 5\n", "mal10.diff": "*** f\n--- f\n***************\n*** 1,3 ****\n  line 1\n! line 2\n", "mal11.diff": "*** f\n--- f\n***************\n*** 1,3 ****\n  line 1\n! line 2\n  line 3\n--- 1,3 ----\n  line 1\n",
	"blank.diff": "--- b\n+++ b\n@@ -1,3 +1,3 @@\n a\n\n-c\n+C\n", "b": "a\n\nc\n", "comment.diff": "# about\n--- one\n+++ one\n@@ -1 +1 @@\n# inside\n-a\n+A\n", "start.diff": "--- f\n+++ f\n@@ -1,3 +1,4 @@\n+new\n line 1\n line 2\n line 3\n", "end.diff": "--- f\n+++ f\n@@ -28,3 +28,4 @@\n line 28\n line 29\n line 30\n+new\n", "noctx.diff": "--- f\n+++ f\n@@ -5 +5 @@\n-line 5\n+five\n@@ -10,0 +11,2 @@\n+ten\n+half\n@@ -20,2 +22,0 @@\n-line 20\n-line 21\n",
	"misordered.diff": heading + "@@ -20,3 +20,3 @@\n line 20\n-line 21\n+x\n line 22\n@@ -5,3 +5,3 @@\n line 5\n-line 6\n+y\n line 7\n", "spaces.diff": "--- sp ace\t2024-01-02\n+++ sp ace\t2024-01-02\n@@ -1 +1 @@\n-a\n+A\n", "quoted.diff": "--- \"a/q\\tx\"\n+++ \"b/q\\tx\"\n@@ -1 +1 @@\n-a\n+A\n", "sp ace": "a\n", "q\tx": "a\n",
	"ctxnew.diff": "*** /dev/null\tThu Jan  1 00:00:00 1970\n--- fresh\tTue Jan  2 03:04:06 2024\n***************\n*** 0 ****\n--- 1,2 ----\n+ a\n+ b\n", "ctxdel.diff": "*** one\tTue Jan  2 03:04:06 2024\n--- /dev/null\tThu Jan  1 00:00:00 1970\n***************\n*** 1 ****\n- a\n--- 0 ----\n", "ctxmix.diff": "*** f\n--- f\n***************\n*** 1,5 ****\n--- 1,6 ----\n  line 1\n  line 2\n+ new\n  line 3\n  line 4\n  line 5\n",
}

// run runs command lines in worlds of the files that these or their patches
// speak of. "<file" at the end is standard input.
func run(t *testing.T, lines ...string) {
	t.Helper()
	var cases []commandtest.Case
	for _, line := range lines {
		w := commandtest.Case{Files: map[string]string{}}
		text := line
		for name, content := range world {
			if strings.HasSuffix(name, ".diff") && strings.Contains(line, name) {
				text += content
				w.Files[name] = content
			}
		}
		for name, content := range world {
			if !strings.HasSuffix(name, ".diff") && regexp.MustCompile(`(?m)(^|[ /<"])`+regexp.QuoteMeta(name)+`($|[\s"])`).MatchString(text) {
				w.Files[name] = content
			}
		}
		args, input, redirected := strings.Cut(line, " <")
		if redirected {
			w.Stdin = world[input]
			delete(w.Files, input)
		}
		c := commandtest.Lines(w, args)[0]
		c.Name = line
		cases = append(cases, c)
	}
	commandtest.Run(t, cases)
}

func TestUnified(t *testing.T) {
	run(t,
		"patch -i two.diff", "patch f two.diff", "patch f <two.diff", "patch <two.diff", "patch -s f two.diff", "patch --verbose f two.diff", "patch --dry-run f two.diff", "patch shift two.diff", "patch done two.diff", "patch -N done two.diff", "patch -t done two.diff", "patch -f done two.diff", "patch -s done two.diff", "patch -sf done two.diff", "patch -sN done two.diff", "patch --verbose done two.diff", "patch -R done two.diff", "patch -R f two.diff", "patch -Rt f two.diff", "patch -RN f two.diff", "patch fuzz two.diff", "patch fuzz2 two.diff", "patch fuzz3 two.diff", "patch -F0 fuzz two.diff", "patch -F1 fuzz2 two.diff", "patch -F3 fuzz3 two.diff", "patch bad two.diff", "patch bad2 two.diff", "patch -s bad two.diff", "patch --dry-run bad two.diff", "patch --verbose bad two.diff", "patch -R bad two.diff", "patch spaced two.diff", "patch -l spaced two.diff", "patch crlf two.diff", "patch f crlf.diff", "patch crlf crlf.diff", "patch --binary crlf crlf.diff", "patch f indent.diff", "patch <indent.diff",
		"patch nonl nonl.diff", "patch nonl nonl2.diff", "patch nonl nonl3.diff", "patch -R nonl nonl.diff", "patch b blank.diff", "patch <comment.diff", "patch f start.diff", "patch shift start.diff", "patch f end.diff", "patch shift end.diff", "patch f noctx.diff", "patch shift noctx.diff", "patch -R f noctx.diff", "patch f misordered.diff", "patch empty two.diff", "patch nope two.diff", "patch sub two.diff",
	)
}

func TestForms(t *testing.T) {
	run(t,
		"patch f ctx.diff", "patch <ctx.diff", "patch -R f ctx.diff", "patch shift ctx.diff", "patch bad ctx.diff", "patch fuzz ctx.diff", "patch -c f ctx.diff", "patch -u f ctx.diff", "patch <ctxnew.diff", "patch <ctxdel.diff", "patch <ctxmix.diff", "patch f norm.diff", "patch <norm.diff", "patch shift norm.diff", "patch -R f norm.diff", "patch bad norm.diff", "patch -n f norm.diff", "patch --verbose f norm.diff", "patch --verbose f ctx.diff", "patch --reject-format=context bad2 two.diff", "patch --reject-format=unified bad ctx.diff", "patch --reject-format=unified bad norm.diff", "patch --reject-format=x f two.diff", "patch empty ctx.diff", "patch empty norm.diff",
		"patch f mal1.diff", "patch f mal2.diff", "patch f mal3.diff", "patch f mal4.diff", "patch f mal5.diff", "patch f mal6.diff", "patch f mal7.diff", "patch f mal8.diff", "patch f mal9.diff", "patch f mal10.diff", "patch f mal11.diff", "patch f garbage", "patch f e.diff", "patch <garbage", "patch --verbose <garbage",
	)
}

func TestFiles(t *testing.T) {
	run(t,
		"patch <new.diff", "patch -p0 <new.diff", "patch -p1 <new.diff", "patch -p9 <new.diff", "patch -p0 <epoch.diff", "patch <del.diff", "patch -R <del.diff", "patch -R -p0 <new.diff", "patch <delmore.diff", "patch -p0 <delsub.diff", "patch <emptied.diff", "patch -E <emptied.diff", "patch <fill.diff", "patch <fillone.diff", "patch -N <fillone.diff", "patch -f <fillone.diff", "patch -t <fillone.diff", "patch -p1 <paths.diff", "patch <paths.diff", "patch -p0 <paths.diff", "patch -p2 <paths.diff", "patch -p0 <unsafe.diff", "patch -p1 <unsafe.diff", "patch -p0 <abs.diff", "patch -p1 <abs.diff", "patch -p0 <index.diff", "patch -p0 <index2.diff", "patch <index2.diff", "patch <many.diff", "patch --verbose <many.diff", "patch -s <many.diff", "patch <spaces.diff", "patch -p1 <quoted.diff", "patch -d sub <two.diff", "patch -d sub -i ../two.diff", "patch -d nope f two.diff", "patch -d f f two.diff",
		"patch -o out f two.diff", "patch -o - f two.diff", "patch -o out <many.diff", "patch -o out bad two.diff", "patch -o deep/out f two.diff", "patch -r rejects bad two.diff", "patch -r - bad two.diff", "patch -b f two.diff", "patch -b -z .old f two.diff", "patch -b -B pre- f two.diff", "patch -b -B old/ f two.diff", "patch -b -Y pre- -i two.diff sub/f", "patch -b -V numbered f two.diff", "patch -b -V simple f two.diff", "patch -b -V x f two.diff", "patch --no-backup-if-mismatch shift two.diff", "patch --posix shift two.diff", "patch -b -p0 <new.diff", "patch -b <del.diff", "patch -z .x shift two.diff", "patch --read-only=fail f two.diff", "patch -g 0 f two.diff",
		"patch -Q", "patch a b c", "patch f nope.diff", "patch -F x f two.diff", "patch -p x f two.diff", "patch --foo", "patch -p", "patch -i nope.diff", "patch f -i two.diff", "patch --input=two.diff f", "patch --strip=1 -i paths.diff", "patch --fuzz=3 fuzz3 two.diff", "patch --output=o --input=two.diff f", "patch --quiet f two.diff", "patch --silent f two.diff", "patch --batch done two.diff", "patch --forward done two.diff", "patch --reverse done two.diff", "patch --dry-run -p0 -i new.diff", "patch --dry-run -i del.diff",
	)
}

func TestGit(t *testing.T) {
	run(t, "patch -p1 <git.diff", "patch -p1 -R <git.diff", "patch -p1 <copy.diff", "patch -p1 <swap.diff", "patch -p1 <bin.diff", "patch -p1 <gitempty.diff", "patch -p1 <symlink.diff", "patch <git.diff", "patch -p0 <git.diff", "patch -p1 -b <git.diff", "patch -p1 --dry-run <git.diff", "patch -p1 --verbose <git.diff")
}

// FuzzPatch gives any text for a patch: it ends, and without a panic.
func FuzzPatch(f *testing.F) {
	for name, content := range world {
		if strings.HasSuffix(name, ".diff") {
			f.Add(content)
		}
	}
	f.Add("--- f\n+++ f\n@@ -1099511627775,1 +1099511627775,1 @@\n-a\n+b\n")
	f.Add("--- f\n+++ f\n@@ -1,1099511627775 +1,1099511627775 @@\n-a\n+b\n")
	f.Fuzz(func(t *testing.T, text string) {
		c := commandtest.Case{Args: []string{"patch", "-p1", "-f"}, Stdin: text, Files: map[string]string{"f": base, "one": "a\n"}}
		if r := commandtest.Inside(t, &c); r.Status > exitTrouble {
			t.Fatalf("status %d: %s", r.Status, r.Stderr)
		}
	})
}

// TestRandom compares what becomes of random files and patches of others with
// what the real patch makes of them, when it is there.
func TestRandom(t *testing.T) {
	if !commandtest.Live() && !commandtest.Recording() {
		t.Skip("compares with the real patch: run with -live")
	}
	for _, name := range []string{"patch", "diff"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("there is no " + name)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	mutate := func(lines []string, rate int) []string {
		var out []string
		for _, l := range lines {
			switch r.IntN(rate) {
			case 0:
			case 1:
				out = append(out, fmt.Sprintf("new %d\n", r.IntN(9)), l)
			case 2:
				out = append(out, fmt.Sprintf("other %d\n", r.IntN(9)))
			default:
				out = append(out, l)
			}
		}
		return out
	}
	for n := range 300 {
		var old []string
		for range 1 + r.IntN(60) {
			old = append(old, fmt.Sprintf("line %d\n", r.IntN(12)))
		}
		changed := strings.Join(mutate(old, 20), "")
		if n%7 == 0 {
			changed = strings.TrimSuffix(changed, "\n")
		}
		target := strings.Join(mutate(old, 30+n), "")
		form := []string{"-u", "-c", "-U1", "-C1", "--normal", "-U0"}[n%6]
		d := commandtest.Outside(t, &commandtest.Case{Args: []string{"diff", form, "--label", "f", "--label", "f", "f", "g"}, Files: map[string]string{"f": strings.Join(old, ""), "g": changed}})
		c := commandtest.Case{Args: []string{"patch", "f", "d"}, Files: map[string]string{"f": target, "d": d.Stdout}}
		if n%5 == 0 {
			c.Args = append(c.Args, "-R")
		}
		got, want := commandtest.Inside(t, &c), commandtest.Outside(t, &c)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s of\n%s\nto\n%s:\n%s\n%s\nwant\n%s\n%s", c.Args, d.Stdout, target, got.Stdout, strings.Join(got.Tree, "\n"), want.Stdout, strings.Join(want.Tree, "\n"))
		}
	}
}
