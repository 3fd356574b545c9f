package control

import (
	"encoding/json"
	"testing"
)

// TestLossless: what is not UTF-8 comes through JSON beside its string.
func TestLossless(t *testing.T) {
	for _, name := range []string{"", "plain", "größe", "\ufffd", "a\xffb", "\xed\xa0\x80"} {
		b, err := json.Marshal(Difference{Path: name, PathBytes: Bytes(name)})
		if err != nil {
			t.Fatal(err)
		}
		var d Difference
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatal(err)
		}
		if got := Name(d.Path, d.PathBytes); got != name {
			t.Errorf("%q became %q", name, got)
		}
	}
}
