package commandtest

import (
	"context"
	"io"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "cat",
		Synopsis: "cat [OPTION]... [FILE]...",
		Options: []command.Option{
			{Short: 'u', Help: "ignored"},
			{Short: 'A', Long: "show-all"},
		},
	}, cat)
}

// cat is enough of a command to try the kit with.
func cat(ctx context.Context, c *command.Context, args []string) int {
	p := c.Options(args)
	for p.Next() {
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, name := range files {
		f, err := c.Open(name)
		if err != nil {
			status = c.Fail(name, err)
			continue
		}
		if _, err := io.Copy(c.Stdout, f); err != nil && c.Stdout.Err() == nil {
			status = c.Fail(name, err)
		}
		f.Close()
	}
	return status
}

func TestCat(t *testing.T) {
	Run(t, []Case{
		{Args: []string{"cat", "a", "b"}, Files: map[string]string{"a": "x\n\xff\x00", "b": "y in $DIR"}},
		{Args: []string{"cat", "nope", "-", "no such"}, Stdin: "in\n"},
		{Args: []string{"cat", "d"}, Files: map[string]string{"d/": "", "e/f": ""}},
		{Args: []string{"cat", "-uz"}},
		{Args: []string{"cat", "--show-all=3"}},
		{Args: []string{"cat", "l", "$DIR/h"}, Files: map[string]string{"f": "f\n"}, Times: true, Entries: []Entry{
			{Path: "l", Link: "f"}, {Path: "h", Hard: "f", Mode: 0o600, Time: time.Unix(1e9, 0)}, {Path: "p", FIFO: true},
		}},
	})
}

// TestDifferenceIsFound shows that a wrong answer fails.
func TestDifferenceIsFound(t *testing.T) {
	c := Case{}
	right := Result{Stdout: "a\n", Stderr: "b", Tree: []string{`file "x" 0644 ""`}}
	for _, wrong := range []Result{
		{Status: 1, Stdout: "a\n", Stderr: "b", Tree: right.Tree},
		{Stdout: "a", Stderr: "b", Tree: right.Tree},
		{Stdout: "a\n", Stderr: "c", Tree: right.Tree},
		{Stdout: "a\n", Stderr: "b"},
	} {
		if c.difference(&wrong, &right) == "" {
			t.Errorf("%+v passes for %+v", wrong, right)
		}
	}
	if d := c.difference(&right, &right); d != "" {
		t.Error(d)
	}
}

func TestGoldenRoundTrip(t *testing.T) {
	g := &golden{path: filepath.Join(t.TempDir(), "x", "y.golden"), cases: map[string]*recorded{}}
	for name, r := range map[string]Result{
		"empty":      {},
		"a \"name\"": {Status: 3, Stdout: "a\nb", Stderr: "\xff\n\n", Tree: []string{`dir "d" 0755`, `link "l" "t"`}},
	} {
		g.order = append(g.order, name)
		g.cases[name] = &recorded{sum: 7, result: r}
	}
	if err := g.write(); err != nil {
		t.Fatal(err)
	}
	back, err := readGolden(g.path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, g) {
		t.Errorf("got %+v, want %+v", back, g)
	}
}
