package exec

import (
	"context"
	"time"

	"github.com/vfsd/vfsd/shell"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// place is where sessions are at home: one user's view of one workspace.
type place struct {
	workspace string
	uid, gid  uint32
}

// shellOf is the shell of a place, over the FS that the workspace has now.
type shellOf struct {
	fs vfs.FS
	sh *shell.Shell
}

type sessionKey struct {
	place
	name string
}

// session is a shell session with a name.
type session struct {
	key sessionKey
	ses *shell.Session
	fs  vfs.FS

	last  chan struct{} // guarded by Engine.mu: closed when the last in the queue is done
	users int           // guarded by Engine.mu: executions that run or wait
	used  time.Time     // guarded by Engine.mu
}

// environment is what a session begins with.
func environment(uid uint32) command.Environ {
	env := command.Environ{
		"HOME=/", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"SHELL=/bin/bash", "LANG=C.UTF-8", "TERM=dumb",
	}
	if uid == 0 {
		env = append(env, "USER=root", "LOGNAME=root")
	}
	return env
}

// newSession returns a session of a place. mu is held.
func (e *Engine) newSession(p place, fs vfs.FS, dir string) *shell.Session {
	s := e.shells[p]
	if s == nil || s.fs != fs {
		s = &shellOf{fs: fs, sh: shell.New(shell.Config{
			FS: fs, Cred: vfs.Cred{UID: p.uid, GID: p.gid}, Origin: e.o.Origin, Limits: e.o.Limits,
		})}
		e.shells[p] = s
	}
	return s.sh.NewSession(shell.SessionOptions{Env: environment(p.uid), Dir: dir})
}

// named returns the session of a name, made if there is none, with one more
// user. mu is held.
func (e *Engine) named(p place, fs vfs.FS, name, dir string) *session {
	key := sessionKey{p, name}
	s := e.sessions[key]
	if s != nil && s.fs != fs && s.users == 0 { // the workspace was closed meanwhile
		delete(e.sessions, key)
		s = nil
	}
	if s == nil {
		s = &session{key: key, fs: fs, ses: e.newSession(p, fs, dir), last: make(chan struct{})}
		close(s.last)
		e.sessions[key] = s
		e.thin()
	}
	s.users++
	s.used = time.Now()
	return s
}

// thin ends the sessions that were longest idle when there are too many. mu is
// held.
func (e *Engine) thin() {
	for len(e.sessions) > e.o.MaxSessions {
		var oldest *session
		for _, s := range e.sessions {
			if s.users == 0 && (oldest == nil || s.used.Before(oldest.used)) {
				oldest = s
			}
		}
		if oldest == nil {
			return
		}
		delete(e.sessions, oldest.key)
		oldest.ses.Close()
	}
}

// turn is a place in the queue of a session: its executions run in the order they came.
type turn struct {
	before <-chan struct{} // closed when it has come
	after  chan struct{}
}

// queue takes the next turn. Engine.mu is held.
func (s *session) queue() turn {
	t := turn{before: s.last, after: make(chan struct{})}
	s.last = t.after
	return t
}

// take waits for the turn, until ctx ends; then it is given up.
func (t turn) take(ctx context.Context) bool {
	select {
	case <-t.before:
		return true
	case <-ctx.Done():
		command.Go(func() {
			<-t.before
			close(t.after)
		})
		return false
	}
}

// done lets the next one have its turn.
func (t turn) done() { close(t.after) }

// release takes a user from a session.
func (e *Engine) release(s *session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.users--
	s.used = time.Now()
}

// Idle ends the sessions that nobody has used since.
func (e *Engine) Idle(since time.Time) {
	e.endSessions(func(s *session) bool { return s.used.Before(since) })
}

// EndSession ends a session and forgets its variables; false when there is none
// of that name, ErrBusy when something runs in it.
func (e *Engine) EndSession(workspace string, uid, gid uint32, name string) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := sessionKey{place{workspace, uid, gid}, name}
	s := e.sessions[key]
	switch {
	case s == nil:
		return false, nil
	case s.users > 0:
		return true, ErrBusy
	}
	delete(e.sessions, key)
	s.ses.Close()
	return true, nil
}

// endSessions ends those without users that which says.
func (e *Engine) endSessions(which func(*session) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, s := range e.sessions {
		if s.users == 0 && which(s) {
			delete(e.sessions, key)
			s.ses.Close()
		}
	}
	for p := range e.shells {
		if !e.inUse(p) {
			delete(e.shells, p)
		}
	}
}

// inUse reports whether a place has sessions or executions. mu is held.
func (e *Engine) inUse(p place) bool {
	for key := range e.sessions {
		if key.place == p {
			return true
		}
	}
	for _, x := range e.live {
		if x.place == p {
			return true
		}
	}
	return false
}

// with runs f with a session that nobody else uses meanwhile.
func (e *Engine) with(ctx context.Context, r Request, f func(*shell.Session)) error {
	fs, err := e.open(r.Workspace)
	if err != nil {
		return err
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return ErrClosed
	}
	s := e.named(place{r.Workspace, r.UID, r.GID}, fs, r.Session, r.Dir)
	t := s.queue()
	e.mu.Unlock()
	defer e.release(s)
	if !t.take(ctx) {
		return ctx.Err()
	}
	defer t.done()
	f(s.ses)
	return nil
}

// Prompt expands a prompt variable of a session ("PS1", "PS2") as Bash does
// before it reads a line; fallback is used where the variable is not set.
func (e *Engine) Prompt(ctx context.Context, r Request, variable, fallback string) (prompt string, err error) {
	err = e.with(ctx, r, func(ses *shell.Session) { prompt = ses.Prompt(ctx, variable, fallback) })
	return prompt, err
}

// Complete lists what the word at the end of line can become in a session, and
// where in line that word begins.
func (e *Engine) Complete(ctx context.Context, r Request, line string) (from int, words []string, err error) {
	err = e.with(ctx, r, func(ses *shell.Session) { from, words = ses.Complete(ctx, line) })
	return from, words, err
}
