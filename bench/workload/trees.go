package workload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/vfsd/vfsd/bench/data"
)

func trees(s Sizes) []Workload {
	n := " of " + count(s.Tree) + " files"
	group := "A tree" + n
	return []Workload{
		{
			Name: "untar", Title: "tar xf" + n, Group: group, Client: Tools, Limit: 2.0, Needs: []string{"tar"},
			Setup: warmArchive, Run: untar, Check: checkTree,
		},
		{
			Name: "find-cold", Title: "find -size, cold", Group: group, Client: Tools, Cold: true, Needs: []string{"find"},
			Prepare: plant, Run: findLarge,
		},
		{
			Name: "find-warm", Title: "find -size, warm", Group: group, Client: Tools, Needs: []string{"find"},
			Prepare: plant, Setup: findLarge, Run: findLarge,
		},
		{
			Name: "grep-cold", Title: "grep -r, cold", Group: group, Client: Tools, Cold: true, Needs: []string{"grep"},
			Prepare: plant, Run: grep,
		},
		{
			Name: "grep-warm", Title: "grep -r, warm", Group: group, Client: Tools, Needs: []string{"grep"},
			Prepare: plant, Setup: grep, Run: grep,
		},
	}
}

func (e *Env) tree() []data.File { return data.Tree(e.Base, e.Sizes.Tree) }

// archive is the tree as a tar file on the local disk.
func (e *Env) archive() (string, error) {
	return e.input("tree.tar", func(path string) error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		return errors.Join(data.WriteTar(f, e.tree()), f.Close())
	})
}

// warmArchive has the archive in the page cache, so that reading it costs the
// two directories the same.
func warmArchive(_ context.Context, e *Env) error {
	path, err := e.archive()
	if err != nil {
		return err
	}
	_, err = os.ReadFile(path)
	return err
}

func untar(ctx context.Context, e *Env) error {
	path, err := e.archive()
	if err != nil {
		return err
	}
	_, err = e.run(ctx, Command{Dir: e.Work, Args: []string{"tar", "xf", path}})
	return err
}

// checkTree compares what can be seen without reading everything: each file's
// type, size, mode and time.
func checkTree(_ context.Context, e *Env) error {
	files := e.tree()
	for i := range files {
		f := &files[i]
		fi, err := os.Lstat(e.work(f.Path))
		if err != nil {
			return err
		}
		if fi.Mode().Type() != f.Mode.Type() {
			return fmt.Errorf("%s is a %v, want %v", f.Path, fi.Mode(), f.Mode)
		}
		if !f.Mode.IsRegular() {
			continue
		}
		if fi.Size() != int64(f.Size) || !fi.ModTime().Equal(f.Time) || fi.Mode() != f.Mode {
			return fmt.Errorf("%s has %d bytes, mode %v, time %v; want %d, %v, %v",
				f.Path, fi.Size(), fi.Mode(), fi.ModTime().UTC(), f.Size, f.Mode, f.Time)
		}
	}
	return nil
}

// plant makes the tree that the searches go through.
func plant(_ context.Context, e *Env) error { return data.WriteTree(e.Kept, e.tree()) }

// findLarge makes find stat every file.
func findLarge(ctx context.Context, e *Env) error {
	return find(ctx, e, e.Kept, "-type", "f", "-size", "+1k")
}

// grep reads every file.
func grep(ctx context.Context, e *Env) error {
	// The needle may be in none of a tiny tree's files, which is exit code 1.
	out, err := e.run(ctx, Command{Dir: e.Kept, Args: []string{"sh", "-c", "grep -rc " + data.Needle + " . || [ $? = 1 ]"}})
	if err != nil {
		return err
	}
	files := e.tree()
	want, _ := data.Regular(files)
	if got := strings.Count(string(out), "\n"); got != want {
		return fmt.Errorf("grep looked at %d files, want %d", got, want)
	}
	return nil
}
