package chunk

import (
	"strings"
	"testing"
)

func TestID(t *testing.T) {
	// The digest of nothing, from the BLAKE3 paper's test vectors.
	const empty = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
	id := Sum(nil)
	if id.String() != empty || id.IsZero() || !(ID{}).IsZero() {
		t.Fatalf("Sum(nil) = %v", id)
	}
	for _, s := range []string{empty, strings.ToUpper(empty)} {
		if got, err := ParseID(s); err != nil || got != id {
			t.Errorf("ParseID(%q) = %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "00", empty[1:], empty + "0", empty[:63] + "g", "0x" + empty[2:]} {
		if got, err := ParseID(s); err == nil {
			t.Errorf("ParseID(%q) = %v", s, got)
		}
	}
	if Compare(ID{1}, ID{2}) != -1 || Compare(id, id) != 0 || Compare(ID{0xff}, ID{1}) != 1 {
		t.Error("Compare does not order bytewise")
	}
}
