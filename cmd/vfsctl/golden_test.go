package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// golden compares text with a file, or rewrites it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v; go test ./cmd/vfsctl -update writes it", err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update rewrites it)\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}

// TestHelp pins the help of every command.
func TestHelp(t *testing.T) {
	root := newRoot(streams{In: strings.NewReader(""), Out: os.Stdout, Err: os.Stderr})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("completion")
	visit(root, func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Parent() != nil && cmd.Parent().Name() == "completion" || cmd.Name() == "help" {
			return
		}
		var out strings.Builder
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		if code := run(t.Context(), args, streams{In: strings.NewReader(""), Out: &out, Err: &out}); code != exitOK {
			t.Errorf("vfsctl %q: exit code %d", args, code)
		}
		golden(t, "help/"+strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".txt", out.String())
	})
}

// TestHelpOfDaemon pins the help of vfsd, and its exit codes.
func TestHelpOfDaemon(t *testing.T) {
	r := newRig(t)
	res := finish(t, r.command(vfsd, "--help"))
	if res.code != exitOK {
		t.Errorf("exit code %d", res.code)
	}
	golden(t, "help/vfsd.txt", res.out)
	for _, args := range [][]string{{"--nonsense"}, {"surplus"}} {
		if res := finish(t, r.command(vfsd, args...)); res.code != exitUsage || strings.Count(res.err, "\n") != 1 {
			t.Errorf("vfsd %q: %+v", args, res)
		}
	}
}

func visit(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, c := range cmd.Commands() {
		visit(c, f)
	}
}

// varying are the parts of a report that differ from run to run.
var varying = []struct {
	pattern *regexp.Regexp
	put     string
}{
	{regexp.MustCompile(`"(\w*_bytes|bytes|disk_free|disk_total|chunks|live_chunks|packs|ino|handles|notifications)": \d+`), `"$1": N`},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "DIGEST"},
	{regexp.MustCompile(`\b[0-9a-f]{12}\b`), "DIGEST"},
	{regexp.MustCompile(`\b3[0-9a-v]{9}\b`), "EXECUTION"},
	{regexp.MustCompile(`  \d+m?s `), "  TOOK "},
	{regexp.MustCompile(`"steps": ?\d+`), `"steps": N`},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`), "TIME"},
	{regexp.MustCompile(`"pid": \d+`), `"pid": PID`},
	{regexp.MustCompile(`pid \d+`), "pid PID"},
	{regexp.MustCompile(`"go": "[^"]+"`), `"go": "GO"`},
	{regexp.MustCompile(`"platform": "[^"]+"`), `"platform": "PLATFORM"`},
	{regexp.MustCompile(`\(go[\d.]+\S*, \w+/\w+\)`), "(GO, PLATFORM)"},
	{regexp.MustCompile(`[\d.]+ (B|KiB|MiB|GiB|TiB)\b`), "SIZE"},
	{regexp.MustCompile(`up \d+m?s\b`), "up TIME"},
	{regexp.MustCompile(`\b\d+ (chunk|chunks|references to chunks|reference to chunks|packs|pack)\b`), "N $1"},
	{regexp.MustCompile(`of \d+ are needed`), "of N are needed"},
	{regexp.MustCompile(`(\S)   +`), "$1  "}, // columns are as wide as what is in them
}

// steady takes what varies out of a report.
func (r *rig) steady(text string) string {
	text = strings.ReplaceAll(text, r.dir, "/work")
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.put)
	}
	return text
}

// everyCommand is every command once, in an order that makes sense.
var everyCommand = []string{
	"version",
	"create ws",
	"list",
	"up ws",
	"status",
	"status --ops ws",
	"snapshot ws before",
	"snapshots ws",
	"log ws",
	"diff ws@before",
	"fork ws@before fork",
	"restore ws@before a",
	"restore ws@before",
	"exec ws -c pwd",
	"execs ws",
	"quota ws --bytes 1GiB --inodes 1000",
	"remote add ws hub vfs://hub.example/ws",
	"remote list ws",
	"remote remove ws hub",
	"share --list",
	"conflicts ws",
	"policy ws",
	"checkout --list",
	"check ws",
	"scrub",
	"gc --dry-run",
	"gc",
	"snapshots ws --remove before",
	"down ws",
	"remove fork --yes",
	"down --all",
}

// TestReports pins what every command reports, for people and for programs,
// with a daemon where one runs and without.
func TestReports(t *testing.T) {
	needMount(t)
	for _, form := range []string{"text", "json"} {
		t.Run(form, func(t *testing.T) { golden(t, "reports."+form, reports(newRig(t), form)) })
	}
}

func reports(r *rig, form string) string {
	r.t.Helper()
	var all strings.Builder
	for _, line := range everyCommand {
		args := strings.Fields(line)
		switch line {
		case "diff ws@before":
			r.write("ws/a", "changed")
			r.write("ws/b", "new")
		case "snapshot ws before":
			r.write("ws/a", "first")
			r.mkdir("ws/dir")
		}
		if form == "json" {
			args = append(args, "--json")
		}
		out := r.ok(args...)
		if line == "status --ops ws" {
			out = shapeOnly(out)
		}
		all.WriteString("$ vfsctl " + strings.Join(args, " ") + "\n" + r.steady(out) + "\n")
	}
	return all.String()
}

// shapeOnly drops the requests that the kernel happened to send.
func shapeOnly(out string) string {
	var kept []string
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) == 2 && strings.ToUpper(f[0]) == f[0] && f[0] != "REQUEST" && !strings.Contains(f[0], "}") {
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "")
}

func TestMan(t *testing.T) {
	r := newRig(t)
	r.ok("man", "man1")
	for _, page := range []string{"vfsctl.1", "vfsctl-up.1", "vfsctl-restore.1"} {
		if b, err := os.ReadFile(r.path("man1/" + page)); err != nil || !strings.HasPrefix(string(b), ".nh\n.TH") {
			t.Errorf("%s: %.40q, %v", page, b, err)
		}
	}
}

func TestManMakesNoParents(t *testing.T) {
	r := newRig(t)
	r.fails(exitError, []string{"no/such/man1", "no such file"}, "man", "no/such/man1")
	if _, err := os.Lstat(r.path("no")); err == nil {
		t.Error("man has made the parents of its directory")
	}
}

func TestCompletion(t *testing.T) {
	r := newRig(t)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := r.ok("completion", shell); !strings.Contains(out, "vfsctl") {
			t.Errorf("completion %s: %.80q", shell, out)
		}
	}
	r.ok("create", "project")
	if out := r.ok("__complete", "snapshot", "pro"); !strings.Contains(out, "project\n") {
		t.Errorf("workspaces are not completed: %q", out)
	}
	r.ok("snapshot", "project", "before")
	if out := r.ok("__complete", "restore", "project@"); !strings.Contains(out, "project@before\n") {
		t.Errorf("snapshots are not completed: %q", out)
	}
	for _, tt := range []struct {
		want string
		args []string
	}{
		{"project@before\n", []string{"diff", "project@before", "project@"}},
		{"project\n", []string{"diff", "project@before", ""}},
		{"before\n", []string{"snapshots", "project", "--remove", ""}},
		{"go-fuse\n", []string{"up", "--driver", ""}},
		{":0\n", []string{"down", "./x"}},
		{":4\n", []string{"diff", "a@b", "c", ""}},
	} {
		if out := r.ok(append([]string{"__complete"}, tt.args...)...); !strings.Contains(out, tt.want) {
			t.Errorf("the completion of %q is %q, want %q", tt.args, out, tt.want)
		}
	}
}
