package data

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"
)

func (s *sqliteShell) dotDatabases([]string) error {
	rows, err := s.query("PRAGMA database_list")
	if err != nil {
		return err
	}
	for _, r := range rows {
		file, access := r[2].text, "r/w"
		if file == "" {
			file = `""`
		}
		if ro, ok := s.db.ReadOnly(r[1].text); ok && ro {
			access = "r/o"
		}
		fmt.Fprintf(s.out, "%s: %s %s\n", r[1].text, file, access)
	}
	return nil
}

// names returns the names of the objects of some types, in order.
func (s *sqliteShell) names(where string, args ...string) ([]string, error) {
	dbs, err := s.query("PRAGMA database_list")
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, d := range dbs {
		q, prefix := quoteIdentifier(d[1].text), ""
		if d[1].text != "main" {
			prefix = "'" + strings.ReplaceAll(d[1].text, "'", "''") + ".'||"
		}
		parts = append(parts, "SELECT "+prefix+"name FROM "+q+".sqlite_schema WHERE "+where)
	}
	rows, err := s.query(strings.Join(parts, " UNION ALL ")+" ORDER BY 1", args...)
	var out []string
	for _, r := range rows {
		out = append(out, r[0].text)
	}
	return out, err
}

func (s *sqliteShell) dotTables(w []string) error {
	where := "type IN ('table','view') AND name NOT LIKE 'sqlite_%'"
	if len(w) > 0 {
		where += " AND name LIKE ?1"
	}
	return s.listing(where, w)
}

func (s *sqliteShell) dotIndexes(w []string) error {
	where := "type='index'"
	if len(w) > 0 {
		where += " AND tbl_name LIKE ?1"
	}
	return s.listing(where, w)
}

// listing prints names in columns, down first.
func (s *sqliteShell) listing(where string, w []string) error {
	names, err := s.names(where, w...)
	if err != nil || len(names) == 0 {
		return err
	}
	width := 0
	for _, n := range names {
		width = max(width, utf8.RuneCountInString(n))
	}
	columns := max(1, 80/(width+2))
	rows := (len(names) + columns - 1) / columns
	for i := range rows {
		for j := i; j < len(names); j += rows {
			sep := "  "
			if j < rows {
				sep = ""
			}
			fmt.Fprintf(s.out, "%s%-*s", sep, width, names[j])
		}
		fmt.Fprintln(s.out)
	}
	return nil
}

func (s *sqliteShell) dotSchema(w []string) error {
	pattern := ""
	for _, a := range w {
		switch strings.TrimLeft(a, "-") {
		case "indent", "nosys":
		default:
			pattern = a
		}
	}
	if p := strings.ToLower(pattern); p == "sqlite_master" || p == "sqlite_schema" {
		fmt.Fprintf(s.out, "CREATE TABLE %s (\n  type text,\n  name text,\n  tbl_name text,\n  rootpage integer,\n  sql text\n);\n", p)
		return nil
	}
	dbs, err := s.query("PRAGMA database_list")
	if err != nil {
		return err
	}
	for _, d := range dbs {
		sql := "SELECT sql, type, name FROM " + quoteIdentifier(d[1].text) + ".sqlite_schema WHERE sql IS NOT NULL"
		var args []string
		if pattern != "" {
			op := " LIKE "
			if strings.ContainsAny(pattern, "*?[") {
				op = " GLOB "
			}
			sql += " AND lower(tbl_name)" + op + "lower(?1)"
			args = append(args, pattern)
		}
		rows, err := s.query(sql+" ORDER BY rowid", args...)
		if err != nil {
			return err
		}
		for _, r := range rows {
			s.printSchema(r[0].text, r[1].text, r[2].text)
		}
	}
	return nil
}

// printSchema prints a CREATE statement, and for a view its columns.
func (s *sqliteShell) printSchema(sql, kind, name string) {
	if kind == "view" {
		if cols, err := s.query("SELECT name FROM pragma_table_info(?1)", name); err == nil {
			var list []string
			for _, c := range cols {
				list = append(list, quoteIdentifier(c[0].text))
			}
			sql += fmt.Sprintf("\n/* %s(%s) */", quoteIdentifier(name), strings.Join(list, ","))
		}
	}
	s.printStatement(sql)
}

func (s *sqliteShell) printStatement(sql string) {
	for _, q := range []string{`CREATE TABLE "`, `CREATE TABLE '`} {
		if rest, ok := strings.CutPrefix(sql, q); ok {
			sql = "CREATE TABLE IF NOT EXISTS " + q[len(q)-1:] + rest
		}
	}
	fmt.Fprintf(s.out, "%s;\n", sql)
}

func (s *sqliteShell) dotDump(w []string) error {
	like, args, dataOnly := "true", []string(nil), false
	for _, a := range w {
		switch a {
		case "--data-only", "-data-only":
			dataOnly = true
			continue
		case "--preserve-rowids", "--newlines", "--nosys":
			continue
		}
		args = append(args, a)
		n := strconv.Itoa(len(args))
		term := fmt.Sprintf(`name LIKE ?%s ESCAPE '\' OR EXISTS (SELECT 1 FROM sqlite_schema WHERE name LIKE ?%s ESCAPE '\' AND sql LIKE 'CREATE VIRTUAL TABLE%%' AND substr(o.name, 1, length(name)+1) == (name||'_'))`, n, n)
		if like == "true" {
			like = term
		} else {
			like += " OR " + term
		}
	}
	if !dataOnly {
		io.WriteString(s.out, "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n")
	}
	if err := s.db.Exec("SAVEPOINT dump; PRAGMA writable_schema=ON"); err != nil {
		return err
	}
	err := s.dumpObjects(like, args, dataOnly)
	s.db.Exec("PRAGMA writable_schema=OFF; RELEASE dump;")
	if !dataOnly {
		if err != nil {
			io.WriteString(s.out, "ROLLBACK; -- due to errors\n")
		} else {
			io.WriteString(s.out, "COMMIT;\n")
		}
	}
	return err
}

func (s *sqliteShell) dumpObjects(like string, args []string, dataOnly bool) error {
	tables, err := s.query("SELECT name, type, sql FROM sqlite_schema AS o WHERE ("+like+") AND type=='table' AND sql NOT NULL ORDER BY tbl_name='sqlite_sequence', rowid", args...)
	if err != nil {
		return err
	}
	virtual := false
	for _, t := range tables {
		if err := s.dumpTable(t[0].text, t[2].text, dataOnly, &virtual); err != nil {
			return err
		}
	}
	if dataOnly {
		return nil
	}
	rest, err := s.query("SELECT sql FROM sqlite_schema AS o WHERE ("+like+") AND sql NOT NULL AND type IN ('index','trigger','view') ORDER BY rowid", args...)
	if err != nil {
		return err
	}
	for _, r := range rest {
		s.printStatement(r[0].text)
	}
	if virtual {
		io.WriteString(s.out, "PRAGMA writable_schema=OFF;\n")
	}
	return nil
}

func (s *sqliteShell) dumpTable(name, sql string, dataOnly bool, virtual *bool) error {
	switch {
	case name == "sqlite_sequence":
		if !dataOnly {
			io.WriteString(s.out, "DELETE FROM sqlite_sequence;\n")
		}
	case strings.HasPrefix(name, "sqlite_stat"):
		if !dataOnly {
			io.WriteString(s.out, "ANALYZE sqlite_schema;\n")
		}
	case strings.HasPrefix(name, "sqlite_"):
		return nil
	case dataOnly:
	case strings.HasPrefix(sql, "CREATE VIRTUAL TABLE"):
		if !*virtual {
			io.WriteString(s.out, "PRAGMA writable_schema=ON;\n")
			*virtual = true
		}
		q := strings.ReplaceAll(name, "'", "''")
		fmt.Fprintf(s.out, "INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table','%s','%s',0,'%s');\n", q, q, strings.ReplaceAll(sql, "'", "''"))
		return nil
	default:
		s.printStatement(sql)
	}
	cols, err := s.query("SELECT name FROM pragma_table_info(?1)", name)
	if err != nil {
		return err
	}
	var list []string
	for _, c := range cols {
		list = append(list, quoteIdentifier(c[0].text))
	}
	stmt, _, err := s.db.Prepare("SELECT " + strings.Join(list, ",") + " FROM " + quoteIdentifier(name))
	if err != nil {
		return err
	}
	defer stmt.Close()
	var cells []cell
	for stmt.Step() {
		cells = cellsOf(stmt, cells)
		values := make([]string, len(cells))
		for i := range cells {
			values[i] = cells[i].dumpLiteral()
		}
		if _, err := fmt.Fprintf(s.out, "INSERT INTO %s VALUES(%s);\n", quoteIdentifier(name), strings.Join(values, ",")); err != nil {
			return err
		}
	}
	return stmt.Err()
}

const importHelp = `.import FILE TABLE       Import data from FILE into TABLE
   Options:
     --ascii               Use \037 and \036 as column and row separators
     --csv                 Use , and \n as column and row separators
     --skip N              Skip the first N rows of input
     --schema S            Target table to be S.TABLE
     -v                    "Verbose" - increase auxiliary output
   Notes:
     *  If TABLE does not exist, it is created.  The first row of input
        determines the column names.
     *  If neither --csv or --ascii are used, the input mode is derived
        from the ".mode" output mode
     *  If FILE begins with "|" then it is a command that generates the
        input text.
`

// errSaid is an error whose message is already out.
var errSaid = errors.New("")

// importer reads the fields of a file for .import.
type importer struct {
	r        *bufio.Reader
	col, row byte
	csv      bool
	last     int // what ended the last field; -1 at the end
	line     int // where the reader is
}

func (p *importer) field() (string, bool) {
	var b []byte
	c, err := p.r.ReadByte()
	if err != nil {
		p.last = -1
		return "", false
	}
	if p.csv && c == '"' {
		prev := byte(0)
		for {
			c, err := p.r.ReadByte()
			if err != nil {
				p.last = -1
				break
			}
			if c == '"' && prev == '"' {
				prev = 0
				continue
			}
			if prev == '"' && (c == p.col || c == p.row || c == '\r' && p.nextIs(p.row)) {
				if c == '\r' {
					c, _ = p.r.ReadByte()
				}
				b = b[:len(b)-1]
				p.ended(c)
				return string(b), true
			}
			if c == '\n' {
				p.line++
			}
			b = append(b, c)
			prev = c
		}
		return strings.TrimSuffix(string(b), `"`), true
	}
	for err == nil && c != p.col && c != p.row {
		b = append(b, c)
		c, err = p.r.ReadByte()
	}
	p.ended(c)
	if err != nil {
		p.last = -1
	} else if c == p.row && p.csv && len(b) > 0 && b[len(b)-1] == '\r' {
		b = b[:len(b)-1]
	}
	return string(b), true
}

func (p *importer) ended(c byte) {
	if p.last = int(c); c == p.row {
		p.line++
	}
}

func (p *importer) nextIs(c byte) bool {
	b, err := p.r.Peek(1)
	return err == nil && b[0] == c
}

// record reads a row; false at the end.
func (p *importer) record() ([]string, bool) {
	f, ok := p.field()
	if !ok {
		return nil, false
	}
	row := []string{f}
	for p.last == int(p.col) {
		if f, ok = p.field(); !ok {
			row = append(row, "")
			break
		}
		row = append(row, f)
	}
	return row, true
}

func (s *sqliteShell) dotImport(w []string) error {
	p := &importer{col: s.mode.col[0], row: s.mode.row[len(s.mode.row)-1], csv: s.mode.mode == "csv", line: 1}
	if p.csv && s.mode.row == "\r\n" {
		s.mode.row = "\n"
	}
	var operands []string
	skip := 0
	for i := 0; i < len(w); i++ {
		switch strings.TrimLeft(w[i], "-") {
		case "csv":
			p.csv, p.col, p.row = true, ',', '\n'
		case "ascii":
			p.col, p.row = 0x1F, 0x1E
		case "v":
		case "skip":
			if i++; i < len(w) {
				skip, _ = strconv.Atoi(w[i])
			}
		case "schema":
			i++
		default:
			operands = append(operands, w[i])
		}
	}
	if len(operands) < 2 {
		missing := "TABLE"
		if len(operands) == 0 {
			missing = "FILE"
		}
		fmt.Fprintf(s.out, "ERROR: missing %s argument. Usage:\n%s", missing, importHelp)
		return errSaid
	}
	f, err := s.c.FS.Open(operands[0])
	if err != nil {
		return fmt.Errorf("cannot open %q", operands[0])
	}
	defer f.Close()
	p.r = bufio.NewReader(cancelReader{s.ctx, f})
	for range skip {
		p.record()
	}
	return s.importRows(p, operands[0], operands[1])
}

func (s *sqliteShell) importRows(p *importer, file, table string) error {
	columns, err := s.query("SELECT name FROM pragma_table_info(?1)", table)
	if err != nil {
		return err
	}
	n := len(columns)
	if n == 0 {
		head, ok := p.record()
		if !ok {
			return fmt.Errorf("%s: empty file", file)
		}
		var defs []string
		for _, h := range head {
			defs = append(defs, `"`+strings.ReplaceAll(h, `"`, `""`)+`" TEXT`)
		}
		n = len(head)
		if err := s.db.Exec("CREATE TABLE " + `"` + strings.ReplaceAll(table, `"`, `""`) + `"(` + "\n" + strings.Join(defs, ", ") + ")"); err != nil {
			return errors.New(sqliteMessage(err))
		}
	}
	stmt, _, err := s.db.Prepare("INSERT INTO " + `"` + strings.ReplaceAll(table, `"`, `""`) + `" VALUES(?` + strings.Repeat(",?", n-1) + ")")
	if err != nil {
		return errors.New(sqliteMessage(err))
	}
	defer stmt.Close()
	commit := s.db.GetAutocommit() && s.db.Exec("BEGIN") == nil
	for s.ctx.Err() == nil {
		line := p.line
		row, ok := p.record()
		if !ok {
			break
		}
		s.importRow(stmt, row, n, file, line)
	}
	if commit {
		return s.db.Exec("COMMIT")
	}
	return nil
}

func (s *sqliteShell) importRow(stmt *sqlite3.Stmt, row []string, n int, file string, line int) {
	if len(row) < n {
		fmt.Fprintf(s.c.Stderr, "%s:%d: expected %d columns but found %d - filling the rest with NULL\n", file, line, n, len(row))
	} else if len(row) > n {
		fmt.Fprintf(s.c.Stderr, "%s:%d: expected %d columns but found %d - extras ignored\n", file, line, n, len(row))
	}
	for i := range n {
		if i < len(row) {
			stmt.BindText(i+1, row[i])
		} else {
			stmt.BindNull(i + 1)
		}
	}
	stmt.Step()
	if err := stmt.Reset(); err != nil {
		fmt.Fprintf(s.c.Stderr, "%s:%d: INSERT failed: %s\n", file, line, sqliteMessage(err))
	}
}
