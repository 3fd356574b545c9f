package data

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "html-to-markdown",
		Synopsis: "html-to-markdown [OPTION]... [FILE]",
		Summary:  "Convert HTML to Markdown.\nWith no FILE, or when FILE is -, read standard input.",
		Options: []command.Option{
			{Short: 'b', Long: "bullet", Arg: command.RequiredArgument, ArgName: "CHAR", Help: "the marker of list items: -, + or * (default -)"},
			{Short: 'c', Long: "code", Arg: command.RequiredArgument, ArgName: "FENCE", Help: "the fence of code: ``` or ~~~ (default ```)"},
			{Short: 'r', Long: "hr", Arg: command.RequiredArgument, ArgName: "STRING", Help: "the text of a rule (default ---)"},
		},
	}, htmlToMarkdown)
}

// htmlDepth is how deep elements are followed; what is deeper is left out.
const htmlDepth = 400

// htmlPerByte is how much memory a byte of HTML comes to as a tree.
const htmlPerByte = 16

// markdown writes a tree of HTML as Markdown.
type markdown struct {
	bullet, fence, rule string
	b                   strings.Builder
	prefix              string // of every line: quotes and the indent of lists
	pending             int    // newlines to come before more text
	space               bool   // a space to come before more text
	pre                 bool
	depth               int
}

func htmlToMarkdown(ctx context.Context, c *command.Context, args []string) int {
	m := &markdown{bullet: "-", fence: "```", rule: "---"}
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'b':
			m.bullet = p.Arg()
		case 'c':
			m.fence = p.Arg()
		case 'r':
			m.rule = p.Arg()
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if len(names) > 1 {
		return c.ExtraOperand(names[1])
	}
	var in io.Reader = c.Stdin
	if len(names) == 1 && names[0] != "-" {
		f, err := c.FS.Open(names[0])
		if err != nil {
			return c.Fail(names[0], err)
		}
		defer f.Close()
		in = f
	}
	a := &htmlReader{cancelReader{ctx, in}, c.Memory}
	doc, err := html.ParseWithOptions(a, html.ParseOptionEnableScripting(false))
	if err != nil {
		return c.Errorf("%s", command.Strerror(err))
	}
	m.children(doc)
	if m.b.Len() > 0 {
		m.b.WriteByte('\n')
	}
	c.Stdout.WriteString(m.b.String())
	return 0
}

// htmlReader accounts for the tree of what is read through it.
type htmlReader struct {
	io.Reader
	memory *command.Memory
}

func (r *htmlReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if e := r.memory.Grow(int64(n) * htmlPerByte); e != nil {
		err = e
	}
	return n, err
}

func (m *markdown) children(n *html.Node) {
	if m.depth++; m.depth < htmlDepth {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			m.node(c)
		}
	}
	m.depth--
}

// lines asks for n newlines before what comes next.
func (m *markdown) lines(n int) {
	m.pending = max(m.pending, n)
	m.space = false
}

// write puts text down, after the newlines and the space that were due.
func (m *markdown) write(s string) {
	if m.b.Len() == 0 {
		m.b.WriteString(m.prefix)
	} else {
		for i := range m.pending {
			if i > 0 {
				m.b.WriteString(strings.TrimRight(m.prefix, " "))
			}
			m.b.WriteByte('\n')
		}
		if m.pending > 0 {
			m.b.WriteString(m.prefix)
		} else if m.space {
			m.b.WriteByte(' ')
		}
	}
	m.pending, m.space = 0, false
	m.b.WriteString(s)
}

var (
	htmlSpace    = regexp.MustCompile(`[ \t\n\r\f]+`)
	markdownChar = regexp.MustCompile("[\\\\`*_\\[\\]]|^(#{1,6} |[-+>] |\\d+\\. )|<[a-zA-Z/!]")
)

func (m *markdown) text(s string) {
	if m.pre {
		m.write(strings.ReplaceAll(s, "\n", "\n"+m.prefix))
		return
	}
	s = htmlSpace.ReplaceAllString(s, " ")
	if strings.HasPrefix(s, " ") {
		s = s[1:]
		m.space = m.pending == 0 && m.b.Len() > 0
	}
	trailing := strings.HasSuffix(s, " ")
	if s = strings.TrimSuffix(s, " "); s == "" {
		m.space = m.space || trailing && m.pending == 0
		return
	}
	m.write(markdownChar.ReplaceAllStringFunc(s, func(x string) string {
		if len(x) > 2 && x[0] >= '0' && x[0] <= '9' {
			return strings.Replace(x, ".", `\.`, 1)
		}
		return `\` + x
	}))
	m.space = trailing
}

func (m *markdown) node(n *html.Node) {
	if n.Type == html.TextNode {
		m.text(n.Data)
		return
	}
	if n.Type != html.ElementNode {
		if n.Type == html.DocumentNode {
			m.children(n)
		}
		return
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Head, atom.Noscript, atom.Template, atom.Iframe, atom.Svg:
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		level, _ := strconv.Atoi(n.Data[1:])
		m.apart(func() {
			if inner := strings.TrimSpace(m.inline(n)); inner != "" {
				m.write(strings.Repeat("#", level) + " " + strings.ReplaceAll(inner, "\n", " "))
			}
		})
	case atom.Br:
		m.write("  ")
		m.lines(1)
	case atom.Hr:
		m.apart(func() { m.write(m.rule) })
	case atom.Strong, atom.B:
		m.wrap(n, "**")
	case atom.Em, atom.I:
		m.wrap(n, "_")
	case atom.Del, atom.S, atom.Strike:
		m.wrap(n, "~~")
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		m.code(n)
	case atom.Pre:
		m.preformatted(n)
	case atom.A:
		m.link(n)
	case atom.Img:
		m.write("![" + attribute(n, "alt") + "](" + attribute(n, "src") + titleOf(n) + ")")
	case atom.Blockquote:
		m.apart(func() { m.within("> ", func() { m.children(n) }) })
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		m.list(n)
	case atom.Table:
		m.apart(func() { m.table(n) })
	case atom.Li, atom.Dt, atom.Tr, atom.Option:
		m.lines(1)
		m.children(n)
		m.lines(1)
	case atom.Dd:
		m.lines(1)
		m.write(": ")
		m.children(n)
		m.lines(1)
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Main, atom.Nav, atom.Aside, atom.Form, atom.Fieldset, atom.Figure, atom.Figcaption, atom.Dl, atom.Address, atom.Details, atom.Summary:
		m.apart(func() { m.children(n) })
	default:
		m.children(n)
	}
}

// apart writes what stands in a paragraph of its own.
func (m *markdown) apart(do func()) {
	m.lines(2)
	do()
	m.lines(2)
}

// within writes lines that all start with a prefix.
func (m *markdown) within(prefix string, do func()) {
	old := m.prefix
	m.prefix += prefix
	do()
	m.prefix = old
}

// inline returns what a node comes to within a line.
func (m *markdown) inline(n *html.Node) string {
	inner := &markdown{bullet: m.bullet, fence: m.fence, rule: m.rule, depth: m.depth}
	inner.children(n)
	s := inner.b.String()
	if inner.space {
		s += " "
	}
	return s
}

func (m *markdown) wrap(n *html.Node, mark string) {
	s := m.inline(n)
	inner := strings.TrimSpace(s)
	if inner == "" {
		m.space = m.space || s != ""
		return
	}
	if first := n.FirstChild; first != nil && first.Type == html.TextNode && strings.HasPrefix(htmlSpace.ReplaceAllString(first.Data, " "), " ") {
		m.space = m.pending == 0 && m.b.Len() > 0
	}
	m.write(mark + strings.ReplaceAll(inner, "\n", "\n"+m.prefix) + mark)
	m.space = strings.HasSuffix(s, " ")
}

func (m *markdown) code(n *html.Node) {
	s := htmlText(n)
	if m.pre {
		m.text(s)
		return
	}
	if s = htmlSpace.ReplaceAllString(s, " "); strings.TrimSpace(s) == "" {
		return
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if s[0] == '`' || s[len(s)-1] == '`' {
		s = " " + s + " "
	}
	m.write(fence + s + fence)
}

func (m *markdown) preformatted(n *html.Node) {
	lang := ""
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Code {
			for class := range strings.FieldsSeq(attribute(c, "class")) {
				if l, ok := strings.CutPrefix(class, "language-"); ok {
					lang = l
				} else if l, ok := strings.CutPrefix(class, "lang-"); ok {
					lang = l
				}
			}
		}
	}
	s := strings.TrimSuffix(htmlText(n), "\n")
	fence := m.fence
	for fence != "" && strings.Contains(s, fence) {
		fence += fence[:1]
	}
	m.apart(func() {
		m.write(fence + lang + "\n" + m.prefix + strings.ReplaceAll(s, "\n", "\n"+m.prefix) + "\n" + m.prefix + fence)
	})
}

func (m *markdown) link(n *html.Node) {
	s := m.inline(n)
	inner, href := strings.TrimSpace(s), attribute(n, "href")
	switch {
	case inner == "" && href == "":
		return
	case href == "":
		m.write(inner)
	default:
		if strings.ContainsAny(href, " ()") {
			href = "<" + href + ">"
		}
		m.write("[" + htmlSpace.ReplaceAllString(inner, " ") + "](" + href + titleOf(n) + ")")
	}
	m.space = strings.HasSuffix(s, " ")
}

func (m *markdown) list(n *html.Node) {
	nested := n.Parent != nil && n.Parent.DataAtom == atom.Li
	gap := 2
	if nested {
		gap = 1
	}
	m.lines(gap)
	number, err := strconv.Atoi(attribute(n, "start"))
	if err != nil {
		number = 1
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		mark := m.bullet + " "
		if n.DataAtom == atom.Ol {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		m.lines(1)
		m.write(mark)
		m.item(c, strings.Repeat(" ", len(mark)))
		m.lines(1)
	}
	m.lines(gap)
}

// item writes the content of a list item after its marker.
func (m *markdown) item(n *html.Node, indent string) {
	m.within(indent, func() {
		first := true
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if first && c.Type == html.TextNode && strings.TrimSpace(c.Data) == "" {
				continue
			}
			if c.Type == html.TextNode && first {
				m.text(strings.TrimLeft(c.Data, " \t\n\r\f"))
			} else if first && c.DataAtom == atom.P {
				m.children(c)
				m.lines(2)
			} else {
				m.node(c)
			}
			first = false
		}
	})
	m.pending = min(m.pending, 1)
}

func (m *markdown) table(n *html.Node) {
	var rows [][]string
	var collect func(n *html.Node, depth int)
	collect = func(n *html.Node, depth int) {
		for c := n.FirstChild; c != nil && depth < htmlDepth; c = c.NextSibling {
			switch c.DataAtom {
			case atom.Tr:
				var row []string
				for d := c.FirstChild; d != nil; d = d.NextSibling {
					if d.DataAtom == atom.Td || d.DataAtom == atom.Th {
						cell := htmlSpace.ReplaceAllString(strings.TrimSpace(m.inline(d)), " ")
						row = append(row, strings.ReplaceAll(cell, "|", `\|`))
					}
				}
				rows = append(rows, row)
			case atom.Thead, atom.Tbody, atom.Tfoot:
				collect(c, depth+1)
			}
		}
	}
	collect(n, 0)
	width := 0
	for _, r := range rows {
		width = max(width, len(r))
	}
	for i, r := range rows {
		for len(r) < width {
			r = append(r, "")
		}
		m.lines(1)
		m.write("| " + strings.Join(r, " | ") + " |")
		if i == 0 {
			m.lines(1)
			m.write("|" + strings.Repeat(" --- |", width))
		}
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func titleOf(n *html.Node) string {
	if t := attribute(n, "title"); t != "" {
		return ` "` + strings.ReplaceAll(t, `"`, `\"`) + `"`
	}
	return ""
}

// htmlText is the text of a node, as it stands.
func htmlText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		} else if d.DataAtom == atom.Br {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
