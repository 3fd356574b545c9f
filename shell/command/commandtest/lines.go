package commandtest

import "strings"

// Lines makes a case of each command line, all in the same world. A line is
// split into words as a shell would: at spaces, with '...', "..." and \, and
// nothing expanded.
func Lines(world Case, lines ...string) []Case {
	cases := make([]Case, len(lines))
	for i, line := range lines {
		cases[i] = world
		cases[i].Name = line
		cases[i].Args = words(line)
	}
	return cases
}

func words(line string) []string {
	var out []string
	var b strings.Builder
	in := false
	var quote byte
	for i := 0; i < len(line); i++ {
		ch := line[i]
		switch {
		case quote != 0 && ch == quote:
			quote = 0
		case ch == '\\' && quote != '\'' && i+1 < len(line):
			i++
			b.WriteByte(line[i])
			in = true
		case quote != 0:
			b.WriteByte(ch)
		case ch == '\'' || ch == '"':
			quote, in = ch, true
		case ch == ' ':
			if in {
				out = append(out, b.String())
				b.Reset()
			}
			in = false
		default:
			b.WriteByte(ch)
			in = true
		}
	}
	if in {
		out = append(out, b.String())
	}
	return out
}
