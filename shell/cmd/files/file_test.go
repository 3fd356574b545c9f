package files

import (
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

func TestFile(t *testing.T) {
	w := commandtest.Case{Files: map[string]string{
		"empty": "", "a.txt": "hello\n", "noeol": "hello", "crlf": "a\r\nb\r\n", "mix": "a\r\nb\n", "u8": "h\u00e9llo\n", "bom": "\uFEFFx\n", "latin": "h\xe9llo\n", "bin": "\x00\x01\x02\x03", "one": "x", "esc": "\x1b[1mx\n",
		"long": strings.Repeat("x", 400) + "\n", "sh": "#!/bin/sh\necho\n", "bash": "#!/bin/bash\necho\n", "py": "#!/usr/bin/env python3\nprint()\n", "pl": "#!/usr/bin/perl\n", "j.json": "{\"a\": 1}\n", "x.xml": "<?xml version=\"1.0\"?>\n<a/>\n", "h.html": "<!DOCTYPE html>\n<html></html>\n",
		"c.c": "#include <stdio.h>\nint main(void) { return 0; }\n", "gz": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00", "bz": "BZh91AY&SY", "xz": "\xfd7zXZ\x00\x00\x04", "zst": "\x28\xb5\x2f\xfd\x04\x00", "png": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10\x00\x00\x00\x20\x08\x06\x00\x00\x00\x00\x00\x00\x00", "gif": "GIF89a\x01\x00\x02\x00\x00\x00\x00", "pdf": "%PDF-1.4\n", "d/": "", "awk": "#!/usr/bin/awk -f\n{print}\n"},
		Entries: []commandtest.Entry{{Path: "ln", Link: "a.txt"}, {Path: "broken", Link: "nowhere"}}}
	names := []string{"empty", "a.txt", "noeol", "crlf", "mix", "u8", "bom", "latin", "bin", "one", "esc", "long", "sh", "bash", "py", "pl", "j.json", "x.xml", "h.html", "c.c", "gz", "bz", "xz", "zst", "png", "gif", "pdf", "d", "ln", "broken", "nope", "awk"}
	var cases []commandtest.Case
	for _, n := range names {
		for _, o := range []string{"", "-i", "-b", "--mime-type", "--mime-encoding", "-L"} {
			if n == "broken" && o == "--mime-encoding" {
				continue // the real one fails on its own output
			}
			c := w
			c.Args = []string{"file"}
			if o != "" {
				c.Args = append(c.Args, o)
			}
			c.Args = append(c.Args, n)
			cases = append(cases, c)
		}
	}
	for _, a := range [][]string{{"file", "a.txt", "noeol", "d"}, {"file", "-"}, {"file", "-F", " =>", "a.txt"}, {"file", "-N", "a.txt", "longer"}, {"file", "-0", "a.txt"}, {"file"}} {
		c := w
		c.Args, c.Stdin = a, "stdin text\n"
		cases = append(cases, c)
	}
	commandtest.Run(t, cases)
}
