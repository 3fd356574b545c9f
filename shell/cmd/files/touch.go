package files

import (
	"context"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const touchTime = 256

func init() {
	command.Register(command.Info{
		Name:     "touch",
		Synopsis: "touch [OPTION]... FILE...",
		Summary:  "Update the access and modification times of each FILE to the current time.",
		Options: []command.Option{
			{Short: 'a', Help: "change only the access time"},
			{Short: 'c', Long: "no-create", Help: "do not create any files"},
			{Short: 'd', Long: "date", Arg: command.RequiredArgument, ArgName: "STRING", Help: "parse STRING and use it instead of current time"},
			{Short: 'f', Help: "(ignored)"},
			{Short: 'h', Long: "no-dereference", Help: "affect each symbolic link instead of any referenced file"},
			{Short: 'm', Help: "change only the modification time"},
			{Short: 'r', Long: "reference", Arg: command.RequiredArgument, ArgName: "FILE", Help: "use this file's times instead of current time"},
			{Short: 't', Arg: command.RequiredArgument, ArgName: "STAMP", Help: "use [[CC]YY]MMDDhhmm[.ss] instead of current time"},
			{Long: "time", Arg: command.RequiredArgument, ArgName: "WORD", ID: touchTime, Help: "change the specified time:\nWORD is access, atime, or use: equivalent to -a\nWORD is modify or mtime: equivalent to -m"},
		},
	}, touch)
}

var touchWords = []gnulib.Choice{{Word: "atime", Value: 'a'}, {Word: "access", Value: 'a'}, {Word: "use", Value: 'a'},
	{Word: "mtime", Value: 'm'}, {Word: "modify", Value: 'm'}}

// toucher is what a touch is to do.
type toucher struct {
	c                        *command.Context
	atime, mtime             bool
	noCreate, noDeref        bool
	date, reference, stamp   string
	hasDate, hasRef, hasStmp bool
	set                      vfs.SetAttr
}

func touch(ctx context.Context, c *command.Context, args []string) int {
	t := toucher{c: c}
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'a':
			t.atime = true
		case 'm':
			t.mtime = true
		case 'c':
			t.noCreate = true
		case 'h':
			t.noDeref = true
		case 'd':
			t.date, t.hasDate = p.Arg(), true
		case 'r':
			t.reference, t.hasRef = p.Arg(), true
		case 't':
			t.stamp, t.hasStmp = p.Arg(), true
		case touchTime:
			v, ok := gnulib.MatchArg(c, "--time", p.Arg(), touchWords)
			if !ok {
				return 1
			}
			t.atime, t.mtime = t.atime || v == 'a', t.mtime || v == 'm'
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if !t.atime && !t.mtime {
		t.atime, t.mtime = true, true
	}
	if status, ok := t.times(); !ok {
		return status
	}
	if len(names) == 0 {
		return c.Usage("missing file operand")
	}
	for _, name := range names {
		status = max(status, t.touch(name))
	}
	return status
}

// times fills in what is to be set.
func (t *toucher) times() (status int, ok bool) {
	c := t.c
	now := c.Now().In(tz.Of(c))
	atime, mtime := now, now
	if t.hasRef {
		stat := c.FS.Stat
		if t.noDeref {
			stat = c.FS.Lstat
		}
		a, err := stat(t.reference)
		if err != nil {
			return c.Errorf("failed to get attributes of %s: %s", c.QuoteArg(t.reference), command.Strerror(err)), false
		}
		atime, mtime = time.Unix(0, a.Atime).In(now.Location()), time.Unix(0, a.Mtime).In(now.Location())
	}
	if t.hasStmp && (t.hasDate || t.hasRef) {
		return c.Usage("cannot specify times from more than one source"), false
	}
	switch {
	case t.hasDate:
		ok1, ok2 := false, false
		atime, ok1 = gnulib.ParseDate(t.date, atime, tz.Load)
		mtime, ok2 = gnulib.ParseDate(t.date, mtime, tz.Load)
		if !ok1 || !ok2 {
			return c.Errorf("invalid date format %s", c.Quote(t.date)), false
		}
	case t.hasStmp:
		at, ok := parseStamp(t.stamp, now)
		if !ok {
			return c.Errorf("invalid date format %s", c.Quote(t.stamp)), false
		}
		atime, mtime = at, at
	}
	t.set = vfs.SetAttr{Atime: atime.UnixNano(), Mtime: mtime.UnixNano()}
	explicit := t.hasDate || t.hasRef || t.hasStmp
	switch {
	case t.atime && explicit:
		t.set.Mask |= vfs.SetAtime
	case t.atime:
		t.set.Mask |= vfs.SetAtimeNow
	}
	switch {
	case t.mtime && explicit:
		t.set.Mask |= vfs.SetMtime
	case t.mtime:
		t.set.Mask |= vfs.SetMtimeNow
	}
	return 0, true
}

// parseStamp reads [[CC]YY]MMDDhhmm[.ss].
func parseStamp(s string, now time.Time) (time.Time, bool) {
	s, sec, hasSec := strings.Cut(s, ".")
	second := 0
	if hasSec {
		if len(sec) != 2 {
			return now, false
		}
		n, ok := twoDigits(sec)
		if !ok || n > 60 {
			return now, false
		}
		second = n
	}
	var pairs [6]int
	n := len(s) / 2
	if len(s)%2 != 0 || n < 4 || n > 6 {
		return now, false
	}
	for i := range n {
		v, ok := twoDigits(s[i*2:])
		if !ok {
			return now, false
		}
		pairs[i] = v
	}
	year := now.Year()
	rest := pairs[n-4:]
	switch n {
	case 5:
		if year = pairs[0] + 1900; pairs[0] < 69 {
			year += 100
		}
	case 6:
		year = pairs[0]*100 + pairs[1]
	}
	month, day, hour, minute := rest[0], rest[1], rest[2], rest[3]
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, now.Location())
	ok := int(t.Month()) == month && t.Day() == day && t.Hour() == hour && t.Minute() == minute || second == 60
	return t, ok && month >= 1 && month <= 12
}

func twoDigits(s string) (int, bool) {
	if s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
		return 0, false
	}
	return int(s[0]-'0')*10 + int(s[1]-'0'), true
}

// touch sets the times of one file, which it makes when it may.
func (t *toucher) touch(name string) int {
	c := t.c
	if name == "-" {
		r := command.Regular(c.Stdout)
		if r == nil {
			return 0
		}
		if _, err := c.FS.FS.Setattr(&c.FS.Op, r.Handle().Ino(), &t.set); err != nil {
			return c.Errorf("setting times of %s: %s", c.QuoteArg(name), command.Strerror(err))
		}
		return 0
	}
	var openErr error
	if _, err := c.FS.Stat(name); err != nil && !t.noCreate && !t.noDeref {
		var f vfs.File
		f, openErr = c.FS.OpenFile(name, syscall.O_WRONLY|syscall.O_CREAT, 0o666)
		if openErr == nil {
			openErr = f.Close()
		}
	}
	err := c.FS.Setattr(name, !t.noDeref, &t.set)
	if err == nil {
		return 0
	}
	errno := toErrno(err)
	if t.noCreate && errno == syscall.ENOENT {
		return 0
	}
	if openErr != nil && toErrno(openErr) != syscall.EISDIR && errno != syscall.EPERM {
		return c.Errorf("cannot touch %s: %s", c.QuoteArg(name), command.Strerror(openErr))
	}
	return c.Errorf("setting times of %s: %s", c.QuoteArg(name), command.Strerror(err))
}
