package report

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Version is the version of the JSON form. Fields are only ever added to it.
const Version = 1

// Report is a comparison of two directories.
type Report struct {
	Version  int       `json:"version"`
	Started  time.Time `json:"started"` // UTC
	Seconds  float64   `json:"seconds"` // that it took
	Machine  Machine   `json:"machine"`
	Subject  Target    `json:"subject"`
	Baseline Target    `json:"baseline"`
	Settings Settings  `json:"settings"`
	Rows     []Row     `json:"rows"`
}

// Target is a directory, by what filesystem it is on.
type Target struct {
	Filesystem string `json:"filesystem"`        // the type, as in mount(8): "ext4", "fuse.vfsd"
	Options    string `json:"options,omitempty"` // of the mount, those that name no path
}

// Settings say how a report was made.
type Settings struct {
	Runs   int    `json:"runs"`
	Warmup int    `json:"warmup"` // runs before, not counted
	Seed   uint64 `json:"seed"`
	// Dropped is whether the kernel's caches could be dropped, which cold rows
	// need.
	Dropped bool `json:"dropped"`
	// SettleSeconds bounds how long a run waits for the machine to be idle.
	SettleSeconds float64 `json:"settle_seconds"`
	// Hook is whether a command of the user's ran before each cold run.
	Hook bool `json:"hook"`
	// ProbeMicros is how long it took to make a small file in the baseline
	// before the first run. ext4 needs some 25 us; several hundred say that it
	// steps over recently deleted inodes, and that its creates are not to be
	// compared with.
	ProbeMicros float64 `json:"probe_us"`
	// Pieces is how many runs of the program the report was put together from;
	// then ProbeMicros and the machine's load are the worst of theirs.
	Pieces int `json:"pieces,omitempty"`
	// Sizes are the amounts of work by name: files, bytes, operations.
	Sizes map[string]int64 `json:"sizes"`
}

// Measures of a row.
const (
	Wall = "wall" // the whole run
	P50  = "p50"  // of one operation
	P90  = "p90"
	P99  = "p99"
	Max  = "max"
)

// Row is one measure of one workload. Times are milliseconds.
type Row struct {
	Workload string `json:"workload"`
	Title    string `json:"title"`
	Group    string `json:"group"`
	Client   string `json:"client"`  // "tight": plain system calls; "tools": what people run
	Measure  string `json:"measure"` // Wall, P50, ...
	Cold     bool   `json:"cold"`
	// Against says what the baseline is when it is not the report's.
	Against string `json:"against,omitempty"`

	Subject  Summary `json:"subject"`
	Baseline Summary `json:"baseline"`
	Ratio    float64 `json:"ratio"`
	RatioLow float64 `json:"ratio_low"` // of runs made in turn
	RatioTop float64 `json:"ratio_top"`
	Limit    float64 `json:"limit,omitempty"` // the ratio to reach; 0: none is set

	// SubjectAfter and BaselineAfter are the CPU milliseconds that the whole
	// machine spent from the end of a run until it was idle: work that was put
	// off, and that the time of the row does not show. Medians.
	SubjectAfter  float64 `json:"subject_after"`
	BaselineAfter float64 `json:"baseline_after"`

	// Counters are what Options.Counters counted in a run of the subject,
	// means over the runs.
	Counters map[string]float64 `json:"counters,omitempty"`

	Skipped string `json:"skipped,omitempty"` // why there are no figures
	Error   string `json:"error,omitempty"`   // what failed
}

// Failed returns the rows that ended in an error.
func (r *Report) Failed() []Row {
	var out []Row
	for _, row := range r.Rows {
		if row.Error != "" {
			out = append(out, row)
		}
	}
	return out
}

// Met reports whether the row has figures and a limit that they keep.
func (r *Row) Met() bool { return r.Limit > 0 && r.Ratio > 0 && r.Ratio <= r.Limit }

// WriteJSON writes the report, indented, with a newline at its end.
func (r *Report) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// ReadJSON reads what WriteJSON wrote.
func ReadJSON(r io.Reader) (*Report, error) {
	var out Report
	d := json.NewDecoder(r)
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("bench report: %w", err)
	}
	if out.Version != Version {
		return nil, fmt.Errorf("bench report: version %d, this program reads %d", out.Version, Version)
	}
	return &out, nil
}

// ReadScaleJSON reads what Scale.WriteJSON wrote.
func ReadScaleJSON(r io.Reader) (*Scale, error) {
	var out Scale
	if err := json.NewDecoder(r).Decode(&out); err != nil {
		return nil, fmt.Errorf("bench report: %w", err)
	}
	if out.Version != Version {
		return nil, fmt.Errorf("bench report: version %d, this program reads %d", out.Version, Version)
	}
	return &out, nil
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
