package exec_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/vfsd/vfsd/exec"
	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/shell"
	"github.com/vfsd/vfsd/vfs"
)

// newEngine returns an engine whose only workspace is in memory. A program that
// keeps workspaces on disk returns workspace.Workspace here.
func newEngine() (*exec.Engine, func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	files := memfs.New()
	e := exec.New(exec.Options{
		Open: func(string) (vfs.FS, error) { return files, nil },
		Dir:  filepath.Join(dir, "exec"),
	})
	return e, func() {
		if err := e.Close(); err != nil {
			panic(err)
		}
		os.RemoveAll(dir)
	}
}

// A script with the caller's streams, as os/exec runs a process.
func ExampleEngine_Run() {
	e, end := newEngine()
	defer end()
	r, err := e.Run(context.Background(), exec.Request{
		Workspace: "ws",
		Script:    `sort -n | tee sorted; exit 3`,
		Limits:    shell.Limits{Memory: 8 << 20},
	}, strings.NewReader("10\n9\n"), os.Stdout, os.Stderr)
	fmt.Println(r.Status, err)
	// Output:
	// 9
	// 10
	// 3 <nil>
}

// An execution that is followed while it runs, and read again afterwards, from
// a position.
func ExampleExecution_Follow() {
	e, end := newEngine()
	defer end()
	ctx := context.Background()
	x, err := e.Start(exec.Request{Workspace: "ws", Script: "echo one; echo two"})
	if err != nil {
		panic(err)
	}
	all := ""
	if err := x.Follow(ctx, 0, func(ev exec.Event) error {
		all += string(ev.Data)
		return nil
	}); err != nil {
		panic(err)
	}
	again, err := e.Get(x.ID())
	if err != nil {
		panic(err)
	}
	rest := ""
	if err := again.Read(ctx, 4, func(ev exec.Event) error {
		rest += string(ev.Data)
		return nil
	}); err != nil {
		panic(err)
	}
	fmt.Printf("%q %q\n", all, rest)
	// Output: "one\ntwo\n" "two\n"
}

// A session keeps variables, functions and the working directory.
func ExampleRequest_session() {
	e, end := newEngine()
	defer end()
	for _, script := range []string{"mkdir src; cd src; greet() { echo hello, $1; }", "pwd; greet world"} {
		if _, err := e.Run(context.Background(), exec.Request{Workspace: "ws", Session: "s", Script: script}, nil, os.Stdout, os.Stderr); err != nil {
			panic(err)
		}
	}
	// Output:
	// /src
	// hello, world
}
