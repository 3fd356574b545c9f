package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// container is a running runc container with a directory of the host bound to
// /host, and a shell that runs what it is sent.
type container struct {
	r    *rig
	name string
	root string
}

// container starts one from the host's busybox. What is mounted below dir on the
// host later appears in it too: that is rslave.
func (r *rig) container(dir string) *container {
	r.t.Helper()
	needMount(r.t)
	for _, program := range []string{"runc", "busybox"} {
		if _, err := exec.LookPath(program); err != nil {
			r.t.Skipf("%s is not installed", program)
		}
	}
	c := &container{r: r, name: filepath.Base(r.dir), root: filepath.Join(r.dir, "runc")}
	bundle := filepath.Join(r.dir, "bundle")
	r.busyboxRoot(filepath.Join(bundle, "rootfs"))
	if err := os.WriteFile(filepath.Join(bundle, "config.json"), r.bundleConfig(bundle, dir), 0o644); err != nil {
		r.t.Fatal(err)
	}
	start := r.command("runc", "--root", c.root, "run", "--detach", "--bundle", bundle, c.name)
	log, err := os.Create(filepath.Join(r.dir, "runc.log"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer log.Close()
	start.Stdout, start.Stderr = log, log
	if err := start.Run(); err != nil {
		out, _ := os.ReadFile(log.Name()) // for the message alone
		r.t.Fatalf("runc run: %v: %s", err, out)
	}
	r.t.Cleanup(func() {
		if out, err := r.command("runc", "--root", c.root, "delete", "--force", c.name).CombinedOutput(); err != nil {
			r.t.Errorf("runc delete: %v: %s", err, out)
		}
	})
	return c
}

// bundleConfig is what runc spec writes, without a terminal, with the bind.
func (r *rig) bundleConfig(bundle, dir string) []byte {
	r.t.Helper()
	spec := r.command("runc", "spec", "--bundle", bundle)
	if out, err := spec.CombinedOutput(); err != nil {
		r.t.Fatalf("runc spec: %v: %s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(bundle, "config.json"))
	if err != nil {
		r.t.Fatal(err)
	}
	var config map[string]any
	if err := json.Unmarshal(b, &config); err != nil {
		r.t.Fatal(err)
	}
	process := config["process"].(map[string]any)
	process["terminal"] = false
	process["args"] = []string{"/bin/sh", "-c", "while true; do sleep 1; done"}
	delete(process, "rlimits") // this host may not allow to raise them
	config["root"].(map[string]any)["readonly"] = false
	r.allowGuest(config)
	config["mounts"] = append(config["mounts"].([]any), map[string]any{
		"destination": "/host", "type": "bind", "source": dir, "options": []string{"rbind", "rslave", "rw"},
	})
	if b, err = json.Marshal(config); err != nil {
		r.t.Fatal(err)
	}
	return b
}

// allowGuest lets a vfsd in the container reach the host and mount: what Docker
// calls --network host --device /dev/fuse --cap-add SYS_ADMIN.
func (r *rig) allowGuest(config map[string]any) {
	caps := config["process"].(map[string]any)["capabilities"].(map[string]any)
	for _, set := range []string{"bounding", "effective", "permitted"} {
		caps[set] = append(caps[set].([]any), "CAP_SYS_ADMIN")
	}
	linux := config["linux"].(map[string]any)
	linux["namespaces"] = slices.DeleteFunc(linux["namespaces"].([]any), func(n any) bool {
		return n.(map[string]any)["type"] == "network"
	})
	linux["devices"] = []any{map[string]any{"path": "/dev/fuse", "type": "c", "major": 10, "minor": 229, "fileMode": 0o666}}
	resources := linux["resources"].(map[string]any)
	resources["devices"] = append(resources["devices"].([]any),
		map[string]any{"allow": true, "type": "c", "major": 10, "minor": 229, "access": "rwm"})
}

// run runs a script in the container.
func (c *container) run(script string) (string, error) {
	out, err := c.r.command("runc", "--root", c.root, "exec", c.name, "/bin/sh", "-c", script).CombinedOutput()
	return string(out), err
}

// A container merely mounts the daemon: it sees what the host does and the
// reverse; and when the daemon died and came back, it sees the new mount, for it
// was given the directory that holds the mount point.
func TestContainerBindMount(t *testing.T) {
	r := newRigAlone(t)
	needMount(t)
	outer := r.mkdir("outer")
	// Only what is mounted below a shared mount is seen elsewhere; systemd makes
	// all of them shared, which this host may not have.
	for _, args := range [][]string{{"--bind", outer, outer}, {"--make-shared", outer}} {
		if out, err := r.command("mount", args...).CombinedOutput(); err != nil {
			t.Fatalf("mount %v: %v: %s", args, err, out)
		}
	}
	c := r.container(outer)
	r.ok("up", "ws", "outer/ws")
	if out, err := c.run("echo inside > /host/ws/a && ln /host/ws/a /host/ws/b && cat /host/ws/b"); err != nil || out != "inside\n" {
		t.Fatalf("in the container: %q %v", out, err)
	}
	r.reads("outer/ws/b", "inside\n")
	r.write("outer/ws/a", "outside")
	if out, err := c.run("cat /host/ws/b"); err != nil || out != "outside" {
		t.Errorf("the container reads %q %v", out, err)
	}

	r.kill()
	r.ok("up", "ws", "outer/ws")
	deadline := time.Now().Add(30 * time.Second)
	for {
		out, err := c.run("cat /host/ws/a")
		if err == nil && out == "outside" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after the daemon died and came back: %q %v", out, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if out, err := c.run("ls /host/ws"); err != nil || strings.TrimSpace(out) != "a\nb" {
		t.Errorf("listing: %q %v", out, err)
	}
}

// A guest is one static program in a container that has nothing of the host but
// the network: it shows the workspace as a lazy replica, by a mount, or without
// FUSE by a plain directory.
func TestContainerGuest(t *testing.T) {
	for _, way := range []string{"mount", "checkout"} {
		t.Run(way, func(t *testing.T) {
			r := newRigAlone(t)
			needMount(t)
			r.ok("create", "ws")
			r.ok("exec", "ws", "-c", "mkdir d; echo from the hub > d/f")
			addr := r.listen()
			token := strings.TrimSpace(r.ok("share", "ws", "--write"))
			outer := r.mkdir("outer")
			if err := os.Link(vfsd, filepath.Join(outer, "vfsd")); err != nil {
				t.Fatal(err)
			}
			c := r.container(outer)
			args := "--data /data guest --from vfs://" + addr + "/ws"
			if way == "checkout" {
				args += " --checkout"
			}
			if out, err := c.run("VFSD_TOKEN=" + token + " /host/vfsd " + args + " /work >/tmp/log 2>&1 & echo $! > /tmp/pid"); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			c.await("cat /work/d/f", "from the hub\n")
			if out, err := c.run("echo from the guest > /work/d/g && sync"); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			await(t, "the hub", "from the guest\n", func() string { return r.run("exec", "ws", "-c", "cat d/g").out })
			r.ok("exec", "ws", "-c", "echo again > d/f")
			c.await("cat /work/d/f", "again\n")
			if out, err := c.run("echo last > /work/last; kill $(cat /tmp/pid)"); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			t.Cleanup(func() {
				if t.Failed() {
					out, _ := c.run("cat /tmp/log") // for the message alone
					t.Log(out)
				}
			})
			await(t, "the hub, after the guest ended", "last\n", func() string { return r.run("exec", "ws", "-c", "cat last").out })
		})
	}
}

func (c *container) await(script, want string) {
	c.r.t.Helper()
	await(c.r.t, "the container", want, func() string {
		out, _ := c.run(script) // what it says is what counts
		return out
	})
}

// await waits until something says what it should.
func await(t *testing.T, who, want string, says func() string) {
	t.Helper()
	var got string
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if got = says(); got == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s says %q, want %q", who, got, want)
		}
	}
}
