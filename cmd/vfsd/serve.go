package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/daemon"
	"github.com/vfsd/vfsd/replica"
)

// newServe is what a peer runs at the other end of ssh.
func newServe(begun func(), dir *string) *cobra.Command {
	var stdio bool
	cmd := &cobra.Command{
		Use:   "serve --stdio",
		Short: "Serve one peer over standard input and output",
		Long: `Serve one peer over standard input and output, as the daemon that runs on the data
directory, or in its place when none runs. Whoever may run this may use every
workspace: it is what ssh://HOST/WORKSPACE runs on HOST.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !stdio {
				return errors.New("serve: it takes --stdio; to listen on the network, run vfsd --listen HOST:PORT")
			}
			begun()
			return serveStdio(cmd.Context(), *dir)
		},
	}
	cmd.Flags().BoolVar(&stdio, "stdio", false, "serve standard input and output")
	return cmd
}

func serveStdio(ctx context.Context, dir string) error {
	err := control.Probe(ctx, dir)
	if err == nil {
		socket := replica.Address{Scheme: replica.SchemeUnix, Socket: filepath.Join(dir, control.SocketName), Workspace: "any"}
		nc, err := replica.Dial(ctx, socket, nil)
		if err != nil {
			return err
		}
		return splice(nc)
	}
	if control.KindOf(err) != control.KindNoDaemon {
		return err
	}
	log := daemon.NewLog(os.Stderr, slog.LevelWarn)
	d, err := daemon.Open(ctx, daemon.Options{Dir: dir, Log: log})
	if err != nil {
		return err
	}
	d.ServeStdio(ctx)
	return d.Close(ctx)
}

// splice joins standard input and output with a connection, until either ends.
func splice(nc net.Conn) error {
	done := make(chan error, 2)
	go func() {
		_, err := io.Copy(nc, os.Stdin)
		done <- err
	}()
	go func() {
		_, err := io.Copy(os.Stdout, nc)
		done <- err
	}()
	err := <-done
	return errors.Join(err, nc.Close())
}
