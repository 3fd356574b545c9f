package mount

import (
	"maps"
	"slices"
	"testing"

	"github.com/vfsd/vfsd/vfs"
)

func TestParseWatches(t *testing.T) {
	const info = "pos:\t0\nflags:\t02004000\nmnt_id:\t16\nino:\t1057\n" +
		"inotify wd:2 ino:1f sdev:2d mask:fc6 ignored_mask:0 fhandle-bytes:8 fhandle-type:1 f_handle:9e7e0000\n" +
		"inotify wd:1 ino:3 sdev:2e mask:fc6 ignored_mask:0\n" +
		"fanotify ino:4 sdev:2d mflags:0 mask:3b ignored_mask:40000000\n" +
		"fanotify mnt_id:12 mflags:0 mask:3b\n" +
		"inotify wd:1 ino:zz sdev:2d\ninotify ino:5"
	watched := map[vfs.Ino]bool{}
	parseWatches([]byte(info), 0x2d, watched)
	if got := slices.Sorted(maps.Keys(watched)); !slices.Equal(got, []vfs.Ino{4, 0x1f}) {
		t.Errorf("watched are %v", got)
	}
}
