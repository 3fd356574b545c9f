package mount

import (
	"slices"
	"testing"
)

func TestParseMountTable(t *testing.T) {
	const text = `22 27 0:20 / /proc rw,nosuid shared:5 - proc proc rw
36 35 0:41 / /mnt/with\040blank\134and\011tab rw,nosuid,nodev - fuse.vfsd vfsd#my\040work rw,user_id=0
37 35 98:1 /sub /mnt/bind rw shared:1 master:2 - ext4 /dev/vda rw
garbage
38 35 x:y / /mnt rw - ext4 /dev/vda rw
`
	want := []tableEntry{
		{"22", "27", "/proc", "proc", "proc", connID{0, 20}},
		{"36", "35", "/mnt/with blank\\and\ttab", "fuse.vfsd", "vfsd#my work", connID{0, 41}},
		{"37", "35", "/mnt/bind", "ext4", "/dev/vda", connID{98, 1}},
	}
	if got := parseMountTable(text); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
