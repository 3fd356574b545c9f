package archive

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io/fs"
	"os/exec"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

// makeZip builds an archive of names and contents; a name that ends in a slash
// is a directory, one in "->" a symlink.
func makeZip(t testing.TB, members ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i+1 < len(members); i += 2 {
		h := &zip.FileHeader{Name: strings.TrimSuffix(members[i], "->"), Method: zip.Deflate, Modified: past}
		switch {
		case strings.HasSuffix(members[i], "/"):
			h.SetMode(fs.ModeDir | 0o755)
		case strings.HasSuffix(members[i], "->"):
			h.Method = zip.Store
			h.SetMode(fs.ModeSymlink | 0o777)
		default:
			h.SetMode(0o644)
		}
		data := []byte(members[i+1])
		h.CRC32, h.UncompressedSize64 = crc32.ChecksumIEEE(data), uint64(len(data))
		if len(data) == 0 {
			h.Method = zip.Store
		}
		if h.Method == zip.Deflate {
			data = deflated(t, data)
		}
		h.CompressedSize64 = uint64(len(data))
		h.ReaderVersion, h.CreatorVersion = 20, 3<<8|20
		h.ModifiedDate = uint16(past.Day() + int(past.Month())<<5 + (past.Year()-1980)<<9)
		h.ModifiedTime = uint16(past.Second()/2 + past.Minute()<<5 + past.Hour()<<11)
		h.Extra = binary.LittleEndian.AppendUint32([]byte{'U', 'T', 5, 0, 1}, uint32(past.Unix()))
		// The sizes are in the header, where zip looks for them.
		m, err := w.CreateRaw(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func deflated(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, 6)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestUnzip(t *testing.T) {
	good := makeZip(t, "f", "hello\n", "d/", "", "d/x", strings.Repeat("x", 100), "d/sub/y", "y")
	w := commandtest.Case{Times: true, Stdin: "y\nn\n", Entries: []commandtest.Entry{{Path: "a.zip", Content: good, Time: past}, {Path: "text", Content: "not a zip\n", Time: past}, {Path: "in/f", Content: "old\n", Time: past.AddDate(1, 0, 0)}, {Path: "in/d/x", Content: "old\n", Time: past.AddDate(-1, 0, 0)}, {Path: "o/", Time: past}, {Path: "in/d/", Time: past}, {Path: "in/", Time: past}}}
	commandtest.Run(t, commandtest.Lines(w, "unzip -l a.zip", "unzip -l a", "unzip -v a.zip", "unzip -t a.zip", "unzip -tq a.zip", "unzip -p a.zip f", "unzip -p a.zip", "unzip -c a.zip f", "unzip -Z1 a.zip", "unzip a.zip -d o", "unzip -q a.zip -d o", "unzip -qq a.zip -d o", "unzip a.zip f -d o", "unzip a.zip 'd/*' -d o", "unzip a.zip -x 'd/*' -d o", "unzip -j a.zip -d o", "unzip -o a.zip -d in", "unzip -n a.zip -d in", "unzip -u -o a.zip -d in", "unzip -f -o a.zip -d in", "unzip -l a.zip f", "unzip -l a.zip zz", "unzip a.zip zz -d o", "unzip -l a.zip f zz", "unzip nope", "unzip text", "unzip -d new/dir a.zip f", "unzip -od in a.zip f", "unzip -C a.zip F -d o", "unzip -lqq a.zip", "unzip -z a.zip", "unzip -oqj a.zip d/x -d in"))
	for line, want := range map[string]string{"unzip evil.zip -d in": "in in/abs in/evil in/out in/x in/x/y"} {
		c := commandtest.Lines(commandtest.Case{Entries: []commandtest.Entry{{Path: "evil.zip", Content: makeZip(t, "../../evil", "1", "/abs", "2", "out->", "../..", "x/../y", "3")}}}, line)[0]
		r := commandtest.Inside(t, &c)
		var got []string
		for _, l := range r.Tree {
			if path := strings.Split(l, `"`)[1]; path != "evil.zip" {
				got = append(got, path)
			}
		}
		sort.Strings(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s made %s, want %s", line, strings.Join(got, " "), want)
		}
	}
}

func TestZip(t *testing.T) {
	if _, err := exec.LookPath("unzip"); err != nil {
		t.Skip("the real unzip is not installed, to read what is made")
	}
	base := makeZip(t, "f", "old f\n", "g", "g\n")
	w := commandtest.Case{Entries: []commandtest.Entry{{Path: "f", Content: "hello hello hello hello hello\n", Time: past.AddDate(1, 0, 0)}, {Path: "g", Content: "g\n", Time: past.AddDate(-1, 0, 0)}, {Path: "d/x", Content: strings.Repeat("x", 1000), Time: past}, {Path: "d/sub/y.o", Content: "y", Time: past}, {Path: "l", Link: "f"}, {Path: "old.zip", Content: base}, {Path: "d/sub/", Time: past}, {Path: "d/", Time: past}}}
	for _, line := range []string{"zip a.zip f", "zip a f", "zip a.zip f nope", "zip a.zip nope", "zip -r a.zip d", "zip -r a.zip d/", "zip -r a.zip ./d", "zip a.zip d", "zip -q a.zip f", "zip -j a.zip d/x", "zip -rj a.zip d", "zip -0 a.zip f", "zip -9r a.zip d", "zip -r a.zip d -x '*.o'", "zip -r a.zip d -i '*x'", "zip -D -r a.zip d", "zip old.zip f", "zip old.zip d/x", "zip -u old.zip f g", "zip -f old.zip", "zip -d old.zip f", "zip -d old.zip zz", "zip -d old.zip '*'", "zip -y a.zip l", "zip a.zip l", "zip -m a.zip f", "zip -T old.zip", "zip no/a.zip f", "zip -v a.zip g", "zip a.zip f f", "zip -rx '*.o' @ a.zip d"} {
		t.Run(line, func(t *testing.T) {
			c := commandtest.Lines(w, line)[0]
			ours, theirs := commandtest.Inside(t, &c), commandtest.Outside(t, &c)
			// How well a file packs is each deflater's own.
			percent := func(s string) string {
				return regexp.MustCompile(`\d+%|\(out=\d+\)|compressed=\d+`).ReplaceAllString(s, "N")
			}
			if ours.Status != theirs.Status || percent(ours.Stdout) != percent(theirs.Stdout) || ours.Stderr != theirs.Stderr {
				t.Errorf("status %d, want %d\n%s%s\nwant\n%s%s", ours.Status, theirs.Status, ours.Stdout, ours.Stderr, theirs.Stdout, theirs.Stderr)
			}
			if got, want := zipListing(t, ours.Tree), zipListing(t, theirs.Tree); got != want {
				t.Errorf("archives:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// zipListing lists what the archives of a tree hold, and the other files.
func zipListing(t *testing.T, tree []string) string {
	t.Helper()
	var b strings.Builder
	for _, l := range tree {
		path := strings.Split(l, `"`)[1]
		if !strings.HasSuffix(path, ".zip") {
			b.WriteString(path + "\n")
			continue
		}
		data, err := unquote(l[strings.Index(l, ` 0644 `)+6:])
		if err != nil {
			t.Fatal(err)
		}
		r, err := zip.NewReader(strings.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.File {
			b.WriteString(path + ": " + f.Mode().String() + " " + f.Modified.UTC().Format("2006-01-02 15:04:05 ") + f.Name + "\n")
		}
	}
	return b.String()
}

func FuzzUnzip(f *testing.F) {
	f.Add([]byte(makeZip(f, "f", "x", "l->", "../..", "l/x", "y")))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := commandtest.Case{Args: []string{"unzip", "-o", "a.zip", "-d", "in"}, Files: map[string]string{"a.zip": string(data), "in/": ""}}
		for _, l := range commandtest.Inside(t, &c).Tree {
			if path := strings.Split(l, `"`)[1]; path != "in" && path != "a.zip" && !strings.HasPrefix(path, "in/") {
				t.Errorf("%s escaped", path)
			}
		}
	})
}
