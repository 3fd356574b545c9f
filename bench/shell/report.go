package shell

import (
	"fmt"
	"io"
	"strings"
)

// What is to be reached: faster than bash, and so many times faster than
// just-bash.
const (
	targetBash     = 1
	targetJustBash = 50
)

// Met reports whether a row reaches both targets, as far as they were measured.
func (r *Row) Met() bool {
	return r.VFSD*targetBash < r.Bash && (r.JustBash == 0 || r.VFSD*targetJustBash <= r.JustBash)
}

// WriteMarkdown writes the report for people.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Medians of %d runs in milliseconds; bash %s", r.Runs, r.BashVersion)
	if r.JustBashVersion != "" {
		fmt.Fprintf(&b, ", just-bash %s", r.JustBashVersion)
	} else {
		fmt.Fprintf(&b, "; without just-bash: %s", r.Left)
	}
	b.WriteString(".\n\n| script | vfsd | bash -c | faster by | just-bash | faster by | target |\n|---|---|---|---|---|---|---|\n")
	for _, x := range r.Rows {
		just, times := "-", "-"
		if x.JustBash > 0 {
			just, times = fmt.Sprintf("%.2f", x.JustBash), fmt.Sprintf("%.0fx", x.JustBash/x.VFSD)
		}
		verdict := "missed"
		if x.Met() {
			verdict = "met"
		}
		fmt.Fprintf(&b, "| %s | %.3f | %.2f | %.1fx | %s | %s | %s |\n", x.Title, x.VFSD, x.Bash, x.Bash/x.VFSD, just, times, verdict)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
