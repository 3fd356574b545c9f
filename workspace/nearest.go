package workspace

import (
	"cmp"
	"fmt"
	"slices"
)

// noSuch says that there is no such name, and which one may have been meant.
func noSuch(kind error, name string, names []string) error {
	if best := nearest(name, names); best != "" {
		return fmt.Errorf("%q: %w; did you mean %q?", name, kind, best)
	}
	return fmt.Errorf("%q: %w", name, kind)
}

// nearest returns the name that takes the fewest edits to become, "" when none
// is near.
func nearest(name string, names []string) string {
	best, least := "", len(name)/2+2
	for _, n := range names {
		if d := distance(name, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance counts the insertions, deletions and substitutions from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
