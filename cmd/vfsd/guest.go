package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/daemon"
	"github.com/vfsd/vfsd/replica"
)

// guest is a daemon inside a container or a virtual machine that shows one
// workspace of a peer.
type guest struct {
	data, from, token, ca string
	dir                   string // where it is shown
	checkout              bool
	log                   *slog.Logger
	client                *control.Client
	workspace             string
}

func newGuest(begun func(), dir *string) *cobra.Command {
	g := &guest{}
	cmd := &cobra.Command{
		Use:   "guest --from URL DIR",
		Short: "Show a peer's workspace at a directory, as a lazy replica",
		Long: `Show a peer's workspace at a directory, inside a container or a virtual machine: one
program, and nothing else to install. Names and attributes come at once, the bytes
of files when they are used; what is written here reaches the peer soon after, and
the reverse. It works as root, and in a user namespace with /dev/fuse. Without
/dev/fuse, --checkout keeps a plain directory equal instead.

The token is read from $VFSD_TOKEN, or with --token @FILE from a file. When it is
told to stop (SIGTERM, SIGINT) it gives the peer the last changes, unmounts and
ends. What could not be given stays in the data directory for the next start.`,
		Example: "  VFSD_TOKEN=... vfsd guest --from vfs://hub.example/ws /work",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if g.from == "" {
				return errors.New("guest: it takes --from URL")
			}
			begun()
			g.data, g.dir = *dir, args[0]
			return g.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&g.from, "from", "", "`URL` of the workspace")
	cmd.Flags().StringVar(&g.token, "token", "", "`TOKEN` of the peer; @FILE reads it from a file; default $VFSD_TOKEN")
	cmd.Flags().StringVar(&g.ca, "ca", "", "know the peer by a certificate authority, in PEM in this `file`")
	cmd.Flags().BoolVar(&g.checkout, "checkout", false, "keep a plain directory equal instead of mounting")
	return cmd
}

// How long a guest that ends may take to give the peer the last changes.
const farewell = 30 * time.Second

func (g *guest) run(ctx context.Context) (err error) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	a, err := replica.ParseAddress(g.from)
	if err != nil {
		return err
	}
	g.workspace = a.Workspace
	if err := g.secrets(); err != nil {
		return err
	}
	if g.dir, err = filepath.Abs(g.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(g.dir, 0o755); err != nil {
		return err
	}
	g.log = daemon.NewLog(os.Stderr, slog.LevelInfo)
	life, die := context.WithCancel(context.WithoutCancel(ctx))
	defer die()
	ready, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		ended <- daemon.Run(life, daemon.RunOptions{Options: daemon.Options{Dir: g.data, Log: g.log}, Ready: func(err error) { ready <- err }})
	}()
	if err := <-ready; err != nil {
		return errors.Join(err, <-ended)
	}
	g.client = control.Dial(g.data)
	defer g.client.Close()
	err = g.serve(ctx)
	die()
	return errors.Join(err, <-ended)
}

// secrets reads the token and the authorities.
func (g *guest) secrets() error {
	if g.token == "" {
		g.token = os.Getenv("VFSD_TOKEN")
	}
	if name, ok := strings.CutPrefix(g.token, "@"); ok {
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		g.token = strings.TrimSpace(string(b))
	}
	if g.ca != "" {
		b, err := os.ReadFile(g.ca)
		if err != nil {
			return err
		}
		g.ca = string(b)
	}
	return nil
}

// serve clones, shows and syncs until ctx ends.
func (g *guest) serve(ctx context.Context) error {
	if err := g.clone(ctx); err != nil {
		return err
	}
	if !g.checkout {
		_, err := control.MountCall.Do(ctx, g.client, control.MountRequest{
			Workspace: g.workspace, MountPoint: g.dir, MountPointBytes: control.Bytes(g.dir), AllowOther: os.Geteuid() == 0,
		})
		if err != nil {
			return fmt.Errorf("%w; where there is no FUSE, --checkout keeps a plain directory", err)
		}
	}
	g.log.Info("shown", "workspace", g.workspace, "at", g.dir, "from", g.from)
	var parts sync.WaitGroup
	failed := make(chan error, 2)
	part := func(f func(context.Context) error) {
		parts.Go(func() {
			if err := f(ctx); err != nil && ctx.Err() == nil {
				failed <- err
			}
		})
	}
	part(g.watch)
	if g.checkout {
		part(g.keepEqual)
	}
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if err == nil {
		parts.Wait()
		err = g.leave(end)
	}
	return err
}

// clone makes the replica, unless it was made by an earlier start.
func (g *guest) clone(ctx context.Context) error {
	remotes, err := control.RemotesCall.Do(ctx, g.client, control.RemotesRequest{Workspace: g.workspace})
	if err == nil {
		for _, m := range remotes.Remotes {
			if m.Name == "origin" && m.URL == g.from {
				return nil
			}
		}
		return fmt.Errorf("data directory %s: its workspace %s is not one of %s; choose another with --data", g.data, g.workspace, g.from)
	}
	if control.KindOf(err) != control.KindNotFound {
		return err
	}
	_, err = control.CloneStream.Do(ctx, g.client, control.CloneRequest{
		URL: g.from, Workspace: g.workspace, Lazy: !g.checkout, Token: g.token, CA: g.ca,
	}, nil, nil)
	return err
}

// watch exchanges changes with the peer.
func (g *guest) watch(ctx context.Context) error {
	_, err := control.WatchStream.Do(ctx, g.client, control.WatchRequest{Workspace: g.workspace, Remote: "origin"}, nil, func(x control.Synced) {
		if x.Lost != "" {
			g.log.Warn("the peer is away", "err", x.Lost)
		}
		if x.Conflicts > 0 {
			g.log.Warn("conflicts", "count", x.Conflicts)
		}
	})
	return err
}

// keepEqual exchanges changes with the plain directory.
func (g *guest) keepEqual(ctx context.Context) error {
	_, err := control.CheckoutStream.Do(ctx, g.client, g.checkoutRequest(true), nil, func(x control.CheckedOut) {
		if x.Error != "" {
			g.log.Warn("checkout", "err", x.Error)
		}
		for _, p := range x.Problems {
			g.log.Warn("left out", "path", p.Path, "why", p.Why)
		}
	})
	return err
}

func (g *guest) checkoutRequest(watch bool) control.CheckoutRequest {
	return control.CheckoutRequest{Workspace: g.workspace, Dir: g.dir, DirBytes: control.Bytes(g.dir), Watch: watch}
}

// lastPass takes up what was written last. The watch that has just been ended may
// hold the directory for a moment more.
func (g *guest) lastPass(ctx context.Context) error {
	for {
		_, err := control.CheckoutStream.Do(ctx, g.client, g.checkoutRequest(false), nil, nil)
		if control.KindOf(err) != control.KindBusy {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// leave gives the peer what was changed last.
func (g *guest) leave(ctx context.Context) error {
	if g.checkout {
		if err := g.lastPass(ctx); err != nil {
			return err
		}
	}
	_, err := control.SyncStream.Do(ctx, g.client, control.SyncRequest{Workspace: g.workspace, Remote: "origin", Direction: control.Both}, nil, nil)
	if err != nil {
		return fmt.Errorf("the last changes are in %s alone: %w", g.data, err)
	}
	g.log.Info("given to the peer", "workspace", g.workspace)
	return nil
}
