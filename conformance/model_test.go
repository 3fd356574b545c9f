//go:build linux

package conformance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/conformance/model"
)

// TestModelFindsWhatIsBroken: random histories find a file system that breaks a
// rule, and the script that is printed, run by bash in an empty directory of it
// and in one of the disk, leaves two different trees.
func TestModelFindsWhatIsBroken(t *testing.T) {
	for _, rule := range []string{"rename-loses-xattrs", "writes-lose-their-last-byte", "unlink-leaves-the-count", "chmod-changes-nothing"} {
		t.Run(rule, func(t *testing.T) {
			s := serve(t, server{rule: rule})
			for seed := range int64(20) {
				f, err := model.Run(t.Context(), model.Options{A: t.TempDir(), B: s.dir, Seed: seed, Steps: 300})
				if err != nil {
					t.Fatal(err)
				}
				if f == nil {
					continue
				}
				script := f.Script()
				if strings.Contains(script, "no tool does this") {
					continue // a call without a command, in a comment
				}
				if n := strings.Count(script, "\n"); n > 25 {
					t.Errorf("%d lines are left of the history:\n%s", n, script)
				}
				sound, broken := played(t, script, t.TempDir()), played(t, script, s.dir)
				if sound == broken {
					t.Errorf("the script shows no difference:\n%s\nboth say:\n%s", script, sound)
				}
				return
			}
			t.Error("twenty histories notice nothing")
		})
	}
}

// played runs a script in a fresh directory of dir, and returns what it said and
// what the tree is then.
func played(t *testing.T, script, dir string) string {
	t.Helper()
	for name := range map[string]bool{"getfattr": true, "bash": true} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is missing: install bash and attr", name)
		}
	}
	work := filepath.Join(dir, "played")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	// Exit codes do not matter: a step of the history may be one that fails.
	run := func(text string) string {
		cmd := exec.Command("bash", "-c", text)
		cmd.Dir = work
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	said := run(script)
	return said + run(`find . -mindepth 1 -printf '%P %y %m %n %l\n' | sort; find . -type f | sort | xargs -r -d '\n' cksum; getfattr -Rhd -m - . | sort`)
}
