package shell

import (
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// Self implements command.System.
func (y *system) Self(*command.Context) int { return y.p.pid }

// Processes implements command.System.
func (y *system) Processes() []command.Process { return y.x.list() }

// Signal implements command.System.
func (y *system) Signal(pid int, sig command.Signal) error { return y.x.signal(pid, sig) }

// accounts is a walker from the root, to read the workspace's accounts with.
func (y *system) accounts() *vfs.Walker {
	return vfs.NewWalker(y.x.fs, &vfs.Op{Ctx: y.p.ctx, Cred: y.sh.cfg.Cred})
}

// UserByID implements command.System.
func (y *system) UserByID(uid uint32) (command.User, bool) {
	return y.sh.users.find(y.accounts(), userByID(uid))
}

// UserByName implements command.System.
func (y *system) UserByName(name string) (command.User, bool) {
	return y.sh.users.find(y.accounts(), userByName(name))
}

// GroupByID implements command.System.
func (y *system) GroupByID(gid uint32) (command.Group, bool) {
	return y.sh.users.findGroup(y.accounts(), func(g *command.Group) bool { return g.GID == gid })
}

// GroupByName implements command.System.
func (y *system) GroupByName(name string) (command.Group, bool) {
	return y.sh.users.findGroup(y.accounts(), func(g *command.Group) bool { return g.Name == name })
}

// Host implements command.System.
func (y *system) Host() command.Host { return y.sh.cfg.Host }
