package workload

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const rmLoop = `for f in file*; do rm "$f"; done`

func removals(s Sizes) []Workload {
	const group = "Removal"
	n := count(s.Small)
	return []Workload{
		{
			Name: "rm-shell", Title: "rm " + n + " files, shell loop", Group: group, Client: Tools, Limit: 1.1,
			Needs: []string{"rm"}, Setup: createByShell,
			Run:   func(ctx context.Context, e *Env) error { return e.script(ctx, e.Work, rmLoop) },
			Check: func(_ context.Context, e *Env) error { return countEntries(e.Work, 0) },
		},
		{
			Name: "rm-rf", Title: "rm -rf of " + n + " files", Group: group, Client: Tools,
			Needs: []string{"rm"}, Setup: createByShell,
			Run: removeAll, Check: removed,
		},
		{
			Name: "unlink", Title: "unlink " + n, Group: group, Client: Tight,
			Setup: createTight, Run: unlinkTight,
			Check: func(_ context.Context, e *Env) error { return countEntries(e.Work, 0) },
		},
		{
			Name: "rm-tree", Title: "rm -rf of a tree of " + count(s.Tree) + " files", Group: group, Client: Tools, Needs: []string{"rm", "tar"},
			Setup: untar,
			Run:   removeAll, Check: removed,
		},
	}
}

func removeAll(ctx context.Context, e *Env) error {
	_, err := e.run(ctx, Command{Dir: "/", Args: []string{"rm", "-rf", e.Work}})
	return err
}

func removed(_ context.Context, e *Env) error {
	if _, err := os.Lstat(e.Work); !os.IsNotExist(err) {
		return fmt.Errorf("%s is still there: %v", e.Work, err)
	}
	return nil
}

func unlinkTight(_ context.Context, e *Env) error {
	return pinned(func() error {
		for _, p := range names(e.Work, e.Sizes.Small) {
			if err := again(func() error { return unix.Unlink(p) }); err != nil {
				return fmt.Errorf("unlink %s: %w", p, err)
			}
		}
		return nil
	})
}
