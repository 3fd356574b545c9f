package shell_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

var (
	seedFlag  = flag.Uint64("seed", 1, "seed of the first generated script")
	countFlag = flag.Int("scripts", 150, "how many scripts to generate")
)

// soak reports whether the long form of the tests was asked for: VFSD_SOAK=1.
func soak() bool { return os.Getenv("VFSD_SOAK") == "1" }

// TestGenerated makes scripts at random from a grammar, runs each in Bash and
// here, and shows the smallest script that still differs. -seed and -scripts
// choose which and how many.
func TestGenerated(t *testing.T) {
	requireBash(t)
	n := *countFlag
	if soak() {
		n *= 100
	}
	for i := 0; i < n; i++ {
		seed := *seedFlag + uint64(i)
		g := &generator{r: rand.New(rand.NewPCG(seed, 0))}
		root := g.script()
		if difference(t, root.String()) == "" {
			continue
		}
		small := shrink(root, func(n *node) bool { return difference(t, n.String()) != "" })
		t.Errorf("seed %d:\n%s\n%s", seed, small, difference(t, small.String()))
		if t.Failed() && i > 0 && failures(t) > 20 {
			t.Fatal("too many differences")
		}
	}
}

var failed int

func failures(*testing.T) int { failed++; return failed }

// difference runs a script both ways. The lines of standard error are compared
// in any order, since the parts of a pipeline run side by side.
func difference(t *testing.T, script string) string {
	t.Helper()
	c := &commandtest.Case{Args: []string{"bash", "-c", script}, Env: []string{"HOME=/h"}}
	want := commandtest.Outside(t, c)
	got := runScript(t, c)
	sorted := func(s string) string {
		lines := strings.Split(s, "\n")
		sort.Strings(lines)
		return strings.Join(lines, "\n")
	}
	var b strings.Builder
	if got.Status != want.Status {
		fmt.Fprintf(&b, "status %d, want %d\n", got.Status, want.Status)
	}
	if got.Stdout != want.Stdout {
		fmt.Fprintf(&b, "stdout %q\n  want %q\n", got.Stdout, want.Stdout)
	}
	if sorted(got.Stderr) != sorted(want.Stderr) {
		fmt.Fprintf(&b, "stderr %q\n  want %q\n", got.Stderr, want.Stderr)
	}
	if g, w := strings.Join(got.Tree, "\n"), strings.Join(want.Tree, "\n"); g != w {
		fmt.Fprintf(&b, "files %s\n want %s\n", g, w)
	}
	return b.String()
}

// node is a piece of a generated script: text and other nodes. minimal is what
// shrinking may put in its place.
type node struct {
	parts   []any // string or *node
	minimal string
}

func (n *node) String() string {
	var b strings.Builder
	for _, p := range n.parts {
		fmt.Fprint(&b, p)
	}
	return b.String()
}

// shrink looks for a smaller tree that still fails.
func shrink(root *node, fails func(*node) bool) *node {
	for tries, progress := 0, true; progress && tries < 400; {
		progress = false
		for _, at := range children(root) {
			old := *at
			var candidates []node
			candidates = append(candidates, node{parts: []any{old.minimal}, minimal: old.minimal})
			for _, p := range old.parts {
				if c, ok := p.(*node); ok && c.minimal == old.minimal {
					candidates = append(candidates, *c)
				}
			}
			for _, c := range candidates {
				if c.String() == old.String() || len(c.String()) >= len(old.String()) {
					continue
				}
				tries++
				*at = c
				if fails(root) {
					progress = true
					old = *at
					break
				}
				*at = old
			}
		}
	}
	return root
}

// children lists a tree's nodes, outer ones first.
func children(n *node) []*node {
	var out []*node
	for _, p := range n.parts {
		if c, ok := p.(*node); ok {
			out = append(append(out, c), children(c)...)
		}
	}
	return out
}

// generator makes scripts.
type generator struct {
	r     *rand.Rand
	depth int
	fn    int // functions around
	loop  int
}

func (g *generator) pick(ss ...string) string { return ss[g.r.IntN(len(ss))] }

func (g *generator) chance(percent int) bool { return g.r.IntN(100) < percent }

// make assembles a node.
func (g *generator) make(minimal string, parts ...any) *node {
	return &node{parts: parts, minimal: minimal}
}

func (g *generator) script() *node {
	n := &node{}
	if g.chance(15) {
		n.parts = append(n.parts, g.make("", g.pick("set -e\n", "set -u\n", "set -o pipefail\n", "set -f\n", "shopt -s extglob\n", "shopt -s nullglob\n", "IFS=:\n", "IFS=\n", "set -eu\n", "set -x\n", "trap 'echo EXIT $?' EXIT\n", "trap 'echo ERR $?' ERR\n", "set -E\n", "shopt -s lastpipe\n", "set -- 'p q' '' r\n")))
	}
	for i := 0; i < 2+g.r.IntN(6); i++ {
		n.parts = append(n.parts, g.make("", g.stmt(), g.pick("\n", "\n", "; ")))
	}
	n.parts = append(n.parts, "echo \"end $? $x $y ${a[*]}\"")
	return n
}

func (g *generator) list(n int) *node {
	l := g.make(":")
	for i := 0; i < 1+g.r.IntN(n); i++ {
		if i > 0 {
			l.parts = append(l.parts, "; ")
		}
		l.parts = append(l.parts, g.stmt())
	}
	return l
}

// stmt makes a command.
func (g *generator) stmt() *node {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 4 {
		return g.simple()
	}
	switch g.r.IntN(36) {
	case 0, 1:
		return g.make(":", "if ", g.cond(), "; then ", g.list(2), g.opt(50, "; else ", g.list(2)), "; fi")
	case 2, 3:
		g.loop++
		defer func() { g.loop-- }()
		return g.make(":", "for ", g.name(), " in ", g.words(3), "; do ", g.list(2), "; done")
	case 4:
		v := string("ijklmn"[g.loop%6]) // an inner loop must not count for an outer one
		g.loop++
		defer func() { g.loop-- }()
		return g.make(":", "for ((", v, "=0; ", v, "<", fmt.Sprint(1+g.r.IntN(3)), "; ", v, "++)); do ", g.list(2), "; done")
	case 5:
		return g.make(":", "case ", g.word(), " in ", g.pattern(), ") ", g.list(2), g.pick(";;", ";&", ";;&"), " ", g.pattern(), "|", g.pattern(), ") ", g.list(1), ";; *) ", g.list(1), ";; esac")
	case 6:
		g.fn++
		defer func() { g.fn-- }()
		return g.make(":", g.pick("f", "g"), "() { ", g.list(3), "; }")
	case 7, 8:
		if g.fn > 0 { // no recursion
			return g.simple()
		}
		return g.make(":", g.pick("f", "g"), " ", g.words(2))
	case 9:
		return g.make(":", "( ", g.list(2), " )")
	case 10:
		return g.make(":", "{ ", g.list(2), "; }", g.opt(40, " > ", g.pick("o1", "o2"), g.pick("", " 2>&1")))
	case 11:
		return g.make(":", g.simple(), " | ", g.pick("cat", "{ read -r y; echo \"got $y\"; }", "while read -r l; do echo \"<$l>\"; done"))
	case 12:
		return g.make(":", g.stmt(), g.pick(" && ", " || "), g.simple())
	case 13:
		return g.make(":", "! ", g.simple())
	case 14:
		return g.make(":", "eval 'echo ", g.pick("$x", "a", "\"$y\"", "${z:-q}", "$((1+1))"), "; ", g.pick("x=5", "false", "f", "(exit 3)"), "'")
	case 15:
		return g.make(":", "cat <<E\n", g.text(), "\n", g.text(), "\nE\n")
	case 16:
		if g.fn > 0 {
			return g.make(":", g.pick("local ", "local -i ", "declare ", "local -a "), g.name(), g.opt(70, "=", g.word()))
		}
		return g.make(":", g.pick("declare -i ", "declare -u ", "declare -l ", "export ", "declare "), g.name(), g.opt(70, "=", g.word()))
	case 17:
		if g.fn > 0 {
			return g.make(":", "return ", g.pick("", "0", "1", "7", "$?"))
		}
		return g.make(":", "( exit ", g.pick("0", "3", "$x"), " )")
	case 18:
		if g.loop > 0 {
			return g.make(":", g.pick("break", "continue", "break 2"))
		}
		return g.simple()
	case 19:
		return g.make(":", "unset ", g.pick("x", "y", "a", "'a[1]'", "f", "-f g", "z"))
	case 20:
		return g.make(":", "read -r ", g.opt(20, "-a a "), g.name(), " ", g.name(), " <<< ", g.word())
	case 21:
		return g.make(":", "[[ ", g.test(), " ]]", g.pick("", " && echo yes", "; echo $?"))
	case 22:
		return g.make(":", "(( ", g.arith(), " ))", g.pick("", "; echo $?"))
	case 23:
		return g.make(":", "unset m; declare -A m=([", g.key(), "]=", g.word(), " [", g.key(), "]=", g.word(), ")")
	case 24:
		return g.make(":", "m[", g.key(), "]", g.pick("=", "+="), g.word())
	case 25:
		return g.make(":", g.pick("declare -p x", "declare -p a", "declare -p m", "declare -f f", "type f", "trap", "set -- \"${a[@]}\"", "readonly z", "declare -n n=x", "n=q", "echo $n ${!n}", "unset -n n"))
	case 26:
		return g.make(":", g.pick("trap 'echo sig' USR1; kill -USR1 $$", "trap - EXIT", "exec 3>o1; echo three >&3; exec 3>&-", "shift 2", "set -o noglob", "set +e", "shopt -u extglob", "cd .", "wait", "hash -r", "getopts ab: y -a -b v; echo $y $OPTARG $OPTIND", "OPTIND=1", "mapfile -t a <<< \"$x\"", "printf -v y '%05d' 42", "printf '%q\\n' \"$x\"", "echo {x,y}{1..2}", "let x=3+4", "echo ${FUNCNAME[0]} $LINENO"))
	case 27, 28:
		return g.rare()
	}
	return g.simple()
}

// rare makes what everyday scripts have less of.
func (g *generator) rare() *node {
	switch g.r.IntN(10) {
	case 0:
		g.loop++
		defer func() { g.loop-- }()
		return g.make(":", "while read -r l; do echo \"<$l>\"; ", g.list(1), "; done <<E\n", g.text(), "\nq r\nE\n:")
	case 1:
		return g.make(":", "cat <(", g.simple(), ") ", g.opt(40, "<(", g.simple(), ")"))
	case 2:
		return g.make(":", "( trap 'echo sub $?' EXIT; ", g.list(2), " )")
	case 3:
		return g.make(":", "{ ", g.simple(), "; } ", g.pick("2>&1", ">&2", "3>&1 >&3", "> o2 < /dev/null"))
	case 4:
		return g.make(":", "x=$(", g.simple(), "; ", g.simple(), "); echo \"$? $x\"")
	case 5:
		return g.make(":", "h() { local -n r=$1; r=", g.word(), "; local ", g.name(), "; echo \"$r\"; }; h ", g.pick("y", "x", "a", "'a[1]'"))
	case 6:
		return g.make(":", "for k in \"${!m[@]}\"; do echo \"$k=${m[$k]}\"; done")
	case 7:
		return g.make(":", "printf '", g.pick("%s,", "%5.2s|", "%q ", "%b", "%-4s|", "%x "), "' ", g.words(3), "; echo")
	case 8:
		return g.make(":", "set -o pipefail; ", g.simple(), " | ", g.pick("{ cat > /dev/null; false; }", "cat", "{ cat; exit 3; }"), " | cat; echo $? \"${PIPESTATUS[@]}\"; set +o pipefail")
	}
	return g.make(":", "case ", g.word(), " in ", g.pick("+(a|b)", "@(x|*)", "!(a)", "?(b)c", "*([a-z])"), ") ", g.simple(), ";; *) ", g.simple(), ";; esac")
}

// key makes a subscript of an associative array.
func (g *generator) key() *node {
	return g.make("k", g.pick("k", "a b", "$x", "\"q r\"", "x.y", "a/b", "1", "${y:-k}", "$(echo k)", "@k", "'s'"))
}

func (g *generator) opt(percent int, parts ...any) *node {
	if g.chance(percent) {
		return g.make("", parts...)
	}
	return g.make("")
}

func (g *generator) cond() *node {
	switch g.r.IntN(5) {
	case 0:
		return g.make(":", "[[ ", g.test(), " ]]")
	case 1:
		return g.make(":", "(( ", g.arith(), " ))")
	case 2:
		return g.make(":", "[ ", g.quotedWord(), g.pick(" = ", " != ", " -eq ", " -lt "), g.quotedWord(), " ]")
	case 3:
		return g.make(":", g.pick("true", "false", "! true"))
	}
	return g.simple()
}

// simple makes a simple command.
func (g *generator) simple() *node {
	switch g.r.IntN(14) {
	case 0, 1, 2:
		return g.make(":", "echo ", g.words(3))
	case 3, 4:
		return g.make(":", "printf '<%s>\\n' ", g.words(3))
	case 5, 6, 7:
		return g.make(":", g.name(), g.pick("=", "=", "+="), g.word())
	case 8:
		return g.make(":", "a=(", g.words(3), ")")
	case 9:
		return g.make(":", "a[", g.pick("0", "1", "2", "x", "i+1", "-1", "5"), "]", g.pick("=", "+="), g.word())
	case 10:
		return g.make(":", g.pick("true", "false", ":", "set --", "shift", "nosuch", "echo -n q"))
	case 11:
		return g.make(":", g.name(), "=", g.word(), " ", g.pick("eval 'echo \"[$x]\"'", ":", "true", "echo ${x-u}"))
	case 12:
		return g.make(":", "set -- ", g.words(3))
	}
	return g.make(":", "echo ", g.words(2), g.pick(" >&2", " > o1", " 2>/dev/null", " >> o2", ""))
}

func (g *generator) name() string { return g.pick("x", "y", "z") }

func (g *generator) words(n int) *node {
	l := g.make("qq")
	for i := 0; i < g.r.IntN(n+1); i++ {
		if i > 0 {
			l.parts = append(l.parts, " ")
		}
		l.parts = append(l.parts, g.word())
	}
	return l
}

// word makes a word.
func (g *generator) word() *node {
	w := g.make("qq")
	for i := 0; i < 1+g.r.IntN(2); i++ {
		w.parts = append(w.parts, g.piece())
	}
	return w
}

func (g *generator) piece() *node {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 6 {
		return g.make("qq", g.pick("a", "b", "1", "x"))
	}
	switch g.r.IntN(16) {
	case 0, 1:
		return g.make("qq", g.pick("a", "bc", "1", "23", "-", "x=1", "a:b", "*", "?", "o*", "[ab]", "~", "{a,b}", "{1..3}", "@", "%", "+", "a.b", "é"))
	case 2:
		return g.make("qq", "'", g.pick("", "a b", "$x", "\"", "*", ":"), "'")
	case 3, 4:
		return g.dquoted()
	case 5, 6:
		return g.make("qq", "$", g.pick("x", "y", "z", "1", "2", "#", "*", "@", "?", "{a[@]}", "{a[*]}", "{a[1]}", "{#a[@]}", "{#x}", "{!a[@]}", "{m[k]}", "{!m[@]}", "{m[@]}", "{!x}", "{x@Q}", "{a[@]@Q}", "{m[$x]}", "{#m[@]}", "_", "-", "0"))
	case 7, 8:
		return g.expansion(false)
	case 9:
		return g.make("qq", "$(", g.simple(), ")")
	case 10:
		return g.make("qq", "$((", g.arith(), "))")
	case 11:
		return g.make("qq", "\\", g.pick("a", "$", "*", "\\", " ", "\"", "'"))
	case 12:
		return g.make("qq", "$'", g.pick(`a\tb`, `\x41`, `\n`, `\'`, `\\`, `\101`), "'")
	case 13:
		return g.make("qq", "`echo ", g.pick("q", "$x", "a b"), "`")
	}
	return g.make("qq", g.pick("a", "b", "foo", "12", "0"))
}

func (g *generator) quotedWord() *node {
	return g.make("qq", g.dquoted())
}

func (g *generator) dquoted() *node {
	d := g.make("qq", "\"")
	for i := 0; i < g.r.IntN(4); i++ {
		switch g.r.IntN(8) {
		case 0, 1:
			d.parts = append(d.parts, g.pick("a", " ", "b c", "*", "'", "\\$", "\\\\", "~", ":"))
		case 2, 3:
			d.parts = append(d.parts, "$"+g.pick("x", "y", "z", "1", "@", "*", "#", "{a[@]}", "{a[*]}", "?"))
		case 4:
			d.parts = append(d.parts, g.expansion(true))
		case 5:
			d.parts = append(d.parts, g.make("qq", "$((", g.arith(), "))"))
		case 6:
			d.parts = append(d.parts, g.make("qq", "$(", g.simple(), ")"))
		default:
			d.parts = append(d.parts, "z")
		}
	}
	d.parts = append(d.parts, "\"")
	return d
}

func (g *generator) text() *node {
	return g.make("qq", g.pick("plain", "$x", "a \"b\" 'c'", "\\$x", "${y:-d}", "$((1+2))", "`echo t`", "$(echo s)", "a\\\\b", "*", "{a,b}"), " ", g.pick("", "$*", "q"))
}

// expansion makes ${...}.
func (g *generator) expansion(quoted bool) *node {
	n := g.pick("x", "y", "z", "1", "a[@]", "a[*]", "a[1]", "@", "*", "a")
	inner := func() *node {
		if quoted {
			return g.make("", g.pick("", "d", "$y", "a b", "'q'", "$(echo c)", "*"))
		}
		return g.make("", g.pick("", "d", "$y", "a b", "'q r'", "\"s t\"", "$(echo c)", "*", "\"$@\"", "~"))
	}
	switch g.r.IntN(8) {
	case 0, 1:
		return g.make("qq", "${", n, g.pick(":-", "-", ":+", "+"), inner(), "}")
	case 2:
		return g.make("qq", "${", g.pick("x", "y", "z"), g.pick(":=", "="), inner(), "}")
	case 3:
		return g.make("qq", "${", n, g.pick("#", "##", "%", "%%"), g.pattern(), "}")
	case 4:
		return g.make("qq", "${", n, g.pick("/", "//", "/#", "/%"), g.pattern(), "/", g.pick("", "X", "&", "$y", "\\&", "[&]"), "}")
	case 5:
		return g.make("qq", "${", n, ":", g.pick("0", "1", " -1", "2", "x", "9"), g.pick("", ":1", ":0", ":2"), "}")
	case 6:
		return g.make("qq", "${", n, g.pick("^", "^^", ",", ",,", "@Q", "@U", "@L", "@u", "^^[ab]"), "}")
	}
	return g.make("qq", "${#", g.pick("x", "y", "a", "a[@]", "a[0]", "@", "1"), "}")
}

func (g *generator) pattern() *node {
	return g.make("qq", g.pick("a", "*", "?", "[a-c]", "b*", "*b", "[!a]", "a?c", "$x", "\"$x\"", "'*'", "\\*", "[[:digit:]]", "o*", "*:*", ""+"x"))
}

func (g *generator) test() *node {
	switch g.r.IntN(7) {
	case 0:
		return g.make("a", g.word(), g.pick(" == ", " != ", " = "), g.pattern())
	case 1:
		return g.make("a", g.pick("-n ", "-z ", "-v ", "-e ", "-d "), g.pick("x", "$x", "a", "'a[1]'", "o1", "\"\"", "."))
	case 2:
		return g.make("a", g.word(), g.pick(" -eq ", " -lt ", " -ge "), g.pick("1", "x", "2+1", "0"))
	case 3:
		return g.make("a", g.word(), " =~ ", g.pick("^a", "b+", "(a|b)c?", "[0-9]+", "$x", "\"$x\"", "^$", "."))
	case 4:
		return g.make("a", g.word(), g.pick(" < ", " > "), g.word())
	case 5:
		return g.make("a", "! ( ", g.test(), g.pick(" && ", " || "), g.test(), " )")
	}
	return g.make("a", g.word())
}

func (g *generator) arith() *node {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 6 {
		return g.make("1", g.pick("1", "2", "x", "0"))
	}
	switch g.r.IntN(12) {
	case 0, 1, 2:
		return g.make("1", g.arith(), g.pick("+", "-", "*", " < ", " == ", "&&", "||", "|", "&", "^", "<<", ",", "%", "/", "**"), g.arith())
	case 3:
		return g.make("1", g.pick("x", "y", "a[1]", "a[0]"), g.pick("=", "+=", "-=", "*="), g.arith())
	case 4:
		return g.make("1", g.pick("x++", "++y", "x--", "--z"))
	case 5:
		return g.make("1", "(", g.arith(), ")")
	case 6:
		return g.make("1", g.pick("!", "-", "~", "+"), g.pick("x", "1", "y"))
	case 7:
		return g.make("1", g.arith(), " ? ", g.arith(), " : ", g.arith())
	case 8:
		return g.make("1", g.pick("a[0]", "a[x]", "${#a[@]}", "$x", "${y:-1}", "$((2+1))", "010", "0x1f", "2#11"))
	}
	return g.make("1", g.pick("1", "2", "3", "0", "x", "y", "7"))
}
