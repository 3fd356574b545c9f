package broken

import (
	"sync"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// Whence values and modes of Linux that vfs passes through.
const (
	seekData     = 3
	keepSizeMode = 1
	punchMode    = 2
	zeroMode     = 16
)

// allocates makes a breach of fallocate alone.
func allocates(f func(h vfs.Handle, op *vfs.Op, mode uint32, off, n int64) error) func() breach {
	return func() breach { return breach{fallocate: f} }
}

var dataRules = []Rule{
	{
		Name: "holes-are-not-zero", Text: "What was never written reads as 0xaa.",
		Cases: []string{"data/holes/reads-as-zero-and-costs-nothing", "data/big/write-at-2-GiB/*", "mmap/shared/a-hole/*"},
		breach: func() breach {
			return breach{read: func(h vfs.Handle, op *vfs.Op, p []byte, off int64) (int, error) {
				n, err := h.Read(op, p, off)
				for i := range p[:n] {
					if p[i] == 0 {
						p[i] = 0xaa
					}
				}
				return n, err
			}}
		},
	},
	{
		Name: "writes-lose-their-last-byte", Text: "The last byte of every write is not kept; the page cache hides it for a while.",
		Cases: []string{"data/advice/dropped-from-the-cache/*", "durability/keeps/bytes-read-from-the-disk/*"},
		breach: func() breach {
			return breach{write: func(h vfs.Handle, op *vfs.Op, p []byte, off int64) (int, error) {
				kept := append([]byte(nil), p...)
				if len(kept) > 1 {
					kept[len(kept)-1] = 0
				}
				return h.Write(op, kept, off)
			}}
		},
	},
	{
		Name: "direct-writes-are-shifted", Text: "A write of a whole page lands one byte further.",
		Cases: []string{"data/O_DIRECT/write-of-4096/*", "data/O_DIRECT/mixed-with-buffered/*"},
		breach: func() breach {
			return breach{write: func(h vfs.Handle, op *vfs.Op, p []byte, off int64) (int, error) {
				if len(p) == 4096 {
					shifted := append([]byte{0}, p[:4095]...)
					return h.Write(op, shifted, off)
				}
				return h.Write(op, p, off)
			}}
		},
	},
	{
		Name: "reads-end-after-64-KiB", Text: "Bytes past 64 KiB read as zero once they left the page cache.",
		Cases: []string{"data/advice/dropped-from-the-cache/*", "durability/keeps/bytes-read-from-the-disk/*"},
		breach: func() breach {
			return breach{read: func(h vfs.Handle, op *vfs.Op, p []byte, off int64) (int, error) {
				n, err := h.Read(op, p, off)
				for i := range p[:n] {
					if off+int64(i) >= 1<<16 {
						p[i] = 0
					}
				}
				return n, err
			}}
		},
	},
	{
		Name: "cut-bytes-come-back", Text: "A file that is cut and grown again has its old bytes.",
		Cases:  []string{"data/truncate/8192-to-4096", "data/truncate/65537-to-1", "mmap/truncate/to-5000/*"},
		breach: cutBytesComeBack,
	},
	{
		Name: "O_TRUNC-is-ignored", Text: "Opening with O_TRUNC leaves the bytes.",
		Cases: []string{"open/existing-with-O_CREAT|O_TRUNC/*", "open/O_TRUNC/*"},
		breach: func() breach {
			return breach{
				open: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error) {
					return fs.Open(op, ino, flags&^syscall.O_TRUNC)
				},
			}
		},
	},
	{
		Name: "files-end-at-4-GiB", Text: "Writing past 4 GiB is EFBIG.",
		Cases: []string{"data/big/write-at-5-GiB/*", "data/big/write-at-1-TiB/*", "mmap/shared/at-an-offset-beyond-4-GiB/*"},
		breach: func() breach {
			return breach{write: func(h vfs.Handle, op *vfs.Op, p []byte, off int64) (int, error) {
				if off >= 1<<32 {
					return 0, syscall.EFBIG
				}
				return h.Write(op, p, off)
			}}
		},
	},
	{
		Name: "offsets-have-32-bits", Text: "Writes past 4 GiB land at the offset modulo 4 GiB.",
		Cases: []string{"data/big/write-at-5-GiB/*"},
		breach: func() breach {
			return breach{write: func(h vfs.Handle, op *vfs.Op, p []byte, off int64) (int, error) {
				return h.Write(op, p, off&(1<<32-1))
			}}
		},
	},
	{
		Name: "everything-is-data", Text: "SEEK_DATA and SEEK_HOLE know no holes.",
		Cases: []string{"data/holes/seek/fsynced/data-from-the-hole/*", "data/holes/seek/fsynced/hole-from-data/*", "data/holes/only-a-hole/*"},
		breach: func() breach {
			var l sync.Mutex
			sizes := make(map[vfs.Ino]int64)
			return breach{
				attr: func(a *vfs.Attr) {
					l.Lock()
					defer l.Unlock()
					sizes[a.Ino] = int64(a.Size)
				},
				seek: func(h vfs.Handle, _ *vfs.Op, off int64, whence int) (int64, error) {
					l.Lock()
					defer l.Unlock()
					size := sizes[h.Ino()]
					if off >= size {
						return 0, syscall.ENXIO
					}
					if whence == seekData {
						return off, nil
					}
					return size, nil
				},
			}
		},
	},
	{
		Name: "fallocate-does-nothing", Text: "fallocate says that it worked and changes nothing.",
		Cases:  []string{"data/fallocate/allocate/at-30000", "data/fallocate/PUNCH_HOLE/gives-space-back-and-shows-as-a-hole"},
		breach: allocates(func(vfs.Handle, *vfs.Op, uint32, int64, int64) error { return nil }),
	},
	{
		Name: "fallocate-is-EOPNOTSUPP", Text: "fallocate is not supported.",
		Cases:  []string{"data/fallocate/allocate/at-0", "data/fallocate/PUNCH_HOLE/at-4096", "attributes/times/fallocate"},
		breach: allocates(func(vfs.Handle, *vfs.Op, uint32, int64, int64) error { return syscall.EOPNOTSUPP }),
	},
	{
		Name: "KEEP_SIZE-does-not", Text: "FALLOC_FL_KEEP_SIZE is ignored: the file grows.",
		Cases: []string{"data/fallocate/KEEP_SIZE/at-30000", "data/fallocate/KEEP_SIZE-past-the-end-then-writing/*"},
		breach: allocates(func(h vfs.Handle, op *vfs.Op, mode uint32, off, n int64) error {
			if mode&punchMode == 0 {
				mode &^= keepSizeMode
			}
			return h.Fallocate(op, mode, off, n)
		}),
	},
	{
		Name: "punching-is-a-byte-short", Text: "The last byte of a hole that is punched stays.",
		Cases: []string{"data/fallocate/PUNCH_HOLE/at-0", "data/fallocate/PUNCH_HOLE/at-4096"},
		breach: allocates(func(h vfs.Handle, op *vfs.Op, mode uint32, off, n int64) error {
			if mode&punchMode != 0 && n > 1 {
				n--
			}
			return h.Fallocate(op, mode, off, n)
		}),
	},
	{
		Name: "ZERO_RANGE-allocates", Text: "FALLOC_FL_ZERO_RANGE leaves the bytes.",
		Cases: []string{"data/fallocate/ZERO_RANGE-KEEP_SIZE/at-0", "data/fallocate/ZERO_RANGE/at-4096"},
		breach: allocates(func(h vfs.Handle, op *vfs.Op, mode uint32, off, n int64) error {
			return h.Fallocate(op, mode&^zeroMode, off, n)
		}),
	},
	{
		Name: "copies-are-empty", Text: "copy_file_range says that it copied, and did not.",
		Cases: []string{"data/copy_file_range/all/*", "data/copy_file_range/unaligned/*", "data/copy_file_range/the-copy/*"},
		breach: func() breach {
			return breach{copyTo: func(_ vfs.Handle, _ *vfs.Op, _ int64, _ vfs.Handle, _, n int64) (int64, error) { return n, nil }}
		},
	},
	{
		Name: "copies-begin-at-0", Text: "copy_file_range ignores the target's offset.",
		Cases: []string{"data/copy_file_range/middle-to-middle/*", "data/copy_file_range/to-beyond-the-end/*"},
		breach: func() breach {
			return breach{copyTo: func(h vfs.Handle, op *vfs.Op, off int64, dst vfs.Handle, _, n int64) (int64, error) {
				return h.CopyTo(op, off, dst, 0, n)
			}}
		},
	},
	{
		Name: "O_TMPFILE-has-a-link", Text: "A file without a name has one link.",
		Cases: []string{"open/O_TMPFILE/has-no-name-and-no-links"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, tmpfile: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
				a, h, err := fs.Tmpfile(op, parent, mode, flags)
				if err == nil {
					l.tell(a.Ino, func(x *vfs.Attr) { x.Nlink++ })
				}
				return a, h, err
			}}
		},
	},
	{
		Name: "O_TMPFILE-is-EOPNOTSUPP", Text: "O_TMPFILE is not supported.",
		Cases: []string{"open/O_TMPFILE/has-no-name-and-no-links", "open/O_TMPFILE/linkat-by-proc/*"},
		breach: func() breach {
			return breach{tmpfile: func(vfs.FS, *vfs.Op, vfs.Ino, uint32, int) (vfs.Attr, vfs.Handle, error) {
				return vfs.Attr{}, nil, syscall.EOPNOTSUPP
			}}
		},
	},
}

// cutBytesComeBack keeps what a truncate cuts off and puts it back when the
// file grows.
func cutBytesComeBack() breach {
	type tail struct {
		off   int64
		bytes []byte
	}
	var mu sync.Mutex
	tails := make(map[vfs.Ino]tail)
	return breach{setattr: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
		if set.Mask&vfs.SetSize == 0 {
			return fs.Setattr(op, ino, set)
		}
		mu.Lock()
		defer mu.Unlock()
		was, err := fs.Getattr(op, ino)
		if err != nil {
			return was, err
		}
		h, err := fs.Open(asRoot(op), ino, syscall.O_RDWR)
		if err != nil {
			return was, err
		}
		defer h.Release(op)
		if set.Size < was.Size && was.Size < 1<<24 {
			cut := tail{int64(set.Size), make([]byte, was.Size-set.Size)}
			if _, err := h.Read(asRoot(op), cut.bytes, cut.off); err != nil {
				return was, err
			}
			tails[ino] = cut
		}
		a, err := fs.Setattr(op, ino, set)
		if t, ok := tails[ino]; ok && err == nil && set.Size > uint64(t.off) {
			n := min(int64(len(t.bytes)), int64(set.Size)-t.off)
			_, err = h.Write(asRoot(op), t.bytes[:n], t.off)
		}
		return a, err
	}}
}
