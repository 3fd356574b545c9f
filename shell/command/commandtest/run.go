package commandtest

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"
)

var (
	record = flag.Bool("record", false, "ask the real tools anew and record their answers in the golden files")
	live   = flag.Bool("live", false, "compare with the real tools of this machine instead of the golden files")
)

// Recording reports whether the test was asked to record golden files.
func Recording() bool { return *record }

// Live reports whether the test was asked to compare with the real tools.
func Live() bool { return *live }

// Run runs every case as a subtest; see the package comment.
func Run(t *testing.T, cases []Case) {
	t.Helper()
	RunWith(t, cases, Inside)
}

// RunWith is Run with another way to run a case in the process: the shell's own
// tests give it their command lines.
func RunWith(t *testing.T, cases []Case, inside func(testing.TB, *Case) Result) {
	t.Helper()
	name := strings.ReplaceAll(t.Name(), "/", "-")
	g, err := readGolden(filepath.Join("testdata", name+".golden"))
	if err != nil {
		t.Fatal(err)
	}
	fresh := &golden{path: g.path, cases: map[string]*recorded{}}
	for i := range cases {
		c := &cases[i]
		if _, dup := fresh.cases[c.name()]; dup {
			t.Fatalf("two cases are named %q", c.name())
		}
		fresh.order = append(fresh.order, c.name())
		fresh.cases[c.name()] = g.cases[c.name()]
		t.Run(c.name(), func(t *testing.T) {
			if c.Skip != "" {
				t.Skip(c.Skip)
			}
			want := wanted(t, c, g, fresh)
			got := inside(t, c)
			d := c.difference(&got, want)
			switch {
			case c.Differs != "" && d == "":
				t.Errorf("%q\ndiffers no more, though it should: %s", c.Args, c.Differs)
			case c.Differs == "" && d != "":
				t.Errorf("%q\n%s", c.Args, d)
			}
		})
	}
	if !*record {
		return
	}
	kept := fresh.order[:0]
	for _, n := range fresh.order {
		if fresh.cases[n] != nil {
			kept = append(kept, n)
		}
	}
	fresh.order = kept
	if err := fresh.write(); err != nil {
		t.Fatal(err)
	}
}

// wanted is the real tool's answer: recorded, or just now.
func wanted(t *testing.T, c *Case, old, fresh *golden) *Result {
	t.Helper()
	r := old.cases[c.name()]
	if !*record && !*live {
		if r == nil || r.sum != c.sum() {
			t.Fatalf("no recorded answer for this case: run go test -run '%s' -record", t.Name())
		}
		return &r.result
	}
	res := Outside(t, c)
	if *record {
		if r != nil && r.sum == c.sum() {
			if d := c.difference(&r.result, &res); d != "" {
				t.Logf("the recorded answer drifted:\n%s", d)
			}
		}
		fresh.cases[c.name()] = &recorded{sum: c.sum(), result: res}
	}
	return &res
}
