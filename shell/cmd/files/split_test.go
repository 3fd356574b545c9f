package files

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestDd(t *testing.T) {
	w := commandtest.Case{Files: map[string]string{"f": "Hello, World\nsecond line\n", "big": numbered(300), "blk": "ab  cd  ", "d/": ""}, Stdin: "standard input\n"}
	var cases []commandtest.Case
	for _, args := range []string{"if=f of=n", "if=f", "", "if=f bs=4 count=2", "if=f bs=4 skip=1", "if=f ibs=3 obs=7 of=n", "if=f of=big conv=notrunc", "if=f of=big bs=5 seek=2 conv=notrunc", "if=f of=big bs=5 seek=2", "if=f conv=ucase", "if=f conv=lcase", "if=f conv=swab", "if=f conv=sync bs=40", "if=f conv=sync,ucase ibs=10", "if=f cbs=10 conv=block", "if=blk cbs=4 conv=unblock", "if=f count=5 iflag=count_bytes", "if=f skip=5 iflag=skip_bytes", "if=f of=n seek=3 oflag=seek_bytes", "if=f of=big oflag=append conv=notrunc", "if=nope", "if=f of=no/n", "if=d", "of=d", "if=f conv=bogus", "if=f iflag=bogus", "if=f status=bogus", "bogus=1", "bogus", "if=f bs=0", "if=f bs=x", "if=f bs=1kx2", "if=f count=0", "if=f count=2x3 bs=1", "if=f skip=100", "if=f bs=1M", "if=f conv=lcase,ucase", "if=f conv=excl of=big", "if=f conv=nocreat of=n", "if=f bs=3 count=7B", "skip=2 bs=3", "bs=4 count=1 iflag=fullblock", "if=f of=n conv=fsync", "if=/nope/x", "if=f cbs=5 conv=block,ucase", "if=f bs=99999999999999999999", "if=f count=1K bs=2", "if=f oseek=1 of=n bs=2", "if=f iseek=1 bs=2", "if=f conv=", "if=f seek=1"} {
		c := w
		c.Name = args
		c.Args = append([]string{"dd", "status=noxfer"}, strings.Fields(args)...)
		cases = append(cases, c)
	}
	commandtest.Run(t, append(cases, commandtest.Lines(w, "dd if=f status=none", "dd --bogus", "dd if=f of=n status=none bs=1 count=3")...))
}

func TestSplit(t *testing.T) {
	w := commandtest.Case{Files: map[string]string{"f": numbered(25), "nonl": "a\nb\nc", "empty": "", "z": "a\x00bb\x00c\x00", "d/": "", "one": strings.Repeat("x", 50)}, Stdin: numbered(5)}
	commandtest.Run(t, commandtest.Lines(w,
		"split f", "split -l 10 f", "split -10 f", "split -l 10 f out.", "split -b 50 f", "split -b 1K f", "split -C 50 f", "split -C 5 f", "split -n 3 f", "split -n l/3 f", "split -n r/3 f", "split -n 2/3 f", "split -n l/2/3 f", "split -n r/2/3 f", "split -d -l 10 f", "split -x -l 2 f", "split --numeric-suffixes=5 -l 10 f", "split --hex-suffixes=a -l 30 f", "split -a 3 -l 10 f", "split -a 1 -l 1 -d f", "split -a 0 -l 10 f", "split --additional-suffix=.txt -l 10 f", "split --additional-suffix=a/b f", "split --verbose -l 10 f", "split -e -n 5 empty", "split -n 5 empty", "split -l 2 nonl", "split -t x -l 1 one", "split -t '\\0' -l 1 z", "split -t ab f", "split -l 2 -", "split", "split -n 2", "split -b 0 f", "split -b x f", "split -l x f", "split -n x f", "split -n 0 f", "split -n 4/3 f", "split -n l/x f", "split -l 1 -b 1 f", "split nope", "split d", "split f a b", "split -l 1 f", "split -a x f", "split -z", "split empty", "split -n l/5 one", "split -n 30 -d nonl", "split -n l/2 nonl", "split -e -n l/5 one", "split --lines=10 --suffix-length=4 f p", "split -d --number=l/4 f", "split -C 20 one", "split -b 10 f no/x", "split -u -n r/2 f", "split -1 nonl",
	))
}

func TestCsplit(t *testing.T) {
	w := commandtest.Case{Files: map[string]string{"f": numbered(10), "ch": "intro\nChapter 1\none\nChapter 2\ntwo\nChapter 3\nthree\n"}, Stdin: numbered(5)}
	commandtest.Run(t, commandtest.Lines(w,
		"csplit f 4", "csplit f 4 7", "csplit f '/line 5/'", "csplit ch /Chapter/ {*}", "csplit ch /Chapter/ {1}", "csplit ch /Chapter/ {5}", "csplit -z ch /intro/ /Chapter/ {*}", "csplit ch %Chapter%", "csplit ch '%Chapter 2%' /3/", "csplit f '/line 5/+1'", "csplit f '/line 5/-2'", "csplit -s f 4", "csplit -f out f 4", "csplit -b %03d.txt f 4", "csplit -n 4 f 4", "csplit f 40", "csplit -k f 40", "csplit f 3 {2}", "csplit f 3 {*}", "csplit f 3 {9}", "csplit f /nope/", "csplit -k f /nope/", "csplit f", "csplit", "csplit nope 3", "csplit f 0", "csplit f x", "csplit f /x", "csplit f '/line 2/x'", "csplit f 3 {", "csplit f 3 {x}", "csplit f 5 3", "csplit - 3", "csplit --suppress-matched ch /Chapter/ {*}", "csplit --suppress-matched f 4", "csplit -b %s f 3", "csplit -b x f 3", "csplit f '/\\(/'", "csplit -q -z f 1 3", "csplit f 3 3", "csplit f 1", "csplit ch /Chapter/ {*} -f ch-", "csplit f '/line 1/'", "csplit f '/line 1$/' '/line 2/'", "csplit -n x f 3", "csplit f '%line 3%' '%line 6%' 8",
	))
}

func TestShred(t *testing.T) {
	w := commandtest.Case{Files: map[string]string{"f": "secret\n", "z": strings.Repeat("\x00", 100), "d/": ""}}
	commandtest.Run(t, commandtest.Lines(w,
		"shred -n 0 -z -x f", "shred -n 0 -z -x -s 3 f", "shred -u f", "shred -uv f", "shred nope", "shred d", "shred", "shred -n x f", "shred -s x f", "shred -n 0 -zv f", "shred -n 1 --random-source=z -x f", "shred -n 1 --random-source=nope f", "shred -vn 1 -u f", "shred --remove f",
	))
}
