package command

import (
	"context"
	"io"
	"sort"
	"sync"
	"time"

	"github.com/vfsd/vfsd/vfs"
)

// Func runs a command: args[0] is the name it was called by. It returns the
// exit status, 0 to 255. The Context is the command's alone and is not kept
// after the return.
type Func func(ctx context.Context, c *Context, args []string) int

// Info describes a command: --help is made of it.
type Info struct {
	Name string
	// Synopsis is the usage line, or several: "cat [OPTION]... [FILE]...".
	Synopsis string
	Summary  string // a sentence or two
	Options  []Option
	Notes    string // what --help says after the options
	// UsageStatus is the exit status of a usage error; 0 means 1.
	UsageStatus int
	// UsageHint is what follows the message of a usage error; "" means "Try
	// 'NAME --help' for more information."
	UsageHint string
	// StopAtOperand ends the options at the first operand, as in env, xargs and
	// whatever else takes a command line. Otherwise they may follow operands,
	// unless POSIXLY_CORRECT is set.
	StopAtOperand bool
	// RawArgs says that the command has no --help and --version of its own
	// making: [, expr, echo, printf and the like.
	RawArgs bool
}

// Command is a registered command.
type Command struct {
	Info
	Run Func
}

var (
	registryMu sync.RWMutex
	registry   = map[string]*Command{} // guarded by registryMu
)

// Register adds a command under info.Name. It is called from init functions
// and panics when the name is taken: two commands of one name are a mistake of
// the program.
func Register(info Info, run Func) {
	registryMu.Lock()
	defer registryMu.Unlock()
	if _, ok := registry[info.Name]; ok {
		panic("command: registered twice: " + info.Name)
	}
	registry[info.Name] = &Command{Info: info, Run: run}
}

// Lookup returns the command of that name, or nil.
func Lookup(name string) *Command {
	registryMu.RLock()
	defer registryMu.RUnlock()
	return registry[name]
}

// Names returns the names of all commands, sorted.
func Names() []string {
	registryMu.RLock()
	defer registryMu.RUnlock()
	names := make([]string, 0, len(registry))
	for n := range registry {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Context is what a running command has of the world.
type Context struct {
	// Command is the running command.
	Command *Command
	// FS resolves paths relative to the command's working directory, with its
	// credentials and umask (FS.Op). Open files are counted: EMFILE.
	FS *vfs.Walker
	// Dir is the working directory's absolute path as the shell shows it
	// ($PWD), which may lead through symlinks.
	Dir string

	// Stdin is a vfs.File when the command runs in the shell, so that its type
	// and position can be asked for: see Regular.
	Stdin io.Reader
	// Stdout is buffered; it is flushed when the command returns.
	Stdout *Writer
	// Stderr is not buffered: one Write per message.
	Stderr io.Writer
	// File returns another descriptor of the command's, as /dev/fd/N does; nil
	// when it is not open. The file stays the shell's: do not close it.
	File func(fd int) vfs.File

	// Env is the environment: NAME=value, no name twice.
	Env Environ
	// Memory accounts for what the command holds.
	Memory *Memory
	// Now is the workspace's clock, Location its time zone ($TZ).
	Now      func() time.Time
	Location *time.Location
	// System is the rest: other commands, processes, users.
	System System
	// Network is the way out of the workspace; nil denies everything. See Net.
	Network Network
}

// System is the world of a command beyond its files and streams.
type System interface {
	// Exec runs another command and waits for it, as fork, execvp and wait
	// would: a workspace file with a #! line, or a registered command; neither
	// functions nor builtins. The error says that it did not start: ENOENT,
	// EACCES, ENOEXEC. A command that a signal ended has status 128 + signal.
	Exec(ctx context.Context, c *Context, child *Child) (status int, err error)
	// Self is the process ID of the command that runs with c.
	Self(c *Context) int
	// Processes lists the execution's processes in the order they started.
	Processes() []Process
	// Signal sends a signal to a process, to a group (pid < 0) or asks whether
	// it is there (signal 0); ESRCH when it is not.
	Signal(pid int, sig Signal) error
	// Users of the workspace, from its /etc/passwd and /etc/group, or the few
	// that are always there.
	UserByID(uid uint32) (User, bool)
	UserByName(name string) (User, bool)
	GroupByID(gid uint32) (Group, bool)
	GroupByName(name string) (Group, bool)
	// Host names the machine that the workspace plays.
	Host() Host
}

// Child is a command line for System.Exec.
type Child struct {
	Args []string
	// Streams; nil means the caller's own.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Env replaces the environment when not nil.
	Env Environ
	// Dir is the working directory; "" means the caller's.
	Dir string
	// Ignore lists signals that the child ignores (nohup).
	Ignore []Signal
}

// Process is one entry of the process table.
type Process struct {
	PID, PPID, Group int
	Args             []string
	Start            time.Time
	UID              uint32
}

// User is an entry of /etc/passwd.
type User struct {
	Name     string
	UID, GID uint32
	Gecos    string
	Home     string
	Shell    string
}

// Group is an entry of /etc/group.
type Group struct {
	Name    string
	GID     uint32
	Members []string
}

// Host is what uname, hostname, nproc and uptime tell.
type Host struct {
	Name    string // "vfsd"
	System  string // "Linux"
	Release string
	Version string
	Machine string // "x86_64"
	CPUs    int
	Boot    time.Time
}

// Exec runs another command line with the streams, environment and directory
// of this one.
func (c *Context) Exec(ctx context.Context, args ...string) (int, error) {
	return c.Run(ctx, &Child{Args: args})
}

// Run runs another command. Standard output is flushed first, so that what
// was said before comes before.
func (c *Context) Run(ctx context.Context, child *Child) (int, error) {
	if child.Stdout == nil {
		if err := c.Stdout.Flush(); err != nil {
			return 1, err
		}
	}
	return c.System.Exec(ctx, c, child)
}

// Sleep waits for d, or until ctx ends, and then returns its error.
func (c *Context) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// Abs returns path as an absolute one, by the logical working directory; it
// resolves nothing.
func (c *Context) Abs(path string) string {
	if path != "" && path[0] == '/' {
		return path
	}
	if c.Dir == "/" {
		return "/" + path
	}
	return c.Dir + "/" + path
}

// Open opens path for reading; "-" is standard input, whose Close does
// nothing.
func (c *Context) Open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(c.Stdin), nil
	}
	return c.FS.Open(path)
}

// Regular returns the seekable file behind a stream (c.Stdin, what Open
// returned), or nil when it is a pipe, a device or anything else.
func Regular(stream any) *vfs.RegularFile {
	for {
		switch s := stream.(type) {
		case *vfs.RegularFile:
			return s
		case interface{ Underlying() vfs.File }:
			stream = s.Underlying()
		default:
			return nil
		}
	}
}

// Go runs f in a goroutine that cannot take the daemon down. The channel
// yields one value when f is done: nil, or an error that holds the panic.
func Go(f func()) <-chan error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- &Panic{Value: v}
				return
			}
			done <- nil
		}()
		f()
	}()
	return done
}
