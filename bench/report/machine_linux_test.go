package report

import (
	"bufio"
	"strings"
	"testing"
)

func TestFindMount(t *testing.T) {
	const info = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/disk rw,errors=remount-ro
30 22 0:50 / /mnt rw,nosuid shared:9 master:1 - tmpfs tmpfs rw,size=5k
31 30 0:51 / /mnt/a\040b rw,nosuid,nodev - fuse.vfsd vfsd#w rw,user_id=0,lower=/home/somebody
32 30 0:52 / /mnt/a\040b rw - ext3 x rw,lowerdir=/private
broken line
`
	for _, c := range []struct{ path, fs, options string }{
		{"/home/x", "ext4", "rw,relatime,errors=remount-ro"},
		{"/mnt", "tmpfs", "rw,nosuid,size=5k"},
		{"/mntx", "ext4", "rw,relatime,errors=remount-ro"},
		{"/mnt/a b/c", "ext3", "rw"},
	} {
		got := findMount(bufio.NewScanner(strings.NewReader(info)), c.path)
		if got.Filesystem != c.fs || got.Options != c.options {
			t.Errorf("%s is on %+v, want %s (%s)", c.path, got, c.fs, c.options)
		}
	}
}
