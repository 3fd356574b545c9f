package broken

import (
	"sync"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// setTimes are the times that a SetAttr may set.
const setTimes = vfs.SetAtime | vfs.SetMtime

// rounded makes a breach under which times that are set are changed by f.
func rounded(f func(ns int64) int64) func() breach {
	return sets(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
		s := *set
		s.Atime, s.Mtime = f(s.Atime), f(s.Mtime)
		return fs.Setattr(op, ino, &s)
	})
}

var timeRules = []Rule{
	{
		Name: "times-have-seconds", Text: "Times that are set lose their fraction.",
		Cases:  []string{"attributes/utimensat/file/last-nanosecond/*", "attributes/utimensat/symlink/2038-last-second/*"},
		breach: rounded(func(ns int64) int64 { return ns / 1e9 * 1e9 }),
	},
	{
		Name: "times-have-microseconds", Text: "Times that are set are cut to microseconds.",
		Cases:  []string{"attributes/utimensat/file/one-nanosecond/*", "attributes/utimensat/directory/last-nanosecond/*", "special/attributes/socket/*"},
		breach: rounded(func(ns int64) int64 { return ns / 1000 * 1000 }),
	},
	{
		Name: "times-begin-in-1970", Text: "Times before 1970 become 1970.",
		Cases:  []string{"attributes/utimensat/file/before-1970/*", "attributes/utimensat/fifo/1969/*", "attributes/utimensat/file/1901/*"},
		breach: rounded(func(ns int64) int64 { return max(ns, 0) }),
	},
	{
		Name: "times-end-in-2038", Text: "Times after 2038 wrap around.",
		Cases:  []string{"attributes/utimensat/file/2038-next-second/*", "attributes/utimensat/directory/2100/*", "attributes/utimensat/file/2242/*"},
		breach: rounded(func(ns int64) int64 { return int64(int32(ns/1e9))*1e9 + ns%1e9 }),
	},
	{
		Name: "mtime-freezes-once-set", Text: "After utimensat, writing does not move the mtime.",
		Cases: []string{"attributes/mtime/set-then-written/*", "attributes/mtime/set-then-truncated/*"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, setattr: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
				if set.Mask&vfs.SetMtime != 0 {
					at := set.Mtime
					l.tell(ino, func(a *vfs.Attr) { a.Mtime = at })
				}
				return fs.Setattr(op, ino, set)
			}}
		},
	},
	{
		Name: "closing-moves-mtime", Text: "Closing a descriptor sets the mtime to now.",
		Cases: []string{"attributes/mtime/set-by-path-while-another-descriptor-is-dirty/*"},
		breach: func() breach {
			var mu sync.Mutex
			var under vfs.FS
			return breach{
				create: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
					mu.Lock()
					under = fs
					mu.Unlock()
					return fs.Create(op, parent, name, mode, flags)
				},
				flush: func(h vfs.Handle, op *vfs.Op) error {
					mu.Lock()
					fs := under
					mu.Unlock()
					if fs != nil {
						if _, err := fs.Setattr(asRoot(op), h.Ino(), &vfs.SetAttr{Mask: vfs.SetMtimeNow}); err != nil {
							return err
						}
					}
					return h.Flush(op)
				},
			}
		},
	},
	{
		Name: "writing-leaves-mtime", Text: "Writing does not move the mtime.",
		Cases: []string{"attributes/times/write", "attributes/times/append", "attributes/mtime/ten-writes/*"},
		breach: func() breach {
			var l lies
			var mu sync.Mutex
			first := make(map[vfs.Ino]int64)
			return breach{
				attr: func(a *vfs.Attr) {
					mu.Lock()
					if _, ok := first[a.Ino]; !ok {
						first[a.Ino] = a.Mtime
					}
					if a.IsRegular() {
						a.Mtime = first[a.Ino]
					}
					mu.Unlock()
					l.attr(a)
				},
			}
		},
	},
	{
		Name: "truncating-leaves-mtime", Text: "A truncate does not move the mtime.",
		Cases: []string{"attributes/times/truncate-down", "attributes/times/ftruncate-down"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, setattr: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
				if a, err := fs.Getattr(op, ino); err == nil && set.Mask&vfs.SetSize != 0 {
					l.tell(ino, times(a))
				}
				return fs.Setattr(op, ino, set)
			}}
		},
	},
	{
		Name: "fallocate-leaves-times", Text: "fallocate does not move mtime and ctime.",
		Cases: []string{"attributes/times/fallocate", "attributes/times/punch-hole"},
		breach: func() breach {
			var l lies
			var mu sync.Mutex
			last := make(map[vfs.Ino]vfs.Attr)
			return breach{
				attr: func(a *vfs.Attr) {
					mu.Lock()
					last[a.Ino] = *a
					mu.Unlock()
					l.attr(a)
				},
				fallocate: func(h vfs.Handle, op *vfs.Op, mode uint32, off, n int64) error {
					mu.Lock()
					l.tell(h.Ino(), times(last[h.Ino()]))
					mu.Unlock()
					return h.Fallocate(op, mode, off, n)
				},
			}
		},
	},
	{
		Name: "utimensat-sets-both", Text: "UTIME_OMIT does not omit: the other time is set too.",
		Cases: []string{"attributes/utimensat/file/atime-OMIT-mtime-set", "attributes/utimensat/directory/atime-set-mtime-OMIT"},
		breach: sets(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
			s := *set
			switch s.Mask & setTimes {
			case vfs.SetAtime:
				s.Mask |= vfs.SetMtime
				s.Mtime = s.Atime
			case vfs.SetMtime:
				s.Mask |= vfs.SetAtime
				s.Atime = s.Mtime
			}
			return fs.Setattr(op, ino, &s)
		}),
	},
	{
		Name: "utimensat-leaves-ctime", Text: "Setting times does not move the ctime.",
		Cases: []string{"attributes/utimensat/file/1970/*", "attributes/utimensat/symlink/2100/*"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, setattr: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
				if a, err := fs.Getattr(op, ino); err == nil && set.Mask&setTimes != 0 {
					l.tell(ino, ctime(a))
				}
				return fs.Setattr(op, ino, set)
			}}
		},
	},
	{
		Name: "utimensat-is-for-everyone", Text: "Who does not own a file may set its times.",
		Cases: []string{"attributes/utimensat-permission/neither/set-set/*", "attributes/utimensat-permission/writer/NOW-OMIT/*"},
		breach: sets(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
			if set.Mask&(setTimes|vfs.SetAtimeNow|vfs.SetMtimeNow) != 0 {
				op = asRoot(op)
			}
			return fs.Setattr(op, ino, set)
		}),
	},
	{
		Name: "utimensat-to-now-is-for-owners", Text: "Who may write a file may not touch it.",
		Cases: []string{"attributes/utimensat-permission/writer/null/*", "attributes/utimensat-permission/writer/NOW-NOW/*"},
		breach: sets(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
			if a, err := fs.Getattr(op, ino); err == nil && set.Mask&vfs.SetMtimeNow != 0 && op.UID != 0 && op.UID != a.UID {
				return vfs.Attr{}, syscall.EPERM
			}
			return fs.Setattr(op, ino, set)
		}),
	},
	{
		Name: "times-are-an-hour-off", Text: "The clock of the file system is an hour ahead.",
		Cases:  []string{"attributes/stat/file/*", "attributes/times/chmod", "rename/plain/file-over-missing/*"},
		breach: attrBreach(func(a *vfs.Attr) { a.Ctime += 3600e9 }),
	},
}
