package awk_test

import (
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

var world = commandtest.Case{
	Stdin: "one two three\n4 5 6\n\nlast line here\n",
	Files: map[string]string{
		"f":      "alice 30 london\nbob 25 paris\ncarol 35 berlin\ndave 25 london\n",
		"csv":    "id,name,qty\n1,apple,10\n2,pear,\n3,fig,7\n",
		"passwd": "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/usr/sbin:/bin/false\n",
		"para":   "a b\nc d\n\n\ne f\n\ng\nh\n\n",
		"nums":   "10\n9\n100\n1e2\n0x10\n 7 \nabc\n-3\n+5\n.5\n",
		"fixed":  "abc12345xyz\nde 6789  w\n",
		"noeol":  "x 1\ny 2",
		"empty":  "",
		"rs":     "a1b22c333d",
		"tabs":   "a\tb c\t\td\n\tx\n",
		"prog":   "# a program\nBEGIN { x = 5 }\n{ print x, $1 }\n",
		"bad":    "BEGIN {\n\tprint 1\n\tx = = 2\n}\n",
		"utf":    "na\xc3\xafve caf\xc3\xa9\n",
		"bin":    "a\x00b \xff\n",
		"log":    "2024-01-15 ERROR disk full\n2024-01-15 INFO ok\n2024-01-16 ERROR net down\n",
		"quoted": "a,\"b,c\",d\n\"x\",,z\n",
		"d/":     "",
	},
}

// programs makes a case of each program, over standard input.
func programs(list ...string) []commandtest.Case {
	var cases []commandtest.Case
	for _, p := range list {
		c := world
		c.Name = p
		c.Args = []string{"awk", p}
		cases = append(cases, c)
	}
	return cases
}

// over makes a case of each program over a file.
func over(file string, list ...string) []commandtest.Case {
	cases := programs(list...)
	for i := range cases {
		cases[i].Name += " (" + file + ")"
		cases[i].Args = append(cases[i].Args, file)
	}
	return cases
}

func join(lists ...[]commandtest.Case) []commandtest.Case {
	var all []commandtest.Case
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func TestRecords(t *testing.T) {
	commandtest.Run(t, join(
		over("f", "1", "{ print }", "{ print $1 }", "{ print $NF }", "{ print $(NF-1) }", "{ print NF, NR, FNR, FILENAME }", "$2 == 25", "$2 > 25 { print $1 }", "/london/", "!/london/", "$3 ~ /^p/", "$3 !~ /n$/", "/bob/, /carol/", "NR==2, NR==3 { print NR \": \" $0 }", "/bob/,/nope/", "/bob/,/bob/",
			"NR % 2", "END { print NR }", "END { print $0, NF }", "BEGIN { print \"start\" } END { print \"end\" }", "{ sum += $2 } END { print sum, sum / NR }", "{ $2 = \"\"; print }", "{ $1 = $1; print }", "{ $5 = \"x\"; print; print NF }", "{ NF = 2; print }", "{ NF = 5; print }", "{ $0 = \"p q\"; print $2, NF }", "{ $3 = toupper($3) } 1", "{ print $1, $2 > \"/dev/stderr\" }",
			"{ print $1; next; print \"no\" } { print \"never\" }", "NR == 1 { nextfile } { print }", "NR == 2 { exit } { print } END { print \"e\", NR }", "{ exit 3 } END { print \"e\" }", "{ exit 3 } END { exit }", "{ a[$3]++ } END { for (k in a) print k, a[k] }", "{ a[NR] = $1 } END { for (i = NR; i > 0; i--) print a[i] }", "BEGIN { while ((getline line) > 0) n++; print n }",
			"NR == 1 { getline; print \"got\", $0, NR }", "NR == 1 { getline x; print \"got\", x, $0, NR }", "BEGIN { OFS = \"-\" } { $1 = $1 } 1", "BEGIN { OFS = \"-\"; ORS = \"|\\n\" } { print $1, $2 }", "{ print length }", "{ print length($1) }", "length > 14", "length($1) == 3 { print }", "{ $(NF+2) = \"z\"; print NF, $0 }", "{ $0 = $2 } { print NF, $1 }", "{ print $1 $2 }", "{ print $1, $2 + 1 }", "{ print -$2, +$2, !$2 }"),
		over("csv", "BEGIN { FS = \",\" } { print $2 }", "BEGIN { FS = \",\"; OFS = \";\" } { $1 = $1; print }", "BEGIN { FS = \",\" } $3 > 8", "BEGIN { FS = \",\" } NR > 1 { s += $3 } END { print s }", "{ FS = \",\"; print $1 }", "BEGIN { FS = \",\" } $3 == \"\" { print \"empty\", NR }"),
		over("passwd", "BEGIN { FS = \":\" } { print $1, $NF }", "BEGIN { FS = \":\" } $5 == \"\" { print $1 }", "BEGIN { FS = \"[:/]\" } { print NF, $7 }", "BEGIN { FS = \":+\" } { print NF }", "BEGIN { FS = \"|\" } { print NF }", "BEGIN { FS = \"o\" } { print $2 }", "BEGIN { FS = \"\" } { print $3, NF }", "BEGIN { FS = \"\\\\\" } { print NF }", "BEGIN { FS = \"^r\" } { print NF, $2 }"),
		over("para", "BEGIN { RS = \"\" } { print NR \": \" $1 \"/\" $NF \"/\" NF }", "BEGIN { RS = \"\"; FS = \"\\n\" } { print $1 \"|\" $2 }", "BEGIN { RS = \"\"; FS = \":\" } { print NF, $2 }", "BEGIN { RS = \"\" } { printf \"%s\", RT }", "BEGIN { RS = \"\" } END { print NR, $0 }"),
		over("rs", "BEGIN { RS = \"[0-9]+\" } { print NR, $0, RT }", "BEGIN { RS = \"2\" } { print }", "BEGIN { RS = \"b\" } { print; RS = \"c\" }", "BEGIN { RS = \"x*\" } { print }", "BEGIN { RS = \"22|3\" } { print $0 \"-\" RT }", "BEGIN { RS = \"\\0\" } { print }"),
		over("tabs", "BEGIN { FS = \"\\t\" } { print NF, $2 }", "BEGIN { FS = \"\\t+\" } { print NF, $2 }", "{ print NF }", "BEGIN { FS = \"[ ]\" } { print NF }", "BEGIN { FS = \"[\\t ]+\" } { print NF }"),
		over("fixed", "BEGIN { FIELDWIDTHS = \"3 2 5\" } { print $1 \"|\" $2 \"|\" $3 \"|\" NF }", "BEGIN { FIELDWIDTHS = \"2 1:3 *\" } { print $1 \"|\" $2 \"|\" $3 }", "BEGIN { FPAT = \"[a-z]+\" } { print NF, $1, $2 }", "BEGIN { FPAT = \"[0-9]*\" } { print NF; for (i = 1; i <= NF; i++) print \"<\" $i \">\" }", "BEGIN { FIELDWIDTHS = \"x\" }"),
		over("quoted", "BEGIN { FPAT = \"([^,]+)|(\\\"[^\\\"]+\\\")\" } { print NF, $2 }", "BEGIN { FPAT = \"([^,]*)|(\\\"[^\\\"]+\\\")\" } { print NF; for (i = 1; i <= NF; i++) print i \": \" $i }"),
		over("noeol", "1", "END { print NR, $0 }", "{ printf \"%s\", $0 }"), over("empty", "1", "END { print NR }"), over("bin", "1", "{ print length($1), NF }", "{ print $2 }", "{ print index($0, \"b\") }"),
	))
}

func TestExpressions(t *testing.T) {
	commandtest.Run(t, programs(
		"BEGIN { print 1 + 2 * 3, 2 ^ 10, 2 ** 3 ^ 2, 7 % 3, -7 % 3, 7.5 % 2, 10 / 4, -2 ^ 2 }", "BEGIN { print 1e6, 1e5, 123456789, 1e15, 1e16, 1e17, 1e18, 2^53, 2^53 + 1, 2^63, 2^64, 1e30, 0.1, 1e-5, 1/3, 100/3, 1e300 * 1e300, -1e300 * 1e300 }", "BEGIN { print 3.0, 3.10, \"3.10\", 1e3, 017, 0x1F, 1., .5, 1e+2, 1E-2 }",
		"BEGIN { x = 5; print x++, x, ++x, x--, --x, x += 2, x -= 1, x *= 3, x /= 2, x %= 4, x ^= 2, x **= 2 }", "BEGIN { print 1 == 1.0, \"a\" == \"a\", 1 == \"1\", \"10\" < \"9\", 10 < 9, \"abc\" < \"abd\", 2 < \"10\", x == 0, x == \"\" }", "BEGIN { print 1 && 0, 1 || 0, !1, !0, !\"\", !\"a\", !x, 1 && \"a\", 0 || \"\" }",
		"BEGIN { print 1 \" \" 2, 1 2, \"a\" \"b\" \"c\", 1 -1, 1 \" \" -1, 2 * 3 4 }", "BEGIN { print 1 > 2 ? \"y\" : \"n\" }", "BEGIN { print (1 > 2) ? \"y\" : \"n\"; print (2 > 1 ? \"a\" : \"b\") }", "BEGIN { print 1 ? 2 ? 3 : 4 : 5, 0 ? 1 : 0 ? 2 : 3 }", "BEGIN { a = b = 3; print a, b; a = (b = 4) + 1; print a, b }", "BEGIN { x[1]; print 1 in x, 2 in x, (1 in x) + 1, !(2 in x) }",
		"BEGIN { x[1,2] = 3; print ((1,2) in x), ((2,1) in x); for (k in x) { split(k, p, SUBSEP); print p[1], p[2] } }", "BEGIN { print length(\"hello\"), length(12345), length(), length }", "BEGIN { $0 = \"a b c\"; print NF, $2; $2 = \"x\"; print $0; $5 = \"e\"; print; print NF }", "BEGIN { $3 = \"c\"; print; print NF }", "BEGIN { print substr(\"hello\", 2, 3), substr(\"hello\", 0), substr(\"hello\", -1, 3), substr(\"hello\", 4, 10), substr(\"hello\", 1.5, 1), substr(\"hello\", 10) \"|\", substr(\"hello\", 2) }",
		"BEGIN { print index(\"hello\", \"l\"), index(\"hello\", \"\"), index(\"hello\", \"z\") }", "BEGIN { print toupper(\"aBc1\"), tolower(\"ABC\") }", "BEGIN { print match(\"foobar\", /o+/), RSTART, RLENGTH; print match(\"x\", /y/), RSTART, RLENGTH; print match(\"abc\", \"c\") }", "BEGIN { match(\"foo=bar baz\", /(\\w+)=(\\w+)/, m); print m[0], m[1], m[2], m[1, \"start\"], m[2, \"length\"] }",
		"BEGIN { n = split(\"a b  c\", p); print n, p[1], p[3]; n = split(\"a:b:c\", p, \":\"); print n, p[2]; n = split(\"\", p); print n, length(p); n = split(\"abc\", p, \"\"); print n, p[2]; n = split(\"a1b22c\", p, /[0-9]+/, s); print n, p[3], s[1], s[2] }", "BEGIN { n = split(\" a  b \", p, \" \", s); print n, \"<\" s[0] \">\", \"<\" s[1] \">\", \"<\" s[2] \">\" }", "BEGIN { n = split(\"a.b.c\", p, \".\"); print n, p[2] }", "BEGIN { n = split(\":a:\", p, \":\"); print n, \"<\" p[1] \">\", \"<\" p[3] \">\" }",
		"BEGIN { s = \"hello world\"; print sub(/o/, \"0\", s), s; print gsub(/o/, \"0\", s), s; print gsub(/l/, \"[&]\", s), s; t = \"aaa\"; print gsub(/x*/, \"-\", t), t; u = \"a.b.c\"; gsub(\"\\\\.\", \"-\", u); print u }", "BEGIN { s = \"abc\"; gsub(/b/, \"\\\\&\", s); print s; s = \"abc\"; gsub(/b/, \"\\\\\\\\&\", s); print s; s = \"abc\"; gsub(/b/, \"x\\\\y\", s); print s; s = \"abc\"; sub(/b/, \"\\\\\\\\\\\\&\", s); print s }",
		"BEGIN { s = \"banana\"; print gsub(/a/, \"\", s), s; s = \"abc\"; gsub(/$/, \"x\", s); print s; s = \"abc\"; gsub(/^/, \"x\", s); print s; s = \"aab\"; gsub(/a*/, \"X\", s); print s; s = \"abcb\"; gsub(/b|$/, \"-\", s); print s }", "BEGIN { print gensub(/(a)(b)/, \"\\\\2\\\\1\", \"g\", \"abab\"), gensub(/a/, \"x\", 2, \"aaa\"), gensub(/z/, \"x\", \"g\", \"aaa\"), gensub(/a/, \"[\\\\0]\", 1, \"ba\"), gensub(/a/, \"&&\", \"G\", \"ab\") }", "BEGIN { print gensub(/a/, \"x\", 0, \"aaa\") }", "BEGIN { print gensub(/a/, \"x\", \"foo\", \"aaa\") }",
		"BEGIN { print int(3.9), int(-3.9), int(\"12abc\"), sqrt(16), exp(0), log(1), sin(0), cos(0), atan2(0, -1), exp(1) }", "BEGIN { print log(-1), sqrt(-1), exp(1000), int(\"inf\"), log(0) }", "BEGIN { srand(7); print srand(7), srand(), (rand() < 1); srand(5); x = rand(); srand(5); print x == rand() }", "BEGIN { print and(12, 10), or(12, 10), xor(12, 10), lshift(1, 4), rshift(256, 4), compl(0), strtonum(\"0x1F\"), strtonum(\"017\"), strtonum(\"12.5\"), strtonum(\"-0x10\") }",
		"BEGIN { print \"3x\" + 1, \"abc\" + 1, \" 4 \" + 1, \"1e2\" + 1, \"0x10\" + 0, \"+5\" + 0, \"-5\" + 0, \".5\" + 0, \"5.\" + 0, \"+inf\" + 0, \"inf\" + 0, \"+nan\" + 0 }", "BEGIN { CONVFMT = \"%.2f\"; a = 3.14159; b = a \"\"; print b; x[a] = 1; for (k in x) print k; OFMT = \"%.3f\"; print a, 3.0, a \"\" }", "BEGIN { OFMT = \"%d\"; print 3.7; OFMT = \"%.2e\"; print 314.159 }",
		"BEGIN { print 1==1 ? \"t\" : \"f\", \"a\" ~ \"a\", \"abc\" ~ /^a.c$/, \"a.c\" ~ \"a\\\\.c\", \"abc\" ~ \"a\\\\.c\", \"a+b\" ~ /a\\+b/ }", "BEGIN { s = \"x\"; s = s s s; print s; n = \"5\" * 2; print n; print 010 + 0, \"010\" + 0, 1 - - 1 }", "BEGIN { x = \"A\"; y = x++; print x, y; print -\"3\", +\"3a\", - -3 }", "BEGIN { print !x + 1, !(x + 1), -x, 1 - 1 - 1, 2 / 2 / 2, 2 ^ 3 ^ 2, -2 ^ 2, !1 ~ 0 }", "BEGIN { print substr(\"x\", 1, -1) \"|\" substr(\"\", 1, 5) \"|\" substr(12345, 2, 3) }",
		"BEGIN { a[1]; a[2]; print length(a); delete a[1]; print length(a); delete a; print length(a) }", "BEGIN { a[\"x\"] = 1; a[\"y\"] = 2; for (k in a) delete a[k]; print length(a) }", "BEGIN { if (!(3 in a)) print \"no\"; if (a[3] == \"\") print \"empty\"; if (3 in a) print \"now\" }", "BEGIN { a[1][2] = 3; a[1][\"x\"] = 4; for (i in a) for (j in a[i]) print i, j, a[i][j]; print isarray(a), isarray(a[1]), length(a[1]) }", "BEGIN { a[01] = 1; a[\"01\"] = 2; a[1.0] = 3; for (k in a) print k, a[k] }",
		"BEGIN { print typeof(x), typeof(1), typeof(\"a\"), typeof(/a/), typeof(a[1]), typeof(a); y = \"\"; print typeof(y) }", "{ print typeof($1), typeof($9) }", "{ if ($1 > 3) print \"gt\", $1; else print \"le\", $1 }", "$1 == 4 { print $1 + 1, $1 \"\" }", "{ print ($1 == \"4\"), ($1 == 4), ($1 < \"5\"), ($2 > $1) }", "BEGIN { print 1,2 > \"/dev/stdout\"; print(1,2); print (1)(2); print(1)*2; print (1,2) > \"/dev/stderr\" }",
		"BEGIN { IGNORECASE = 1; print \"ABC\" ~ /abc/, \"ABC\" == \"abc\", index(\"ABC\", \"b\"), toupper(\"x\"); s = \"AaA\"; gsub(/a/, \"x\", s); print s }", "BEGIN { print \"a\\tb\\\"c\\\\d\\/e\\101\\x41\\q\" }", "BEGIN { print \"a\\\nb\" }", "BEGIN { printf \"%s\\n\", \"x\" ; printf(\"%d %s\\n\", 3, \"y\") ; printf \"no newline\" }", "BEGIN { getline; print \"got \" $0; getline x; print x; print NR }", "BEGIN { \"echo hi\" | getline x; print x; \"echo a b\" | getline; print $2, NF; print (\"echo z\" | getline y), y }",
		"BEGIN { while ((\"cat f\" | getline line) > 0) n++; close(\"cat f\"); print n; \"cat f\" | getline line; print line }", "BEGIN { while ((getline line < \"f\") > 0) print \"f:\", line; close(\"f\"); getline line < \"f\"; print line; print (getline x < \"nope\"), ERRNO }", "BEGIN { print \"b\\na\" | \"sort\"; close(\"sort\"); print \"done\" }", "BEGIN { print \"b\\na\" | \"sort\"; print \"x\" }", "{ print $1 | \"sort -r\" } END { close(\"sort -r\"); print \"end\" }", "BEGIN { system(\"echo sys\"); print system(\"exit 3\"), system(\"\") }", "BEGIN { printf \"a\"; system(\"echo b\"); print \"c\" }",
		"BEGIN { print \"x\" > \"out\"; print \"y\" > \"out\"; close(\"out\"); while ((getline l < \"out\") > 0) print l }", "BEGIN { print \"x\" > \"out\"; close(\"out\"); print \"y\" >> \"out\" }", "{ print > $1 \".txt\" }", "{ print $2 > \"o1\"; print $1 > \"o2\" }", "BEGIN { print close(\"nothing\"), fflush(), fflush(\"nothing\") }",
	))
}

func TestStatements(t *testing.T) {
	commandtest.Run(t, programs(
		"BEGIN { for (i = 0; i < 3; i++) print i; for (;;) { if (++n > 3) break }; print n }", "BEGIN { while (i < 5) { i++; if (i == 2) continue; if (i == 4) break; print i } }", "BEGIN { do { print i++ } while (i < 3); do print i; while (i++ < 4) }", "BEGIN { if (1) print \"a\"; else print \"b\"; if (0) print \"c\"\nelse print \"d\" }", "BEGIN { if (1) { print \"a\" } else if (2) { print \"b\" } else print \"c\" }", "BEGIN { if (0);else print \"x\"; while (i++ < 3); print i }",
		"BEGIN { switch (3) { case 1: print \"one\"; break; case 3: print \"three\"; case 4: print \"four\"; break; default: print \"d\" } }", "BEGIN { switch (\"abc\") { case /b/: print \"re\"; break; case \"abc\": print \"str\" } switch (9) { default: print \"d\"; case 1: print \"1\" } }", "function f(x) { return x * 2 } BEGIN { print f(3), f(f(2)) }", "function fact(n) { return n <= 1 ? 1 : n * fact(n - 1) } BEGIN { print fact(10), fact(20) }", "function f(a, i) { a[1] = 5; i = 3; return i } BEGIN { i = 1; print f(x, 0), x[1], i }",
		"function g(a) { a[\"k\"]++ } function f(a) { g(a); g(a) } BEGIN { f(z); print z[\"k\"] }", "function f() { } BEGIN { x = f(); print \"<\" x \">\", x + 0 }", "function f(n) { if (n > 3) return; print n; f(n + 1) } BEGIN { f(1) }", "function swap(a, i, j,   t) { t = a[i]; a[i] = a[j]; a[j] = t }\nBEGIN { a[1] = \"x\"; a[2] = \"y\"; swap(a, 1, 2); print a[1], a[2] }", "func f(x) { print \"func\", x }\nBEGIN { f(1) ; f() }", "function f(x) { x = 5 } BEGIN { y = 1; f(y); print y }", "function f(a) { delete a } BEGIN { a[1]; f(a); print length(a) }",
		"function f() { exit 4 } BEGIN { f(); print \"no\" } END { print \"end\" }", "function f() { next } { if (NR == 2) f(); print NR }", "function max(a, b) { return a > b ? a : b } { m = max(m, NF) } END { print m }", "function add(a, b) { return a + b } BEGIN { f = \"add\"; print @f(2, 3) }", "BEGIN { f = \"toupper\"; print @f(\"x\") }", "BEGIN{a[\"b\"]=2;a[\"a\"]=1;a[\"c\"]=3;n=asorti(a,k);for(i=1;i<=n;i++)print k[i];n=asort(a);for(i=1;i<=n;i++)print a[i]}", "BEGIN { a[1] = \"b\"; a[2] = 10; a[3] = 9; a[4] = \"a\"; n = asort(a, b); for (i = 1; i <= n; i++) print b[i]; n = asort(a, b, \"@val_str_desc\"); for (i = 1; i <= n; i++) print b[i] }",
		"BEGIN { PROCINFO[\"sorted_in\"] = \"@ind_str_asc\"; a[\"b\"]; a[\"a\"]; a[\"c\"]; for (k in a) print k }", "BEGIN { PROCINFO[\"sorted_in\"] = \"@val_num_desc\"; a[\"x\"] = 3; a[\"y\"] = 10; a[\"z\"] = 7; for (k in a) print k, a[k] }", "function cmp(i1, v1, i2, v2) { return v1 - v2 } BEGIN { PROCINFO[\"sorted_in\"] = \"cmp\"; a[\"x\"] = 3; a[\"y\"] = 1; a[\"z\"] = 2; for (k in a) print k }", "BEGIN { PROCINFO[\"sorted_in\"] = \"@ind_num_desc\"; for (i = 1; i < 12; i++) a[i]; for (k in a) printf \"%s \", k; print \"\" }",
		"BEGIN { for (i = 1; i <= 20; i++) a[i]; for (k in a) printf \"%s \", k; print \"\" }", "BEGIN { n = split(\"the quick brown fox jumps over the lazy dog again and again until done\", w); for (i = 1; i <= n; i++) c[w[i]]++; for (k in c) printf \"%s \", k; print \"\" }", "BEGIN { for (i = 0; i < 60; i++) a[\"k\" i]; for (k in a) printf \"%s \", k; print \"\" }", "BEGIN { a[-1]; a[5]; a[\"x\"]; a[0]; a[1.5]; for (k in a) printf \"%s \", k; print \"\" }", "BEGIN { for (i = 20; i > 0; i -= 3) a[i]; a[\"z\"]; for (k in a) printf \"%s \", k; print \"\" }", "BEGIN { for (i = 1; i < 40; i++) a[-i]; for (k in a) printf \"%s \", k; print \"\" }",
		"BEGIN { a[\"x\"]; for (i = 1; i < 30; i++) a[i]; for (k in a) printf \"%s \", k; print \"\" }", "BEGIN{print 1;;print 2};;BEGIN{print 3}", "BEGIN { print 1 } # comment\n# another\nBEGIN { print 2 # trailing\n}", "BEGIN { x = 1 +\n 2; print x }", "BEGIN { x = 1 &&\n 0; print x; print 1,\n 2 }", "BEGIN { print 1 \\\n 2 }", "BEGINFILE { print \"bf\", FILENAME } ENDFILE { print \"ef\", FNR } END { print \"end\" }", "BEGIN { ARGV[1] = \"f\"; ARGC = 2 } { print FILENAME, $1 }", "BEGIN { for (i = 0; i < ARGC; i++) print i, ARGV[i]; print ENVIRON[\"TZ\"] }",
		"BEGIN { print strftime(\"%Y-%m-%d %H:%M:%S\", 0), strftime(\"%A %B %d %j %U\", 86400 * 45, 1), mktime(\"1970 01 02 00 00 00\"), mktime(\"2024 02 30 25 61 61\"), mktime(\"bad\") }", "BEGIN { print (systime() > 1000000000), length(strftime()) > 10 }", "BEGIN { print substr(strftime(\"%c\", 0), 1, 3) }", "{ a[NR % 2] = a[NR % 2] $1 } END { print a[0]; print a[1] }", "{ for (i = NF; i > 0; i--) printf \"%s%s\", $i, i > 1 ? OFS : ORS }", "{ line[NR] = $0 } END { while (NR > 0) print line[NR--] }", "!seen[$1]++", "{ w[$1] = w[$1] \" \" NR } END { for (k in w) print k w[k] }", "{ gsub(/[aeiou]/, \"*\") } 1", "{ $2 = sprintf(\"%05.1f\", $2); print }", "NF { $1 = \"\"; sub(/^ /, \"\"); print }",
		"BEGIN { printf \"%d %i %5d|%-5d|%05d|%+d|% d\\n\", 42, 42.9, 42, 42, 42, 42, 42 }", "BEGIN { printf \"%f %.2f %10.3f|%-10.3f|%e %E %g %G\\n\", 3.14159, 3.14159, 3.14159, 3.14159, 31415.9, 31415.9, 31415.9, 1e-10 }", "BEGIN { printf \"%x %X %o %#x %#o %u\\n\", 255, 255, 8, 255, 8, 42 }", "BEGIN { printf \"%c%c%c|%5c|%-5c|\\n\", 65, \"hello\", \"\", \"x\", \"y\" }", "BEGIN { printf \"%s|%10s|%-10s|%.2s|%%\\n\", \"abc\", \"abc\", \"abc\", \"abc\" }", "BEGIN { printf \"%*d|%-*d|%.*f\\n\", 5, 42, 5, 42, 2, 3.14159 }", "BEGIN { printf \"%d %d %d %x\\n\", \"0x1A\", \"12abc\", -3.99, -1 }",
		"BEGIN { printf \"%d %d %d\\n\", 2^53, 2^63, 1e20; printf \"%i %u\\n\", -2^31, -5 }", "BEGIN { printf \"%s %s %s\\n\", 1e6, 0.1 + 0.2, 1e20; printf \"%d %s\\n\", \"inf\", log(0) }", "BEGIN { printf \"%5%|%z|\\n\" }", "BEGIN { printf \"%s %s\\n\", \"only\" }", "BEGIN { printf \"%2$s %1$s\\n\", \"a\", \"b\" }", "BEGIN { printf \"%'d %c\\n\", 1234567, 256 }", "BEGIN { x = sprintf(\"%s-%d\", \"a\", 7); print x; print sprintf(\"%c\", 0x41) sprintf(\"%3s|\", \"\") }", "BEGIN { printf \"%.3d|%8.3d|%.0f|%.0e|%#.0f\\n\", 5, 5, 2.5, 12345, 3 }",
	))
}

func TestMistakes(t *testing.T) {
	commandtest.Run(t, programs(
		"BEGIN { print (1 }", "BEGIN { x = ; }", "BEGIN { print 1/0 }", "{ print 1 / ($9 + 0) }", "{ print 1 % 0 }", "BEGIN { x /= 0 }", "BEGIN { f(1) }", "BEGIN { a[1] = 1; print a }", "BEGIN { a = 1; a[1] = 2 }", "function f(x) { x[1] = 1 } BEGIN { y = 1; f(y) }", "BEGIN { if (1 print \"x\" }", "/a/ { print \"unterminated }", "/a", "BEGIN { return 1 }", "function f(f) { }", "function a(x, x) { } BEGIN { a() }", "BEGIN { print toupper(1, 2) }",
		"BEGIN { print substr(\"x\") }", "BEGIN { next }", "BEGIN { printf }", "BEGIN", "BEGIN { print 1", "}", "BEGIN { } }", "{ print $-1 }", "BEGIN { print \"a\" ~ /(/ }", "BEGIN { print \"a\" ~ \"[a\" }", "BEGIN { print \"x\" > \"/nope/x\" }", "BEGIN { print \"x\" > \"\" }", "BEGIN { NF = -1 }", "BEGIN { getline x < \"d\"; print x, ERRNO }", "BEGIN { exit 300 }", "BEGIN { exit -1 }", "function f(x) { } BEGIN { f(1, 2) }", "BEGIN { print length(1, 2) }", "BEGIN { 1 = 2 }", "BEGIN { print 08, 1e, 1.2.3 }", "BEGIN { @ }", "BEGIN { print \"\\q\" }", "BEGIN { print \"a\" ~ /\\q/ }", "BEGIN { while }", "BEGIN { for (i in) ; }", "function 1f() {}", "BEGIN { delete x[ }", "BEGIN { case 1: }", "BEGIN { x = \"a\" + }",
	))
}

func TestOptions(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"awk -F: '{ print $1 }' passwd", "awk -F : '{ print $1 }' passwd", "awk -F '[:/]' '{ print $7 }' passwd", "awk -F, '{ print $2 }' csv", "awk -F '\\t' '{ print $2 }' tabs", "awk -Ft '{ print $1 }' tabs", "awk -F ' ' '{ print $2 }' f", "awk -F '' '{ print $2 }' f", "awk -F '|' '{ print NF }' f", "awk -v x=5 'BEGIN { print x + 1 }'", "awk -v 'x=a\\tb' 'BEGIN { print x }'", "awk -v x=1 -v y=2 'BEGIN { print x y }'", "awk -v OFS=- '{ print $1, $2 }' f", "awk -v FS=, '{ print $2 }' csv", "awk -v RS= '{ print $1 }' para",
		"awk '{ print x, $1 }' x=1 f x=2 f", "awk '{ print FILENAME, FNR, NR }' f noeol", "awk 'FNR == 1 { print FILENAME }' f csv passwd", "awk 'NR == FNR { a[$1]; next } $1 in a' f f", "awk -f prog f", "awk -f prog -f prog f", "awk -f nope f", "awk -f bad f", "awk -e 'BEGIN { print 1 }' -e 'BEGIN { print 2 }'", "awk -- '{ print $1 }' f", "awk '{ print }' nope", "awk '{ print }' f nope", "awk '{ print }' d f", "awk 1 -", "awk 1 f - noeol", "awk -v 1x=3 'BEGIN {}'", "awk --field-separator=: '{ print $1 }' passwd", "awk --assign=x=3 'BEGIN { print x }'",
		"awk 'END { print NR }' f csv", "awk '{ nextfile } END { print NR }' f csv", "awk 'BEGIN { exit } END { print \"e\" }' f", "awk 'BEGIN { print ARGC, ARGV[1], ARGV[2] }' a b=c", "awk -b '{ print length($1) }' utf", "awk -S 'BEGIN { system(\"echo x\") }'", "awk -S 'BEGIN { print \"x\" > \"o\" }'", "awk '$1 == x' x=bob f", "awk -F'[' '{ print NF }' f", "awk '/ERROR/ { n[$1]++ } END { for (d in n) print d, n[d] }' log", "awk '{ print $1 > $3 \".out\" }' f", "gawk 'BEGIN { print 1/0 }'", "awk '{ s += $1 } END { print s }' nums", "awk '$1 > 9' nums", "awk '{ print $1 + 0 }' nums", "awk '{ print ($1 == $1 + 0) }' nums",
		"awk 'BEGIN { while ((getline l < ARGV[1]) > 0) n++; print n }' f", "awk 'END { getline; print $0 }' f", "awk '{ getline x < \"csv\"; print $1, x }' f", "awk 'NR == 1 { print; getline; print; getline y; print y, NR }' f", "awk '{ \"echo \" $1 | getline r; print r }' f",
	))
}

func TestWide(t *testing.T) {
	cases := join(programs(
		"BEGIN { print length(\"na\xc3\xafve\"), toupper(\"\xc3\xa9t\xc3\xa9\"), substr(\"na\xc3\xafve\", 3, 2), index(\"na\xc3\xafve\", \"v\"), match(\"na\xc3\xafve\", /v/), RSTART }", "BEGIN { printf \"%5s|%-5s|%.2s|%c|%c\\n\", \"\xc3\xa9\", \"\xc3\xa9\", \"\xc3\xa9\xc3\xa0\xc3\xbc\", \"\xc3\xa9x\", 233 }", "BEGIN { n = split(\"\xc3\xa9\xc3\xa0\", a, \"\"); print n, a[1] }", "BEGIN { s = \"\xc3\xa9a\xc3\xa9\"; print gsub(/./, \"x\", s), s }", "BEGIN { print \"\xc3\xa9\" ~ /^.$/, \"\xff\" ~ /^.$/, \"\xc3\x89\" ~ /[[:upper:]]/ }",
	), over("utf", "{ print length, length($2) }", "{ print substr($2, 4) }"), over("bin", "{ print length, length($2) }"))
	for i := range cases {
		cases[i].Env = []string{"LC_ALL=C.UTF-8"}
	}
	commandtest.Run(t, cases)
}
