package files

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

func init() {
	options := []command.Option{
		{Short: 'c', Long: "changes", Help: "like verbose but report only when a change is made"},
		{Short: 'f', Long: "silent", Help: "suppress most error messages"},
		{Long: "quiet", ID: 'f', Help: "suppress most error messages"},
		{Short: 'v', Long: "verbose", Help: "output a diagnostic for every file processed"},
		{Long: "dereference", ID: optDereference, Help: "affect the referent of each symbolic link (the default)"},
		{Short: 'h', Long: "no-dereference", Help: "affect symbolic links instead of any referenced file"},
		{Long: "from", Arg: command.RequiredArgument, ArgName: "CURRENT_OWNER:CURRENT_GROUP", ID: optFrom, Help: "change the owner and/or group of each file only if\nits current owner and/or group match those specified here"},
		{Long: "no-preserve-root", ID: optNoPreserveRoot, Help: "do not treat '/' specially (the default)"},
		{Long: "preserve-root", ID: optPreserveRoot, Help: "fail to operate recursively on '/'"},
		{Long: "reference", Arg: command.RequiredArgument, ArgName: "RFILE", ID: optReference, Help: "use RFILE's owner and group"},
		{Short: 'R', Long: "recursive", Help: "operate on files and directories recursively"},
		{Short: 'H', Help: "with -R: if a command line argument is a symbolic link\nto a directory, traverse it"},
		{Short: 'L', Help: "with -R: traverse every symbolic link to a directory"},
		{Short: 'P', Help: "with -R: do not traverse any symbolic links (default)"},
	}
	command.Register(command.Info{
		Name:     "chown",
		Synopsis: "chown [OPTION]... [OWNER][:[GROUP]] FILE...\nchown [OPTION]... --reference=RFILE FILE...",
		Summary:  "Change the owner and/or group of each FILE to OWNER and/or GROUP.",
		Options:  options,
	}, chown)
	command.Register(command.Info{
		Name:     "chgrp",
		Synopsis: "chgrp [OPTION]... GROUP FILE...\nchgrp [OPTION]... --reference=RFILE FILE...",
		Summary:  "Change the group of each FILE to GROUP.",
		Options:  options,
	}, chown)
}

// ownerSpec is an owner, a group or both; -1 is none.
type ownerSpec struct {
	uid, gid    int64
	user, group string // as they are shown
}

// parseOwner reads OWNER[:GROUP], OWNER: or :GROUP.
func parseOwner(c *command.Context, s string) (ownerSpec, bool) {
	o := ownerSpec{uid: -1, gid: -1}
	user, group, colon := strings.Cut(s, ":")
	if !colon && strings.Contains(s, ".") {
		if _, ok := lookupUser(c, s); !ok { // the old separator
			user, group, colon = strings.Cut(s, ".")
			c.Errorf("warning: '.' should be ':': %s", c.Quote(s))
		}
	}
	if user != "" {
		u, ok := lookupUser(c, user)
		if !ok {
			c.Errorf("invalid user: %s", c.Quote(s))
			return o, false
		}
		o.uid, o.user = int64(u.UID), u.Name
		if colon && group == "" {
			if u.Home == "" && u.Shell == "" {
				c.Errorf("invalid spec: %s", c.Quote(s))
				return o, false
			}
			o.gid, o.group = int64(u.GID), groupName(c, u.GID)
		}
	}
	if group != "" {
		gid, ok := lookupGroup(c, group)
		if !ok {
			c.Errorf("invalid group: %s", c.Quote(s))
			return o, false
		}
		o.gid, o.group = gid, groupName(c, uint32(gid))
	}
	return o, true
}

func lookupUser(c *command.Context, name string) (command.User, bool) {
	plus := strings.HasPrefix(name, "+")
	if u, ok := c.System.UserByName(name); ok && !plus {
		return u, true
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(name, "+"), 10, 32)
	if err != nil {
		return command.User{}, false
	}
	if u, ok := c.System.UserByID(uint32(n)); ok {
		return u, true
	}
	return command.User{UID: uint32(n), Name: strconv.FormatUint(n, 10)}, true
}

func lookupGroup(c *command.Context, name string) (int64, bool) {
	if g, ok := c.System.GroupByName(name); ok {
		return int64(g.GID), true
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(name, "+"), 10, 32)
	return int64(n), err == nil
}

// ownerSetter is what a chown or chgrp is to do.
type ownerSetter struct {
	c                       *command.Context
	to, from                ownerSpec
	group                   bool // chgrp
	silent, changes, chatty bool
	recursive, noDeref      bool
	preserveRoot            bool
	status                  int
}

func chown(ctx context.Context, c *command.Context, args []string) int {
	o := ownerSetter{c: c, group: c.Command.Name == "chgrp", from: ownerSpec{uid: -1, gid: -1}}
	follow := followNone
	deref := 0
	reference := ""
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'c':
			o.changes = true
		case 'f':
			o.silent = true
		case 'v':
			o.chatty = true
		case 'h':
			deref = -1
		case optDereference:
			deref = 1
		case 'R':
			o.recursive = true
		case 'H', 'L', 'P':
			follow = followOf(p.ID())
		case optReference:
			reference = p.Arg()
		case optPreserveRoot:
			o.preserveRoot = true
		case optNoPreserveRoot:
			o.preserveRoot = false
		case optFrom:
			var ok bool
			if o.from, ok = parseOwner(c, p.Arg()); !ok {
				return 1
			}
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if o.recursive && deref == 1 && follow == followNone {
		return c.Errorf("-R --dereference requires either -H or -L")
	}
	o.noDeref = deref < 0 || o.recursive && follow == followNone
	if !o.recursive && !o.noDeref {
		follow = followCommand
	}
	names, status, ok := o.operands(names, reference)
	if !ok {
		return status
	}
	h := hierarchy{c: c, follow: follow, visit: o.visit}
	for _, name := range names {
		if !h.walk(ctx, name) {
			break
		}
	}
	return o.status
}

// operands takes the owner off the operands, or off the reference file.
func (o *ownerSetter) operands(names []string, reference string) ([]string, int, bool) {
	c := o.c
	if reference != "" {
		if len(names) == 0 {
			return nil, c.MissingOperand(""), false
		}
		a, err := c.FS.Stat(reference)
		if err != nil {
			return nil, c.Errorf("failed to get attributes of %s: %s", c.QuoteArg(reference), command.Strerror(err)), false
		}
		o.to = ownerSpec{uid: int64(a.UID), gid: int64(a.GID), user: userName(c, a.UID), group: groupName(c, a.GID)}
		if o.group {
			o.to.uid, o.to.user = -1, ""
		}
		return names, 0, true
	}
	switch len(names) {
	case 0:
		return nil, c.MissingOperand(""), false
	case 1:
		return nil, c.MissingOperand(names[0]), false
	}
	if !o.group {
		var ok bool
		o.to, ok = parseOwner(c, names[0])
		if names[0] == "" {
			o.to = ownerSpec{uid: -1, gid: -1}
		}
		return names[1:], 1, ok
	}
	o.to = ownerSpec{uid: -1, gid: -1}
	if names[0] == "" {
		return names[1:], 0, true
	}
	gid, ok := lookupGroup(c, names[0])
	if !ok {
		return nil, c.Errorf("invalid group: %s", c.Quote(names[0])), false
	}
	o.to.gid, o.to.group = gid, groupName(c, uint32(gid))
	return names[1:], 0, true
}

func (o *ownerSetter) fail(format string, args ...any) {
	if !o.silent {
		o.c.Errorf(format, args...)
	}
	o.status = 1
}

func (o *ownerSetter) visit(e *entry) verdict {
	next := goOn
	if !o.recursive {
		next = skip
	}
	switch {
	case e.stage == stagePre && o.recursive:
		if o.preserveRoot && e.attr.Ino == vfs.RootIno {
			o.status = o.c.Errorf("it is dangerous to operate recursively on %s\n%s: use --no-preserve-root to override this failsafe",
				o.c.QuoteArg(e.path), o.c.Command.Name)
			return stop
		}
		return goOn // changed after what is in it
	case e.stage == stageMissing:
		verb := "access"
		if toErrno(e.err) == syscall.ELOOP {
			verb = "dereference"
		}
		o.fail("cannot "+verb+" %s: %s", o.c.QuoteArg(e.path), command.Strerror(e.err))
		return next
	case e.stage == stageUnreadable:
		o.fail("cannot read directory %s: %s", o.c.QuoteArg(e.path), command.Strerror(e.err))
	case e.attr.IsSymlink() && !e.followed && !o.noDeref:
		if a, err := e.at.Stat(e.name); err != nil {
			o.fail("cannot dereference %s: %s", o.c.QuoteArg(e.path), command.Strerror(err))
			return next
		} else {
			e.attr = a
		}
	}
	o.change(e)
	return next
}

func (o *ownerSetter) change(e *entry) {
	a := &e.attr
	if o.from.uid >= 0 && o.from.uid != int64(a.UID) || o.from.gid >= 0 && o.from.gid != int64(a.GID) {
		if o.chatty {
			o.report(e, false)
		}
		return
	}
	err := e.at.Chown(e.name, o.to.uid, o.to.gid, !o.noDeref || e.followed)
	if err != nil {
		what := "ownership"
		if o.to.uid < 0 {
			what = "group"
		}
		o.fail("changing %s of %s: %s", what, o.c.QuoteArg(e.path), command.Strerror(err))
		return
	}
	changed := o.to.uid >= 0 && o.to.uid != int64(a.UID) || o.to.gid >= 0 && o.to.gid != int64(a.GID)
	switch {
	case changed && (o.chatty || o.changes):
		o.report(e, true)
	case !changed && o.chatty:
		o.report(e, false)
	}
}

// report says what happened to one file's owner.
func (o *ownerSetter) report(e *entry, changed bool) {
	user, group := userName(o.c, e.attr.UID), groupName(o.c, e.attr.GID)
	name := o.c.QuoteArg(e.path)
	var what, old, now string
	switch {
	case o.to.uid >= 0 && o.to.gid >= 0:
		what, old, now = "ownership", user+":"+group, o.to.user+":"+o.to.group
	case o.to.uid >= 0:
		what, old, now = "ownership", user, o.to.user
	case o.to.gid >= 0:
		what, old, now = "group", group, o.to.group
	default:
		fmt.Fprintf(o.c.Stdout, "ownership of %s retained\n", name)
		return
	}
	if changed {
		fmt.Fprintf(o.c.Stdout, "changed %s of %s from %s to %s\n", what, name, old, now)
		return
	}
	fmt.Fprintf(o.c.Stdout, "%s of %s retained as %s\n", what, name, old)
}

func followOf(id int) follow {
	switch id {
	case 'H', 'D':
		return followCommand
	case 'L':
		return followAll
	}
	return followNone
}
