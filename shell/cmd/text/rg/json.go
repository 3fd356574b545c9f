package rg

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// jsonText is a piece of text: itself, or its bytes in base64.
func jsonText(out, text []byte) []byte {
	if !utf8.Valid(text) {
		return append(base64.StdEncoding.AppendEncode(append(out, `{"bytes":"`...), text), `"}`...)
	}
	return append(jsonString(append(out, `{"text":`...), text), '}')
}

// jsonString quotes valid text. Unlike that of encoding/json it leaves <, > and &
// alone.
func jsonString(out, text []byte) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for _, c := range text {
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, `\n`...)
		case '\r':
			out = append(out, `\r`...)
		case '\t':
			out = append(out, `\t`...)
		case '\b':
			out = append(out, `\b`...)
		case '\f':
			out = append(out, `\f`...)
		default:
			if c < ' ' {
				out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
				continue
			}
			out = append(out, c)
		}
	}
	return append(out, '"')
}

// jsonPath is the path of the present file.
func (p *printer) jsonPath(out []byte) []byte {
	return jsonText(append(out, `{"path":`...), []byte(p.t.name))
}

// jsonLine writes a match or a line of context.
func (p *printer) jsonLine(kind string, l line, spans [][]int) {
	if !p.jsonBeg {
		p.jsonBeg = true
		p.raw(append(p.jsonPath([]byte(`{"type":"begin","data":`)), "}}\n"...))
	}
	whole := append(append([]byte(nil), l.text...), l.end...)
	out := p.jsonPath([]byte(`{"type":"` + kind + `","data":`))
	out = jsonText(append(out, `,"lines":`...), whole)
	out = append(out, `,"line_number":`...)
	out = strconv.AppendInt(out, l.number, 10)
	out = append(out, `,"absolute_offset":`...)
	out = strconv.AppendInt(out, l.at, 10)
	out = append(out, `,"submatches":[`...)
	for i, loc := range spans {
		if i > 0 {
			out = append(out, ',')
		}
		out = jsonText(append(out, `{"match":`...), l.text[loc[0]:loc[1]])
		out = fmt.Appendf(out, `,"start":%d,"end":%d}`, loc[0], loc[1])
	}
	p.raw(append(out, "]}}\n"...))
}

// jsonElapsed is a duration, in three forms.
func jsonElapsed(d time.Duration) string {
	return fmt.Sprintf(`{"secs":%d,"nanos":%d,"human":"%.6fs"}`, d/time.Second, d%time.Second, d.Seconds())
}

// jsonEnd writes what is said at the end of a file.
func (p *printer) jsonEnd(t *target) {
	if !p.jsonBeg {
		return
	}
	offset := "null"
	if t.nul >= 0 {
		offset = strconv.FormatInt(t.nul, 10)
	}
	out := p.jsonPath([]byte(`{"type":"end","data":`))
	out = fmt.Appendf(out, `,"binary_offset":%s,"stats":{"elapsed":%s,"searches":1,"searches_with_match":1,"bytes_searched":%d,"bytes_printed":%d,"matched_lines":%d,"matches":%d}}}`+"\n",
		offset, jsonElapsed(p.c.Now().Sub(p.start0)), t.read, p.bytes, t.selected, t.matches)
	p.c.Stdout.Write(out)
}

// jsonSummary writes what is said at the end of all.
func (s *search) jsonSummary() {
	d := s.c.Now().Sub(s.begun)
	elapsed := fmt.Sprintf(`{"human":"%.6fs","nanos":%d,"secs":%d}`, d.Seconds(), d%time.Second, d/time.Second)
	fmt.Fprintf(s.c.Stdout, `{"data":{"elapsed_total":%s,"stats":{"bytes_printed":%d,"bytes_searched":%d,"elapsed":%s,"matched_lines":%d,"matches":%d,"searches":%d,"searches_with_match":%d}},"type":"summary"}`+"\n",
		elapsed, s.printed, s.bytesSearched, elapsed, s.matchedLines, s.matches, s.searched, s.withMatch)
}
