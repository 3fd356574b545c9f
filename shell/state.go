package shell

import (
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/cmd/regex"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// state is one shell process: the main shell of an execution, or a subshell. It
// belongs to one goroutine.
type state struct {
	sh  *Shell
	ses *Session
	x   *execution
	p   *process

	// own is what this state may change in place. A state forked off shares
	// everything at first; leaked says that such a one may still be running
	// beside this one, which then needs a new token.
	own    *owner
	leaked bool

	vars    map[string]*variable
	varsOwn *owner
	funcs   map[string]*function
	funcOwn *owner
	aliases map[string]string
	aliOwn  *owner
	hash    map[string]*hashEntry
	hashOwn *owner
	frames  []*frame
	scope   int // the depth of function calls

	opts       options
	invocation string // "c": the last letter of $-
	arg0       string
	params     []string
	paramsSet  bool // by set, outside functions, since a file was last sourced
	status     int
	lastBG     int
	lastArg    string // $_
	pipeStatus []int  // nil: only that of the last command
	pipeKeep   bool   // it was assigned
	// substStatus is the status of the last command substitution of a command,
	// -1 when it had none.
	substStatus int

	fds   []*openFile
	dir   string // logical
	ino   vfs.Ino
	umask uint32
	walk  *vfs.Walker // made anew when dir or umask changes
	stack []string    // of pushd, without the present directory

	stopped bool // it was ended from outside
	ctl     control
	ctlN    int // loops still to leave
	loops   int // loops around the present command
	sources int // sourced files around it
	coprocs []coprocess
	traceFD int    // where xtrace writes, 0 for standard error
	evals   int    // nesting for PS4
	reading int    // texts that are being read and run, one inside the other
	cmdName string // of the builtin that runs, for messages of arithmetic
	depth   int    // nesting of everything, against the limit
	ticks   int64

	line      int          // of the present command
	lineDelta int          // what command substitutions number their lines apart
	cmd       *syntax.Stmt // BASH_COMMAND
	subshell  int          // BASH_SUBSHELL
	noErrexit int          // commands around whose failure is no error
	traps     map[int]string
	trapsOwn  *owner
	// parentTraps are what trap -p still lists in a subshell that set none.
	parentTraps map[int]string
	handling    int // trap handlers around the present command
	inTrap      int // bits of the traps that are running
	jobs        jobTable
	startTime   int64 // SECONDS counts from here, ns
	random      randomState
	getopts     getoptsState
	procFDs     []int // descriptors of process substitutions, to be closed after the command
	ifs         ifsCache
	source      string        // the file that what runs came from
	noFork      bool          // the next command may take this process over
	begun       chan struct{} // closed when the first command is under way; nil if nobody asks
	mode        mode
	disabled    map[string]bool   // builtins that enable -n switched off; never changed
	completions map[string]string // of complete; never changed
	regexes     map[string]*regex.Regexp
	regexOwn    *owner
}

// mode is how the script was given, which its messages show.
type mode uint8

const (
	modeString mode = iota // bash -c
	modeFile               // bash FILE
	modeStdin              // bash < FILE
)

// control is a pending change of the flow.
type control uint8

const (
	ctlNone control = iota
	ctlBreak
	ctlContinue
	ctlReturn
)

// function is a defined function. It never changes.
type function struct {
	name   string
	decl   *syntax.FuncDecl
	source string // the file that it was defined in
	line   int
	attr   attr
}

// frame is one function call or sourced file.
type frame struct {
	own    *owner
	fn     *function // nil for a sourced file
	name   string    // FUNCNAME
	source string    // BASH_SOURCE
	line   int       // where it was called
	// saved are the variables that locals of this call hide; nil values were
	// not set.
	saved  map[string]*variable
	params []string
	opts   *options // to be restored: local -
	// shadowed is set when a sourced file has positional parameters of its own.
	shadowed bool
}

// hashEntry is a remembered command.
type hashEntry struct {
	path string
	hits int
}

// fork makes the state of a subshell. With concurrent the two run side by side;
// otherwise this one waits until the other has ended.
func (s *state) fork(concurrent bool) *state {
	c := *s
	c.own = &owner{}
	c.leaked = false
	if concurrent {
		s.share()
	}
	c.fds = slices.Clone(s.fds)
	for _, f := range c.fds {
		f.retain()
	}
	c.frames = slices.Clone(s.frames)
	c.params = s.params
	c.procFDs, c.begun = nil, nil
	c.walk = nil
	c.stack = slices.Clone(s.stack)
	c.jobs, c.coprocs = jobTable{}, nil
	c.pipeStatus = s.pipeStatus
	c.ctl, c.loops, c.sources = ctlNone, s.loops, s.sources
	c.subshell++
	c.resetTraps()
	return &c
}

// share makes everything this state could change in place belong to nobody,
// because another state sees it too.
func (s *state) share() {
	s.own = &owner{}
	s.leaked = true
}

// rejoin ends a fork that this state waited for: what leaked there leaked here.
func (s *state) rejoin(c *state) {
	if c.leaked {
		s.share()
	}
}

// ownVars returns the variables, ready to be changed.
func (s *state) ownVars() map[string]*variable {
	if s.varsOwn != s.own {
		s.vars = maps.Clone(s.vars)
		s.varsOwn = s.own
	}
	return s.vars
}

// ownFuncs returns the functions, ready to be changed.
func (s *state) ownFuncs() map[string]*function {
	if s.funcOwn != s.own {
		s.funcs = maps.Clone(s.funcs)
		s.funcOwn = s.own
		if s.funcs == nil {
			s.funcs = map[string]*function{}
		}
	}
	return s.funcs
}

// ownAliases returns the aliases, ready to be changed.
func (s *state) ownAliases() map[string]string {
	if s.aliOwn != s.own {
		s.aliases = maps.Clone(s.aliases)
		s.aliOwn = s.own
		if s.aliases == nil {
			s.aliases = map[string]string{}
		}
	}
	return s.aliases
}

// ownHash returns the remembered commands, ready to be changed.
func (s *state) ownHash() map[string]*hashEntry {
	if s.hashOwn != s.own {
		old := s.hash
		s.hash = make(map[string]*hashEntry, len(old))
		for k, e := range old {
			c := *e
			s.hash[k] = &c
		}
		s.hashOwn = s.own
	}
	return s.hash
}

// ownFrame returns frame i, ready to be changed.
func (s *state) ownFrame(i int) *frame {
	f := s.frames[i]
	if f.own != s.own {
		c := *f
		c.own = s.own
		c.saved = maps.Clone(f.saved)
		f = &c
		s.frames[i] = f
	}
	if f.saved == nil {
		f.saved = map[string]*variable{}
	}
	return f
}

// walker returns the paths' view of the files, from the present directory.
func (s *state) walker() *vfs.Walker {
	if s.walk == nil {
		op := vfs.Op{Ctx: s.x.ctx, Cred: s.sh.cfg.Cred, Umask: s.umask, Origin: s.sh.cfg.Origin}
		s.walk = &vfs.Walker{FS: s.x.fs, Op: op, Dir: s.ino, Special: &devices{x: s.x, ctx: s.p.ctx, file: s.fd}}
	}
	return s.walk
}

// fd returns an open descriptor, or nil.
func (s *state) fd(n int) *openFile {
	if n < 0 || n >= len(s.fds) {
		return nil
	}
	return s.fds[n]
}

// setFD puts a file at a descriptor, which takes over the reference; what was
// there is closed. nil closes only.
func (s *state) setFD(n int, f *openFile) {
	for n >= len(s.fds) {
		s.fds = append(s.fds, nil)
	}
	old := s.fds[n]
	s.fds[n] = f
	if old != nil {
		old.release()
	}
}

// closeFDs closes all descriptors.
func (s *state) closeFDs() {
	for i, f := range s.fds {
		if f != nil {
			f.release()
			s.fds[i] = nil
		}
	}
}

// maxFD is the highest descriptor that a redirection may name, as of ulimit -n.
func (s *state) maxFD() int {
	if n := s.x.limits.OpenFiles; n > 0 {
		return n
	}
	return 1024
}

// wide reports whether characters are those of UTF-8.
func (s *state) wide() bool {
	for _, name := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := s.vars[name]; v != nil {
			if text, _ := v.scalar(); text != "" {
				return command.Environ{"LC_ALL=" + text}.UTF8()
			}
		}
	}
	return false
}

// tick accounts for one step, and ends the state when it must not go on.
func (s *state) tick() {
	s.ticks++
	if s.ticks&63 == 0 {
		s.x.step(64)
	}
	if s.x.stopped.Load() || s.p.killed.Load() != 0 {
		s.stop()
	}
}

// ended reports whether the execution has ended or a signal has ended the state.
// tick asks the same, but may hear of the execution's end a little later.
func (s *state) ended() bool { return s.x.ctx.Err() != nil || s.p.killed.Load() != 0 }

// stop unwinds because of the execution's end or a signal.
func (s *state) stop() {
	panic(&unwind{kind: unwindKilled})
}

// unwindKind says why a state unwinds.
type unwindKind uint8

const (
	// unwindExit: exit was called, or something that exits.
	unwindExit unwindKind = iota
	// unwindLine: an expansion failed; the rest of the input line is dropped.
	unwindLine
	// unwindTop: arithmetic that cannot fail quietly did; the rest of the main
	// script's line is dropped, or all of it for bash -c.
	unwindTop
	// unwindKilled: a signal, a limit or cancellation.
	unwindKilled
)

// unwind is the value of a panic that ends commands before their end.
type unwind struct {
	kind   unwindKind
	status int
}

// exit unwinds the whole state.
func (s *state) exit(status int) {
	panic(&unwind{kind: unwindExit, status: status & 0xff})
}

// dropLine unwinds to the loop that reads commands.
func (s *state) dropLine(status int) {
	panic(&unwind{kind: unwindLine, status: status})
}

// dropTop unwinds to the main script.
func (s *state) dropTop() {
	panic(&unwind{kind: unwindTop, status: 1})
}

// dropError is dropLine for the failures that end the shell under set -e.
func (s *state) dropError() {
	if s.opts.on(optErrexit) {
		s.exit(1)
	}
	s.dropLine(1)
}

// deeper counts one level of nesting; the caller defers s.depth--.
func (s *state) deeper() {
	if s.depth++; s.x.limits.Depth > 0 && s.depth > s.x.limits.Depth*depthFactor {
		s.x.exceed("depth", int64(s.x.limits.Depth))
		s.stop()
	}
}

// depthFactor is how many nested commands one level of the limit stands for: a
// function's body, its list, its command.
const depthFactor = 4
