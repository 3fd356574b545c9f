package data

import (
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

func TestSqlite(t *testing.T) {
	const setup = "create table t(a integer primary key, b text, c real);\ninsert into t values(1,'one',1.5),(2,'t\"w,o',null),(3,'it''s\nline',1e20);\n"
	run := func(stdin string, args ...string) commandtest.Case {
		name := strings.Join(args, " ") + "|" + strings.ReplaceAll(strings.TrimPrefix(stdin, setup), "\n", "~")
		return commandtest.Case{Name: name, Args: append([]string{"sqlite3"}, args...), Stdin: stdin, Files: map[string]string{
			"in.csv": "x,y\n1,\"a \"\"q\"\", b\"\n2,c\n3\n", "s.sql": setup + "select count(*) from t;\n", "in.txt": "9|p\n8|q|r\n"}}
	}
	var cases []commandtest.Case
	for _, m := range []string{"list", "csv", "tabs", "line", "html", "insert", "insert t", "quote", "json", "column", "table", "box", "markdown", "ascii", "qbox", "foo", "box --wrap 3"} {
		cases = append(cases, run(setup+".mode "+m+"\nselect * from t;\n.headers on\nselect a, b as 'x y', c from t;\nselect x'00ff41', null, '', 0.25, -5 where 1;\nselect 1 where 0;\n"))
	}
	for _, o := range []string{"-csv", "-json", "-box", "-column", "-line", "-html", "-header", "-markdown", "-table", "-tabs", "-quote", "-ascii", "-nullvalue NIL", "-separator ;", "-newline X", "-noheader -column"} {
		cases = append(cases, run(setup+"select * from t;\n", append(strings.Fields(o), ":memory:")...))
	}
	for _, s := range []string{".tables", ".schema", ".dump", ".indexes", ".schema t", ".dump t", ".databases", ".show", ".foo", ".mode", ".tables x%", ".width 3 -5\n.mode column\nselect * from t;", ".echo on\nselect 1;", ".print hello 'a b' \"c\\td\"", ".separator : X\nselect 1,2;", ".nullvalue N\nselect null;", ".quit\nselect 1;", ".exit 3", ".bail on\nselect x;\nselect 1;", ".changes on\ndelete from t;", ".read s.sql", ".read nope", ".output o.txt\nselect 1;\n.output\nselect 2;", ".once o.txt\nselect 1;\nselect 2;", ".import --csv in.csv n\nselect * from n;\n.schema n", ".mode csv\n.import in.csv n\nselect * from n;", ".import --csv --skip 1 in.csv n\nselect * from n;", "create table p(a,b);\n.import in.txt p\nselect * from p;", ".import nope p", ".import", ".timeout 5", ".parameter set :x 5\nselect :x;", ".headers", ".mode json\n.once\nselect 1;",
		"create index i on t(b);\ncreate view v as select a from t;\ncreate trigger g after insert on t begin select 1; end;\n.schema\n.dump\n.tables\n.indexes", "create table 'we ird'(\"select\" int, x);insert into 'we ird' values(1,2);\n.dump", "create table s(i integer primary key autoincrement, v blob);insert into s(v) values(x'0102'),('a'||char(10)||'b\\n');\n.dump",
		"select * from nope;", "selec 1;", "select 1;;select 2;", "insert into t values(1,'x',1);", "select 1", "select\n1\n;\n", "-- c\nselect 1; -- d\n/* x\n*/ select 2;", "select 'unterminated;", "begin; insert into t values(9,'n',0); rollback; select count(*) from t;", "pragma table_info(t);", "explain query plan select * from t;", "with recursive c(x) as (select 1 union all select x+1 from c where x<5) select sum(x) from c;", "select json_extract('{\"a\":[1,2]}','$.a[1]'), upper('x'), date('2020-01-01','+1 day');", "select aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbb, ccccc from t;", "select 1.0, 0.1, 1e14, 1e-7, 100000000000000000000.0;", "attach ':memory:' as o; create table o.z(a); select name from o.sqlite_schema;\n.tables\n.databases", "select a from t group by;", "create table t(a);", "select 1 go\n/\n"} {
		cases = append(cases, run(setup+s+"\n"))
	}
	cases = append(cases, run("", "x.db", "select 1", "select 2", ".tables"), run("", "x.db", "select nope"), run("", "x.db", ".foo"), run("", ":memory:", "selec"), run("", "-foo"), run("", "in.csv", "select 1 from sqlite_schema"),
		run("select 5;\n", "-cmd", "select 4", ":memory:"), run("", "-init", "s.sql", ":memory:", "select 1"), run("", "-readonly", "x.db", "create table t(a)"), run("", "nodir/x.db", "create table t(a)"), run("", ":memory:", "create table t(a unique); insert into t values(1),(1)"), run(".tables\n", "x.db"))
	for i := range cases {
		cases[i].Clean = func(s string) string {
			if i := strings.Index(s, "SQLite format 3"); i >= 0 {
				return s[:i]
			}
			return s
		}
	}
	commandtest.Run(t, cases)
}
