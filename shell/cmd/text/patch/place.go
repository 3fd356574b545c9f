package patch

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// backups is how originals are kept.
type backups struct {
	style                style
	prefix, base, suffix string
}

// style is how backups are named.
type style uint8

const (
	styleExisting style = iota // numbered where there are numbered ones
	styleSimple
	styleNumbered
)

// listError is an error of usage that says all there is to say.
type listError string

func (e listError) Error() string { return string(e) }

func parseStyle(s string) (style, bool) {
	switch s {
	case "simple", "never":
		return styleSimple, true
	case "numbered", "t":
		return styleNumbered, true
	case "existing", "nil":
		return styleExisting, true
	}
	return styleExisting, false
}

// fromEnv takes the defaults from the environment.
func (b *backups) fromEnv(env command.Environ) {
	for _, name := range [...]string{"PATCH_VERSION_CONTROL", "VERSION_CONTROL"} {
		if v, ok := env.Lookup(name); ok {
			b.style, _ = parseStyle(v)
			break
		}
	}
	b.suffix = env.Get("SIMPLE_BACKUP_SUFFIX")
}

func (b *backups) option(id int, arg string) error {
	switch id {
	case 'V':
		s, ok := parseStyle(arg)
		if !ok {
			return listError(fmt.Sprintf("invalid argument '%s' for '--version-control or -V option'\nValid arguments are:\n  - 'none', 'off'\n  - 'simple', 'never'\n  - 'existing', 'nil'\n  - 'numbered', 't'", arg))
		}
		b.style = s
	case 'B':
		b.prefix, b.style = arg, styleSimple
	case 'Y':
		b.base, b.style = arg, styleSimple
	case 'z':
		b.suffix, b.style = arg, styleSimple
	}
	return nil
}

// name is what the original of a file is kept as.
func (p *patcher) backupName(name string) string {
	b := &p.set.backups
	if b.style != styleSimple {
		last := p.lastNumber(name)
		if b.style == styleNumbered || last > 0 {
			return name + ".~" + strconv.Itoa(last+1) + "~"
		}
	}
	suffix := b.suffix
	if suffix == "" && b.prefix == "" && b.base == "" {
		suffix = ".orig"
	}
	cut := strings.LastIndexByte(name, '/') + 1
	return b.prefix + name[:cut] + b.base + name[cut:] + suffix
}

// lastNumber is the highest number among the numbered backups of a file.
func (p *patcher) lastNumber(name string) int {
	cut := strings.LastIndexByte(name, '/') + 1
	dir, base := name[:cut], name[cut:]
	if dir == "" {
		dir = "."
	}
	es, err := p.fs.ReadDir(dir)
	if err != nil {
		return 0
	}
	last := 0
	for i := range es {
		rest, ok := strings.CutPrefix(es[i].Name, base+".~")
		if !ok || !strings.HasSuffix(rest, "~") {
			continue
		}
		if n, err := strconv.Atoi(rest[:len(rest)-1]); err == nil {
			last = max(last, n)
		}
	}
	return last
}

// placement is a file that is to be written or removed.
type placement struct {
	name   string
	data   []byte
	mode   uint32
	link   bool
	remove bool
	backup bool
	stamp  int64 // time to set, or unset
	hash   string
}

// place writes the result, or queues it: patches of git may speak of a file
// that an earlier one changes.
func (a *application) place() error {
	p, h := a.patcher, a.head
	if p.set.outFile != "" {
		p.outs = append(p.outs, a.t.out...)
		return nil
	}
	r := p.reversed()
	gone := h.says[1-r] == 2
	empty := len(a.t.out) == 0
	backup := p.set.backup || p.set.mismatch && (a.mismatch || a.failures > 0)
	do := placement{name: a.out, data: a.t.out, link: a.link, backup: backup, stamp: unset, hash: h.hashes[1-r]}
	switch {
	case empty && (p.set.empty || gone && !p.set.posix || a.link) && !h.copy && !h.rename:
		do.remove = true
		if p.missing != nil {
			return nil
		}
	case !empty && gone && (p.set.empty || !p.set.posix):
		p.failed = true
		if !p.set.silent {
			p.say("Not deleting file %s as content differs from patch\n", p.quote(a.out))
		}
	}
	if p.set.dry {
		return nil
	}
	do.mode = 0o666 &^ p.fs.Op.Umask
	if p.missing == nil {
		do.mode = p.attr.Mode & 0o7777
	}
	if m := h.modes[1-r]; m != 0 {
		do.mode = m & 0o777
	}
	if p.set.setTime && h.stamps[1-r] > 0 {
		do.stamp = h.stamps[1-r]
	}
	if h.rename && a.out != p.name {
		p.queue = append(p.queue, placement{name: p.name, remove: true, backup: p.set.backup, stamp: unset})
	}
	p.queue = append(p.queue, do)
	if h.git {
		return nil
	}
	return p.flush()
}

// flush does what was queued: first what is written, then what is removed.
func (p *patcher) flush() error {
	queue := p.queue
	p.queue = nil
	for _, removals := range []bool{false, true} {
		for i := range queue {
			q := &queue[i]
			if q.remove != removals || q.remove && written(queue, q.name) {
				continue
			}
			if err := p.do(q); err != nil {
				return err
			}
		}
	}
	return nil
}

// written tells whether a queue writes a file.
func written(queue []placement, name string) bool {
	for i := range queue {
		if queue[i].name == name && !queue[i].remove {
			return true
		}
	}
	return false
}

// do writes or removes one file.
func (p *patcher) do(q *placement) error {
	if q.backup && !p.seen[q.name] {
		if err := p.keep(q.name); err != nil {
			return err
		}
	}
	p.seen[q.name] = true
	if q.remove {
		p.chat("Removing file %s\n", p.quote(q.name))
		if err := p.fs.Unlink(q.name); err != nil && vfs.ToErrno(err) != syscall.ENOENT {
			return fatalf("Can't remove file %s : %s", p.quote(q.name), command.Strerror(err))
		}
		p.removeDirs(q.name)
		return nil
	}
	if err := p.makeDirs(q.name); err != nil {
		return err
	}
	if q.link {
		return p.writeLink(q)
	}
	if err := p.write(q.name, q.data, q.mode); err != nil {
		return err
	}
	if q.stamp != unset {
		at := vfs.SetAttr{Mask: vfs.SetMtime | vfs.SetAtime, Mtime: q.stamp * int64(time.Second), Atime: q.stamp * int64(time.Second)}
		if err := p.fs.Setattr(q.name, true, &at); err != nil {
			return fatalf("Can't set timestamp on file %s : %s", p.quote(q.name), command.Strerror(err))
		}
	}
	return nil
}

// keep makes a backup of a file; of one that does not exist, an empty one.
func (p *patcher) keep(name string) error {
	to := p.backupName(name)
	if err := p.makeDirs(to); err != nil {
		return err
	}
	_, err := p.fs.Lstat(name)
	if vfs.ToErrno(err) == syscall.ENOENT {
		f, err := p.fs.Create(to, 0o666)
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			return fatalf("Can't create file %s : %s", p.quote(to), command.Strerror(err))
		}
		return nil
	}
	if err := p.fs.Rename(name, to, 0); err != nil {
		return fatalf("Can't rename file %s to %s : %s", p.quote(name), p.quote(to), command.Strerror(err))
	}
	return nil
}

// makeDirs makes the directories that a name needs.
func (p *patcher) makeDirs(name string) error {
	i := strings.LastIndexByte(name, '/')
	if i <= 0 {
		return nil
	}
	if err := p.fs.MkdirAll(name[:i], 0o777); err != nil {
		return fatalf("Can't create directory %s : %s", p.quote(name[:i]), command.Strerror(err))
	}
	return nil
}

// removeDirs removes the directories above a name that are empty.
func (p *patcher) removeDirs(name string) {
	for {
		i := strings.LastIndexByte(name, '/')
		if i <= 0 {
			return
		}
		name = name[:i]
		if p.fs.Rmdir(name) != nil {
			return
		}
	}
}

// writeLink makes a symlink.
func (p *patcher) writeLink(q *placement) error {
	if err := p.fs.Unlink(q.name); err != nil && vfs.ToErrno(err) != syscall.ENOENT {
		return fatalf("Can't remove file %s : %s", p.quote(q.name), command.Strerror(err))
	}
	if err := p.fs.Symlink(string(q.data), q.name); err != nil {
		return fatalf("Can't create symbolic link %s : %s", p.quote(q.name), command.Strerror(err))
	}
	return nil
}

// tries is how many names are tried for a file that is to replace another.
const tries = 100

// write makes a file hold data: written under another name, it takes the place
// of what was there all at once.
func (p *patcher) write(name string, data []byte, mode uint32) error {
	dir := name[:strings.LastIndexByte(name, '/')+1]
	var f vfs.File
	var temp string
	var err error
	for n := range tries {
		temp = fmt.Sprintf("%s.patch%d.%d", dir, p.c.System.Self(p.c), n)
		f, err = p.fs.OpenFile(temp, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, 0o666)
		if vfs.ToErrno(err) != syscall.EEXIST {
			break
		}
	}
	if err != nil {
		return fatalf("Can't create file %s : %s", p.quote(temp), command.Strerror(err))
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = p.fs.Chmod(temp, mode)
	}
	if err == nil {
		err = p.fs.Rename(temp, name, 0)
	}
	if err == nil {
		return nil
	}
	if uerr := p.fs.Unlink(temp); uerr != nil {
		return fatalf("Can't remove file %s : %s", p.quote(temp), command.Strerror(uerr))
	}
	return fatalf("Can't write file %s : %s", p.quote(name), command.Strerror(err))
}

// outMode is the mode of the file of -o: the real patch makes it as a temporary
// file, and leaves it so.
const outMode = 0o600

// finish writes what all patches together went to.
func (p *patcher) finish() error {
	if p.set.dry {
		return nil
	}
	switch p.set.outFile {
	case "":
	case "-":
		p.c.Stdout.Write(p.outs)
	default:
		if err := p.write(p.set.outFile, p.outs, outMode); err != nil {
			return err
		}
	}
	if len(p.rej) > 0 {
		return p.write(p.set.rejects, p.rej, 0o666&^p.fs.Op.Umask)
	}
	return nil
}
