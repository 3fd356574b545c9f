// Package commandtest runs a command in the process over internal/memfs and
// compares it with the real tool: standard output, standard error, exit
// status, and the files that are there afterwards.
//
//	func TestCat(t *testing.T) {
//		commandtest.Run(t, []commandtest.Case{
//			{Name: "number", Args: []string{"cat", "-n", "a"}, Files: map[string]string{"a": "x\ny\n"}},
//			{Name: "missing", Args: []string{"cat", "nope"}},
//		})
//	}
//
// The real tool's answers are recorded in testdata/TestCat.golden, so that the
// test needs no particular userland. `go test -run TestCat -record` asks the
// tools of this machine anew and shows what drifted; `-live` compares with them
// and records nothing.
//
// # Golden files
//
// A golden file is text, one section a case, every string quoted as in Go:
//
//	case "number" 5f0c9a1e
//	status 0
//	stdout "     1\tx\n"
//	     + "     2\ty\n"
//	dir "sub" 0755
//	file "a" 0644 "x\ny\n"
//	link "l" "a"
//
// The hexadecimal number is a checksum of the case, so that one that was edited
// and not recorded anew is found.
package commandtest
