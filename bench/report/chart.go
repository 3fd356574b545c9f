package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Colours that are told apart in print and by colour-blind eyes.
var (
	faster = color.RGBA{R: 0x1b, G: 0x7a, B: 0x5a, A: 0xff}
	slower = color.RGBA{R: 0xc4, G: 0x5a, B: 0x1c, A: 0xff}
	ink    = color.RGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xff}
	faint  = color.RGBA{R: 0xd8, G: 0xd8, B: 0xd8, A: 0xff}
)

// Formats are the formats that charts are drawn in; each is the extension of
// its file too.
var Formats = []string{"svg", "png"}

// Chart draws the ratios as bars from 1 on a logarithmic axis, with their
// spread and the ratio to reach, in one of Formats. A report without figures
// has no chart: the picture is nil.
func (r *Report) Chart(format string) ([]byte, error) {
	rows := slices.DeleteFunc(slices.Clone(r.Rows), func(row Row) bool { return row.Ratio <= 0 })
	if len(rows) == 0 {
		return nil, nil
	}
	slices.Reverse(rows) // the axis goes up, a table down
	names := make([]string, len(rows))
	for i := range rows {
		names[i] = rows[i].label()
	}
	p := plot.New()
	p.Title.Padding = 10
	p.Title.Text = fmt.Sprintf("%s: time against %s (1 is equal, less is faster)", r.Subject.Filesystem, r.Baseline.Filesystem)
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, ratioTicks{}
	p.X.Label.Text = "ratio of medians; whiskers: runs made in turn; mark: to reach"
	p.Add(bars(rows))
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.7, float64(len(rows))-0.3
	p.Y.Tick.Label.Font.Variant, p.X.Tick.Label.Font.Variant = "Sans", "Sans"
	p.Title.TextStyle.Font.Variant, p.X.Label.TextStyle.Font.Variant = "Sans", "Sans"
	height := vg.Length(len(rows))*15 + 90
	return render(p, 900, height, format)
}

func render(p *plot.Plot, width, height vg.Length, format string) ([]byte, error) {
	w, err := p.WriterTo(width, height, format)
	if err != nil {
		return nil, fmt.Errorf("chart as %s: %w", format, err)
	}
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("chart as %s: %w", format, err)
	}
	return b.Bytes(), nil
}

// bars draws one bar a row. It is a plotter of its own because the library's
// bars begin at 0, which a logarithmic axis does not have.
type bars []Row

// DataRange implements plot.DataRanger. The axis reaches at least from a half
// to two.
func (b bars) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax = 0.5, 2
	for i := range b {
		xmin = min(xmin, b[i].RatioLow, positive(b[i].Limit))
		xmax = max(xmax, b[i].RatioTop, b[i].Limit)
	}
	return xmin / 1.1, xmax * 1.1, 0, float64(len(b) - 1)
}

// positive keeps a limit that is not set out of a minimum.
func positive(limit float64) float64 {
	if limit <= 0 {
		return 1
	}
	return limit
}

// Plot implements plot.Plotter.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const half = vg.Length(4.5)
	thin := draw.LineStyle{Color: ink, Width: vg.Points(0.8)}
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		c.StrokeLine2(draw.LineStyle{Color: faint, Width: vg.Points(0.5)}, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
	}
	for i := range b {
		at, one, end := y(float64(i)), x(1), x(b[i].Ratio)
		col := faster
		if b[i].Ratio > 1 {
			col = slower
		}
		c.FillPolygon(col, []vg.Point{{X: one, Y: at - half}, {X: end, Y: at - half}, {X: end, Y: at + half}, {X: one, Y: at + half}})
		c.StrokeLine2(thin, x(b[i].RatioLow), at, x(b[i].RatioTop), at)
		if b[i].Limit > 0 {
			l := x(b[i].Limit)
			c.StrokeLine2(draw.LineStyle{Color: ink, Width: vg.Points(2)}, l, at-half-1, l, at+half+1)
		}
	}
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: vg.Points(1)}, x(1), c.Min.Y, x(1), c.Max.Y)
}

// ratioTicks marks 1, 2 and 5 of every power of ten.
type ratioTicks struct{}

// Ticks implements plot.Ticker.
func (ratioTicks) Ticks(low, high float64) []plot.Tick {
	var out []plot.Tick
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= low && v <= high {
				out = append(out, plot.Tick{Value: v, Label: fmt.Sprintf("%g", v)})
			}
		}
	}
	return out
}

// curveColours follow one another for the lines of a chart.
var curveColours = []color.Color{
	faster, slower,
	color.RGBA{R: 0x2b, G: 0x55, B: 0xa8, A: 0xff}, color.RGBA{R: 0x8a, G: 0x3f, B: 0x86, A: 0xff},
	color.RGBA{R: 0x77, G: 0x77, B: 0x22, A: 0xff}, ink,
	color.RGBA{R: 0x5f, G: 0xb3, B: 0xd9, A: 0xff}, color.RGBA{R: 0xe0, G: 0x8a, B: 0xb0, A: 0xff},
	color.RGBA{R: 0xd9, G: 0xa4, B: 0x1f, A: 0xff}, color.RGBA{R: 0x99, G: 0x99, B: 0x99, A: 0xff},
}

// The size of a chart of curves, and the height of a line of its legend.
const (
	curveWidth, curveHeight = 720, 480
	legendLine              = 15
)

// Chart draws the curves of one pair of axes, both logarithmic, in one of
// Formats. Curves of fewer than two points are left out; of none, the picture is
// nil.
func (s *Scale) Chart(a Axes, format string) ([]byte, error) {
	p := plot.New()
	p.Title.Text, p.Title.Padding = a.Unit+" over "+a.Of, 10
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.X.Label.Text, p.Y.Label.Text = a.Of, a.Unit
	for _, f := range []*font.Font{&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font,
		&p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font} {
		f.Variant = "Sans"
	}
	p.Legend.Top, p.Legend.Left = true, true
	n := 0
	for _, c := range s.Curves {
		xys := positivePoints(c.Points)
		if (Axes{c.Of, c.Unit}) != a || len(xys) < 2 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(xys)
		if err != nil {
			return nil, fmt.Errorf("chart of %s: %w", c.Name, err)
		}
		col := curveColours[n%len(curveColours)]
		line.Color, dots.Color, dots.Shape = col, col, draw.CircleGlyph{}
		p.Add(line, dots)
		p.Legend.Add(c.Title, line, dots)
		n++
	}
	if n == 0 {
		return nil, nil
	}
	// Room for the legend above the curves.
	if part := float64(n*legendLine) / curveHeight; p.Y.Min > 0 && part < 1 {
		p.Y.Max *= math.Pow(max(p.Y.Max/p.Y.Min, 10), part/(1-part))
	}
	return render(p, curveWidth, curveHeight, format)
}

func positivePoints(points []Point) plotter.XYs {
	var out plotter.XYs
	for _, p := range points {
		if p.X > 0 && p.Y > 0 {
			out = append(out, plotter.XY{X: p.X, Y: p.Y})
		}
	}
	return out
}
