package shell

import (
	"strings"

	"github.com/vfsd/vfsd/shell/parse"
)

// prompt expands the escapes of a prompt, then its text.
func (s *state) prompt(text string) string {
	return s.expandQuoted(parse.Prompt(s.promptEscapes(text)))
}

// promptEscapes replaces \u, \h and the like.
func (s *state) promptEscapes(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; {
		case c >= '0' && c <= '7':
			e := escapes{ansi: true}
			out, n := e.octal(nil, text[i:])
			b.Write(out)
			i += n - 1
		case c == 'D':
			format := ""
			if rest := text[i+1:]; strings.HasPrefix(rest, "{") {
				if end := strings.IndexByte(rest, '}'); end > 0 {
					format = rest[1:end]
					i += end + 1
				}
			}
			b.WriteString(strftime(format, s.now().In(s.location())))
		default:
			b.WriteString(s.promptEscape(c))
		}
	}
	return b.String()
}

// promptTimes are the escapes that show the time, as Go formats it.
var promptTimes = map[byte]string{
	't': "15:04:05", 'T': "03:04:05", '@': "03:04 PM", 'A': "15:04", 'd': "Mon Jan 02",
}

// promptEscape is what one escape stands for.
func (s *state) promptEscape(c byte) string {
	if format, ok := promptTimes[c]; ok {
		return s.now().In(s.location()).Format(format)
	}
	switch c {
	case 'a':
		return "\a"
	case 'e':
		return "\x1b"
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case '[', ']':
		return ""
	case '\\':
		return `\\`
	case 'h':
		host, _, _ := strings.Cut(s.sh.cfg.Host.Name, ".")
		return host
	case 'H':
		return s.sh.cfg.Host.Name
	case 'u':
		u, _ := s.sh.users.find(s.walker(), userByID(s.sh.cfg.Cred.UID))
		return u.Name
	case 's':
		return s.arg0[strings.LastIndexByte(s.arg0, '/')+1:]
	case 'v':
		return "5.2"
	case 'V':
		return "5.2.15"
	case 'w':
		return s.tilde(s.dir)
	case 'W':
		d := s.tilde(s.dir)
		if d == "/" {
			return d
		}
		return d[strings.LastIndexByte(d, '/')+1:]
	case '$':
		if s.sh.cfg.Cred.UID == 0 {
			return "#"
		}
		return `\$`
	case 'j':
		return itoa(s.jobs.len())
	case 'l':
		return "tty"
	case '!', '#':
		return "1"
	}
	return `\` + string(rune(c))
}
