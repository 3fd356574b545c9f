package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// ErrDiffer says that reports cannot be put together: they were not made on the
// same machine, of the same versions, with the same settings.
var ErrDiffer = errors.New("the reports were made differently")

// Merge puts reports together that are pieces of one comparison, made one after
// another so that no piece needs the machine for long. Of a workload that is in
// several, the last counts. The rows come in the order of the workloads given.
func Merge(order []string, pieces ...*Report) (*Report, error) {
	if len(pieces) == 0 {
		return nil, errors.New("merge: no reports")
	}
	first := pieces[0]
	out := *first
	out.Rows, out.Seconds, out.Settings.Pieces = nil, 0, len(pieces)
	rows := map[string][]Row{}
	for _, p := range pieces {
		if err := first.differs(p); err != nil {
			return nil, err
		}
		out.Seconds += p.Seconds
		if p.Started.Before(out.Started) {
			out.Started = p.Started
		}
		// The worst of all pieces is what the reader should know.
		out.Machine.Load = max(out.Machine.Load, p.Machine.Load)
		out.Settings.ProbeMicros = max(out.Settings.ProbeMicros, p.Settings.ProbeMicros)
		for name, own := range p.byWorkload() {
			rows[name] = own
		}
	}
	for _, name := range order {
		out.Rows = append(out.Rows, rows[name]...)
		delete(rows, name)
	}
	if len(rows) > 0 {
		return nil, fmt.Errorf("merge: workloads that are not known: %v", slices.Sorted(maps.Keys(rows)))
	}
	return &out, nil
}

func (r *Report) byWorkload() map[string][]Row {
	out := map[string][]Row{}
	for _, row := range r.Rows {
		out[row.Workload] = append(out[row.Workload], row)
	}
	return out
}

// differs tells in what another piece was made otherwise.
func (r *Report) differs(p *Report) error {
	a, b := r.Settings, p.Settings
	switch {
	case !r.Machine.same(p.Machine):
		return fmt.Errorf("merge: %w: on another machine, or of other versions", ErrDiffer)
	case r.Subject != p.Subject || r.Baseline != p.Baseline:
		return fmt.Errorf("merge: %w: in other directories", ErrDiffer)
	case !maps.Equal(a.Sizes, b.Sizes) || a.Runs != b.Runs || a.Warmup != b.Warmup || a.Seed != b.Seed || a.Dropped != b.Dropped ||
		a.SettleSeconds != b.SettleSeconds || a.Hook != b.Hook:
		return fmt.Errorf("merge: %w: with other settings", ErrDiffer)
	}
	return nil
}

// same compares all but the load.
func (m Machine) same(n Machine) bool {
	return m.CPU == n.CPU && m.Cores == n.Cores && m.MemoryMB == n.MemoryMB && m.Virtual == n.Virtual &&
		m.System == n.System && m.Kernel == n.Kernel && maps.Equal(m.Versions, n.Versions)
}

// MergeScale puts reports on growth together. Of a figure at one size that is in
// several, the last counts.
func MergeScale(pieces ...*Scale) (*Scale, error) {
	if len(pieces) == 0 {
		return nil, errors.New("merge: no reports")
	}
	out := *pieces[0]
	out.Curves, out.Skipped, out.Seconds = nil, nil, 0
	for _, p := range pieces {
		if !out.Machine.same(p.Machine) {
			return nil, fmt.Errorf("merge: %w: on another machine, or of other versions", ErrDiffer)
		}
		out.Seconds += p.Seconds
		if p.Started.Before(out.Started) {
			out.Started = p.Started
		}
		out.Machine.Load = max(out.Machine.Load, p.Machine.Load)
		out.Skipped = append(out.Skipped, p.Skipped...)
		for _, c := range p.Curves {
			out.take(c)
		}
	}
	return &out, nil
}

// take adds a piece's curve.
func (s *Scale) take(c Curve) {
	i := slices.IndexFunc(s.Curves, func(have Curve) bool { return have.Name == c.Name })
	if i < 0 {
		c.Points = slices.Clone(c.Points)
		s.Curves = append(s.Curves, c)
		return
	}
	own := &s.Curves[i]
	for _, p := range c.Points {
		if at := slices.IndexFunc(own.Points, func(have Point) bool { return have.X == p.X }); at >= 0 {
			own.Points[at] = p
			continue
		}
		own.Points = append(own.Points, p)
	}
	slices.SortFunc(own.Points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
}

// Load reads the report that Save wrote into a directory, and the one that
// SaveScale wrote. One that is not there is nil; at least one must be.
func Load(dir string) (*Report, *Scale, error) {
	var r *Report
	var s *Scale
	for name, read := range map[string]func(*os.File) error{
		"report.json": func(f *os.File) (err error) { r, err = ReadJSON(f); return err },
		"scale.json":  func(f *os.File) (err error) { s, err = ReadScaleJSON(f); return err },
	} {
		f, err := os.Open(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("load report: %w", err)
		}
		if err := errors.Join(read(f), f.Close()); err != nil {
			return nil, nil, fmt.Errorf("load report: %s: %w", name, err)
		}
	}
	if r == nil && s == nil {
		return nil, nil, fmt.Errorf("load report: there is neither report.json nor scale.json in %s", dir)
	}
	return r, s, nil
}
