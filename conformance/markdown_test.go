//go:build linux

package conformance_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/conformance"
	"github.com/vfsd/vfsd/conformance/internal/posix"
)

var update = flag.Bool("update", false, "write REPORT.md anew (TestReport, with VFSD_SOAK=1)")

const reportFile = "REPORT.md"

// TestReport keeps REPORT.md in step with the suite: the number of cases of
// every group. With -update it runs everything everywhere and writes it.
func TestReport(t *testing.T) {
	if *update {
		writeReport(t)
	}
	report, err := os.ReadFile(reportFile)
	if err != nil {
		t.Fatal(err)
	}
	groups := make(map[string]int)
	for _, c := range posix.Suite().Cases {
		groups[c.Group]++
	}
	for _, g := range conformance.Groups() {
		if row := fmt.Sprintf("| %s | %d |", g, groups[g]); !strings.Contains(string(report), row) {
			t.Errorf("%s has no row that begins %q: write it anew, VFSD_SOAK=1 go test -run TestReport -update", reportFile, row)
		}
	}
}

func writeReport(t *testing.T) {
	if !soak() {
		t.Fatal("a report takes the long form: VFSD_SOAK=1")
	}
	shm, err := os.MkdirTemp("/dev/shm", "conformance-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(shm); err != nil {
			t.Error(err)
		}
	})
	var runs []conformance.Summary
	for _, o := range []conformance.Options{
		{Dir: t.TempDir()},
		{Dir: shm},
		{Dir: serve(t, server{backing: "workspace"}).dir, FS: "vfsd"},
		{Dir: serve(t, server{driver: "bazil", backing: "workspace"}).dir, FS: "vfsd-bazil"},
	} {
		s, err := conformance.Run(t.Context(), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, s)
	}
	var b bytes.Buffer
	if err := conformance.WriteReport(&b, runs); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(reportFile, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
