// Package figures gathers what long campaigns counted, so that a report prints
// what ran and nobody types a number.
//
// A campaign appends a line of JSON to the file that VFSD_FIGURES names, when it
// is over and nothing was wrong:
//
//	{"run":"kill -9 under load","passed":true,"counts":[{"what":"kills","n":40}]}
package figures

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Env names the variable that says where figures go. Without it they go nowhere.
const Env = "VFSD_FIGURES"

// Count is one number of a run.
type Count struct {
	What string `json:"what"`
	N    int64  `json:"n"`
}

// Figure is one run.
type Figure struct {
	Run    string  `json:"run"`
	Passed bool    `json:"passed"`
	Counts []Count `json:"counts"`
}

// TB is what Note needs of a *testing.T.
type TB interface {
	Helper()
	Failed() bool
	Errorf(format string, args ...any)
}

// Note writes down what a test counted, and whether it has failed.
func Note(t TB, run string, counts ...Count) {
	t.Helper()
	name := os.Getenv(Env)
	if name == "" {
		return
	}
	if err := add(name, Figure{run, !t.Failed(), counts}); err != nil {
		t.Errorf("figures: %v", err)
	}
}

func add(name string, f Figure) (err error) {
	line, err := json.Marshal(f)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err = out.Write(append(line, '\n')); err != nil {
		_ = out.Close() // the first error counts
		return err
	}
	return out.Close()
}

// Read returns the runs of a file of figures in their order; those of one name
// are one, with its numbers summed, and passed only if all of them did.
func Read(r io.Reader) ([]Figure, error) {
	var all []Figure
	at := map[string]int{}
	s := bufio.NewScanner(r)
	for line := 1; s.Scan(); line++ {
		var f Figure
		if err := json.Unmarshal(s.Bytes(), &f); err != nil || f.Run == "" {
			return nil, fmt.Errorf("line %d is no figure: %v", line, err)
		}
		i, known := at[f.Run]
		if !known {
			at[f.Run] = len(all)
			all = append(all, f)
			continue
		}
		all[i].merge(f)
	}
	return all, s.Err()
}

func (f *Figure) merge(other Figure) {
	f.Passed = f.Passed && other.Passed
next:
	for _, c := range other.Counts {
		for i := range f.Counts {
			if f.Counts[i].What == c.What {
				f.Counts[i].N += c.N
				continue next
			}
		}
		f.Counts = append(f.Counts, c)
	}
}
