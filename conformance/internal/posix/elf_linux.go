package posix

import (
	"bytes"
	"encoding/binary"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// program is what a tiny executable does.
type program int

const (
	exits42  program = iota // exit(42)
	waits                   // sleep until killed
	exitsID                 // exit(geteuid() & 0xff)
	exitsGID                // exit(getegid() & 0xff)
)

// machineCode of the programs, by architecture.
var machineCode = map[string]map[program][]byte{
	"amd64": {
		exits42: {0xb8, 60, 0, 0, 0, 0xbf, 42, 0, 0, 0, 0x0f, 0x05}, // mov eax,60; mov edi,42; syscall
		waits:   {0xb8, 34, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7},        // mov eax,34 (pause); syscall; jmp back
		// mov eax,107 (geteuid); syscall; mov edi,eax; mov eax,60; syscall
		exitsID:  {0xb8, 107, 0, 0, 0, 0x0f, 0x05, 0x89, 0xc7, 0xb8, 60, 0, 0, 0, 0x0f, 0x05},
		exitsGID: {0xb8, 108, 0, 0, 0, 0x0f, 0x05, 0x89, 0xc7, 0xb8, 60, 0, 0, 0, 0x0f, 0x05},
	},
	"arm64": {
		exits42: words(0xd2800540, 0xd2800ba8, 0xd4000001), // mov x0,42; mov x8,93; svc
		// ppoll(0, 0, 0, 0), then a loop
		waits:    words(0xd2800000, 0xd2800001, 0xd2800002, 0xd2800003, 0xd2800928, 0xd4000001, 0x14000000),
		exitsID:  words(0xd28015e8, 0xd4000001, 0xd2800ba8, 0xd4000001), // mov x8,175; svc; mov x8,93; svc
		exitsGID: words(0xd2801628, 0xd4000001, 0xd2800ba8, 0xd4000001), // mov x8,177; ...
	},
}

func words(ws ...uint32) []byte {
	var b []byte
	for _, w := range ws {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// elf returns a static executable of a program: an ELF header, one segment
// that loads the whole file at 4 MiB, and the code.
func elf(p program) []byte {
	const (
		base   = 0x400000
		header = 64 + 56
	)
	machine := uint16(62) // x86-64
	if runtime.GOARCH == "arm64" {
		machine = 183
	}
	code := machineCode[runtime.GOARCH][p]
	var b bytes.Buffer
	b.WriteString("\x7fELF\x02\x01\x01" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	put := func(vs ...any) {
		for _, v := range vs {
			if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
				panic(err) // fixed-size integers into memory
			}
		}
	}
	// type, machine, version, entry, program headers, section headers, flags,
	// and the sizes and counts of headers.
	put(uint16(2), machine, uint32(1), uint64(base+header), uint64(64), uint64(0), uint32(0),
		uint16(64), uint16(56), uint16(1), uint16(0), uint16(0), uint16(0))
	// PT_LOAD, readable and executable, offset, addresses, sizes, alignment.
	size := uint64(header + len(code))
	put(uint32(1), uint32(5), uint64(0), uint64(base), uint64(base), size, size, uint64(0x1000))
	b.Write(code)
	return b.Bytes()
}

// makeProgram writes an executable that can be run at once: no forked process
// holds a copy of the descriptor through which it was written.
func makeProgram(t *T, name string, p program, mode uint32) {
	if machineCode[runtime.GOARCH] == nil {
		t.Skip("no machine code for %s", runtime.GOARCH)
	}
	t.NoFork(func() {
		fd, err := unix.Open(name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o700)
		t.Must(err)
		t.Must(harness.WriteAll(fd, elf(p)))
		t.Must(unix.Fchmod(fd, mode))
		t.Must(unix.Close(fd))
	})
}
