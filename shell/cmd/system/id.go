package system

import (
	"context"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "id",
		Synopsis: "id [OPTION]... [USER]...",
		Summary:  "Print user and group information for each specified USER,\nor (when USER omitted) for the current process.",
		Options: []command.Option{
			{Short: 'a', Help: "ignore, for compatibility with other versions"},
			{Short: 'Z', Long: "context", Help: "print only the security context of the process"},
			{Short: 'g', Long: "group", Help: "print only the effective group ID"},
			{Short: 'G', Long: "groups", Help: "print all group IDs"},
			{Short: 'n', Long: "name", Help: "print a name instead of a number, for -ugG"},
			{Short: 'r', Long: "real", Help: "print the real ID instead of the effective ID, with -ugG"},
			{Short: 'u', Long: "user", Help: "print only the effective user ID"},
			{Short: 'z', Long: "zero", Help: "delimit entries with NUL characters, not whitespace;\nnot permitted in default format"},
		},
	}, id)
	command.Register(command.Info{Name: "whoami", Synopsis: "whoami [OPTION]...", Summary: "Print the user name associated with the current effective user ID."}, whoami)
	command.Register(command.Info{Name: "logname", Synopsis: "logname [OPTION]", Summary: "Print the name of the current user."}, whoami)
	command.Register(command.Info{Name: "groups", Synopsis: "groups [OPTION]... [USERNAME]...", Summary: "Print group memberships for each USERNAME or, if no USERNAME is specified, for\nthe current process."}, groups)
}

// identity is a user with their groups.
type identity struct {
	uid, gid uint32
	groups   []uint32 // the first is gid
}

// current is who runs the command.
func current(c *command.Context) identity {
	cred := &c.FS.Op.Cred
	who := identity{uid: cred.UID, gid: cred.GID, groups: []uint32{cred.GID}}
	if cred.Groups != nil {
		for _, g := range cred.Groups() {
			who.add(g)
		}
	}
	return who
}

func (who *identity) add(gid uint32) {
	for _, g := range who.groups {
		if g == gid {
			return
		}
	}
	who.groups = append(who.groups, gid)
}

// named is a user of the workspace, by name or number.
func named(c *command.Context, name string) (identity, bool) {
	u, ok := c.System.UserByName(name)
	if !ok {
		n, err := strconv.ParseUint(strings.TrimPrefix(name, "+"), 10, 32)
		if err != nil {
			return identity{}, false
		}
		if u, ok = c.System.UserByID(uint32(n)); !ok {
			return identity{}, false
		}
	}
	return identity{uid: u.UID, gid: u.GID, groups: []uint32{u.GID}}, true
}

func userName(c *command.Context, uid uint32) (string, bool) {
	if u, ok := c.System.UserByID(uid); ok {
		return u.Name, true
	}
	return strconv.FormatUint(uint64(uid), 10), false
}

func groupName(c *command.Context, gid uint32) (string, bool) {
	if g, ok := c.System.GroupByID(gid); ok {
		return g.Name, true
	}
	return strconv.FormatUint(uint64(gid), 10), false
}

func id(ctx context.Context, c *command.Context, args []string) int {
	var only byte
	count, names, zero, real := 0, false, false, false
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'u', 'g', 'G':
			if only != byte(p.ID()) {
				count++
			}
			only = byte(p.ID())
		case 'n':
			names = true
		case 'r':
			real = true
		case 'z':
			zero = true
		case 'Z':
			return c.Errorf("--context (-Z) works only on an SELinux-enabled kernel")
		}
	}
	users, status, stop := p.End()
	switch {
	case stop:
		return status
	case count > 1:
		return c.Errorf("cannot print \"only\" of more than one choice")
	case only == 0 && (names || real):
		return c.Errorf("cannot print only names or real IDs in default format")
	case only == 0 && zero:
		return c.Errorf("option --zero not permitted in default format")
	}
	show := func(who identity) {
		if only == 0 {
			printIdentity(c, who)
		} else {
			status = max(status, printOnly(c, who, only, names, zero))
		}
	}
	if len(users) == 0 {
		show(current(c))
		return status
	}
	for _, name := range users {
		who, ok := named(c, name)
		if !ok {
			status = c.Errorf("%s: no such user", c.Quote(name))
			continue
		}
		show(who)
	}
	return status
}

func printIdentity(c *command.Context, who identity) {
	both := func(n uint32, name string, ok bool) string {
		s := strconv.FormatUint(uint64(n), 10)
		if ok {
			s += "(" + name + ")"
		}
		return s
	}
	user := func(n uint32) string { s, ok := userName(c, n); return both(n, s, ok) }
	group := func(n uint32) string { s, ok := groupName(c, n); return both(n, s, ok) }
	line := "uid=" + user(who.uid) + " gid=" + group(who.gid) + " groups="
	for i, g := range who.groups {
		if i > 0 {
			line += ","
		}
		line += group(g)
	}
	c.Stdout.WriteString(line + "\n")
}

func printOnly(c *command.Context, who identity, only byte, names, zero bool) int {
	end, sep, status := "\n", " ", 0
	if zero {
		end, sep = "\x00", "\x00"
	}
	text := func(n uint32, name string, ok bool, kind string) string {
		if !names {
			return strconv.FormatUint(uint64(n), 10)
		}
		if !ok {
			status = c.Errorf("cannot find name for %s ID %d", kind, n)
		}
		return name
	}
	switch only {
	case 'u':
		s, ok := userName(c, who.uid)
		c.Stdout.WriteString(text(who.uid, s, ok, "user") + end)
	case 'g':
		s, ok := groupName(c, who.gid)
		c.Stdout.WriteString(text(who.gid, s, ok, "group") + end)
	case 'G':
		var all []string
		for _, g := range who.groups {
			s, ok := groupName(c, g)
			all = append(all, text(g, s, ok, "group"))
		}
		c.Stdout.WriteString(strings.Join(all, sep) + end)
	}
	return status
}

func whoami(ctx context.Context, c *command.Context, args []string) int {
	p := c.Options(args)
	for p.Next() {
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	if len(operands) > 0 {
		return c.ExtraOperand(operands[0])
	}
	name, ok := userName(c, c.FS.Op.UID)
	if !ok {
		return c.Errorf("cannot find name for user ID %s", name)
	}
	c.Stdout.WriteString(name + "\n")
	return 0
}

func groups(ctx context.Context, c *command.Context, args []string) int {
	p := c.Options(args)
	for p.Next() {
	}
	users, status, stop := p.End()
	if stop {
		return status
	}
	list := func(who identity) string {
		var all []string
		for _, g := range who.groups {
			s, ok := groupName(c, g)
			if !ok {
				status = c.Errorf("cannot find name for group ID %d", g)
			}
			all = append(all, s)
		}
		return strings.Join(all, " ") + "\n"
	}
	if len(users) == 0 {
		c.Stdout.WriteString(list(current(c)))
		return status
	}
	for _, name := range users {
		who, ok := named(c, name)
		if !ok {
			status = c.Errorf("%s: no such user", c.Quote(name))
			continue
		}
		c.Stdout.WriteString(name + " : " + list(who))
	}
	return status
}
