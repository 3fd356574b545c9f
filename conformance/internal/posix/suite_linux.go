package posix

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// The words of every case.
type (
	// T is a case while it runs.
	T = harness.T
	// Group is where cases are declared.
	Group = harness.Group
	// Cred is somebody to act as.
	Cred = harness.Cred
	// Kind is a type of file.
	Kind = harness.Kind
)

// People and groups of people. Nobody else owns files by these numbers.
var (
	alice = Cred{UID: 21001, GID: 22001}
	bob   = Cred{UID: 21002, GID: 22002}
	carol = Cred{UID: 21003, GID: 22003}
	root  = Cred{}
)

// cwd is the directory that relative paths start from.
const cwd = unix.AT_FDCWD

// Suite returns every case, by name.
func Suite() *harness.Suite {
	s := &harness.Suite{}
	for _, declare := range declarations {
		declare(s)
	}
	slices.SortFunc(s.Cases, func(a, b harness.Case) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// declarations is every function that declares cases.
var declarations = []func(*harness.Suite){}

// eq asserts got == want.
func eq[V comparable](t *T, what string, got, want V) bool {
	return harness.Equal(t, what, got, want)
}

// in makes a word of a path fit for a case's name.
func in(s string) string {
	return strings.NewReplacer("/", "-", " ", "-", "..", "dotdot").Replace(s)
}
