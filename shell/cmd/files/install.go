package files

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const installStripProgram = 290

func init() {
	options := []command.Option{
		{Short: 'c', Help: "(ignored)"},
		{Short: 'C', Long: "compare", Help: "compare content of source and destination files, and\nif no change to content, ownership, and permissions,\ndo not modify the destination at all"},
		{Short: 'd', Long: "directory", Help: "treat all arguments as directory names; create all\ncomponents of the specified directories"},
		{Short: 'D', Help: "create all leading components of DEST except the last,\nor all components of --target-directory,\nthen copy SOURCE to DEST"},
		{Short: 'g', Long: "group", Arg: command.RequiredArgument, ArgName: "GROUP", Help: "set group ownership, instead of process' current group"},
		{Short: 'm', Long: "mode", Arg: command.RequiredArgument, ArgName: "MODE", Help: "set permission mode (as in chmod), instead of rwxr-xr-x"},
		{Short: 'o', Long: "owner", Arg: command.RequiredArgument, ArgName: "OWNER", Help: "set ownership (super-user only)"},
		{Short: 'p', Long: "preserve-timestamps", Help: "apply access/modification times of SOURCE files\nto corresponding destination files"},
		{Short: 's', Long: "strip", Help: "ignored: nothing is stripped"},
		{Long: "strip-program", Arg: command.RequiredArgument, ArgName: "PROGRAM", ID: installStripProgram, Help: "ignored"},
		{Short: 'v', Long: "verbose", Help: "print the name of each created file or directory"},
	}
	options = append(append(append(options, backupOptions...), targetOptions...), contextOptions...)
	command.Register(command.Info{
		Name: "install",
		Synopsis: "install [OPTION]... [-T] SOURCE DEST\ninstall [OPTION]... SOURCE... DIRECTORY\n" +
			"install [OPTION]... -t DIRECTORY SOURCE...\ninstall [OPTION]... -d DIRECTORY...",
		Summary: "Copy files (often just compiled) into destination locations you choose, and set\ntheir permission modes and owner/group.",
		Options: options,
	}, install)
}

// installer is a copier with what install adds.
type installer struct {
	*copier
	where         placing
	owner         ownerSpec
	dirs, compare bool
	leading       bool // -D
	mode          uint32
	dirMode       uint32
}

func install(ctx context.Context, c *command.Context, args []string) int {
	n := installer{copier: newCopier(ctx, c), owner: ownerSpec{uid: -1, gid: -1}, mode: 0o755, dirMode: 0o755}
	n.follow, n.unlink, n.contents = followAll, true, true
	mode, owner, group := "", "", ""
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'C':
			n.compare = true
		case 'd':
			n.dirs = true
		case 'D':
			n.leading = true
		case 'g':
			group = p.Arg()
		case 'o':
			owner = p.Arg()
		case 'm':
			mode = p.Arg()
		case 'p':
			n.keep.times = true
		case 's', 'c', installStripProgram:
		default:
			if status, ok := n.cpOption(p, &n.where); !ok {
				return status
			}
		}
	}
	names, st, stop := p.End()
	if stop {
		return st
	}
	n.backup.finish(c)
	if st, ok := n.settings(mode, owner, group); !ok {
		return st
	}
	if n.dirs {
		if n.where.hasTarget {
			return c.Errorf("target directory not allowed when installing a directory")
		}
		if len(names) == 0 {
			return c.Usage("missing file operand")
		}
		ok := true
		for _, name := range names {
			ok = n.directories(name, true) && ok
		}
		return status(ok)
	}
	return n.files(names)
}

// settings reads mode, owner and group.
func (n *installer) settings(mode, owner, group string) (int, bool) {
	c := n.c
	if mode != "" {
		m, ok := gnulib.ParseMode(mode)
		if !ok {
			return c.Errorf("invalid mode %s", c.Quote(mode)), false
		}
		n.mode, n.dirMode = m.Apply(0, false, 0), m.Apply(0, true, 0)
	}
	n.setMode = &n.mode
	if owner != "" {
		u, ok := lookupUser(c, owner)
		if !ok {
			return c.Errorf("invalid user %s", c.QuoteArg(owner)), false
		}
		n.owner.uid = int64(u.UID)
	}
	if group != "" {
		gid, ok := lookupGroup(c, group)
		if !ok {
			return c.Errorf("invalid group %s", c.QuoteArg(group)), false
		}
		n.owner.gid = gid
	}
	return 0, true
}

// directories makes a directory and those above it; final gives the last one
// mode and owner.
func (n *installer) directories(name string, final bool) bool {
	w := n.c.FS
	path := gnulib.StripSlashes(name)
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' || path[i-1] == '/' {
			continue
		}
		part := path[:i]
		if a, err := w.Stat(part); err == nil {
			if !a.IsDir() {
				if i == len(path) && final {
					return n.fail(syscall.EEXIST, "cannot create directory %s", part)
				}
				return n.fail(syscall.ENOTDIR, "cannot create directory %s", part)
			}
			continue
		}
		op := w.Op
		op.Umask = 0
		if err := w.With(&op).Mkdir(part, 0o755); err != nil {
			return n.fail(err, "cannot create directory %s", part)
		}
		if n.verbose {
			fmt.Fprintf(n.c.Stdout, "%s: creating directory %s\n", n.c.Command.Name, n.q(part))
		}
	}
	if !final {
		return true
	}
	if err := w.Chmod(path, n.dirMode); err != nil {
		return n.fail(err, "cannot change permissions of %s", path)
	}
	return n.own(path)
}

func (n *installer) own(path string) bool {
	if n.owner.uid < 0 && n.owner.gid < 0 {
		return true
	}
	if err := n.c.FS.Chown(path, n.owner.uid, n.owner.gid, false); err != nil {
		return n.fail(err, "cannot change ownership of %s", path)
	}
	if n.mode&0o6000 != 0 && !n.dirs {
		if err := n.c.FS.Chmod(path, n.mode); err != nil {
			return n.fail(err, "cannot change permissions of %s", path)
		}
	}
	return true
}

// files installs files: one to a path, or all into a directory.
func (n *installer) files(names []string) int {
	c := n.c
	if st := n.where.check(n.copier, names); st != 0 {
		return st
	}
	dir := n.where.target
	if n.where.hasTarget {
		err := isDir(c, dir)
		if err != nil && n.leading && toErrno(err) == syscall.ENOENT {
			if !n.directories(dir, false) {
				return 1
			}
		} else if err != nil {
			return c.Errorf("failed to access %s: %s", c.QuoteArg(dir), command.Strerror(err))
		}
	} else {
		last := names[len(names)-1]
		err := isDir(c, last)
		switch {
		case !n.where.noTarget && err == nil:
			dir, names = last, names[:len(names)-1]
		case len(names) > 2:
			return c.Errorf("target %s: %s", c.QuoteArg(last), command.Strerror(err))
		default:
			if n.leading && strings.Contains(last, "/") && !n.directories(gnulib.Dir(last), false) {
				return 1
			}
			return status(n.one(names[0], last))
		}
	}
	ok := true
	for _, name := range names {
		ok = n.one(name, gnulib.Join(dir, gnulib.Base(name))) && ok
	}
	return status(ok)
}

func (n *installer) one(src, dst string) bool {
	if n.compare && n.current(src, dst) {
		return true
	}
	return n.operand(src, dst) && n.own(dst)
}

// current reports whether dst is what would be installed.
func (n *installer) current(src, dst string) bool {
	from, err1 := n.c.FS.Stat(src)
	to, err2 := n.c.FS.Lstat(dst)
	if err1 != nil || err2 != nil || !from.IsRegular() || !to.IsRegular() || from.Size != to.Size || to.Mode&vfs.ModePerm != n.mode {
		return false
	}
	uid, gid := int64(n.c.FS.Op.UID), int64(n.c.FS.Op.GID)
	if n.owner.uid >= 0 {
		uid = n.owner.uid
	}
	if n.owner.gid >= 0 {
		gid = n.owner.gid
	}
	return int64(to.UID) == uid && int64(to.GID) == gid && n.equalFiles(src, dst)
}
