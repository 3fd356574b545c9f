package volumes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/hostfs"
)

// Options say where a plugin keeps what. Only Log may be missing.
type Options struct {
	// Dial returns a client of a running daemon, which is started if need be.
	Dial      func(context.Context) (*control.Client, error)
	StateFile string // which volumes there are; replaced whole
	MountDir  string // holds the mount points
	UID, GID  uint32 // own the root of a workspace that the plugin makes
	Log       *slog.Logger
}

// volume is what the plugin remembers of one.
type volume struct {
	Made     bool `json:"made"` // by the plugin, so that removing it removes the workspace
	ReadOnly bool `json:"read_only,omitempty"`
	// Users are the containers that have it mounted, as the engine names them: in
	// memory alone, for no engine takes them back after the host was restarted. What
	// really uses a mount, the kernel knows when it is to go.
	Users   []string  `json:"-"`
	Point   string    `json:"point,omitempty"` // where it is mounted, from its first use on
	Created time.Time `json:"created"`
}

// Plugin answers an engine. It is safe for concurrent use.
type Plugin struct {
	o       Options
	mu      sync.Mutex
	volumes map[string]*volume
}

// Open reads the state. Mounts are the daemon's, so that a plugin may be
// restarted while containers run.
func Open(o Options) (*Plugin, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &Plugin{o: o, volumes: map[string]*volume{}}
	b, err := os.ReadFile(o.StateFile)
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &p.volumes)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; it lists the volumes of the plugin: mend or remove it", o.StateFile, err)
	}
	for name, v := range p.volumes {
		if v == nil {
			delete(p.volumes, name)
		}
	}
	return p, nil
}

// Serve answers until ctx ends.
func (p *Plugin) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = srv.Shutdown(end) // what is left is cut off when the process ends
	})
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return ctx.Err()
}

// request holds the fields that the calls of the protocol have between them.
type request struct {
	Name string
	ID   string
	Opts map[string]string
}

// answer is the same of the replies. Err is empty when the call succeeded.
type answer struct {
	Err          string
	Mountpoint   string            `json:",omitempty"`
	Volume       *described        `json:",omitempty"`
	Volumes      []described       `json:",omitempty"`
	Capabilities map[string]string `json:",omitempty"`
	Implements   []string          `json:",omitempty"`
}

// described is a volume as the protocol tells of it.
type described struct {
	Name       string
	Mountpoint string         `json:",omitempty"`
	CreatedAt  string         `json:",omitempty"`
	Status     map[string]any `json:",omitempty"`
}

// requestLimit bounds what an engine may send.
const requestLimit = 1 << 20

// ServeHTTP implements http.Handler.
func (p *Plugin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req request
	if r.ContentLength != 0 {
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, requestLimit)).Decode(&req)
		if err != nil {
			p.reply(w, http.StatusBadRequest, answer{Err: "request: " + err.Error()})
			return
		}
	}
	calls := map[string]func(context.Context, request) (answer, error){
		"/Plugin.Activate":           p.activate,
		"/VolumeDriver.Capabilities": p.capabilities,
		"/VolumeDriver.Create":       p.create,
		"/VolumeDriver.Remove":       p.remove,
		"/VolumeDriver.Mount":        p.mount,
		"/VolumeDriver.Unmount":      p.unmount,
		"/VolumeDriver.Path":         p.path,
		"/VolumeDriver.Get":          p.get,
		"/VolumeDriver.List":         p.list,
	}
	call := calls[r.URL.Path]
	if call == nil {
		p.reply(w, http.StatusNotFound, answer{Err: r.URL.Path + ": no such call"})
		return
	}
	p.mu.Lock()
	a, err := call(r.Context(), req)
	p.mu.Unlock()
	if err != nil {
		p.o.Log.Warn("volume plugin", "call", r.URL.Path, "volume", req.Name, "err", err)
		p.reply(w, http.StatusInternalServerError, answer{Err: err.Error()})
		return
	}
	p.reply(w, http.StatusOK, a)
}

func (p *Plugin) reply(w http.ResponseWriter, status int, a answer) {
	w.Header().Set("Content-Type", "application/vnd.docker.plugins.v1.2+json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(a); err != nil {
		p.o.Log.Debug("volume plugin: the engine has gone", "err", err)
	}
}

func (p *Plugin) activate(context.Context, request) (answer, error) {
	return answer{Implements: []string{"VolumeDriver"}}, nil
}

// capabilities: a volume is this host's, whatever its workspace is synced with.
func (p *Plugin) capabilities(context.Context, request) (answer, error) {
	return answer{Capabilities: map[string]string{"Scope": "local"}}, nil
}

func (p *Plugin) create(ctx context.Context, r request) (answer, error) {
	v := &volume{Created: time.Now().UTC()}
	for key, value := range r.Opts {
		switch {
		case key == "readonly" && (value == "true" || value == "false"):
			v.ReadOnly = value == "true"
		default:
			return answer{}, fmt.Errorf("option %s=%s: it takes readonly=true or readonly=false", key, value)
		}
	}
	if p.volumes[r.Name] != nil {
		return answer{}, nil
	}
	c, err := p.o.Dial(ctx)
	if err != nil {
		return answer{}, err
	}
	defer c.Close()
	_, err = control.CreateCall.Do(ctx, c, control.CreateRequest{Workspace: r.Name, UID: p.o.UID, GID: p.o.GID})
	switch {
	case err == nil:
		v.Made = true
	case control.KindOf(err) != control.KindExists:
		return answer{}, err
	}
	p.volumes[r.Name] = v
	return answer{}, p.save()
}

func (p *Plugin) remove(ctx context.Context, r request) (answer, error) {
	v, err := p.find(r.Name)
	if err != nil {
		return answer{}, err
	}
	if len(v.Users) > 0 {
		return answer{}, fmt.Errorf("volume %s is used by %d containers", r.Name, len(v.Users))
	}
	c, err := p.o.Dial(ctx)
	if err != nil {
		return answer{}, err
	}
	defer c.Close()
	if v.Point == p.point(r.Name) { // elsewhere it is somebody else's
		_, err = control.UnmountCall.Do(ctx, c, control.UnmountRequest{MountPoint: v.Point})
		if err != nil && control.KindOf(err) != control.KindNotFound {
			return answer{}, err
		}
	}
	if v.Made {
		_, err = control.RemoveCall.Do(ctx, c, control.RemoveRequest{Workspace: r.Name})
		if err != nil && control.KindOf(err) != control.KindNotFound {
			return answer{}, err
		}
	}
	delete(p.volumes, r.Name)
	return answer{}, p.save()
}

func (p *Plugin) mount(ctx context.Context, r request) (answer, error) {
	v, err := p.find(r.Name)
	if err != nil {
		return answer{}, err
	}
	c, err := p.o.Dial(ctx)
	if err != nil {
		return answer{}, err
	}
	defer c.Close()
	point, err := p.mountedAt(ctx, c, r.Name, v)
	if err != nil {
		return answer{}, err
	}
	if !slices.Contains(v.Users, r.ID) {
		v.Users = append(v.Users, r.ID)
	}
	v.Point = point
	return answer{Mountpoint: point}, p.save()
}

// mountedAt returns where a workspace is mounted, which is here if it was
// mounted nowhere: there is one mount a workspace.
func (p *Plugin) mountedAt(ctx context.Context, c *control.Client, name string, v *volume) (string, error) {
	st, err := control.StatusCall.Do(ctx, c, control.StatusRequest{})
	if err != nil {
		return "", err
	}
	for _, m := range st.Mounts {
		if m.Workspace != name || m.State != control.Mounted || m.Point() == p.point(name) {
			continue
		}
		if m.ReadOnly && !v.ReadOnly {
			return "", fmt.Errorf("workspace %s is mounted read-only at %s: unmount it there, or make the volume with readonly=true", name, m.Point())
		}
		if !m.AllowOther {
			return "", fmt.Errorf("workspace %s is mounted at %s for its user alone: unmount it there, or mount it with --allow-other", name, m.Point())
		}
		return m.Point(), nil
	}
	point := p.point(name)
	if err := os.MkdirAll(point, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	_, err = control.MountCall.Do(ctx, c, control.MountRequest{
		Workspace: name, MountPoint: point, AllowOther: true, ReadOnly: v.ReadOnly,
	})
	return point, err
}

// unmount notes that a container has gone. The mount stays until the volume is
// removed: it costs nothing, the next container finds it, and an engine that counts
// its containers wrongly takes it from none.
func (p *Plugin) unmount(_ context.Context, r request) (answer, error) {
	v, err := p.find(r.Name)
	if err != nil {
		return answer{}, err
	}
	v.Users = slices.DeleteFunc(v.Users, func(id string) bool { return id == r.ID })
	return answer{}, p.save()
}

func (p *Plugin) path(_ context.Context, r request) (answer, error) {
	v, err := p.find(r.Name)
	if err != nil {
		return answer{}, err
	}
	return answer{Mountpoint: p.describe(r.Name, v).Mountpoint}, nil
}

func (p *Plugin) get(_ context.Context, r request) (answer, error) {
	v, err := p.find(r.Name)
	if err != nil {
		return answer{}, err
	}
	d := p.describe(r.Name, v)
	return answer{Volume: &d}, nil
}

func (p *Plugin) list(context.Context, request) (answer, error) {
	a := answer{Volumes: []described{}}
	for name, v := range p.volumes {
		a.Volumes = append(a.Volumes, p.describe(name, v))
	}
	slices.SortFunc(a.Volumes, func(x, y described) int { return strings.Compare(x.Name, y.Name) })
	return a, nil
}

func (p *Plugin) describe(name string, v *volume) described {
	d := described{Name: name, CreatedAt: v.Created.Format(time.RFC3339),
		Status: map[string]any{"workspace": name, "containers": len(v.Users)}}
	d.Mountpoint = v.Point
	return d
}

func (p *Plugin) find(name string) (*volume, error) {
	if v := p.volumes[name]; v != nil {
		return v, nil
	}
	return nil, fmt.Errorf("no volume %s; docker volume create -d vfsd %s makes it", name, name)
}

// point is a volume's mount point. A name that the daemon took is a plain one.
func (p *Plugin) point(name string) string { return filepath.Join(p.o.MountDir, name) }

// save replaces the state file.
func (p *Plugin) save() error {
	b, err := json.MarshalIndent(p.volumes, "", "\t")
	if err != nil {
		return err
	}
	return hostfs.ReplaceFile(hostfs.OS{}, p.o.StateFile, append(b, '\n'), 0o600)
}
