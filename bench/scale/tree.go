package scale

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/bench/data"
	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"
)

// name is the workspace that steps work in.
const name = "bench"

// opened calls use with a data directory, which it closes.
func opened(ctx context.Context, s step, use func(d *workspace.DataDir) error) (err error) {
	d, err := workspace.OpenDataDir(ctx, workspace.Options{Dir: s.data()})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := d.Close(); err == nil {
			err = cerr
		}
	}()
	return use(d)
}

// root asks as the super-user.
func root(ctx context.Context) *vfs.Op { return &vfs.Op{Ctx: ctx, Umask: 0o022} }

// dirsPerGroup bounds how many directories stand in one: the tree is group/
// directory/file, and of one directory just directory/file.
const dirsPerGroup = 100

// fileSize is what a file of the trees holds.
const fileSize = 64

func dirName(i int) string   { return fmt.Sprintf("d%d", i) }
func groupName(i int) string { return fmt.Sprintf("g%d", i) }
func fileName(i int) string  { return fmt.Sprintf("file%07d.txt", i) }

// groups tells whether directories of a step stand in groups.
func (s *step) groups() bool { return s.PerDir < s.Count }

// fill makes a workspace of Count files, PerDir in a directory.
func fill(ctx context.Context, s step, _ io.Reader, emit func(figures) error) error {
	return opened(ctx, s, func(d *workspace.DataDir) error {
		w, err := d.Create(ctx, name, 0, 0)
		if err != nil {
			return err
		}
		start := time.Now()
		if err := fillTree(ctx, w, s); err != nil {
			return err
		}
		took := time.Since(start)
		start = time.Now()
		if _, err := w.Checkpoint(ctx, workspace.CauseCheckpoint, ""); err != nil {
			return err
		}
		return emit(figures{"create": us(took) / float64(s.Count), "checkpoint": ms(time.Since(start))})
	})
}

func fillTree(ctx context.Context, w *workspace.Workspace, s step) error {
	op, r := root(ctx), data.New(1, 20)
	var content [fileSize]byte
	var group, dir vfs.Attr
	var err error
	group.Ino = vfs.RootIno
	for i := range s.Count {
		if i%s.PerDir == 0 {
			n := i / s.PerDir
			if s.groups() && n%dirsPerGroup == 0 {
				if group, err = w.Mkdir(op, vfs.RootIno, groupName(n/dirsPerGroup), 0o755); err != nil {
					return err
				}
			}
			if dir, err = w.Mkdir(op, group.Ino, dirName(n), 0o755); err != nil {
				return err
			}
		}
		data.Text(r, content[:])
		if err := writeNew(w, op, dir.Ino, fileName(i), content[:]); err != nil {
			return err
		}
	}
	return nil
}

func writeNew(w vfs.FS, op *vfs.Op, dir vfs.Ino, name string, content []byte) error {
	_, h, err := w.Create(op, dir, name, 0o644, syscall.O_WRONLY)
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	defer h.Release(op)
	if _, err := h.Write(op, content, 0); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// lookRuns is how often a snapshot and a fork are timed; the median counts.
const lookRuns = 7

// look opens what fill made, in a process that has seen nothing of it.
func look(ctx context.Context, s step, _ io.Reader, emit func(figures) error) error {
	start := time.Now()
	return opened(ctx, s, func(d *workspace.DataDir) error {
		f := figures{"store": ms(time.Since(start))}
		start := time.Now()
		w, err := d.Open(name)
		if err != nil {
			return err
		}
		f["open"] = ms(time.Since(start))
		start = time.Now()
		if err := firstPath(ctx, w, s); err != nil {
			return err
		}
		f["lookup"] = ms(time.Since(start))
		if err := history(ctx, d, w, f); err != nil {
			return err
		}
		start = time.Now()
		n, err := scan(ctx, w, vfs.RootIno)
		if err != nil {
			return err
		}
		if n != s.Count+1 { // history made one more
			return fmt.Errorf("%d files in the scan, want %d", n, s.Count+1)
		}
		f["scan"] = ms(time.Since(start))
		if err := s.settled(f); err != nil {
			return err
		}
		return emit(f)
	})
}

// firstPath looks up the last file.
func firstPath(ctx context.Context, w *workspace.Workspace, s step) error {
	last := s.Count - 1
	dir := last / s.PerDir
	names := []string{dirName(dir), fileName(last)}
	if s.groups() {
		names = append([]string{groupName(dir / dirsPerGroup)}, names...)
	}
	at := vfs.RootIno
	for _, n := range names {
		a, err := w.Lookup(root(ctx), at, n)
		if err != nil {
			return fmt.Errorf("lookup %s: %w", n, err)
		}
		at = a.Ino
	}
	return nil
}

// history times snapshots, each after one change, and forks.
func history(ctx context.Context, d *workspace.DataDir, w *workspace.Workspace, f figures) error {
	var snapshots, forks []float64
	op := root(ctx)
	_, h, err := w.Create(op, vfs.RootIno, "changing", 0o644, syscall.O_WRONLY)
	if err != nil {
		return err
	}
	defer h.Release(op)
	for i := range lookRuns {
		if _, err := h.Write(op, fmt.Appendf(nil, "change %d", i), 0); err != nil {
			return err
		}
		start := time.Now()
		snapshot, err := w.Snapshot(ctx, fmt.Sprintf("s%d", i))
		if err != nil {
			return err
		}
		snapshots = append(snapshots, ms(time.Since(start)))
		start = time.Now()
		if _, err := d.Fork(ctx, w, snapshot.Commit, fmt.Sprintf("fork%d", i)); err != nil {
			return err
		}
		forks = append(forks, ms(time.Since(start)))
	}
	f["snapshot"], f["fork"] = median(snapshots), median(forks)
	return nil
}

// scan reads all names and attributes below a directory and counts the files.
func scan(ctx context.Context, w *workspace.Workspace, dir vfs.Ino) (n int, err error) {
	op := root(ctx)
	h, err := w.OpenDir(op, dir)
	if err != nil {
		return 0, err
	}
	defer h.Release(op)
	var below []vfs.Ino
	err = h.ReadDir(op, 0, true, func(e *vfs.DirEntry) bool {
		if e.Attr.Mode&vfs.ModeTypeMask == vfs.ModeDir {
			below = append(below, e.Ino)
		} else {
			n++
		}
		return true
	})
	for _, ino := range below {
		if err != nil {
			return n, err
		}
		var more int
		more, err = scan(ctx, w, ino)
		n += more
	}
	return n, err
}

// countFiles walks a mounted tree, with a stat for each name.
func countFiles(dir string) (n int, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if _, err := e.Info(); err != nil {
			return err
		}
		if !e.IsDir() {
			n++
		}
		return nil
	})
	return n, err
}

// fillPlain makes the directory of the comparison on the local disk.
func fillPlain(ctx context.Context, dir string, n int) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	r := data.New(1, 20)
	var content [fileSize]byte
	for i := range n {
		if i%1000 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		data.Text(r, content[:])
		if err := os.WriteFile(filepath.Join(dir, fileName(i)), content[:], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// listRuns is how often a directory is listed; the median counts.
const listRuns = 3

// timedList lists the names of a directory.
func timedList(dir string, want int) (time.Duration, error) {
	var took []float64
	for range listRuns {
		start := time.Now()
		n, err := countNames(dir)
		if err != nil {
			return 0, err
		}
		if n != want {
			return 0, fmt.Errorf("%d names in a directory, want %d", n, want)
		}
		took = append(took, float64(time.Since(start)))
	}
	return time.Duration(median(took)), nil
}

func countNames(dir string) (n int, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(4096)
		n += len(names)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// listByTools lists a directory of n files with the programs that people use and
// returns the milliseconds of each.
func listByTools(ctx context.Context, dir string, n int) (figures, error) {
	f := figures{}
	for _, t := range []struct {
		curve string
		args  []string
		extra int // lines that are not files
	}{
		{"ls-f", []string{"ls", "-f"}, 2},
		{"ls-l", []string{"ls", "-l"}, 1},
		{"find", []string{"find", "."}, 1},
	} {
		start := time.Now()
		lines, err := linesOf(ctx, dir, t.args)
		if err != nil {
			return nil, err
		}
		f[t.curve] = ms(time.Since(start))
		if lines != n+t.extra {
			return nil, fmt.Errorf("%v printed %d lines, want %d", t.args, lines, n+t.extra)
		}
	}
	return f, nil
}

// linesOf counts what a program prints, and keeps none of it.
func linesOf(ctx context.Context, dir string, args []string) (lines int, err error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	buf := make([]byte, 64<<10)
	for err == nil {
		var m int
		m, err = out.Read(buf)
		lines += bytes.Count(buf[:m], []byte("\n"))
	}
	if err == io.EOF {
		err = nil
	}
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return 0, fmt.Errorf("%v: %w", args, err)
	}
	return lines, nil
}
