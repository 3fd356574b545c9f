package data

import (
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

func TestHTMLToMarkdown(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"<h1>Title</h1><p>One <b>bold</b> and <em>it</em>.</p>", "# Title\n\nOne **bold** and _it_.\n"},
		{"<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul><p>x", "- a\n- b\n  - c\n\nx\n"},
		{"<ol start=3><li>a<li><p>b</p><p>c</p></ol>", "3. a\n4. b\n\n   c\n"},
		{"<a href=\"http://x/\" title=t>link</a> <img src=i.png alt=A>", "[link](http://x/ \"t\") ![A](i.png)\n"},
		{"<pre><code class=\"language-go\">a\n  b\n</code></pre>", "```go\na\n  b\n```\n"},
		{"<p>use <code>x `y`</code></p>", "use `` x `y` ``\n"},
		{"<blockquote><p>q</p><p>r</p></blockquote>", "> q\n>\n> r\n"},
		{"<table><tr><th>a<th>b</tr><tr><td>1<td>x|y</table>", "| a | b |\n| --- | --- |\n| 1 | x\\|y |\n"},
		{"a<br>b<hr>c<script>no()</script>", "a  \nb\n\n---\n\nc\n"},
		{"<p>1. not *a* list [x]</p>", "1\\. not \\*a\\* list \\[x\\]\n"},
		{"", ""},
		{strings.Repeat("<div>", 5000) + "deep", ""},
	} {
		r := commandtest.Inside(t, &commandtest.Case{Args: []string{"html-to-markdown"}, Stdin: c.in})
		if r.Stdout != c.want || r.Status != 0 && len(c.in) < 1000 {
			t.Errorf("%.100q\n got %q %s\nwant %q", c.in, r.Stdout, r.Stderr, c.want)
		}
	}
}
