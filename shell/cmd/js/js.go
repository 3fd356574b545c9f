package js

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"

	"modernc.org/quickjs"

	"github.com/vfsd/vfsd/shell/command"
)

const (
	optInputType = 256 + iota
	optIgnored
)

// Limits of one run.
const (
	maxHeap   = 128 << 20
	minHeap   = 8 << 20
	maxSource = 16 << 20
)

// nodeVersion is what scripts are told; features are those of ES2023.
const nodeVersion = "v20.0.0"

func init() {
	for _, name := range []string{"node", "js", "js-exec"} {
		command.Register(command.Info{
			Name:     name,
			Synopsis: name + " [OPTION]... [FILE | -] [ARG]...\n" + name + " -e SCRIPT [ARG]...",
			Summary:  "Run JavaScript: ES modules and CommonJS, with node:fs over the workspace.",
			Options: []command.Option{
				{Short: 'e', Long: "eval", Arg: command.RequiredArgument, ArgName: "SCRIPT", Help: "evaluate SCRIPT"},
				{Short: 'p', Long: "print", Arg: command.RequiredArgument, ArgName: "SCRIPT", Help: "evaluate SCRIPT and print the result"},
				{Short: 'c', Long: "check", Help: "check the syntax of FILE without running it"},
				{Long: "input-type", Arg: command.RequiredArgument, ArgName: "TYPE", ID: optInputType, Help: "what -e and standard input are: module or commonjs"},
				{Short: 'v', Help: "print the version"},
				{Long: "no-warnings", ID: optIgnored},
				{Long: "trace-warnings", ID: optIgnored},
				{Long: "experimental-strip-types", ID: optIgnored},
			},
			Notes:         "Modules: fs, fs/promises, path, process, os, util, assert, events, url, buffer, timers, with or without node: before them.",
			UsageStatus:   9,
			StopAtOperand: true,
		}, run)
	}
}

// runner is one run of a script.
type runner struct {
	*command.Context
	ctx      context.Context
	vm       *quickjs.VM
	exited   bool
	status   int
	builtins map[string]string // names of the exports of each module of node
	err      error             // a failure of the host side
}

// run is the command.
func run(ctx context.Context, c *command.Context, args []string) int {
	var script, kind string
	var eval, printed, check bool
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'e', 'p':
			script, eval = p.Arg(), true
			printed = printed || p.ID() == 'p'
		case 'c':
			check = true
		case 'v':
			c.Stdout.WriteString(nodeVersion + "\n")
			return 0
		case optInputType:
			kind = p.Arg()
		}
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	r := &runner{Context: c, ctx: ctx}
	name := "[eval]"
	if !eval {
		name = "[stdin]"
		if len(operands) > 0 && operands[0] != "-" {
			name = r.resolveFile(c.Abs(operands[0]))
			if name == "" {
				return r.missing(c.Abs(operands[0]))
			}
		}
		var err error
		if script, err = r.source(name, operands); err != nil {
			return c.Fail(operands[0], err)
		}
	}
	limit := min(maxHeap, c.Memory.Left()/2)
	if limit < minHeap {
		return c.Errorf("%s", command.Strerror(syscall.ENOMEM))
	}
	if err := c.Memory.Grow(limit); err != nil {
		return c.Errorf("%s", command.Strerror(err))
	}
	defer c.Memory.Shrink(limit)
	if err := r.start(limit, name, operands, eval); err != nil {
		return c.Errorf("%v", err)
	}
	defer r.vm.Close()
	stopped := context.AfterFunc(ctx, r.vm.Interrupt)
	defer stopped()
	r.execute(script, name, kind, printed, check)
	return r.finish()
}

// missing reports a script that is not there, in node's words.
func (r *runner) missing(name string) int {
	io.WriteString(r.Stderr, "node:internal/modules/cjs/loader\n  throw err;\n  ^\n\nError: Cannot find module '"+name+"'\n\nNode.js "+nodeVersion+"\n")
	return 1
}

// source reads the script.
func (r *runner) source(name string, operands []string) (string, error) {
	if name != "[stdin]" {
		b, err := r.FS.ReadFile(name, maxSource)
		return string(b), err
	}
	var b strings.Builder
	_, err := io.Copy(&b, io.LimitReader(r.Stdin, maxSource))
	return b.String(), err
}

// start makes the engine and its world.
func (r *runner) start(limit int64, name string, operands []string, eval bool) error {
	vm, err := quickjs.NewVM()
	if err != nil {
		return err
	}
	r.vm = vm
	vm.SetMemoryLimit(uintptr(limit))
	vm.SetGCThreshold(4 << 20)
	if err := r.hostFunctions(); err != nil {
		return errors.Join(err, vm.Close())
	}
	vm.SetModuleLoader(r.loadModule, r.normalize)
	argv := []string{"/usr/bin/node"}
	if !eval {
		if name != "[stdin]" {
			argv = append(argv, name)
		}
		operands = operands[min(1, len(operands)):]
	}
	argv = append(argv, operands...)
	env := map[string]string{}
	for _, kv := range r.Env {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	setup := map[string]any{
		"argv": argv, "env": env, "cwd": r.Dir, "version": nodeVersion, "pid": r.System.Self(r.Context),
		"uid": r.FS.Op.UID, "gid": r.FS.Op.GID, "hostname": r.System.Host().Name,
	}
	for _, part := range []string{preludeInspect, preludePath, preludeFS, preludeNode} {
		if _, err := vm.Eval(part, quickjs.EvalGlobal); err != nil {
			return errors.Join(err, vm.Close())
		}
	}
	names, err := vm.Call("__setup", setup)
	if err != nil {
		return errors.Join(err, vm.Close())
	}
	r.builtins = map[string]string{}
	text, _ := names.(string)
	for _, line := range strings.Split(text, "\n") {
		module, exports, _ := strings.Cut(line, " ")
		r.builtins[module] = exports
	}
	return nil
}

// execute runs the script, then timers and promises until nothing is left.
func (r *runner) execute(script, name, kind string, printed, check bool) {
	if strings.HasPrefix(script, "#!") {
		script = "//" + script
	}
	var err error
	switch {
	case check:
		_, err = r.vm.Call("__check", script)
	case printed:
		_, err = r.vm.Call("__print", script)
	case r.isModule(script, name, kind):
		_, err = r.vm.Call("__runModule", name, script)
	default:
		_, err = r.vm.Call("__runMain", name, script)
	}
	for r.report(err) {
		if _, err = r.vm.ExecutePendingJobs(); err != nil {
			continue
		}
		var wait any
		if wait, err = r.vm.Call("__tick"); err != nil {
			continue
		}
		ms := number(wait)
		if ms < 0 {
			break
		}
		if ms > 0 && r.Sleep(r.ctx, milliseconds(ms)) != nil {
			return
		}
	}
	if !r.exited && r.ctx.Err() == nil {
		code, err := r.vm.Call("__exitCode")
		if r.report(err) && !r.exited {
			r.status = int(number(code))
		}
	}
}

// report prints an error that nobody caught. It is false when the run is over.
func (r *runner) report(err error) bool {
	if r.exited || r.ctx.Err() != nil || r.err != nil {
		return false
	}
	if err == nil {
		return true
	}
	var e *quickjs.Error
	text := err.Error()
	if errors.As(err, &e) {
		text = strings.TrimSuffix(e.Error(), "\n")
		if e.Stack != "" && !strings.Contains(text, e.Stack) {
			text += "\n" + strings.TrimRight(e.Stack, "\n")
		}
	}
	if strings.Contains(text, "out of memory") {
		text = "FATAL ERROR: JavaScript heap out of memory"
		r.status, r.exited = 134, true
	} else {
		r.status, r.exited = 1, true
	}
	r.Stdout.Flush()
	io.WriteString(r.Stderr, "Uncaught "+text+"\n\nNode.js "+nodeVersion+"\n")
	return false
}

func (r *runner) finish() int {
	if r.err != nil && r.Stdout.Err() == nil {
		return r.Errorf("%s", command.Strerror(r.err))
	}
	return r.status
}

// isModule says whether a script is an ES module: by its name, by what the
// options say, or by its text.
func (r *runner) isModule(script, name, kind string) bool {
	switch {
	case kind != "":
		return kind == "module"
	case strings.HasSuffix(name, ".mjs"):
		return true
	case strings.HasSuffix(name, ".cjs"):
		return false
	}
	if name[0] == '/' && r.packageType(name) == "module" {
		return true
	}
	return looksLikeModule(script)
}
