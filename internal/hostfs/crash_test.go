package hostfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/internal/hostfs"
)

const page = 4096

// rig is a crash model over a directory of its own.
type rig struct {
	*hostfs.Crash
	t    *testing.T
	root string
}

func newRig(t *testing.T, o hostfs.CrashOptions) *rig {
	t.Helper()
	o.Root, o.Scratch = t.TempDir(), t.TempDir()
	c, err := hostfs.NewCrash(o)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{c, t, o.Root}
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) path(rel string) string { return filepath.Join(r.root, rel) }

func (r *rig) open(rel string, flag int) hostfs.File {
	r.t.Helper()
	f, err := r.OpenFile(r.path(rel), flag, 0o600)
	r.must(err)
	r.t.Cleanup(func() { f.Close() })
	return f
}

// create makes a file with content, not fsynced.
func (r *rig) create(rel, content string) hostfs.File {
	r.t.Helper()
	f := r.open(rel, os.O_RDWR|os.O_CREATE)
	r.write(f, content, 0)
	return f
}

func (r *rig) write(f hostfs.File, content string, off int64) {
	r.t.Helper()
	_, err := f.WriteAt([]byte(content), off)
	r.must(err)
}

// created makes a file that is durable.
func (r *rig) created(rel, content string) hostfs.File {
	r.t.Helper()
	f := r.create(rel, content)
	r.must(f.Sync())
	r.must(r.SyncDir(filepath.Dir(r.path(rel))))
	return f
}

// cut returns the tree after a power cut.
func (r *rig) cut(seed uint64) map[string]string {
	r.t.Helper()
	dir, err := r.PowerCut(seed)
	r.must(err)
	defer os.RemoveAll(dir)
	return treeOf(r.t, dir)
}

// lost returns the tree with nothing unsynced, kept the one with everything.
func (r *rig) lost() map[string]string {
	r.t.Helper()
	dir, err := r.LoseUnsynced()
	r.must(err)
	return treeOf(r.t, dir)
}

func (r *rig) kept() map[string]string {
	r.t.Helper()
	dir, err := r.Kill()
	r.must(err)
	return treeOf(r.t, dir)
}

// treeOf maps the files below a directory to their bytes, and directories,
// with a slash behind, to nothing.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel := strings.TrimPrefix(path, dir+"/")
		if d.IsDir() {
			tree[rel+"/"] = ""
			return nil
		}
		b, err := os.ReadFile(path)
		tree[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func names(tree map[string]string) string {
	return strings.Join(slices.Sorted(maps.Keys(tree)), " ")
}

// outcomes counts what describe says of the trees after many power cuts.
func (r *rig) outcomes(describe func(tree map[string]string) string) map[string]int {
	r.t.Helper()
	seen := map[string]int{}
	for seed := range uint64(200) {
		seen[describe(r.cut(seed))]++
	}
	return seen
}

// allowed fails unless exactly the given outcomes were seen.
func (r *rig) allowed(seen map[string]int, want ...string) {
	r.t.Helper()
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, want) {
		r.t.Errorf("power cuts left %q, want %q", got, want)
	}
}

// Rules 1 and 2: names survive as a prefix, of any length.
func TestCrashNamesArePrefix(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{})
	r.must(r.Mkdir(r.path("d"), 0o700))
	r.create("d/a", "")
	r.create("b", "")
	r.must(r.Rename(r.path("d/a"), r.path("c")))
	r.must(r.Remove(r.path("b")))
	r.allowed(r.outcomes(names), "", "d/", "d/ d/a", "b d/ d/a", "b c d/", "c d/")
	if got := names(r.kept()); got != "c d/" {
		t.Errorf("killed: %q", got)
	}
	if got := names(r.lost()); got != "" {
		t.Errorf("all lost: %q", got)
	}
}

// Rule 1: a rename that replaces leaves the one or the other, never neither.
func TestCrashRenameIsAtomic(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{})
	r.created("f", "old")
	f := r.create("f.tmp", "new")
	r.must(f.Sync())
	r.must(r.Rename(r.path("f.tmp"), r.path("f")))
	r.allowed(r.outcomes(func(tree map[string]string) string { return fmt.Sprint(tree) }),
		"map[f:old f.tmp:new]", "map[f:new]")
}

// Beyond the rules: without an fsync before it, a rename may outlive the bytes.
func TestCrashRenameMayOutliveBytes(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{})
	r.created("f", "old")
	r.create("f.tmp", "new")
	r.must(r.Rename(r.path("f.tmp"), r.path("f")))
	r.must(r.SyncDir(r.root))
	seen := r.outcomes(func(tree map[string]string) string { return tree["f"] })
	if seen["new"] == 0 || seen[""] == 0 || seen["old"] != 0 {
		t.Errorf("power cuts left %v", seen)
	}
}

// Rule 3: Sync commits all names before it, or none with StrictNames.
func TestCrashSyncAndNames(t *testing.T) {
	for _, strict := range []bool{false, true} {
		t.Run(fmt.Sprintf("strict=%v", strict), func(t *testing.T) {
			r := newRig(t, hostfs.CrashOptions{StrictNames: strict})
			r.create("before", "")
			f := r.create("f", "bytes")
			r.must(f.Sync())
			r.create("after", "")
			seen := r.outcomes(names)
			if strict {
				r.allowed(seen, "", "before", "before f", "after before f")
			} else {
				r.allowed(seen, "before f", "after before f")
			}
			r.must(r.SyncDir(r.root))
			r.allowed(r.outcomes(names), "after before f")
			if got := r.cut(1)["f"]; got != "bytes" {
				t.Errorf("fsynced bytes are %q", got)
			}
		})
	}
}

// Rule 3: with StrictNames an fsync of one directory need not reach another.
func TestCrashStrictSyncDir(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{StrictNames: true})
	r.must(r.MkdirAll(r.path("x"), 0o700))
	r.must(r.MkdirAll(r.path("y"), 0o700))
	r.must(r.SyncDir(r.root))
	r.create("x/1", "")
	r.create("y/2", "")
	r.must(r.SyncDir(r.path("x")))
	r.allowed(r.outcomes(names), "x/ x/1 y/", "x/ x/1 y/ y/2")
}

// fill returns n bytes, none of them zero.
func fill(c byte, n int) string { return string(bytes.Repeat([]byte{c}, n)) }

// Rules 4 and 5: what was fsynced stays; each page behind it is there, not
// there, or torn; pages are independent of one another.
func TestCrashUnsyncedAppend(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{})
	const synced, total = page + 1000, 8*page + 77
	f := r.created("f", fill('s', synced))
	r.write(f, fill('n', total-synced), synced)
	var holes, torn int
	sizes := map[int]bool{}
	for seed := range uint64(300) {
		got := r.cut(seed)["f"]
		sizes[len(got)] = true
		if len(got) < synced || len(got) > total || got[:synced] != fill('s', synced) {
			t.Fatalf("seed %d: %d bytes, or fsynced ones changed", seed, len(got))
		}
		rest := got[synced:]
		if strings.Trim(rest, "n\x00") != "" {
			t.Fatalf("seed %d: bytes that were never written", seed)
		}
		if strings.Contains(strings.TrimRight(rest, "\x00"), "\x00") {
			holes++
		}
		if i := strings.IndexByte(rest, 0); i >= 0 && (synced+i)%page != 0 {
			torn++
		}
	}
	if holes == 0 || torn == 0 || len(sizes) < 10 || !sizes[synced] || !sizes[total] {
		t.Errorf("%d holes, %d torn pages, %d sizes: too few", holes, torn, len(sizes))
	}
	if got := r.lost()["f"]; got != fill('s', synced) {
		t.Errorf("all lost: %d bytes", len(got))
	}
	if got := r.kept()["f"]; got != fill('s', synced)+fill('n', total-synced) {
		t.Errorf("killed: %d bytes", len(got))
	}
}

// Rule 4: a page overwritten in place is as it was, as it is, or torn.
func TestCrashOverwrite(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{})
	f := r.created("f", fill('o', 4*page))
	r.write(f, fill('n', 2*page), page)
	seen := r.outcomes(func(tree map[string]string) string {
		b := tree["f"]
		if len(b) != 4*page || b[:page] != fill('o', page) || b[3*page:] != fill('o', page) || strings.Trim(b, "on") != "" {
			return "wrong"
		}
		return fmt.Sprintf("%c%c", b[page], b[2*page])
	})
	r.allowed(seen, "oo", "on", "no", "nn")
}

// Rule 4: a page may be as it was when it was written back, between two appends.
func TestCrashWriteBack(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{})
	f := r.created("f", "")
	r.write(f, fill('1', 100), 0)
	r.must(r.WriteBack())
	r.write(f, fill('2', 2*page), 100)
	var seen bool
	for seed := range uint64(300) {
		b := r.cut(seed)["f"]
		seen = seen || len(b) > page && b[:page] == fill('1', 100)+fill(0, page-100) && b[page] == '2'
	}
	if !seen {
		t.Error("no power cut left the first page as it was written back and the second as it is")
	}
	r.must(f.Sync())
	r.allowed(r.outcomes(func(tree map[string]string) string { return tree["f"] }), fill('1', 100)+fill('2', 2*page))
}

// Rule 6: a lost truncation brings the old bytes back and hides what was
// written behind the cut.
func TestCrashTruncate(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{})
	f := r.created("f", fill('o', 3*page))
	r.must(f.Truncate(page))
	r.write(f, fill('n', page), page)
	seen := r.outcomes(func(tree map[string]string) string {
		b := tree["f"]
		if len(b) > 2*page {
			return strings.Trim(b, "o") + "old"
		}
		return strings.Trim(strings.Trim(b, "o"), "n\x00") + "cut"
	})
	r.allowed(seen, "old", "cut")
	r.must(f.Sync())
	r.allowed(r.outcomes(func(tree map[string]string) string { return tree["f"] }), fill('o', page)+fill('n', page))
}

func TestCrashOpenTruncates(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{})
	r.created("f", "old")
	r.open("f", os.O_WRONLY|os.O_TRUNC)
	r.allowed(r.outcomes(func(tree map[string]string) string { return tree["f"] }), "old", "")
}

// Rule 6: a lost removal brings back what a power cut leaves of the bytes.
func TestCrashRemove(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{})
	r.created("f", "synced")
	f := r.open("f", os.O_RDWR)
	r.write(f, " and not", 6)
	r.must(r.Remove(r.path("f")))
	r.must(f.Sync()) // commits the removal
	r.allowed(r.outcomes(names), "")

	r.created("g", "synced")
	g := r.open("g", os.O_RDWR)
	r.write(g, " and not", 6)
	r.must(r.Remove(r.path("g")))
	var gone, whole bool
	for seed := range uint64(200) {
		b, ok := r.cut(seed)["g"]
		if ok && !strings.HasPrefix(b, "synced") {
			t.Fatalf("seed %d: %q", seed, b)
		}
		gone, whole = gone || !ok, whole || b == "synced and not"
	}
	if !gone || !whole {
		t.Errorf("gone %v, whole %v: both should happen", gone, whole)
	}
}

func TestCrashRemoveAll(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{})
	r.must(r.MkdirAll(r.path("d/e"), 0o700))
	for _, name := range []string{"d/1", "d/e/2", "d/e/3"} {
		r.created(name, name)
	}
	r.must(r.RemoveAll(r.path("d")))
	r.must(r.RemoveAll(r.path("d")))
	r.allowed(r.outcomes(names),
		"d/ d/1 d/e/ d/e/2 d/e/3", "d/ d/e/ d/e/2 d/e/3", "d/ d/e/ d/e/3", "d/ d/e/", "d/", "")
	if _, err := os.Stat(r.path("d")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the live directory: %v", err)
	}
}

// What is written with package os is seen as it is, and durable once the seam
// was told to make it so.
func TestCrashBehindTheSeam(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{})
	f := r.created("f", "one")
	r.must(os.WriteFile(r.path("f"), []byte("one two"), 0o600))
	r.must(os.Mkdir(r.path("d"), 0o700))
	r.must(os.WriteFile(r.path("d/g"), []byte("three"), 0o600))
	if got := fmt.Sprint(r.lost()); got != "map[f:one]" {
		t.Errorf("all lost: %v", got)
	}
	if got := fmt.Sprint(r.kept()); got != "map[d/: d/g:three f:one two]" {
		t.Errorf("killed: %v", got)
	}
	r.must(f.Sync())
	r.must(r.open("d/g", os.O_RDONLY).Sync())
	r.must(r.SyncDir(r.path("d")))
	r.allowed(r.outcomes(func(tree map[string]string) string { return fmt.Sprint(tree) }), "map[d/: d/g:three f:one two]")
	r.must(os.RemoveAll(r.path("d")))
	r.allowed(r.outcomes(names), "d/ d/g f", "d/ f", "f")
}

func TestCrashLying(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{Lying: true})
	r.created("f", "bytes")
	if got := names(r.lost()); got != "" {
		t.Errorf("a lying disk kept %q", got)
	}
	if got := fmt.Sprint(r.kept()); got != "map[f:bytes]" {
		t.Errorf("killed: %v", got)
	}
}

// One seed gives one outcome, and the live directory stays as it is.
func TestCrashIsReproducible(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{})
	for i := range 10 {
		f := r.created(fmt.Sprint(i), fill('s', 500*i))
		r.write(f, fill('n', 3*page), int64(500*i))
	}
	before := treeOf(t, r.root)
	different := map[string]bool{}
	for seed := range uint64(20) {
		one, two := fmt.Sprint(r.cut(seed)), fmt.Sprint(r.cut(seed))
		if one != two {
			t.Fatalf("seed %d gave two outcomes", seed)
		}
		different[one] = true
	}
	if len(different) < 10 {
		t.Errorf("20 seeds gave %d outcomes", len(different))
	}
	if !maps.Equal(before, treeOf(t, r.root)) {
		t.Error("the live directory changed")
	}
}

// A recovered directory can crash again: its content is durable from the start.
func TestCrashOfACrash(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{})
	r.created("f", "one")
	dir, err := r.PowerCut(1)
	r.must(err)
	c, err := hostfs.NewCrash(hostfs.CrashOptions{Root: dir, Scratch: t.TempDir()})
	r.must(err)
	again := &rig{c, t, dir}
	again.create("g", "two")
	if got := fmt.Sprint(again.lost()); got != "map[f:one]" {
		t.Errorf("all lost: %v", got)
	}
}

func TestCrashErrors(t *testing.T) {
	r := newRig(t, hostfs.CrashOptions{})
	r.created("f", "")
	_, openErr := r.OpenFile(r.path("no/f"), os.O_RDWR|os.O_CREATE, 0o600)
	_, belowErr := r.OpenFile(r.path("f/g"), os.O_RDWR|os.O_CREATE, 0o600)
	_, outsideErr := r.OpenFile(r.root+"x", os.O_RDWR|os.O_CREATE, 0o600)
	for what, err := range map[string]error{
		"open without a directory": openErr, "open below a file": belowErr, "open outside": outsideErr,
		"mkdir over a file": r.Mkdir(r.path("f"), 0o700), "remove nothing": r.Remove(r.path("g")),
		"remove the root": r.Remove(r.root), "rename nothing": r.Rename(r.path("g"), r.path("h")),
		"rename away": r.Rename(r.path("f"), r.root+"x"), "fsync a file as a directory": r.SyncDir(r.path("f")),
		"fsync nothing": r.SyncDir(r.path("g")),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if err := r.SyncDir(filepath.Dir(r.root)); err != nil {
		t.Errorf("fsync of the root's own directory: %v", err)
	}
	r.allowed(r.outcomes(names), "f")
}
