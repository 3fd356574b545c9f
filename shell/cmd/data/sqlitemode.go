package data

import (
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"
)

// cell is a value of a result.
type cell struct {
	kind sqlite3.Datatype
	text string // as text; the bytes of a blob
	real float64
}

// sqliteMode is how results are written.
type sqliteMode struct {
	mode      string
	headers   bool
	asked     bool // whether .headers was given
	col, row  string
	null      string
	table     string // for insert
	widths    []int
	wrap      int
	quoteCell bool // --quote of the columnar modes
}

func (m *sqliteMode) columnar() bool {
	switch m.mode {
	case "column", "table", "box", "markdown":
		return true
	}
	return false
}

// literal is a value as SQL.
func (v *cell) literal() string {
	switch v.kind {
	case sqlite3.NULL:
		return "NULL"
	case sqlite3.INTEGER:
		return v.text
	case sqlite3.FLOAT:
		switch {
		case math.IsInf(v.real, 1):
			return "1e999"
		case math.IsInf(v.real, -1):
			return "-1e999"
		}
		s := strconv.FormatFloat(v.real, 'g', 17, 64)
		if short := v.text; short != "" {
			if f, err := strconv.ParseFloat(short, 64); err == nil && f == v.real {
				return short
			}
		}
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	case sqlite3.BLOB:
		return "X'" + hex.EncodeToString([]byte(v.text)) + "'"
	}
	return "'" + strings.ReplaceAll(v.text, "'", "''") + "'"
}

// dumpLiteral is a value as SQL on one line.
func (v *cell) dumpLiteral() string {
	if v.kind != sqlite3.TEXT || !strings.ContainsAny(v.text, "\n\r") {
		return v.literal()
	}
	s := strings.ReplaceAll(v.text, "'", "''")
	prefix, suffix := "", ""
	for _, r := range []struct{ char, code string }{{"\n", "char(10)"}, {"\r", "char(13)"}} {
		if !strings.Contains(s, r.char) {
			continue
		}
		mark, second := `\n`, `\012`
		if r.char == "\r" {
			mark, second = `\r`, `\015`
		}
		for i, first := 0, mark; strings.Contains(s, mark); i++ {
			mark = "(" + first + strconv.Itoa(i-1) + ")"
			if i == 0 {
				mark = second
			}
		}
		s = strings.ReplaceAll(s, r.char, mark)
		prefix, suffix = "replace("+prefix, suffix+",'"+mark+"',"+r.code+")"
	}
	return prefix + "'" + s + "'" + suffix
}

// rowWriter writes one row at a time.
type rowWriter struct {
	w     io.Writer
	m     *sqliteMode
	names []string
	rows  int
	line  strings.Builder
}

// begin comes before the first row.
func (r *rowWriter) begin() {
	if !r.m.headers {
		return
	}
	cells := make([]cell, len(r.names))
	for i, n := range r.names {
		cells[i] = cell{kind: sqlite3.TEXT, text: n}
	}
	switch r.m.mode {
	case "list", "csv", "tabs", "ascii", "quote":
		r.fields(cells)
	case "html":
		io.WriteString(r.w, "<TR>")
		for _, n := range r.names {
			fmt.Fprintf(r.w, "<TH>%s</TH>\n", escapeHTML(n))
		}
		io.WriteString(r.w, "</TR>\n")
	}
}

// write writes a row.
func (r *rowWriter) write(cells []cell) {
	if r.rows == 0 {
		r.begin()
	}
	r.rows++
	switch r.m.mode {
	case "line":
		width := 5
		for _, n := range r.names {
			width = max(width, utf8.RuneCountInString(n))
		}
		if r.rows > 1 {
			io.WriteString(r.w, r.m.row)
		}
		for i := range cells {
			fmt.Fprintf(r.w, "%*s = %s\n", width, r.names[i], r.text(&cells[i]))
		}
	case "html":
		io.WriteString(r.w, "<TR>")
		for i := range cells {
			fmt.Fprintf(r.w, "<TD>%s</TD>\n", escapeHTML(r.text(&cells[i])))
		}
		io.WriteString(r.w, "</TR>\n")
	case "insert":
		r.insert(cells)
	case "json":
		r.json(cells)
	default:
		r.fields(cells)
	}
}

// end comes after the last row.
func (r *rowWriter) end() {
	if r.m.mode == "json" && r.rows > 0 {
		io.WriteString(r.w, "]\n")
	}
}

func (r *rowWriter) text(v *cell) string {
	if v.kind == sqlite3.NULL {
		return r.m.null
	}
	s := v.text
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	return s
}

func (r *rowWriter) fields(cells []cell) {
	r.line.Reset()
	for i := range cells {
		if i > 0 {
			r.line.WriteString(r.m.col)
		}
		switch r.m.mode {
		case "csv":
			r.line.WriteString(csvCell(r.text(&cells[i]), r.m.col, cells[i].kind == sqlite3.NULL))
		case "quote":
			r.line.WriteString(cells[i].literal())
		default:
			r.line.WriteString(r.text(&cells[i]))
		}
	}
	r.line.WriteString(r.m.row)
	io.WriteString(r.w, r.line.String())
}

// csvCell quotes a value as sqlite3 does.
func csvCell(s, separator string, null bool) string {
	if null {
		return s
	}
	quote := s == "" || strings.Contains(s, separator)
	for i := 0; i < len(s) && !quote; i++ {
		quote = s[i] <= ' ' || s[i] == '"' || s[i] == '\'' || s[i] >= 0x7f
	}
	if !quote {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

func (r *rowWriter) insert(cells []cell) {
	r.line.Reset()
	r.line.WriteString("INSERT INTO " + quoteIdentifier(r.m.table))
	if r.m.headers {
		r.line.WriteByte('(')
		for i, n := range r.names {
			if i > 0 {
				r.line.WriteByte(',')
			}
			r.line.WriteString(quoteIdentifier(n))
		}
		r.line.WriteByte(')')
	}
	r.line.WriteString(" VALUES(")
	for i := range cells {
		if i > 0 {
			r.line.WriteByte(',')
		}
		r.line.WriteString(cells[i].dumpLiteral())
	}
	r.line.WriteString(");\n")
	io.WriteString(r.w, r.line.String())
}

func (r *rowWriter) json(cells []cell) {
	r.line.Reset()
	if r.rows == 1 {
		r.line.WriteString("[{")
	} else {
		r.line.WriteString(",\n{")
	}
	for i := range cells {
		if i > 0 {
			r.line.WriteByte(',')
		}
		jsonString(&r.line, r.names[i])
		r.line.WriteByte(':')
		switch v := &cells[i]; {
		case v.kind == sqlite3.NULL:
			r.line.WriteString("null")
		case v.kind == sqlite3.INTEGER:
			r.line.WriteString(v.text)
		case v.kind == sqlite3.FLOAT:
			r.line.WriteString(v.literal())
		default:
			jsonString(&r.line, v.text)
		}
	}
	r.line.WriteByte('}')
	io.WriteString(r.w, r.line.String())
}

func jsonString(b *strings.Builder, s string) {
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\b':
			b.WriteString(`\b`)
		case c == '\f':
			b.WriteString(`\f`)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ':
			fmt.Fprintf(b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
}

func escapeHTML(s string) string {
	return strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", `"`, "&quot;", "'", "&#39;").Replace(s)
}

// quoteIdentifier quotes a name that SQL would not take bare.
func quoteIdentifier(s string) string {
	bare := s != "" && !(s[0] >= '0' && s[0] <= '9')
	for i := range len(s) {
		c := s[i]
		bare = bare && (c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z')
	}
	if bare && !sqliteKeywords[strings.ToUpper(s)] {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

var sqliteKeywords = func() map[string]bool {
	m := map[string]bool{}
	for _, k := range strings.Fields("ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN BETWEEN BY CASCADE CASE CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DATABASE DEFAULT DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT DO DROP EACH ELSE END ESCAPE EXCEPT EXCLUDE EXCLUSIVE EXISTS EXPLAIN FAIL FILTER FIRST FOLLOWING FOR FOREIGN FROM FULL GENERATED GLOB GROUP GROUPS HAVING IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY INNER INSERT INSTEAD INTERSECT INTO IS ISNULL JOIN KEY LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL NO NOT NOTHING NOTNULL NULL NULLS OF OFFSET ON OR ORDER OTHERS OUTER OVER PARTITION PLAN PRAGMA PRECEDING PRIMARY QUERY RAISE RANGE RECURSIVE REFERENCES REGEXP REINDEX RELEASE RENAME REPLACE RESTRICT RETURNING RIGHT ROLLBACK ROW ROWS SAVEPOINT SELECT SET TABLE TEMP TEMPORARY THEN TIES TO TRANSACTION TRIGGER UNBOUNDED UNION UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE WINDOW WITH WITHOUT") {
		m[k] = true
	}
	return m
}()
