package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/shell"
	"github.com/vfsd/vfsd/shell/command"
	_ "github.com/vfsd/vfsd/shell/cmd/files"
	_ "github.com/vfsd/vfsd/shell/cmd/text"
	_ "github.com/vfsd/vfsd/shell/cmd/system"
	"github.com/vfsd/vfsd/vfs"
)

func main() {
	fs := memfs.New()
	w := vfs.NewWalker(fs, &vfs.Op{})
	w.MkdirAll("/tmp/w", 0o777)
	w.MkdirAll("/root", 0o777)
	sh := shell.New(shell.Config{FS: fs})
	dir := "/tmp/w"
	env := command.Environ{"PATH=/usr/bin:/bin", "HOME=/root"}
	for _, n := range []string{"LC_ALL", "TZ"} {
		if v, ok := os.LookupEnv(n); ok {
			env = env.Set(n, v)
		}
	}
	ses := sh.NewSession(shell.SessionOptions{Dir: dir, Env: env})
	t := time.Now()
	r := ses.Exec(context.Background(), shell.Execution{Script: os.Args[1], Stdout: os.Stdout, Stderr: os.Stderr, Params: os.Args[2:], Stdin: nil, Limits: shell.Limits{Time: 20 * time.Second}})
	if os.Getenv("ZZTIME") != "" {
		fmt.Fprintln(os.Stderr, time.Since(t), r)
	}
	if r.Internal != nil {
		fmt.Fprintln(os.Stderr, r.Internal)
	}
	os.Exit(r.Status)
}
