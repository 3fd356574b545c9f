package shell_test

import (
	"bufio"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command"
)

var update = flag.Bool("update", false, "write COMPATIBILITY.md anew")

// TestCompatibility: COMPATIBILITY.md says of the language exactly what the
// corpora hold. Of the commands it never says more than their goldens hold; it
// may lag behind new ones. That each recorded case passes is what the tests
// show that recorded it.
func TestCompatibility(t *testing.T) {
	language, differences := languageReport(t)
	counts := commandCounts(t)
	text := compatHead + language + commandReport(counts) + differences
	const path = "COMPATIBILITY.md"
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	have := string(b)
	for _, part := range []string{language, differences} {
		if !strings.Contains(have, part) {
			t.Error("COMPATIBILITY.md is not current: run go test ./shell -run TestCompatibility -update")
		}
	}
	for _, m := range commandRow.FindAllStringSubmatch(have, -1) {
		if n, _ := strconv.Atoi(m[2]); n > counts[m[1]] {
			t.Errorf("COMPATIBILITY.md claims %d cases of %s, there are %d", n, m[1], counts[m[1]])
		}
	}
}

var commandRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([0-9]+) \\|$")

const compatHead = `# Compatibility

Made by ` + "`go test ./shell -run TestCompatibility -update`" + ` from the corpora and
their recorded answers; not to be edited. The measure is Bash 5.2 and the GNU
tools (for others, the tool of that name): standard output, standard error with
its messages, exit status and the files afterwards must all be the same. A case
passes when they are. The answers are recorded beside the tests, which run every
case; ` + "`-live`" + ` compares with the tools of the machine instead.

`

// languageReport counts the cases of the shell's own corpora, and lists those
// that differ.
func languageReport(t *testing.T) (table, differences string) {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*")
	if err != nil {
		t.Fatal(err)
	}
	why := readDifferences(t)
	var rows, diffs strings.Builder
	total, passed := 0, 0
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		tried, differ := 0, 0
		for _, c := range readCorpus(t, file) {
			tried++
			if reason := why[name+": "+c.Name]; reason != "" {
				differ++
				fmt.Fprintf(&diffs, "- %s\n\n  ```sh\n  %s\n  ```\n\n", strings.ReplaceAll(reason, "\n", "\n  "), strings.ReplaceAll(c.Args[2], "\n", "\n  "))
			}
		}
		total, passed = total+tried, passed+tried-differ
		fmt.Fprintf(&rows, "| %s | %d | %d |\n", corpusTitle(t, file, name), tried, tried-differ)
	}
	table = "## The language\n\n| feature | cases | passed |\n| --- | ---: | ---: |\n" + rows.String() +
		fmt.Sprintf("| all | %d | %d |\n\n", total, passed)
	return table, "## What differs\n\n" + diffs.String() + "- Commands: see the help of each; a case of theirs that differs from the real tool on\n  purpose is beside their tests.\n"
}

// corpusTitle is what a corpus says of itself: its first comment, or its name.
func corpusTitle(t *testing.T, file, name string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	if title, ok := strings.CutPrefix(line, "# "); ok && strings.HasSuffix(file, ".lines") {
		return strings.TrimSuffix(strings.ReplaceAll(title, "|", "\\|"), ".")
	}
	return name
}

// commandCounts counts the recorded cases of each command: by the first word of
// a case, or by the name of the golden file or its folder.
func commandCounts(t *testing.T) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, n := range command.Names() {
		counts[n] = 0
	}
	err := filepath.WalkDir("cmd", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".golden") {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		sc := bufio.NewScanner(f)
		sc.Buffer(nil, 16<<20)
		for sc.Scan() {
			if q, ok := strings.CutPrefix(sc.Text(), `case `); ok {
				counts[commandOf(q, path, counts)]++
			}
		}
		return sc.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// commandOf finds the command that a recorded case is about.
func commandOf(quoted, path string, counts map[string]int) string {
	prefix, err := strconv.QuotedPrefix(quoted)
	if err == nil {
		name, _ := strconv.Unquote(prefix)
		for _, w := range strings.Fields(name) {
			if _, ok := counts[w]; ok {
				return w
			}
			break
		}
	}
	base, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".golden"), "-")
	base = strings.ToLower(strings.TrimPrefix(base, "Test"))
	if _, ok := counts[base]; ok {
		return base
	}
	if dir := filepath.Base(filepath.Dir(filepath.Dir(path))); dir != "" {
		if _, ok := counts[dir]; ok {
			return dir
		}
	}
	return base
}

func commandReport(counts map[string]int) string {
	names := make([]string, 0, len(counts))
	total := 0
	for n, c := range counts {
		names = append(names, n)
		total += c
	}
	sort.Strings(names)
	var b strings.Builder
	b.WriteString("## The commands\n\nEvery recorded case passes. A command without cases of its own is tried in the\npipelines above, or not yet.\n\n| command | cases |\n| --- | ---: |\n")
	for _, n := range names {
		fmt.Fprintf(&b, "| `%s` | %d |\n", n, counts[n])
	}
	fmt.Fprintf(&b, "| all | %d |\n\n", total)
	return b.String()
}
