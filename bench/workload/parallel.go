package workload

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sync/errgroup"
)

func parallel(s Sizes) []Workload {
	group := "Clients at once, each with " + count(s.Small) + " files of its own"
	var out []Workload
	for _, clients := range []int{1, 2, 4} {
		plural := "s"
		if clients == 1 {
			plural = ""
		}
		out = append(out,
			Workload{
				Name: fmt.Sprintf("parallel-create-%d", clients), Group: group, Client: Tight,
				Title: fmt.Sprintf("create+write+close, %d client%s", clients, plural),
				Setup: func(_ context.Context, e *Env) error { return clientDirs(e, clients) },
				Run: func(_ context.Context, e *Env) error {
					return atOnce(e, clients, func(paths []string) error { return createMany(paths, e.Seed) })
				},
			},
			Workload{
				Name: fmt.Sprintf("parallel-read-%d", clients), Group: group, Client: Tight,
				Title: fmt.Sprintf("open+read+close, %d client%s", clients, plural),
				Setup: func(_ context.Context, e *Env) error {
					if err := clientDirs(e, clients); err != nil {
						return err
					}
					return atOnce(e, clients, func(paths []string) error { return createMany(paths, e.Seed) })
				},
				Run: func(_ context.Context, e *Env) error { return atOnce(e, clients, readMany) },
			},
		)
	}
	return out
}

func clientDir(e *Env, client int) string { return e.work(fmt.Sprintf("client%d", client)) }

func clientDirs(e *Env, clients int) error {
	for c := range clients {
		if err := os.Mkdir(clientDir(e, c), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// atOnce lets each client work on as many files as one client has alone, so
// that perfect scaling is equal time.
func atOnce(e *Env, clients int, work func(paths []string) error) error {
	var g errgroup.Group
	for c := range clients {
		g.Go(func() error {
			return pinned(func() error { return work(names(clientDir(e, c), e.Sizes.Small)) })
		})
	}
	return g.Wait()
}
