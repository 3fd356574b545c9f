package data

import (
	"bufio"
	"context"
	"io"
	"strings"
)

// cancelReader ends reads when the command was cancelled.
type cancelReader struct {
	ctx context.Context
	r   io.Reader
}

func (c cancelReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// lineReader yields lines as strings of valid UTF-8, without their newlines.
type lineReader struct {
	r     *bufio.Reader
	lines int
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReader(r)} }

func (l *lineReader) next() (any, error) {
	s, err := l.r.ReadString('\n')
	if err != nil && (err != io.EOF || s == "") {
		return nil, err
	}
	if strings.HasSuffix(s, "\n") {
		l.lines++
		s = s[:len(s)-1]
	}
	return strings.ToValidUTF8(s, "\uFFFD"), nil
}
