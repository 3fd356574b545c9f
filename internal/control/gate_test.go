package control

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
)

// TestGate: while calls are held they wait, and are answered afterwards; or by
// whoever has the socket then.
func TestGate(t *testing.T) {
	dir := t.TempDir()
	var held *Server
	begun, end := make(chan bool, 1), make(chan bool)
	serve(t, dir, func(s *Server) {
		held = s
		StatusCall.Serve(s, func(context.Context, StatusRequest) (Status, error) { return Status{PID: 1}, nil })
		ListCall.Serve(s, func(context.Context, ListRequest) (List, error) {
			begun <- true
			<-end
			return List{}, nil
		})
		UpgradeCall.Serve(s, func(context.Context, UpgradeRequest) (UpgradeResult, error) { return UpgradeResult{PID: 2}, nil })
	})
	c := Dial(dir)
	defer c.Close()

	listed := make(chan error)
	go func() {
		_, err := ListCall.Do(t.Context(), c, ListRequest{})
		listed <- err
	}()
	<-begun
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := held.Hold(over); KindOf(err) != KindBusy {
		t.Errorf("calls under way: %v", err)
	}
	holding := make(chan error)
	go func() { holding <- held.Hold(t.Context()) }()
	end <- true
	if err := <-listed; err != nil {
		t.Error(err)
	}
	if err := <-holding; err != nil {
		t.Fatal(err)
	}
	var answered atomic.Bool
	status := make(chan int)
	go func() {
		st, err := StatusCall.Do(t.Context(), c, StatusRequest{})
		if err != nil {
			t.Error(err)
		}
		if !answered.Load() {
			t.Error("a call passed a gate that holds")
		}
		status <- st.PID
	}()
	if res, err := UpgradeCall.Do(t.Context(), c, UpgradeRequest{}); err != nil || res.PID != 2 {
		t.Errorf("the call that holds the others waits for itself: %+v, %v", res, err)
	}
	answered.Store(true)
	held.Release()
	if pid := <-status; pid != 1 {
		t.Errorf("pid %d", pid)
	}
	held.Move()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := StatusCall.Do(ctx, c, StatusRequest{}); err == nil {
		t.Error("a process that has moved answers")
	}
}

// TestInherit: two that have one socket answer by turns, and a pause keeps one
// of them from it.
func TestInherit(t *testing.T) {
	dir := t.TempDir()
	l, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	serveOn := func(l *Listener, pid int) (stop func()) {
		s := NewServer(slog.New(slog.DiscardHandler), AsError)
		StatusCall.Serve(s, func(context.Context, StatusRequest) (Status, error) { return Status{PID: pid}, nil })
		srv := s.HTTP()
		done := make(chan error, 1)
		go func() { done <- srv.Serve(l) }()
		return func() {
			srv.Close()
			<-done
		}
	}
	ask := func() int {
		t.Helper()
		c := Dial(dir)
		defer c.Close()
		st, err := StatusCall.Do(t.Context(), c, StatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return st.PID
	}
	stopFirst := serveOn(l, 1)
	if pid := ask(); pid != 1 {
		t.Fatalf("%d answers", pid)
	}
	if err := l.Pause(); err != nil {
		t.Fatal(err)
	}
	f, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	heir, err := Inherit(f)
	if err != nil {
		t.Fatal(err)
	}
	stopHeir := serveOn(heir, 2)
	for range 10 {
		if pid := ask(); pid != 2 {
			t.Fatalf("%d answers during a pause", pid)
		}
	}
	stopHeir()
	if err := l.Resume(); err != nil {
		t.Fatal(err)
	}
	if pid := ask(); pid != 1 {
		t.Errorf("%d answers after it", pid)
	}
	if err := l.Pause(); err != nil {
		t.Fatal(err)
	}
	stopFirst() // also in a pause
}
