package data

import (
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

var yqWorld = commandtest.Case{Files: map[string]string{
	"a.yaml":  "# head\na: 1 # one\nb:\n  - x\n  - \"y\"\nc:\n  d: 'two'\n  e: [1, 2, {f: g}]\nz: null\nt: true\ns: |\n  multi\n  line\n",
	"two.yml": "a: 1\n---\na: 2\nb: 3\n", "f1.yml": "a: 1\nm:\n  k: v\nl: [1]\n", "f2.yml": "a: 2\nm:\n  j: w\nl: [2]\n",
	"j.json": `{"a":[1,2.5,"x"],"b":{"c":null,"d":true}}` + "\n", "x.xml": "<?xml version=\"1.0\"?>\n<r a=\"1\"><i>one</i><i>two</i><!-- c --><e/></r>\n",
	"t.toml": "title = \"T\"\n[owner]\nname = \"x\"\nn = [1, 2]\n", "p.properties": "a.b = 1\n# note\na.c = x y\n", "c.csv": "name,age\nbob,3\n\"a,l\",5\n",
	"anchors.yaml": "d: &d\n  x: 1\n  y: 2\ne:\n  <<: *d\n  y: 3\nf: *d\n", "i.ini": "[s]\nk = v\n", "bad.yaml": "a: [1\nb: }\n", "empty.yaml": "", "prog.yq": ".a\n",
	"post.md": "---\ntitle: T\n---\nbody\n",
}, Env: []string{"V=val", "N=5"}}

// TestYq compares with mikefarah's yq 4.54.3, without the warnings it logs.
func TestYq(t *testing.T) {
	var args [][]string
	for _, e := range []string{".", ".a", ".b", ".b[0]", ".b[]", ".c.d", ".c.e[2].f", ".nope", ".a + 1", `.a = 5`, `.c.d = "three"`, "del(.b)", ".b += [\"n\"]", "keys", "length", ".. | select(tag == \"!!str\")", "to_entries", "with_entries(.key |= \"x\" + .)", ".b | join(\",\")", "select(.a == 1)", ".b | sort | reverse", "has(\"a\")", ".c | to_json", ".c | @json", "[.a, .z]", "{\"n\": .a}", ".a as $x | $x + 2", "tag", ".b | map(. + \"!\")", "explode(.)", ".b[] | key", ".c.e | path", "... comments=\"\"", ".c style=\"flow\"", ".a line_comment=\"new\"", "env(V)", "strenv(N)", "env(N) + 1", ".b |= map(upcase)", "sort_keys(..)", ".s", ".t and false", ".z // \"dflt\"", ".b | contains([\"x\"])", ".c * {\"n\": 1}", "load(\"f1.yml\")", "load_str(\"f1.yml\")", ".x = load(\"f1.yml\").m", ".b | .[1:]", "[.[] | type]", ".b | any_c(. == \"x\")", "group_by(.a)", ".a |= . * 2", "with(.c; .d = 1)", "split(\"a\")", ".c.d | test(\"t.o\")", ".c.d | sub(\"t\", \"T\")", "(.a, .t)", ".a | @base64", "to_yaml", "[.b[] | {\"k\": .}]", ".a[", "foo(", "1 +", ".b | first", "paths?", ".b.x"} {
		args = append(args, []string{"yq", e, "a.yaml"})
	}
	for _, f := range []string{"a.yaml", "j.json", "x.xml", "t.toml", "p.properties", "c.csv", "anchors.yaml", "i.ini", "two.yml"} {
		for _, o := range []string{"yaml", "json", "xml", "toml", "props", "csv", "ini", "shell", "auto", "lua"} {
			args = append(args, []string{"yq", "-o", o, ".", f})
		}
	}
	for _, a := range [][]string{{"-P", "j.json"}, {"-o=json", "-I0", "a.yaml"}, {"-oj", "-I", "4", ".c", "a.yaml"}, {"-r=false", ".c.d", "a.yaml"}, {"-oj", ".c.d", "a.yaml"}, {"-oj", "-r", ".c.d", "a.yaml"}, {"-n", ".a.b = 1"}, {"-n", "1 + 2"}, {"-N", ".", "two.yml"}, {".a", "two.yml"}, {"ea", ". as $i ireduce ({}; . * $i)", "f1.yml", "f2.yml"}, {"eval-all", "select(fi == 0) * select(fi == 1)", "f1.yml", "f2.yml"}, {"ea", "select(fi == 0) *+ select(fi == 1)", "f1.yml", "f2.yml"}, {".a", "f1.yml", "f2.yml"}, {"ea", "[.[].a]", "two.yml"}, {"-i", ".a = 9", "a.yaml"}, {"-i", ".x.y = strenv(V)", "f1.yml"}, {"-i", "del(.b)", "j.json"}, {"-i", ".a", "nope"}, {"-i", ".a = 1"}, {"-e", ".nope", "a.yaml"}, {"-e", ".a", "a.yaml"}, {"-e", "false", "a.yaml"}, {".a", "nope.yaml"}, {".", "bad.yaml"}, {".", "empty.yaml"}, {".a = 1", "empty.yaml"}, {"prog.yq", "a.yaml"}, {"--from-file", "prog.yq", "a.yaml"}, {"-0", ".b[]", "a.yaml"}, {"-s", ".a", "two.yml"}, {"-s", "\"f_\" + $index", "two.yml"}, {"-f", "extract", ".title", "post.md"}, {"-f", "process", ".title = \"U\"", "post.md"}, {"-i", "-f", "process", ".title = \"U\"", "post.md"}, {"-p", "xml", ".r.i[0]", "x.xml"}, {"-p", "csv", ".[0].name", "c.csv"}, {"-p", "json", "-o", "yaml", ".", "j.json"}, {"explode(.)", "anchors.yaml"}, {"-oj", ".", "anchors.yaml"}, {"-c", ".", "a.yaml"}, {"-I4", ".", "a.yaml"}, {"-C", ".a", "a.yaml"}, {"-o", "foo", ".", "a.yaml"}, {"env(NOPE)", "a.yaml"}, {"--expression", ".a", "a.yaml"}, {"."}, {".a"}, {"-p", "toml", "."}, {"-n", "[1,2] | .[] * 2"}, {"e", ".a", "a.yaml"}, {"-V"}} {
		args = append(args, append([]string{"yq"}, a...))
	}
	args = append(args, []string{"yq"})
	var cases []commandtest.Case
	for _, a := range args {
		c := yqWorld
		c.Args = a
		c.Stdin = "a: stdin\n"
		c.AnyStderr = len(a) > 1 && (a[1] == "-V")
		cases = append(cases, c)
	}
	commandtest.Run(t, cases)
}
