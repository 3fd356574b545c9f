package shell

import (
	"slices"
	"strconv"
	"strings"
)

// builtinPushd adds to the directory stack, or rotates it.
func builtinPushd(s *state, b *builtin, args []string) int {
	list := args[1:]
	if len(list) == 0 {
		if len(s.stack) == 0 {
			s.builtinError(b, "no other directory")
			return 1
		}
		to := s.stack[0]
		s.stack[0] = s.dir
		return s.stackCd(b, to)
	}
	stay, rotate, n := false, false, int64(0)
	skip := list[0] == "--"
	if skip {
		list = list[1:]
	}
options:
	for !skip && len(list) > 0 {
		switch a := list[0]; {
		case a == "-n":
			stay = true
		case a == "--":
			list = list[1:]
			break options
		case len(a) > 1 && (a[0] == '-' || a[0] == '+'):
			ok := false
			if n, ok = s.stackNumber(b, a); !ok {
				return 2
			}
			if a[0] == '-' {
				n = int64(len(s.stack)) - n
			}
			if n > int64(len(s.stack)) || n < 0 {
				return s.stackRange(b, a)
			}
			rotate = true
		default:
			break options
		}
		list = list[1:]
	}
	if rotate {
		return s.rotateStack(b, int(n), stay)
	}
	if len(list) == 0 {
		return 0
	}
	if stay {
		s.stack = append([]string{list[0]}, s.stack...)
		return s.listStack(b)
	}
	if skip {
		list = args[1:]
	}
	from := s.dir
	if builtinCd(s, b, append([]string{"cd"}, list...)) != 0 {
		return 1
	}
	s.stack = append([]string{from}, s.stack...)
	return s.listStack(b)
}

// rotateStack brings the n-th directory to the top and goes there, unless the
// shell stays where it is.
func (s *state) rotateStack(b *builtin, n int, stay bool) int {
	all := append([]string{s.dir}, s.stack...)
	turned := slices.Concat(all[n:], all[:n])
	if n != 0 {
		s.stack = turned[1:]
	}
	if stay {
		return 0
	}
	return s.stackCd(b, turned[0])
}

// stackNumber reads the number of +N or -N.
func (s *state) stackNumber(b *builtin, arg string) (int64, bool) {
	n, ok := legalNumber(arg[1:])
	if !ok {
		s.builtinError(b, "%s: invalid number", arg)
		s.usage(b)
	}
	return n, ok
}

// stackRange reports a number that is not in the stack.
func (s *state) stackRange(b *builtin, arg string) int {
	if len(s.stack) == 0 {
		s.builtinError(b, "directory stack empty")
	} else {
		s.builtinError(b, "%s: directory stack index out of range", arg)
	}
	return 1
}

// stackCd goes to a directory of the stack and lists the stack.
func (s *state) stackCd(b *builtin, dir string) int {
	if status := builtinCd(s, b, []string{"cd", dir}); status != 0 {
		return status
	}
	return s.listStack(b)
}

// listStack prints the stack on one line.
func (s *state) listStack(b *builtin) int {
	return s.print(b, strings.Join(s.shortStack(), " ")+"\n")
}

// shortStack is the stack with home directories abbreviated.
func (s *state) shortStack() []string {
	out := []string{s.tilde(s.dir)}
	for _, d := range s.stack {
		out = append(out, s.tilde(d))
	}
	return out
}

// builtinPopd removes from the directory stack.
func builtinPopd(s *state, b *builtin, args []string) int {
	stay, sign, n, spec := false, byte('+'), int64(0), ""
options:
	for _, a := range args[1:] {
		switch {
		case a == "-n":
			stay = true
		case a == "--" || a == "":
			break options
		case a[0] == '-' || a[0] == '+':
			ok := false
			if n, ok = s.stackNumber(b, a); !ok {
				return 2
			}
			sign, spec = a[0], a
		default:
			s.builtinError(b, "%s: invalid argument", a)
			s.usage(b)
			return 2
		}
	}
	size := int64(len(s.stack))
	if n > size || n < -size || size == 0 {
		return s.stackRange(b, spec)
	}
	if sign == '-' {
		n = size - n
	}
	if n < 0 || n > size {
		return s.stackRange(b, spec)
	}
	if n == 0 {
		if !stay {
			if status := builtinCd(s, b, []string{"cd", s.stack[0]}); status != 0 {
				return status
			}
		}
		n = 1
	}
	s.stack = slices.Delete(s.stack, int(n-1), int(n))
	return s.listStack(b)
}

// builtinDirs shows or clears the directory stack.
func builtinDirs(s *state, b *builtin, args []string) int {
	long, lines, numbered, clearing := false, false, false, false
	index, spec := int64(-1), ""
options:
	for _, a := range args[1:] {
		switch {
		case a == "-l":
			long = true
		case a == "-c":
			clearing = true
		case a == "-v":
			numbered = true
		case a == "-p":
			lines = true
		case a == "--":
			break options
		case a != "" && (a[0] == '+' || a[0] == '-'):
			n, ok := s.stackNumber(b, a)
			if !ok {
				return 2
			}
			if a[0] == '-' {
				n = int64(len(s.stack)) - n
			}
			index, spec = n, a[1:]
		default:
			s.builtinError(b, "%s: invalid option", a)
			s.usage(b)
			return 2
		}
	}
	if clearing {
		s.stack = nil
		return 0
	}
	if spec != "" && (index < 0 || index > int64(len(s.stack))) {
		return s.stackRange(b, spec)
	}
	list := s.shortStack()
	if long {
		list = append([]string{s.dir}, s.stack...)
	}
	var out strings.Builder
	for i, d := range list {
		if spec != "" && int64(i) != index {
			continue
		}
		if out.Len() > 0 {
			if lines || numbered {
				out.WriteByte('\n')
			} else {
				out.WriteByte(' ')
			}
		}
		if numbered {
			out.WriteString(padLeft(itoa(i), 2) + "  ")
		}
		out.WriteString(d)
	}
	return s.print(b, out.String()+"\n")
}

func padLeft(s string, n int) string { return strings.Repeat(" ", max(0, n-len(s))) + s }

// legalNumber reads a decimal number that may have white space around it.
func legalNumber(text string) (int64, bool) {
	text = strings.TrimLeft(text, " \t\n\v\f\r")
	n, err := strconv.ParseInt(strings.TrimRight(text, " \t"), 10, 64)
	return n, err == nil
}
