package commandtest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// golden is a file of recorded results by case name.
type golden struct {
	path  string
	order []string
	cases map[string]*recorded
}

type recorded struct {
	sum    uint32
	result Result
}

// quoted breaks a string at its newlines and quotes each line.
func quoted(s string) string {
	var parts []string
	for s != "" {
		i := strings.IndexByte(s, '\n') + 1
		if i == 0 {
			i = len(s)
		}
		parts = append(parts, strconv.QuoteToASCII(s[:i]))
		s = s[i:]
	}
	if len(parts) == 0 {
		return `""`
	}
	return strings.Join(parts, "\n     + ")
}

// write saves the golden file.
func (g *golden) write() error {
	var b strings.Builder
	for _, name := range g.order {
		r := g.cases[name]
		fmt.Fprintf(&b, "case %s %08x\nstatus %d\n", strconv.QuoteToASCII(name), r.sum, r.result.Status)
		if r.result.Stdout != "" {
			fmt.Fprintf(&b, "stdout %s\n", quoted(r.result.Stdout))
		}
		if r.result.Stderr != "" {
			fmt.Fprintf(&b, "stderr %s\n", quoted(r.result.Stderr))
		}
		for _, line := range r.result.Tree {
			b.WriteString(line + "\n")
		}
		b.WriteByte('\n')
	}
	if err := os.MkdirAll(filepath.Dir(g.path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(g.path, []byte(b.String()), 0o644)
}

// readGolden loads a golden file; one that is not there is empty.
func readGolden(path string) (*golden, error) {
	g := &golden{path: path, cases: map[string]*recorded{}}
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return g, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	var r *recorded
	var last *string
	for n := 1; sc.Scan(); n++ {
		if err := g.line(sc.Text(), &r, &last); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	return g, sc.Err()
}

// line takes one line of a golden file.
func (g *golden) line(line string, r **recorded, last **string) error {
	word, rest, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
	if word == "" {
		return nil
	}
	if word != "case" && *r == nil {
		return fmt.Errorf("%q before any case", word)
	}
	var err error
	switch word {
	case "case":
		q, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return err
		}
		name, err := strconv.Unquote(q)
		if err != nil {
			return err
		}
		sum, err := strconv.ParseUint(strings.TrimSpace(rest[len(q):]), 16, 32)
		if err != nil {
			return err
		}
		*r = &recorded{sum: uint32(sum)}
		g.order = append(g.order, name)
		g.cases[name] = *r
	case "status":
		(*r).result.Status, err = strconv.Atoi(rest)
	case "stdout", "stderr":
		*last = &(*r).result.Stdout
		if word == "stderr" {
			*last = &(*r).result.Stderr
		}
		**last, err = strconv.Unquote(rest)
	case "+":
		if *last == nil {
			return fmt.Errorf("continuation of nothing")
		}
		var s string
		s, err = strconv.Unquote(rest)
		**last += s
	default:
		(*r).result.Tree = append((*r).result.Tree, line)
	}
	return err
}
