package shell

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// Config is what a Shell is made of. Only FS is required.
type Config struct {
	FS vfs.FS
	// Cred and Origin are in the circumstances of every call to FS.
	Cred   vfs.Cred
	Origin vfs.Origin
	// Now is the workspace's clock; nil means time.Now.
	Now func() time.Time
	// Host is the machine that scripts see; zero fields are filled in.
	Host command.Host
	// Lookup finds a command by name; nil means command.Lookup, the registry.
	Lookup func(name string) *command.Command
	// Backend is offered each command line that is neither function, builtin,
	// registered command nor script with an interpreter that is one of these;
	// nil offers it to nobody. See Backend.
	Backend Backend
	// Limits are those of executions that name none.
	Limits Limits
	// Network is what commands reach beyond the workspace; nil denies it all.
	Network command.Network
}

// Backend runs programs that the shell cannot. Path is the file that the name
// led to in PATH, or "" when it led to none. It reports false to decline: the
// command is then not found, or cannot be executed.
type Backend func(ctx context.Context, c *command.Context, path string, args []string) (status int, ran bool)

// Shell is what the sessions of one workspace share. It is safe for concurrent
// use.
type Shell struct {
	cfg   Config
	users users

	mu      sync.Mutex
	fifos   map[vfs.Ino]*fifo // guarded by mu
	lastPID int               // guarded by mu
}

// New returns a Shell over cfg.FS.
func New(cfg Config) *Shell {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Lookup == nil {
		cfg.Lookup = command.Lookup
	}
	cfg.Limits = cfg.Limits.or(DefaultLimits)
	h := &cfg.Host
	fill := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	fill(&h.Name, "vfsd")
	fill(&h.System, "Linux")
	fill(&h.Release, "6.1.0-vfsd")
	fill(&h.Version, "#1 SMP")
	fill(&h.Machine, "x86_64")
	if h.CPUs == 0 {
		h.CPUs = 1
	}
	if h.Boot.IsZero() {
		h.Boot = cfg.Now()
	}
	return &Shell{cfg: cfg, fifos: map[vfs.Ino]*fifo{}, lastPID: firstPID - 1}
}

// firstPID is the first process ID given out; those below are what a machine
// runs before anybody logs in.
const firstPID = 1000

// newPID returns the next process ID.
func (sh *Shell) newPID() int {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.lastPID++; sh.lastPID > 4194303 {
		sh.lastPID = firstPID
	}
	return sh.lastPID
}

// lookup finds a registered command.
func (sh *Shell) lookup(name string) *command.Command {
	if strings.IndexByte(name, '/') >= 0 {
		return nil
	}
	return sh.cfg.Lookup(name)
}
