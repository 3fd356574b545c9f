package main

import (
	"os"
	"os/exec"
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
	before, tour, after := readTour(t)
	r := newTourRig(t)
	got := r.replay(tour, r.shell)
	if *update {
		if err := os.WriteFile(readme, []byte(before+tourBegin+got+tourEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	r.compareTour(got, tour)
}

// readTour cuts the README before and after the tour.
func readTour(t *testing.T) (before, tour, after string) {
	t.Helper()
	b, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(b), tourBegin)
	tour, after, ok2 := strings.Cut(rest, tourEnd)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no tour", readme)
	}
	return before, tour, after
}

// newTourRig returns a rig whose directory is the home of the reader.
func newTourRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.data = filepath.Join(r.dir, ".local/state/vfsd")
	return r
}

// replay runs the tour's commands, one by one, and returns what the README
// would say.
func (r *rig) replay(tour string, shell func(line string) string) string {
	r.t.Helper()
	var real strings.Builder
	for line := range strings.Lines(tour) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			pid := r.holder()
			real.WriteString(line + shell(command))
			if strings.HasPrefix(command, "kill ") {
				awaitGone(pid)
			}
		}
	}
	return strings.ReplaceAll(real.String(), r.dir, tourHome)
}

func (r *rig) compareTour(got, tour string) {
	r.t.Helper()
	if got, want := r.steady(got), r.steady(tour); got != want {
		r.t.Errorf("the README's tour is not what happens (-update rewrites it)\ngot:\n%s\nwant:\n%s", got, want)
	}
}

// shell runs one line as the reader would and returns all it prints.
func (r *rig) shell(line string) string {
	r.t.Helper()
	return finish(r.t, r.readers(r.command("bash", "-c", "exec 2>&1\n"+line))).out
}

// readers gives a command the environment of the reader.
func (r *rig) readers(cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = append(cmd.Env, "HOME="+r.dir, "LC_ALL=C", "PATH="+filepath.Dir(vfsctl)+":"+os.Getenv("PATH"))
	return cmd
}
