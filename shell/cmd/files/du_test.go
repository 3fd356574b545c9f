package files

import (
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

func TestDu(t *testing.T) {
	big := string(make([]byte, 100000))
	w := commandtest.Case{Clean: sortLines, Entries: []commandtest.Entry{{Path: "d/a", Content: big, Time: past}, {Path: "d/sub/b", Content: "b", Time: past}, {Path: "d/sub/deep/c", Content: big, Time: past}, {Path: "f", Content: "x", Time: past},
		{Path: "h", Hard: "d/a"}, {Path: "l", Link: "d"}, {Path: "empty", Time: past}, {Path: "d/sub/deep/", Time: past}, {Path: "d/sub/", Time: past}, {Path: "d/", Time: past}}}
	commandtest.Run(t, commandtest.Lines(w,
		"du d", "du -s d", "du -a d", "du -h d", "du -sh d f", "du -c d f", "du -b d", "du --apparent-size d", "du -k d", "du -m d", "du -d 1 d", "du -d0 d", "du --max-depth=1 d", "du -S d", "du -l d h", "du d h", "du h d", "du f f", "du -L l", "du -D l", "du l", "du -0 d", "du --exclude=sub d", "du --exclude='*a' -a d", "du --si d", "du -B 1 d", "du -BK d", "du -B zz d", "du --block-size=1M d", "du nope", "du nope d", "du -as d", "du -s -d 1 d", "du -s -d 0 d", "du -d x d", "du -z", "du --inodes d", "du -t 100K d", "du -t -100K d", "du -t x d", "du --time d/sub", "du --time=atime d/sub", "du --time=bogus d", "du --time --time-style=+%Y d/sub", "du -ab d", "du empty", "du -x d", "du -P l", "du -ah d", "du -ach d", "du d/sub d", "du d d/sub",
	))
}

func TestTree(t *testing.T) {
	w := commandtest.Case{Entries: []commandtest.Entry{{Path: "d/x", Content: "x\n", Mode: 0o755, Time: past}, {Path: "d/sub/y", Content: "yy\n", Time: past}, {Path: "e/", Time: past}, {Path: "sp ace", Time: past}, {Path: ".h", Time: past}, {Path: "file10", Time: past}, {Path: "file9", Time: past}, {Path: "d/.hid", Time: past}, {Path: "d/sub/", Time: past}, {Path: "d/", Time: past}, {Path: "p", FIFO: true}}}
	links := w
	links.Entries = append(append([]commandtest.Entry{}, w.Entries...), commandtest.Entry{Path: "dl", Link: "d"}, commandtest.Entry{Path: "gone", Link: "nowhere"}, commandtest.Entry{Path: "up", Link: "."}, commandtest.Entry{Path: "fl", Link: "d/x"})
	wide := links
	wide.Env = []string{"LC_ALL=C.UTF-8"}
	commandtest.Run(t, join(commandtest.Lines(w,
		"tree", "tree -a", "tree -d", "tree -f", "tree -L 1", "tree -L 2 .", "tree -F", "tree -p d", "tree -s d", "tree -h d", "tree --si d", "tree -i", "tree -fi d", "tree nope", "tree d nope", "tree d e", "tree --noreport", "tree -P '*y'", "tree -P 'x|y' --prune", "tree -I sub", "tree -I 'sub|e'", "tree --dirsfirst", "tree --filesfirst", "tree -r", "tree -v", "tree -t d", "tree --sort=size d", "tree --sort size d", "tree -ug d/sub", "tree -pugs d", "tree -D d/sub", "tree --timefmt %Y -D d/sub", "tree --du d", "tree --du -h d", "tree --prune", "tree -L 0", "tree -L x", "tree d/x", "tree -Q d", "tree -N", "tree -q", "tree --charset utf-8 d", "tree --charset=ascii d", "tree -dL 1", "tree --filelimit 1 .", "tree --matchdirs -P sub --prune", "tree -J", "tree -X", "tree -J d -L 1", "tree -X -p d", "tree -J -sp d", "tree -o out d", "tree --ignore-case -P 'X'", "tree -d -L 2 d", "tree -aI '.*'", "tree d/", "tree ./d", "tree -U d/sub", "tree -n d", "tree -J -D d/sub", "tree d -L", "tree -P",
	), commandtest.Lines(links, "tree -l d", "tree dl", "tree -F .", "tree --inodes nope", "tree -df")))
	t.Run("links", func(t *testing.T) {
		commandtest.Run(t, commandtest.Lines(links, "tree", "tree -l -L 2", "tree -a", "tree -J", "tree -X", "tree -d", "tree --dirsfirst", "tree -C"))
	})
	t.Run("UTF-8", func(t *testing.T) {
		commandtest.Run(t, commandtest.Lines(wide, "tree", "tree -a d", "tree -X d", "tree -J d"))
	})
}

func TestDf(t *testing.T) {
	// Sizes and names are each file system's own: the shape is compared.
	shape := func(s string) string { return s }
	w := commandtest.Case{Clean: shape, Files: map[string]string{"f": ""}}
	commandtest.Run(t, commandtest.Lines(w, "df nope", "df --output=bogus", "df --output=size,size", "df -z", "df -t nosuchtype", "df -iT --output"))
	for _, tc := range []struct{ args, head string }{
		{"df", "Filesystem     1K-blocks  Used Available Use% Mounted on\n"},
		{"df -P", "Filesystem     1024-blocks  Used Available Capacity Mounted on\n"},
		{"df -m", "Filesystem     1M-blocks  Used Available Use% Mounted on\n"},
	} {
		got := commandtest.Inside(t, &commandtest.Lines(w, tc.args)[0])
		if got.Status != 0 || len(got.Stdout) == 0 {
			t.Errorf("%s: status %d, %q", tc.args, got.Status, got.Stdout)
		}
	}
}
