package data

import "strings"

// The states that are named in sqliteComplete, and the tokens that it reads.
const (
	sqlInvalid = iota
	sqlStart
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

// sqliteComplete reports whether SQL ends with a complete statement, as
// sqlite3_complete does: the semicolons within CREATE TRIGGER do not count.
func sqliteComplete(sql string) bool {
	table := [8][8]int{
		{1, 0, 2, 3, 4, 2, 2, 2}, {1, 1, 2, 3, 4, 2, 2, 2}, {1, 2, 2, 2, 2, 2, 2, 2}, {1, 3, 3, 2, 4, 2, 2, 2},
		{1, 4, 2, 2, 2, 4, 5, 2}, {6, 5, 5, 5, 5, 5, 5, 5}, {6, 6, 5, 5, 5, 5, 5, 7}, {1, 7, 5, 5, 5, 5, 5, 5},
	}
	state := sqlInvalid
	for i := 0; i < len(sql); {
		token, n := sqlToken(sql[i:])
		if n <= 0 {
			return n == 0 && state == sqlStart
		}
		state = table[state][token]
		i += n
	}
	return state == sqlStart
}

// sqlToken returns the kind and the length of the token that SQL starts with;
// 0 for a comment that the end of the text ends, -1 for what does not end.
func sqlToken(sql string) (token, n int) {
	token, n = tkOther, 1
	switch c := sql[0]; {
	case c == ';':
		token = tkSemi
	case c == ' ' || c == '\r' || c == '\t' || c == '\n' || c == '\f':
		token = tkSpace
	case c == '/' && strings.HasPrefix(sql, "/*"):
		e := strings.Index(sql[2:], "*/")
		if e < 0 {
			return tkSpace, -1
		}
		token, n = tkSpace, e+4
	case c == '-' && strings.HasPrefix(sql, "--"):
		e := strings.IndexByte(sql, '\n')
		if e < 0 {
			return tkSpace, 0
		}
		token, n = tkSpace, e+1
	case c == '[' || c == '`' || c == '"' || c == '\'':
		if c == '[' {
			c = ']'
		}
		e := strings.IndexByte(sql[1:], c)
		if e < 0 {
			return tkSpace, -1
		}
		n = e + 2
	case isWordByte(c):
		for n < len(sql) && isWordByte(sql[n]) {
			n++
		}
		switch strings.ToLower(sql[:n]) {
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
	return token, n
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
