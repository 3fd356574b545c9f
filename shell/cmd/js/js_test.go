package js_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/shell"
	_ "github.com/vfsd/vfsd/shell/cmd/files"
	_ "github.com/vfsd/vfsd/shell/cmd/js"
	_ "github.com/vfsd/vfsd/shell/cmd/system"
	_ "github.com/vfsd/vfsd/shell/cmd/text"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

var files = map[string]string{
	"a.mjs":                             "import { b } from './b.mjs'; import fs from 'node:fs/promises'; import d from './c.cjs'; import { x } from './c.cjs'; import j from './j.json' with { type: 'json' };\nawait fs.writeFile('out', 'w' + b); console.log(b, d.x, x, j.k, await fs.readFile('out', 'utf8'), import.meta.filename);",
	"b.mjs":                             "export const b = 7;",
	"c.cjs":                             "exports.x = 1;",
	"j.json":                            `{"k": [1]}`,
	"main.js":                           "#!/usr/bin/env node\nconst c = require('./c.cjs'); const { join } = require('path'); console.log(c.x, join('a', '..', 'b'), __filename, process.argv.slice(2).join(), require.main === module);",
	"pkg/index.js":                      "import m from 'mod'; console.log(m);",
	"pkg/package.json":                  `{"type": "module"}`,
	"pkg/node_modules/mod/package.json": `{"main": "lib.js"}`,
	"pkg/node_modules/mod/lib.js":       "module.exports = 'from mod';",
	"tla.mjs":                           "const v = await new Promise(r => setTimeout(() => r(5), 5)); console.log(v);",
	"bad.js":                            "let x = ;",
	"throw.js":                          "function f() { throw new TypeError('boom'); }\nf();",
	"utf8":                              "h\u00e9\u20ac\U0001F600",
	"bin":                               "\x00\xff\x80a",
}

func script(t *testing.T, text string, limits shell.Limits) (string, string, int, time.Duration) {
	t.Helper()
	fs := memfs.New()
	w := vfs.NewWalker(fs, &vfs.Op{Umask: 0o022})
	for name, content := range files {
		p := "/w/" + name
		if err := w.MkdirAll(p[:strings.LastIndexByte(p, '/')], 0o755); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteFile(p, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ses := shell.New(shell.Config{FS: fs, Limits: limits}).NewSession(shell.SessionOptions{Env: command.Environ{"PATH=/usr/bin:/bin", "HOME=/w", "A=b"}, Dir: "/w"})
	defer ses.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	start := time.Now()
	res := ses.Exec(ctx, shell.Execution{Script: text, Stdin: strings.NewReader("line 1\nline 2\n"), Stdout: &out, Stderr: &errs})
	if res.Internal != nil {
		t.Errorf("panic: %v", res.Internal)
	}
	return out.String(), errs.String(), res.Status, time.Since(start)
}

// TestNode holds what node 18 prints for the same.
func TestNode(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`node -e 'console.log(1+1)'`, "2\n"},
		{`js -p '[1,2].map(x => x * 2)'`, "[ 2, 4 ]\n"},
		{`echo 'console.log("in")' | node`, "in\n"},
		{`echo 'console.log("in")' | node - x`, "in\n"},
		{`node a.mjs`, "7 1 1 [ 1 ] w7 /w/a.mjs\n"},
		{`node main.js x y`, "1 b /w/main.js x,y true\n"},
		{`./main.js`, "1 b /w/main.js  true\n"},
		{`node pkg/index.js`, "from mod\n"},
		{`node pkg`, "from mod\n"},
		{`node tla.mjs`, "5\n"},
		{`js-exec -e 'import p from "node:path"; console.log(p.resolve("x"))'`, "/w/x\n"},
		{`node -e 'console.log({a:1,b:"x",c:[1,2,{d:{e:{}}}],f(){},g:null,h:undefined})'`, "{\n  a: 1,\n  b: 'x',\n  c: [ 1, 2, { d: [Object] } ],\n  f: [Function: f],\n  g: null,\n  h: undefined\n}\n"},
		{`node -e 'console.log(new Map([[1,{a:2}]]), new Set("ab"), [,1], [], {}, -0, 10n, Symbol("s"), "s", ["q\u0027s"])'`, "Map(1) { 1 => { a: 2 } } Set(2) { 'a', 'b' } [ <1 empty item>, 1 ] [] {} -0 10n Symbol(s) s [ \"q's\" ]\n"},
		{`node -e 'class A { x = 1 } console.log(new A, A, () => 1, new Date(0), /x/g, Buffer.from("hi"))'`, "A { x: 1 } [class A] [Function (anonymous)] 1970-01-01T00:00:00.000Z /x/g <Buffer 68 69>\n"},
		{`node -e 'console.log("%s is %d, %j %O%%", "x", 42, {a:1}, [1], "more")'`, "x is 42, {\"a\":1} [ 1 ]% more\n"},
		{`node -e 'console.log(process.env.A, process.cwd(), process.platform, process.argv.length)'`, "b /w linux 1\n"},
		{`node -e 'process.exit(3); console.log("no")'; echo $?`, "3\n"},
		{`node -e 'process.exitCode = 4'; echo $?`, "4\n"},
		{`node -e 'setTimeout(() => console.log("b"), 5); setImmediate(() => console.log("i")); process.nextTick(() => console.log("t")); Promise.resolve().then(() => console.log("p")); console.log("a")'`, "a\nt\np\ni\nb\n"},
		{`node -e 'let n = 0; const t = setInterval(() => { console.log(++n); if (n === 3) clearInterval(t); }, 1)'`, "1\n2\n3\n"},
		{`node -e 'const fs = require("fs"); console.log(fs.readFileSync("utf8", "utf8").length, fs.readFileSync("utf8").length, fs.readFileSync("bin").toString("hex"))'`, "5 10 00ff8061\n"},
		{`node -e 'const fs = require("fs"); fs.writeFileSync("n", Buffer.from([0,255,128])); fs.appendFileSync("n", "é")'; od -An -tx1 n`, " 00 ff 80 c3 a9\n"},
		{`node -e 'const fs = require("fs"); fs.mkdirSync("x/y/z", {recursive: true}); fs.writeFileSync("x/y/f", ""); console.log(fs.readdirSync("x/y"), fs.statSync("x").isDirectory(), fs.existsSync("q")); fs.rmSync("x", {recursive: true}); console.log(fs.existsSync("x"))'`, "[ 'f', 'z' ] true false\nfalse\n"},
		{`node -e 'try { require("fs").readFileSync("nope") } catch (e) { console.log(e.code, e.message) }'`, "ENOENT ENOENT: no such file or directory, open 'nope'\n"},
		{`node -e 'require("fs").promises.readdir("/nope").catch(e => console.log(e.message))'`, "ENOENT: no such file or directory, scandir '/nope'\n"},
		{`node -e 'console.log(require("fs").readFileSync(0, "utf8").split("\n").length)' < a.mjs`, "2\n"},
		{`node -e 'process.stdin.on("data", d => console.log(String(d).length)).on("end", () => console.log("end"))' < b.mjs`, "19\nend\n"},
		{`node --input-type=module -e 'for await (const c of process.stdin) process.stdout.write(c)' < b.mjs`, "export const b = 7;"},
		{`node -e 'const a = require("assert"); try { a.strictEqual(1, 2) } catch (e) { console.log(e.code, e.message.split("\n")[0]) }'`, "ERR_ASSERTION Expected values to be strictly equal:\n"},
		{`node -e 'const E = require("events"); const e = new E(); e.once("x", v => console.log(v)); e.emit("x", 1); console.log(e.emit("x", 2))'`, "1\nfalse\n"},
		{`node -e 'console.log(Buffer.from("aGk=", "base64").toString(), Buffer.from("héllo").toString("base64"), btoa("x"))'`, "hi aMOpbGxv eA==\n"},
		{`node -e 'console.log([..."x".repeat(30)].map((_, i) => i))'`, "[\n   0,  1,  2,  3,  4,  5,  6,  7,  8,\n   9, 10, 11, 12, 13, 14, 15, 16, 17,\n  18, 19, 20, 21, 22, 23, 24, 25, 26,\n  27, 28, 29\n]\n"},
		{`node -e 'console.log(require("path").relative("/a/b", "/a/c/d"), require("path").extname("x.tar.gz"), require("util").inspect({a:{b:{c:{d:1}}}}, {depth: 0}))'`, "../c/d .gz { a: [Object] }\n"},
		{`node -c main.js; echo $?`, "0\n"},
		{`node -v`, "v20.0.0\n"},
		{`node -e 'require("child_process")' 2>/dev/null; echo $?`, "1\n"},
		{`node nope.js 2>&1 | head -n 5`, "node:internal/modules/cjs/loader\n  throw err;\n  ^\n\nError: Cannot find module '/w/nope.js'\n"},
		{`node throw.js 2>&1 | head -n 1; node throw.js 2>/dev/null; echo $?`, "Uncaught TypeError: boom\n1\n"},
		{`node bad.js 2>&1 | head -n 1 | cut -c1-21; node bad.js 2>/dev/null; echo $?`, "Uncaught SyntaxError:\n1\n"},
		{`node -e 'Promise.reject(new Error("lost")).catch(() => console.log("caught"))'`, "caught\n"},
		{`node --input-type=module -e 'await Promise.reject(new Error("x"))' 2>&1 | head -n 1`, "Uncaught Error: x\n"},
		{`node -e 'while (true) console.log("y")' | head -n 2`, "y\ny\n"},
		{`node -e 'console.table([{a:1,b:"x"}])'`, "┌─────────┬───┬─────┐\n│ (index) │ a │  b  │\n├─────────┼───┼─────┤\n│    0    │ 1 │ 'x' │\n└─────────┴───┴─────┘\n"},
	} {
		out, errs, status, _ := script(t, c.script, shell.Limits{})
		if out != c.want {
			t.Errorf("%s\ngot  %q\nwant %q\nstderr %q status %d", c.script, out, c.want, errs, status)
		}
	}
}

// TestHostile (P6): what would take memory, time or the stack ends, and the
// session goes on.
func TestHostile(t *testing.T) {
	for _, c := range []string{
		`const a = []; for (;;) a.push("x".repeat(1e6) + a.length)`,
		`let s = "x"; for (;;) s += s`,
		`new Array(1e9).fill(0)`,
		`function f() { return f() + 1 } f()`,
		`const b = []; for (;;) b.push(new Uint8Array(1e7))`,
		`/(a+)+$/.test("a".repeat(40) + "b")`,
		`for (;;);`,
		`for (;;) { try { for (;;); } catch {} finally { for (;;); } }`,
		`const f = () => Promise.resolve().then(f); f()`,
		`setInterval(() => {}, 1)`,
		`JSON.parse("[".repeat(1e6))`,
		`process.on("exit", () => { for (;;); })`,
		`let o = {}; for (;;) o = {o}`,
	} {
		out, errs, _, took := script(t, "timeout 0.7 node -e '"+c+"' >/dev/null; echo $?; echo on", shell.Limits{})
		if !strings.HasSuffix(out, "\non\n") || strings.HasPrefix(out, "0\n") || took > 10*time.Second {
			t.Errorf("%s: %q %.200q after %v", c, out, errs, took)
		}
	}
}
