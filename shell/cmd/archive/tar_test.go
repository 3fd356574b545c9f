package archive

import (
	"archive/tar"
	"bytes"
	"os/exec"
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

// makeTar builds an archive out of headers; the content of a file is what its
// PAXRecords say under "content".
func makeTar(t testing.TB, format tar.Format, headers ...tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		content := h.PAXRecords["content"]
		h.PAXRecords = nil
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		h.Size, h.Format, h.Uname, h.Gname = int64(len(content)), format, "root", "root"
		if h.ModTime.IsZero() {
			h.ModTime = past
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func file(name, content string) tar.Header {
	return tar.Header{Name: name, PAXRecords: map[string]string{"content": content}}
}

func TestTarRead(t *testing.T) {
	long := strings.Repeat("long/", 30) + "name"
	good := makeTar(t, tar.FormatGNU, file("f", "hello\n"), tar.Header{Name: "d/", Typeflag: tar.TypeDir, Mode: 0o750}, file("d/x", "x\n"), file("d/sub/y", "y\n"), tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "f", Mode: 0o777},
		tar.Header{Name: "h", Typeflag: tar.TypeLink, Linkname: "f"}, tar.Header{Name: "p", Typeflag: tar.TypeFifo}, tar.Header{Name: "suid", Mode: 0o4755, PAXRecords: map[string]string{"content": "s"}}, tar.Header{Name: "with space", Uid: 54321, Gid: 54322}, tar.Header{Name: "new\nline"})
	w := commandtest.Case{Times: true, Entries: []commandtest.Entry{
		{Path: "a.tar", Content: good, Time: past}, {Path: "pax.tar", Content: makeTar(t, tar.FormatPAX, file(long, "deep"), tar.Header{Name: "frac", ModTime: past.Add(500 * time.Millisecond)}), Time: past},
		{Path: "long.tar", Content: makeTar(t, tar.FormatGNU, file(long, "deep")), Time: past}, {Path: "a.tgz", Content: packed(t, &gzipFilter, good), Time: past}, {Path: "a.tar.bz2", Content: packed(t, &bzip2Filter, good), Time: past}, {Path: "a.tar.xz", Content: packed(t, &xzFilter, good), Time: past}, {Path: "a.tar.zst", Content: packed(t, &zstdFilter, good), Time: past},
		{Path: "evil.tar", Content: makeTar(t, tar.FormatGNU, file("../../evil", "1"), file("/abs/evil", "2"), file("a/../../b", "3"), tar.Header{Name: "out", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, file("out/passwd", "4"), tar.Header{Name: "up", Typeflag: tar.TypeSymlink, Linkname: "../.."}, file("up/x", "5")), Time: past},
		{Path: "hard.tar", Content: makeTar(t, tar.FormatGNU, tar.Header{Name: "link", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}, tar.Header{Name: "none", Typeflag: tar.TypeLink, Linkname: "nowhere"}), Time: past},
		{Path: "cut.tar", Content: good[:1500], Time: past}, {Path: "text", Content: "not an archive\n", Time: past}, {Path: "empty", Time: past}, {Path: "zeros.tar", Content: string(make([]byte, 10240)), Time: past}, {Path: "in/f", Content: "old\n", Time: past}, {Path: "in/d", Content: "file in the way", Time: past}, {Path: "in/l", Content: "l", Time: past}, {Path: "list", Content: "f\nd/x\n", Time: past}, {Path: "tmp/", Time: past},
	}}
	piped := w
	piped.Stdin = good
	// A directory that something is made in has the time of the test.
	commandtest.Run(t, join(commandtest.Lines(w,
		"tar tf a.tar", "tar -tf a.tar", "tar tvf a.tar", "tar tvvf a.tar", "tar tf a.tgz", "tar tzf a.tgz", "tar tjf a.tar.bz2", "tar tJf a.tar.xz", "tar --zstd -tf a.tar.zst", "tar tf a.tar.xz", "tar tf pax.tar", "tar tvf pax.tar", "tar tvf pax.tar --full-time", "tar tf long.tar", "tar tf a.tar f", "tar tf a.tar d", "tar tf a.tar d/", "tar tf a.tar nope", "tar tf a.tar f f", "tar tf a.tar --wildcards '*x'", "tar tf a.tar '*x'", "tar tf a.tar --exclude=d", "tar tf a.tar --exclude='*y'", "tar tvf a.tar --numeric-owner", "tar -t --file=a.tar", "tar tf a.tar -T list", "tar tf nope.tar", "tar tf text", "tar tf empty", "tar tf zeros.tar", "tar tzf a.tar", "tar tf cut.tar", "tar --list --verbose --file a.tar d/x",
		"tar xf a.tar -C tmp", "tar xvf a.tar -C tmp", "tar xf a.tar -C tmp f", "tar xf a.tar -C tmp d/sub", "tar xf a.tgz -C tmp f", "tar xf a.tar -C in f", "tar xf a.tar -C in", "tar xkf a.tar -C in", "tar xf a.tar -C in --skip-old-files", "tar xf a.tar -C in --keep-newer-files f l", "tar xf a.tar -C in --overwrite f", "tar xf a.tar -C tmp --strip-components=1", "tar xvf a.tar -C tmp --strip-components=1", "tar xf a.tar -C tmp --transform 's/f/g/'", "tar xf a.tar -C tmp --xform 's,^,pre/,' f d/x", "tar xOf a.tar f d/x", "tar xOvf a.tar f", "tar xf a.tar -C nodir", "tar xf a.tar -C text", "tar xmf a.tar -C tmp nope", "tar xpf a.tar -C tmp suid", "tar xf a.tar --no-same-permissions -C tmp suid", "tar xf a.tar -C tmp --exclude='d*'", "tar xf long.tar -C tmp", "tar xf evil.tar -C tmp", "tar xvf evil.tar -C tmp", "tar xf hard.tar -C tmp", "tar xf a.tar --one-top-level=tmp/top f", "tar xf cut.tar -C tmp", "tar xf text", "tar xf nope", "tar xzf text", "tar xf a.tar -T list -C tmp",
		"tar", "tar -f a.tar", "tar ctf a.tar", "tar --foo", "tar -Q", "tar tf", "tar -t -f", "tar tf a.tar --strip-components=x", "tar df a.tar f", "tar dvf a.tar nope",
	), commandtest.Lines(piped, "tar t", "tar tf -", "tar xf - -C tmp f", "tar xO f")))
}

// listing is what the real tar lists of an archive, sorted: directories are
// read in different orders.
func listing(t *testing.T, data, squeeze string) string {
	t.Helper()
	r := commandtest.Outside(t, &commandtest.Case{Args: strings.Fields("tar " + squeeze + " -tvf -"), Stdin: data})
	if r.Status != 0 {
		t.Fatalf("the real tar does not read it: %s", r.Stderr)
	}
	lines := strings.Split(regexp.MustCompile(`20[0-9-]+ [0-9:]+ (\S+ ->)`).ReplaceAllString(r.Stdout, "T $1"), "\n")
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func TestTarCreate(t *testing.T) {
	if _, err := exec.LookPath("tar"); err != nil {
		t.Skip("the real tar is not installed, to read what is created")
	}
	w := commandtest.Case{Entries: []commandtest.Entry{{Path: "f", Content: "hello\n", Time: past}, {Path: "h", Hard: "f"}, {Path: "d/x", Content: "x\n", Mode: 0o600, Time: past}, {Path: "d/sub/y.o", Content: strings.Repeat("y", 5000), Time: past}, {Path: "d/.git/c", Content: "g", Time: past}, {Path: "l", Link: "f"}, {Path: "gone", Link: "nowhere"}, {Path: "p", FIFO: true, Time: past},
		{Path: strings.Repeat("n", 120), Content: "long", Time: past}, {Path: "suid", Mode: 0o4755, Time: past}, {Path: "names", Content: "f\nd/x\n", Time: past}, {Path: "ex", Content: "*.o\n", Time: past}, {Path: "d/.git/", Time: past}, {Path: "d/sub/", Time: past}, {Path: "d/", Time: past}}}
	for _, line := range []string{"tar cf - f", "tar cf - f h d l gone p", "tar -c f d", "tar cf - d --exclude='*.o'", "tar cf - -X ex d", "tar cf - --exclude=sub d", "tar cf - --exclude-vcs d", "tar cf - -C d x sub", "tar cf - -T names", "tar chf - l", "tar cf - --no-recursion d", "tar cf - --transform 's,^d,e,' d", "tar cf - --owner=0 --group=54321 f", "tar cf - --owner=bob:7 --group=g:8 f", "tar cf - --mtime=2001-02-03 f d", "tar cf - --mode=a+rw f d", "tar cf - --numeric-owner f", "tar cf - --format=posix f " + strings.Repeat("n", 120), "tar cf - --format=ustar f", "tar cf - " + strings.Repeat("n", 120), "tar czf - d", "tar cjf - f", "tar cJf - f", "tar --zstd -cf - f", "tar cf - ./d", "tar cf - d/", "tar cf - d/../f", "tar cf - -- f", "tar cf - --sort=name d", "tar cf - f f", "tar cf - --hard-dereference f h", "tar cf - suid"} {
		t.Run(line[:min(len(line), 60)], func(t *testing.T) {
			c := commandtest.Lines(w, line)[0]
			ours, theirs := commandtest.Inside(t, &c), commandtest.Outside(t, &c)
			if ours.Status != theirs.Status || ours.Stderr != theirs.Stderr {
				t.Errorf("status %d, want %d\n%s\nwant\n%s", ours.Status, theirs.Status, ours.Stderr, theirs.Stderr)
			}
			if len(theirs.Stdout)%10240 == 0 && len(ours.Stdout) != len(theirs.Stdout) && !strings.Contains(line, "posix") {
				t.Errorf("%d bytes, want %d", len(ours.Stdout), len(theirs.Stdout))
			}
			squeeze := map[string]string{"tar czf - d": "-z", "tar cjf - f": "-j", "tar cJf - f": "-J", "tar --zstd -cf - f": "--zstd"}[line]
			if got, want := listing(t, ours.Stdout, squeeze), listing(t, theirs.Stdout, squeeze); got != want {
				t.Errorf("listing:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestTarMessages(t *testing.T) {
	w := commandtest.Case{Files: map[string]string{"f": "x", "d/": ""}}
	commandtest.Run(t, commandtest.Lines(w, "tar cf /dev/stdout", "tar cf no/a.tar f", "tar rf no/a.tar f", "tar czf", "tar rzf a.tgz f", "tar c -T nolist", "tar cf a.tar --sort=bogus f"))
}

// TestTarUpdate adds to archives, and takes away from them.
func TestTarUpdate(t *testing.T) {
	base := makeTar(t, tar.FormatGNU, file("f", "hello\n"), file("g", "g\n"), file("dir/x", "x\n"))
	w := commandtest.Case{Entries: []commandtest.Entry{{Path: "a.tar", Content: base}, {Path: "b.tar", Content: makeTar(t, tar.FormatGNU, file("other", "o"))}, {Path: "f", Content: "new f\n", Time: past.AddDate(1, 0, 0)}, {Path: "g", Content: "g\n", Time: past}, {Path: "n", Content: "n", Time: past}}}
	for line, want := range map[string]string{
		"tar rf a.tar n":              "f g dir/x n",
		"tar rf a.tar n f":            "f g dir/x n f",
		"tar rf fresh.tar n":          "n",
		"tar uf a.tar f g n":          "f g dir/x f n",
		"tar Af a.tar b.tar":          "f g dir/x other",
		"tar --delete -f a.tar g":     "f dir/x",
		"tar --delete -f a.tar dir f": "g",
	} {
		r := commandtest.Inside(t, &commandtest.Lines(w, line)[0])
		if r.Status != 0 {
			t.Errorf("%s: status %d, %s", line, r.Status, r.Stderr)
		}
		target := strings.Fields(line)[2]
		if strings.Contains(line, "--delete") {
			target = "a.tar"
		}
		if got := strings.Join(members(t, r.Tree, target), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// members lists an archive out of a tree's lines.
func members(t *testing.T, tree []string, name string) []string {
	t.Helper()
	for _, l := range tree {
		if !strings.HasPrefix(l, `file "`+name+`" `) {
			continue
		}
		body := l[strings.Index(l, ` 0644 `)+6:]
		data, err := unquote(body)
		if err != nil {
			t.Fatal(err)
		}
		if len(data)%10240 != 0 {
			t.Errorf("%s has %d bytes, not whole records", name, len(data))
		}
		var names []string
		tr := tar.NewReader(strings.NewReader(data))
		for {
			h, err := tr.Next()
			if err != nil {
				return names
			}
			names = append(names, h.Name)
		}
	}
	t.Fatalf("no %s", name)
	return nil
}

func FuzzTar(f *testing.F) {
	f.Add([]byte(makeTar(f, tar.FormatGNU, file("f", "x"), tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "../x"}, file("l/y", "z"))))
	f.Add([]byte(makeTar(f, tar.FormatPAX, file(strings.Repeat("a/", 80)+"f", "x"))))
	f.Add([]byte("not a tar"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := commandtest.Case{Args: []string{"tar", "xf", "-", "-C", "in"}, Stdin: string(data), Files: map[string]string{"in/": ""}}
		r := commandtest.Inside(t, &c)
		for _, l := range r.Tree {
			if path := strings.Split(l, `"`)[1]; path != "in" && !strings.HasPrefix(path, "in/") {
				t.Errorf("%s escaped", path)
			}
		}
	})
}
