package report

import (
	"math"
	"slices"
)

// Summary describes the samples of one measure in one directory.
type Summary struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	// Samples are the runs in their order, warm-up left out.
	Samples []float64 `json:"samples"`
}

// Summarize describes samples, which it copies. Of none, all is zero.
func Summarize(samples []float64) Summary {
	if len(samples) == 0 {
		return Summary{}
	}
	return Summary{
		Median:  Median(samples),
		Min:     slices.Min(samples),
		Max:     slices.Max(samples),
		Samples: slices.Clone(samples),
	}
}

// Median returns the middle of xs, or the mean of the two middle ones; NaN of
// none. xs keeps its order.
func Median(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(xs))
	m := len(s) / 2
	if len(s)%2 == 1 {
		return s[m]
	}
	return (s[m-1] + s[m]) / 2
}

// Percentile returns the smallest of xs that at least p percent of them do not
// exceed (nearest rank), so it is always a value that was measured; NaN of
// none. xs keeps its order.
func Percentile(xs []float64, p float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(xs))
	rank := int(math.Ceil(p / 100 * float64(len(s))))
	return s[min(max(rank, 1), len(s))-1]
}

// Ratio compares two summaries: the quotient of the medians, and the least and
// the greatest quotient of runs that were made in turn, which says how far the
// quotient is to be trusted. A baseline of nothing gives zeroes.
func Ratio(subject, baseline Summary) (ratio, low, high float64) {
	if baseline.Median <= 0 || subject.Median <= 0 {
		return 0, 0, 0
	}
	ratio = subject.Median / baseline.Median
	low, high = ratio, ratio
	for i := range min(len(subject.Samples), len(baseline.Samples)) {
		if baseline.Samples[i] <= 0 {
			continue
		}
		q := subject.Samples[i] / baseline.Samples[i]
		low, high = min(low, q), max(high, q)
	}
	return ratio, low, high
}

// Fit is a power law through points: y = Factor * x^Exponent.
type Fit struct {
	Factor   float64 `json:"factor"`
	Exponent float64 `json:"exponent"`
}

// FitPower finds the power law nearest to the points, by least squares of the
// logarithms. It needs two points with distinct x; all must be positive, others
// are left out.
func FitPower(points []Point) (Fit, bool) {
	var n, sx, sy, sxx, sxy float64
	for _, p := range points {
		if p.X <= 0 || p.Y <= 0 {
			continue
		}
		x, y := math.Log(p.X), math.Log(p.Y)
		n++
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	det := n*sxx - sx*sx
	if n < 2 || det < 1e-9 {
		return Fit{}, false
	}
	e := (n*sxy - sx*sy) / det
	return Fit{Factor: math.Exp((sy - e*sx) / n), Exponent: e}, true
}

// At returns the value at x.
func (f Fit) At(x float64) float64 { return f.Factor * math.Pow(x, f.Exponent) }
