package syncbench

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Markdown makes a table of results: a row a step, a column a program, in each
// cell the bytes out and in over the first link, then the seconds over each link.
func Markdown(results []Result) string {
	var names, stepNames []string
	var rtts []time.Duration
	cells := map[string]map[string][]Result{}
	for _, r := range results {
		if !slices.Contains(names, r.Program) {
			names = append(names, r.Program)
		}
		if !slices.Contains(stepNames, r.Step) {
			stepNames = append(stepNames, r.Step)
			cells[r.Step] = map[string][]Result{}
		}
		if !slices.Contains(rtts, r.RTT) {
			rtts = append(rtts, r.RTT)
		}
		cells[r.Step][r.Program] = append(cells[r.Step][r.Program], r)
	}
	var b strings.Builder
	links := make([]string, len(rtts))
	for i, rtt := range rtts {
		links[i] = rtt.String()
	}
	fmt.Fprintf(&b, "Bytes out/in; turns of direction; seconds over links with a round trip of %s. In brackets: seconds before the wire.\n\n", strings.Join(links, ", "))
	fmt.Fprintf(&b, "| step | %s |\n|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for _, step := range stepNames {
		fmt.Fprintf(&b, "| %s |", step)
		for _, name := range names {
			fmt.Fprintf(&b, " %s |", cell(cells[step][name]))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func cell(rs []Result) string {
	if len(rs) == 0 {
		return "-"
	}
	seconds := make([]string, len(rs))
	for i, r := range rs {
		seconds[i] = fmt.Sprintf("%.2f", r.Took.Seconds())
	}
	text := fmt.Sprintf("%s/%s; %d; %s", bytesText(rs[0].Out), bytesText(rs[0].In), rs[0].Turns, strings.Join(seconds, "/"))
	if rs[0].Before > 50*time.Millisecond {
		text += fmt.Sprintf(" (+%.2f)", rs[0].Before.Seconds())
	}
	return text
}

func bytesText(n int64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.0fK", float64(n)/1e3)
	case n >= 1e3:
		return fmt.Sprintf("%.1fK", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}
