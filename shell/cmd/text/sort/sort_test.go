package sort

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

var world = commandtest.Case{
	Stdin: "stdin b\nstdin a\n",
	Files: map[string]string{
		"f":     "banana\napple\nCherry\nApple\ncherry\nbanana\n\n  indented\nzebra\n",
		"n":     "10\n9\n-5\n 3\n1.5\n1.50\n+2\nabc\n\n007\n0\n-0\n.5\n1e3\n99999999999999999999\n",
		"h":     "1K\n2M\n512\n1G\n-1K\n1.5K\n1k\n0K\n3T\n10\n2m\n",
		"m":     "Mar\nJAN\nfeb\ndec x\nfoo\n apr\n\n",
		"v":     "a-1.10\na-1.9\na-1.2.tar.gz\na-1.2\na1\na01\n1.0~rc1\n1.0\n.hidden\n..\n.\nfile10.txt\nfile9.txt\n",
		"keys":  "b 2 x\na 10 y\nc 1 z\na 9 x\nb  2 w\n",
		"csv":   "3,apple,10\n1,banana,9\n2,cherry,10\n2,apple,1\n,,\n",
		"tabs":  "b\t2\na\t10\nc\t1\n",
		"g":     "1e3\n100\ninf\n-inf\nnan\nxyz\n0x10\n1e-3\n-1e3\n",
		"dup":   "a 1\nA 1\na 2\nb 1\na 1\n",
		"s1":    "a\nc\ne\n",
		"s2":    "b\nc\nd\n",
		"noeol": "b\na",
		"nul":   "b\x00a\x00c\n\x00",
		"bin":   "b\x00x\nb\na\xff\na\x80\n",
		"e":     "",
		"punct": "a-b\nab\na.c\n#z\na b\n\x01ab\n",
		"names": "s1\x00s2\x00",
		"empty": "a\x00\x00b\x00",
		"d/":    "",
	},
}

func TestSort(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"sort f", "sort", "sort -", "sort -r f", "sort -f f", "sort -fs f", "sort -b f", "sort -u f", "sort -fu f", "sort -n n", "sort -nr n", "sort -nu n", "sort -ns n", "sort -g g", "sort -gr g", "sort -g n", "sort -h h", "sort -hr h", "sort -M m", "sort -Mr m", "sort -V v", "sort -Vr v", "sort -d punct", "sort -i punct", "sort -df f",
		"sort f s1", "sort s1 - s2", "sort noeol", "sort noeol s1", "sort -z nul", "sort bin", "sort e", "sort -s f", "sort -rs f", "sort --reverse f", "sort --numeric-sort n", "sort --sort=numeric n", "sort --sort=version v", "sort --sort=month m", "sort --sort=human-numeric h", "sort --sort=general g", "sort --unique --ignore-case f", "sort -R e", "sort -o out f", "sort -o f f", "sort f -o f -r",
		"sort -m s1 s2", "sort -mu s1 s2", "sort -m s2 s1", "sort -mr s1 s2", "sort -m -o s1 s1 s2", "sort -m", "sort -c f", "sort -c s1", "sort -C f", "sort -cu s2", "sort -cu dup", "sort -cr s1", "sort -cn n", "sort -c", "sort --check s1", "sort --check=quiet f", "sort --check=silent f", "sort --check=diagnose-first f", "sort -c e", "sort -cf f", "sort -S 1M f", "sort -S 10% f", "sort -S 1 f", "sort -T . f", "sort --parallel=4 f", "sort --batch-size=2 s1 s2",
	))
}

func TestKeys(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"sort -k1 keys", "sort -k2 keys", "sort -k2n keys", "sort -k2,2n keys", "sort -k2,2nr keys", "sort -k1,1 -k2,2n keys", "sort -k1,1r -k2,2n keys", "sort -k3 keys", "sort -k3,3 -s keys", "sort -k 2b keys", "sort -b -k2 keys", "sort -k2b,2 keys", "sort -k1.1,1.1 keys", "sort -k2.2 keys", "sort -k2.2b keys", "sort -k 2.1,2.1n keys", "sort -k1,1 -u keys", "sort -k1,1 -s keys", "sort -r -k1,1 keys", "sort -nk2 keys", "sort -k9 keys", "sort -k1,9 keys", "sort -k2,1 keys",
		"sort -t, -k2 csv", "sort -t, -k2,2 csv", "sort -t, -k3n csv", "sort -t, -k1,1n -k2,2 csv", "sort -t, -k3,3nr -k2,2 csv", "sort -t , -k 2.2,2.3 csv", "sort -t '\t' -k2n tabs", "sort -t, -u -k2,2 csv", "sort -t, -k2,2.0 csv", "sort -t, -k1.2 csv", "sort -t ' ' -k2 keys", "sort -t ' ' -k2,2n keys", "sort -t '\\0' -k1 nul", "sort -fk1,1 dup", "sort -k1,1f dup", "sort -k1f -u dup", "sort -k1,1f -k2,2nr dup", "sort -k1,1 -k1,1r dup", "sort -k1M m", "sort -k1V v", "sort -k1h h", "sort -k1g g", "sort -k1d punct", "sort -k1i punct",
		"sort +1 keys", "sort +1 -2 keys", "sort +1n keys", "sort +0 -1 +1n keys", "sort +0.1 keys", "sort +1.1 -1.2 keys", "sort -t, +1 -2 csv", "sort +1b keys", "sort -n +1 keys", "sort -c -k2n keys", "sort -k1,1 -k2,2n -o out keys", "sort --key=2n keys", "sort --field-separator=, --key=2 csv", "sort -k2 -n keys", "sort -k2,2 -k1,1r keys", "sort -k2n -r keys", "sort -rk2n keys", "sort -k2nr -r keys",
	))
}

func TestMistakes(t *testing.T) {
	lines := []string{
		"sort nope", "sort f nope", "sort d", "sort -o d f", "sort -o nope/x f", "sort -k 0 f", "sort -k x f", "sort -k '' f", "sort -k 1x f", "sort -k 1. f", "sort -k 1.0 f", "sort -k 1, f", "sort -k 1,0 f", "sort -k 1,2.x f", "sort -k -1 f", "sort -k 1-2 f", "sort -t ab f", "sort -t '' f", "sort -t , -t : f", "sort -nh f", "sort -nM f", "sort -dn f", "sort -in f", "sort -Vn f", "sort -Rn f", "sort -k1n -k2hg f", "sort -VR e",
		"sort -cC f", "sort -c f s1", "sort -c -o x f", "sort -C -o x f", "sort -o a -o b f", "sort --sort=foo f", "sort --check=foo f", "sort -S x f", "sort --batch-size=1 f", "sort --batch-size=x f", "sort --parallel=0 f", "sort --parallel=x f", "sort --foo", "sort -Q", "sort -k", "sort --files0-from=names", "sort --files0-from=nope", "sort --files0-from=names f", "sort --files0-from=empty", "sort --files0-from=e", "sort -m nope s1", "sort -c nope", "sort -fnh f", "sort -bgn f",
	}
	w := world
	w.Env = []string{"LC_ALL=C.UTF-8"}
	cases := commandtest.Lines(w, lines...)
	for i := range cases {
		cases[i].Name = "utf8 " + cases[i].Name
	}
	commandtest.Run(t, append(commandtest.Lines(world, lines...), cases...))
}

// TestSpill sorts more than the least budget holds, so that runs are merged.
func TestSpill(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var in []string
	for range 60000 {
		in = append(in, fmt.Sprintf("%d %08x", r.IntN(500), r.Uint32()))
	}
	text := strings.Join(in, "\n") + "\n"
	for _, args := range [][]string{{"sort", "-S", "1M"}, {"sort", "-S", "1M", "-u", "-k1,1n"}, {"sort", "-S1M", "-s", "-k1,1nr"}} {
		c := commandtest.Case{Args: args, Stdin: text}
		got := commandtest.Inside(t, &c)
		c.Args = slices.DeleteFunc(slices.Clone(args), func(s string) bool { return strings.HasPrefix(s, "-S") || s == "1M" })
		want := commandtest.Inside(t, &c)
		if got.Status != 0 || got.Stdout != want.Stdout || got.Stderr != "" {
			t.Errorf("%q: status %d, %q; %d bytes, want %d", args, got.Status, got.Stderr, len(got.Stdout), len(want.Stdout))
		}
		if len(got.Tree) != 0 {
			t.Errorf("%q left %q behind", args, got.Tree)
		}
	}
	c := commandtest.Case{Args: []string{"sort", "-S1M"}, Stdin: text}
	slices.Sort(in)
	if got := commandtest.Inside(t, &c); got.Stdout != strings.Join(in, "\n")+"\n" {
		t.Error("not sorted")
	}
}

// TestRandom shows that -R keeps equal lines together and loses none.
func TestRandom(t *testing.T) {
	c := commandtest.Case{Args: []string{"sort", "-R"}, Stdin: strings.Repeat("a\nb\nc\nd\ne\n", 3)}
	got := strings.Fields(commandtest.Inside(t, &c).Stdout)
	groups := slices.Compact(slices.Clone(got))
	slices.Sort(groups)
	if len(got) != 15 || strings.Join(groups, "") != "abcde" {
		t.Errorf("%q", got)
	}
}
