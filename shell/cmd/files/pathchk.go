package files

import (
	"context"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const pathchkPortability = 256

func init() {
	command.Register(command.Info{
		Name:     "pathchk",
		Synopsis: "pathchk [OPTION]... NAME...",
		Summary:  "Diagnose invalid or unportable file names.",
		Options: []command.Option{
			{Short: 'p', Help: "check for most POSIX systems"},
			{Short: 'P', Help: "check for empty names and leading \"-\""},
			{Long: "portability", ID: pathchkPortability, Help: "check for all POSIX systems (equivalent to -p -P)"},
		},
	}, pathchk)
}

// The least limits that POSIX lets a system have.
const (
	posixPathMax = 256
	posixNameMax = 14
)

func pathchk(ctx context.Context, c *command.Context, args []string) int {
	basic, extra := false, false
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'p':
			basic = true
		case 'P':
			extra = true
		case pathchkPortability:
			basic, extra = true, true
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if len(names) == 0 {
		return c.MissingOperand("")
	}
	for _, name := range names {
		if !checkPath(c, name, basic, extra) {
			status = 1
		}
	}
	return status
}

// checkPath reports the first thing that is wrong with a name.
func checkPath(c *command.Context, name string, basic, extra bool) bool {
	if extra && (strings.HasPrefix(name, "-") || strings.Contains(name, "/-")) {
		c.Errorf("leading '-' in a component of file name %s", c.QuoteArg(name))
		return false
	}
	if (basic || extra) && name == "" {
		c.Errorf("empty file name")
		return false
	}
	if !basic {
		_, err := c.FS.Lstat(name)
		if err == nil {
			return true
		}
		if vfs.ToErrno(err) != syscall.ENOENT || name == "" {
			c.Fail(name, err)
			return false
		}
	}
	maxPath, maxName := vfs.MaxPath, vfs.MaxName
	if basic {
		const portable = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/"
		for i := range len(name) {
			if strings.IndexByte(portable, name[i]) < 0 {
				c.Errorf("nonportable character %s in file name %s", c.Quote(name[i:i+1]), c.QuoteArg(name))
				return false
			}
		}
		maxPath, maxName = posixPathMax, posixNameMax
	}
	if len(name) >= maxPath {
		c.Errorf("limit %d exceeded by length %d of file name %s", maxPath-1, len(name), c.QuoteArg(name))
		return false
	}
	for _, part := range strings.Split(name, "/") {
		if len(part) > maxName {
			c.Errorf("limit %d exceeded by length %d of file name component %s", maxName, len(part), c.Quote(part))
			return false
		}
	}
	return true
}
