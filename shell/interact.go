package shell

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/shell/parse"
)

// Signal sends a signal to the execution that runs now, to the script and what
// it started, as a terminal does; ESRCH when none runs.
func (ses *Session) Signal(sig command.Signal) error {
	x := ses.running.Load()
	if x == nil {
		return syscall.ESRCH
	}
	return x.signal(-ses.pid, sig)
}

// promptTime bounds what an expansion of a prompt, or a completion, may run.
const promptTime = 2 * time.Second

// quietly runs f on the session's state, without input, output or effect on $?.
func (ses *Session) quietly(ctx context.Context, f func(*state)) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.closed {
		return
	}
	limits := ses.sh.cfg.Limits
	limits.Time = promptTime
	x := newExecution(ctx, ses.sh, limits)
	stopWatch := x.watch()
	defer stopWatch()
	e := &Execution{Grace: -1}
	params := []string(nil)
	if ses.main != nil {
		params = ses.main.params
	}
	s := ses.begin(x, e)
	s.params = params
	status := s.status
	s.stopped = false
	s.ctl, s.loops, s.depth, s.noErrexit, s.evals, s.sources = ctlNone, 0, 0, 0, 0, 0
	s.protect(f)
	s.status = status
	ses.finish(x, s, e)
}

// Prompt expands a prompt variable (PS1, PS2) as Bash does before it reads a
// line; fallback stands for one that is not set.
func (ses *Session) Prompt(ctx context.Context, variable, fallback string) string {
	out := ""
	ses.quietly(ctx, func(s *state) {
		text := fallback
		if v := s.vars[variable]; v != nil && v.set {
			text = s.get(variable)
		}
		out = s.prompt(text)
	})
	return out
}

// maxCompletions bounds what Complete returns.
const maxCompletions = 10000

// Complete lists what the word at the end of line can become, sorted, each
// ready to be put in its place (with a backslash before what is special), and
// where in line the word begins. Directories end in a slash. The first word of a
// command is completed with functions, builtins, commands and aliases, one after
// a $ with variables, others by what "complete" says of their command, and else
// with files.
func (ses *Session) Complete(ctx context.Context, line string) (from int, words []string) {
	w := lastWord(line)
	ses.quietly(ctx, func(s *state) { words = s.completionsOf(w) })
	slices.Sort(words)
	words = slices.Compact(words)
	return w.from, words[:min(len(words), maxCompletions)]
}

// typedWord is a word that is being typed.
type typedWord struct {
	from    int    // where it begins in the line
	text    string // without quotes
	quote   byte   // that is open, or 0
	command string // the command it is an argument of; "" when it is the command
	before  string // the word before it
}

// lastWord finds the word at the end of a line.
func lastWord(line string) typedWord {
	var w typedWord
	var words []string
	start, in := 0, false
	var b strings.Builder
	end := func(to int) {
		if in {
			words = append(words, b.String())
		}
		b.Reset()
		in, start = false, to
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case w.quote != 0:
			if c == w.quote {
				w.quote = 0
			} else {
				b.WriteByte(c)
			}
		case c == '\\' && i+1 < len(line):
			i++
			b.WriteByte(line[i])
			in = true
		case c == '\'' || c == '"':
			w.quote, in = c, true
		case c == ' ' || c == '\t':
			end(i + 1)
		case strings.IndexByte(";|&()<>\n`{", c) >= 0:
			end(i + 1)
			if c != '<' && c != '>' {
				words = nil
			} else if len(words) == 0 {
				words = append(words, "")
			}
		default:
			b.WriteByte(c)
			in = true
		}
	}
	w.from, w.text = start, b.String()
	for len(words) > 0 && isCommandPrefix(words[0]) {
		words = words[1:]
	}
	if len(words) > 0 {
		w.command, w.before = words[0], words[len(words)-1]
		if w.command == "" {
			w.command = "<" // a file to redirect
		}
	}
	return w
}

// isCommandPrefix reports whether a word may stand before a command's name.
func isCommandPrefix(word string) bool {
	switch word {
	case "if", "then", "elif", "else", "while", "until", "do", "time", "!", "sudo", "command", "exec", "env":
		return true
	}
	name, _, ok := strings.Cut(word, "=")
	return ok && validName(name)
}

// completionsOf lists the completions of a word.
func (s *state) completionsOf(w typedWord) []string {
	if i := strings.LastIndexByte(w.text, '$'); i >= 0 && !strings.ContainsAny(w.text[i:], "/.") && w.quote != '\'' {
		return s.completeVariable(w.text[:i], w.text[i+1:])
	}
	if w.command == "" && strings.IndexByte(w.text, '/') < 0 {
		return matching(s.candidates("command", w.text), w.text, "")
	}
	if list, ok := s.completeBySpec(w); ok {
		return quoteAll(list, w.quote)
	}
	return s.completeFile(w)
}

// completeVariable completes what follows a $.
func (s *state) completeVariable(before, name string) []string {
	open, end := "$", ""
	if strings.HasPrefix(name, "{") {
		open, end, name = "${", "}", name[1:]
	}
	out := matching(s.candidates("variable", name), name, end)
	for i := range out {
		out[i] = before + open + out[i]
	}
	return out
}

// matching returns the words that begin as typed, with an end.
func matching(list []string, typed, end string) []string {
	var out []string
	for _, word := range list {
		if strings.HasPrefix(word, typed) {
			out = append(out, word+end)
		}
	}
	return out
}

// completeBySpec completes as the builtin complete was told to, by calling the
// function or listing the words of the command's specification.
func (s *state) completeBySpec(w typedWord) ([]string, bool) {
	spec := s.completions[w.command]
	if spec == "" {
		return nil, false
	}
	var out strings.Builder
	s.setFD(1, newOpenFile(&sink{mu: new(sync.Mutex), w: &out, x: s.x}, "stdout", false, true))
	s.runText("compgen "+spec+"-- '"+strings.ReplaceAll(w.text, "'", `'\''`)+"'", 1, "-c")
	list := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(list) == 1 && list[0] == "" {
		return nil, false
	}
	return list, true
}

// completeFile completes a path.
func (s *state) completeFile(w typedWord) []string {
	typed, prefix := w.text, ""
	if i := strings.IndexByte(typed, '='); i >= 0 && strings.HasPrefix(typed, "-") {
		prefix, typed = typed[:i+1], typed[i+1:]
	}
	home := ""
	if strings.HasPrefix(typed, "~/") {
		home = s.get("HOME")
		typed = strings.TrimSuffix(home, "/") + typed[1:]
	}
	onlyDirs := w.command == "cd" || w.command == "pushd" || w.command == "rmdir"
	var out []string
	for _, name := range s.fileCandidates(typed, onlyDirs) {
		a, err := s.walker().Stat(name)
		slash := err == nil && a.IsDir()
		if w.command == "" && err == nil && !slash && a.Mode&0o111 == 0 {
			continue
		}
		if home != "" {
			name = "~" + strings.TrimPrefix(name, strings.TrimSuffix(home, "/"))
			name = "~/" + quoteWord(name[2:], w.quote)
		} else {
			name = quoteWord(name, w.quote)
		}
		if slash {
			name += "/"
		}
		out = append(out, prefix+name)
	}
	return out
}

func quoteAll(list []string, quote byte) []string {
	out := make([]string, len(list))
	for i, word := range list {
		out[i] = quoteWord(word, quote)
	}
	return out
}

// quoteWord writes a word as it must be typed, after an open quote if there is
// one.
func quoteWord(word string, quote byte) string {
	special := " \t\n\\'\"`$&|;<>()*?[]#~!{}"
	switch quote {
	case '\'':
		return "'" + strings.ReplaceAll(word, "'", `'\''`)
	case '"':
		special = "\\\"`$"
	}
	var b strings.Builder
	if quote != 0 {
		b.WriteByte(quote)
	}
	for i := 0; i < len(word); i++ {
		if strings.IndexByte(special, word[i]) >= 0 && (word[i] != '~' || i == 0) && (word[i] != '#' || i == 0) {
			b.WriteByte('\\')
		}
		b.WriteByte(word[i])
	}
	return b.String()
}

// Incomplete reports whether src ends in the middle of a command, so that an
// interactive shell asks for another line: in a quotation, a loop, after a
// backslash, before the end of a here-document.
func Incomplete(src string) bool {
	if strings.HasSuffix(src, "\\") && !strings.HasSuffix(src, `\\`) {
		return true
	}
	open := false
	p := parse.New(src, 1, parse.Options{Warn: func(int, string) { open = true }})
	for {
		_, err := p.Next()
		if errors.Is(err, io.EOF) {
			return open
		}
		var e *parse.Error
		if errors.As(err, &e) {
			return strings.Contains(e.Msg, "unexpected end of file") || strings.HasPrefix(e.Msg, "unexpected EOF")
		}
		if err != nil {
			return false
		}
	}
}
