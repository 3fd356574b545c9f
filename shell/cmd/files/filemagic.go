package files

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// magic is a type that its first bytes give away.
type magic struct {
	at    int
	bytes string
	text  string
	mime  string
}

var magics = []magic{
	{0, "%PDF-", "PDF document", "application/pdf"},
	{0, "BZh", "bzip2 compressed data", "application/x-bzip2"},
	{0, "\xFD7zXZ\x00", "XZ compressed data", "application/x-xz"},
	{0, "\x28\xB5\x2F\xFD", "Zstandard compressed data (v0.8+)", "application/zstd"},
	{0, "\x04\x22\x4D\x18", "LZ4 compressed data (v1.4+)", "application/x-lz4"},
	{0, "7z\xBC\xAF\x27\x1C", "7-zip archive data", "application/x-7z-compressed"},
	{0, "Rar!\x1A\x07\x01\x00", "RAR archive data, v5", "application/x-rar"},
	{0, "SQLite format 3\x00", "SQLite 3.x database", "application/vnd.sqlite3"},
	{0, "\xFF\xD8\xFF", "JPEG image data", "image/jpeg"},
	{0, "!<arch>\ndebian-binary", "Debian binary package (format 2.0)", "application/vnd.debian.binary-package"},
	{0, "!<arch>\n", "current ar archive", "application/x-archive"},
	{0, "070701", "ASCII cpio archive (SVR4 with no CRC)", "application/x-cpio"},
	{0, "070702", "ASCII cpio archive (SVR4 with CRC)", "application/x-cpio"},
	{0, "070707", "ASCII cpio archive (pre-SVR4 or odc)", "application/x-cpio"},
	{0, "OggS", "Ogg data", "audio/ogg"},
	{0, "fLaC", "FLAC audio bitstream data", "audio/flac"},
	{0, "ID3", "Audio file with ID3 version 2", "audio/mpeg"},
	{0, "\x00asm\x01\x00\x00\x00", "WebAssembly (wasm) binary module version 0x1 (MVP)", "application/wasm"},
	{0, "wOFF", "Web Open Font Format", "font/woff"},
	{0, "wOF2", "Web Open Font Format (Version 2)", "font/woff2"},
	{0, "\x1A\x45\xDF\xA3", "Matroska data", "video/x-matroska"},
	{0, "PACK", "Git pack", "application/octet-stream"},
	{0, "DIRC", "Git index", "application/octet-stream"},
	{0, "\xCA\xFE\xBA\xBE", "compiled Java class data", "application/x-java-applet"},
	{0, "BM", "PC bitmap", "image/bmp"},
	{0, "II*\x00", "TIFF image data, little-endian", "image/tiff"},
	{0, "MM\x00*", "TIFF image data, big-endian", "image/tiff"},
	{4, "ftyp", "ISO Media", "video/mp4"},
}

// binaryMagic recognizes a file by its content; an empty type when none fits.
func binaryMagic(b []byte) fileType {
	has := func(at int, s string) bool { return len(b) >= at+len(s) && string(b[at:at+len(s)]) == s }
	switch {
	case has(0, "\x7FELF") && len(b) >= 20:
		return elfType(b)
	case has(0, "\x1F\x8B") && len(b) >= 10:
		return gzipType(b)
	case has(0, "PK\x03\x04") && len(b) >= 30:
		return zipType(b)
	case has(0, "PK\x05\x06"):
		return fileType{"Zip archive data (empty)", "application/zip"}
	case has(0, "\x89PNG\r\n\x1A\n") && len(b) >= 29:
		return pngType(b)
	case (has(0, "GIF87a") || has(0, "GIF89a")) && len(b) >= 10:
		return fileType{fmt.Sprintf("GIF image data, version %s, %d x %d", b[3:6], binary.LittleEndian.Uint16(b[6:]), binary.LittleEndian.Uint16(b[8:])), "image/gif"}
	case has(0, "RIFF") && has(8, "WEBP"):
		return fileType{"RIFF (little-endian) data, Web/P image", "image/webp"}
	case has(0, "RIFF") && has(8, "WAVE"):
		return fileType{"RIFF (little-endian) data, WAVE audio", "audio/x-wav"}
	case has(257, "ustar  \x00"):
		return fileType{"POSIX tar archive (GNU)", "application/x-tar"}
	case has(257, "ustar\x00"):
		return fileType{"POSIX tar archive", "application/x-tar"}
	case has(0, "MZ") && len(b) >= 64:
		return fileType{"MS-DOS executable", "application/x-dosexec"}
	case has(0, "BZh") && len(b) > 3 && b[3] >= '1' && b[3] <= '9':
		return fileType{fmt.Sprintf("bzip2 compressed data, block size = %c00k", b[3]), "application/x-bzip2"}
	case has(0, "\xFD7zXZ\x00") && len(b) > 7:
		check := map[byte]string{0: ", checksum NONE", 1: ", checksum CRC32", 4: ", checksum CRC64", 10: ", checksum SHA-256"}[b[7]&15]
		return fileType{"XZ compressed data" + check, "application/x-xz"}
	case has(0, "\x28\xB5\x2F\xFD") && len(b) > 4 && b[4]&3 == 0:
		return fileType{"Zstandard compressed data (v0.8+), Dictionary ID: None", "application/zstd"}
	case has(0, "%PDF-") && len(b) >= 8:
		return fileType{"PDF document, version " + string(b[5:8]), "application/pdf"}
	}
	for _, m := range magics {
		if has(m.at, m.bytes) {
			if m.bytes == "BM" && (len(b) < 26 || b[6] != 0) {
				continue
			}
			return fileType{m.text, m.mime}
		}
	}
	return fileType{}
}

func elfType(b []byte) fileType {
	order := binary.ByteOrder(binary.LittleEndian)
	end := "LSB"
	if b[5] == 2 {
		order, end = binary.BigEndian, "MSB"
	}
	bits := map[byte]string{1: "32-bit", 2: "64-bit"}[b[4]]
	kind, mime := "unknown", "application/octet-stream"
	switch order.Uint16(b[16:]) {
	case 1:
		kind, mime = "relocatable", "application/x-object"
	case 2:
		kind, mime = "executable", "application/x-executable"
	case 3:
		kind, mime = "shared object", "application/x-sharedlib"
		if bytes.Contains(b, []byte("/lib64/ld-linux")) || bytes.Contains(b, []byte("/lib/ld-")) {
			kind, mime = "pie executable", "application/x-pie-executable"
		}
	case 4:
		kind, mime = "core file", "application/x-coredump"
	}
	machine := map[uint16]string{3: "Intel 80386", 40: "ARM", 62: "x86-64", 183: "ARM aarch64", 243: "UCB RISC-V", 8: "MIPS", 21: "64-bit PowerPC or cisco 7500", 22: "IBM S/390"}[order.Uint16(b[18:])]
	abi := "SYSV"
	if b[7] == 3 {
		abi = "GNU/Linux"
	}
	return fileType{fmt.Sprintf("ELF %s %s %s, %s, version 1 (%s)", bits, end, kind, machine, abi), mime}
}

func gzipType(b []byte) fileType {
	out := "gzip compressed data"
	flags := b[3]
	if flags&8 != 0 {
		at := 10
		if flags&4 != 0 && len(b) >= 12 {
			at += 2 + int(binary.LittleEndian.Uint16(b[10:]))
		}
		if at < len(b) {
			name, _, _ := strings.Cut(string(b[at:min(len(b), at+256)]), "\x00")
			out += ", was \"" + name + "\""
		}
	}
	if t := binary.LittleEndian.Uint32(b[4:]); t != 0 {
		out += ", last modified: " + time.Unix(int64(t), 0).UTC().Format("Mon Jan _2 15:04:05 2006")
	}
	switch b[8] {
	case 2:
		out += ", max compression"
	case 4:
		out += ", max speed"
	}
	switch b[9] {
	case 3:
		out += ", from Unix"
	case 0:
		out += ", from FAT filesystem (MS-DOS, OS/2, NT)"
	}
	if len(b) < fileHead && len(b) >= 18 {
		n := binary.LittleEndian.Uint32(b[len(b)-4:])
		out += fmt.Sprintf(", original size modulo 2^32 %d", n)
	}
	return fileType{out, "application/gzip"}
}

func zipType(b []byte) fileType {
	name := string(b[30:min(len(b), 30+int(binary.LittleEndian.Uint16(b[26:])))])
	switch {
	case strings.HasPrefix(name, "word/") || bytes.Contains(b, []byte("word/document.xml")):
		return fileType{"Microsoft Word 2007+", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"}
	case strings.HasPrefix(name, "xl/") || bytes.Contains(b, []byte("xl/workbook.xml")):
		return fileType{"Microsoft Excel 2007+", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}
	case strings.HasPrefix(name, "META-INF/"):
		return fileType{"Java archive data (JAR)", "application/java-archive"}
	case name == "mimetype" && bytes.HasPrefix(b[30+len(name):], []byte("application/epub+zip")):
		return fileType{"EPUB document", "application/epub+zip"}
	}
	version := binary.LittleEndian.Uint16(b[4:])
	method := map[uint16]string{0: "store", 8: "deflate", 12: "bzip2", 14: "lzma", 93: "zstd"}[binary.LittleEndian.Uint16(b[8:])]
	return fileType{fmt.Sprintf("Zip archive data, at least v%d.%d to extract, compression method=%s", version/10, version%10, method), "application/zip"}
}

func pngType(b []byte) fileType {
	color := map[byte]string{0: "grayscale", 2: "/color RGB", 3: " colormap", 4: " gray+alpha", 6: "/color RGBA"}[b[25]]
	lace := "non-interlaced"
	if b[28] == 1 {
		lace = "interlaced"
	}
	sep := ""
	if b[25] == 0 {
		sep = " "
	}
	return fileType{fmt.Sprintf("PNG image data, %d x %d, %d-bit%s%s, %s", binary.BigEndian.Uint32(b[16:]), binary.BigEndian.Uint32(b[20:]), b[24], sep, color, lace), "image/png"}
}

// isJSON reports whether a text is one JSON object or array.
func isJSON(b []byte) bool {
	t := bytes.TrimSpace(b)
	return len(t) > 1 && (t[0] == '{' || t[0] == '[') && json.Valid(t)
}
