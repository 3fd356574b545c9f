package workspace

import (
	"context"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/journal"
)

// Scrub reads every stored byte of the data directory and checks it against
// its digest or checksum (P4): packs, and the journals and heads of all
// workspaces. bad hears of each damage with the file and the offset; progress
// may be nil.
func (d *DataDir) Scrub(ctx context.Context, progress func(done, total int64), bad func(file string, offset int64, err error)) error {
	names, err := d.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		d.scrubWorkspace(name, bad)
	}
	return d.chunks.Scrub(ctx, progress, func(x chunk.Damage) {
		bad(x.Pack, x.Offset, x.Err)
	})
}

func (d *DataDir) scrubWorkspace(name string, bad func(file string, offset int64, err error)) {
	if _, err := readHead(d.fsys, d.path(name)); err != nil {
		bad(d.path(name), 0, err)
		return
	}
	all, err := epochs(d.fsys, d.path(name))
	if err != nil {
		return // never opened: there is no journal
	}
	for _, e := range all {
		// A journal that is in use ends in a record that is being written,
		// which looks like a torn tail and is no damage.
		dir := journalDir(d.path(name), e)
		if _, err := journal.Scrub(d.fsys, dir); err != nil {
			bad(dir, 0, err)
		}
	}
}
