package archive

import (
	"bytes"
	"compress/gzip"
	"os/exec"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

// packed returns s compressed by the package's own filter: the expanding
// commands are compared on it.
func packed(t *testing.T, f *filter, s string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := f.writer(&b, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGzip(t *testing.T) {
	gz := packed(t, &gzipFilter, "hello, world\n")
	two := gz + packed(t, &gzipFilter, "second\n")
	w := commandtest.Case{Times: true, Entries: []commandtest.Entry{{Path: "a.gz", Content: gz, Mode: 0o640, Time: past}, {Path: "two.gz", Content: two, Time: past}, {Path: "a.tgz", Content: gz, Time: past}, {Path: "plain", Content: "plain text\n", Time: past}, {Path: "plain.gz", Content: "not compressed\n", Time: past},
		{Path: "cut.gz", Content: gz[:len(gz)-6], Time: past}, {Path: "bad.gz", Content: gz[:14] + "XX" + gz[16:], Time: past}, {Path: "empty.gz", Time: past}, {Path: "dir/b.gz", Content: gz, Time: past}, {Path: "there.gz", Content: gz, Time: past}, {Path: "there", Content: "x", Time: past}, {Path: "l.gz", Link: "a.gz"}, {Path: "h.gz", Hard: "two.gz"}, {Path: "x.z", Content: gz, Time: past}, {Path: "zeros.gz", Content: packed(t, &gzipFilter, strings.Repeat("z", 10000)), Time: past}}}
	piped := w
	piped.Stdin = gz
	commandtest.Run(t, join(commandtest.Lines(w, "gzip -d a.gz", "gunzip a.gz", "gunzip -k a.gz", "gunzip -c a.gz two.gz", "zcat a.gz", "zcat a", "zcat two.gz zeros.gz", "gzip -d a.tgz", "gunzip plain", "gunzip -c plain", "gunzip plain.gz", "gunzip cut.gz", "gunzip empty.gz", "gunzip nope", "gunzip nope.gz", "gunzip dir", "gunzip -r dir", "gunzip there.gz", "gunzip -f there.gz", "gunzip l.gz", "gunzip h.gz", "gunzip x.z", "gunzip -t a.gz", "gunzip -tv a.gz", "gzip -t plain.gz", "gzip -l a.gz", "gzip -l a.gz zeros.gz", "gzip -l plain", "gzip a.gz", "gzip nope", "gzip dir", "gzip -z", "gunzip -S .z x.z", "zcat -f plain", "gzip -dc a.gz plain", "gunzip -v a.gz", "gunzip -q plain", "gzip -d two.gz", "gzip -S '' a", "zcat nope a.gz", "gzip -d a"), commandtest.Lines(piped, "gzip -d", "zcat", "gunzip -c -", "gzip -t", "zcat -f")))
}

func TestSqueezers(t *testing.T) {
	text := strings.Repeat("some text to pack ", 50)
	bz, x, z, lz := packed(t, &bzip2Filter, text), packed(t, &xzFilter, text), packed(t, &zstdFilter, text), packed(t, &lzmaFilter, text)
	w := commandtest.Case{Times: true, AnyStderr: true, Entries: []commandtest.Entry{{Path: "a.bz2", Content: bz, Time: past}, {Path: "a.xz", Content: x, Time: past}, {Path: "a.zst", Content: z, Time: past}, {Path: "a.lzma", Content: lz, Time: past}, {Path: "odd", Content: bz, Time: past}, {Path: "b.tbz", Content: bz, Time: past}, {Path: "b.txz", Content: x, Time: past},
		{Path: "text", Content: "text\n", Time: past}, {Path: "cut.bz2", Content: bz[:len(bz)-9], Time: past}, {Path: "cut.xz", Content: x[:len(x)-9], Time: past}, {Path: "cut.zst", Content: z[:len(z)-9], Time: past}, {Path: "fake.bz2", Content: "fake", Time: past}, {Path: "fake.xz", Content: "fake", Time: past}, {Path: "fake.zst", Content: "fake", Time: past}, {Path: "two.bz2", Content: bz + bz, Time: past}, {Path: "two.xz", Content: x + x, Time: past}, {Path: "two.zst", Content: z + z, Time: past}, {Path: "d/", Time: past}, {Path: "there.bz2", Content: bz, Time: past}, {Path: "there", Content: "t", Time: past}, {Path: "there.xz", Content: x, Time: past}}}
	exact := w
	exact.AnyStderr = false
	commandtest.Run(t, join(commandtest.Lines(w, "bunzip2 a.bz2", "bzcat a.bz2 two.bz2", "bzip2 -d a.bz2", "bzip2 -dk a.bz2", "bunzip2 odd", "bunzip2 b.tbz", "bunzip2 cut.bz2", "bunzip2 fake.bz2", "bunzip2 -t a.bz2", "bunzip2 there.bz2", "bunzip2 -f there.bz2",
		"unxz a.xz", "xzcat a.xz two.xz", "xz -dk a.xz", "xz -d a.lzma", "unlzma a.lzma", "lzcat a.lzma", "unxz b.txz", "unxz cut.xz", "unxz fake.xz", "xz -t a.xz", "unxz text", "unxz -f there.xz", "xz -dc a.xz",
		"unzstd a.zst", "zstdcat a.zst two.zst", "zstd -d a.zst", "zstd -dc a.zst", "zstd -d --rm a.zst", "zstd -d a.zst -o out", "unzstd cut.zst", "unzstd fake.zst", "zstd -t a.zst", "unzstd text"),
		commandtest.Lines(exact, "bunzip2 nope", "bzip2 nope", "bzip2 d", "unxz nope", "xz d", "unxz there.xz", "xz a.xz", "bzip2 a.bz2", "bunzip2 -k odd", "unxz -c fake.xz", "unxz -c cut.xz", "unxz -k text", "bunzip2 -k there.bz2")))
}

// TestRoundTrips packs here and expands there, and the other way round.
func TestRoundTrips(t *testing.T) {
	texts := map[string]string{"empty": "", "short": "x", "text": strings.Repeat("the quick brown fox ", 5000), "binary": string(bytes.Repeat([]byte{0, 255, 17}, 40000)), "one byte": strings.Repeat("a", 300000)}
	for _, tool := range []string{"gzip", "bzip2", "xz", "zstd"} {
		for name, text := range texts {
			t.Run(tool+"/"+name, func(t *testing.T) {
				ours := commandtest.Inside(t, &commandtest.Case{Args: []string{tool, "-c"}, Stdin: text})
				if ours.Status != 0 {
					t.Fatalf("packing: status %d, %s", ours.Status, ours.Stderr)
				}
				back := commandtest.Inside(t, &commandtest.Case{Args: []string{tool, "-dc"}, Stdin: ours.Stdout})
				if back.Status != 0 || back.Stdout != text {
					t.Errorf("expanding our own: status %d, %d bytes of %d; %s", back.Status, len(back.Stdout), len(text), back.Stderr)
				}
				if _, err := exec.LookPath(tool); err != nil {
					t.Skipf("the real %s is not installed, to expand what ours packs", tool)
				}
				theirs := commandtest.Outside(t, &commandtest.Case{Args: []string{tool, "-dc"}, Stdin: ours.Stdout})
				if theirs.Status != 0 || theirs.Stdout != text {
					t.Errorf("the real tool expands ours: status %d, %d bytes of %d; %s", theirs.Status, len(theirs.Stdout), len(text), theirs.Stderr)
				}
				theirs = commandtest.Outside(t, &commandtest.Case{Args: []string{tool, "-c"}, Stdin: text})
				back = commandtest.Inside(t, &commandtest.Case{Args: []string{tool, "-dc"}, Stdin: theirs.Stdout})
				if back.Status != 0 || back.Stdout != text {
					t.Errorf("expanding theirs: status %d, %d bytes of %d; %s", back.Status, len(back.Stdout), len(text), back.Stderr)
				}
			})
		}
	}
}

// TestSqueezeFiles checks what happens to files, which does not depend on the
// bytes that packing yields.
func TestSqueezeFiles(t *testing.T) {
	w := commandtest.Case{Files: map[string]string{"f": strings.Repeat("x", 1000), "g": "g", "h.gz": "h"}}
	for line, want := range map[string]string{
		"gzip f":          "f.gz g h.gz",
		"gzip -k f":       "f f.gz g h.gz",
		"gzip -9 f g":     "f.gz g.gz h.gz",
		"gzip -c f":       "f g h.gz",
		"gzip -S .zip f":  "f.zip g h.gz",
		"bzip2 f":         "f.bz2 g h.gz",
		"bzip2 -k f":      "f f.bz2 g h.gz",
		"xz f g":          "f.xz g.xz h.gz",
		"xz -k -9 f":      "f f.xz g h.gz",
		"lzma f":          "f.lzma g h.gz",
		"zstd f":          "f f.zst g h.gz",
		"zstd --rm -19 f": "f.zst g h.gz",
		"zstd f -o out":   "f g h.gz out",
		"gzip h.gz":       "f g h.gz",
		"gzip -f h.gz":    "f g h.gz.gz",
	} {
		r := commandtest.Inside(t, &commandtest.Lines(w, line)[0])
		var names []string
		for _, l := range r.Tree {
			names = append(names, strings.Split(l, `"`)[1])
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s; %s", line, got, want, r.Stderr)
		}
	}
}

func FuzzGzipHeader(f *testing.F) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte("seed"))
	w.Close()
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, tool := range []string{"gzip", "bzip2", "xz", "zstd"} {
			r := commandtest.Inside(t, &commandtest.Case{Args: []string{tool, "-dc"}, Stdin: string(data)})
			if r.Status > 2 {
				t.Errorf("%s: status %d", tool, r.Status)
			}
		}
	})
}
