package daemon

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

// Foreground runs a daemon until a signal or a client ends it, logging to standard
// error from level on. It is what vfsd does, and vfsctl's own daemon. The log,
// Ready, Level and Upgrade of o are its own.
func Foreground(o RunOptions, level slog.Level) error {
	var lv slog.LevelVar
	lv.Set(level)
	log := NewLog(os.Stderr, &lv)
	ctx, again := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer again()
	// A second signal is not waited for: it ends the process as kill -9 would.
	context.AfterFunc(ctx, again)
	upgrade := make(chan os.Signal, 1)
	signal.Notify(upgrade, syscall.SIGUSR2)
	defer signal.Stop(upgrade)
	o.Log, o.Ready, o.Level, o.Upgrade = log, Notify(log), &lv, upgrade
	return Run(ctx, o)
}

// DefaultDir is the data directory that is taken when none is named:
// $VFSD_DATA, else vfsd in XDG's state directory.
func DefaultDir() string {
	if dir := os.Getenv("VFSD_DATA"); dir != "" {
		return dir
	}
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		return dir + "/vfsd"
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/var/lib"
	}
	return home + "/.local/state/vfsd"
}
