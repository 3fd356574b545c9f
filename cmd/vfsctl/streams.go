package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"
)

// streams are what a command reads and writes.
type streams struct {
	In       io.Reader
	Out, Err io.Writer
}

func isTerminal(x any) bool {
	f, ok := x.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// printJSON reports v for programs.
func (s streams) printJSON(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.Out, "%s\n", b)
	return err
}

// printf reports for people. A reader that went away is the shell's business.
func (s streams) printf(format string, args ...any) { fmt.Fprintf(s.Out, format, args...) }

// table writes rows with aligned columns; the first is the header.
func (s streams) table(rows [][]string) error {
	w := tabwriter.NewWriter(s.Out, 0, 8, 2, ' ', 0)
	for _, r := range rows {
		for i, cell := range r {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, cell)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// Colours, by their SGR codes.
const (
	green  = "32"
	yellow = "33"
	red    = "31"
	bold   = "1"
)

// colour paints text where that makes sense.
func (s streams) colour(code, text string) string {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !isTerminal(s.Out) {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func size[T uint64 | int64](n T) string { return humanize.IBytes(uint64(max(n, 0))) }

func moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// short is as much of a digest as people need; six digits are the least that
// names a commit.
func short(id string) string { return id[:min(len(id), 12)] }

func pad(text string, width int) string { return fmt.Sprintf("%-*s", width, text) }
