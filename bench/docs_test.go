package bench

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/bench/scale"
	"github.com/vfsd/vfsd/bench/workload"
)

// TestDocumented compares the tables of docs/benchmarks.md with the code.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	steps := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		name := strings.Trim(cells[0], "`")
		switch {
		case !strings.HasPrefix(line, "| `") || strings.HasPrefix(name, "--"):
		case len(cells) == 5:
			got = append(got, strings.Join([]string{name, cells[2], cells[3], cells[4]}, " "))
		case len(cells) == 3:
			steps[name] = true
		}
	}
	var want []string
	for _, w := range workload.All(workload.Full) {
		caches, limit := "warm", ""
		if w.Cold {
			caches = "cold"
		}
		if w.Limit > 0 {
			limit = fmt.Sprintf("%.2f", w.Limit)
		}
		want = append(want, strings.Join([]string{w.Name, w.Client, caches, limit}, " "))
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("the page lacks %q", want[i])
		case i >= len(want):
			t.Errorf("the page has %q, the code has not", got[i])
		case got[i] != want[i]:
			t.Errorf("row %d is %q, in the code %q", i+1, got[i], want[i])
		}
	}
	for _, s := range scale.Steps {
		if !steps[s] {
			t.Errorf("the page lacks the step %s", s)
		}
	}
	if len(steps) != len(scale.Steps) {
		t.Errorf("the page has the steps %v, the code has %v", steps, scale.Steps)
	}
}
