package workload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Clients of workloads.
const (
	Tight = "tight"
	Tools = "tools"
)

// Workload is one thing to measure.
type Workload struct {
	Name   string // as --workload takes it
	Title  string // as the table shows it
	Group  string
	Client string  // Tight or Tools
	Limit  float64 // the ratio to reach; 0: none is set
	// Cold says that the kernel's caches are dropped between Setup and Run.
	Cold bool
	// Floor says that the baseline is a filesystem in memory behind the same
	// FUSE driver, instead of the other directory.
	Floor bool
	// Large says that a run leaves few files and many bytes: they are removed
	// after it. What other runs leave stays until the end of everything: ext4
	// steps over recently deleted inodes for minutes, so removing thousands of
	// files makes whoever creates files next up to thirty times slower.
	Large bool
	// Needs are the programs that must be there.
	Needs []string

	Prepare func(context.Context, *Env) error // may be nil
	Setup   func(context.Context, *Env) error // may be nil
	Run     func(context.Context, *Env) error
	Check   func(context.Context, *Env) error // may be nil
}

// size writes bytes for a title.
func size(n int64) string { return humanize.IBytes(uint64(n)) }

// count writes a number for a title.
func count(n int) string { return humanize.Comma(int64(n)) }

// Missing returns the programs of Needs that are not there.
func (w *Workload) Missing() []string {
	return slices.DeleteFunc(slices.Clone(w.Needs), func(tool string) bool {
		_, err := exec.LookPath(tool)
		return err == nil
	})
}

// Sizes are the amounts of work.
type Sizes struct {
	Small      int   // files of the small-file rows
	Fanout     int   // of the tree of directories, three levels deep
	Big        int64 // bytes of the big file
	Random     int   // random reads or writes
	Tree       int   // files of the big tree: untar, find, grep
	GitFiles   int   // committed in a new repository
	CloneBytes int   // of the repository that is cloned
	Status     int   // files of the repository whose status is asked
	Packages   int   // npm packages
	PerPackage int   // files of each
	GoPackages int   // of the module that is built
	Commits    int   // SQLite transactions
	CFiles     int   // C files that are compiled
	Fsyncs     int
	Saves      int // of an editor
}

// Full are the sizes of the published figures.
var Full = Sizes{
	Small: 1000, Fanout: 10, Big: 64 << 20, Random: 4096, Tree: 10_000, GitFiles: 100, CloneBytes: 1 << 20,
	Status: 10_000, Packages: 80, PerPackage: 50, GoPackages: 60, Commits: 1000, CFiles: 60, Fsyncs: 300, Saves: 300,
}

// Tiny are sizes that show that everything works, and nothing else.
var Tiny = Sizes{
	Small: 20, Fanout: 2, Big: 1 << 20, Random: 16, Tree: 60, GitFiles: 5, CloneBytes: 16 << 10,
	Status: 30, Packages: 2, PerPackage: 5, GoPackages: 2, Commits: 5, CFiles: 2, Fsyncs: 4, Saves: 6,
}

// Map returns the sizes by name, for a report.
func (s Sizes) Map() map[string]int64 {
	return map[string]int64{
		"small files": int64(s.Small), "directory fan-out": int64(s.Fanout), "big file bytes": s.Big,
		"random operations": int64(s.Random), "tree files": int64(s.Tree), "git files": int64(s.GitFiles),
		"clone bytes": int64(s.CloneBytes), "status files": int64(s.Status),
		"npm packages": int64(s.Packages), "files a package": int64(s.PerPackage),
		"go packages": int64(s.GoPackages), "sqlite commits": int64(s.Commits), "c files": int64(s.CFiles),
		"fsyncs": int64(s.Fsyncs), "editor saves": int64(s.Saves),
	}
}

// Env is where one run of a workload happens.
type Env struct {
	// Kept is a directory for what Prepare makes; it stays over the runs.
	Kept string
	// Work is this run's own empty directory, on the same filesystem as Kept.
	Work string
	// Shared is on the local disk: inputs that both directories are given.
	Shared string
	Sizes  Sizes
	// Seed differs from run to run and is the same for the two directories of
	// a run; Base is the same for all runs.
	Seed, Base uint64

	latencies []time.Duration
}

// Observe records how long one operation of the run took.
func (e *Env) Observe(d time.Duration) { e.latencies = append(e.latencies, d) }

// Latencies returns what was observed since the last call.
func (e *Env) Latencies() []time.Duration {
	l := e.latencies
	e.latencies = nil
	return l
}

// work and kept are paths below Work and Kept.
func (e *Env) work(elem ...string) string {
	return filepath.Join(append([]string{e.Work}, elem...)...)
}

func (e *Env) kept(elem ...string) string {
	return filepath.Join(append([]string{e.Kept}, elem...)...)
}

// input returns the path of an input in Shared, which build makes when it is
// not there yet. A build that fails leaves nothing behind.
func (e *Env) input(name string, build func(path string) error) (string, error) {
	path := filepath.Join(e.Shared, name)
	if _, err := os.Lstat(path); err == nil || !errors.Is(err, os.ErrNotExist) {
		return path, err
	}
	fresh := path + ".new"
	if err := build(fresh); err != nil {
		return "", fmt.Errorf("make %s: %w", name, errors.Join(err, os.RemoveAll(fresh)))
	}
	return path, os.Rename(fresh, path)
}

// Command is a program to run in a directory.
type Command struct {
	Dir  string
	Args []string
	Env  []string // beyond the clean environment of commands
	In   []byte   // standard input
}

// run runs a command to its end and returns its standard output. An error
// carries what the command said.
func (e *Env) run(ctx context.Context, c Command) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = append(e.environ(), c.Env...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.In), &out, &errOut
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(errOut.String() + out.String())
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, said[max(0, len(said)-400):])
	}
	return out.Bytes(), nil
}

// environ is a small environment, so that nobody's settings are measured. Home
// is on the local disk for both directories.
func (e *Env) environ() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + e.Shared, "LANG=C", "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@example.org",
		"GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@example.org",
	}
}

// script runs a shell script in a directory.
func (e *Env) script(ctx context.Context, dir, text string, args ...string) error {
	_, err := e.run(ctx, Command{Dir: dir, Args: append([]string{"sh", "-ec", text, "bench"}, args...)})
	return err
}

// All returns every workload, in the order of the table. The sizes are for
// their titles.
func All(s Sizes) []Workload {
	return slices.Concat(smallTools(s), smallTight(s), bulk(s), random(s), parallel(s), trees(s), durable(), programs(s),
		builds(), removals(s)) // these last: see Large
}

// Select returns the workloads with the given names; none given are all. A name
// may end with "*".
func Select(names []string, s Sizes) ([]Workload, error) {
	all := All(s)
	if len(names) == 0 {
		return all, nil
	}
	var out []Workload
	for _, n := range names {
		found := false
		prefix, many := strings.CutSuffix(n, "*")
		for _, w := range all {
			if w.Name == n || many && strings.HasPrefix(w.Name, prefix) {
				found = true
				out = append(out, w)
			}
		}
		if !found {
			return nil, fmt.Errorf("no workload %q", n)
		}
	}
	return out, nil
}

// countEntries checks how many names a directory has.
func countEntries(dir string, want int) error {
	names, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(names) != want {
		return fmt.Errorf("%d names in the directory, want %d", len(names), want)
	}
	return nil
}
