package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The users of these tests.
const (
	anna  = 12345
	berta = 12346
)

// machine is a mount namespace in which every user may open /dev/fuse, as
// distributions have it, whatever the mode of the real one, and anna has an
// account, which fusermount3 asks for.
type machine struct {
	r     *rig
	enter []string // the command that runs another one inside
}

// hold starts a command that prints a line when all is ready, and that ends
// with its input at the end of the test. It returns its pid.
func (r *rig) hold(name string, args ...string) (pid int) {
	r.t.Helper()
	cmd := r.command(name, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		r.t.Skipf("no namespace of its own: %s: %q, %v", cmd.Args, line, err)
	}
	return cmd.Process.Pid
}

// newMachine returns a machine, and a rig whose directory belongs to anna.
// setup is a script that root runs in the new namespace.
func newMachine(t *testing.T, setup string) machine {
	t.Helper()
	needMount(t)
	needNamespace(t)
	r := newTourRig(t)
	if err := os.Chown(r.dir, anna, anna); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	device := r.dir + "-fuse"
	t.Cleanup(func() { os.Remove(device) })
	script := fmt.Sprintf(`mknod -m 666 %[1]s c 10 229 && mount --bind %[1]s /dev/fuse
p=$(mktemp); { cat /etc/passwd; echo anna:x:%[2]d:%[2]d::/:/bin/sh; } >$p; chmod 644 $p; mount --bind $p /etc/passwd; rm $p
%[3]s
echo ready; exec cat`, device, anna, setup)
	pid := r.hold("unshare", "-m", "--propagation", "private", "sh", "-ec", script)
	return machine{r, []string{"nsenter", "-t", fmt.Sprint(pid), "-m"}}
}

// as returns the command that runs another one as a user.
func (m machine) as(uid int) []string {
	id := fmt.Sprint(uid)
	return append(m.enter[:len(m.enter):len(m.enter)], "setpriv", "--reuid", id, "--regid", id, "--clear-groups")
}

// in runs a line as the reader would, by the command that enter is.
func (m machine) in(enter []string, line string) result {
	m.r.t.Helper()
	args := append(enter[1:len(enter):len(enter)], "bash", "-c", "exec 2>&1; cd "+m.r.dir+"\n"+line)
	return finish(m.r.t, m.r.readers(m.r.command(enter[0], args...)))
}

// want runs a line and checks how it ends, and that it says all the words.
func (m machine) want(enter []string, line string, code int, words ...string) {
	m.r.t.Helper()
	res := m.in(enter, line)
	if res.code != code {
		m.r.t.Errorf("%s: exit code %d, want %d: %s", line, res.code, code, res.out)
	}
	for _, w := range words {
		if !strings.Contains(res.out, w) {
			m.r.t.Errorf("%s: %q does not say %q", line, res.out, w)
		}
	}
}

// The tour is the same for a user with fusermount3, and for one without, in a
// user namespace of his own.
func TestTourAsUser(t *testing.T) {
	_, tour, _ := readTour(t)
	t.Run("fusermount3", func(t *testing.T) {
		if _, err := exec.LookPath("fusermount3"); err != nil {
			t.Skip("no fusermount3: install fuse3 to run this")
		}
		m := newMachine(t, "")
		got := m.r.replay(tour, func(line string) string { return m.in(m.as(anna), line).out })
		m.r.compareTour(got, tour)
	})
	t.Run("user namespace", func(t *testing.T) {
		m := newUserNamespace(t)
		got := m.r.replay(tour, func(line string) string { return m.in(m.enter, line).out })
		m.r.compareTour(got, tour)
	})
}

// newUserNamespace returns a machine that is anna's user namespace, in which
// she is root and there is no fusermount3.
func newUserNamespace(t *testing.T) machine {
	t.Helper()
	m := newMachine(t, `f=$(command -v fusermount3) && mount --bind /dev/null "$f" || true`)
	args := append(m.as(anna), "unshare", "-Ur", "-m", "--propagation", "private", "sh", "-ec", "echo ready; exec cat")
	pid := m.r.hold(args[0], args[1:]...)
	m.enter = append(m.as(anna), "nsenter", "-t", fmt.Sprint(pid), "-U", "--preserve-credentials", "-m")
	return m
}

// Another user, root included, has no access to a user's mount unless the
// administrator and the user allow it; then permissions rule, and everybody's
// files are his.
func TestOtherUsers(t *testing.T) {
	if _, err := exec.LookPath("fusermount3"); err != nil {
		t.Skip("no fusermount3: install fuse3 to run this")
	}
	t.Run("denied", func(t *testing.T) {
		m := newMachine(t, "")
		m.want(m.as(anna), "vfsctl up ws && echo secret > ws/file", 0)
		m.want(m.as(berta), "cat ws/file", 1, "Permission denied")
		m.want(m.enter, "cat ws/file", 1, "Permission denied")
		m.want(m.as(berta), "vfsctl list", exitError, m.r.data)
		m.want(m.as(anna), "vfsctl down ws", 0)
		m.want(m.as(anna), "vfsctl up --allow-other ws", exitError, "user_allow_other", "/etc/fuse.conf")
	})
	t.Run("allowed", func(t *testing.T) {
		m := newMachine(t, "c=$(mktemp); echo user_allow_other >$c; chmod 644 $c; mount --bind $c /etc/fuse.conf; rm $c")
		m.want(m.as(anna), "vfsctl up --allow-other ws && cd ws && echo secret > file && chmod 600 file && echo open > open && mkdir -m 777 all", 0)
		m.want(m.as(berta), "cat ws/open", 0, "open")
		m.want(m.as(berta), "cat ws/file", 1, "Permission denied")
		m.want(m.as(berta), "echo x > ws/new", 1, "Permission denied")
		m.want(m.as(berta), "echo x > ws/all/new && stat -c %u:%g ws/all/new", 0, fmt.Sprintf("%d:%d", berta, berta))
		m.want(m.as(anna), fmt.Sprintf("rm -f ws/all/new && chown %d ws/file", berta), 1, "Operation not permitted")
		m.want(m.enter, "cat ws/file && chown 7:8 ws/file && stat -c %u:%g ws/file", 0, "secret", "7:8")
	})
}

// In a user namespace the numbers of users are the namespace's: its root is the
// one whose files are the user's.
func TestUserNamespaceIDs(t *testing.T) {
	m := newUserNamespace(t)
	m.want(m.enter, "vfsctl up ws && echo x > ws/file && stat -c %u:%g ws ws/file && ls -n $HOME/.local/state/vfsd/lock", 0, "0:0\n0:0\n")
	m.want(m.enter, "chown 5 ws/file", 1, "Invalid argument")
	m.want(m.enter, "mknod ws/null c 1 3", 1, "Operation not permitted")
	m.want(m.enter, "vfsctl down --all && stat -c %u .local/state/vfsd/lock", 0, "\n0\n")
}
