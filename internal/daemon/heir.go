package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/mount"
	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"
)

// This file is the new process's side of a handover, and what both say to each
// other; spec/handover.md has the whole.

// HandoverEnv names the variable that makes a daemon the successor of the one
// that started it: how many descriptors it inherits, from 3 on.
const HandoverEnv = "VFSD_HANDOVER_FILES"

// The descriptors, in order. The mounts' connections follow.
const (
	fileConversation = 3 + iota
	fileLock
	fileListener
	fileMounts

	mostFiles = 1 << 16
)

const (
	handoverVersion = 1
	// conversationLimit bounds what either side reads, in bytes.
	conversationLimit = 4 << 30
)

// heirMessage is what the new process says: hello, then ready or an error,
// then, once it was told to go, serving.
type heirMessage struct {
	Hello   *heirHello     `json:"hello,omitempty"`
	Ready   bool           `json:"ready,omitempty"`
	Serving bool           `json:"serving,omitempty"`
	Error   *control.Error `json:"error,omitempty"`
}

type heirHello struct {
	Handover int    `json:"handover"` // the version of this conversation
	Version  string `json:"version"`
	PID      int    `json:"pid"`
}

// ownerMessage is what the old process says: the estate, then go.
type ownerMessage struct {
	Estate *estate `json:"estate,omitempty"`
	Go     bool    `json:"go,omitempty"`
}

// estate is all that goes along beside the descriptors.
type estate struct {
	Dir      string        `json:"dir"`
	Data     []byte        `json:"data"` // workspace.Handover.State
	Mounts   []estateMount `json:"mounts"`
	Notes    []string      `json:"notes"`
	Level    slog.Level    `json:"level"`
	StopWait time.Duration `json:"stop_wait"`
}

// estateMount is a mount; its connection is the descriptor of the same place.
type estateMount struct {
	Entry tableEntry `json:"entry"`
	Since time.Time  `json:"since"`
	State []byte     `json:"state"` // mount.Handover.Export
}

// conversation is one end of the socket between the two.
type conversation struct {
	conn net.Conn
	enc  *json.Encoder
	dec  *json.Decoder
}

// converse takes f over.
func converse(f *os.File) (*conversation, error) {
	conn, err := net.FileConn(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return &conversation{conn, json.NewEncoder(conn), json.NewDecoder(io.LimitReader(conn, conversationLimit))}, nil
}

// inheritedFiles returns how many descriptors a process has inherited that is
// another's successor; 0 when it is none. Processes that it starts are not.
func inheritedFiles() int {
	n, err := strconv.Atoi(os.Getenv(HandoverEnv))
	if err != nil || n < fileMounts-fileConversation || n > mostFiles {
		return 0
	}
	_ = os.Unsetenv(HandoverEnv) // fails for bad names alone
	for fd := fileConversation; fd < fileConversation+n; fd++ {
		syscall.CloseOnExec(fd)
	}
	return n
}

// succeed is begin for the successor of another process.
func succeed(ctx context.Context, o *RunOptions, files int) (*Daemon, *control.Listener, error) {
	c, err := converse(os.NewFile(fileConversation, "handover"))
	if err != nil {
		return nil, nil, fmt.Errorf("take over: %w", err)
	}
	defer c.conn.Close()
	if err := c.enc.Encode(heirMessage{Hello: &heirHello{handoverVersion, Version, os.Getpid()}}); err != nil {
		return nil, nil, fmt.Errorf("take over: %w", err)
	}
	var m ownerMessage
	if err := c.dec.Decode(&m); err != nil || m.Estate == nil {
		return nil, nil, fmt.Errorf("take over: the old daemon has changed its mind: %w", errors.Join(err))
	}
	o.StopWait = m.Estate.StopWait
	if o.Level != nil {
		o.Level.Set(m.Estate.Level)
	}
	d, l, err := takeEstate(ctx, o.Options, m.Estate, files)
	if err != nil {
		// The process ends now, and nothing of it is closed: what is open without
		// a name is to be there for the old one.
		err = fmt.Errorf("take over: %w", err)
		return nil, nil, errors.Join(err, c.enc.Encode(heirMessage{Error: Classify(err)}))
	}
	if err := c.enc.Encode(heirMessage{Ready: true}); err == nil {
		// Without an answer the old process is dead: it would otherwise have
		// killed this one. Then the mounts have nobody else.
		if err := c.dec.Decode(&m); err != nil {
			o.Log.Warn("the old daemon died while it handed over", "err", err)
		}
	}
	// Said before the first request is answered: from then on the old one's
	// state is not the truth any more.
	if err := c.enc.Encode(heirMessage{Serving: true}); err != nil {
		o.Log.Warn("the old daemon does not hear that it is succeeded", "err", err)
	}
	for _, a := range d.active() {
		a.m.Continue()
		go d.await(a)
	}
	d.data.DropUnheld()
	o.Log.Info("took over", "mounts", len(m.Estate.Mounts), "version", Version)
	return d, l, nil
}

// takeEstate opens everything; the mounts are paused still.
func takeEstate(ctx context.Context, o Options, e *estate, files int) (*Daemon, *control.Listener, error) {
	if fileConversation+files != fileMounts+len(e.Mounts) {
		return nil, nil, fmt.Errorf("%d descriptors for %d mounts", files, len(e.Mounts))
	}
	hand := &workspace.Handover{
		Lock:  hostfs.Opened(os.NewFile(fileLock, filepath.Join(e.Dir, "lock"))),
		State: e.Data,
	}
	d := newDaemon(o)
	data, err := workspace.OpenDataDir(ctx, workspace.Options{Dir: e.Dir, Log: o.Log, Cache: o.Cache, Handover: hand, Source: d.source})
	if err != nil {
		return nil, nil, err
	}
	d.begin(e.Dir, data)
	d.notes = append([]string(nil), e.Notes...)
	for i := range e.Mounts {
		f := os.NewFile(uintptr(fileMounts+i), "/dev/fuse")
		if err := d.takeMount(&e.Mounts[i], f); err != nil {
			return nil, nil, err
		}
	}
	l, err := control.Inherit(os.NewFile(fileListener, control.SocketName))
	return d, l, err
}

// takeMount goes on with one mount; it takes f over. The mount stays paused.
func (d *Daemon) takeMount(e *estateMount, f *os.File) error {
	w, err := d.data.Open(e.Entry.Workspace)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	view, ok := w.Browse().(mount.HandoverFS)
	if !ok {
		return errors.Join(mount.ErrNoHandover, f.Close())
	}
	m, err := mount.TakeOver(e.State, f, view, vfs.Origin(d.origins.Add(1)), d.log)
	if err != nil {
		return err
	}
	a := &activeMount{entry: e.Entry, m: m, since: e.Since, gone: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mounts[e.Entry.MountPoint] = a
	return nil
}
