package workspace

import (
	"testing"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// The root has no name, and yet its attributes can differ.
func TestDiffOfRoot(t *testing.T) {
	d, err := OpenDataDir(t.Context(), Options{Dir: t.TempDir() + "/data"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	w, err := d.Create(t.Context(), "ws", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var commits []chunk.ID
	for _, mode := range []uint32{0o755, 0o700} {
		if _, err := w.Setattr(&vfs.Op{}, vfs.RootIno, &vfs.SetAttr{Mask: vfs.SetMode, Mode: mode}); err != nil {
			t.Fatal(err)
		}
		id, err := w.Checkpoint(t.Context(), CauseCheckpoint, "")
		if err != nil {
			t.Fatal(err)
		}
		commits = append(commits, id)
	}
	diff, err := w.Diff(t.Context(), commits[0], commits[1])
	if err != nil || len(diff) != 1 || diff[0].Kind != Metadata || diff[0].Path != "/" || diff[0].Type != "directory" {
		t.Errorf("%+v %v", diff, err)
	}
}
