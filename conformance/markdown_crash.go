package conformance

import (
	"fmt"
	"strings"

	"github.com/vfsd/vfsd/conformance/internal/posix"
	"github.com/vfsd/vfsd/internal/figures"
)

// BrokenRule is a rule that a wrapper file system broke, and how many cases
// failed by it, as they must.
type BrokenRule struct {
	Name, Text string
	Cases      int64
	Noticed    bool // by every case that is to notice
}

// Report is what REPORT.md tells.
type Report struct {
	Runs    []Summary
	Broken  []BrokenRule
	Figures []figures.Figure // of the crash and torture campaigns
}

func (o *output) figures(fs []figures.Figure) {
	o.printf("\n## Crash safety\n\n")
	o.printf("Written down by the campaigns themselves (`scripts/soak report`). A campaign that finds a loss or a wrong answer ends there, as failed.\n\n")
	o.printf("| campaign | result | figures |\n|---|---|---|\n")
	for _, f := range fs {
		result := "passed"
		if !f.Passed {
			result = "**failed**"
		}
		var counts []string
		for _, c := range f.Counts {
			counts = append(counts, fmt.Sprintf("%s: %d", c.What, c.N))
		}
		o.printf("| %s | %s | %s |\n", f.Run, result, strings.Join(counts, ", "))
	}
}

func (o *output) broken(rules []BrokenRule) {
	noticed := 0
	for _, r := range rules {
		if r.Noticed {
			noticed++
		}
	}
	o.printf("\n## The suite is tested\n\n")
	o.printf("A file system breaks one rule at a time; the cases of that rule must fail, and on the same mount with nothing broken they pass. %d rules, %d noticed.\n\n", len(rules), noticed)
	o.printf("| rule | what is broken | cases that failed |\n|---|---|--:|\n")
	for _, r := range rules {
		cases := fmt.Sprint(r.Cases)
		if !r.Noticed {
			cases = "**not noticed**"
		}
		o.printf("| %s | %s | %s |\n", r.Name, cellText(r.Text), cases)
	}
}

// checklist writes which cases show what: counted, so that nobody has to
// believe it.
func (o *output) checklist() {
	o.printf("\n## What is required, and the cases that show it\n\n| group | requirement | cases | also |\n|---|---|--:|---|\n")
	for _, r := range Checklist {
		o.printf("| %s | %s | %d | %s |\n", r.Group, cellText(r.Text), countCases(r.Cases), r.Elsewhere)
	}
	o.printf("\n## Failures from the field\n\n| case | what goes wrong elsewhere | cases or tests | note |\n|---|---|---|---|\n")
	for _, f := range FieldCases {
		o.printf("| %s | %s | %d cases of this suite | %s |\n", f.ID, cellText(f.Text), countCases(f.Cases), f.Elsewhere)
	}
	for _, c := range CrashCases {
		o.printf("| %s | %s | %s | %s |\n", c.ID, cellText(c.Text), strings.Join(c.Tests, ", "), c.Note)
	}
}

func countCases(patterns []string) (n int) {
	for _, c := range posix.Suite().Cases {
		for _, p := range patterns {
			if Match(p, c.Name) {
				n++
				break
			}
		}
	}
	return n
}

func cellText(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
