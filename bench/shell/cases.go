package shell

import (
	"fmt"
	"math/rand"
	"strings"
)

// row is one script. What it does must be doable again: %a and %b change places
// with each run.
type row struct {
	name, title string
	script      string
}

var rows = []row{
	{"grep", "grep -r over 1000 files", "cd tree; grep -rn needle . | wc -l"},
	{"sed", "sed -i on 100 files", "cd flat; sed -i 's/%a/%b/' *; grep -c %b f00"},
	{"loop", "a loop of 10,000 turns", "i=0; s=0; while [ $i -lt 10000 ]; do i=$((i+1)); s=$((s+i)); done; echo $s"},
	{"echo", "echo hi in a new session", "echo hi"},
}

// scriptOf is the script of the nth run.
func (r *row) scriptOf(n int) string {
	a, b := "alpha", "omega"
	if n%2 == 1 {
		a, b = b, a
	}
	return strings.NewReplacer("%a", a, "%b", b).Replace(r.script)
}

// file is one of the files that scripts work on.
type file struct{ Path, Text string }

// files are the same with every call: 1000 in a tree, some 4 MB, and 100 in one
// directory.
func files() []file {
	rnd := rand.New(rand.NewSource(1))
	words := strings.Fields("the of and a to in is you that it he was for on are as with his they I at be this have from or one had by word")
	text := func(lines int) string {
		var b strings.Builder
		for i := range lines {
			for range 10 {
				b.WriteString(words[rnd.Intn(len(words))] + " ")
			}
			if i%40 == 17 {
				b.WriteString("needle")
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	var all []file
	for i := range 1000 {
		all = append(all, file{fmt.Sprintf("tree/d%02d/f%03d.txt", i%25, i), text(60 + rnd.Intn(60))})
	}
	for i := range 100 {
		all = append(all, file{fmt.Sprintf("flat/f%02d", i), "first alpha line\n" + text(40) + "alpha\n"})
	}
	return all
}
