package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/daemon"
)

// session is a way to ask: a daemon, or the data directory itself.
type session struct {
	*control.Client
	end func() error
}

// close ends the session. That it cannot be checkpointed then, on a full disk
// say, is no failure of a command that has done its work: nothing is lost.
func (s *session) close(o *options) {
	if err := s.end(); err != nil {
		fmt.Fprintf(o.err, "note: %s\n", daemon.Uncheckpointed(err))
	}
}

// Another command may have the data directory open for a moment.
const (
	inUsePatience = 5 * time.Second
	inUsePause    = 20 * time.Millisecond
)

// connect asks the daemon or, when none runs, opens the data directory, which
// is not made.
func connect(ctx context.Context, o *options) (*session, error) {
	if !daemon.HasDataDir(o.data) {
		if err := daemon.CheckDir(o.data); err != nil {
			return nil, err
		}
		return nil, control.Errorf(control.KindNotFound, "data directory %s: there is none yet; vfsctl up or vfsctl create makes it, --data names another", o.data)
	}
	return connectOrMake(ctx, o)
}

// connectOrMake is connect, and makes the data directory where it is missing.
func connectOrMake(ctx context.Context, o *options) (*session, error) {
	deadline := time.Now().Add(inUsePatience)
	for {
		err := probe(ctx, o.data)
		if err == nil {
			c := control.Dial(o.data)
			return &session{c, func() error { c.Close(); return nil }}, nil
		}
		if control.KindOf(err) != control.KindNoDaemon {
			return nil, refused(o.data, err)
		}
		s, err := openLocal(ctx, o.data)
		if control.KindOf(err) != control.KindInUse || time.Now().After(deadline) {
			return s, err
		}
		select {
		case <-time.After(inUsePause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// pingPatience is how long a daemon that listens may take to say anything at
// all; what it is asked may take longer.
const pingPatience = 10 * time.Second

// probe finds out whether a daemon listens and answers.
func probe(ctx context.Context, dir string) error {
	if err := control.Probe(ctx, dir); err != nil {
		return err
	}
	if err := control.Ping(ctx, dir, pingPatience); err != nil {
		return fmt.Errorf("data directory %s: %w; vfsctl doctor tells how to go on", dir, err)
	}
	return nil
}

// refused is why no connection came about: whose directory it is says more
// than that the socket may not be used.
func refused(dir string, err error) error {
	if control.KindOf(err) == control.KindNoRight {
		if derr := daemon.CheckDir(dir); derr != nil {
			return derr
		}
	}
	return err
}

// openLocal opens the data directory in this process, logging where a daemon
// would.
func openLocal(ctx context.Context, dir string) (*session, error) {
	if err := daemon.CheckDir(dir); err != nil {
		return nil, err
	}
	log, closeLog := slog.New(slog.DiscardHandler), func() error { return nil }
	if f, err := daemon.OpenLog(dir); err == nil {
		log, closeLog = daemon.NewLog(f, slog.LevelWarn), f.Close
	}
	d, err := daemon.Open(ctx, daemon.Options{Dir: dir, Log: log})
	if err != nil {
		return nil, errors.Join(err, closeLog())
	}
	return &session{control.Local(d.Handler()), func() error {
		return errors.Join(d.Close(ctx), closeLog())
	}}, nil
}

// call asks one thing of the data directory in o.
func call[Req, Res any](ctx context.Context, o *options, c control.Call[Req, Res], req Req) (res Res, err error) {
	s, err := connect(ctx, o)
	if err != nil {
		return res, err
	}
	defer s.close(o)
	return c.Do(ctx, s.Client, req)
}
