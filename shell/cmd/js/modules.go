package js

import (
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"strconv"
	"strings"

	"modernc.org/quickjs"
)

// moduleSyntax are statements that only modules have, at the start of a line.
var moduleSyntax = regexp.MustCompile(`(?m)^\s*(import\s*[\w{*"']|export\s+(default|const|let|var|function|class|async|\{|\*)|export\s*[{*]|await\s)|\bimport\.meta\b`)

// commonSyntax tells that a script is none.
var commonSyntax = regexp.MustCompile(`\brequire\s*\(|\bmodule\.exports\b`)

func looksLikeModule(script string) bool {
	m := moduleSyntax.FindString(script)
	if m == "" {
		return false
	}
	return !strings.HasPrefix(strings.TrimSpace(m), "await") || !commonSyntax.MatchString(script)
}

// packageType is the type that the nearest package.json gives.
func (r *runner) packageType(file string) string {
	for d := path.Dir(file); ; d = path.Dir(d) {
		if b, err := r.FS.ReadFile(path.Join(d, "package.json"), 1<<20); err == nil {
			var p struct{ Type string }
			if json.Unmarshal(b, &p) != nil {
				return ""
			}
			return p.Type
		}
		if d == "/" || d == "." {
			return ""
		}
	}
}

// resolveFile finds the file that a path means: itself, with an ending, or the
// index of a directory. "" when there is none.
func (r *runner) resolveFile(p string) string {
	p = path.Clean(p)
	for _, c := range []string{p, p + ".js", p + ".mjs", p + ".cjs", p + ".json"} {
		if a, err := r.FS.Stat(c); err == nil && !a.IsDir() {
			return c
		}
	}
	if b, err := r.FS.ReadFile(path.Join(p, "package.json"), 1<<20); err == nil {
		if entry := packageEntry(b); entry != "" && path.Join(p, entry) != p {
			if f := r.resolveFile(path.Join(p, entry)); f != "" {
				return f
			}
		}
	}
	for _, n := range []string{"index.js", "index.mjs", "index.json"} {
		if a, err := r.FS.Stat(path.Join(p, n)); err == nil && !a.IsDir() {
			return path.Join(p, n)
		}
	}
	return ""
}

// packageEntry is the file that a package.json names as the package.
func packageEntry(b []byte) string {
	var p struct {
		Main    string
		Module  string
		Exports json.RawMessage
	}
	if json.Unmarshal(b, &p) != nil {
		return ""
	}
	if e := exportsEntry(p.Exports, 0); e != "" {
		return e
	}
	if p.Main != "" {
		return p.Main
	}
	return p.Module
}

// exportsEntry reads the "exports" of a package.json for ".".
func exportsEntry(raw json.RawMessage, depth int) string {
	var s string
	if depth > 8 || len(raw) == 0 {
		return ""
	}
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return ""
	}
	for _, k := range []string{".", "node", "import", "default", "require"} {
		if v, ok := m[k]; ok {
			if e := exportsEntry(v, depth+1); e != "" {
				return e
			}
		}
	}
	return ""
}

// resolveName finds the module that a name means in a file: "node:fs" for those
// of node, else an absolute path.
func (r *runner) resolveName(base, name string) (string, error) {
	bare := strings.TrimPrefix(name, "node:")
	if _, ok := r.builtins[bare]; ok && bare != "" {
		return "node:" + bare, nil
	}
	if strings.HasPrefix(name, "node:") {
		return "", errors.New("No such built-in module: " + name)
	}
	name = strings.TrimPrefix(name, "file://")
	dir := r.Dir
	if strings.HasPrefix(base, "/") {
		dir = path.Dir(base)
	}
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") || name == "." || name == ".." {
		if !strings.HasPrefix(name, "/") {
			name = path.Join(dir, name)
		}
		if f := r.resolveFile(name); f != "" {
			return f, nil
		}
		return "", errors.New("Cannot find module '" + name + "'")
	}
	for d := dir; ; d = path.Dir(d) {
		if f := r.resolveFile(path.Join(d, "node_modules", name)); f != "" {
			return f, nil
		}
		if d == "/" || d == "." {
			return "", errors.New("Cannot find package '" + name + "'")
		}
	}
}

// normalize implements quickjs.ModuleNormalizeFunc.
func (r *runner) normalize(_ *quickjs.VM, base, name string) (string, error) {
	if name == mainModule {
		return name, nil
	}
	if strings.HasPrefix(base, mainModule) {
		base = strings.TrimPrefix(base, mainModule)
	}
	return r.resolveName(base, name)
}

// mainModule is the name under which the script itself is loaded when it has no
// file.
const mainModule = "vfsd:main"

// loadModule implements quickjs.ModuleLoaderFunc.
func (r *runner) loadModule(vm *quickjs.VM, name string) (string, error) {
	if name == mainModule {
		v, err := vm.Call("__mainSource")
		s, _ := v.(string)
		return s, err
	}
	if bare, ok := strings.CutPrefix(name, "node:"); ok {
		list := r.builtins[bare]
		return "const m = globalThis.__node[" + strconv.Quote(bare) + "]; export default m; export const {" + list + "} = m;", nil
	}
	b, err := r.FS.ReadFile(name, maxSource)
	if err != nil {
		return "", err
	}
	text := string(b)
	if strings.HasPrefix(text, "#!") {
		text = "//" + text
	}
	switch {
	case strings.HasSuffix(name, ".json"):
		return "export default " + text + ";", nil
	case !r.isModule(text, name, ""):
		keys, err := vm.Call("__commonKeys", name)
		if err != nil {
			return "", err
		}
		list, _ := keys.(string)
		return "const m = globalThis.__require(" + strconv.Quote(name) + "); export default m; export const {" + list + "} = m;", nil
	}
	q := strconv.Quote
	return "import.meta.url=" + q("file://"+name) + ";import.meta.filename=" + q(name) + ";import.meta.dirname=" + q(path.Dir(name)) + ";" + text, nil
}
