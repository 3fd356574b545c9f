//go:build linux

package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance"
	"github.com/vfsd/vfsd/conformance/internal/harness"
	"github.com/vfsd/vfsd/conformance/internal/posix"
)

func TestMain(m *testing.M) {
	conformance.ChildMain()
	os.Exit(m.Run())
}

// soak reports whether the long form was asked for (VFSD_SOAK=1): every case
// on every file system, and every rule of package broken. The short form runs
// a part of the groups, and every third rule.
func soak() bool { return os.Getenv("VFSD_SOAK") == "1" }

// runOn runs the suite on a directory and fails the test for every case that
// fails there. It is what every file system under test comes down to.
func runOn(t *testing.T, o conformance.Options) conformance.Summary {
	t.Helper()
	s, err := conformance.Run(t.Context(), o, func(r conformance.Result) {
		if r.Status == conformance.Failed {
			t.Errorf("%s: %d of %d failed\n\t%s", r.Name, r.Failed, r.Failed+r.Passed, strings.Join(r.Failures, "\n\t"))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := conformance.NewText(&text, false).End(s); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + text.String())
	return s
}

// fsType names the file system of a directory as the suite does.
func fsType(t *testing.T, dir string) string {
	t.Helper()
	env, err := harness.NewEnv(dir)
	if err != nil {
		t.Fatal(err)
	}
	return env.Type
}

func TestExt4(t *testing.T) {
	dir := t.TempDir()
	if got := fsType(t, dir); got != "ext4" {
		t.Skipf("the directory for temporary files is on %s: point TMPDIR at an ext4", got)
	}
	s := runOn(t, conformance.Options{Dir: dir, Short: !soak()})
	if s.Root && s.Passed < 8000 {
		t.Errorf("%d assertions passed, want 8000 and more", s.Passed)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestTmpfs(t *testing.T) {
	const shm = "/dev/shm"
	if _, err := os.Stat(shm); err != nil || fsType(t, shm) != "tmpfs" {
		t.Skip("no tmpfs at " + shm)
	}
	dir, err := os.MkdirTemp(shm, "conformance-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	o := conformance.Options{Dir: dir}
	if !soak() {
		o.Short, o.Groups = true, []string{"data", "xattr", "notify", "rename"}
	}
	runOn(t, o)
}

// TestUnprivileged: without root the suite runs what it can and says what it
// cannot.
func TestUnprivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the other tests are this one already")
	}
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	out := inChild(t, "rig-unprivileged", 0, 21001, dir)
	var doc struct{ Passed, Failed, Skipped int }
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if doc.Failed > 0 || doc.Passed < 2000 || doc.Skipped < 100 {
		t.Errorf("passed %d, failed %d, skipped %d: %s", doc.Passed, doc.Failed, doc.Skipped, failedOf(out))
	}
}

// failedOf lists the failed cases of a JSON report.
func failedOf(report []byte) string {
	var doc struct{ Cases []conformance.Result }
	if err := json.Unmarshal(report, &doc); err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, c := range doc.Cases {
		if c.Status == conformance.Failed {
			fmt.Fprintf(&b, "\n%s: %s", c.Name, strings.Join(c.Failures, "; "))
		}
	}
	return b.String()
}

// TestDeclarations: every pattern that a table holds names something.
func TestDeclarations(t *testing.T) {
	cases := posix.Suite().Cases
	named := func(pattern string) bool {
		for _, c := range cases {
			if conformance.Match(pattern, c.Name) {
				return true
			}
		}
		return false
	}
	for _, d := range conformance.Differences {
		if !named(d.Case) {
			t.Errorf("the difference %q of %s names no case", d.Case, d.FS)
		}
		if d.FS == "vfsd" {
			t.Errorf("vfsd's default driver may not differ: %q", d.Case)
		}
	}
	for _, f := range conformance.FieldCases {
		if len(f.Cases) == 0 {
			t.Errorf("%s names no case", f.ID)
		}
		for _, p := range f.Cases {
			if !named(p) {
				t.Errorf("%s names %q, which is no case", f.ID, p)
			}
		}
	}
	groups := make(map[string]int)
	for _, c := range cases {
		groups[c.Group]++
	}
	for _, g := range conformance.Groups() {
		if groups[g] == 0 {
			t.Errorf("group %s has no case", g)
		}
		delete(groups, g)
	}
	for g := range groups {
		t.Errorf("group %s is not in the list", g)
	}
}

// TestNoRootLeaks: a run leaves the process's credentials, umask and working
// directory as they were.
func TestNoRootLeaks(t *testing.T) {
	before := identity(t)
	if _, err := conformance.Run(t.Context(), conformance.Options{Dir: t.TempDir(), Match: []string{"identity/owner/*", "open/creation-mode/*"}}, nil); err != nil {
		t.Fatal(err)
	}
	if after := identity(t); after != before {
		t.Errorf("the process was\n%s and is\n%s", before, after)
	}
}

func identity(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	mask := unix.Umask(0)
	unix.Umask(mask)
	var lines []string
	for _, line := range strings.Split(string(status), "\n") {
		for _, key := range []string{"Uid:", "Gid:", "Groups:", "CapEff:", "CapPrm:"} {
			if strings.HasPrefix(line, key) {
				lines = append(lines, line)
			}
		}
	}
	return fmt.Sprintf("%s\n%s\numask %o\n", strings.Join(lines, "\n"), wd, mask)
}
