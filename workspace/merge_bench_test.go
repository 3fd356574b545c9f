package workspace

import (
	"context"
	"fmt"
	"testing"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// BenchmarkMerge merges 200 edits a side in a tree of 20000 files, and 10000
// new files with one edit.
func BenchmarkMerge(b *testing.B) {
	ctx := context.Background()
	x := newReplicas(b, 2, func(a *shellActor) {
		for d := range 100 {
			a.mkdir(fmt.Sprintf("d%d", d))
			for f := range 200 {
				dir := a.ino(fmt.Sprintf("d%d", d))
				_, err := a.w.Mknod(rootOp, dir, fmt.Sprintf("f%d", f), vfs.ModeRegular|0o644, 0)
				must(b, err)
			}
		}
	})
	base := x.w[0].Head()
	for i := range 200 {
		x.on(0).write(fmt.Sprintf("d%d/f%d", i%100, i), "ours")
		x.on(1).write(fmt.Sprintf("d%d/f%d", (i+1)%100, i), "theirs")
	}
	ours, theirs := syncHead(b, x.w[0]), syncHead(b, x.w[1])
	x.on(1).mkdir("new")
	dir := x.on(1).ino("new")
	for i := range 10000 {
		_, err := x.w[1].Mknod(rootOp, dir, fmt.Sprint(i), vfs.ModeRegular|0o644, 0)
		must(b, err)
	}
	many := syncHead(b, x.w[1])
	run := func(name string, theirs chunk.ID) {
		b.Run(name, func(b *testing.B) {
			w := x.w[0]
			root, err := w.Commit(ctx, base)
			must(b, err)
			o, err := w.Commit(ctx, ours)
			must(b, err)
			t, err := w.Commit(ctx, theirs)
			must(b, err)
			for b.Loop() {
				_, err := w.mergeTrees(ctx, root.Root, o, t, &policy{})
				must(b, err)
			}
		})
	}
	run("edits=200", theirs)
	run("new=10000", many)
}
