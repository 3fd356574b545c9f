package data

import (
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

func join(lists ...[]commandtest.Case) []commandtest.Case {
	var out []commandtest.Case
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// TestJqMatrix tries filters on a value of each kind: what they yield, and how
// they fail.
func TestJqMatrix(t *testing.T) {
	var cases []commandtest.Case
	for _, f := range []string{".", ".a.b", ".[0]", ".[]", ".[]?", `."x"`, ".a[1:2]", "keys", "keys_unsorted", "length", "-.", ".a=1", `has("a")`, "tonumber", "tostring", "ascii_downcase", `test("a")`, `split(",")`, `join(",")`, "add", "any", "all", "flatten", "range(.)", "floor", "sqrt", "sort", "group_by(.)", "min", "max", "reverse", "implode", "explode", `ltrimstr("a")`, `startswith("a")`, `contains("a")`, `inside("a")`, `index("a")`, "to_entries", "del(.a)", `delpaths([["a"]])`, "paths", `getpath(["a"])`, "map(.)", "first", "last", "nth(1)", "unique", "transpose", "tojson", "@csv", "@tsv", "@sh", "@uri", "@html", "@base64", "@json", "@text", "todate", "fromdate", "mktime", "gmtime", `strptime("%Y")`, `splits(",")`, `sub("a";"b")`, ".[1]=2", ".[-1]=1", `.["a"]`, ".[{}]", ". as [$a] | $a", ". as {a:$a}|$a", "..", "limit(1;.[])", "tostream", "walk(.)", "bsearch(1)", "ltrimstr(1)", ".+1", ".-1", ".*2", "./2", ".%2", ".<1", "utf8bytelength", "not", "type", "isvalid(.a)?", "error?", "try error catch .", "select(.)", "recurse", "arrays,objects,strings,numbers,booleans,nulls,iterables,scalars,values", `.[0:1]`, `.a |= 1`, `.a += 1`, `.[0] |= 1`, "map_values(.)", "if . then 1 else 2 end", ". // 3", "[.[]?]", "path(..)", `with_entries(.)`, "min_by(.)", `"\(.)"`, "[., .] | unique", "{a: .}", ".a?", ".[0]?", "tojson|fromjson", "ascii_upcase", `endswith("x")`, "input_line_number", "combinations?", `indices("a")?`, "env|type", "splits(1)?"} {
		for _, v := range []string{"null", "1", `"s"`, "[1]", `{"a":1}`, "true"} {
			cases = append(cases, commandtest.Case{Name: v + " | " + f, Args: []string{"jq", "-c", f}, Stdin: v + "\n"})
		}
	}
	commandtest.Run(t, cases)
}

func TestJq(t *testing.T) {
	w := commandtest.Case{Files: map[string]string{"f.json": `{"b":1,"a":[1,2,{"c":"x"}],"z":null,"u":"é\u0001"}` + "\n", "nums": "1 2 3\n", "lines": "one\ntwo\nthree", "bad.json": "{bad\n", "prog.jq": "# comment\n.a | length\n", "users": `[{"name":"bob","age":3},{"name":"al","age":5},{"name":"cy","age":3}]`, "d/": "", "two": "{\"a\":1}\n{\"a\":2}\n"}, Stdin: `{"k":"v"}`}
	var cases []commandtest.Case
	for _, a := range [][]string{{".", "f.json"}, {"-c", ".", "f.json"}, {"-S", ".", "f.json"}, {"-cS", ".", "f.json"}, {"--tab", ".", "f.json"}, {"--indent", "3", ".", "f.json"}, {"--indent", "0", ".", "f.json"}, {"--indent", "9", ".", "f.json"}, {"-r", ".a[2].c", "f.json"}, {"-j", ".a[]", "f.json"}, {"-a", ".u", "f.json"}, {"-C", ".", "f.json"}, {"-Cc", ".", "f.json"}, {"-C", "-n", "[],{},[1,[]],null,true"}, {".k"}, {".k", "-r"}, {"."}, {"-n", "1,2"}, {"-n", "[inputs]", "nums"}, {"-s", ".", "nums"}, {"-sc", ".", "nums", "two"}, {"-n", "input", "f.json"}, {"-R", ".", "lines"}, {"-Rs", ".", "lines"}, {"-Rr", ". + \"!\"", "lines"}, {"-Rn", "[inputs]", "lines"}, {"-e", ".x", "f.json"}, {"-e", ".b", "f.json"}, {"-e", "empty", "f.json"}, {"-e", "false,1", "f.json"}, {".a", "nope"}, {".", "bad.json"}, {".b.c", "f.json"}, {".a.b", "two"}, {"-n", "error(\"x\")"}, {"-n", "error({a:1})"}, {"-n", "\"x\"|halt_error"}, {"-n", "{}|halt_error(3)"}, {"-n", "halt"}, {"-n", "1|halt_error(0)"}, {"foo"}, {"$x"}, {"-n", "--arg", "x", "1", "$x"}, {"-n", "--argjson", "x", "{\"a\":[1]}", "$x.a"}, {"-n", "--argjson", "x", "{bad", "$x"}, {"--arg", "x"}, {"-nc", "--args", "$ARGS", "a", "b"}, {"-nc", "--jsonargs", "$ARGS", "1", "{}"}, {"-nc", "$ARGS.named", "--arg", "a", "b"}, {"-nc", "--slurpfile", "x", "nums", "$x"}, {"-n", "--rawfile", "x", "nums", "$x"}, {"-n", "--slurpfile", "x", "nope", "$x"}, {"-f", "prog.jq", "f.json"}, {"--foo", "."}, {"--stream", "-c", ".", "f.json"}, {"-c", "--stream", ".", "nums"}, {"--seq", "-n", "1"}, {"input_filename", "f.json"}, {"-n", "input_filename"},
		{"-c", "sort_by(.age)", "users"}, {"-c", "group_by(.age)", "users"}, {"-c", "map(.name)|sort", "users"}, {"-c", "unique_by(.age)", "users"}, {"-c", "max_by(.age),min_by(.age)", "users"}, {"-c", "map(select(.age>3))", "users"}, {"-c", "map({(.name):.age})|add", "users"}, {"-r", ".[]|[.name,.age]|@csv", "users"}, {"-r", ".[]|[.name,.age]|@tsv", "users"}, {"-r", ".[]|\"\\(.name) is \\(.age)\"", "users"}, {"-r", "@sh \"echo \\(.[0].name)\"", "users"}, {"-c", "reduce .[] as $u (0; .+$u.age)", "users"}, {"-c", "[foreach .[] as $u (0; .+$u.age; [.,$u.name])]", "users"}, {"-c", "first(.[]),last(.[]),nth(1;.[])", "users"}, {"-c", "map(.age)|add/length", "users"}, {"-c", "map(has(\"age\"))|all", "users"}, {"-c", "INDEX(.name)", "users"}, {"-c", "[.[]|to_entries[]|.key]|unique", "users"}, {"-c", "with_entries(.value|=tostring)", "two"}, {"-c", "del(.a[0,1])", "f.json"}, {"-c", "del(.b,.z)", "f.json"}, {"-c", ".a[1:]", "f.json"}, {"-c", ".a[-1]", "f.json"}, {"-c", ".a[:1]=[9,9]", "f.json"}, {"-c", ".a[0]|=.+1", "f.json"}, {"-c", ".b+=10|.z//=3", "f.json"}, {"-c", "[paths]", "f.json"}, {"-c", "[leaf_paths]", "f.json"}, {"-c", "[..|numbers]", "f.json"}, {"-c", "path(.a[0].b?)", "f.json"}, {"-c", "tostream", "two"}, {"-nc", "fromstream(1|truncate_stream([[0],1],[[1,0],2],[[1,0]],[[1]]))"}, {"-nc", "[limit(3;range(10))],[range(0;10;3)],[range(5;0;-2)],[range(0,1;3,4)]"}, {"-nc", "[.[]?],(try error(\"x\") catch .),[.a?,.b?]"}, {"-nc", "def f(x): x*2; f(3), (def g: 3; g), ([1,2]|map(f(.)))"}, {"-nc", "def fac: if . <= 1 then 1 else . * (. - 1 | fac) end; 10|fac"}, {"-nc", "[1,[2,[3]]]|flatten,flatten(1)"}, {"-nc", "{\"a\":{\"b\":1}}*{\"a\":{\"c\":2}}"}, {"-nc", "[1,2,3,2]-[2]"}, {"-nc", "\"abc\"*0,\"ab\"*2"}, {"-nc", "\"a,b\"/\",\""}, {"-nc", "5%3,-5%3,5%-3,1e10%7"}, {"-nc", "[1,2]|combinations(2)"}, {"-nc", "[[1,2],[3,4]]|[combinations],transpose"}, {"-nc", "\"test foo\"|test(\"FOO\";\"i\"),[match(\"o\";\"g\").offset],capture(\"(?<x>t.)\"),[scan(\"[a-z]+\")],sub(\"t\";\"T\"),gsub(\"t\";\"T\"),gsub(\"(?<c>[aeiou])\";\"<\\(.c)>\"),[splits(\" +\")],ascii_upcase"}, {"-nc", "\"x\"|match(\"(y)?x\")"}, {"-nc", "[\"b\",\"a\"]|sort,index(\"a\"),join(\"-\"),(map(ascii_upcase)|join(\"\"))"}, {"-nc", "\"abcb\"|indices(\"b\"),index(\"b\"),rindex(\"b\"),.[1:3],explode,length"}, {"-nc", "1425599621|todate,gmtime,(gmtime|mktime),strftime(\"%A, %B %d, %Y\"),strftime(\"%j %U %Z\")"}, {"-nc", "\"2015-03-05T23:51:47Z\"|fromdate,strptime(\"%Y-%m-%dT%H:%M:%SZ\")"}, {"-nc", "[1.0,1.5,1e3,1e17,1e-5,123456789012,0.1,3.14159265358979,100000000000000000000,-0,1e1000,-1e1000,nan]"}, {"-nc", "[\"\\u00e9\",\"\\ud83d\\ude00\",\"\\t\\n\\\"\"]"}, {"-nc", "\"<&'\\\">\"|@html,@uri,@sh,@json,@base64,(@base64|@base64d)"}, {"-nc", "[1,null,\"a\",true]|@csv,@tsv,@sh,join(\",\")"}, {"-nc", "$ENV|type"}, {"-nc", "[.[]?]|length, (null|length), ({}|length), (\"é\"|length,utf8bytelength)"}, {"-nc", "[3,1,2]|min,max,sort,reverse,any,all,add,first,last"}, {"-nc", "{a:1,b:2}|keys,length,to_entries,map_values(.+1),with_entries(.key|=\"x\"+.),has(\"a\"),del(.a),(.c=3),map(.)"}, {"-nc", "{(\"a\",\"b\"):1,c:(2,3)}"}, {"-nc", "{a:1} as {a:$x} | [$x], ([[1,2]] | .[] as [$a,$b] | {$a,$b,c:$x})"}, {"-nc", "[[1,2],[3]]|map(. as [$a] ?// $a | $a)"}, {"-nc", "label $out | 1, break $out, 2"}, {"-nc", "[recurse(if . < 3 then .+1 else empty end)]|length", "--arg", "a", "b"}, {"-nc", "0|[while(.<3;.+1)],[until(.>3;.+1)]"}, {"-nc", "[1,2,3]|IN(2),any(.>2),all(.>0),(.[]|IN(1,2))"}, {"-nc", "input_line_number,([1]|implode),(\"abc\"|ltrimstr(\"a\"),rtrimstr(\"c\"),startswith(\"a\"),endswith(\"c\"))"}, {"-nc", "[1,2,3]|.[1:]|=map(.*2)"}, {"-nc", "[1,2,3]|to_entries|map(.value)|@json"}, {"-nc", "{} | .a.b.c = 1 | .a[\"x\"] = 2"}, {"-nc", "null | .[2] = 1"}, {"-nc", "[[1,2],[1]]|sort,(.[0]<.[1])"}, {"-nc", "[{},[],\"a\",1,true,false,null]|sort"}, {"-nc", "splits(\"a\")"}, {"-nc", "@text \"a\\(1+1)\",@json \"x\\([1])\""}, {"-nc", "try (1,error(\"x\"),3) catch ."}, {"-nc", "(1,2) as $x | $x*10"}, {"-nc", "if true,false then 1 else 2 end"}, {"-nc", "[.] | tojson | fromjson"}, {"-nc", "env|has(\"PATH\")"}, {"-nc", "infinite,-infinite,(nan|isnan),(1|isnormal)"}, {"-nc", "[1,2]|contains([1]),inside([1,2,3])"}, {"-nc", "pow(2;10),log2?,(2|sqrt|floor),(10|log10),(-1.5|fabs,round,ceil,trunc)"}, {"-nc", "getpath([\"a\",0]),([[1]]|getpath([0,0]))"}, {"-nc", "[1]|bsearch(1),bsearch(0),bsearch(2)"}, {"-nc", "{a:[1,{b:2}]}|[paths(type==\"number\")],walk(if type==\"number\" then .+1 else . end)"}, {"-nc", "\"\\(1;2)\""}, {".["}, {"-n", "{"}, {"-n", "1 +"}, {"-n", "\"abc"}, {"-n", "}"}, {}} {
		switch {
		case len(a) == 0:
			continue
		}
		c := w
		c.Args = append([]string{"jq"}, a...)
		// What the parser says of a syntax error is its own.
		c.AnyStderr = a[len(a)-1] == ".[" || a[0] == "-n" && len(a) == 2 && (a[1] == "{" || a[1] == "1 +" || a[1] == "\"abc" || a[1] == "}") || a[len(a)-1] == "\"\\(1;2)\""
		cases = append(cases, c)
	}
	for i, s := range []string{`{bad`, `{"a" 1}`, `{"a":1`, `[1,2`, `[1 2]`, `]`, `{"a":}`, `{1:2}`, `nul`, `truex`, `"abc`, `"a\qb"`, `{"a":1}}`, `[1,]`, `{"a":1,}`, `1 2 3`, ``, `01`, `1.2.3`, `-`, `"\ud800"`, `'a'`, `{a:1}`, `[1,2]x`, "\"a\nb\"", `[nan]`, `{"a":1 "b":2}`, `:`, `,`, `[,1]`, `1,2`, `{"a",1}`, `{:1}`, `"a" "b"`, `{"a":{"b":[1,2}}`, `NaN`, `1e5`, `+1`, `.5`, `5.`, `[}`, `{]`, "{\"a\":1}\n\n{\"b\"", `#x`, `[1] ]`, "[1,\n2\n3]", "\xef\xbb\xbf[1]", `"\u00e9\ud83d\ude00"`} {
		cases = append(cases, commandtest.Case{Name: "text " + string(rune('A'+i%26)) + string(rune('a'+i/26)), Args: []string{"jq", "-c", "."}, Stdin: s})
	}
	commandtest.Run(t, cases)
}

func FuzzJq(f *testing.F) {
	f.Add(".a[1:] | map(.+1)", `{"a":[1,2,3]}`)
	f.Add(`[.[] | tostring | test("(a*)*b")]`, `["aaaaaaaaaaaaaaaaaaaaaaaaaaaac", {"a":[]}]`)
	f.Add(`def f: if . > 0 then . - 1 | f else . end; f`, `1000`)
	f.Fuzz(func(t *testing.T, filter, input string) {
		r := commandtest.Inside(t, &commandtest.Case{Args: []string{"jq", "-c", "[limit(1000;" + filter + ")]"}, Stdin: input})
		if r.Status > 255 || r.Status < 0 {
			t.Errorf("status %d", r.Status)
		}
	})
}
