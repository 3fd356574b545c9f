package vcs_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/shell"
	_ "github.com/vfsd/vfsd/shell/cmd/files"
	_ "github.com/vfsd/vfsd/shell/cmd/text"
	_ "github.com/vfsd/vfsd/shell/cmd/text/sed"
	_ "github.com/vfsd/vfsd/shell/cmd/text/sort"
	_ "github.com/vfsd/vfsd/shell/cmd/vcs"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

var record = flag.Bool("record", false, "record what the real git says")

// environ is the same for both; the dates make the hashes so.
var environ = []string{
	"LC_ALL=C", "TZ=UTC", "GIT_CONFIG_NOSYSTEM=1", "GIT_PAGER=cat", "GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0",
	"GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_AUTHOR_DATE=1700000000 +0100",
	"GIT_COMMITTER_NAME=C O Mitter", "GIT_COMMITTER_EMAIL=committer@example.com", "GIT_COMMITTER_DATE=1700000100 +0000",
}

// prelude makes commands of one second each, so that the order is certain.
const prelude = `exec 2>&1
tick=1700000000
commit() { tick=$((tick+60)); GIT_AUTHOR_DATE="$tick +0000" GIT_COMMITTER_DATE="$tick +0000" git commit "$@"; }
at() { tick=$((tick+60)); GIT_AUTHOR_DATE="$tick +0000" GIT_COMMITTER_DATE="$tick +0000" "$@"; }
git config --global init.defaultBranch master
git config --global advice.detachedHead false
`

type scriptCase struct{ name, script string }

func readScripts(t *testing.T) []scriptCase {
	t.Helper()
	files, err := filepath.Glob("testdata/*.script")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var cases []scriptCase
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split("\n"+string(b), "\n#### ")[1:] {
			name, script, _ := strings.Cut(part, "\n")
			cases = append(cases, scriptCase{strings.TrimSuffix(filepath.Base(f), ".script") + ": " + strings.TrimSpace(name), script})
		}
	}
	return cases
}

const goldenFile = "testdata/scripts.golden"

// TestScripts compares scripts of git commands with what the real git said.
func TestScripts(t *testing.T) {
	want := readGolden(t)
	cases := readScripts(t)
	if *record {
		got := map[string]string{}
		for _, c := range cases {
			got[c.name] = outside(t, c.script)
		}
		writeGolden(t, got)
		want = got
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, ok := want[c.name]
			if !ok {
				t.Fatal("not recorded: run with -record")
			}
			fs := memfs.New()
			got := inside(t, fs, c.script)
			if got != w {
				t.Errorf("got:\n%s\nwant:\n%s", got, w)
			}
			fsck(t, fs)
		})
	}
}

func readGolden(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(goldenFile)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, part := range strings.Split("\n"+string(b), "\n#### ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		out[name] = body
	}
	return out
}

func writeGolden(t *testing.T, got map[string]string) {
	t.Helper()
	var names []string
	for n := range got {
		names = append(names, n)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, n := range names {
		// The last newline of a body is the one that the next header eats.
		fmt.Fprintf(&b, "#### %s\n%s\n", n, got[n])
	}
	if err := os.WriteFile(goldenFile, []byte(strings.TrimSuffix(b.String(), "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// outside runs a script with the real tools.
func outside(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("bash", "-c", prelude+script)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, environ...)
	out, err := cmd.CombinedOutput()
	status := cmd.ProcessState.ExitCode()
	if err != nil && status < 0 {
		t.Fatal(err)
	}
	return fmt.Sprintf("%sstatus %d", strings.ReplaceAll(string(out), dir, "DIR"), status)
}

// inside runs a script in the shell over fs.
func inside(t *testing.T, fs vfs.FS, script string) string {
	t.Helper()
	w := vfs.NewWalker(fs, &vfs.Op{Umask: 0o022})
	for _, d := range []string{"/repo", "/tmp", "/usr/bin"} {
		if err := w.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ses := shell.New(shell.Config{FS: fs}).NewSession(shell.SessionOptions{
		Env: append(command.Environ{"PATH=/usr/bin:/bin", "HOME=/repo"}, environ...), Dir: "/repo",
	})
	defer ses.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	res := ses.Exec(ctx, shell.Execution{Script: prelude + script, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out})
	if res.Internal != nil {
		t.Errorf("panic: %v", res.Internal)
	}
	return fmt.Sprintf("%sstatus %d", strings.ReplaceAll(out.String(), "/repo", "DIR"), res.Status)
}

// fsck has the real git look at every repository that a script left.
func fsck(t *testing.T, fs vfs.FS) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Log("no git on this machine: its fsck was not run")
		return
	}
	dir := t.TempDir()
	export(t, vfs.NewWalker(fs, &vfs.Op{}), "/repo", dir)
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.Name() != "HEAD" || filepath.Base(filepath.Dir(p)) == "logs" || strings.Contains(p, "/refs/") {
			return err
		}
		cmd := exec.Command("git", "--git-dir="+filepath.Dir(p), "fsck", "--strict", "--no-dangling")
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, environ...)
		out, err := cmd.CombinedOutput()
		text := string(out)
		if err != nil || strings.Contains(text, "error") || strings.Contains(text, "warning") {
			t.Errorf("fsck of %s: %v\n%s", p, err, text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// export copies a directory of the workspace to the host.
func export(t *testing.T, w *vfs.Walker, from, to string) {
	t.Helper()
	es, err := w.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		src, dst := from+"/"+e.Name, filepath.Join(to, e.Name)
		a, err := w.Lstat(src)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case a.IsDir():
			if err := os.MkdirAll(dst, 0o755); err != nil {
				t.Fatal(err)
			}
			export(t, w, src, dst)
		case a.IsSymlink():
			target, err := w.Readlink(src)
			if err == nil {
				err = os.Symlink(target, dst)
			}
			if err != nil {
				t.Fatal(err)
			}
		case a.IsRegular():
			b, err := w.ReadFile(src, 1<<30)
			if err == nil {
				err = os.WriteFile(dst, b, os.FileMode(a.Mode&0o777)|0o200)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
