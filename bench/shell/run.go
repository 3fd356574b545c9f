package shell

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell"
	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"

	// The commands.
	_ "github.com/vfsd/vfsd/exec"
)

// Options say how to measure.
type Options struct {
	// Dir is on a local disk; a directory is made in it and removed.
	Dir  string
	Runs int // of each script; 0 is 10
	// JustBash is a directory with node_modules/just-bash in it; "" has npm put
	// it into a directory that is removed, "none" leaves it out.
	JustBash string
	// Rows are names of scripts; none are all.
	Rows []string
	// Log is told what is done; nil is not.
	Log func(string)
}

// Row is what one script took, in milliseconds; medians of the runs.
type Row struct {
	Name, Title string
	VFSD, Bash  float64
	JustBash    float64 // 0 when it was left out
}

// Report is what was measured.
type Report struct {
	Runs            int
	BashVersion     string
	JustBashVersion string // "" when it was left out
	Left            string // why just-bash was left out
	Rows            []Row
}

// Run measures.
func Run(ctx context.Context, o Options) (_ *Report, err error) {
	if o.Runs == 0 {
		o.Runs = 10
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	dir, err := os.MkdirTemp(o.Dir, "vfsd-bench-shell-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	chosen := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return len(o.Rows) > 0 && !slices.Contains(o.Rows, r.name) })
	all := files()
	o.Log("bash")
	bash, err := runBash(ctx, filepath.Join(dir, "bash"), all, chosen, o.Runs)
	if err != nil {
		return nil, err
	}
	o.Log("vfsd")
	ours, err := runOurs(ctx, filepath.Join(dir, "data"), all, chosen, o.Runs)
	if err != nil {
		return nil, err
	}
	r := &Report{Runs: o.Runs}
	if out, err := exec.CommandContext(ctx, "bash", "-c", "echo $BASH_VERSION").Output(); err == nil {
		r.BashVersion = strings.TrimSpace(string(out))
	}
	var just *results
	if o.JustBash != "none" {
		o.Log("just-bash")
		if just, err = runJustBash(ctx, dir, o.JustBash, all, chosen, o.Runs); err != nil {
			r.Left = err.Error()
			just = nil
		} else {
			r.JustBashVersion = just.Version
		}
	} else {
		r.Left = "as asked"
	}
	for i, c := range chosen {
		if err := same(c.name, "bash", bash.Outputs[i], ours.Outputs[i]); err != nil {
			return nil, err
		}
		x := Row{Name: c.name, Title: c.title, VFSD: median(ours.Times[i]), Bash: median(bash.Times[i])}
		if just != nil {
			if err := same(c.name, "just-bash", just.Outputs[i], ours.Outputs[i]); err != nil {
				return nil, err
			}
			x.JustBash = median(just.Times[i])
		}
		r.Rows = append(r.Rows, x)
	}
	return r, nil
}

// results are those of one side: a list for each row.
type results struct {
	Version string
	Times   [][]float64 // milliseconds
	Outputs []string    // of the last run
}

func same(name, other, theirs, ours string) error {
	if strings.TrimSpace(theirs) != strings.TrimSpace(ours) {
		return fmt.Errorf("bench shell: %s prints %q with %s and %q with vfsd", name, theirs, other, ours)
	}
	return nil
}

func median(times []float64) float64 {
	s := slices.Sorted(slices.Values(times))
	return s[len(s)/2]
}

// measure runs each script once to warm up, and then as often as it counts.
func measure(chosen []row, runs int, f func(script string) (string, error)) (*results, error) {
	res := &results{}
	for _, c := range chosen {
		var times []float64
		out := ""
		for n := range runs + 1 {
			script := c.scriptOf(n)
			began := time.Now()
			var err error
			if out, err = f(script); err != nil {
				return nil, fmt.Errorf("bench shell: %s: %w", c.name, err)
			}
			if n > 0 {
				times = append(times, float64(time.Since(began).Nanoseconds())/1e6)
			}
		}
		res.Times, res.Outputs = append(res.Times, times), append(res.Outputs, out)
	}
	return res, nil
}

func runBash(ctx context.Context, dir string, all []file, chosen []row, runs int) (*results, error) {
	for _, f := range all {
		name := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, []byte(f.Text), 0o644); err != nil {
			return nil, err
		}
	}
	return measure(chosen, runs, func(script string) (string, error) {
		cmd := exec.CommandContext(ctx, "bash", "-c", script)
		cmd.Dir = dir
		out, err := cmd.Output()
		return string(out), err
	})
}

func runOurs(ctx context.Context, dir string, all []file, chosen []row, runs int) (_ *results, err error) {
	data, err := workspace.OpenDataDir(ctx, workspace.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	w, err := data.Create(ctx, "ws", 0, 0)
	if err != nil {
		return nil, err
	}
	walk := vfs.NewWalker(w, &vfs.Op{Ctx: ctx})
	for _, f := range all {
		if err := walk.MkdirAll(filepath.Dir("/"+f.Path), 0o755); err != nil {
			return nil, err
		}
		if err := walk.WriteFile("/"+f.Path, []byte(f.Text), 0o644); err != nil {
			return nil, err
		}
	}
	sh := shell.New(shell.Config{FS: w})
	return measure(chosen, runs, func(script string) (string, error) {
		ses := sh.NewSession(shell.SessionOptions{})
		defer ses.Close()
		var out, errs bytes.Buffer
		r := ses.Exec(ctx, shell.Execution{Script: script, Stdout: &out, Stderr: &errs})
		if r.Status != 0 {
			return "", fmt.Errorf("exit status %d: %s", r.Status, errs.String())
		}
		return out.String(), nil
	})
}

//go:embed justbash.mjs
var justBashProgram []byte

// runJustBash runs the scripts in Node; the program measures by itself.
func runJustBash(ctx context.Context, dir, installed string, all []file, chosen []row, runs int) (*results, error) {
	if installed == "" {
		installed = filepath.Join(dir, "npm")
		if err := os.Mkdir(installed, 0o755); err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "just-bash")
		cmd.Dir = installed
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("npm install just-bash: %w: %s", err, bytes.TrimSpace(out))
		}
	}
	program := filepath.Join(installed, "vfsd-bench.mjs")
	if err := os.WriteFile(program, justBashProgram, 0o644); err != nil {
		return nil, err
	}
	defer os.Remove(program)
	type task struct {
		Files   []file
		Scripts [][]string // those of the runs, the first to warm up
	}
	t := task{Files: all}
	for _, c := range chosen {
		var scripts []string
		for n := range runs + 1 {
			scripts = append(scripts, c.scriptOf(n))
		}
		t.Scripts = append(t.Scripts, scripts)
	}
	input, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "node", program)
	cmd.Dir, cmd.Stdin = installed, bytes.NewReader(input)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("node: %w: %s", err, bytes.TrimSpace(errs.Bytes()))
	}
	var res results
	if err := json.Unmarshal(out, &res); err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	if len(res.Times) != len(chosen) || len(res.Outputs) != len(chosen) {
		return nil, errors.New("node: it has not run all scripts")
	}
	return &res, nil
}
