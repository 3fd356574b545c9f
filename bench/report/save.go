package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// Save writes a report into a directory, which is made: report.md, report.json,
// and the chart in each of Formats as ratios.FORMAT.
func Save(dir string, r *Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("save report: %w", err)
	}
	chart := ""
	for _, f := range Formats {
		p, err := r.Chart(f)
		if err != nil {
			return fmt.Errorf("save report: %w", err)
		}
		if p == nil {
			continue
		}
		name := "ratios." + f
		if chart == "" {
			chart = name
		}
		if err := writeFile(dir, name, p); err != nil {
			return err
		}
	}
	var md, js bytes.Buffer
	if err := r.WriteMarkdown(&md, chart); err != nil {
		return fmt.Errorf("save report: %w", err)
	}
	if err := r.WriteJSON(&js); err != nil {
		return fmt.Errorf("save report: %w", err)
	}
	if err := writeFile(dir, "report.md", md.Bytes()); err != nil {
		return err
	}
	return writeFile(dir, "report.json", js.Bytes())
}

// SaveScale writes a report on growth into a directory, which is made:
// scale.md, scale.json, and a chart a pair of axes in each of Formats as
// scale-OF-UNIT.FORMAT.
func SaveScale(dir string, s *Scale) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("save report: %w", err)
	}
	var charts []string
	for _, axes := range s.Axes() {
		for i, f := range Formats {
			p, err := s.Chart(axes, f)
			if err != nil {
				return fmt.Errorf("save report: %w", err)
			}
			if p == nil {
				continue
			}
			name := axes.file() + "." + f
			if i == 0 {
				charts = append(charts, name)
			}
			if err := writeFile(dir, name, p); err != nil {
				return err
			}
		}
	}
	var md, js bytes.Buffer
	if err := s.WriteMarkdown(&md, charts); err != nil {
		return fmt.Errorf("save report: %w", err)
	}
	if err := s.WriteJSON(&js); err != nil {
		return fmt.Errorf("save report: %w", err)
	}
	if err := writeFile(dir, "scale.md", md.Bytes()); err != nil {
		return err
	}
	return writeFile(dir, "scale.json", js.Bytes())
}

func writeFile(dir, name string, p []byte) error {
	if err := os.WriteFile(filepath.Join(dir, name), p, 0o644); err != nil {
		return fmt.Errorf("save report: %w", err)
	}
	return nil
}
