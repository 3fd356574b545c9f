package shell

import (
	"os/exec"
	"strings"
	"testing"
)

// TestRun sees that the measurement works, and that bash prints the same.
func TestRun(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("it takes bash")
	}
	r, err := Run(t.Context(), Options{Dir: t.TempDir(), Runs: 1, JustBash: "none"})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.WriteMarkdown(&b); err != nil || strings.Count(b.String(), "\n| ") != len(rows)+1 {
		t.Errorf("%v\n%s", err, b.String())
	}
	for _, x := range r.Rows {
		if x.VFSD <= 0 || x.Bash <= 0 {
			t.Errorf("%+v", x)
		}
	}
}
