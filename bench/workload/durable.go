package workload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/vfsd/vfsd/bench/data"
	"golang.org/x/sys/unix"
)

func durable() []Workload {
	const group = "Durability"
	return []Workload{
		{
			Name: "fsync-append", Title: "append 4 KiB + fsync", Group: group, Client: Tight, Run: fsyncAppends,
		},
		{
			Name: "fsync-create", Title: "create 4 KiB + fsync of file and directory", Group: group, Client: Tight,
			Run: fsyncCreates,
		},
		{
			Name: "editor", Title: "an editor's saves by rename", Group: group, Client: Tight,
			Prepare: openProject, Run: saves, Check: checkSaves,
		},
		{
			Name: "sqlite", Title: "SQLite commits, WAL, synchronous=FULL", Group: group, Client: Tools, Limit: 1.2,
			Needs: []string{"sqlite3"}, Run: sqlite,
		},
	}
}

// observed times one operation and records it.
func (e *Env) observed(op func() error) error {
	start := time.Now()
	if err := op(); err != nil {
		return err
	}
	e.Observe(time.Since(start))
	return nil
}

func fsyncAppends(_ context.Context, e *Env) error {
	return pinned(func() error {
		fd, err := open(e.work("log"), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		r := data.New(e.Seed, 7)
		var buf [page]byte
		for i := range int64(e.Sizes.Fsyncs) {
			data.Text(r, buf[:])
			err := e.observed(func() error {
				return errors.Join(writeAt(fd, buf[:], i*page), fsync(fd))
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func fsyncCreates(_ context.Context, e *Env) error {
	return pinned(func() error {
		dir, err := open(e.Work, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		defer unix.Close(dir)
		r := data.New(e.Seed, 8)
		var buf [page]byte
		for _, p := range names(e.Work, e.Sizes.Fsyncs) {
			data.Text(r, buf[:])
			err := e.observed(func() error {
				return errors.Join(replace(p, buf[:], unix.O_EXCL), fsync(dir))
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// replace writes a file whole and makes it durable.
func replace(path string, p []byte, flag int) error {
	fd, err := open(path, unix.O_WRONLY|unix.O_CREAT|flag, 0o644)
	if err != nil {
		return err
	}
	if err := errors.Join(writeAt(fd, p, 0), fsync(fd)); err != nil {
		unix.Close(fd)
		return fmt.Errorf("%s: %w", path, err)
	}
	return unix.Close(fd)
}

// projectFiles is how many files the editor's user works on in turn.
const projectFiles = 20

func project(e *Env) []string { return names(e.Kept, projectFiles) }

// openProject makes the files that are edited.
func openProject(_ context.Context, e *Env) error {
	r := data.New(e.Base, 9)
	for _, p := range project(e) {
		text := make([]byte, 1<<10+r.IntN(24<<10))
		data.Text(r, text)
		if err := create(p, text); err != nil {
			return err
		}
	}
	return nil
}

// saves edits one file after another as editors do: look at the directory now
// and then, read the file, keep a swap file, write the new text beside it,
// fsync, rename over it, look at the result. The observed time is that of the
// save: from the first write to the last look.
func saves(_ context.Context, e *Env) error {
	files, r := project(e), data.New(e.Seed, 10)
	return pinned(func() error {
		for i := range e.Sizes.Saves {
			path := files[r.IntN(len(files))]
			if i%5 == 0 {
				if _, err := os.ReadDir(e.Kept); err != nil {
					return err
				}
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			at := r.IntN(len(text))
			data.Text(r, text[at:min(at+80, len(text))])
			if err := e.observed(func() error { return save(path, text) }); err != nil {
				return err
			}
		}
		return nil
	})
}

func save(path string, text []byte) error {
	swap, fresh := path+".swp", path+"~"
	if err := create(swap, text[:min(page, len(text))]); err != nil {
		return err
	}
	if err := replace(fresh, text, unix.O_TRUNC); err != nil {
		return err
	}
	var s unix.Stat_t
	return errors.Join(
		again(func() error { return unix.Chmod(fresh, 0o644) }),
		again(func() error { return unix.Rename(fresh, path) }),
		again(func() error { return unix.Unlink(swap) }),
		again(func() error { return unix.Lstat(path, &s) }),
	)
}

// checkSaves sees that nothing was left beside the files.
func checkSaves(_ context.Context, e *Env) error { return countEntries(e.Kept, projectFiles) }

// sqlite commits one row at a time.
func sqlite(ctx context.Context, e *Env) error {
	var sql strings.Builder
	sql.WriteString("PRAGMA journal_mode=WAL;\nPRAGMA synchronous=FULL;\nCREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT);\n")
	r := data.New(e.Seed, 11)
	for i := range e.Sizes.Commits {
		fmt.Fprintf(&sql, "INSERT INTO t(v) VALUES('value %d %x');\n", i, r.Uint64())
	}
	sql.WriteString("SELECT count(*) FROM t;\n")
	out, err := e.run(ctx, Command{Dir: e.Work, Args: []string{"sqlite3", "-batch", "bench.db"}, In: []byte(sql.String())})
	if err != nil {
		return err
	}
	if got, want := strings.Fields(string(out)), fmt.Sprint("wal ", e.Sizes.Commits); strings.Join(got, " ") != want {
		return fmt.Errorf("sqlite3 said %q, want %q", got, want)
	}
	return nil
}
