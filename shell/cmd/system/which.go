package system

import (
	"context"
	"io"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

func which(ctx context.Context, c *command.Context, args []string) int {
	all, silent := false, false
	rest := args[1:]
	for len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' {
		a := rest[0]
		rest = rest[1:]
		if a == "--" {
			break
		}
		if a == "--help" {
			c.Stdout.WriteString(c.Command.Help())
			return 0
		}
		for _, letter := range a[1:] {
			switch letter {
			case 'a':
				all = true
			case 's':
				silent = true
			default:
				io.WriteString(c.Stderr, "Illegal option "+a+"\nUsage: "+args[0]+" [-as] args\n")
				return 2
			}
		}
	}
	if len(rest) == 0 {
		return 1
	}
	status := 0
	for _, name := range rest {
		found := false
		for _, path := range candidates(c, name) {
			if !executable(c, path) {
				continue
			}
			if found = true; !silent {
				c.Stdout.WriteString(path + "\n")
			}
			if !all {
				break
			}
		}
		if !found {
			status = 1
		}
	}
	return status
}

// candidates are the paths under which a command may be.
func candidates(c *command.Context, name string) []string {
	if strings.Contains(name, "/") {
		return []string{name}
	}
	var out []string
	for _, dir := range strings.Split(c.Env.Get("PATH"), ":") {
		if dir == "" {
			dir = "."
		}
		out = append(out, strings.TrimSuffix(dir, "/")+"/"+name)
	}
	return out
}

func executable(c *command.Context, path string) bool {
	a, err := c.FS.Stat(path)
	return err == nil && a.IsRegular() && c.FS.Access(path, vfs.MayExec) == nil
}
