package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Scale is how figures grow with what a workspace holds.
type Scale struct {
	Version int       `json:"version"`
	Started time.Time `json:"started"` // UTC
	Seconds float64   `json:"seconds"`
	Machine Machine   `json:"machine"`
	Curves  []Curve   `json:"curves"`
	// Skipped says what was not measured, and why.
	Skipped []string `json:"skipped,omitempty"`
}

// Point is one figure at one size.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Curve is one figure over sizes, in the order in which they were measured.
type Curve struct {
	Name   string  `json:"name"`
	Title  string  `json:"title"`
	Of     string  `json:"of"`   // what the sizes count: "files", "seconds"
	Unit   string  `json:"unit"` // of the figure: "ms", "MiB", "ratio"
	Points []Point `json:"points"`
	// Limit is what the figure must not exceed at LimitAt; 0: none is set.
	Limit   float64 `json:"limit,omitempty"`
	LimitAt float64 `json:"limit_at,omitempty"`
}

// Add appends a figure to the curve named c.Name, which it begins as c when it
// is not there.
func (s *Scale) Add(c Curve, at, value float64) {
	i := slices.IndexFunc(s.Curves, func(have Curve) bool { return have.Name == c.Name })
	if i < 0 {
		i = len(s.Curves)
		s.Curves = append(s.Curves, c)
	}
	s.Curves[i].Points = append(s.Curves[i].Points, Point{at, value})
}

// At returns the figure that was measured at x, or else what the curve's power
// law says there.
func (c *Curve) At(x float64) (value float64, measured, ok bool) {
	for _, p := range c.Points {
		if p.X == x {
			return p.Y, true, true
		}
	}
	f, ok := FitPower(c.Points)
	return f.At(x), false, ok
}

// Axes are what a chart is drawn over: curves with the same pair share one.
type Axes struct{ Of, Unit string }

// file is the name of the chart's file, without its extension.
func (a Axes) file() string {
	return "scale-" + a.Of + "-" + strings.ReplaceAll(a.Unit, "/", "-per-")
}

// Axes returns the axes of the curves, each once, in their order.
func (s *Scale) Axes() []Axes {
	var out []Axes
	for _, c := range s.Curves {
		if a := (Axes{c.Of, c.Unit}); !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// WriteJSON writes the report, indented, with a newline at its end.
func (s *Scale) WriteJSON(w io.Writer) error { return writeJSON(w, s) }

// WriteMarkdown writes the report as a page. charts are the paths of pictures
// to show, relative to the page.
func (s *Scale) WriteMarkdown(w io.Writer, charts []string) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "# Benchmark: growth\n\n")
	writeMachine(b, s.Machine, s.Started.Format("2006-01-02"))
	for _, c := range charts {
		fmt.Fprintf(b, "![Growth](%s)\n\n", c)
	}
	s.WriteTable(b)
	for i, why := range s.Skipped {
		if i == 0 {
			fmt.Fprint(b, "\nLeft out:\n\n")
		}
		fmt.Fprintf(b, "- %s\n", why)
	}
	return b.Flush()
}

// Extrapolated is the size beyond the measured ones that the table shows, by
// the power law through at least enoughPoints.
const (
	Extrapolated = 10_000_000
	enoughPoints = 3
)

// WriteTable writes one line a figure and size.
func (s *Scale) WriteTable(w io.Writer) {
	fmt.Fprint(w, "| figure | size | value | to reach |\n|---|---:|---:|---:|\n")
	for i := range s.Curves {
		c := &s.Curves[i]
		for _, p := range c.Points {
			limit := ""
			if c.Limit > 0 && p.X == c.LimitAt {
				limit = number(c.Limit) + " " + c.Unit
			}
			fmt.Fprintf(w, "| %s | %.0f %s | %s %s | %s |\n", c.Title, p.X, c.Of, number(p.Y), c.Unit, limit)
		}
		if c.Of != "files" || len(c.Points) < enoughPoints {
			continue
		}
		if f, ok := FitPower(c.Points); ok {
			fmt.Fprintf(w, "| %s, by extrapolation (size^%.2f) | %d %s | %s %s | |\n",
				c.Title, f.Exponent, Extrapolated, c.Of, number(f.At(Extrapolated)), c.Unit)
		}
	}
}
