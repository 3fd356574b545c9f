//go:build linux

package conformance_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/conformance"
	"github.com/vfsd/vfsd/conformance/broken"
	"github.com/vfsd/vfsd/conformance/internal/posix"
	"github.com/vfsd/vfsd/internal/figures"
)

var update = flag.Bool("update", false, "write REPORT.md anew (TestReport, with VFSD_SOAK=1)")

const reportFile = "REPORT.md"

// TestReport keeps REPORT.md in step with the suite: the number of cases of
// every group. With -update it runs everything everywhere and writes it.
func TestReport(t *testing.T) {
	if *update {
		writeReport(t)
	}
	report, err := os.ReadFile(reportFile)
	if err != nil {
		t.Fatal(err)
	}
	groups := make(map[string]int)
	for _, c := range posix.Suite().Cases {
		groups[c.Group]++
	}
	for _, f := range append(required, "## The suite is tested", "## What is required") {
		if !strings.Contains(string(report), f) {
			t.Errorf("%s tells nothing of %q: scripts/soak report writes it anew", reportFile, f)
		}
	}
	for _, g := range conformance.Groups() {
		if row := fmt.Sprintf("| %s | %d |", g, groups[g]); !strings.Contains(string(report), row) {
			t.Errorf("%s has no row that begins %q: write it anew, VFSD_SOAK=1 go test -run TestReport -update", reportFile, row)
		}
	}
}

func writeReport(t *testing.T) {
	if !soak() {
		t.Fatal("a report takes the long form: VFSD_SOAK=1")
	}
	shm, err := os.MkdirTemp("/dev/shm", "conformance-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(shm); err != nil {
			t.Error(err)
		}
	})
	var runs []conformance.Summary
	for _, o := range []conformance.Options{
		{Dir: t.TempDir()},
		{Dir: shm},
		{Dir: serve(t, server{backing: "workspace"}).dir, FS: "vfsd"},
		{Dir: serve(t, server{driver: "bazil", backing: "workspace"}).dir, FS: "vfsd-bazil"},
	} {
		s, err := conformance.Run(t.Context(), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, s)
	}
	report := conformance.Report{Runs: runs}
	report.Figures, report.Broken = readFigures(t)
	var b bytes.Buffer
	if err := conformance.WriteReport(&b, report); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(reportFile, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// figuresFile holds what the campaigns wrote down (scripts/soak report).
const figuresFile = "figures.jsonl"

// required are the campaigns that a report must tell of.
var required = []string{
	"kill -9 of the daemon under load", "power cuts under load", "control: power cuts with fsync faked",
	"journal cut at every byte", "journal flipped at every byte", "journal with a foreign tail", "journal with a lost page",
	"host faults under the journal", "host faults under a workspace", "crash model under a workspace",
	"random histories on a mount and on the disk",
}

// readFigures returns the figures of the campaigns, and of the broken rules.
func readFigures(t *testing.T) (campaigns []figures.Figure, rules []conformance.BrokenRule) {
	t.Helper()
	f, err := os.Open(figuresFile)
	if err != nil {
		t.Fatalf("%v: scripts/soak report makes it", err)
	}
	defer f.Close()
	all, err := figures.Read(f)
	if err != nil {
		t.Fatalf("%s: %v", figuresFile, err)
	}
	byRun := map[string]figures.Figure{}
	for _, f := range all {
		byRun[f.Run] = f
	}
	for _, run := range required {
		f, ran := byRun[run]
		if !ran || len(f.Counts) == 0 {
			t.Errorf("%s tells nothing of %q: scripts/soak report does it all", figuresFile, run)
		}
		campaigns = append(campaigns, f)
	}
	for _, r := range broken.Rules() {
		f := byRun[brokenRun+r.Name]
		rule := conformance.BrokenRule{Name: r.Name, Text: r.Text, Noticed: f.Passed}
		if len(f.Counts) > 0 {
			rule.Cases = f.Counts[0].N
		}
		rules = append(rules, rule)
	}
	return campaigns, rules
}
