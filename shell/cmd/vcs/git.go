package vcs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
)

// Exit statuses of git.
const (
	exitError = 1
	exitFatal = 128
	exitUsage = 129
)

func init() {
	command.Register(command.Info{
		Name:     "git",
		Synopsis: "git [-C PATH] [-c NAME=VALUE] [--git-dir=PATH] [--work-tree=PATH] [--bare] COMMAND [ARG]...",
		Summary:  "Keep the history of a directory tree.",
		Notes: "Commands: " + strings.Join(subcommandNames(), " ") +
			"\n\nRemotes are directories of the workspace, or http and https URLs that the network policy allows.",
		UsageStatus: exitUsage,
		RawArgs:     true,
	}, run)
}

// git is one run of the command.
type git struct {
	*command.Context
	ctx     context.Context
	sub     string // the subcommand
	gitDir  string // --git-dir, $GIT_DIR
	workDir string // --work-tree, $GIT_WORK_TREE
	bare    bool
	// settings are those of -c, name=value.
	settings []string
}

// fatal is an error that ends git with status 128.
type fatal string

func (e fatal) Error() string { return string(e) }

func fatalf(format string, args ...any) error { return fatal(fmt.Sprintf(format, args...)) }

// failure is an error that ends git with status 1, with "error: " before its
// text, or with nothing when the text is empty.
type failure string

func (e failure) Error() string { return string(e) }

func failf(format string, args ...any) error { return failure(fmt.Sprintf(format, args...)) }

// status is an error that only sets the exit status.
type status int

func (e status) Error() string { return fmt.Sprintf("status %d", int(e)) }

// usage reports a mistake in the command line.
func (g *git) usage(message string) error {
	if message != "" {
		g.complain("error: " + message)
	}
	g.complain("usage: git " + g.sub + " [<options>] [<args>]")
	return status(exitUsage)
}

// complain prints lines on standard error. Empty lines of advice keep the blank
// behind their mark, as git's have.
func (g *git) complain(text string) {
	if strings.Contains(text, "hint:") {
		text = strings.ReplaceAll(text+"\n", "hint:\n", "hint: \n")
		text = strings.TrimSuffix(text, "\n")
	}
	io.WriteString(g.Stderr, text+"\n")
}

func (g *git) printf(format string, args ...any) { fmt.Fprintf(g.Stdout, format, args...) }

// run is the command.
func run(ctx context.Context, c *command.Context, args []string) int {
	g := &git{Context: c, ctx: ctx, gitDir: c.Env.Get("GIT_DIR"), workDir: c.Env.Get("GIT_WORK_TREE")}
	rest, code, done := g.global(args[1:])
	if done {
		return code
	}
	g.sub = rest[0]
	f := subcommands[g.sub]
	if f == nil {
		if rest, f = g.aliased(rest); f == nil {
			fmt.Fprintf(c.Stderr, "git: '%s' is not a git command. See 'git --help'.\n", rest[0])
			return 1
		}
	}
	return g.finish(f(g, rest[1:]))
}

// finish reports how a subcommand ended.
func (g *git) finish(err error) int {
	var code status
	var fail failure
	var die fatal
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &fail):
		if fail != "" {
			g.complain("error: " + string(fail))
		}
		return exitError
	case errors.As(err, &die):
		g.complain("fatal: " + string(die))
	default:
		var no syscall.Errno
		text := err.Error()
		if errors.As(err, &no) {
			text = strings.ReplaceAll(text, no.Error(), command.Strerror(no))
		}
		g.complain("fatal: " + text)
	}
	return exitFatal
}

// global reads the options in front of the subcommand.
func (g *git) global(args []string) (rest []string, code int, done bool) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, value, has := strings.Cut(args[0], "=")
		take := func() bool {
			if !has {
				if len(args) < 2 {
					fmt.Fprintf(g.Stderr, "no argument given for %s\n", args[0])
					return false
				}
				value, args = args[1], args[1:]
			}
			return true
		}
		switch name {
		case "--version", "-v":
			g.printf("git version 2.39.5 (vfsd)\n")
			return nil, 0, true
		case "--help", "-h":
			g.Stdout.WriteString(g.Command.Help())
			return nil, 0, true
		case "-C":
			has = false
			if !take() {
				return nil, exitUsage, true
			}
			if err := g.chdir(value); err != nil {
				return nil, g.finish(err), true
			}
		case "-c":
			has = false
			if !take() {
				return nil, exitUsage, true
			}
			g.settings = append(g.settings, value)
		case "--git-dir", "--work-tree", "--namespace", "--exec-path":
			if !take() {
				return nil, exitUsage, true
			}
			switch name {
			case "--git-dir":
				g.gitDir = value
			case "--work-tree":
				g.workDir = value
			}
		case "--bare":
			g.bare = true
		case "--no-pager", "-P", "-p", "--paginate", "--no-replace-objects", "--literal-pathspecs", "--no-optional-locks":
		default:
			fmt.Fprintf(g.Stderr, "unknown option: %s\n%s", args[0], g.Command.Help())
			return nil, exitUsage, true
		}
		args = args[1:]
	}
	if len(args) == 0 {
		g.Stdout.WriteString(g.Command.Help())
		return nil, 1, true
	}
	return args, 0, false
}

// chdir makes dir the working directory of this run.
func (g *git) chdir(dir string) error {
	if dir == "" {
		return nil
	}
	a, err := g.FS.Stat(dir)
	if err == nil && !a.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return fatalf("cannot change to '%s': %s", dir, command.Strerror(err))
	}
	c := *g.Context
	c.Dir = path.Clean(g.Abs(dir))
	c.FS = g.FS.At(a.Ino)
	g.Context = &c
	return nil
}

// aliased resolves an alias of the configuration, once.
func (g *git) aliased(args []string) ([]string, subcommand) {
	cfg, err := g.config()
	if err != nil {
		return args, nil
	}
	words := strings.Fields(cfg.get("alias." + args[0]))
	if len(words) == 0 || strings.HasPrefix(words[0], "!") {
		return args, nil
	}
	f := subcommands[words[0]]
	if f == nil {
		return args, nil
	}
	g.sub = words[0]
	return append(words, args[1:]...), f
}

// subcommand runs with the arguments behind its name.
type subcommand func(g *git, args []string) error

// subcommands by name; filled by an init function, since they refer to it.
var subcommands map[string]subcommand

func subcommandNames() []string {
	return strings.Fields(`add blame branch cat-file check-ignore checkout cherry-pick clean clone commit config describe
		diff fetch grep hash-object init log ls-files ls-tree merge merge-base mv pull push reflog remote reset restore
		rev-list rev-parse revert rm shortlog show show-ref stage stash status switch symbolic-ref tag update-ref version
		write-tree`)
}

func init() {
	subcommands = map[string]subcommand{
		"init": (*git).cmdInit, "config": (*git).cmdConfig, "add": (*git).cmdAdd, "stage": (*git).cmdAdd,
		"rm": (*git).cmdRm, "mv": (*git).cmdMv, "status": (*git).cmdStatus, "commit": (*git).cmdCommit,
		"rev-parse": (*git).cmdRevParse, "ls-files": (*git).cmdLsFiles, "diff": (*git).cmdDiff,
		"log": (*git).cmdLog, "show": (*git).cmdShow, "rev-list": (*git).cmdRevList, "reflog": (*git).cmdReflog,
		"branch": (*git).cmdBranch, "checkout": (*git).cmdCheckout, "switch": (*git).cmdSwitch,
		"restore": (*git).cmdRestore, "reset": (*git).cmdReset, "tag": (*git).cmdTag, "merge": (*git).cmdMerge,
		"merge-base": (*git).cmdMergeBase, "stash": (*git).cmdStash, "clean": (*git).cmdClean,
		"blame": (*git).cmdBlame, "grep": (*git).cmdGrep, "remote": (*git).cmdRemote, "clone": (*git).cmdClone,
		"fetch": (*git).cmdFetch, "pull": (*git).cmdPull, "push": (*git).cmdPush,
		"symbolic-ref": (*git).cmdSymbolicRef, "cat-file": (*git).cmdCatFile, "ls-tree": (*git).cmdLsTree,
		"hash-object": (*git).cmdHashObject, "show-ref": (*git).cmdShowRef, "write-tree": (*git).cmdWriteTree,
		"cherry-pick": (*git).cmdCherryPick, "revert": (*git).cmdRevert, "shortlog": (*git).cmdShortlog,
		"update-ref": (*git).cmdUpdateRef, "describe": (*git).cmdDescribe, "check-ignore": (*git).cmdCheckIgnore,
		"version": func(g *git, _ []string) error { g.printf("git version 2.39.5 (vfsd)\n"); return nil },
	}
}
