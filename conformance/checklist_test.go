//go:build linux

package conformance_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/conformance"
	"github.com/vfsd/vfsd/conformance/internal/harness"
	"github.com/vfsd/vfsd/conformance/internal/posix"
)

// TestChecklist: what the tables say is covered names cases and tests that are
// there.
func TestChecklist(t *testing.T) {
	cases := posix.Suite().Cases
	covered := map[string]bool{}
	for _, r := range conformance.Checklist {
		covered[r.Group] = true
		if !slices.Contains(conformance.Groups(), r.Group) {
			t.Errorf("%q: no group %q", r.Text, r.Group)
		}
		if len(r.Cases) == 0 {
			t.Errorf("%s: %q names no case", r.Group, r.Text)
		}
		for _, p := range r.Cases {
			if !slices.ContainsFunc(cases, func(c harness.Case) bool { return conformance.Match(p, c.Name) }) {
				t.Errorf("%s: %q names %q, which is no case", r.Group, r.Text, p)
			}
		}
		for _, test := range strings.Split(r.Elsewhere, ";") {
			isTest(t, strings.TrimSpace(test))
		}
	}
	for _, g := range conformance.Groups() {
		if !covered[g] {
			t.Errorf("group %s has no requirement", g)
		}
	}
	for _, c := range conformance.CrashCases {
		if len(c.Tests) == 0 {
			t.Errorf("%s names no test", c.ID)
		}
		for _, test := range c.Tests {
			isTest(t, test)
		}
	}
}

// tests are those of the packages that were looked at.
var tests = map[string][]string{}

// isTest asserts that "package TestName" is a test of that package. What names
// a script is let pass.
func isTest(t *testing.T, what string) {
	t.Helper()
	pkg, name, _ := strings.Cut(what, " ")
	if what == "" || strings.HasPrefix(pkg, "scripts/") {
		return
	}
	if _, known := tests[pkg]; !known {
		files, err := filepath.Glob(filepath.Join("..", pkg, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: package %q has no tests, %v", what, pkg, err)
		}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
					tests[pkg] = append(tests[pkg], fn.Name.Name)
				}
			}
		}
	}
	if !strings.HasPrefix(name, "Test") || !slices.Contains(tests[pkg], name) {
		t.Errorf("%s: no such test", what)
	}
}
