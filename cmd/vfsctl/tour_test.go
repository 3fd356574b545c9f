package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	readme    = "../../README.md"
	tourBegin = "<!-- tour: go test ./cmd/vfsctl -run Tour -update -->\n```console\n"
	tourEnd   = "```\n<!-- end of tour -->\n"
	tourHome  = "/home/ada" // where the README's reader is
)

// TestTour replays the README's tour: what it prints is what the README says.
func TestTour(t *testing.T) {
	needMount(t)
	b, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(b), tourBegin)
	tour, after, ok2 := strings.Cut(rest, tourEnd)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no tour", readme)
	}
	r := newRig(t)
	r.data = filepath.Join(r.dir, ".local/state/vfsd")
	var real strings.Builder
	for line := range strings.Lines(tour) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			pid := r.holder()
			real.WriteString(line + r.shell(command))
			if strings.HasPrefix(command, "kill ") {
				awaitGone(pid)
			}
		}
	}
	got := strings.ReplaceAll(real.String(), r.dir, tourHome)
	if *update {
		if err := os.WriteFile(readme, []byte(before+tourBegin+got+tourEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, want := r.steady(got), r.steady(tour); got != want {
		t.Errorf("the README's tour is not what happens (-update rewrites it)\ngot:\n%s\nwant:\n%s", got, want)
	}
}

// shell runs one line as the reader would and returns all it prints.
func (r *rig) shell(line string) string {
	r.t.Helper()
	cmd := r.command("bash", "-c", "exec 2>&1\n"+line)
	cmd.Env = append(cmd.Env, "HOME="+r.dir, "LC_ALL=C", "PATH="+filepath.Dir(vfsctl)+":"+os.Getenv("PATH"))
	return finish(r.t, cmd).out
}
