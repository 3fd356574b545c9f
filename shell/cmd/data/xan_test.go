package data

import (
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

var xanFiles = map[string]string{
	"p.csv": "name,age,city\nbob,30,Rome\nal,5,\"Paris, FR\"\ncy,30,\n", "c.csv": "city,country\nRome,IT\nOslo,NO\n",
	"t.tsv": "a\tb\n1\t2\n", "j.json": `[{"a":1,"b":"x"},{"a":null,"b":[1]}]`, "r.csv": "a,b\n1,2,3\n4\n",
}

// TestXan: the expectations are by hand, as there is no such tool to compare
// with.
func TestXan(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"headers", "p.csv"}, "0   name\n1   age\n2   city\n"},
		{[]string{"headers", "-j", "p.csv"}, "name\nage\ncity\n"},
		{[]string{"count", "p.csv"}, "3\n"},
		{[]string{"count", "-n", "p.csv"}, "4\n"},
		{[]string{"select", "city,name", "p.csv"}, "city,name\nRome,bob\n\"Paris, FR\",al\n,cy\n"},
		{[]string{"select", "!age", "p.csv"}, "name,city\nbob,Rome\nal,\"Paris, FR\"\ncy,\n"},
		{[]string{"select", "age:name", "p.csv"}, "age,name\n30,bob\n5,al\n30,cy\n"},
		{[]string{"select", "1:", "p.csv"}, "age,city\n30,Rome\n5,\"Paris, FR\"\n30,\n"},
		{[]string{"select", "nope", "p.csv"}, "xan select: no column named \"nope\"\n"},
		{[]string{"drop", "age", "p.csv"}, "name,city\nbob,Rome\nal,\"Paris, FR\"\ncy,\n"},
		{[]string{"slice", "-s", "1", "-l", "1", "p.csv"}, "name,age,city\nal,5,\"Paris, FR\"\n"},
		{[]string{"slice", "-i", "2", "p.csv"}, "name,age,city\ncy,30,\n"},
		{[]string{"head", "-l", "1", "p.csv"}, "name,age,city\nbob,30,Rome\n"},
		{[]string{"tail", "-l1", "p.csv"}, "name,age,city\ncy,30,\n"},
		{[]string{"sort", "-s", "name", "p.csv"}, "name,age,city\nal,5,\"Paris, FR\"\nbob,30,Rome\ncy,30,\n"},
		{[]string{"sort", "-N", "-R", "-s", "age", "p.csv"}, "name,age,city\nbob,30,Rome\ncy,30,\nal,5,\"Paris, FR\"\n"},
		{[]string{"sort", "-s", "age", "p.csv"}, "name,age,city\nbob,30,Rome\ncy,30,\nal,5,\"Paris, FR\"\n"},
		{[]string{"frequency", "-s", "age,city", "p.csv"}, "field,value,count\nage,30,2\nage,5,1\ncity,<empty>,1\ncity,\"Paris, FR\",1\ncity,Rome,1\n"},
		{[]string{"join", "city", "p.csv", "city", "c.csv"}, "name,age,city,city,country\nbob,30,Rome,Rome,IT\n"},
		{[]string{"join", "--full", "city", "p.csv", "city", "c.csv"}, "name,age,city,city,country\nbob,30,Rome,Rome,IT\nal,5,\"Paris, FR\",,\ncy,30,,,\n,,,Oslo,NO\n"},
		{[]string{"join", "--anti", "city", "p.csv", "c.csv"}, "name,age,city\nal,5,\"Paris, FR\"\ncy,30,\n"},
		{[]string{"filter", "age > 10 && name != \"cy\"", "p.csv"}, "name,age,city\nbob,30,Rome\n"},
		{[]string{"filter", ".city | startswith(\"Par\")", "p.csv"}, "name,age,city\nal,5,\"Paris, FR\"\n"},
		{[]string{"search", "-s", "name", "^b", "p.csv"}, "name,age,city\nbob,30,Rome\n"},
		{[]string{"search", "-v", "-i", "ROME", "p.csv"}, "name,age,city\nal,5,\"Paris, FR\"\ncy,30,\n"},
		{[]string{"dedup", "-s", "age", "p.csv"}, "name,age,city\nbob,30,Rome\nal,5,\"Paris, FR\"\n"},
		{[]string{"enum", "p.csv"}, "index,name,age,city\n0,bob,30,Rome\n1,al,5,\"Paris, FR\"\n2,cy,30,\n"},
		{[]string{"rename", "n,a,c", "p.csv"}, "n,a,c\nbob,30,Rome\nal,5,\"Paris, FR\"\ncy,30,\n"},
		{[]string{"reverse", "c.csv"}, "city,country\nOslo,NO\nRome,IT\n"},
		{[]string{"transpose", "c.csv"}, "city,Rome,Oslo\ncountry,IT,NO\n"},
		{[]string{"behead", "c.csv"}, "Rome,IT\nOslo,NO\n"},
		{[]string{"cat", "rows", "c.csv", "c.csv"}, "city,country\nRome,IT\nOslo,NO\nRome,IT\nOslo,NO\n"},
		{[]string{"cat", "columns", "c.csv", "t.tsv"}, "city,country,a,b\nRome,IT,1,2\nOslo,NO,,\n"},
		{[]string{"fill", "-v", "?", "p.csv"}, "name,age,city\nbob,30,Rome\nal,5,\"Paris, FR\"\ncy,30,?\n"},
		{[]string{"fmt", "-t", ";", "c.csv"}, "city;country\nRome;IT\nOslo;NO\n"},
		{[]string{"select", "b", "t.tsv"}, "b\n2\n"},
		{[]string{"to", "ndjson", "p.csv"}, "{\"name\":\"bob\",\"age\":30,\"city\":\"Rome\"}\n{\"name\":\"al\",\"age\":5,\"city\":\"Paris, FR\"}\n{\"name\":\"cy\",\"age\":30,\"city\":\"\"}\n"},
		{[]string{"to", "json", "t.tsv"}, "[\n  {\n    \"a\": 1,\n    \"b\": 2\n  }\n]\n"},
		{[]string{"to", "md", "c.csv"}, "| city | country |\n| --- | --- |\n| Rome | IT |\n| Oslo | NO |\n"},
		{[]string{"from", "-f", "json", "j.json"}, "a,b\n1,x\n,[1]\n"},
		{[]string{"count", "r.csv"}, "xan count: CSV parse error: line 2, column 1: wrong number of fields\n"},
		{[]string{"fixlengths", "r.csv"}, "a,b,\n1,2,3\n4,,\n"},
		{[]string{"flatten", "c.csv"}, "Row n°0\ncity    Rome\ncountry IT\n\nRow n°1\ncity    Oslo\ncountry NO\n"},
		{[]string{"view", "c.csv"}, "Displaying 2 cols from 2 rows\n┌──────┬─────────┐\n│ city │ country │\n├──────┼─────────┤\n│ Rome │ IT      │\n│ Oslo │ NO      │\n└──────┴─────────┘\n"},
		{[]string{"stats", "-s", "age", "p.csv"}, "field,count,count_empty,type,sum,mean,stddev,min,max,lex_first,lex_last,min_length,max_length\nage,3,0,number,65,21.666666666666668,11.785113019775793,5,30,30,5,1,2\n"},
		{[]string{"explode", "city", "--sep", ", ", "p.csv"}, "name,age,city\nbob,30,Rome\nal,5,Paris\nal,5,FR\ncy,30,\n"},
		{[]string{"count", "nope.csv"}, "xan count: nope.csv: No such file or directory\n"},
		{[]string{"nope"}, "xan: unknown command \"nope\"\n"},
	} {
		r := commandtest.Inside(t, &commandtest.Case{Args: append([]string{"xan"}, c.args...), Files: xanFiles})
		if got := r.Stdout + r.Stderr; got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.args, got, c.want)
		}
	}
}
