package commandtest

import (
	"fmt"
	"hash/crc32"
	"sort"
	"strings"
	"time"
)

// Dir stands for the working directory in Args, Stdin, Env and file contents,
// and in what is printed: the two runs have different ones.
const Dir = "$DIR"

// Case is one command line and the world that it runs in.
type Case struct {
	// Name names the subtest; "" means the command line.
	Name string
	// Args is the command line; Args[0] is looked up in the registry for one
	// run and in PATH for the other.
	Args  []string
	Stdin string
	// Env is added to PATH, HOME=$DIR, LC_ALL=C and TZ=UTC.
	Env []string
	// Files are made before the run, by path relative to the working directory.
	// A path that ends in a slash is a directory.
	Files map[string]string
	// Entries are made after Files, in order.
	Entries []Entry
	// AnyStderr compares only whether something was said on standard error.
	AnyStderr bool
	// Times compares modification times of files too (seconds).
	Times bool
	// Clean, if set, is applied to both standard outputs before they are
	// compared, to take out what must differ (inode numbers, the time).
	Clean func(string) string
	// Differs says why the outcome is another on purpose, or for now; the case
	// then must differ.
	Differs string
	// Skip says why the real tool cannot be compared with here; the case then
	// is skipped, with that reason.
	Skip string
}

// Entry is a file that a map of contents cannot describe.
type Entry struct {
	Path    string
	Link    string // target of a symlink
	Hard    string // path of the file that this is another name of
	Content string
	FIFO    bool
	Mode    uint32    // permission bits; 0 means 0644, or 0755 for a directory
	Time    time.Time // modification time; zero means now
}

// Result is what a run left behind.
type Result struct {
	Status int
	Stdout string
	Stderr string
	Tree   []string // one line a path, sorted, as in a golden file
}

func (c *Case) name() string {
	if c.Name != "" {
		return c.Name
	}
	return strings.Join(c.Args, " ")
}

// entries lists everything to be made, parents first.
func (c *Case) entries() []Entry {
	paths := make([]string, 0, len(c.Files))
	for p := range c.Files {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	var es []Entry
	for _, p := range paths {
		es = append(es, Entry{Path: p, Content: c.Files[p]})
	}
	return append(es, c.Entries...)
}

// sum is a checksum of everything that the real tool's answer depends on.
func (c *Case) sum() uint32 {
	h := crc32.NewIEEE()
	fmt.Fprintf(h, "%q %q %q %v", c.Args, c.Stdin, c.Env, c.Times)
	for _, e := range c.entries() {
		fmt.Fprintf(h, "%q %q %q %q %v %o %d", e.Path, e.Link, e.Hard, e.Content, e.FIFO, e.Mode, e.Time.UnixNano())
	}
	return h.Sum32()
}

// difference describes how got differs from want; "" when it does not.
func (c *Case) difference(got, want *Result) string {
	var b strings.Builder
	clean := c.Clean
	if clean == nil {
		clean = func(s string) string { return s }
	}
	if got.Status != want.Status {
		fmt.Fprintf(&b, "status %d, want %d\n", got.Status, want.Status)
	}
	if g, w := clean(got.Stdout), clean(want.Stdout); g != w {
		fmt.Fprintf(&b, "stdout:\n%s\nwant:\n%s\n", quoted(g), quoted(w))
	}
	if c.AnyStderr {
		if (got.Stderr == "") != (want.Stderr == "") {
			fmt.Fprintf(&b, "stderr:\n%s\nwant something like:\n%s\n", quoted(got.Stderr), quoted(want.Stderr))
		}
	} else if got.Stderr != want.Stderr {
		fmt.Fprintf(&b, "stderr:\n%s\nwant:\n%s\n", quoted(got.Stderr), quoted(want.Stderr))
	}
	if g, w := strings.Join(got.Tree, "\n"), strings.Join(want.Tree, "\n"); g != w {
		fmt.Fprintf(&b, "files:\n%s\nwant:\n%s\n", g, w)
	}
	return b.String()
}

// Difference describes how two results of a case differ; "" when they do not.
func Difference(c *Case, got, want *Result) string { return c.difference(got, want) }
