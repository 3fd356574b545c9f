package workload

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/vfsd/vfsd/bench/data"
)

func builds() []Workload {
	const group = "Builds"
	return []Workload{
		{
			Name: "go-build", Title: "go build, module and empty GOCACHE in the directory", Group: group, Client: Tools, Limit: 1.05,
			Needs: []string{"go"}, Setup: goModule, Run: goBuild,
			Check: func(_ context.Context, e *Env) error { return notEmpty(e.work("gocache")) },
		},
		{
			Name: "c-build", Title: "make -j2 of a C tree", Group: group, Client: Tools,
			Needs: []string{"make", "cc"}, Setup: cTree,
			Run: func(ctx context.Context, e *Env) error {
				_, err := e.run(ctx, Command{Dir: e.Work, Args: []string{"make", "-s", "-j2"}})
				return err
			},
			Check: func(ctx context.Context, e *Env) error {
				out, err := e.run(ctx, Command{Dir: e.Work, Args: []string{"./program"}})
				if err == nil && strings.TrimSpace(string(out)) != fmt.Sprint(e.Sizes.CFiles) {
					return fmt.Errorf("the program says %q", out)
				}
				return err
			},
		},
	}
}

func notEmpty(dir string) error {
	names, err := os.ReadDir(dir)
	if err == nil && len(names) == 0 {
		return fmt.Errorf("%s is empty", dir)
	}
	return err
}

// fewPackages is the size below which the module imports nothing, so that the
// standard library need not be compiled.
const fewPackages = 10

// goModule writes a module: packages that import up to three of those before
// them, and a program that imports all. Nothing is fetched to build it.
func goModule(_ context.Context, e *Env) error {
	r := data.New(e.Seed, 13)
	if err := writeAll(e.work("go.mod"), "module example.org/bench\n\ngo 1.21\n"); err != nil {
		return err
	}
	std := e.Sizes.GoPackages >= fewPackages
	for i := range e.Sizes.GoPackages {
		before := map[int]bool{}
		for range min(i, 3) {
			before[r.IntN(i)] = true
		}
		for f := range 4 {
			var from map[int]bool
			if f == 0 {
				from = before
			}
			path := e.work(fmt.Sprintf("p%d", i), fmt.Sprintf("file%d.go", f))
			if err := writeAll(path, goFile(i, f, from, std && f == 0, r.Uint64())); err != nil {
				return err
			}
		}
	}
	if !std {
		return nil
	}
	return writeAll(e.work("main.go"), goMain(e.Sizes.GoPackages))
}

func goMain(packages int) string {
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n\t\"fmt\"\n")
	for i := range packages {
		fmt.Fprintf(&b, "\t\"example.org/bench/p%d\"\n", i)
	}
	b.WriteString(")\n\nfunc main() {\n")
	for i := range packages {
		fmt.Fprintf(&b, "\tfmt.Println(p%d.F0x0(%d))\n", i, i)
	}
	b.WriteString("}\n")
	return b.String()
}

// goFile is one source file: functions with loops, maps and types, so that the
// compiler has something to do.
func goFile(pkg, file int, imports map[int]bool, std bool, seed uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package p%d\n\n", pkg)
	for i := range pkg {
		if imports[i] {
			fmt.Fprintf(&b, "import \"example.org/bench/p%d\"\n", i)
		}
	}
	if std {
		b.WriteString("import (\n\t\"encoding/json\"\n\t\"sort\"\n\t\"strings\"\n)\n\n" +
			"func Show(xs []string) string {\n\tsort.Strings(xs)\n\tout, _ := json.Marshal(strings.Join(xs, \" \"))\n\treturn string(out)\n}\n")
	}
	for f := range 12 {
		fmt.Fprintf(&b, "\ntype T%dx%d struct {\n\tName string\n\tCount int\n\tIndex map[string]int\n}\n", file, f)
		fmt.Fprintf(&b, "\nfunc F%dx%d(n int) int {\n\tt := T%dx%d{Index: map[string]int{}}\n", file, f, file, f)
		fmt.Fprintf(&b, "\tfor i := 0; i < n; i++ {\n\t\tt.Index[t.Name] += i * %d\n\t\tt.Count += t.Index[t.Name]\n\t}\n", seed%9973+uint64(f))
		if f == 0 {
			for i := range pkg {
				if imports[i] {
					fmt.Fprintf(&b, "\tt.Count += p%d.F0x0(n)\n", i)
				}
			}
		}
		b.WriteString("\treturn t.Count\n}\n")
	}
	return b.String()
}

func writeAll(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o644)
}

func goBuild(ctx context.Context, e *Env) error {
	args := []string{"go", "build", "-o", "program", "."}
	if e.Sizes.GoPackages < fewPackages {
		args = []string{"go", "build", "./..."}
	}
	_, err := e.run(ctx, Command{
		Dir: e.Work, Args: args,
		Env: []string{
			"GOCACHE=" + e.work("gocache"), "GOPATH=" + filepath.Join(e.Shared, "gopath"), "GOPROXY=off",
			"GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "GOENV=off", "GOTELEMETRY=off", "CGO_ENABLED=0", "GOWORK=off",
		},
	})
	return err
}

// cTree writes C files, a header for each, one header that includes them all,
// and a Makefile.
func cTree(_ context.Context, e *Env) error {
	r := data.New(e.Seed, 14)
	var objects, all, calls strings.Builder
	for i := range e.Sizes.CFiles {
		fmt.Fprintf(&objects, " f%d.o", i)
		fmt.Fprintf(&all, "#include \"f%d.h\"\n", i)
		fmt.Fprintf(&calls, "\tn += f%d_0(1) != 0;\n", i)
		if err := writeAll(e.work("include", fmt.Sprintf("f%d.h", i)), fmt.Sprintf("#pragma once\nint f%d_0(int n);\n", i)); err != nil {
			return err
		}
		if err := writeAll(e.work(fmt.Sprintf("f%d.c", i)), cFile(i, r.Uint64())); err != nil {
			return err
		}
	}
	if err := writeAll(e.work("include", "all.h"), "#pragma once\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"+all.String()); err != nil {
		return err
	}
	if err := writeAll(e.work("main.c"), "#include \"all.h\"\nint main(void) {\n\tint n = 0;\n"+calls.String()+"\tprintf(\"%d\\n\", n);\n\treturn 0;\n}\n"); err != nil {
		return err
	}
	return writeAll(e.work("Makefile"), "program: main.o"+objects.String()+"\n\tcc -o $@ $^\n%.o: %.c include/all.h\n\tcc -Iinclude -O1 -c -o $@ $<\n")
}

func cFile(i int, seed uint64) string {
	var b strings.Builder
	b.WriteString("#include \"all.h\"\n")
	for f := 19; f >= 0; f-- {
		fmt.Fprintf(&b, "int f%d_%d(int n) {\n\tunsigned sum = 1;\n\tfor (int i = 0; i < n + %d; i++)\n\t\tsum = sum * 31 + i;\n", i, f, seed%97+uint64(f))
		if f < 19 {
			fmt.Fprintf(&b, "\tsum += f%d_%d(n);\n", i, f+1)
		}
		b.WriteString("\treturn sum | 1;\n}\n")
	}
	return b.String()
}
