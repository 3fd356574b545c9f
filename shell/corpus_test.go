package shell_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/shell/command/commandtest"
)

// TestCorpus runs the scripts of testdata/corpus and compares both outputs, the
// status and the files with what Bash 5.2 made of them: recorded answers, or,
// with -record or -live, those of the bash of this machine.
//
// A file NAME.sh holds scripts after lines "#### name"; one NAME.lines holds a
// script a line, which is its name too. The first lines may say
// "## locale NAME" for another locale than C.
func TestCorpus(t *testing.T) {
	if commandtest.Recording() || commandtest.Live() {
		requireBash(t)
	}
	files, err := filepath.Glob("testdata/corpus/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	why, used := readDifferences(t), 0
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		t.Run(name, func(t *testing.T) {
			cases := readCorpus(t, file)
			for i := range cases {
				if cases[i].Differs = why[name+": "+cases[i].Name]; cases[i].Differs != "" {
					used++
				}
			}
			commandtest.RunWith(t, cases, runScript)
		})
	}
	if used < len(why) && flag.Lookup("test.run").Value.String() == "" {
		t.Errorf("testdata/differences.txt names %d cases that are not there", len(why)-used)
	}
}

// requireBash skips a test that needs the bash it imitates.
func requireBash(t *testing.T) {
	t.Helper()
	res := commandtest.Outside(t, &commandtest.Case{Args: []string{"bash", "-c", "echo ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}"}})
	if v := strings.TrimSpace(res.Stdout); v != "5.2" {
		t.Skipf("bash here is %q: install 5.2 to compare with it", v)
	}
}

// readCorpus reads the cases of a corpus file.
func readCorpus(t testing.TB, file string) []commandtest.Case {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut("\n"+string(b), "\n#### ")
	var env []string
	for _, line := range strings.Split(head, "\n") {
		if l, ok := strings.CutPrefix(line, "## locale "); ok {
			env = append(env, "LC_ALL="+l)
		}
	}
	var cases []commandtest.Case
	add := func(name, script string) {
		cases = append(cases, commandtest.Case{Name: name, Args: []string{"bash", "-c", script}, Env: env})
	}
	if strings.HasSuffix(file, ".lines") {
		for _, line := range strings.Split(string(b), "\n") {
			if line != "" && line[0] != '#' {
				add(line, line)
			}
		}
		return cases
	}
	for _, part := range strings.Split(rest, "\n#### ") {
		name, script, _ := strings.Cut(part, "\n")
		add(strings.TrimSpace(name), strings.TrimRight(script, "\n"))
	}
	return cases
}

// runScript runs a case's script in a new session.
func runScript(t testing.TB, c *commandtest.Case) commandtest.Result {
	t.Helper()
	w, dir := commandtest.World(t, c)
	for _, d := range []string{"/tmp", "/usr/bin"} {
		if err := w.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sh := shell.New(shell.Config{FS: w.FS, Lookup: lookupTestCommand})
	env := command.Environ{"PATH=/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C", "TZ=UTC"}
	for _, kv := range c.Env {
		name, value, _ := strings.Cut(kv, "=")
		env = env.Set(name, value)
	}
	ses := sh.NewSession(shell.SessionOptions{Env: env, Dir: dir})
	defer ses.Close()
	ctx, cancel := context.WithTimeout(context.Background(), commandtest.Timeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	res := ses.Exec(ctx, shell.Execution{
		Script: commandtest.Expand(c.Args[2]), Params: c.Args[min(4, len(c.Args)):],
		Stdin:  strings.NewReader(commandtest.Expand(c.Stdin)),
		Stdout: &stdout, Stderr: &stderr,
	})
	if res.Internal != nil {
		fmt.Fprintf(&stderr, "panic: %v", res.Internal)
	}
	return commandtest.Result{
		Status: res.Status,
		Stdout: commandtest.Collapse(stdout.String()),
		Stderr: commandtest.Collapse(stderr.String()),
		Tree:   commandtest.Tree(t, w, c),
	}
}

// readDifferences reads testdata/differences.txt: the cases whose outcome is
// another than Bash's. Lines after "#### CORPUS: CASE" say why.
func readDifferences(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("testdata/differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]string{}
	for _, part := range strings.Split("\n"+string(b), "\n#### ")[1:] {
		name, reason, _ := strings.Cut(part, "\n")
		if reason = strings.TrimSpace(reason); reason == "" {
			t.Errorf("%s differs without a reason", name)
		}
		why[name] = reason
	}
	return why
}
