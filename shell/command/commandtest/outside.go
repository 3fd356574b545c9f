package commandtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var umaskOnce sync.Once

// Outside runs the case with the real tool in a temporary directory.
func Outside(t testing.TB, c *Case) Result {
	t.Helper()
	umaskOnce.Do(func() { syscall.Umask(0o022) })
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, e := range c.entries() {
		if err := makeOutside(dir, e); err != nil {
			t.Fatal(err)
		}
	}
	expand := func(s string) string { return strings.ReplaceAll(s, Dir, dir) }
	args := make([]string, len(c.Args))
	for i, a := range c.Args {
		args[i] = expand(a)
	}
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.WaitDelay = time.Second // a background job may keep the pipes open
	// Whatever the tool starts ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "TZ=UTC"}
	for _, kv := range c.Env {
		cmd.Env = append(cmd.Env, expand(kv))
	}
	cmd.Stdin = strings.NewReader(expand(c.Stdin))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatalf("the real tool: %v", err)
	}
	collapse := func(s string) string { return strings.ReplaceAll(s, dir, Dir) }
	status := cmd.ProcessState.ExitCode()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		status = 128 + int(ws.Signal())
	}
	return Result{
		Status: status,
		Stdout: collapse(stdout.String()),
		Stderr: collapse(stderr.String()),
		Tree:   treeOutside(t, dir, c.Times, collapse),
	}
}

func makeOutside(dir string, e Entry) error {
	path := filepath.Join(dir, e.Path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	var err error
	switch {
	case strings.HasSuffix(e.Path, "/"):
		err = os.MkdirAll(path, 0o755)
	case e.Link != "":
		return os.Symlink(strings.ReplaceAll(e.Link, Dir, dir), path)
	case e.Hard != "":
		err = os.Link(filepath.Join(dir, e.Hard), path)
	case e.FIFO:
		err = syscall.Mkfifo(path, 0o644)
	default:
		err = os.WriteFile(path, []byte(strings.ReplaceAll(e.Content, Dir, dir)), 0o644)
	}
	if err == nil && e.Mode != 0 {
		err = syscall.Chmod(path, e.Mode)
	}
	if err == nil && !e.Time.IsZero() {
		err = os.Chtimes(path, e.Time, e.Time)
	}
	return err
}

// treeOutside lists what is below dir.
func treeOutside(t testing.TB, dir string, times bool, collapse func(string) string) []string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		var st syscall.Stat_t
		if err := syscall.Lstat(path, &st); err != nil {
			return err
		}
		var body string
		switch st.Mode & syscall.S_IFMT {
		case syscall.S_IFREG:
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			body = collapse(string(b))
		case syscall.S_IFLNK:
			if body, err = os.Readlink(path); err != nil {
				return err
			}
			body = collapse(body)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		lines = append(lines, treeLine(rel, uint32(st.Mode), body, info.ModTime().Unix(), times))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(lines)
	return lines
}

// treeLine describes one path as a golden file does.
func treeLine(path string, mode uint32, body string, mtime int64, times bool) string {
	q := strconv.QuoteToASCII
	var s string
	switch mode & 0o170000 {
	case 0o100000:
		s = fmt.Sprintf("file %s %04o %s", q(path), mode&0o7777, q(body))
	case 0o040000:
		s = fmt.Sprintf("dir %s %04o", q(path), mode&0o7777)
	case 0o120000:
		return fmt.Sprintf("link %s %s", q(path), q(body))
	default:
		s = fmt.Sprintf("special %s %06o", q(path), mode)
	}
	if times && mode&0o170000 == 0o100000 {
		s += " @" + moment(mtime)
	}
	return s
}

// moment writes a modification time so that a golden file stays right: one
// that the run itself has set is "now".
func moment(mtime int64) string {
	if age := time.Since(time.Unix(mtime, 0)); age > -time.Hour && age < time.Hour {
		return "now"
	}
	return strconv.FormatInt(mtime, 10)
}
