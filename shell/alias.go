package shell

import (
	"sort"
	"strings"
)

// builtinAlias defines and shows aliases.
func builtinAlias(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "p")
	all := false
	for opts.next() {
		all = true
	}
	if opts.failed {
		return 2
	}
	rest := opts.rest()
	var out strings.Builder
	show := func(n string) {
		if strings.HasPrefix(n, "-") {
			out.WriteString("alias -- " + n + "=" + singleQuote(s.aliases[n]) + "\n")
			return
		}
		out.WriteString("alias " + n + "=" + singleQuote(s.aliases[n]) + "\n")
	}
	if all || len(rest) == 0 {
		names := make([]string, 0, len(s.aliases))
		for n := range s.aliases {
			names = append(names, n)
		}
		sort.Strings(names)
		for _, n := range names {
			show(n)
		}
	}
	status := 0
	for _, a := range rest {
		i := strings.IndexByte(a[min(1, len(a)):], '=') + 1
		if i > 0 {
			name := a[:i]
			if strings.ContainsAny(name, "/$`=&;|<>()\\'\" \t\n") {
				s.builtinError(b, "`%s': invalid alias name", name)
				status = 1
				continue
			}
			s.ownAliases()[name] = a[i+1:]
			continue
		}
		if _, ok := s.aliases[a]; !ok {
			s.builtinError(b, "%s: not found", a)
			status = 1
			continue
		}
		show(a)
	}
	if n := s.print(b, out.String()); n != 0 {
		return n
	}
	return status
}

// builtinUnalias removes aliases.
func builtinUnalias(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "a")
	all := false
	for opts.next() {
		all = true
	}
	if opts.failed {
		return 2
	}
	if all {
		s.aliases, s.aliOwn = nil, nil
		return 0
	}
	rest := opts.rest()
	if len(rest) == 0 {
		s.usage(b)
		return 2
	}
	status := 0
	for _, n := range rest {
		if _, ok := s.aliases[n]; !ok {
			s.builtinError(b, "%s: not found", n)
			status = 1
			continue
		}
		delete(s.ownAliases(), n)
	}
	return status
}
