package report

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{
		{[]float64{3}, 3},
		{[]float64{3, 1, 2}, 2},
		{[]float64{4, 1, 2, 3}, 2.5},
	} {
		before := append([]float64{}, c.in...)
		if got := Median(c.in); got != c.want {
			t.Errorf("Median(%v) = %g, want %g", c.in, got, c.want)
		}
		for i := range before {
			if c.in[i] != before[i] {
				t.Errorf("Median changed the order of its argument: %v", c.in)
			}
		}
	}
	if !math.IsNaN(Median(nil)) {
		t.Error("Median of nothing is a number")
	}
}

func TestPercentile(t *testing.T) {
	xs := make([]float64, 100)
	for i := range xs {
		xs[99-i] = float64(i + 1)
	}
	for _, c := range []struct{ p, want float64 }{{0, 1}, {1, 1}, {50, 50}, {90, 90}, {99, 99}, {99.5, 100}, {100, 100}} {
		if got := Percentile(xs, c.p); got != c.want {
			t.Errorf("Percentile %g = %g, want %g", c.p, got, c.want)
		}
	}
	if got := Percentile([]float64{7}, 99); got != 7 {
		t.Errorf("of one: %g", got)
	}
	if !math.IsNaN(Percentile(nil, 50)) {
		t.Error("Percentile of nothing is a number")
	}
}

func TestRatio(t *testing.T) {
	r, low, high := Ratio(Summarize([]float64{2, 4, 6}), Summarize([]float64{1, 4, 2}))
	if r != 2 || low != 1 || high != 3 {
		t.Errorf("Ratio = %g (%g to %g), want 2 (1 to 3)", r, low, high)
	}
	if r, _, _ := Ratio(Summarize([]float64{2}), Summary{}); r != 0 {
		t.Errorf("a ratio to nothing is %g", r)
	}
}

func TestFitPower(t *testing.T) {
	var points []Point
	for _, x := range []float64{10, 100, 1000} {
		points = append(points, Point{x, 3 * math.Pow(x, 0.5)})
	}
	f, ok := FitPower(append(points, Point{0, 5}, Point{5, 0})) // not positive: left out
	if !ok || math.Abs(f.Factor-3) > 1e-9 || math.Abs(f.Exponent-0.5) > 1e-9 {
		t.Errorf("FitPower = %+v, %v", f, ok)
	}
	for _, few := range [][]Point{nil, {{1, 1}}, {{2, 1}, {2, 5}}} {
		if _, ok := FitPower(few); ok {
			t.Errorf("a law was found in %v", few)
		}
	}
}

func sample() *Report {
	r := &Report{
		Version: Version, Subject: Target{Filesystem: "fuse.vfsd"}, Baseline: Target{Filesystem: "ext4"},
		Machine: Machine{CPU: "a processor", Cores: 2, Versions: map[string]string{"git": "git version 2"}},
	}
	rows := []Row{
		{Workload: "a", Title: "create", Group: "Small", Client: "tight", Measure: Wall, Limit: 1.2,
			Subject: Summarize([]float64{3, 2, 4}), Baseline: Summarize([]float64{1, 1, 1})},
		{Workload: "b", Title: "copy <&>", Group: "Big", Client: "tools", Measure: Wall, Limit: 0.3,
			Subject: Summarize([]float64{1, 1}), Baseline: Summarize([]float64{40, 50})},
		{Workload: "c", Title: "build", Group: "Big", Client: "tools", Measure: Wall, Skipped: "cc is not there"},
		{Workload: "d", Title: "tar", Group: "Big", Client: "tools", Measure: Wall, Error: "exit status 2"},
	}
	for i := range rows {
		rows[i].Ratio, rows[i].RatioLow, rows[i].RatioTop = Ratio(rows[i].Subject, rows[i].Baseline)
	}
	rows[0].Counters = map[string]float64{"LOOKUP": 1000, "daemon CPU ms": 12.5}
	r.Rows = rows
	return r
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteMarkdown(&b, "ratios.svg"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| Small | fuse.vfsd | ext4 |", "3.00 (2.00-4.00)", "| 3.00 (2.00-4.00) | 1.20 |", "**0.02**",
		"build: cc is not there", "tar: failed: exit status 2", "(ratios.svg)", "git version 2", "LOOKUP 1000",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, b.String())
		}
	}
}

// TestCharts checks that the pictures are well-formed.
func TestCharts(t *testing.T) {
	r := sample()
	svg, err := r.Chart("svg")
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(svg, new(struct {
		XMLName xml.Name `xml:"svg"`
	})); err != nil {
		t.Errorf("the SVG is not well-formed: %v", err)
	}
	raw, err := r.Chart("png")
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("the PNG: %v", err)
	}
	seen := map[any]bool{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			seen[img.At(x, y)] = true
		}
	}
	if !seen[img.ColorModel().Convert(faster)] || !seen[img.ColorModel().Convert(slower)] {
		t.Error("the PNG has no bars")
	}
	if _, err := r.Chart("bmp3"); err == nil {
		t.Error("an unknown format was accepted")
	}
	r.Rows = r.Rows[2:]
	if p, err := r.Chart("svg"); p != nil || err != nil {
		t.Errorf("a report without figures has a chart (%v)", err)
	}
}

func TestReadJSON(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadJSON(bytes.NewReader(b.Bytes())); err != nil {
		t.Error(err)
	}
	newer := strings.Replace(b.String(), `"version": 1`, `"version": 2`, 1)
	if _, err := ReadJSON(strings.NewReader(newer)); err == nil {
		t.Error("a later version was read")
	}
	if _, err := ReadJSON(strings.NewReader(b.String()[:40])); err == nil {
		t.Error("half a report was read")
	}
}

func TestScale(t *testing.T) {
	s := &Scale{Version: Version, Skipped: []string{"a mount: no FUSE here"}}
	open := Curve{Name: "open", Title: "open", Of: "files", Unit: "ms", Limit: 50, LimitAt: 1000}
	for _, n := range []float64{10, 100, 1000} {
		s.Add(open, n, n/10)
		s.Add(Curve{Name: "rate", Title: "rate", Of: "files", Unit: "MiB/s"}, n, n)
		s.Add(Curve{Name: "rss", Title: "resident memory", Of: "files", Unit: "MiB"}, n, 30)
	}
	if v, measured, ok := s.Curves[0].At(1000); v != 100 || !measured || !ok {
		t.Errorf("At(1000) = %g, %v, %v", v, measured, ok)
	}
	if v, measured, ok := s.Curves[0].At(1e6); math.Abs(v-1e5) > 1 || measured || !ok {
		t.Errorf("At(1e6) = %g, %v, %v", v, measured, ok)
	}
	dir := filepath.Join(t.TempDir(), "out")
	if err := SaveScale(dir, s); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "scale.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| open | 1000 files | 100 ms | 50.0 ms |", "10000000 files", "no FUSE here", "scale-files-MiB.svg"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	for _, name := range []string{"scale.json", "scale-files-ms.svg", "scale-files-ms.png", "scale-files-MiB-per-s.png", "scale-files-MiB.png"} {
		if fi, err := os.Stat(filepath.Join(dir, name)); err != nil || fi.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
