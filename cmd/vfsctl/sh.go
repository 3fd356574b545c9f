package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/chzyer/readline"
	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/shell"
)

const shLong = `Talk to a shell in a workspace, mounted or not: Bash, with the GNU tools built in.
It sees the workspace and nothing else of this machine.

Lines can be edited (arrows, Ctrl-A, Ctrl-E, Ctrl-K, Ctrl-W, Ctrl-Y), Ctrl-R
searches what was typed before, and Tab completes commands, files, variables, and
what the builtin "complete" was told. Ctrl-C ends what runs, Ctrl-D or exit the
shell. $PS1 and $PS2 are the prompts.

With --session the shell goes on where the session of that name was, and stays
when this one ends; vfsctl exec --session shares it. Where standard input is no
terminal, all of it is a script.`

type shOptions struct {
	*options
	workspace string
	session   string
	keep      bool
	env       []string
	dir       string
}

func newSh(o *options, s streams) *cobra.Command {
	x := &shOptions{options: o}
	cmd := &cobra.Command{
		Use:     "sh WORKSPACE",
		Short:   "Talk to a shell in a workspace",
		Long:    shLong,
		Example: "  vfsctl sh ws\n  vfsctl sh ws --session s\n  echo 'ls -l' | vfsctl sh ws",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			x.workspace = args[0]
			return execEnd(cmd.Context(), s, runSh(cmd.Context(), x, s))
		},
	}
	f := cmd.Flags()
	f.StringVar(&x.session, "session", "", "the session of that `name`, made if there is none")
	f.StringArrayVarP(&x.env, "env", "e", nil, "set a variable, `K=V`; may be given again")
	f.StringVar(&x.dir, "cwd", "", "`directory` in the workspace to begin in")
	for _, name := range []string{"session", "env", "cwd"} {
		completeOption(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
}

func runSh(ctx context.Context, x *shOptions, s streams) error {
	if !isTerminal(s.In) || !isTerminal(s.Out) {
		script, err := io.ReadAll(s.In)
		if err != nil || len(strings.TrimSpace(string(script))) == 0 {
			return err
		}
		e := &execOptions{options: x.options, req: x.request(string(script))}
		return e.run(ctx, s, nil)
	}
	c, _, err := connectDaemon(ctx, x.options)
	if err != nil {
		return err
	}
	defer c.close(x.options)
	if x.keep = x.session != ""; !x.keep {
		var b [6]byte
		if _, err := rand.Read(b[:]); err != nil {
			return err
		}
		x.session = "sh-" + hex.EncodeToString(b[:])
	}
	t := &shTerminal{x: x, c: c.Client, s: s}
	// Interrupts are for what runs, and do not end this program, as they end
	// others by their context.
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	stops := make(chan os.Signal, 1)
	signal.Notify(stops, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(stops)
	go func() {
		select {
		case <-stops:
			end()
		case <-ctx.Done():
		}
	}()
	t.interrupts = make(chan os.Signal, 4)
	signal.Notify(t.interrupts, syscall.SIGINT)
	defer signal.Stop(t.interrupts)
	err = t.loop(ctx)
	if !x.keep {
		_, eerr := control.SessionEndCall.Do(context.WithoutCancel(ctx), c.Client, control.SessionEndRequest{
			Workspace: x.workspace, Session: x.session, UID: uint32(os.Getuid()), GID: uint32(os.Getgid()),
		})
		if err == nil && control.KindOf(eerr) != control.KindNotFound {
			err = eerr
		}
	}
	return err
}

// request is the request for a script in the shell's session.
func (x *shOptions) request(script string) control.ExecRequest {
	return control.ExecRequest{
		Workspace: x.workspace, Session: x.session, Script: script, ScriptBytes: control.Bytes(script), Env: x.env, Dir: x.dir,
		EnvBytes: control.ListBytes(x.env), DirBytes: control.Bytes(x.dir), UID: uint32(os.Getuid()), GID: uint32(os.Getgid()),
	}
}

// shTerminal is an interactive shell at a terminal.
type shTerminal struct {
	x          *shOptions
	c          *control.Client
	s          streams
	line       *readline.Instance
	interrupts chan os.Signal
	status     int // of the last command
}

// historyName is the file of typed lines in the data directory.
const (
	historyName  = "sh_history"
	historyLines = 2000
)

// loop reads commands and runs them until the shell ends.
func (t *shTerminal) loop(ctx context.Context) error {
	// The session is made, and the workspace found, before anything is typed.
	prompt, err := t.prompt(ctx, "PS1", t.x.workspace+`:\w\$ `)
	if err != nil {
		return err
	}
	t.line, err = readline.NewEx(&readline.Config{
		Prompt: prompt, AutoComplete: completer{t, ctx}, InterruptPrompt: "^C", EOFPrompt: "exit",
		HistoryFile: filepath.Join(t.x.data, historyName), HistoryLimit: historyLines, DisableAutoSaveHistory: true,
		HistorySearchFold: true,
	})
	if err != nil {
		return fmt.Errorf("terminal: %w", err)
	}
	defer t.line.Close()
	for {
		script, err := t.read(ctx, prompt)
		if errors.Is(err, io.EOF) {
			if t.status != 0 {
				return exitStatus(t.status)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(script) != "" {
			exited, err := t.run(ctx, script)
			if err != nil {
				return err
			}
			if exited {
				if t.status != 0 {
					return exitStatus(t.status)
				}
				return nil
			}
		}
		if prompt, err = t.prompt(ctx, "PS1", t.x.workspace+`:\w\$ `); err != nil {
			return err
		}
	}
}

func (t *shTerminal) prompt(ctx context.Context, variable, fallback string) (string, error) {
	r, err := control.SessionCall.Do(ctx, t.c, control.SessionRequest{
		Workspace: t.x.workspace, Session: t.x.session, UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Dir: t.x.dir,
		Prompt: variable, Fallback: fallback,
	})
	return r.Prompt, err
}

// read reads lines until they are whole commands. An interrupt drops them.
func (t *shTerminal) read(ctx context.Context, prompt string) (string, error) {
	var lines []string
	t.line.SetPrompt(prompt)
	for {
		line, err := t.line.Readline()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			t.status = 130
			lines = nil
			t.line.SetPrompt(prompt)
			continue
		case errors.Is(err, io.EOF) && len(lines) > 0:
			return strings.Join(lines, "\n"), nil // whose end is missing; the shell says so
		case err != nil:
			return "", err
		}
		lines = append(lines, line)
		script := strings.Join(lines, "\n")
		if !shell.Incomplete(script) {
			if strings.TrimSpace(script) != "" {
				// Only lines that can be read back are kept.
				if err := t.line.SaveHistory(strings.Join(lines, "\n")); err != nil {
					fmt.Fprintf(t.s.Err, "note: the history cannot be kept: %v\n", err)
				}
			}
			return script, nil
		}
		second, err := t.prompt(ctx, "PS2", "> ")
		if err != nil {
			return "", err
		}
		t.line.SetPrompt(second)
	}
}

// run runs a script in the session, with the terminal as its streams.
func (t *shTerminal) run(ctx context.Context, script string) (exited bool, err error) {
	life, end := context.WithCancel(ctx)
	defer end()
	for len(t.interrupts) > 0 {
		<-t.interrupts
	}
	req := t.x.request(script)
	req.Input, req.Dir = true, ""
	t.x.env = nil // set by the first one
	p := &execPrinter{s: t.s, end: end, begun: make(chan string, 1)}
	go t.forward(life, p.begun)
	var reader *terminalReader
	e, err := control.ExecStream.Do(life, t.c, req, nil, func(ev control.ExecEvent) {
		if ev.Kind == control.ExecWants && reader == nil {
			reader = startTerminalReader(life, t.c, ev.ID, int(os.Stdin.Fd()))
			return
		}
		p.event(ev)
	})
	end()
	reader.stop()
	if err != nil {
		return false, err
	}
	t.status = e.Status
	if e.Error != "" {
		fmt.Fprintf(t.s.Err, "vfsctl: the command met a defect of vfsd: %s\n", control.Line(e.Error))
	}
	if e.Status == 130 {
		fmt.Fprintln(t.s.Out) // the terminal stands behind its ^C
	}
	return e.Exited, nil
}

// forward sends interrupts to the execution; a second one kills it.
func (t *shTerminal) forward(life context.Context, begun <-chan string) {
	id := ""
	select {
	case id = <-begun:
	case <-life.Done():
		return
	}
	for name := "INT"; ; name = "KILL" {
		select {
		case <-t.interrupts:
		case <-life.Done():
			return
		}
		if _, err := control.ExecKillCall.Do(life, t.c, control.ExecKillRequest{ID: id, Signal: name}); err != nil {
			return
		}
	}
}

// completer completes for readline.
type completer struct {
	t   *shTerminal
	ctx context.Context
}

// Do implements readline.AutoCompleter: it returns what may follow what is
// typed, and how much of that belongs to the word.
func (c completer) Do(line []rune, pos int) ([][]rune, int) {
	text := string(line[:pos])
	r, err := control.SessionCall.Do(c.ctx, c.t.c, control.SessionRequest{
		Workspace: c.t.x.workspace, Session: c.t.x.session, UID: uint32(os.Getuid()), GID: uint32(os.Getgid()),
		Line: text, Complete: true,
	})
	if err != nil || r.From > len(text) {
		return nil, 0
	}
	typed := text[r.From:]
	var out [][]rune
	for _, word := range r.Words {
		rest, ok := strings.CutPrefix(string(word), typed)
		if !ok {
			continue
		}
		if len(r.Words) == 1 && !strings.HasSuffix(rest, "/") {
			rest += " "
		}
		out = append(out, []rune(rest))
	}
	return out, len([]rune(typed))
}
