package control

import (
	"context"
	"log/slog"
	"testing"
	"time"
)

func TestPing(t *testing.T) {
	dir := t.TempDir()
	if err := Ping(t.Context(), dir, time.Minute); err != nil {
		t.Errorf("without a daemon: %v", err)
	}
	l, err := Listen(dir) // takes connections, and nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := Ping(t.Context(), dir, time.Millisecond); KindOf(err) != KindBusy {
		t.Errorf("of a daemon that hangs: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Ping(ctx, dir, time.Minute); KindOf(err) != KindInterrupted {
		t.Errorf("interrupted: %v", err)
	}
	srv := NewServer(slog.New(slog.DiscardHandler), AsError).HTTP()
	go func() { _ = srv.Serve(l) }() // ends with l
	if err := Ping(t.Context(), dir, time.Minute); err != nil {
		t.Errorf("of a daemon that answers: %v", err)
	}
	_ = srv.Close()
}
