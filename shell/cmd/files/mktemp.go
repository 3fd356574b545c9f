package files

import (
	"context"
	"crypto/rand"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
)

const mktempSuffix = 256

func init() {
	command.Register(command.Info{
		Name:     "mktemp",
		Synopsis: "mktemp [OPTION]... [TEMPLATE]",
		Summary:  "Create a temporary file or directory, safely, and print its name.\nTEMPLATE must contain at least 3 consecutive 'X's in last component.\nIf TEMPLATE is not specified, use tmp.XXXXXXXXXX, and --tmpdir is implied.",
		Options: []command.Option{
			{Short: 'd', Long: "directory", Help: "create a directory, not a file"},
			{Short: 'u', Long: "dry-run", Help: "do not create anything; merely print a name (unsafe)"},
			{Short: 'q', Long: "quiet", Help: "suppress diagnostics about file/dir-creation failure"},
			{Long: "suffix", Arg: command.RequiredArgument, ArgName: "SUFF", ID: mktempSuffix, Help: "append SUFF to TEMPLATE; SUFF must not contain a slash"},
			{Short: 'p', Arg: command.RequiredArgument, ArgName: "DIR", Help: "interpret TEMPLATE relative to DIR"},
			{Long: "tmpdir", Arg: command.OptionalArgument, ArgName: "DIR", ID: 'p', Help: "interpret TEMPLATE relative to DIR; if DIR is not\nspecified, use $TMPDIR if set, else /tmp"},
			{Short: 't', Help: "interpret TEMPLATE as a single file name component,\nrelative to a directory: $TMPDIR, if set; else the\ndirectory specified via -p; else /tmp [deprecated]"},
		},
	}, mktemp)
}

func mktemp(ctx context.Context, c *command.Context, args []string) int {
	dirs, dry, quiet, inDir, old := false, false, false, false, false
	suffix, hasSuffix, dir := "", false, ""
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'd':
			dirs = true
		case 'u':
			dry = true
		case 'q':
			quiet = true
		case 'p':
			inDir, dir = true, p.Arg()
		case 't':
			inDir, old = true, true
		case mktempSuffix:
			suffix, hasSuffix = p.Arg(), true
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if len(names) > 1 {
		return c.Usage("too many templates")
	}
	template := "tmp.XXXXXXXXXX"
	if len(names) == 1 {
		template = names[0]
	} else {
		inDir = true
	}
	head, tail, status := cutTemplate(c, template, suffix, hasSuffix)
	if status != 0 {
		return status
	}
	xs := len(head) - len(strings.TrimRight(head, "X"))
	if xs < 3 {
		return c.Errorf("too few X's in template %s", c.Quote(template))
	}
	if inDir {
		tmp := c.Env.Get("TMPDIR")
		if old {
			if tmp != "" {
				dir = tmp
			}
			if strings.Contains(head, "/") {
				return c.Errorf("invalid template, %s, contains directory separator", c.Quote(template))
			}
		} else if strings.HasPrefix(template, "/") {
			return c.Errorf("invalid template, %s; with --tmpdir, it may not be absolute", c.Quote(template))
		}
		if dir == "" {
			dir = tmp
		}
		if dir == "" {
			dir = "/tmp"
		}
		head = gnulib.Join(dir, head)
	}
	name, err := makeTemp(c, head, xs, tail, dirs, dry)
	if err != nil {
		if !quiet {
			kind := "file"
			if dirs {
				kind = "directory"
			}
			c.Errorf("failed to create %s via template %s: %s", kind, c.Quote(head+tail), command.Strerror(err))
		}
		return 1
	}
	c.Stdout.WriteString(name + "\n")
	return 0
}

// cutTemplate parts a template after its last X's.
func cutTemplate(c *command.Context, template, suffix string, hasSuffix bool) (head, tail string, status int) {
	if hasSuffix {
		if !strings.HasSuffix(template, "X") {
			return "", "", c.Errorf("with --suffix, template %s must end in X", c.Quote(template))
		}
		head, tail = template, suffix
	} else {
		i := strings.LastIndexByte(template, 'X') + 1
		head, tail = template[:i], template[i:]
	}
	if strings.Contains(tail, "/") {
		return "", "", c.Errorf("invalid suffix %s, contains directory separator", c.Quote(tail))
	}
	return head, tail, 0
}

// makeTemp makes a file or directory whose name is not taken: head's last xs
// letters are random.
func makeTemp(c *command.Context, head string, xs int, tail string, dir, dry bool) (string, error) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	for range 1000 {
		random := make([]byte, xs)
		if _, err := rand.Read(random); err != nil {
			return "", err
		}
		for i := range random {
			random[i] = letters[int(random[i])%len(letters)]
		}
		name := head[:len(head)-xs] + string(random) + tail
		var err error
		switch {
		case dry:
			if _, err = c.FS.Lstat(name); err == nil {
				err = syscall.EEXIST
			} else if toErrno(err) == syscall.ENOENT {
				err = nil
			}
		case dir:
			err = c.FS.Mkdir(name, 0o700)
		default:
			f, oerr := c.FS.OpenFile(name, syscall.O_RDWR|syscall.O_CREAT|syscall.O_EXCL, 0o600)
			if err = oerr; err == nil {
				err = f.Close()
			}
		}
		if toErrno(err) != syscall.EEXIST {
			return name, err
		}
	}
	return "", syscall.EEXIST
}
