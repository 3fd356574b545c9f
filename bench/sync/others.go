package syncbench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// server is a process that listens on a port of this machine.
type server struct{ cmd *exec.Cmd }

// freePort returns a port that nobody listens on just now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// startServer runs a server and a link to it.
func startServer(ctx context.Context, e *env, args func(port int) []string) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	line := args(port)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir, cmd.Env = e.dir, append(os.Environ(), "HOME="+e.dir)
	log, err := os.Create(filepath.Join(e.dir, "server.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			break
		}
		if time.Now().After(deadline) {
			return &server{cmd}, fmt.Errorf("%s does not listen", line[0])
		}
	}
	e.link, err = newLink(func() (net.Conn, error) { return net.Dial("tcp", address) })
	return &server{cmd}, err
}

func (s *server) stop(e *env) error {
	if s == nil {
		return nil
	}
	err := s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it says that it was killed
	if e.link != nil {
		err = errors.Join(err, e.link.close())
	}
	return err
}

func mkdirs(dirs ...string) error {
	for _, d := range dirs {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// rsync pushes to an rsync daemon.
type rsync struct{ *server }

func (r *rsync) begin(ctx context.Context, e *env) (string, error) {
	here, there := filepath.Join(e.dir, "here"), filepath.Join(e.dir, "there")
	if err := mkdirs(here, there); err != nil {
		return "", err
	}
	conf := filepath.Join(e.dir, "rsyncd.conf")
	text := fmt.Sprintf("use chroot = no\n[to]\npath = %s\nread only = no\nuid = %d\ngid = %d\n", there, os.Getuid(), os.Getgid())
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		return "", err
	}
	var err error
	r.server, err = startServer(ctx, e, func(port int) []string {
		return []string{"rsync", "--daemon", "--no-detach", "--config", conf, "--port", fmt.Sprint(port), "--address", "127.0.0.1"}
	})
	return here, err
}

func (r *rsync) prepare(context.Context, *env) error { return nil }

func (r *rsync) sync(ctx context.Context, e *env) error {
	return command(ctx, e.dir, nil, "rsync", "-aHAX", "--delete", "here/", fmt.Sprintf("rsync://127.0.0.1:%d/to/", e.link.port()))
}

func (r *rsync) arrived(_ context.Context, e *env) (string, error) {
	return filepath.Join(e.dir, "there"), nil
}

func (r *rsync) end(e *env) error { return r.server.stop(e) }

// unison synchronises with another over a socket.
type unison struct{ *server }

func (u *unison) begin(ctx context.Context, e *env) (string, error) {
	here, there := filepath.Join(e.dir, "here"), filepath.Join(e.dir, "there")
	if err := mkdirs(here, there); err != nil {
		return "", err
	}
	var err error
	u.server, err = startServer(ctx, e, func(port int) []string {
		return []string{"env", "UNISON=" + filepath.Join(e.dir, "there.unison"), "unison", "-socket", fmt.Sprint(port), "-listen", "127.0.0.1"}
	})
	return here, err
}

func (u *unison) prepare(context.Context, *env) error { return nil }

func (u *unison) sync(ctx context.Context, e *env) error {
	remote := fmt.Sprintf("socket://127.0.0.1:%d/%s", e.link.port(), filepath.Join(e.dir, "there"))
	return command(ctx, e.dir, []string{"UNISON=" + filepath.Join(e.dir, "here.unison"), "HOME=" + e.dir},
		"unison", "-batch", "-times", "-confirmbigdel=false", "-ui", "text", filepath.Join(e.dir, "here"), remote)
}

func (u *unison) arrived(_ context.Context, e *env) (string, error) {
	return filepath.Join(e.dir, "there"), nil
}

func (u *unison) end(e *env) error { return u.server.stop(e) }

// git commits and pushes to a git daemon; it fills no working tree there, which
// arrived does after the clock has stopped.
type git struct{ *server }

func (g *git) environ(e *env) []string {
	return []string{"HOME=" + e.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=b", "GIT_AUTHOR_EMAIL=b@example.org",
		"GIT_COMMITTER_NAME=b", "GIT_COMMITTER_EMAIL=b@example.org"}
}

func (g *git) run(ctx context.Context, e *env, args ...string) error {
	return command(ctx, e.dir, g.environ(e), append([]string{"git"}, args...)...)
}

func (g *git) begin(ctx context.Context, e *env) (string, error) {
	here := filepath.Join(e.dir, "here")
	if err := g.run(ctx, e, "init", "-q", "--bare", "there.git"); err != nil {
		return "", err
	}
	if err := g.run(ctx, e, "init", "-q", "-b", "main", here); err != nil {
		return "", err
	}
	var err error
	g.server, err = startServer(ctx, e, func(port int) []string {
		return []string{"git", "daemon", "--reuseaddr", "--export-all", "--enable=receive-pack", "--listen=127.0.0.1",
			fmt.Sprintf("--port=%d", port), "--base-path=" + e.dir, e.dir}
	})
	return here, err
}

func (g *git) prepare(ctx context.Context, e *env) error {
	if err := g.run(ctx, e, "-C", "here", "add", "-A"); err != nil {
		return err
	}
	return g.run(ctx, e, "-C", "here", "-c", "gc.auto=0", "commit", "-q", "--allow-empty", "-m", "step")
}

func (g *git) sync(ctx context.Context, e *env) error {
	return g.run(ctx, e, "-C", "here", "push", "-q", fmt.Sprintf("git://127.0.0.1:%d/there.git", e.link.port()), "main")
}

func (g *git) arrived(ctx context.Context, e *env) (string, error) {
	there := filepath.Join(e.dir, "checked-out")
	if err := os.RemoveAll(there); err != nil {
		return "", err
	}
	return there, g.run(ctx, e, "clone", "-q", "-b", "main", "there.git", there)
}

func (g *git) end(e *env) error { return g.server.stop(e) }
