package data

import "strings"

// sqliteComplete reports whether SQL ends with a complete statement, as
// sqlite3_complete does: the semicolons within CREATE TRIGGER do not count.
func sqliteComplete(sql string) bool {
	const (
		invalid = iota
		start
		normal
		explain
		create
		trigger
		semi
		end
	)
	const (
		tkSemi = iota
		tkSpace
		tkOther
		tkExplain
		tkCreate
		tkTemp
		tkTrigger
		tkEnd
	)
	table := [8][8]int{
		{1, 0, 2, 3, 4, 2, 2, 2}, {1, 1, 2, 3, 4, 2, 2, 2}, {1, 2, 2, 2, 2, 2, 2, 2}, {1, 3, 3, 2, 4, 2, 2, 2},
		{1, 4, 2, 2, 2, 4, 5, 2}, {6, 5, 5, 5, 5, 5, 5, 5}, {6, 6, 5, 5, 5, 5, 5, 7}, {1, 7, 5, 5, 5, 5, 5, 5},
	}
	state := invalid
	for i := 0; i < len(sql); {
		token, n := tkOther, 1
		switch c := sql[i]; {
		case c == ';':
			token = tkSemi
		case c == ' ' || c == '\r' || c == '\t' || c == '\n' || c == '\f':
			token = tkSpace
		case c == '/' && strings.HasPrefix(sql[i:], "/*"):
			e := strings.Index(sql[i+2:], "*/")
			if e < 0 {
				return false
			}
			token, n = tkSpace, e+4
		case c == '-' && strings.HasPrefix(sql[i:], "--"):
			e := strings.IndexByte(sql[i:], '\n')
			if e < 0 {
				return state == start
			}
			token, n = tkSpace, e+1
		case c == '[' || c == '`' || c == '"' || c == '\'':
			if c == '[' {
				c = ']'
			}
			e := strings.IndexByte(sql[i+1:], c)
			if e < 0 {
				return false
			}
			n = e + 2
		case isWordByte(c):
			for i+n < len(sql) && isWordByte(sql[i+n]) {
				n++
			}
			switch strings.ToLower(sql[i : i+n]) {
			case "create":
				token = tkCreate
			case "trigger":
				token = tkTrigger
			case "temp", "temporary":
				token = tkTemp
			case "end":
				token = tkEnd
			case "explain":
				token = tkExplain
			}
		}
		state = table[state][token]
		i += n
	}
	return state == start
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
