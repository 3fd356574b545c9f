package broken

import (
	"slices"
	"sync"

	"github.com/vfsd/vfsd/vfs"
)

// lists makes a breach of readDir alone.
func lists(f func(h vfs.DirHandle, op *vfs.Op, cookie uint64, attrs bool, emit func(*vfs.DirEntry) bool) error) func() breach {
	return func() breach { return breach{readDir: f} }
}

var directoryRules = []Rule{
	{
		Name: "listing-skips-an-entry", Text: "Every tenth name is left out of listings.",
		Cases: []string{"directories/call/listing-by-4096-bytes/*", "directories/big/3000-names/*", "names/every-length-from-1-to-255/*"},
		breach: lists(func(h vfs.DirHandle, op *vfs.Op, cookie uint64, attrs bool, emit func(*vfs.DirEntry) bool) error {
			n := 0
			return h.ReadDir(op, cookie, attrs, func(e *vfs.DirEntry) bool {
				n++
				return n%10 == 0 || emit(e)
			})
		}),
	},
	{
		Name: "listing-repeats-an-entry", Text: "Every tenth name is listed twice.",
		Cases: []string{"directories/call/listing-by-4096-bytes/*", "directories/big/3000-names/*"},
		breach: lists(func(h vfs.DirHandle, op *vfs.Op, cookie uint64, attrs bool, emit func(*vfs.DirEntry) bool) error {
			n := 0
			return h.ReadDir(op, cookie, attrs, func(e *vfs.DirEntry) bool {
				if n++; n%10 == 0 {
					again := *e
					if !emit(&again) {
						return false
					}
				}
				return emit(e)
			})
		}),
	},
	{
		Name: "listing-types-are-files", Text: "Every entry is a regular file.",
		Cases: []string{"directories/entry/directory/*", "directories/entry/fifo/*", "directories/entry/symlink/*"},
		breach: lists(func(h vfs.DirHandle, op *vfs.Op, cookie uint64, _ bool, emit func(*vfs.DirEntry) bool) error {
			return h.ReadDir(op, cookie, false, func(e *vfs.DirEntry) bool {
				e.Mode = vfs.ModeRegular
				return emit(e)
			})
		}),
	},
	{
		Name: "listing-inodes-are-wrong", Text: "The inode number of an entry is not the file's.",
		Cases: []string{"directories/entry/file/*", "directories/entry/hard-links/*"},
		breach: lists(func(h vfs.DirHandle, op *vfs.Op, cookie uint64, _ bool, emit func(*vfs.DirEntry) bool) error {
			n := vfs.Ino(0)
			return h.ReadDir(op, cookie, false, func(e *vfs.DirEntry) bool {
				n++
				e.Ino += n << 40
				return emit(e)
			})
		}),
	},
	{
		Name: "listing-goes-by-index", Text: "The position in a listing is a count of names, so removing some skips others.",
		Cases: []string{
			"directories/under-change/deleting-what-was-listed/4096-byte-buffer/*", "directories/under-change/half-deleted-and-others-made/4096-byte-buffer/*",
		},
		breach: lists(func(h vfs.DirHandle, op *vfs.Op, cookie uint64, attrs bool, emit func(*vfs.DirEntry) bool) error {
			n := uint64(0)
			return h.ReadDir(op, 0, attrs, func(e *vfs.DirEntry) bool {
				if n++; n <= cookie {
					return true
				}
				e.Cookie = n
				return emit(e)
			})
		}),
	},
	{
		Name: "listings-are-never-fresh", Text: "A directory lists what was there when it was first read, for good.",
		Cases: []string{"directories/fresh/open-before-and-rewound/*", "directories/fresh/after-every-kind-of-change/*", "directories/position/rewind/*"},
		breach: func() breach {
			var mu sync.Mutex
			kept := make(map[vfs.Ino][]vfs.DirEntry)
			return breach{readDir: func(h vfs.DirHandle, op *vfs.Op, cookie uint64, _ bool, emit func(*vfs.DirEntry) bool) error {
				mu.Lock()
				defer mu.Unlock()
				list, ok := kept[h.Ino()]
				if !ok {
					if err := h.ReadDir(op, 0, false, func(e *vfs.DirEntry) bool {
						list = append(list, *e)
						return true
					}); err != nil {
						return err
					}
					kept[h.Ino()] = list
				}
				for i := cookie; i < uint64(len(list)); i++ {
					e := list[i]
					e.Cookie = i + 1
					if !emit(&e) {
						break
					}
				}
				return nil
			}}
		},
	},
	{
		Name: "listing-changes-its-order", Text: "Each read of a listing has another order.",
		Cases: []string{"directories/call/listing-by-1024-bytes/*"},
		breach: func() breach {
			var mu sync.Mutex
			turns := 0
			return breach{readDir: func(h vfs.DirHandle, op *vfs.Op, cookie uint64, _ bool, emit func(*vfs.DirEntry) bool) error {
				var all []vfs.DirEntry
				if err := h.ReadDir(op, 0, false, func(e *vfs.DirEntry) bool {
					all = append(all, *e)
					return true
				}); err != nil {
					return err
				}
				mu.Lock()
				if turns++; turns%2 == 0 {
					slices.Reverse(all)
				}
				mu.Unlock()
				for i := cookie; i < uint64(len(all)); i++ {
					all[i].Cookie = i + 1
					if !emit(&all[i]) {
						break
					}
				}
				return nil
			}}
		},
	},
	{
		Name: "directories-have-two-links", Text: "The link count of a directory is always 2.",
		Cases:  []string{"directories/links/new-directory/*", "directories/links/thirty-directories/*", "unlink/rmdir/empty/*"},
		breach: attrBreach(func(a *vfs.Attr) { a.Nlink = a.Nlink*uint32(b2u(!a.IsDir())) + 2*uint32(b2u(a.IsDir())) }),
	},
	{
		Name: "directories-have-one-link", Text: "The link count of a directory is always 1.",
		Cases:  []string{"directories/links/new-directory/*", "attributes/stat/directory/*"},
		breach: attrBreach(func(a *vfs.Attr) { a.Nlink = a.Nlink*uint32(b2u(!a.IsDir())) + uint32(b2u(a.IsDir())) }),
	},
	{
		Name: "create-leaves-parent-times", Text: "A new file does not move the times of its directory.",
		Cases: []string{"attributes/times/open-create"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, create: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
				if a, err := fs.Getattr(op, parent); err == nil {
					l.tell(parent, times(a))
				}
				return fs.Create(op, parent, name, mode, flags)
			}}
		},
	},
	{
		Name: "unlink-leaves-parent-times", Text: "Removing a name does not move the times of its directory.",
		Cases: []string{"attributes/times/unlink", "unlink/unlink/file/only-name/*"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, unlink: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error {
				if a, err := fs.Getattr(op, parent); err == nil {
					l.tell(parent, times(a))
				}
				return fs.Unlink(op, parent, name)
			}}
		},
	},
	{
		Name: "mkdir-leaves-parent-times", Text: "A new directory does not move the times of its parent.",
		Cases: []string{"attributes/times/mkdir"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, mkdir: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32) (vfs.Attr, error) {
				if a, err := fs.Getattr(op, parent); err == nil {
					l.tell(parent, times(a))
				}
				return fs.Mkdir(op, parent, name, mode)
			}}
		},
	},
	{
		Name: "failed-rmdir-moves-times", Text: "An rmdir that fails moves the times of the directory.",
		Cases: []string{"unlink/rmdir/with-a-file-inside/*", "unlink/rmdir/with-a-socket-inside/*"},
		breach: func() breach {
			return breach{rmdir: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error {
				err := fs.Rmdir(op, parent, name)
				if a, e := fs.Lookup(asRoot(op), parent, name); err != nil && e == nil {
					_, _ = fs.Setattr(asRoot(op), a.Ino, &vfs.SetAttr{Mask: vfs.SetMtimeNow})
				}
				return err
			}}
		},
	},
}
