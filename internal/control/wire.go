package control

import "time"

// The calls. Their names and types are the interface; spec/control.md has
// them too, and a test compares.
var (
	StatusCall         = newCall[StatusRequest, Status]("status")
	StopCall           = newCall[StopRequest, StopResult]("stop")
	MountCall          = newCall[MountRequest, MountResult]("mount")
	UnmountCall        = newCall[UnmountRequest, UnmountResult]("unmount")
	UpgradeCall        = newCall[UpgradeRequest, UpgradeResult]("upgrade")
	OpsCall            = newCall[OpsRequest, Ops]("ops")
	CreateCall         = newCall[CreateRequest, Workspace]("create")
	ListCall           = newCall[ListRequest, List]("list")
	RemoveCall         = newCall[RemoveRequest, Empty]("remove")
	ForkCall           = newCall[ForkRequest, ForkResult]("fork")
	QuotaCall          = newCall[QuotaRequest, Workspace]("quota")
	SnapshotCall       = newCall[SnapshotRequest, Snapshot]("snapshot")
	SnapshotsCall      = newCall[SnapshotsRequest, Snapshots]("snapshots")
	RemoveSnapshotCall = newCall[RemoveSnapshotRequest, Empty]("remove-snapshot")
	LogCall            = newCall[LogRequest, Log]("log")
	DiffCall           = newCall[DiffRequest, Diff]("diff")
	RestoreCall        = newCall[RestoreRequest, Restored]("restore")
	CheckStream        = newStream[CheckRequest, Problem, Checked]("check")
	ScrubStream        = newStream[ScrubRequest, Damage, Scrubbed]("scrub")
	CollectGarbageCall = newCall[GCRequest, Collected]("gc")
)

// Empty is a result that says no more than that it was done.
type Empty struct{}

// StatusRequest asks how the daemon is.
type StatusRequest struct{}

// Status is a daemon and its data directory in figures.
type Status struct {
	Daemon     bool      `json:"daemon"` // false: answered by the command itself
	PID        int       `json:"pid,omitempty"`
	Version    string    `json:"version"`
	Started    time.Time `json:"started,omitzero"`
	DataDir    string    `json:"data_dir"`
	Workspaces int       `json:"workspaces"`
	Store      Store     `json:"store"`
	Mounts     []Mount   `json:"mounts"`
	Notes      []string  `json:"notes"` // what is worth knowing: mounts that were cleared, damage that was met
}

// Store is the chunk store in figures; sizes are in bytes.
type Store struct {
	Chunks      int64  `json:"chunks"`
	RawBytes    int64  `json:"raw_bytes"`    // of the different chunks, before compression
	StoredBytes int64  `json:"stored_bytes"` // in packs
	DeadBytes   int64  `json:"dead_bytes"`   // known to be superseded
	Packs       int    `json:"packs"`
	Damaged     int64  `json:"damaged"`   // damaged places met
	DiskFree    uint64 `json:"disk_free"` // of the file system that holds it
	DiskTotal   uint64 `json:"disk_total"`
}

// MountState says how a mount is.
type MountState string

// The states of a mount.
const (
	Mounted MountState = "mounted" // and served
	Dead    MountState = "dead"    // left by a daemon that died
	Absent  MountState = "absent"  // was mounted when the daemon died, and is not now
)

// Mount is a mounted workspace.
type Mount struct {
	Workspace       string     `json:"workspace"`
	MountPoint      string     `json:"mount_point"`
	State           MountState `json:"state"`
	Driver          string     `json:"driver"`
	AllowOther      bool       `json:"allow_other"`
	ReadOnly        bool       `json:"read_only"`
	Since           time.Time  `json:"since,omitzero"`
	Inodes          uint64     `json:"inodes"`  // that the kernel holds
	Handles         uint64     `json:"handles"` // open files and directories
	MountPointBytes []byte     `json:"mount_point_bytes,omitempty"`
}

// Point returns the mount point with all its bytes.
func (m Mount) Point() string { return Name(m.MountPoint, m.MountPointBytes) }

// StopRequest stops the daemon. Busy mounts keep it from stopping unless Force
// is set, which takes them from their users.
type StopRequest struct {
	Force bool `json:"force"`
}

// StopResult tells who stops and what was unmounted.
type StopResult struct {
	PID       int      `json:"pid"`
	Unmounted []string `json:"unmounted"`
	Notes     []string `json:"notes"` // workspaces that could not be checkpointed; their journals have all of it
}

// MountRequest mounts a workspace. MountPoint is absolute; one that is not
// UTF-8 is in MountPointBytes, here and in all that follows.
type MountRequest struct {
	Workspace       string `json:"workspace"`
	MountPoint      string `json:"mount_point"`
	Driver          string `json:"driver,omitempty"` // "" is the default
	AllowOther      bool   `json:"allow_other"`
	ReadOnly        bool   `json:"read_only"`
	Create          bool   `json:"create"` // the workspace, if there is none, with a root of UID and GID
	UID             uint32 `json:"uid"`
	GID             uint32 `json:"gid"`
	MountPointBytes []byte `json:"mount_point_bytes,omitempty"`
}

// MountResult tells what was done.
type MountResult struct {
	Mount   Mount `json:"mount"`
	Created bool  `json:"created"` // the workspace is new
	Already bool  `json:"already"` // it was mounted there before
}

// UnmountRequest unmounts. Force takes the mount from its users.
type UnmountRequest struct {
	MountPoint      string `json:"mount_point"`
	Force           bool   `json:"force"`
	MountPointBytes []byte `json:"mount_point_bytes,omitempty"`
}

// UnmountResult tells what was unmounted.
type UnmountResult struct {
	Workspace string     `json:"workspace"`
	Was       MountState `json:"was"`
}

// UpgradeRequest has the daemon hand its mounts, and everything that is open in
// them, to a new process of Program, an absolute path, with Args. Without a
// Program it is the one that lies now where the daemon's own was started from,
// with the same arguments.
type UpgradeRequest struct {
	Program string   `json:"program,omitempty"`
	Args    []string `json:"args,omitempty"`
}

// UpgradeResult tells who serves now. Paused is for how long nobody did, in
// nanoseconds; what was asked meanwhile was answered afterwards.
type UpgradeResult struct {
	From    int    `json:"from"` // pid
	PID     int    `json:"pid"`
	Version string `json:"version"`
	Mounts  int    `json:"mounts"`
	Handles uint64 `json:"handles"` // open files and directories that went along
	Paused  int64  `json:"paused"`
}

// OpsRequest asks what a mount was asked.
type OpsRequest struct {
	MountPoint      string `json:"mount_point"`
	MountPointBytes []byte `json:"mount_point_bytes,omitempty"`
}

// Ops counts the requests of a mount since it began.
type Ops struct {
	Mount         Mount             `json:"mount"`
	Requests      map[string]uint64 `json:"requests"` // by FUSE opcode
	Notifications uint64            `json:"notifications"`
}

// CreateRequest makes an empty workspace whose root belongs to UID and GID.
type CreateRequest struct {
	Workspace string `json:"workspace"`
	UID       uint32 `json:"uid"`
	GID       uint32 `json:"gid"`
}

// Workspace is one workspace in figures. When it cannot be opened, Damage says
// why and the figures are 0.
type Workspace struct {
	Name         string   `json:"name"`
	Inodes       uint64   `json:"inodes"`
	Bytes        uint64   `json:"bytes"` // allocated, as du counts
	Snapshots    int      `json:"snapshots"`
	StagedBytes  int64    `json:"staged_bytes"`
	JournalBytes int64    `json:"journal_bytes"`
	Dirty        bool     `json:"dirty"` // changed since the newest commit
	Commit       string   `json:"commit"`
	Root         string   `json:"root"`
	Quota        Quota    `json:"quota"`
	Mounts       []string `json:"mounts"` // mount points
	Damage       string   `json:"damage,omitempty"`
}

// Quota bounds a workspace; 0 is no bound.
type Quota struct {
	Bytes  uint64 `json:"bytes"`
	Inodes uint64 `json:"inodes"`
}

// ListRequest asks for all workspaces. With Verify the journals and the newest
// commit of those that sleep are looked at too, so that damage shows.
type ListRequest struct {
	Verify bool `json:"verify,omitempty"`
}

// List is all workspaces by name.
type List struct {
	Workspaces []Workspace `json:"workspaces"`
}

// RemoveRequest removes a workspace with its history.
type RemoveRequest struct {
	Workspace string `json:"workspace"`
}

// ForkRequest makes a workspace that begins as a state of another. At names a
// snapshot or a commit; "" is the present state.
type ForkRequest struct {
	Workspace string `json:"workspace"`
	At        string `json:"at"`
	Name      string `json:"name"`
}

// ForkResult tells what the fork began as.
type ForkResult struct {
	Workspace Workspace `json:"workspace"`
	Commit    string    `json:"commit"`
}

// QuotaRequest asks for a quota or, with a field that is not null, sets it.
type QuotaRequest struct {
	Workspace string  `json:"workspace"`
	Bytes     *uint64 `json:"bytes,omitempty"`
	Inodes    *uint64 `json:"inodes,omitempty"`
}

// SnapshotRequest names the present state.
type SnapshotRequest struct {
	Workspace string `json:"workspace"`
	Name      string `json:"name"`
}

// Snapshot is a named commit.
type Snapshot struct {
	Name   string    `json:"name"`
	Commit string    `json:"commit"`
	Root   string    `json:"root"`
	Time   time.Time `json:"time"`
}

// SnapshotsRequest asks for the snapshots of a workspace.
type SnapshotsRequest struct {
	Workspace string `json:"workspace"`
}

// Snapshots are oldest first.
type Snapshots struct {
	Snapshots []Snapshot `json:"snapshots"`
}

// RemoveSnapshotRequest forgets a snapshot's name.
type RemoveSnapshotRequest struct {
	Workspace string `json:"workspace"`
	Name      string `json:"name"`
}

// LogRequest asks for the newest commits, at most Limit of them; 0 is 64.
type LogRequest struct {
	Workspace string `json:"workspace"`
	Limit     int    `json:"limit"`
}

// Log is commits, newest first.
type Log struct {
	Commits []Commit `json:"commits"`
}

// Commit is one state of a workspace.
type Commit struct {
	ID        string    `json:"id"`
	Root      string    `json:"root"`
	Parents   []string  `json:"parents"`
	Time      time.Time `json:"time"`
	Cause     string    `json:"cause"` // "create", "checkpoint", "snapshot", "restore"
	Snapshots []string  `json:"snapshots"`
	Inodes    uint64    `json:"inodes"`
	Bytes     uint64    `json:"bytes"`
}

// DiffRequest compares two states. From and To name snapshots or commits; ""
// is the present state. ToWorkspace "" is Workspace.
type DiffRequest struct {
	Workspace   string `json:"workspace"`
	From        string `json:"from"`
	ToWorkspace string `json:"to_workspace,omitempty"`
	To          string `json:"to"`
}

// Diff is what differs, sorted by path.
type Diff struct {
	From        string       `json:"from"` // commits
	To          string       `json:"to"`
	Differences []Difference `json:"differences"`
}

// Difference is one path that two states do not agree on. A path that is not
// UTF-8 has its bytes in PathBytes or FromBytes too.
type Difference struct {
	Kind      string `json:"kind"` // "added", "removed", "renamed", "modified", "metadata"
	Path      string `json:"path"`
	From      string `json:"from,omitempty"` // of a renamed one
	Type      string `json:"type"`
	Ino       uint64 `json:"ino"`
	PathBytes []byte `json:"path_bytes,omitempty"`
	FromBytes []byte `json:"from_bytes,omitempty"`
}

// RestoreRequest brings a workspace (Path "") or one path back to a state.
type RestoreRequest struct {
	Workspace string `json:"workspace"`
	At        string `json:"at"`
	Path      string `json:"path"`
}

// Restored tells what a restore did.
type Restored struct {
	Before  string `json:"before"` // the commit of the state before, to go back to
	Commit  string `json:"commit"`
	Changed int    `json:"changed"`
}

// CheckRequest verifies the structure of a workspace; At as in ForkRequest.
type CheckRequest struct {
	Workspace string `json:"workspace"`
	At        string `json:"at"`
}

// Problem is something that a check found wrong.
type Problem struct {
	Ino  uint64 `json:"ino,omitempty"`
	What string `json:"what"`
}

// Checked counts what a check looked at.
type Checked struct {
	Workspace string `json:"workspace"`
	Commit    string `json:"commit"`
	Inodes    uint64 `json:"inodes"`
	Dentries  uint64 `json:"dentries"`
	Extents   uint64 `json:"extents"`
	Xattrs    uint64 `json:"xattrs"`
	Chunks    uint64 `json:"chunks"`
	Problems  uint64 `json:"problems"`
}

// ScrubRequest rehashes every stored byte.
type ScrubRequest struct{}

// Damage is a place where bytes are not what was stored.
type Damage struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	What   string `json:"what"`
}

// Scrubbed counts what a scrub read.
type Scrubbed struct {
	Bytes   int64 `json:"bytes"`
	Damages int   `json:"damages"`
}

// GCRequest frees what nothing reaches any more, or only counts it.
type GCRequest struct {
	DryRun bool `json:"dry_run"`
}

// Collected tells what a garbage collection freed, or would free.
type Collected struct {
	DryRun       bool  `json:"dry_run"`
	Chunks       int64 `json:"chunks"`
	LiveChunks   int64 `json:"live_chunks"`
	LiveBytes    int64 `json:"live_bytes"`
	DeadBytes    int64 `json:"dead_bytes"`
	Missing      int64 `json:"missing"` // chunks that something refers to and that are not there
	Repacked     int   `json:"repacked"`
	DeletedPacks int   `json:"deleted_packs"`
	FreedBytes   int64 `json:"freed_bytes"`
}
