package diff

import "context"

// Change is a run of lines of one text that stands in place of a run of the
// other. Line numbers count from 0.
type Change struct {
	Old, New          int // where the runs start
	Deleted, Inserted int
}

// Lines compares two texts line by line, for commands that print differences
// in a form of their own.
func Lines(ctx context.Context, a, b [][]byte) ([]Change, error) {
	classes := make(map[string]int, len(a)+len(b))
	number := func(lines [][]byte) []int {
		out := make([]int, len(lines))
		for i, l := range lines {
			n, ok := classes[string(l)]
			if !ok {
				n = len(classes) + 1
				classes[string(l)] = n
			}
			out[i] = n
		}
		return out
	}
	script, err := compare(ctx, number(a), number(b), false, len(a)+len(b))
	if err != nil {
		return nil, err
	}
	out := make([]Change, len(script))
	for i, c := range script {
		out[i] = Change{c.line0, c.line1, c.deleted, c.inserted}
	}
	return out, nil
}
