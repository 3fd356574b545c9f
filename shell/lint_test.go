package shell_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// forbiddenImports reach the host's files, processes, network or environment.
var forbiddenImports = map[string]bool{
	"os": true, "os/exec": true, "os/user": true, "os/signal": true, "io/ioutil": true, "net": true, "net/http": true,
	"plugin": true, "unsafe": true, "runtime/debug": true, "golang.org/x/sys/unix": true,
}

// networkFiles may name types of the network: what connects is the policy behind
// command.Network.
var networkFiles = map[string]map[string]bool{
	"net":      {"command/network.go": true, "cmd/net/client.go": true},
	"net/http": {"cmd/net/client.go": true, "cmd/net/transfer.go": true, "cmd/net/request.go": true, "cmd/net/receive.go": true, "cmd/net/wget.go": true},
}

// allowedSelectors are what may be used of packages that could do more.
var allowedSelectors = map[string]func(name string) bool{
	// Numbers and types, never a system call.
	"syscall": func(n string) bool {
		return n == "Errno" || strings.HasPrefix(n, "E") || strings.HasPrefix(n, "O_") || strings.HasPrefix(n, "S_I") || strings.HasPrefix(n, "SEEK_")
	},
	"net": func(n string) bool {
		switch n {
		case "Conn", "Error", "ParseIP", "IP", "SplitHostPort", "JoinHostPort":
			return true
		}
		return false
	},
	"net/http": func(n string) bool {
		switch n {
		case "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm", "ProxyFromEnvironment", "ListenAndServe", "Serve":
			return false
		}
		return true
	},
	// The host's zone and its zone files are none of a script's business.
	"time": func(n string) bool { return n != "Local" && n != "LoadLocation" },
	"path/filepath": func(n string) bool {
		switch n {
		case "Abs", "EvalSymlinks", "Glob", "Walk", "WalkDir":
			return false
		}
		return true
	},
}

// TestNoHostAccess (P6): nothing in shell/ but the test kit can touch the host.
func TestNoHostAccess(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "commandtest"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		checked++
		checkFile(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 30 {
		t.Errorf("only %d files were looked at", checked)
	}
}

func checkFile(t *testing.T, path string) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // by local name
	for _, im := range f.Imports {
		p, err := strconv.Unquote(im.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if forbiddenImports[p] && !networkFiles[p][filepath.ToSlash(path)] {
			t.Errorf("%s imports %s", path, p)
		}
		local := p[strings.LastIndexByte(p, '/')+1:]
		if im.Name != nil {
			local = im.Name.Name
		}
		names[local] = p
	}
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		if allowed := allowedSelectors[names[x.Name]]; allowed != nil && !allowed(sel.Sel.Name) {
			t.Errorf("%s uses %s.%s", fset.Position(sel.Pos()), x.Name, sel.Sel.Name)
		}
		return true
	})
}
