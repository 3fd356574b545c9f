package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/daemon"
	"github.com/vfsd/vfsd/mount"
)

type upOptions struct {
	*options
	workspace  string
	mountPoint string
	driver     string
	allowOther bool
	readOnly   bool
}

func newUp(o *options, s streams) *cobra.Command {
	u := upOptions{options: o}
	cmd := &cobra.Command{
		Use:   "up [WORKSPACE] MOUNTPOINT",
		Short: "Mount a workspace, made if it is missing; starts the daemon",
		Long: `Mount a workspace at a directory. The daemon is started when none runs, the
workspace is made when there is none of that name (its root belongs to you), and
the directory is made when its parent is there. Without a name, the workspace is
called as the directory.

What a daemon that died left at the mount point is cleared, and what it had
mounted is mounted again.`,
		Example: "  vfsctl up ./ws\n  vfsctl up project /mnt/project",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			u.mountPoint = args[len(args)-1]
			if len(args) == 2 {
				u.workspace = args[0]
			} else {
				u.workspace = nameFor(u.mountPoint)
			}
			return runUp(cmd.Context(), u, s)
		},
	}
	cmd.Flags().StringVar(&u.driver, "driver", mount.DefaultDriver, "FUSE `library`: "+strings.Join(mount.Drivers(), " or "))
	cmd.Flags().BoolVar(&u.allowOther, "allow-other", os.Geteuid() == 0, "let other users in; permissions rule")
	cmd.Flags().Lookup("allow-other").DefValue = "true as root, else false"
	cmd.Flags().BoolVar(&u.readOnly, "read-only", false, "refuse changes through this mount")
	completeOption(cmd, "driver", cobra.FixedCompletions(mount.Drivers(), cobra.ShellCompDirectiveNoFileComp))
	return jsonFlag(cmd, o)
}

func runUp(ctx context.Context, u upOptions, s streams) (err error) {
	if !slices.Contains(mount.Drivers(), u.driver) {
		return control.Errorf(control.KindUsage, "up: --driver %q: it takes %s", u.driver, strings.Join(mount.Drivers(), " or "))
	}
	point, err := realMountPoint(u.mountPoint)
	if err != nil {
		return err
	}
	if err := checkLink(u.mountPoint, point); err != nil {
		return err
	}
	made, err := makeMountPoint(point)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && made {
			_ = os.Remove(point) // as it was before; an error changes nothing
		}
	}()
	res, err := mountThere(ctx, u, point, s)
	if errors.Is(err, control.ErrCutOff) || control.KindOf(err) == control.KindNoDaemon {
		// A daemon that was dying took the call: it is gone now.
		res, err = mountThere(ctx, u, point, s)
	}
	if err != nil {
		return err
	}
	if u.json {
		return s.printJSON(res)
	}
	printUp(s, u, res)
	return nil
}

// mountThere has the daemon mount the workspace, and starts one if need be.
func mountThere(ctx context.Context, u upOptions, point string, s streams) (res control.MountResult, err error) {
	c, started, err := connectDaemon(ctx, u.options)
	if err != nil {
		return res, err
	}
	defer c.close(u.options)
	if started {
		if err := printNotes(ctx, c, s); err != nil {
			return res, err
		}
	}
	return control.MountCall.Do(ctx, c.Client, control.MountRequest{
		Workspace: u.workspace, MountPoint: point, Driver: u.driver, AllowOther: u.allowOther, ReadOnly: u.readOnly,
		Create: true, UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), MountPointBytes: control.Bytes(point),
	})
}

// printNotes says what a daemon met when it started: mounts that one which
// died had left, and what became of them.
func printNotes(ctx context.Context, c *session, s streams) error {
	st, err := control.StatusCall.Do(ctx, c.Client, control.StatusRequest{})
	if err != nil {
		return err
	}
	for _, n := range st.Notes {
		fmt.Fprintf(s.Err, "note: %s\n", control.Line(n))
	}
	return nil
}

func printUp(s streams, u upOptions, res control.MountResult) {
	what := "workspace"
	if res.Created {
		what = "new workspace"
	}
	verb := "is mounted at"
	if res.Already {
		verb = "is mounted already at"
	}
	m := res.Mount
	s.printf("%s %s %s %s\n", what, s.colour(bold, m.Workspace), verb, s.colour(bold, control.Printable(m.Point())))
	if res.Already {
		return
	}
	s.printf("try next:\n")
	snapshot, down := "vfsctl snapshot "+m.Workspace+" NAME", "vfsctl down "+control.Word(u.mountPoint)
	width := max(len(snapshot), len(down)) + 3
	s.printf("  %s keep the present state\n", pad(snapshot, width))
	s.printf("  %s what is mounted\n", pad("vfsctl status", width))
	s.printf("  %s unmount it; nothing is lost\n", pad(down, width))
}

// nameFor makes a workspace's name of a mount point's last part.
func nameFor(mountPoint string) string {
	abs, err := filepath.Abs(mountPoint)
	if err != nil {
		abs = mountPoint
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '-'
	}, filepath.Base(abs))
	name = strings.TrimLeft(name, ".-_")
	if name = name[:min(len(name), 64)]; name == "" {
		return "workspace"
	}
	return name
}

// realMountPoint returns the absolute path without symlinks. Nothing of it
// waits for a daemon that hangs: the mount point itself is not looked into.
func realMountPoint(path string) (string, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return "", control.Errorf(control.KindUsage, "mount point %q: no path", path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range 40 {
		dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
		if err != nil {
			return "", daemon.Classify(fmt.Errorf("mount point %s: its parent: %w; make it first", abs, err))
		}
		abs = filepath.Join(dir, filepath.Base(abs))
		target, err := os.Readlink(abs)
		if err != nil {
			return abs, nil
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		abs = filepath.Clean(target)
	}
	return "", daemon.Classify(fmt.Errorf("mount point %s: %w", path, syscall.ELOOP))
}

// checkLink refuses a symlink that leads nowhere: what it names is not ours to
// make. Reading links asks no daemon, so that one that hangs keeps nobody.
func checkLink(given, point string) error {
	if _, err := os.Readlink(filepath.Clean(given)); err != nil {
		return nil
	}
	if _, err := os.Readlink(point); errors.Is(err, fs.ErrNotExist) {
		return control.Errorf(control.KindNotFound, "mount point %s: it is a symlink to %s, which is not there; make that first", given, point)
	}
	return nil
}

// makeMountPoint makes the directory if it is missing.
func makeMountPoint(path string) (made bool, err error) {
	err = os.Mkdir(path, 0o755)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrExist), errors.Is(err, syscall.ENOTCONN):
		return false, nil // the daemon judges what is there
	}
	return false, daemon.Classify(fmt.Errorf("mount point: %w", err))
}
