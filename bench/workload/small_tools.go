package workload

import (
	"context"
	"fmt"
	"strconv"
)

// The loops are such as people and agents type; where one starts a program a
// file, most of the time is the kernel's fork and exec.
const (
	createLoop = `i=0; while [ $i -lt $1 ]; do echo "line $i" > file$i.txt; i=$((i+1)); done`
	statLoop   = `for f in file*; do stat -c %s "$f" > /dev/null; done`
	mkdirLoop  = `n=$1; i=0
while [ $i -lt $n ]; do j=0
	while [ $j -lt $n ]; do k=0
		while [ $k -lt $n ]; do mkdir -p $i/$j/$k; k=$((k+1)); done
		j=$((j+1)); done
	i=$((i+1)); done`
)

func smallTools(s Sizes) []Workload {
	n, fan := count(s.Small), fmt.Sprintf("%dx%[1]dx%[1]d", s.Fanout)
	const group = "Small files, tools"
	return []Workload{
		{
			Name: "create-shell", Title: "create " + n + " files, shell loop", Group: group, Client: Tools, Limit: 1.2,
			Run: createByShell,
			Check: func(_ context.Context, e *Env) error {
				return countEntries(e.Work, e.Sizes.Small)
			},
		},
		{
			Name: "stat-shell", Title: "stat " + n + " files, shell loop", Group: group, Client: Tools, Limit: 1.0,
			Needs: []string{"stat"}, Setup: createByShell,
			Run: func(ctx context.Context, e *Env) error { return e.script(ctx, e.Work, statLoop) },
		},
		{
			Name: "mkdir-tree", Title: "mkdir a tree " + fan + ", shell loop", Group: group, Client: Tools, Limit: 1.05,
			Needs: []string{"mkdir"}, Run: mkdirTree,
			Check: func(_ context.Context, e *Env) error {
				last := strconv.Itoa(e.Sizes.Fanout - 1)
				return countEntries(e.work(last, last), e.Sizes.Fanout)
			},
		},
		{
			Name: "find-tree", Title: "find in a tree " + fan, Group: group, Client: Tools, Limit: 1.0,
			Needs: []string{"find"}, Setup: mkdirTree,
			Run: func(ctx context.Context, e *Env) error { return find(ctx, e, e.Work, "-type", "d") },
		},
	}
}

func createByShell(ctx context.Context, e *Env) error {
	return e.script(ctx, e.Work, createLoop, strconv.Itoa(e.Sizes.Small))
}

func mkdirTree(ctx context.Context, e *Env) error {
	return e.script(ctx, e.Work, mkdirLoop, strconv.Itoa(e.Sizes.Fanout))
}

// find runs find with a predicate that must match something.
func find(ctx context.Context, e *Env, dir string, predicate ...string) error {
	out, err := e.run(ctx, Command{Dir: dir, Args: append([]string{"find", "."}, predicate...)})
	if err == nil && len(out) == 0 {
		return fmt.Errorf("find %v found nothing", predicate)
	}
	return err
}
