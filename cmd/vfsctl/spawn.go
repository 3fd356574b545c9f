package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/daemon"
)

// connectDaemon returns a session with the daemon, which is started when none
// runs.
func connectDaemon(ctx context.Context, o *options) (_ *session, started bool, err error) {
	deadline := time.Now().Add(inUsePatience)
	for {
		err = probe(ctx, o.data)
		if control.KindOf(err) == control.KindNoDaemon {
			err = startDaemon(ctx, o.data)
			started = err == nil
		}
		if err == nil {
			c := control.Dial(o.data)
			return &session{c, func() error { c.Close(); return nil }}, started, nil
		}
		// Somebody else has just started one, or works on the directory.
		if control.KindOf(err) != control.KindInUse || time.Now().After(deadline) {
			return nil, false, refused(o.data, err)
		}
		select {
		case <-time.After(inUsePause):
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// startDaemon starts a daemon in a session of its own and waits until it
// answers. It outlives this process and its terminal.
func startDaemon(ctx context.Context, dir string) error {
	if err := daemon.CheckDir(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return daemon.Classify(fmt.Errorf("data directory: %w; choose another with --data", err))
	}
	log, err := daemon.OpenLog(dir)
	if err != nil {
		return daemon.Classify(fmt.Errorf("data directory %s: log: %w; choose another with --data", dir, err))
	}
	defer log.Close()
	ready, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	cmd, err := daemonCommand(dir)
	if err != nil {
		return errors.Join(err, theirs.Close())
	}
	cmd.Dir = "/" // keeps no directory busy
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Env = append(os.Environ(), daemon.ReadyEnv+"=3")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	if cerr := theirs.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	return awaitReady(ctx, cmd, ready, log.Name())
}

// awaitReady waits for what a started daemon says.
func awaitReady(ctx context.Context, cmd *exec.Cmd, ready io.Reader, logName string) error {
	said := make(chan error, 1)
	go func() {
		_, err := daemon.ReadReady(ready)
		if err != nil {
			_ = cmd.Wait() // it ends; how, is in the error
		}
		said <- err
	}()
	select {
	case err := <-said:
		if errors.Is(err, daemon.ErrSilent) {
			return control.Errorf(control.KindInternal, "%w (%s): %s; its log is %s", err, cmd.ProcessState, lastLine(logName), logName)
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// daemonCommand is vfsd where it lies beside vfsctl, else vfsctl itself, which
// is all there is under go run.
func daemonCommand(dir string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the daemon's program: %w", err)
	}
	vfsd := filepath.Join(filepath.Dir(self), "vfsd")
	if info, err := os.Stat(vfsd); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		return exec.Command(vfsd, "--data", dir), nil
	}
	return exec.Command(self, "daemon", "--data", dir), nil
}

// tailBytes is how much of a log is looked at for its last line.
const tailBytes = 4 << 10

func lastLine(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return "its log cannot be read"
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "its log cannot be read"
	}
	b, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-tailBytes), tailBytes))
	if err != nil {
		return "its log cannot be read"
	}
	text := strings.TrimSpace(string(b))
	return text[strings.LastIndexByte(text, '\n')+1:]
}
