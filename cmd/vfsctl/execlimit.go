package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/vfsd/vfsd/internal/control"
)

// limits are those of an execution, by name.
var limits = []struct {
	name  string
	what  string
	field func(*control.ExecLimits) *int64
}{
	{"time", "how long it may run", func(l *control.ExecLimits) *int64 { return &l.Time }},
	{"steps", "commands, turns of loops, expansions", func(l *control.ExecLimits) *int64 { return &l.Steps }},
	{"depth", "how deeply functions and subshells nest", func(l *control.ExecLimits) *int64 { return &l.Depth }},
	{"output", "bytes of output", func(l *control.ExecLimits) *int64 { return &l.Output }},
	{"memory", "bytes of variables and buffers", func(l *control.ExecLimits) *int64 { return &l.Memory }},
	{"open-files", "files open at one time", func(l *control.ExecLimits) *int64 { return &l.OpenFiles }},
	{"file-size", "bytes of any file that it writes", func(l *control.ExecLimits) *int64 { return &l.FileSize }},
	{"processes", "commands that run at one time", func(l *control.ExecLimits) *int64 { return &l.Processes }},
}

func limitNames() []string {
	var names []string
	for _, l := range limits {
		names = append(names, l.name)
	}
	return names
}

func limitCompletions() []string {
	var all []string
	for _, l := range limits {
		all = append(all, l.name+"=\t"+l.what)
	}
	return all
}

// setLimit takes NAME=VALUE.
func setLimit(to *control.ExecLimits, text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("--limit %s: it takes NAME=VALUE", control.Word(text))
	}
	for _, l := range limits {
		if l.name != name {
			continue
		}
		n, err := limitValue(name, value)
		if err != nil {
			return fmt.Errorf("--limit %s: %w", control.Word(text), err)
		}
		*l.field(to) = n
		return nil
	}
	return fmt.Errorf("--limit: no limit %s; there are %s", control.Word(name), strings.Join(limitNames(), ", "))
}

// limitValue reads a time, or a number with a suffix of powers of 1024.
func limitValue(name, value string) (int64, error) {
	if value == "-1" {
		return -1, nil
	}
	if name == "time" {
		if d, err := time.ParseDuration(value); err == nil && d > 0 {
			return int64(d), nil
		}
		return 0, fmt.Errorf("it takes a time, as 10s or 2m, or -1")
	}
	bad := fmt.Errorf("it takes a number above 0, with K, M or G if need be, or -1")
	shift := 0
	if i := strings.IndexByte("KMG", (value + " ")[max(len(value)-1, 0)]); i >= 0 {
		shift = 10 * (i + 1)
		value = value[:len(value)-1]
	}
	f, err := strconv.ParseFloat(value, 64)
	f *= float64(int64(1) << shift)
	if err != nil || !(f >= 1) || f > 1<<62 {
		return 0, bad
	}
	return int64(f), nil
}

// printJSONLine writes v on one line.
func printJSONLine(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
