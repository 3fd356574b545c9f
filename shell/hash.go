package shell

import (
	"fmt"
	"sort"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
)

// hashRequest is what hash was asked for.
type hashRequest struct {
	forget, list, reset, tell bool
	path                      string
	many                      bool // several names
}

// builtinHash shows and changes the table of remembered commands.
func builtinHash(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "dlrtp:")
	var r hashRequest
	for opts.next() {
		switch opts.opt {
		case 'd':
			r.forget = true
		case 'l':
			r.list = true
		case 'r':
			r.reset = true
		case 't':
			r.tell = true
		case 'p':
			r.path = opts.arg
		}
	}
	if opts.failed {
		return 2
	}
	if !s.opts.on(optHashall) {
		s.builtinError(b, "hashing disabled")
		return 1
	}
	if r.reset {
		s.hash, s.hashOwn = nil, nil
	}
	rest := opts.rest()
	if len(rest) == 0 {
		switch {
		case r.reset:
			return 0
		case r.forget, r.tell:
			s.builtinError(b, "-%c: option requires an argument", map[bool]byte{true: 'd', false: 't'}[r.forget])
			return 1
		case r.list && len(s.hash) == 0:
			return 0
		}
		return s.listHash(b, r.list)
	}
	r.many = len(rest) > 1
	status := 0
	var out strings.Builder
	for _, name := range rest {
		if !s.hashName(b, name, &r, &out) {
			status = 1
		}
	}
	if n := s.print(b, out.String()); n != 0 {
		return n
	}
	return status
}

// hashName does what was asked for with one name.
func (s *state) hashName(b *builtin, name string, r *hashRequest, out *strings.Builder) bool {
	switch {
	case r.path != "":
		if a, err := s.walker().Stat(r.path); err == nil && a.IsDir() {
			s.builtinError(b, "%s: %s", r.path, command.Strerror(syscall.EISDIR))
			return false
		}
		s.ownHash()[name] = &hashEntry{path: r.path}
		return true
	case r.forget, r.tell:
		e := s.hash[name]
		switch {
		case e == nil:
			s.builtinError(b, "%s: not found", name)
			return false
		case r.forget:
			delete(s.ownHash(), name)
		case r.list:
			out.WriteString("builtin hash -p " + e.path + " " + name + "\n")
		case r.many:
			out.WriteString(name + "\t" + e.path + "\n")
		default:
			out.WriteString(e.path + "\n")
		}
		return true
	case strings.IndexByte(name, '/') >= 0 || s.funcs[name] != nil || s.builtin(name) != nil:
		return true
	}
	delete(s.ownHash(), name)
	file, ok := s.findFile(name, s.get("PATH"))
	if !ok {
		s.builtinError(b, "%s: not found", name)
		return false
	}
	s.ownHash()[name] = &hashEntry{path: file}
	return true
}

func (s *state) listHash(b *builtin, reusable bool) int {
	if len(s.hash) == 0 {
		return s.print(b, "hash: hash table empty\n")
	}
	names := make([]string, 0, len(s.hash))
	for n := range s.hash {
		names = append(names, n)
	}
	// The order of Bash's table, which has 256 buckets.
	sort.Slice(names, func(i, j int) bool {
		a, c := bashHash(names[i])&255, bashHash(names[j])&255
		if a != c {
			return a < c
		}
		return names[i] < names[j]
	})
	var out strings.Builder
	if !reusable {
		out.WriteString("hits\tcommand\n")
	}
	for _, n := range names {
		e := s.hash[n]
		if reusable {
			out.WriteString("builtin hash -p " + e.path + " " + n + "\n")
		} else {
			fmt.Fprintf(&out, "%4d\t%s\n", e.hits, e.path)
		}
	}
	return s.print(b, out.String())
}
