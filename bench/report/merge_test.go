package report

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// aPiece is a report with a row a workload.
func aPiece(started int64, load float64, workloads ...string) *Report {
	r := &Report{
		Version: Version, Started: time.Unix(started, 0).UTC(), Seconds: 2,
		Machine: Machine{CPU: "c", Load: load, Versions: map[string]string{"vfsd": "1"}},
		Subject: Target{Filesystem: "fuse"}, Baseline: Target{Filesystem: "ext4"},
		Settings: Settings{Runs: 1, ProbeMicros: load * 10, Sizes: map[string]int64{"files": 1}},
	}
	for _, w := range workloads {
		one := Summarize([]float64{load})
		r.Rows = append(r.Rows, Row{Workload: w, Title: w, Group: "g", Measure: Wall, Subject: one, Baseline: one, Ratio: 1, RatioLow: 1, RatioTop: 1})
	}
	return r
}

func TestMerge(t *testing.T) {
	m, err := Merge([]string{"a", "b", "c"}, aPiece(20, 2, "c", "b"), aPiece(10, 1, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for _, row := range m.Rows {
		got += row.Workload
	}
	if got != "abc" || m.Rows[1].Subject.Median != 1 {
		t.Errorf("rows %s, b of %g; want abc, b of the last piece", got, m.Rows[1].Subject.Median)
	}
	if m.Started.Unix() != 10 || m.Seconds != 4 || m.Machine.Load != 2 || m.Settings.ProbeMicros != 20 || m.Settings.Pieces != 2 {
		t.Errorf("the whole is %+v", m)
	}
}

func TestMergeRefuses(t *testing.T) {
	order := []string{"a"}
	for what, change := range map[string]func(*Report){
		"machine":  func(r *Report) { r.Machine.CPU = "d" },
		"version":  func(r *Report) { r.Machine.Versions = map[string]string{"vfsd": "2"} },
		"subject":  func(r *Report) { r.Subject.Options = "ro" },
		"baseline": func(r *Report) { r.Baseline.Filesystem = "xfs" },
		"runs":     func(r *Report) { r.Settings.Runs = 9 },
		"seed":     func(r *Report) { r.Settings.Seed = 9 },
		"caches":   func(r *Report) { r.Settings.Dropped = true },
		"sizes":    func(r *Report) { r.Settings.Sizes = map[string]int64{"files": 2} },
	} {
		other := aPiece(1, 1, "a")
		change(other)
		if _, err := Merge(order, aPiece(1, 1, "a"), other); !errors.Is(err, ErrDiffer) {
			t.Errorf("another %s: %v, want %v", what, err, ErrDiffer)
		}
	}
	if _, err := Merge(order, aPiece(1, 1, "z")); err == nil {
		t.Error("an unknown workload was accepted")
	}
	if _, err := Merge(order); err == nil {
		t.Error("nothing at all was accepted")
	}
}

func TestMergeScale(t *testing.T) {
	piece := func(cpu string, x, y float64) *Scale {
		s := &Scale{Version: Version, Machine: Machine{CPU: cpu}, Seconds: 1}
		s.Add(Curve{Name: "open", Title: "open", Of: "files", Unit: "ms"}, x, y)
		return s
	}
	m, err := MergeScale(piece("c", 100, 1), piece("c", 10, 2), piece("c", 100, 3))
	if err != nil {
		t.Fatal(err)
	}
	if p := m.Curves[0].Points; len(m.Curves) != 1 || len(p) != 2 || p[0] != (Point{10, 2}) || p[1] != (Point{100, 3}) || m.Seconds != 3 {
		t.Errorf("the whole is %+v", m)
	}
	if _, err := MergeScale(piece("c", 1, 1), piece("d", 2, 2)); !errors.Is(err, ErrDiffer) {
		t.Errorf("another machine: %v, want %v", err, ErrDiffer)
	}
	if _, err := MergeScale(); err == nil {
		t.Error("nothing at all was accepted")
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Load(dir); err == nil {
		t.Error("an empty directory was accepted")
	}
	if err := Save(dir, aPiece(1, 1, "a")); err != nil {
		t.Fatal(err)
	}
	if r, s, err := Load(dir); err != nil || r == nil || s != nil || len(r.Rows) != 1 {
		t.Errorf("Load: %v, %v, %v", r, s, err)
	}
	if err := SaveScale(dir, &Scale{Version: Version}); err != nil {
		t.Fatal(err)
	}
	if r, s, err := Load(dir); err != nil || r == nil || s == nil {
		t.Errorf("Load: %v, %v, %v", r, s, err)
	}
	for _, bad := range []string{"{", `{"version":99}`} {
		if err := os.WriteFile(filepath.Join(dir, "scale.json"), []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Load(dir); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}
