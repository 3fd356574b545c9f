package data

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

func init() {
	command.Register(command.Info{
		Name:     "sqlite3",
		Synopsis: "sqlite3 [OPTIONS] [FILENAME [SQL]...]",
		Summary:  "FILENAME is the name of an SQLite database. A new database is created\nif the file does not previously exist. Defaults to :memory:.",
		RawArgs:  true,
		Notes: "  -ascii, -box, -column, -csv, -html, -json, -line, -list, -markdown, -quote, -table, -tabs\n                       set the output mode\n  -bail                stop after hitting an error\n  -batch               force batch I/O\n  -cmd COMMAND         run \"COMMAND\" before reading stdin\n" +
			"  -echo                print inputs before execution\n  -[no]header          turn headers on or off\n  -init FILENAME       read/process named file\n  -newline SEP         set output row separator\n  -nullvalue TEXT      set text string for NULL values\n  -readonly            open the database read-only\n  -separator SEP       set output column separator\n  -version             show SQLite version",
	}, sqlite)
}

// sqliteShell is one run of sqlite3.
type sqliteShell struct {
	ctx context.Context
	c   *command.Context
	fs  *sqliteFS
	db  *sqlite3.Conn

	path     string
	readonly bool
	mode     sqliteMode
	out      io.Writer
	outFile  vfs.File
	once     bool
	saved    *sqliteMode // the mode before .once or .excel changed it
	bail     bool
	echo     bool
	changes  bool
	depth    int  // of .read
	done     bool // after .quit
	stepping bool // a statement runs
	status   int
	params   map[string]string
}

// sqliteDepth is how deep files may .read others.
const sqliteDepth = 25

func sqlite(ctx context.Context, c *command.Context, args []string) (status int) {
	s := &sqliteShell{ctx: ctx, c: c, out: c.Stdout, path: ":memory:"}
	s.mode = sqliteMode{mode: "list", col: "|", row: "\n"}
	s.fs = newSqliteFS(c)
	defer s.fs.close()
	defer func() {
		if r := recover(); r != nil {
			if err, ok := r.(error); !ok || !strings.Contains(err.Error(), "memory") {
				panic(r)
			}
			fmt.Fprintln(c.Stderr, "Error: out of memory")
			status = 1
		}
	}()
	sql, commands, initFile, status, ok := s.parse(args[1:])
	if !ok {
		return status
	}
	defer func() {
		s.closeOutput()
		if s.db != nil {
			s.db.Close()
		}
	}()
	return s.run(sql, commands, initFile)
}

// run runs the commands of the command line, or of standard input.
func (s *sqliteShell) run(sql, commands []string, initFile string) int {
	if initFile != "" {
		if err := s.readFile(initFile); err != nil {
			fmt.Fprintf(s.c.Stderr, "Error: cannot open %q\n", initFile)
			return 1
		}
	}
	for _, line := range append(commands, sql...) {
		if s.done {
			return s.status
		}
		if strings.HasPrefix(line, ".") {
			if !s.dot(line, 0) && !s.done {
				return max(s.status, 1)
			}
			continue
		}
		if err := s.execute(line); err != nil {
			message, code := s.message(err)
			fmt.Fprintf(s.c.Stderr, "Error: %s\n", message)
			return code
		}
	}
	if len(sql) == 0 && !s.done {
		if errs := s.input(s.c.Stdin); errs > 0 && s.status == 0 {
			s.status = 1
		}
	}
	return s.status
}

// parse takes the options off the command line.
func (s *sqliteShell) parse(args []string) (sql, commands []string, initFile string, status int, ok bool) {
	named := false
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		if !strings.HasPrefix(a, "-") || a == "-" {
			if !named {
				s.path, named = a, true
			} else {
				sql = append(sql, a)
			}
			continue
		}
		name := strings.TrimPrefix(a[1:], "-")
		value := ""
		switch name {
		case "separator", "nullvalue", "newline", "cmd", "init", "mmap", "maxsize", "vfs", "lookaside", "pagecache", "heap":
			if len(args) == 0 {
				fmt.Fprintf(s.c.Stderr, "sqlite3: Error: missing argument to %s\n", a)
				return nil, nil, "", 1, false
			}
			value, args = args[0], args[1:]
		}
		switch name {
		case "separator":
			s.mode.col = unescapeC(value)
		case "newline":
			s.mode.row = unescapeC(value)
		case "nullvalue":
			s.mode.null = value
		case "cmd":
			commands = append(commands, value)
		case "init":
			initFile = value
		case "header", "headers":
			s.mode.headers, s.mode.asked = true, true
		case "noheader", "noheaders":
			s.mode.headers, s.mode.asked = false, true
		case "bail":
			s.bail = true
		case "echo":
			s.echo = true
		case "readonly":
			s.readonly = true
		case "list", "line", "html", "quote", "json", "column", "table", "box", "markdown", "csv", "tabs", "ascii":
			row, headers := s.mode.row, s.mode.headers
			s.setMode(name)
			if s.mode.wrap, s.mode.headers = 0, headers; name != "ascii" {
				s.mode.row = row
			}
		case "version":
			fmt.Fprintln(s.c.Stdout, sqliteVersion(s.ctx))
			return nil, nil, "", 0, false
		case "help":
			fmt.Fprint(s.c.Stdout, "Usage: sqlite3 [OPTIONS] [FILENAME [SQL]...]\n")
			return nil, nil, "", 0, false
		case "batch", "interactive", "nofollow", "stats", "memtrace", "safe", "unsafe-testing", "mmap", "maxsize", "vfs", "lookaside", "pagecache", "heap":
		default:
			fmt.Fprintf(s.c.Stderr, "sqlite3: Error: unknown option: %s\nUse -help for a list of options.\n", a)
			return nil, nil, "", 1, false
		}
	}
	return sql, commands, initFile, 0, true
}

func sqliteVersion(ctx context.Context) string {
	db, err := sqlite3.OpenContext(ctx, ":memory:")
	if err != nil {
		return ""
	}
	defer db.Close()
	stmt, _, err := db.Prepare("SELECT sqlite_version() || ' ' || sqlite_source_id()")
	if err != nil {
		return ""
	}
	defer stmt.Close()
	stmt.Step()
	return stmt.ColumnText(0)
}

// uri names a database of the workspace to the library.
func (s *sqliteShell) uri(path string) (string, sqlite3.OpenFlag) {
	flags := sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE | sqlite3.OPEN_URI
	if s.readonly {
		flags = sqlite3.OPEN_READONLY | sqlite3.OPEN_URI
	}
	if rest, ok := strings.CutPrefix(path, "file:"); ok {
		rest, query, _ := strings.Cut(rest, "?")
		if p, err := url.PathUnescape(rest); err == nil {
			path = p
		}
		if v, _ := url.ParseQuery(query); v.Get("mode") == "ro" {
			flags = sqlite3.OPEN_READONLY | sqlite3.OPEN_URI
		} else if v.Get("mode") == "rw" {
			flags &^= sqlite3.OPEN_CREATE
		}
	}
	if path != ":memory:" && path != "" {
		path = s.c.Abs(path)
	}
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
	return "file:" + escaped + "?vfs=" + s.fs.name, flags
}

// need opens the database when that was not yet done; it ends the shell when
// that fails.
func (s *sqliteShell) need() bool {
	err := s.open()
	if err != nil {
		fmt.Fprintf(s.c.Stderr, "Error: unable to open database %q: %s\n", s.path, sqliteMessage(err))
		s.done, s.status = true, 1
	}
	return err == nil
}

// open opens the database.
func (s *sqliteShell) open() error {
	if s.db != nil {
		return nil
	}
	name, flags := s.uri(s.path)
	db, err := sqlite3.OpenFlags(name, flags)
	if err != nil {
		return err
	}
	db.SetInterrupt(s.ctx)
	db.HardHeapLimit(min(s.c.Memory.Left(), 128<<20))
	// A URI could name the VFS of the process's own file system, and so could
	// an expression, which comes as "". Only VACUUM attaches "" in a step.
	db.SetAuthorizer(func(action sqlite3.AuthorizerActionCode, file, _, _, _ string) sqlite3.AuthorizerReturnCode {
		if action == sqlite3.AUTH_ATTACH && (file == "" && !s.stepping || len(file) >= 5 && strings.EqualFold(file[:5], "file:")) {
			return sqlite3.AUTH_DENY
		}
		return sqlite3.AUTH_OK
	})
	if s.walMode() {
		db.Exec("PRAGMA locking_mode=EXCLUSIVE") // no memory is shared
	}
	s.db = db
	return nil
}

// walMode reports whether the database's header asks for write-ahead logging.
func (s *sqliteShell) walMode() bool {
	if a, err := s.c.FS.Stat(s.path); err != nil || !a.IsRegular() {
		return false
	}
	f, err := s.c.FS.Open(s.path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [20]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && head[18] == 2
}

// sqliteError is an error of a statement, with the phase in which it came up.
type sqliteError struct {
	err   error
	phase string
	sql   string
}

// Unwrap returns the library's error.
func (e *sqliteError) Unwrap() error { return e.err }

func (e *sqliteError) Error() string { return e.phase + ", " + sqliteMessage(e.err) }

func sqliteMessage(err error) string {
	e, ok := errors.AsType[*sqlite3.Error](err)
	message := err.Error()
	if ok && e.Unwrap() != nil {
		message = strings.TrimSuffix(message, ": "+e.Unwrap().Error())
	}
	message = strings.TrimPrefix(message, "sqlite3: ")
	for _, generic := range []string{"SQL logic error: ", "constraint failed: ", "authorization denied: ", "datatype mismatch: "} {
		if rest, cut := strings.CutPrefix(message, generic); cut && ok {
			return rest
		}
	}
	return message
}

// message is an error as the shell reports it, and the status it means.
func (s *sqliteShell) message(err error) (string, int) {
	code := 1
	var c sqlite3.ErrorCode
	if errors.As(err, &c) {
		code = int(c)
	}
	e, ok := errors.AsType[*sqliteError](err)
	if !ok {
		return err.Error(), code
	}
	text := e.Error()
	if code > 1 {
		text += fmt.Sprintf(" (%d)", code)
	}
	if se, ok := errors.AsType[*sqlite3.Error](e.err); ok && se.SQL() != "" {
		text += errorPlace(e.sql, len(e.sql)-len(se.SQL()))
	}
	return text, code
}

// errorPlace shows where in a statement an error is.
func errorPlace(sql string, at int) string {
	if at < 0 || at >= len(sql) {
		return ""
	}
	for at > 50 {
		at--
		sql = sql[1:]
		for sql != "" && sql[0]&0xC0 == 0x80 {
			sql = sql[1:]
			at--
		}
	}
	if len(sql) > 78 {
		n := 78
		for sql[n]&0xC0 == 0x80 {
			n--
		}
		sql = sql[:n]
	}
	sql = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n\v\f\r", r) {
			return ' '
		}
		return r
	}, sql)
	if at < 25 {
		return "\n  " + sql + "\n  " + strings.Repeat(" ", at) + "^--- error here"
	}
	return "\n  " + sql + "\n  " + strings.Repeat(" ", at-14) + "error here ---^"
}

// execute runs SQL, statement by statement.
func (s *sqliteShell) execute(sql string) error {
	if !s.need() {
		return nil
	}
	for {
		sql = strings.TrimLeft(sql, " \t\n\v\f\r")
		if sql == "" {
			return nil
		}
		stmt, tail, err := s.db.Prepare(sql)
		if err != nil {
			return &sqliteError{err, "in prepare", sql}
		}
		if stmt == nil {
			sql = tail
			continue
		}
		if s.echo {
			fmt.Fprintln(s.out, strings.TrimSpace(sql[:len(sql)-len(tail)]))
		}
		s.bind(stmt)
		err = s.step(stmt)
		if e := stmt.Close(); err == nil {
			err = e
		}
		if err != nil {
			return &sqliteError{err, "stepping", sql}
		}
		if s.changes {
			fmt.Fprintf(s.out, "changes: %d   total_changes: %d\n", s.db.Changes(), s.db.TotalChanges())
		}
		sql = tail
	}
}

func (s *sqliteShell) step(stmt *sqlite3.Stmt) error {
	names := make([]string, stmt.ColumnCount())
	for i := range names {
		names[i] = stmt.ColumnName(i)
	}
	out := s.output(names)
	if queryPlan.MatchString(stmt.SQL()) {
		out = &planWriter{w: s.out}
	}
	s.stepping = true
	defer func() { s.stepping = false }()
	var cells []cell
	for stmt.Step() {
		cells = cellsOf(stmt, cells)
		out.write(cells)
		if g, ok := out.(*gridWriter); ok && g.err != nil {
			return g.err
		}
		if err := s.c.Stdout.Err(); err != nil {
			s.done = true
			return nil
		}
	}
	out.end()
	return stmt.Err()
}

// input runs the lines of a script; it returns how many failed.
func (s *sqliteShell) input(r io.Reader) (errs int) {
	br := bufio.NewReader(cancelReader{s.ctx, r})
	var sql strings.Builder
	start, line := 0, 0
	flush := func() {
		if err := s.execute(sql.String()); err != nil {
			s.report(err, start)
			errs++
		}
		sql.Reset()
		s.endOnce()
	}
	for !s.done && (errs == 0 || !s.bail) {
		text, err := br.ReadString('\n')
		if text == "" && err != nil {
			break
		}
		line++
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		if sql.Len() == 0 && strings.TrimSpace(text) == "" {
			continue
		}
		if sql.Len() == 0 && (text[0] == '.' || text[0] == '#') {
			if s.echo {
				fmt.Fprintln(s.out, text)
			}
			if text[0] == '.' && !s.dot(text, line) {
				errs++
			}
			continue
		}
		if t := strings.ToLower(strings.TrimSpace(text)); (t == "/" || t == "go") && sqliteComplete(sql.String()+";") {
			text = ";"
		}
		if sql.Len() == 0 {
			start = line
		} else {
			sql.WriteByte('\n')
		}
		sql.WriteString(text)
		if s.c.Memory.Left() < int64(sql.Len()) {
			fmt.Fprintln(s.c.Stderr, "Error: out of memory")
			return errs + 1
		}
		if strings.Contains(text, ";") && sqliteComplete(sql.String()) {
			flush()
		}
	}
	if strings.TrimSpace(sql.String()) != "" && !s.done && (errs == 0 || !s.bail) {
		flush()
	}
	return errs
}

func (s *sqliteShell) report(err error, line int) {
	text, _ := s.message(err)
	kind := "Error"
	if rest, ok := strings.CutPrefix(text, "in prepare, "); ok {
		kind, text = "Parse error", rest
	} else if rest, ok := strings.CutPrefix(text, "stepping, "); ok {
		kind, text = "Runtime error", rest
	}
	fmt.Fprintf(s.c.Stderr, "%s near line %d: %s\n", kind, line, text)
}
