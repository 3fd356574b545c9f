// Package archtest holds the directions of the imports: ARCHITECTURE.md says
// who may know of whom, and this test sees that it stays so.
package archtest

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/vfsd/vfsd/"

// layers lists the packages from the bottom up. A package, and whatever lies
// below its folder, may import only packages that stand above it in this list.
// What is not listed here must not exist.
var layers = []string{
	"vfs",
	"internal/hostfs",
	"internal/figures",
	"internal/pace",
	"chunk",
	"journal",
	"tree",
	"workspace",
	"internal/memfs",
	"protocol",
	"replica",
	"mount",
	"shell",
	"internal/egress",
	"exec",
	"conformance",
	"bench",
	"internal/checkout",
	"internal/control",
	"internal/daemon",
	"internal/volumes",
	"cmd",
	"internal/archtest",
	"internal/ackwriter",
	"spec",
	"clients",
}

// strangers must not know of the engine, in whatever way: they work over
// vfs.FS, over messages, or from outside.
var strangers = []string{"mount", "shell", "protocol", "conformance"}

var engine = []string{"workspace", "chunk", "journal"}

func packages(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Deps \" \"}}", module+"...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	deps := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields := strings.Fields(line)
		name := strings.TrimPrefix(fields[0], module)
		deps[name] = nil
		for _, d := range fields[1:] {
			if rel, ok := strings.CutPrefix(d, module); ok {
				deps[name] = append(deps[name], rel)
			}
		}
	}
	return deps
}

// layerOf returns the place of a package in the list, or -1.
func layerOf(pkg string) int {
	best, length := -1, 0
	for i, l := range layers {
		if (pkg == l || strings.HasPrefix(pkg, l+"/")) && len(l) > length {
			best, length = i, len(l)
		}
	}
	return best
}

func TestImportsPointDown(t *testing.T) {
	all := packages(t)
	if len(all) < 5 {
		t.Fatalf("go list found %d packages", len(all))
	}
	for pkg, deps := range all {
		at := layerOf(pkg)
		if at < 0 {
			t.Errorf("%s has no place in the architecture", pkg)
		}
		for _, d := range deps {
			if layerOf(d) > at {
				t.Errorf("%s imports %s, which stands above it", pkg, d)
			}
		}
	}
}

func TestStrangersDoNotKnowTheEngine(t *testing.T) {
	for pkg, deps := range packages(t) {
		for _, s := range strangers {
			if pkg != s && !strings.HasPrefix(pkg, s+"/") {
				continue
			}
			for _, d := range deps {
				for _, e := range engine {
					if d == e {
						t.Errorf("%s imports %s", pkg, d)
					}
				}
			}
		}
	}
}

// TestCoreStandsAlone keeps the nouns free of everything but the standard
// library.
func TestCoreStandsAlone(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{range .Deps}}{{.}}\n{{end}}", module+"vfs").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for _, d := range strings.Fields(string(out)) {
		if strings.Contains(strings.Split(d, "/")[0], ".") {
			t.Errorf("vfs imports %s", d)
		}
	}
}
