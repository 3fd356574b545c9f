package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// sample is a run of four cases, one of each status.
func sample(w Writer) (Summary, error) {
	s := newSummary()
	s.FS, s.Kernel, s.Root, s.Seconds = "ext4", "6.18.0", true, 1.5
	for _, r := range []Result{
		{Name: "open/b", Group: "open", Status: Passed, Passed: 3, Took: 0.25},
		{Name: "open/a#1", Group: "open", Status: Failed, Passed: 1, Failed: 2, Failures: []string{"x.go:1: got EIO", "two\nlines"}},
		{Name: "xattr/c", Group: "xattr", Status: Skipped, Reason: "needs root"},
		{Name: "xattr/d", Group: "xattr", Status: Differs, Passed: 4, Failed: 1, Reason: "it has none", Failures: []string{"y.go:2: got ENOTSUP"}},
	} {
		s.add(r)
		w.Result(r)
	}
	return s, w.End(s)
}

func TestSummary(t *testing.T) {
	s, err := sample(NewTAP(&bytes.Buffer{}))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Count{Passed: 8, Failed: 2, Skipped: 1, Differs: 1, Cases: 4}); s.Count != want {
		t.Errorf("counted %+v, want %+v", s.Count, want)
	}
	if want := (Count{Passed: 4, Skipped: 1, Differs: 1, Cases: 2}); s.Groups["xattr"] != want {
		t.Errorf("counted %+v in xattr, want %+v", s.Groups["xattr"], want)
	}
	if s.OK() || len(s.FailedCases) != 1 || s.FailedCases[0] != "open/a#1" {
		t.Errorf("failed cases %q", s.FailedCases)
	}
}

func TestTAP(t *testing.T) {
	var b bytes.Buffer
	if _, err := sample(NewTAP(&b)); err != nil {
		t.Fatal(err)
	}
	want := `TAP version 14
ok 1 - open/b
not ok 2 - open/a\#1
  ---
  passed: 1
  failed: 2
  failures:
    - "x.go:1: got EIO"
    - "two\nlines"
  ...
ok 3 - xattr/c # SKIP needs root
not ok 4 - xattr/d # TODO it has none
  ---
  passed: 4
  failed: 1
  failures:
    - "y.go:2: got ENOTSUP"
  ...
1..4
# open: 2 cases, 4 passed, 2 failed, 0 skipped, 0 differ
# xattr: 2 cases, 4 passed, 0 failed, 1 skipped, 1 differ
# all: 4 cases, 8 passed, 2 failed, 1 skipped, 1 differ
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if _, err := sample(NewJSON(&b)); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "{\n \"passed\": 8,\n \"failed\": 2,\n \"skipped\": 1,\n") {
		t.Errorf("the counts are not at the top:\n%s", b.String())
	}
	var doc document
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Cases) != 4 || doc.Cases[0].Name != "open/a#1" || doc.Cases[0].Failed != 2 || doc.Groups["open"].Cases != 2 {
		t.Errorf("got %+v", doc)
	}
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	if _, err := sample(NewText(&b, false)); err != nil {
		t.Fatal(err)
	}
	want := `failed  open/a#1
        x.go:1: got EIO
        two
        lines
group          cases  passed  failed skipped differs
open               2       4       2       0       0
xattr              2       4       0       1       1
all                4       8       2       1       1
    1 cases differs: it has none
    1 cases skipped: needs root
ext4, Linux 6.18.0, root: true, 1.5 s
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if _, err := sample(NewText(&b, true)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "\n"); got != 15 {
		t.Errorf("%d lines of a verbose report:\n%s", got, b.String())
	}
}

// full fails every write after a number of bytes.
type full struct{ left int }

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	for name, w := range map[string]Writer{"TAP": NewTAP(&full{40}), "JSON": NewJSON(&full{40}), "text": NewText(&full{40}, true)} {
		if _, err := sample(w); !errors.Is(err, errFull) {
			t.Errorf("%s: got %v, want %v", name, err, errFull)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a/b", "a/b", true}, {"a/b", "a/bc", false}, {"a/*", "a/b/c", true}, {"*/c", "a/b/c", true}, {"a*c", "ac", true},
		{"a*b*c", "a-b-c", true}, {"a*b*c", "a-c", false}, {"*", "", true}, {"a**", "ab", true}, {"a*", "ba", false},
		{"ab*bc", "abc", false}, {"*x*", "axb", true},
	} {
		if got := Match(c.pattern, c.name); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}
