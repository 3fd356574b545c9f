package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/volumes"
)

// pluginSocket is where Docker looks for plugins.
const pluginSocket = "/run/docker/plugins/vfsd.sock"

type pluginOptions struct {
	*options
	socket string
	mounts string
}

func newVolumePlugin(o *options, s streams) *cobra.Command {
	p := pluginOptions{options: o}
	cmd := &cobra.Command{
		Use:   "volume-plugin",
		Short: "Give workspaces to Docker and podman as volumes, by name",
		Long: `Serve the volume plugin protocol, in the foreground, until it is told to end.
Containers then name a workspace where they would name a volume; it is mounted
once on this host, however many containers use it, and what they write is in the
workspace at once.

  docker run --rm --mount type=volume,volume-driver=vfsd,src=ws,dst=/work alpine ls /work

podman is told of the plugin in /etc/containers/containers.conf:

  [engine.volume_plugins]
  vfsd = "` + pluginSocket + `"

and then takes "podman volume create --driver vfsd ws" and "podman run -v ws:/work".

A volume of a name that no workspace has makes one, and removing that volume
removes it. A workspace that was there before is not removed with its volume.
The option readonly=true of a volume refuses writes.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runVolumePlugin(cmd.Context(), p, s) },
	}
	cmd.Flags().StringVar(&p.socket, "socket", pluginSocket, "`path` of the socket")
	cmd.Flags().StringVar(&p.mounts, "mounts", "", "`directory` of the mount points (default: the path of the data directory with -volumes after it)")
	return cmd
}

func runVolumePlugin(ctx context.Context, o pluginOptions, s streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if o.mounts == "" {
		o.mounts = o.data + "-volumes"
	}
	if err := os.MkdirAll(o.mounts, 0o755); err != nil {
		return err
	}
	p, err := volumes.Open(volumes.Options{
		Dial: func(ctx context.Context) (*control.Client, error) {
			c, _, err := connectDaemon(ctx, o.options)
			if err != nil {
				return nil, err
			}
			return c.Client, nil
		},
		StateFile: filepath.Join(o.mounts, ".volumes.json"), MountDir: o.mounts,
		UID: uint32(os.Getuid()), GID: uint32(os.Getgid()),
		Log: slog.New(slog.NewTextHandler(o.err, nil)),
	})
	if err != nil {
		return err
	}
	l, err := listenPlugin(o.socket)
	if err != nil {
		return err
	}
	s.printf("serving volumes on %s\n", o.socket)
	if err := p.Serve(ctx, l); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// listenPlugin makes the socket, for root alone; one that nobody listens on any
// more is replaced.
func listenPlugin(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, control.Errorf(control.KindInUse, "volume-plugin: %s: another plugin listens there; end it, or choose another --socket", path)
	}
	if fi, err := os.Lstat(path); err == nil && fi.Mode()&fs.ModeSocket == 0 {
		return nil, control.Errorf(control.KindNotOurs, "volume-plugin: %s: it is there and is no socket", path)
	} else if err == nil {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	old := syscall.Umask(0o177)
	l, err := net.Listen("unix", path)
	syscall.Umask(old)
	if err != nil {
		return nil, fmt.Errorf("volume-plugin: %w", err)
	}
	return l, nil
}
