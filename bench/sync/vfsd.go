package syncbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// vfsd pushes a mounted workspace to another daemon, with TLS and a token. What
// arrives is looked at through a mount of the other.
type vfsd struct {
	here, there string // data directories
	daemons     []*exec.Cmd
}

func (v *vfsd) ctl(ctx context.Context, e *env, data string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, e.o.Vfsctl, append([]string{"--data", data}, args...)...)
	cmd.Dir = e.dir
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("vfsctl %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return string(out), err
}

func (v *vfsd) begin(ctx context.Context, e *env) (string, error) {
	v.here, v.there = filepath.Join(e.dir, "here.data"), filepath.Join(e.dir, "there.data")
	port, err := freePort()
	if err != nil {
		return "", err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	if err := v.daemon(e, v.there, "--listen", address); err != nil {
		return "", err
	}
	if err := v.daemon(e, v.here); err != nil {
		return "", err
	}
	if e.link, err = newLink(func() (net.Conn, error) { return net.Dial("tcp", address) }); err != nil {
		return "", err
	}
	for _, args := range [][]string{{v.there, "create", "ws"}, {v.there, "up", "ws", filepath.Join(e.dir, "there")}} {
		if _, err := v.ctl(ctx, e, args[0], args[1:]...); err != nil {
			return "", err
		}
	}
	out, err := v.ctl(ctx, e, v.there, "share", "ws", "--write", "--json")
	if err != nil {
		return "", err
	}
	var shared struct{ Token string }
	if err := json.Unmarshal([]byte(out), &shared); err != nil {
		return "", err
	}
	here := filepath.Join(e.dir, "here")
	for _, args := range [][]string{
		{"up", "ws", here},
		{"remote", "add", "ws", "there", fmt.Sprintf("vfs://127.0.0.1:%d/ws", e.link.port()), "--token", shared.Token},
	} {
		if _, err := v.ctl(ctx, e, v.here, args...); err != nil {
			return "", err
		}
	}
	return here, nil
}

// daemon starts one and waits until it answers.
func (v *vfsd) daemon(e *env, data string, args ...string) error {
	cmd := exec.Command(filepath.Join(filepath.Dir(e.o.Vfsctl), "vfsd"), append([]string{"--data", data}, args...)...)
	log, err := os.Create(data + ".log")
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	v.daemons = append(v.daemons, cmd)
	socket := filepath.Join(data, "vfsd.sock")
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("unix", socket); err == nil {
			return c.Close()
		}
		if time.Now().After(end) {
			return fmt.Errorf("vfsd does not answer on %s", socket)
		}
	}
}

func (v *vfsd) prepare(context.Context, *env) error { return nil }

func (v *vfsd) sync(ctx context.Context, e *env) error {
	_, err := v.ctl(ctx, e, v.here, "push", "ws")
	return err
}

func (v *vfsd) arrived(_ context.Context, e *env) (string, error) {
	return filepath.Join(e.dir, "there"), nil
}

func (v *vfsd) end(e *env) error {
	var err error
	for _, cmd := range v.daemons { // first: they keep their sessions open
		err = errors.Join(err, cmd.Process.Signal(os.Interrupt), cmd.Wait())
	}
	if e.link != nil {
		err = errors.Join(err, e.link.close())
	}
	return err
}
