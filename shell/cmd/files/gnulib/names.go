package gnulib

import "strings"

// Base is the last name of a path without the slashes after it, as basename(1)
// prints it: "/" for a path of slashes alone, "" for "".
func Base(path string) string {
	p := StripSlashes(path)
	if i := strings.LastIndexByte(p, '/'); i >= 0 && len(p) > 1 {
		return p[i+1:]
	}
	return p
}

// Dir is what is before the last name, as dirname(1) prints it.
func Dir(path string) string {
	p := StripSlashes(path)
	i := strings.LastIndexByte(p, '/')
	if i < 0 {
		return "."
	}
	if p = StripSlashes(p[:i]); p == "" {
		return "/"
	}
	return p
}

// StripSlashes removes the slashes at the end, but leaves "/" of a path that
// has nothing else.
func StripSlashes(path string) string {
	p := strings.TrimRight(path, "/")
	if p == "" && path != "" {
		return "/"
	}
	return p
}

// Join puts a name after a directory with one slash between them.
func Join(dir, name string) string {
	if dir == "" {
		return name
	}
	if strings.HasSuffix(dir, "/") {
		return dir + strings.TrimLeft(name, "/")
	}
	return dir + "/" + name
}
