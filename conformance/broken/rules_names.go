package broken

import (
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// renamed makes a breach under which every name is another on its way in.
func renamed(f func(string) string) func() breach {
	return func() breach {
		return breach{
			lookup: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) (vfs.Attr, error) {
				return fs.Lookup(op, parent, f(name))
			},
			create: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
				return fs.Create(op, parent, f(name), mode, flags)
			},
			mkdir: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32) (vfs.Attr, error) {
				return fs.Mkdir(op, parent, f(name), mode)
			},
			unlink: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error { return fs.Unlink(op, parent, f(name)) },
			rmdir:  func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error { return fs.Rmdir(op, parent, f(name)) },
		}
	}
}

// refusing makes a breach under which names that f picks cannot be made.
func refusing(f func(string) bool, e syscall.Errno) func() breach {
	return func() breach {
		return breach{
			create: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
				if f(name) {
					return vfs.Attr{}, nil, e
				}
				return fs.Create(op, parent, name, mode, flags)
			},
			mkdir: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32) (vfs.Attr, error) {
				if f(name) {
					return vfs.Attr{}, e
				}
				return fs.Mkdir(op, parent, name, mode)
			},
		}
	}
}

var nameRules = []Rule{
	{
		Name: "names-fold-case", Text: "Names that differ in case only are one name.",
		Cases:  []string{"names/bytes/upper-and-lower-case/*"},
		breach: renamed(strings.ToLower),
	},
	{
		Name: "names-are-composed", Text: "Decomposed characters become composed ones.",
		Cases:  []string{"names/bytes/composed-and-decomposed/*"},
		breach: renamed(func(s string) string { return strings.ReplaceAll(s, "e\u0301", "\u00e9") }),
	},
	{
		Name: "names-lose-trailing-dots", Text: "Dots at the end of a name are dropped.",
		Cases:  []string{"names/bytes/trailing-dots/*"},
		breach: renamed(func(s string) string { return strings.TrimRight(s, ".") }),
	},
	{
		Name: "names-must-be-utf-8", Text: "A name that is not UTF-8 is refused.",
		Cases:  []string{"names/bytes/invalid-utf-8/*", "names/bytes/0x80-to-0x9f/*", "names/bytes/0xe0-to-0xff/*"},
		breach: refusing(func(s string) bool { return strings.ToValidUTF8(s, "") != s }, syscall.EILSEQ),
	},
	{
		Name: "names-end-at-254-bytes", Text: "A name of 255 bytes is too long.",
		Cases:  []string{"names/open-create/name-of-255-bytes/works", "names/mkdir/name-of-255-bytes/works", "names/every-length-from-1-to-255/*"},
		breach: refusing(func(s string) bool { return len(s) > 254 }, syscall.ENAMETOOLONG),
	},
	{
		Name: "long-names-are-cut", Text: "A name of more than 255 bytes is silently cut.",
		Cases:  []string{"names/open-create/name-of-256-bytes/*", "names/mkdir/name-of-256-bytes-in-a-directory/*"},
		breach: renamed(func(s string) string { return s[:min(len(s), vfs.MaxName)] }),
	},
	{
		Name: "names-forbid-colons", Text: "Characters that another system forbids are refused.",
		Cases:  []string{"names/bytes/what-other-systems-forbid/*"},
		breach: refusing(func(s string) bool { return strings.ContainsAny(s, ":*?<>|\"\\") }, syscall.EINVAL),
	},
	{
		Name: "missing-names-are-EACCES", Text: "A name that is not there gives EACCES.",
		Cases: []string{"names/stat/below-missing-directory/*", "unlink/unlink/file/only-name/*"},
		breach: func() breach {
			return breach{lookup: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) (vfs.Attr, error) {
				a, err := fs.Lookup(op, parent, name)
				if err == syscall.ENOENT && len(name) > 0 && (name == "missing" || name == "x") {
					err = syscall.EACCES
				}
				return a, err
			}}
		},
	},
	{
		Name: "symlink-targets-end-at-255", Text: "The target of a symlink is cut after 255 bytes.",
		Cases: []string{"special/symlink/target-of-256-bytes/*", "special/symlink/target-of-4095-bytes/*"},
		breach: func() breach {
			return breach{symlink: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name, target string) (vfs.Attr, error) {
				return fs.Symlink(op, parent, name, target[:min(len(target), 255)])
			}}
		},
	},
	{
		Name: "symlink-targets-are-cleaned", Text: "Doubled slashes in a target become one.",
		Cases: []string{"special/symlink/target-with-slashes/*"},
		breach: func() breach {
			return breach{readlink: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino) (string, error) {
				s, err := fs.Readlink(op, ino)
				for strings.Contains(s, "//") {
					s = strings.ReplaceAll(s, "//", "/")
				}
				return s, err
			}}
		},
	},
	{
		Name: "symlinks-have-no-size", Text: "The size of a symlink is 0.",
		Cases:  []string{"special/symlink/target-of-59-bytes/*", "attributes/stat/symlink/*"},
		breach: attrBreach(func(a *vfs.Attr) { a.Size *= b2u(!a.IsSymlink()) }),
	},
	{
		Name: "readlink-never-answers", Text: "readlink does not come back until it is interrupted.",
		Cases: []string{"special/symlink/target-of-1-bytes/*"},
		breach: func() breach {
			return breach{readlink: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino) (string, error) {
				if op.Ctx == nil {
					select {}
				}
				<-op.Ctx.Done()
				return "", syscall.EINTR
			}}
		},
	},
	{
		Name: "device-numbers-are-lost", Text: "A device node has number 0.",
		Cases: []string{"special/device/char-device-1-3/*", "special/device/block-device-8-1/*", "attributes/stat/char-device/*"},
		breach: func() breach {
			return breach{mknod: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode, _ uint32) (vfs.Attr, error) {
				return fs.Mknod(op, parent, name, mode, 0)
			}}
		},
	},
	{
		Name: "device-numbers-have-8-bits", Text: "Major and minor numbers above 255 are cut.",
		Cases: []string{"special/device/char-device-4095-1048575/*", "special/device/block-device-256-256/*"},
		breach: func() breach {
			return breach{mknod: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode, rdev uint32) (vfs.Attr, error) {
				return fs.Mknod(op, parent, name, mode, rdev&0xffff)
			}}
		},
	},
	{
		Name: "fifos-become-files", Text: "mkfifo makes a regular file.",
		Cases: []string{"special/fifo/bytes/*", "directories/entry/fifo/*", "attributes/stat/fifo/*"},
		breach: func() breach {
			return breach{mknod: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode, rdev uint32) (vfs.Attr, error) {
				if mode&vfs.ModeTypeMask == vfs.ModeFIFO {
					mode = mode&^vfs.ModeTypeMask | vfs.ModeRegular
				}
				return fs.Mknod(op, parent, name, mode, rdev)
			}}
		},
	},
}

// b2u is 1 for true.
func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
