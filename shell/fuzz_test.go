package shell_test

import (
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/shell"
)

// fuzzLimits end whatever a fuzzer thinks of within a moment.
var fuzzLimits = shell.Limits{
	Time: 2 * time.Second, Steps: 20_000, Depth: 60, Output: 64 << 10, Memory: 4 << 20,
	OpenFiles: 32, FileSize: 64 << 10, Processes: 20,
}

// FuzzRun (P6): no script panics, hangs or outlives its limits, whatever its
// bytes are.
func FuzzRun(f *testing.F) {
	files, err := filepath.Glob("testdata/corpus/*.sh")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		for i, c := range readCorpus(f, file) {
			if i%10 == 0 {
				f.Add(c.Args[2])
			}
		}
	}
	f.Fuzz(func(t *testing.T, script string) {
		sh := shell.New(shell.Config{FS: memfs.New(), Lookup: lookupTestCommand})
		ses := sh.NewSession(shell.SessionOptions{})
		defer ses.Close()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		res := ses.Exec(ctx, shell.Execution{Script: script, Limits: fuzzLimits, Grace: -1, Stdout: io.Discard, Stderr: io.Discard})
		if res.Internal != nil {
			t.Fatalf("a panic: %v", res.Internal)
		}
		if res.Canceled {
			t.Fatal("its limits did not end it")
		}
	})
}
