package data

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// dotWords splits a dot command: quotes group, and double quotes take escapes.
func dotWords(line string) (words []string) {
	for i := 1; i < len(line); {
		if line[i] == ' ' || line[i] == '\t' {
			i++
			continue
		}
		if q := line[i]; q == '\'' || q == '"' {
			end := i + 1
			for end < len(line) && line[end] != q {
				if line[end] == '\\' && q == '"' && end+1 < len(line) {
					end++
				}
				end++
			}
			end = min(end, len(line))
			w := line[i+1 : end]
			if q == '"' {
				w = unescapeC(w)
			}
			words = append(words, w)
			i = end + 1
			continue
		}
		end := i
		for end < len(line) && line[end] != ' ' && line[end] != '\t' {
			end++
		}
		words = append(words, unescapeC(line[i:end]))
		i = end
	}
	return words
}

// unescapeC resolves C's escape sequences.
func unescapeC(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if j := strings.IndexByte(`abfnrtv0`, s[i]); j >= 0 && s[i] != '0' {
			b.WriteByte("\a\b\f\n\r\t\v"[j])
			continue
		}
		if s[i] >= '0' && s[i] <= '7' {
			n := 0
			end := i
			for end < len(s) && end < i+3 && s[end] >= '0' && s[end] <= '7' {
				n = n*8 + int(s[end]-'0')
				end++
			}
			b.WriteByte(byte(n))
			i = end - 1
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func isOn(s string) bool {
	switch strings.ToLower(s) {
	case "on", "yes", "true":
		return true
	}
	n, err := strconv.ParseInt(s, 0, 64)
	return err == nil && n != 0
}

// dotCommand is what a dot command does with its operands; usage when they are
// wrong.
type dotCommand struct {
	min, max int // operands
	run      func(s *sqliteShell, w []string) error
	usage    string
}

// noDatabase are the commands that do not open the database.
var noDatabase = map[string]bool{"bail": true, "changes": true, "echo": true, "exit": true, "headers": true, "help": true, "mode": true, "nullvalue": true, "once": true, "open": true, "output": true, "print": true, "prompt": true, "quit": true, "read": true, "separator": true, "show": true, "timer": true, "width": true}

var errDotUsage = errors.New("usage")

var dotCommands map[string]dotCommand

func init() {
	dotCommands = map[string]dotCommand{
		"backup":    {1, 3, (*sqliteShell).dotBackup, ".backup ?DB? ?OPTIONS? FILENAME"},
		"bail":      {1, 1, func(s *sqliteShell, w []string) error { s.bail = isOn(w[0]); return nil }, ".bail on|off"},
		"changes":   {1, 1, func(s *sqliteShell, w []string) error { s.changes = isOn(w[0]); return nil }, ".changes on|off"},
		"databases": {0, 1, (*sqliteShell).dotDatabases, ""},
		"dump":      {0, 99, (*sqliteShell).dotDump, ""},
		"echo":      {1, 1, func(s *sqliteShell, w []string) error { s.echo = isOn(w[0]); return nil }, ".echo on|off"},
		"exit":      {0, 1, (*sqliteShell).dotExit, ""},
		"headers":   {1, 1, (*sqliteShell).dotHeaders, ".headers on|off"},
		"help":      {0, 9, (*sqliteShell).dotHelp, ""},
		"import":    {0, 9, (*sqliteShell).dotImport, ""},
		"indexes":   {0, 1, (*sqliteShell).dotIndexes, ".indexes ?LIKE-PATTERN?"},
		"mode":      {0, 9, (*sqliteShell).dotMode, ""},
		"nullvalue": {1, 1, func(s *sqliteShell, w []string) error { s.mode.null = w[0]; return nil }, ".nullvalue STRING"},
		"once":      {0, 2, (*sqliteShell).dotOnce, ""},
		"open":      {0, 3, (*sqliteShell).dotOpen, ""},
		"output":    {0, 2, (*sqliteShell).dotOutput, ""},
		"parameter": {1, 3, (*sqliteShell).dotParameter, ".parameter CMD ..."},
		"print":     {0, 999, func(s *sqliteShell, w []string) error { fmt.Fprintln(s.out, strings.Join(w, " ")); return nil }, ""},
		"prompt":    {0, 2, func(*sqliteShell, []string) error { return nil }, ""},
		"quit":      {0, 0, func(s *sqliteShell, w []string) error { s.done = true; return nil }, ""},
		"read":      {1, 1, (*sqliteShell).dotRead, ".read FILE"},
		"restore":   {1, 2, (*sqliteShell).dotRestore, ".restore ?DB? FILE"},
		"save":      {1, 3, (*sqliteShell).dotBackup, ".save FILE"},
		"schema":    {0, 3, (*sqliteShell).dotSchema, ""},
		"separator": {1, 2, (*sqliteShell).dotSeparator, ".separator COL ?ROW?"},
		"show":      {0, 0, (*sqliteShell).dotShow, ""},
		"tables":    {0, 1, (*sqliteShell).dotTables, ".tables ?TABLE?"},
		"timeout":   {0, 1, (*sqliteShell).dotTimeout, ""},
		"timer":     {1, 1, func(*sqliteShell, []string) error { return nil }, ".timer on|off"},
		"version": {0, 0, func(s *sqliteShell, w []string) error {
			fmt.Fprintln(s.out, "SQLite "+sqliteVersion(s.ctx))
			return nil
		}, ""},
		"width": {0, 999, (*sqliteShell).dotWidth, ""},
	}
}

// dot runs a dot command; it reports whether that went well.
func (s *sqliteShell) dot(line string, n int) bool {
	words := dotWords(line)
	if len(words) == 0 {
		return true
	}
	name := ""
	if words[0] != "" {
		var all []string
		for k := range dotCommands {
			all = append(all, k)
		}
		sort.Strings(all)
		for _, k := range all {
			if strings.HasPrefix(k, words[0]) || k == "headers" && words[0] == "header" || k == "indexes" && words[0] == "indices" {
				name = k
				break
			}
		}
	}
	d, ok := dotCommands[name]
	if !ok {
		fmt.Fprintf(s.c.Stderr, "Error: unknown command or invalid arguments:  %q. Enter \".help\" for help\n", words[0])
		return false
	}
	w := words[1:]
	err := errDotUsage
	if !noDatabase[name] && !s.need() {
		return false
	}
	if len(w) >= d.min && len(w) <= d.max {
		err = d.run(s, w)
	}
	switch {
	case err == nil:
		return true
	case err == errSaid:
	case err == errDotUsage && d.usage != "":
		fmt.Fprintf(s.c.Stderr, "Usage: %s\n", d.usage)
	default:
		text, _ := s.message(err)
		fmt.Fprintf(s.c.Stderr, "Error: %s\n", text)
	}
	return false
}

func (s *sqliteShell) dotExit(w []string) error {
	s.done = true
	if len(w) == 1 {
		s.status, _ = strconv.Atoi(w[0])
	}
	return nil
}

func (s *sqliteShell) dotHelp([]string) error {
	var all []string
	for k := range dotCommands {
		all = append(all, "."+k)
	}
	sort.Strings(all)
	fmt.Fprintln(s.out, strings.Join(all, "\n"))
	return nil
}

func (s *sqliteShell) dotHeaders(w []string) error {
	s.mode.headers, s.mode.asked = isOn(w[0]), true
	return nil
}

func (s *sqliteShell) dotSeparator(w []string) error {
	s.mode.col = w[0]
	if len(w) > 1 {
		s.mode.row = w[1]
	}
	return nil
}

func (s *sqliteShell) dotWidth(w []string) error {
	s.mode.widths = nil
	for _, x := range w {
		n, _ := strconv.Atoi(x)
		s.mode.widths = append(s.mode.widths, max(-1000, min(n, 1000)))
	}
	return nil
}

func (s *sqliteShell) dotTimeout(w []string) error {
	ms := 0
	if len(w) > 0 {
		ms, _ = strconv.Atoi(w[0])
	}
	return s.db.BusyTimeout(time.Duration(ms) * time.Millisecond)
}

func (s *sqliteShell) dotRead(w []string) error {
	if s.depth >= sqliteDepth {
		return errors.New("Input nesting limit (25) reached")
	}
	if err := s.readFile(w[0]); err != nil {
		return err
	}
	return nil
}

// readFile runs the commands of a file.
func (s *sqliteShell) readFile(name string) error {
	f, err := s.c.FS.Open(name)
	if err != nil {
		return fmt.Errorf("cannot open %q", name)
	}
	defer f.Close()
	s.depth++
	defer func() { s.depth-- }()
	if s.input(f) > 0 {
		s.status = 1
	}
	return nil
}

func (s *sqliteShell) closeOutput() {
	if s.outFile != nil {
		s.outFile.Close()
		s.outFile = nil
	}
	s.out = s.c.Stdout
}

func (s *sqliteShell) endOnce() {
	if s.once {
		s.once = false
		s.closeOutput()
	}
}

func (s *sqliteShell) dotOutput(w []string) error {
	s.closeOutput()
	if len(w) == 0 || w[len(w)-1] == "stdout" {
		return nil
	}
	name := w[len(w)-1]
	switch {
	case name == "off":
		s.out = io.Discard
		return nil
	case strings.HasPrefix(name, "|") || strings.HasPrefix(name, "-"):
		return fmt.Errorf("unknown option: \"%s\"", name)
	}
	f, err := s.c.FS.Create(name, 0o666)
	if err != nil {
		return fmt.Errorf("cannot write to %q", name)
	}
	s.outFile, s.out = f, f
	return nil
}

func (s *sqliteShell) dotOnce(w []string) error {
	if err := s.dotOutput(w); err != nil {
		return err
	}
	s.once = true
	return nil
}

func (s *sqliteShell) dotOpen(w []string) error {
	name, readonly := ":memory:", false
	for _, a := range w {
		switch a {
		case "-readonly", "--readonly":
			readonly = true
		case "-new", "--new":
			defer func(p string) { s.c.FS.Unlink(p) }(w[len(w)-1])
		default:
			name = a
		}
	}
	old := s.db
	s.db, s.path, s.readonly = nil, name, readonly
	if err := s.open(); err != nil {
		return fmt.Errorf("unable to open database %q: %s", name, sqliteMessage(err))
	}
	if old != nil {
		return old.Close()
	}
	return nil
}

func (s *sqliteShell) dotBackup(w []string) error {
	db, file := "main", ""
	var operands []string
	for _, a := range w {
		if !strings.HasPrefix(a, "-") {
			operands = append(operands, a)
		}
	}
	switch len(operands) {
	case 1:
		file = operands[0]
	case 2:
		db, file = operands[0], operands[1]
	default:
		return errDotUsage
	}
	uri, _ := s.uri(file)
	return s.db.Backup(db, uri)
}

func (s *sqliteShell) dotRestore(w []string) error {
	db := "main"
	if len(w) == 2 {
		db = w[0]
	}
	if _, err := s.c.FS.Stat(w[len(w)-1]); err != nil {
		return fmt.Errorf("cannot open %q", w[len(w)-1])
	}
	uri, _ := s.uri(w[len(w)-1])
	return s.db.Restore(db, uri)
}

func (s *sqliteShell) dotParameter(w []string) error {
	switch {
	case w[0] == "set" && len(w) == 3:
		if s.params == nil {
			s.params = map[string]string{}
		}
		s.params[w[1]] = w[2]
	case w[0] == "unset" && len(w) == 2:
		delete(s.params, w[1])
	case w[0] == "clear":
		s.params = nil
	case w[0] == "list":
		var names []string
		for k := range s.params {
			names = append(names, k)
		}
		sort.Strings(names)
		for _, k := range names {
			fmt.Fprintf(s.out, "%s %s\n", k, s.params[k])
		}
	case w[0] == "init":
	default:
		return errDotUsage
	}
	return nil
}

// bind gives a statement's parameters the values that .parameter set: SQL
// values, or else text.
func (s *sqliteShell) bind(stmt *sqlite3.Stmt) {
	for i := 1; i <= stmt.BindCount(); i++ {
		v, ok := s.params[stmt.BindName(i)]
		if !ok {
			stmt.BindNull(i)
			continue
		}
		q, _, err := s.db.Prepare("SELECT " + v)
		if err == nil && q != nil && q.Step() {
			stmt.BindValue(i, q.ColumnValue(0))
		} else {
			stmt.BindText(i, v)
		}
		if q != nil {
			q.Close()
		}
	}
}

// query returns the rows of a query of the shell's own.
func (s *sqliteShell) query(sql string, args ...string) (rows [][]cell, err error) {
	stmt, _, err := s.db.Prepare(sql)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	for i, a := range args {
		stmt.BindText(i+1, a)
	}
	for stmt.Step() {
		rows = append(rows, cellsOf(stmt, nil))
	}
	return rows, stmt.Err()
}
