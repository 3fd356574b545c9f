package files

import (
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// need says which names of a path must exist for it to have a canonical form.
type need uint8

const (
	needAllButLast need = iota // readlink -f
	needAll                    // -e
	needNone                   // -m
)

// canonical finds the absolute path without symlinks, "." and ".." of a path.
type canonical struct {
	c    *command.Context
	need need
	// logical resolves ".." before symlinks (realpath -L); literal resolves no
	// symlinks at all (-s).
	logical, literal bool
}

// path resolves path; the errors are those of readlink -f and realpath.
func (r canonical) path(path string) (string, error) {
	if path == "" {
		return "", syscall.ENOENT
	}
	base := ""
	if path[0] != '/' {
		if r.logical || r.literal {
			base = r.c.Dir
		} else {
			var err error
			if base, err = r.c.FS.Path(r.c.FS.Dir); err != nil {
				return "", err
			}
		}
	}
	if r.logical {
		path, base = lexical(base+"/"+path), ""
	}
	return r.resolve(strings.TrimRight(base, "/"), path)
}

// lexical takes "." and ".." out of an absolute path without a look at files.
func lexical(path string) string {
	var out []string
	for _, name := range strings.Split(path, "/") {
		switch name {
		case "", ".":
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, name)
		}
	}
	return "/" + strings.Join(out, "/")
}

// resolve walks rest from the absolute path done, "" being the root.
func (r canonical) resolve(done, rest string) (string, error) {
	links := 0
	for rest != "" {
		name, after, slash := strings.Cut(rest, "/")
		switch name {
		case "", ".":
			if slash && strings.Trim(after, "/") == "" && done != "" && r.need != needNone {
				if err := r.mustBeDir(done); err != nil {
					return "", err
				}
			}
			rest = after
			continue
		case "..":
			done = done[:max(strings.LastIndexByte(done, '/'), 0)]
			rest = after
			continue
		}
		next := done + "/" + name
		last := strings.Trim(after, "/") == ""
		a, err := r.c.FS.Lstat(next)
		if err != nil {
			if err := r.absent(err, last); err != nil {
				return "", err
			}
			done, rest = next, after
			continue
		}
		if a.IsSymlink() && !r.literal {
			if links++; links > vfs.MaxSymlinks {
				if r.need == needNone {
					done, rest = next, after
					continue
				}
				return "", syscall.ELOOP
			}
			target, err := r.c.FS.Readlink(next)
			if err != nil {
				return "", err
			}
			if strings.HasPrefix(target, "/") {
				done = ""
			}
			rest = target
			if slash {
				rest += "/" + after
			}
			continue
		}
		if slash && !a.IsDir() && !a.IsSymlink() && r.need != needNone {
			return "", syscall.ENOTDIR
		}
		done, rest = next, after
	}
	if done == "" {
		return "/", nil
	}
	return done, nil
}

// mustBeDir answers for the slash at the end of a path.
func (r canonical) mustBeDir(path string) error {
	a, err := r.c.FS.Stat(path)
	switch {
	case err != nil && r.need == needAllButLast && vfs.ToErrno(err) == syscall.ENOENT:
		return nil
	case err != nil:
		return err
	case !a.IsDir():
		return syscall.ENOTDIR
	}
	return nil
}

// absent decides whether a name may fail to exist.
func (r canonical) absent(err error, last bool) error {
	errno := vfs.ToErrno(err)
	switch r.need {
	case needNone:
		if errno == syscall.ENOENT || errno == syscall.ENOTDIR {
			return nil
		}
	case needAllButLast:
		if errno == syscall.ENOENT && last {
			return nil
		}
	}
	return err
}
