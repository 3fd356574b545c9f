package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/vfsd/vfsd/shell/cmd/data/jqlang"
	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "jq",
		Synopsis: "jq [options] <jq filter> [file...]\njq [options] --args <jq filter> [strings...]\njq [options] --jsonargs <jq filter> [JSON_TEXTS...]",
		Summary:  "Process JSON inputs, applying the filter to its JSON text inputs and producing\nthe filter's results as JSON on standard output.",
		RawArgs:  true,
		Notes: "  -c               compact instead of pretty-printed output\n  -n               use `null` as the single input value\n  -e               set the exit status code based on the output\n" +
			"  -s               read (slurp) all inputs into an array; apply filter to it\n  -r               output raw strings, not JSON texts\n  -R               read raw strings, not JSON texts\n  -C               colorize JSON\n  -M               monochrome (don't colorize JSON)\n" +
			"  -S               sort keys of objects on output\n  -a               write non-ASCII characters as escapes\n  -j               like -r, without a newline after each output\n  --tab            use tabs for indentation\n  --indent n       use n spaces for indentation\n" +
			"  --arg a v        set variable $a to value <v>\n  --argjson a v    set variable $a to JSON value <v>\n  --slurpfile a f  set variable $a to an array of JSON texts read from <f>\n  --rawfile a f    set variable $a to a string consisting of the contents of <f>\n" +
			"  --args           remaining arguments are string arguments, not files\n  --jsonargs       remaining arguments are JSON arguments, not files\n  -f file          read the filter from a file\n  --seq            use the application/json-seq scheme\n  --stream         parse inputs in streaming fashion",
	}, jq)
}

// The exit statuses of jq.
const (
	jqUsage    = 2
	jqCompile  = 3
	jqNoOutput = 4
	jqError    = 5
)

// jqRun is one run of jq.
type jqRun struct {
	c   *command.Context
	ctx context.Context

	style                         jqlang.Style
	null, slurp, raw, join, rawIn bool
	exit, seq, stream, rawZero    bool
	filter                        string
	hasFilter                     bool
	fromFile                      string
	files                         []string
	names                         []string // of variables, in order
	vars                          map[string]any
	named                         *jqlang.Object
	positional                    []any

	in     *jqInput
	status int
	last   any
	output bool
}

func jq(ctx context.Context, c *command.Context, args []string) int {
	j := &jqRun{c: c, ctx: ctx, vars: map[string]any{}, named: jqlang.NewObject(0)}
	j.style.Indent = 2
	if status, ok := j.parse(args[1:]); !ok {
		return status
	}
	code, status := j.compile()
	if code == nil {
		return status
	}
	j.in = &jqInput{j: j, files: j.files}
	j.run(code)
	j.in.close()
	switch {
	case j.status != 0:
		return j.status
	case !j.exit:
		return 0
	case !j.output:
		return jqNoOutput
	case !jqlang.Truthy(j.last):
		return 1
	}
	return 0
}

func (j *jqRun) usage(format string, args ...any) (int, bool) {
	j.c.Errorf("%s\nUse jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://stedolan.github.io/jq", fmt.Sprintf(format, args...))
	return jqUsage, false
}

// parse reads the command line: the first operand is the filter.
func (j *jqRun) parse(args []string) (int, bool) {
	further := byte('f') // what operands after the filter are: files, args, JSON
	ended := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		// What has no letter after its dash is a filter: -.a
		if ended || len(a) < 2 || a[0] != '-' || a[1] != '-' && (a[1]|0x20 < 'a' || a[1]|0x20 > 'z') {
			if status, ok := j.operand(a, further); !ok {
				return status, false
			}
			continue
		}
		if a == "--" {
			ended = true
			continue
		}
		if !strings.HasPrefix(a, "--") {
			n, status, ok := j.letters(a[1:], args[i+1:])
			if !ok {
				return status, false
			}
			i += n
			continue
		}
		switch a {
		case "--args":
			further = 'a'
			continue
		case "--jsonargs":
			further = 'j'
			continue
		}
		n, status, ok := j.long(a, args[i+1:])
		if !ok {
			return status, false
		}
		i += n
	}
	if !j.hasFilter && j.fromFile == "" {
		if !j.null && len(args) > 0 && j.named.Len() == 0 {
			j.filter = "."
			return 0, true
		}
		if len(args) == 0 {
			io.WriteString(j.c.Stderr, j.c.Command.Help())
			return jqUsage, false
		}
		j.filter = "."
	}
	return 0, true
}

func (j *jqRun) operand(a string, further byte) (int, bool) {
	switch {
	case !j.hasFilter && j.fromFile == "":
		j.filter, j.hasFilter = a, true
	case further == 'a':
		j.positional = append(j.positional, a)
	case further == 'j':
		v, err := jqlang.ParseJSON(a)
		if err != nil {
			return j.usage("invalid JSON text passed to --jsonargs")
		}
		j.positional = append(j.positional, v)
	default:
		j.files = append(j.files, a)
	}
	return 0, true
}

// letters takes a bundle of short options; n is how many of the next arguments
// it took.
func (j *jqRun) letters(s string, next []string) (n, status int, ok bool) {
	for _, ch := range s {
		switch ch {
		case 'c':
			j.style.Indent, j.style.Tab = 0, false
		case 'n':
			j.null = true
		case 'e':
			j.exit = true
		case 's':
			j.slurp = true
		case 'r':
			j.raw = true
		case 'R':
			j.rawIn = true
		case 'C':
			j.style.Color = true
		case 'M':
			j.style.Color = false
		case 'S':
			j.style.Sort = true
		case 'a':
			j.style.ASCII = true
		case 'j':
			j.raw, j.join = true, true
		case 'b':
		case 'h':
			j.c.Stdout.WriteString(j.c.Command.Help())
			return 0, 0, false
		case 'V':
			j.c.Stdout.WriteString("jq-1.7 (vfsd)\n")
			return 0, 0, false
		case 'f', 'L':
			if n >= len(next) {
				status, ok := j.usage("-%c takes a parameter", ch)
				return 0, status, ok
			}
			if ch == 'f' {
				j.fromFile = next[n]
				if j.hasFilter { // what was taken for the filter is a file
					j.files = append([]string{j.filter}, j.files...)
					j.hasFilter = false
				}
			}
			n++
		default:
			status, ok := j.usage("Unknown option -%s", s)
			return 0, status, ok
		}
	}
	return n, 0, true
}

func (j *jqRun) long(a string, next []string) (n, status int, ok bool) {
	short := map[string]string{"--compact-output": "c", "--null-input": "n", "--exit-status": "e", "--slurp": "s", "--raw-output": "r", "--raw-input": "R", "--color-output": "C", "--monochrome-output": "M",
		"--sort-keys": "S", "--ascii-output": "a", "--join-output": "j", "--help": "h", "--version": "V", "--from-file": "f", "--binary": "b", "--unbuffered": "b"}
	if s, ok := short[a]; ok {
		return j.letters(s, next)
	}
	switch a {
	case "--tab":
		j.style.Tab = true
		return 0, 0, true
	case "--seq":
		j.seq = true
		return 0, 0, true
	case "--stream":
		j.stream = true
		return 0, 0, true
	case "--raw-output0":
		j.raw, j.rawZero = true, true
		return 0, 0, true
	case "--indent":
		if len(next) < 1 {
			status, ok = j.usage("--indent takes one parameter")
			return 0, status, ok
		}
		d, err := strconv.Atoi(next[0])
		if err != nil || d < 0 || d > 7 {
			if d < -1 {
				status, ok = j.usage("Cannot indent less than zero")
			} else {
				status, ok = j.usage("--indent takes a number between -1 and 7")
			}
			return 0, status, ok
		}
		j.style.Indent, j.style.Tab = d, false
		return 1, 0, true
	case "--arg", "--argjson", "--slurpfile", "--rawfile", "--argfile":
		if len(next) < 2 {
			example := map[string]string{"--arg": "--arg varname value", "--argjson": "--argjson varname text"}[a]
			if example == "" {
				example = a + " varname filename"
			}
			status, ok = j.usage("%s takes two parameters (e.g. %s)", a, example)
			return 0, status, ok
		}
		status, ok = j.define(a, next[0], next[1])
		return 2, status, ok
	}
	status, ok = j.usage("Unknown option %s", a)
	return 0, status, ok
}

// maxVar bounds a file that a variable holds.
const maxVar = 256 << 20

// define sets a variable.
func (j *jqRun) define(option, name, value string) (int, bool) {
	var v any = value
	switch option {
	case "--argjson":
		var err error
		if v, err = jqlang.ParseJSON(value); err != nil {
			return j.usage("invalid JSON text passed to --argjson")
		}
	case "--rawfile", "--slurpfile", "--argfile":
		b, err := j.c.FS.ReadFile(value, maxVar)
		if err != nil {
			j.c.Errorf("Bad JSON in %s %s %s: Could not open %s: %s", option, name, value, value, command.Strerror(err))
			return jqUsage, false
		}
		v = strings.ToValidUTF8(string(b), "\uFFFD")
		if option != "--rawfile" {
			list := []any{}
			d := jqlang.NewDecoder(strings.NewReader(string(b)))
			for {
				x, err := d.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					j.c.Errorf("Bad JSON in %s %s %s: %v", option, name, value, err)
					return jqUsage, false
				}
				list = append(list, x)
			}
			v = list
			if option == "--argfile" && len(list) == 1 {
				v = list[0]
			}
		}
	}
	if _, set := j.vars["$"+name]; !set {
		j.vars["$"+name] = v
		j.names = append(j.names, "$"+name)
		j.named.Put(name, v)
	}
	return 0, true
}

// compile compiles the filter, with the variables that it may use.
func (j *jqRun) compile() (*jqlang.Code, int) {
	if j.fromFile != "" {
		b, err := j.c.FS.ReadFile(j.fromFile, 16<<20)
		if err != nil {
			j.c.Errorf("error: Could not open %s: %s", j.fromFile, command.Strerror(err))
			return nil, jqUsage
		}
		j.filter = string(b)
	}
	all := jqlang.NewObject(2)
	if j.positional == nil {
		j.positional = []any{}
	}
	all.Put("positional", j.positional)
	all.Put("named", j.named)
	j.vars["$ARGS"] = all
	j.vars["$__prog_args"] = j.positional
	code, err := jqlang.Compile(j.filter, append([]string{"$ARGS"}, j.names...))
	if err == nil {
		return code, 0
	}
	j.compileFailed(err)
	return nil, jqCompile
}

func (j *jqRun) compileFailed(err error) {
	var undefined *jqlang.CompileError
	report := func(msg string, offset int) {
		line := 1 + strings.Count(j.filter[:min(offset, len(j.filter))], "\n")
		j.c.Errorf("error: %s at <top-level>, line %d:\n%s%*s", msg, line, j.filter, offset, "")
	}
	if errors.As(err, &undefined) {
		for _, u := range undefined.Undefined {
			name, _, _ := strings.Cut(strings.Fields(u)[0], "/")
			report(u, max(strings.Index(j.filter, name), 0))
		}
		plural := "s"
		if len(undefined.Undefined) == 1 {
			plural = ""
		}
		j.c.Errorf("%d compile error%s", len(undefined.Undefined), plural)
		return
	}
	msg, offset := "syntax error", 0
	var pe *gojq.ParseError
	if errors.As(err, &pe) {
		offset = max(pe.Offset-len(pe.Token), 0)
		switch {
		case pe.Token == "":
			msg += ", unexpected $end"
			offset = max(len(strings.TrimRight(j.filter, " \n"))-1, 0)
		case len(pe.Token) == 1:
			msg += ", unexpected '" + pe.Token + "'"
		default:
			msg += ", unexpected " + strings.ToUpper(pe.Token)
		}
		msg += " (Unix shell quoting issues?)"
	}
	report(msg, offset)
	j.c.Errorf("1 compile error")
}

// run applies the filter to each input.
func (j *jqRun) run(code *jqlang.Code) {
	env := jqlang.NewObject(len(j.c.Env))
	for _, kv := range j.c.Env {
		name, value, _ := strings.Cut(kv, "=")
		env.Put(name, value)
	}
	opts := &jqlang.Options{Vars: j.vars, Env: env, Now: j.c.Now, Location: tz.Of(j.c), Grow: j.c.Memory.Grow,
		Input: j.in.next, Filename: j.in.filename, Line: j.in.line,
		Debug:  func(v any) { j.note(`["DEBUG:",` + jqlang.JSON(v) + "]\n") },
		Stderr: j.note}
	if j.null {
		j.apply(code, opts, nil)
		return
	}
	for j.ctx.Err() == nil && j.c.Stdout.Err() == nil {
		v, err := j.in.next()
		if err == io.EOF {
			return
		}
		if err != nil {
			j.inputFailed(err)
			return
		}
		if !j.apply(code, opts, v) {
			return
		}
	}
}

// note writes to standard error, after what was put out so far.
func (j *jqRun) note(s string) {
	if j.c.Stdout.Flush() == nil {
		io.WriteString(j.c.Stderr, s)
	}
}

func (j *jqRun) inputFailed(err error) {
	var pe jqlang.ParseError
	if errors.As(err, &pe) {
		j.note("parse error: " + pe.Error() + "\n")
		j.status = jqNoOutput
		return
	}
	if j.ctx.Err() == nil {
		j.note("jq: error: " + command.Strerror(err) + "\n")
	}
	j.status = jqUsage
}

// apply runs the filter on one input; false ends the run.
func (j *jqRun) apply(code *jqlang.Code, opts *jqlang.Options, v any) bool {
	err := code.Run(j.ctx, opts, v, j.emit)
	var halt *jqlang.Halt
	var raised *jqlang.Error
	var pe jqlang.ParseError
	switch {
	case err == nil:
		return true
	case errors.As(err, &halt):
		if halt.HasValue {
			s, ok := halt.Value.(string)
			if !ok && halt.Value != nil {
				s = jqlang.JSON(halt.Value) + "\n"
			}
			j.note(s)
		}
		j.exit, j.status = false, halt.Status
		return false
	case errors.As(err, &raised):
		if raised.Value != nil {
			j.note("jq: error (at " + j.in.where() + ")" + raised.Error() + "\n")
		}
		j.status = jqError
		return true
	case errors.As(err, &pe):
		j.inputFailed(err)
		return false
	}
	if j.c.Stdout.Err() == nil && j.ctx.Err() == nil {
		j.note("jq: error: " + command.Strerror(err) + "\n")
	}
	j.status = jqError
	return false
}

// emit writes one output.
func (j *jqRun) emit(v any) error {
	j.last, j.output = v, true
	var b []byte
	if j.seq {
		b = append(b, 0x1e)
	}
	if s, ok := v.(string); ok && j.raw {
		if j.style.ASCII {
			q := j.style.Append(nil, s)
			s = string(q[1 : len(q)-1])
		}
		b = append(b, s...)
	} else {
		b = j.style.Append(b, v)
	}
	switch {
	case j.rawZero:
		b = append(b, 0)
	case !j.join:
		b = append(b, '\n')
	}
	_, err := j.c.Stdout.Write(b)
	return err
}
