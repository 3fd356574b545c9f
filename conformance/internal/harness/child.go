package harness

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// roleEnv is the environment variable that makes the binary a child.
const roleEnv = "VFSD_CONFORMANCE_ROLE"

// A Role is what a child process does: it converses by lines with the case
// that started it, and its result is the exit code.
type Role func(p *Peer) int

// roles is filled by init functions and only read afterwards.
var roles = make(map[string]Role)

// RegisterRole names a role; it is for init functions.
func RegisterRole(name string, r Role) {
	if _, ok := roles[name]; ok {
		panic("harness: two roles are named " + name)
	}
	roles[name] = r
}

// ChildMain turns the process into a child and does not return, if it was
// started as one; else it does nothing. Every binary that runs cases calls it
// first of all.
func ChildMain() {
	name := os.Getenv(roleEnv)
	if name == "" {
		return
	}
	r, ok := roles[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "conformance: no child role %q\n", name)
		os.Exit(125)
	}
	in := bufio.NewReader(os.Stdin)
	os.Exit(r(&Peer{Args: os.Args[1:], in: in}))
}

// Peer is a child's view of the case that started it.
type Peer struct {
	Args []string
	in   *bufio.Reader
}

// Next waits for a line from the case and splits it at spaces; false at the
// end.
func (p *Peer) Next() ([]string, bool) {
	line, err := p.in.ReadString('\n')
	if err != nil {
		return nil, false
	}
	return strings.Fields(line), true
}

// Say sends a line to the case.
func (p *Peer) Say(format string, args ...any) {
	// One write, so that the line is there as soon as anything of it is. A
	// case that is gone has nobody to tell.
	_, _ = os.Stdout.WriteString(fmt.Sprintf(format, args...) + "\n")
}

// SayErr sends how a call ended: "ok", or its error number.
func (p *Peer) SayErr(err error) { p.Say("%s", describeCall(err)) }

// Int parses a word of a line; a case that sends another is broken.
func (p *Peer) Int(word string) int64 {
	n, err := strconv.ParseInt(word, 0, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func describeCall(err error) string {
	if err == nil {
		return "ok"
	}
	return describe(err)
}
