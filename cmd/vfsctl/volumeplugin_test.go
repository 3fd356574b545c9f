package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// plugin is a running volume plugin and what an engine says to it.
type plugin struct {
	r      *rig
	socket string
	client *http.Client
}

func (r *rig) plugin() *plugin {
	r.t.Helper()
	p := &plugin{r: r, socket: filepath.Join(r.dir, "plugins", "vfsd.sock")}
	cmd := r.command(r.bin, "volume-plugin", "--socket", p.socket)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	line := make([]byte, 256)
	if n, err := out.Read(line); err != nil || !strings.HasPrefix(string(line[:n]), "serving") {
		r.t.Fatalf("volume-plugin: %q %v: %s", line[:n], err, stderr.String())
	}
	r.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		if err := cmd.Wait(); err != nil {
			r.t.Errorf("volume-plugin: %v: %s", err, stderr.String())
		}
	})
	p.client = &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", p.socket) },
	}}
	r.t.Cleanup(p.client.CloseIdleConnections)
	return p
}

// ask makes a call and returns its reply and its error.
func (p *plugin) ask(call string, req map[string]any) (map[string]any, string) {
	p.r.t.Helper()
	body, err := json.Marshal(req)
	if err != nil {
		p.r.t.Fatal(err)
	}
	resp, err := p.client.Post("http://plugin/"+call, "application/json", bytes.NewReader(body))
	if err != nil {
		p.r.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		p.r.t.Fatal(err)
	}
	var reply map[string]any
	if err := json.Unmarshal(b, &reply); err != nil {
		p.r.t.Fatalf("%s: %q: %v", call, b, err)
	}
	failure, _ := reply["Err"].(string)
	if (resp.StatusCode == http.StatusOK) != (failure == "") {
		p.r.t.Errorf("%s: status %d with error %q", call, resp.StatusCode, failure)
	}
	return reply, failure
}

func (p *plugin) must(call string, req map[string]any) map[string]any {
	p.r.t.Helper()
	reply, failure := p.ask(call, req)
	if failure != "" {
		p.r.t.Fatalf("%s %v: %s", call, req, failure)
	}
	return reply
}

func TestVolumePlugin(t *testing.T) {
	r := newRigAlone(t)
	needMount(t)
	r.ok("create", "kept")
	p := r.plugin()
	if got := p.must("Plugin.Activate", nil)["Implements"].([]any)[0]; got != "VolumeDriver" {
		t.Errorf("it implements %v", got)
	}
	p.must("VolumeDriver.Create", map[string]any{"Name": "kept"})
	p.must("VolumeDriver.Create", map[string]any{"Name": "fresh"})
	if n := len(p.must("VolumeDriver.List", nil)["Volumes"].([]any)); n != 2 {
		t.Errorf("%d volumes of 2", n)
	}

	one := p.must("VolumeDriver.Mount", map[string]any{"Name": "fresh", "ID": "one"})["Mountpoint"].(string)
	two := p.must("VolumeDriver.Mount", map[string]any{"Name": "fresh", "ID": "two"})["Mountpoint"].(string)
	if one != two {
		t.Errorf("mounted at %s and %s", one, two)
	}
	if err := os.WriteFile(filepath.Join(one, "file"), []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.must("VolumeDriver.Unmount", map[string]any{"Name": "fresh", "ID": "one"})
	if _, err := os.Stat(filepath.Join(one, "file")); err != nil {
		t.Errorf("unmounted while a container uses it: %v", err)
	}
	if _, failure := p.ask("VolumeDriver.Remove", map[string]any{"Name": "fresh"}); !strings.Contains(failure, "used by 1") {
		t.Errorf("removing a used volume: %q", failure)
	}
	p.must("VolumeDriver.Unmount", map[string]any{"Name": "fresh", "ID": "two"})
	p.must("VolumeDriver.Remove", map[string]any{"Name": "fresh"})
	if _, err := os.Stat(filepath.Join(one, "file")); err == nil {
		t.Error("still mounted after the volume was removed")
	}
	p.must("VolumeDriver.Remove", map[string]any{"Name": "kept"})
	if list := r.ok("list"); !strings.Contains(list, "kept") || strings.Contains(list, "fresh") {
		t.Errorf("after removing both volumes:\n%s", list)
	}
}

// A workspace that somebody has mounted already is used where it is, and stays.
func TestVolumePluginMountedBefore(t *testing.T) {
	r := newRigAlone(t)
	needMount(t)
	r.ok("up", "ws")
	r.write("ws/file", "mine")
	p := r.plugin()
	p.must("VolumeDriver.Create", map[string]any{"Name": "ws"})
	at := p.must("VolumeDriver.Mount", map[string]any{"Name": "ws", "ID": "one"})["Mountpoint"].(string)
	if at != r.path("ws") {
		t.Errorf("mounted at %s", at)
	}
	p.must("VolumeDriver.Unmount", map[string]any{"Name": "ws", "ID": "one"})
	r.reads("ws/file", "mine")
}

func TestVolumePluginRefuses(t *testing.T) {
	r := newRigAlone(t)
	p := r.plugin()
	for _, c := range []struct {
		call, want string
		req        map[string]any
	}{
		{"VolumeDriver.Mount", "no volume nope", map[string]any{"Name": "nope", "ID": "1"}},
		{"VolumeDriver.Create", "a name has", map[string]any{"Name": "../escape"}},
		{"VolumeDriver.Create", "a name has", map[string]any{"Name": ""}},
		{"VolumeDriver.Create", "readonly=true", map[string]any{"Name": "x", "Opts": map[string]string{"size": "1g"}}},
		{"VolumeDriver.Nonsense", "no such call", nil},
		{"VolumeDriver.Create", "request:", map[string]any{"Name": 7}},
	} {
		if _, failure := p.ask(c.call, c.req); !strings.Contains(failure, c.want) {
			t.Errorf("%s %v: %q, want %q in it", c.call, c.req, failure, c.want)
		}
	}
}

// Real containers: podman with an image made of this host's busybox, so that none
// is fetched.
func TestVolumePluginPodman(t *testing.T) {
	r := newRigAlone(t)
	needMount(t)
	if os.Geteuid() != 0 {
		t.Skip("it takes root to run podman's plugins")
	}
	for _, program := range []string{"podman", "runc", "busybox"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	p := r.plugin()
	root := filepath.Join(r.dir, "rootfs")
	r.busyboxRoot(root)
	conf := filepath.Join(r.dir, "containers.conf")
	r.write("containers.conf", "[engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n"+
		"[engine.volume_plugins]\nvfsd = \""+p.socket+"\"\n"+
		"[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\n")
	podman := func(args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		store := []string{"--root", filepath.Join(r.dir, "store"), "--runroot", filepath.Join(r.dir, "run"), "--storage-driver", "vfs"}
		cmd := exec.CommandContext(ctx, "podman", append(store, args...)...)
		cmd.Env = append(os.Environ(), "CONTAINERS_CONF="+conf)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("podman %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	if out, err := exec.Command("tar", "-C", root, "-cf", root+".tar", ".").CombinedOutput(); err != nil {
		t.Fatalf("tar: %v: %s", err, out)
	}
	podman("import", root+".tar", "busybox")
	podman("volume", "create", "--driver", "vfsd", "ws")
	// Removing each container by a command of its own waits for what podman does
	// in the background after a container has ended, which --rm does not.
	run := func(script string) string {
		out := podman("run", "--name", "one", "--network", "none", "-v", "ws:/work", "localhost/busybox", "/bin/sh", "-c", script)
		podman("rm", "one")
		return out
	}
	run("mkdir /work/d && echo from a container > /work/d/f && ln -s f /work/d/l")
	if got := run("cat /work/d/l"); !strings.Contains(got, "from a container") {
		t.Errorf("a second container reads %q", got)
	}
	if b, err := os.ReadFile(filepath.Join(r.data+"-volumes", "ws/d/f")); err != nil || string(b) != "from a container\n" {
		t.Errorf("the workspace has %q %v", b, err)
	}
	podman("volume", "rm", "ws")
	if list := r.ok("list"); strings.Contains(list, "ws") {
		t.Errorf("after podman volume rm:\n%s", list)
	}
}

// busyboxRoot makes a root file system of the host's static busybox.
func (r *rig) busyboxRoot(root string) {
	r.t.Helper()
	bin := filepath.Join(root, "bin")
	for _, dir := range []string{"bin", "proc", "sys", "dev", "etc", "tmp", "work", "run"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			r.t.Fatal(err)
		}
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		r.t.Fatal(err)
	}
	b, err := os.ReadFile(busybox)
	if err == nil {
		err = os.WriteFile(filepath.Join(bin, "busybox"), b, 0o755)
	}
	for _, name := range []string{"sh", "cat", "ls", "mkdir", "ln", "echo", "sleep"} {
		if err == nil {
			err = os.Symlink("busybox", filepath.Join(bin, name))
		}
	}
	if err != nil {
		r.t.Fatal(err)
	}
}
