package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Writer prints a run: Result as each case ends, End when all have.
type Writer interface {
	Result(Result)
	// End prints the rest and returns the first error of writing.
	End(Summary) error
}

// output keeps the first error of writing; what comes after it is dropped.
type output struct {
	w   io.Writer
	err error
}

func (o *output) printf(format string, args ...any) {
	if o.err == nil {
		_, o.err = fmt.Fprintf(o.w, format, args...)
	}
}

// NewText prints failures, a line a group, and the sums. With verbose it
// prints a line a case.
func NewText(w io.Writer, verbose bool) Writer { return &text{output{w: w}, verbose} }

type text struct {
	output
	verbose bool
}

func (x *text) Result(r Result) {
	if r.Status != Failed && !x.verbose {
		return
	}
	x.printf("%-8s%s", r.Status, r.Name)
	if r.Reason != "" {
		x.printf(" (%s)", r.Reason)
	}
	x.printf("\n")
	for _, f := range r.Failures {
		x.printf("        %s\n", indent(f, "        "))
	}
}

func (x *text) End(s Summary) error {
	x.printf("%-12s %7s %7s %7s %7s %7s\n", "group", "cases", "passed", "failed", "skipped", "differs")
	line := func(name string, c Count) {
		x.printf("%-12s %7d %7d %7d %7d %7d\n", name, c.Cases, c.Passed, c.Failed, c.Skipped, c.Differs)
	}
	for _, g := range Groups() {
		if c, ok := s.Groups[g]; ok {
			line(g, c)
		}
	}
	line("all", s.Count)
	for _, reason := range slices.Sorted(maps.Keys(s.Reasons)) {
		x.printf("%5d cases %s\n", s.Reasons[reason], reason)
	}
	x.printf("%s, Linux %s, root: %v, %.1f s\n", s.FS, s.Kernel, s.Root, s.Seconds)
	return x.err
}

// NewTAP prints the Test Anything Protocol, version 14: a test point a case.
func NewTAP(w io.Writer) Writer { return &tap{output: output{w: w}} }

type tap struct {
	output
	n int
}

func (p *tap) Result(r Result) {
	if p.n == 0 {
		p.printf("TAP version 14\n")
	}
	p.n++
	name := strings.ReplaceAll(r.Name, "#", "\\#")
	switch r.Status {
	case Passed:
		p.printf("ok %d - %s\n", p.n, name)
	case Skipped:
		p.printf("ok %d - %s # SKIP %s\n", p.n, name, r.Reason)
	case Differs:
		p.printf("not ok %d - %s # TODO %s\n", p.n, name, r.Reason)
	case Failed:
		p.printf("not ok %d - %s\n", p.n, name)
	}
	if r.Status == Failed || r.Status == Differs {
		p.printf("  ---\n  passed: %d\n  failed: %d\n  failures:\n", r.Passed, r.Failed)
		for _, f := range r.Failures {
			p.printf("    - %q\n", f)
		}
		p.printf("  ...\n")
	}
}

func (p *tap) End(s Summary) error {
	p.printf("1..%d\n", p.n)
	for _, g := range Groups() {
		if c, ok := s.Groups[g]; ok {
			p.printf("# %s: %d cases, %d passed, %d failed, %d skipped, %d differ\n", g, c.Cases, c.Passed, c.Failed, c.Skipped, c.Differs)
		}
	}
	p.printf("# all: %d cases, %d passed, %d failed, %d skipped, %d differ\n", s.Cases, s.Passed, s.Failed, s.Skipped, s.Differs)
	return p.err
}

// NewJSON prints one JSON value at the end.
func NewJSON(w io.Writer) Writer { return &jsonWriter{w: w} }

type jsonWriter struct {
	w       io.Writer
	results []Result
}

// document is the JSON form of a run; the order of its fields is part of it.
type document struct {
	Passed  int              `json:"passed"`
	Failed  int              `json:"failed"`
	Skipped int              `json:"skipped"`
	Differs int              `json:"differs"`
	FS      string           `json:"fs"`
	Kernel  string           `json:"kernel"`
	Root    bool             `json:"root"`
	Seconds float64          `json:"seconds"`
	Groups  map[string]Count `json:"groups"`
	Cases   []Result         `json:"cases"`
}

func (j *jsonWriter) Result(r Result) { j.results = append(j.results, r) }

func (j *jsonWriter) End(s Summary) error {
	slices.SortFunc(j.results, func(a, b Result) int { return strings.Compare(a.Name, b.Name) })
	enc := json.NewEncoder(j.w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(document{
		Passed: s.Passed, Failed: s.Failed, Skipped: s.Skipped, Differs: s.Differs,
		FS: s.FS, Kernel: s.Kernel, Root: s.Root, Seconds: s.Seconds, Groups: s.Groups, Cases: j.results,
	})
}

func indent(s, by string) string { return strings.ReplaceAll(s, "\n", "\n"+by) }
