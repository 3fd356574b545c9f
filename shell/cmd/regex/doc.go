// Package regex matches the regular expressions of the GNU tools: basic and
// extended POSIX syntax with GNU's operators, in the dialects of grep, sed, awk
// and regcomp(3), with the C library's leftmost-longest rule and its messages.
//
//	re, err := regex.Compile(`\([a-z]*\)-\1`, regex.Basic, regex.UTF8)
//	ok, err := re.Match(ctx, text)
//	loc, err := re.FindGroups(ctx, text, 0, nil)
//
// Text is bytes. With UTF8 a character is a valid UTF-8 sequence, and bytes
// that are none match nothing but themselves; without it each byte is a
// character, as in the C locale.
//
// # How it matches
//
// A pattern becomes a tree, the tree a program of byte steps, and the program a
// deterministic automaton that is built while it runs (dfa.go), in bounded
// memory. It finds where the leftmost-longest match starts and ends in time
// linear in the text whatever the pattern. Only when groups are asked for are
// they worked out, inside the span that is then known (capture.go). A pattern
// with back-references is first tried as the regular language that contains it,
// and then by backtracking (backtrack.go), which counts its steps: ErrTooComplex
// ends what would take for ever, and the context what was cancelled.
//
// Where POSIX and the C library differ about groups, the C library is followed:
// of the ways to match the span, the one that greedy backtracking finds first.
package regex
