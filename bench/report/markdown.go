package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// WriteMarkdown writes the report as a page: the machine, the table, and what
// was left out. chart is the path of a picture to show, relative to the page;
// "" is none.
func (r *Report) WriteMarkdown(w io.Writer, chart string) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# Benchmark: %s against %s\n\n", r.Subject.Filesystem, r.Baseline.Filesystem)
	writeMachine(b, r.Machine, r.Started.Format("2006-01-02"))
	r.writeSettings(b)
	if chart != "" {
		fmt.Fprintf(b, "![The ratios as bars](%s)\n\n", chart)
	}
	r.WriteTable(b)
	r.writeCounters(b)
	r.writeLeftOut(b)
	return b.Flush()
}

func writeMachine(b *bufio.Writer, m Machine, date string) {
	kind := "machine"
	if m.Virtual {
		kind = "virtual machine"
	}
	fmt.Fprintf(b, "%s. A %s: %s, %d cores, %d MiB; %s, %s. Load before the first run: %.2f.\n\n",
		date, kind, m.CPU, m.Cores, m.MemoryMB, m.System, m.Kernel, m.Load)
	if len(m.Versions) == 0 {
		return
	}
	var vs []string
	for _, k := range slices.Sorted(maps.Keys(m.Versions)) {
		vs = append(vs, k+": "+m.Versions[k])
	}
	fmt.Fprintf(b, "Versions: %s.\n\n", strings.Join(vs, "; "))
}

func (r *Report) writeSettings(b *bufio.Writer) {
	fmt.Fprintf(b, "Subject: %s (%s). Baseline: %s (%s).\n\n",
		r.Subject.Filesystem, r.Subject.Options, r.Baseline.Filesystem, r.Baseline.Options)
	s := r.Settings
	fmt.Fprintf(b, "%d runs after %d of warm-up, in turn in the two directories, each after the machine was idle (waiting at most %.0f s); seed %d. ",
		s.Runs, s.Warmup, s.SettleSeconds, s.Seed)
	if s.Dropped {
		fmt.Fprint(b, "Before each cold run the kernel's caches were dropped (drop_caches, as root); what the daemon itself keeps in memory was not. ")
	} else {
		fmt.Fprint(b, "The kernel's caches were not dropped: no row is cold. ")
	}
	fmt.Fprintf(b, "A file was made in the baseline in %.0f us before the first run (several hundred say that ext4 was stepping over "+
		"recently deleted inodes). ", s.ProbeMicros)
	if s.Pieces > 1 {
		fmt.Fprintf(b, "It was made in %d pieces; that probe and the load are the worst of theirs. ", s.Pieces)
	}
	if s.Hook {
		fmt.Fprint(b, "A command ran before each cold run of the subject. ")
	}
	fmt.Fprint(b, "Times are milliseconds, medians with the least and the greatest; the ratio is that of the medians, its spread that of runs made in turn. "+
		"\"After\" is the CPU time that the machine spent between a run and idleness: work put off.\n\n")
}

// WriteTable writes the rows that have figures, a table a group.
func (r *Report) WriteTable(w io.Writer) {
	group := ""
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Skipped != "" || row.Error != "" {
			continue
		}
		if row.Group != group {
			if group != "" {
				fmt.Fprintln(w)
			}
			group = row.Group
			fmt.Fprintf(w, "| %s | %s | %s | ratio | to reach | after |\n|---|---:|---:|---:|---:|---:|\n",
				group, r.Subject.Filesystem, r.Baseline.Filesystem)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %.0f / %.0f |\n", row.label(), row.Subject, row.Baseline,
			row.ratio(), row.limit(), row.SubjectAfter, row.BaselineAfter)
	}
	if group != "" {
		fmt.Fprintln(w)
	}
}

// label names the row: its title, its measure and its client.
func (r *Row) label() string {
	s := r.Title
	if r.Measure != Wall {
		s += ", " + r.Measure
	}
	if r.Against != "" {
		s += " (against " + r.Against + ")"
	}
	return s + " · " + r.Client
}

// String shows the median and, in brackets, the least and the greatest.
func (s Summary) String() string {
	if len(s.Samples) < 2 {
		return number(s.Median)
	}
	return fmt.Sprintf("%s (%s-%s)", number(s.Median), number(s.Min), number(s.Max))
}

// number shows three digits, as far as they say something.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

func (r *Row) ratio() string {
	if r.Ratio == 0 {
		return "-"
	}
	s := fmt.Sprintf("%.2f", r.Ratio)
	if r.Met() {
		s = "**" + s + "**"
	}
	if len(r.Subject.Samples) < 2 {
		return s
	}
	return fmt.Sprintf("%s (%.2f-%.2f)", s, r.RatioLow, r.RatioTop)
}

func (r *Row) limit() string {
	if r.Limit == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", r.Limit)
}

// countersShown is how many counts of a row the page has; the JSON form has all.
const countersShown = 8

// writeCounters shows what was counted in a run of the subject, the largest
// counts first.
func (r *Report) writeCounters(b *bufio.Writer) {
	head := "| counted in a run of the subject | |\n|---|---|\n"
	for i := range r.Rows {
		c := r.Rows[i].Counters
		if len(c) == 0 {
			continue
		}
		keys := slices.SortedFunc(maps.Keys(c), func(x, y string) int {
			return cmp.Or(cmp.Compare(c[y], c[x]), strings.Compare(x, y))
		})
		var parts []string
		for _, k := range keys[:min(countersShown, len(keys))] {
			parts = append(parts, fmt.Sprintf("%s %s", k, countOf(c[k])))
		}
		fmt.Fprintf(b, "%s| %s | %s |\n", head, r.Rows[i].label(), strings.Join(parts, ", "))
		head = ""
	}
	if head == "" {
		fmt.Fprintln(b)
	}
}

// countOf shows a mean of counts: whole unless it is small.
func countOf(v float64) string {
	if v < 10 && v != math.Trunc(v) {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// writeLeftOut lists what has no figures, and why.
func (r *Report) writeLeftOut(b *bufio.Writer) {
	head := "Left out:\n\n"
	for i := range r.Rows {
		row := &r.Rows[i]
		why := row.Skipped
		if row.Error != "" {
			why = "failed: " + row.Error
		}
		if why == "" {
			continue
		}
		fmt.Fprintf(b, "%s- %s: %s\n", head, row.Title, why)
		head = ""
	}
}
