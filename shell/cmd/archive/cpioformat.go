package archive

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"syscall"
	"time"
)

var errNotDirectory = syscall.ENOTDIR

// cpioHeader is the header of one member.
type cpioHeader struct {
	ino, mode, uid, gid, nlink, rdev uint32
	mtime                            int64
	size                             int64
	name                             string
	align                            int // of the name and the data
}

const cpioTrailer = "TRAILER!!!"

var (
	errCpioEnd = errors.New("premature end of file")
)

// cpioName is how long a name may be.
const cpioName = 1 << 16

// readCpioHeader reads the next header: its magic number tells the format.
func readCpioHeader(in io.Reader) (*cpioHeader, error) {
	var magic [6]byte
	if _, err := io.ReadFull(in, magic[:]); err != nil {
		return nil, errors.New("premature end of archive")
	}
	switch {
	case string(magic[:]) == "070701" || string(magic[:]) == "070702":
		return readNewc(in)
	case string(magic[:]) == "070707":
		return readOdc(in)
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if order.Uint16(magic[:]) == 0o070707 {
			return readBin(in, magic[2:], order)
		}
	}
	return nil, errors.New("premature end of archive")
}

func (h *cpioHeader) readName(in io.Reader, size int64, before int) error {
	if size <= 0 || size > cpioName {
		return errors.New("malformed header")
	}
	pad := 0
	if h.align > 1 {
		pad = (h.align - (before+int(size))%h.align) % h.align
	}
	b := make([]byte, int(size)+pad)
	if _, err := io.ReadFull(in, b); err != nil {
		return errCpioEnd
	}
	h.name = string(b[:size-1])
	return nil
}

func readNewc(in io.Reader) (*cpioHeader, error) {
	var b [104]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return nil, errCpioEnd
	}
	var f [13]uint32
	for i := range f {
		n, err := strconv.ParseUint(string(b[8*i:8*i+8]), 16, 32)
		if err != nil {
			return nil, errors.New("malformed number")
		}
		f[i] = uint32(n)
	}
	h := &cpioHeader{ino: f[0], mode: f[1], uid: f[2], gid: f[3], nlink: f[4], mtime: int64(f[5]), size: int64(f[6]), align: 4}
	return h, h.readName(in, int64(f[11]), 110)
}

func readOdc(in io.Reader) (*cpioHeader, error) {
	var b [70]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return nil, errCpioEnd
	}
	var f [10]uint64
	at := 0
	for i, width := range []int{6, 6, 6, 6, 6, 6, 6, 11, 6, 11} {
		n, err := strconv.ParseUint(string(b[at:at+width]), 8, 64)
		if err != nil {
			return nil, errors.New("malformed number")
		}
		f[i], at = n, at+width
	}
	h := &cpioHeader{ino: uint32(f[1]), mode: uint32(f[2]), uid: uint32(f[3]), gid: uint32(f[4]), nlink: uint32(f[5]), mtime: int64(f[7]), size: int64(f[9]), align: 1}
	return h, h.readName(in, int64(f[8]), 76)
}

func readBin(in io.Reader, start []byte, order binary.ByteOrder) (*cpioHeader, error) {
	var b [24]byte // what follows the magic number
	copy(b[:], start)
	if _, err := io.ReadFull(in, b[4:]); err != nil {
		return nil, errCpioEnd
	}
	short := func(i int) uint32 { return uint32(order.Uint16(b[2*i:])) }
	long := func(i int) int64 { return int64(short(i))<<16 | int64(short(i+1)) }
	h := &cpioHeader{ino: short(1), mode: short(2), uid: short(3), gid: short(4), nlink: short(5), mtime: long(7), size: long(10), align: 2}
	return h, h.readName(in, int64(short(9)), 26)
}

// write writes a header in a format.
func (h *cpioHeader) write(w io.Writer, format string) error {
	var b []byte
	size := len(h.name) + 1
	switch format {
	case "newc", "crc":
		magic := "070701"
		if format == "crc" {
			magic = "070702"
		}
		if h.size > 1<<32-1 {
			return syscall.EFBIG
		}
		b = fmt.Appendf(nil, "%s%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", magic, h.ino, h.mode, h.uid, h.gid, h.nlink, uint32(h.mtime), h.size, 0, 0, 0, 0, size, 0)
		h.align = 4
	case "odc":
		if h.size >= 1<<33 {
			return syscall.EFBIG
		}
		b = fmt.Appendf(nil, "070707%06o%06o%06o%06o%06o%06o%06o%011o%06o%011o", 0, h.ino&0o777777, h.mode, h.uid&0o777777, h.gid&0o777777, h.nlink&0o777777, 0, h.mtime, size, h.size)
		h.align = 1
	default:
		if h.size >= 1<<31 {
			return syscall.EFBIG
		}
		for _, n := range []uint32{0o070707, 0, h.ino, h.mode, h.uid, h.gid, h.nlink, 0, uint32(h.mtime) >> 16, uint32(h.mtime), uint32(size), uint32(h.size) >> 16, uint32(h.size)} {
			b = binary.LittleEndian.AppendUint16(b, uint16(n))
		}
		h.align = 2
	}
	b = append(append(b, h.name...), 0)
	for len(b)%h.align != 0 {
		b = append(b, 0)
	}
	_, err := w.Write(b)
	return err
}

const openNew = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_EXCL

var errNotFound, errNameTooLong = syscall.ENOENT, syscall.ENAMETOOLONG

func unixTime(sec int64) time.Time { return time.Unix(sec, 0) }

// cancelReader ends reads when the command was cancelled.
type cancelReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
