package control

import "time"

// The calls of executions. The package exec has what they mean.
var (
	ExecStream     = newStream[ExecRequest, ExecEvent, Execution]("exec")
	ExecFollow     = newStream[ExecFollowRequest, ExecEvent, Execution]("exec-follow")
	ExecInputCall  = newCall[ExecInputRequest, ExecInputResult]("exec-input")
	ExecKillCall   = newCall[ExecKillRequest, Execution]("exec-kill")
	ExecsCall      = newCall[ExecsRequest, Execs]("execs")
	SessionCall    = newCall[SessionRequest, SessionResult]("session")
	SessionEndCall = newCall[SessionEndRequest, Empty]("session-end")
)

// ExecRequest runs a script, or a command line when Args is set, in a
// workspace. Text that is not UTF-8 is in the fields that end in Bytes too; if
// one argument is not, all of them are.
//
// Without Detach the execution is its caller's: it is killed when the connection
// ends before it does, and waits while the caller does not read. With Detach the
// reply is the execution as it has begun.
type ExecRequest struct {
	Workspace   string     `json:"workspace"`
	Session     string     `json:"session,omitempty"` // "" is one of its own
	Script      string     `json:"script,omitempty"`
	Name        string     `json:"name,omitempty"`   // $0 of Script
	Params      []string   `json:"params,omitempty"` // $1 and so on
	Args        []string   `json:"args,omitempty"`
	Dir         string     `json:"dir,omitempty"`
	Env         []string   `json:"env,omitempty"` // NAME=value
	Input       bool       `json:"input,omitempty"`
	Detach      bool       `json:"detach,omitempty"`
	UID         uint32     `json:"uid"`
	GID         uint32     `json:"gid"`
	Limits      ExecLimits `json:"limits,omitzero"`
	ScriptBytes []byte     `json:"script_bytes,omitempty"`
	ParamsBytes [][]byte   `json:"params_bytes,omitempty"`
	ArgsBytes   [][]byte   `json:"args_bytes,omitempty"`
	DirBytes    []byte     `json:"dir_bytes,omitempty"`
	EnvBytes    [][]byte   `json:"env_bytes,omitempty"`
}

// ExecLimits bound an execution; 0 is the default, -1 is no limit. Time is in
// nanoseconds, the sizes are in bytes.
type ExecLimits struct {
	Time      int64 `json:"time,omitempty"`
	Steps     int64 `json:"steps,omitempty"`
	Depth     int64 `json:"depth,omitempty"`
	Output    int64 `json:"output,omitempty"`
	Memory    int64 `json:"memory,omitempty"`
	OpenFiles int64 `json:"open_files,omitempty"`
	FileSize  int64 `json:"file_size,omitempty"`
	Processes int64 `json:"processes,omitempty"`
}

// ExecEventKind says what an event is.
type ExecEventKind string

// The kinds of event. The values are append-only.
const (
	ExecBegun  ExecEventKind = "begun"  // the first: ID names the execution
	ExecStdout ExecEventKind = "stdout" // Data were written
	ExecStderr ExecEventKind = "stderr"
	ExecGap    ExecEventKind = "gap"   // Lost bytes are not kept
	ExecWants  ExecEventKind = "wants" // it reads from its input, for the first time
)

// ExecEvent is a piece of what an execution wrote. Pos counts the bytes of both
// outputs that came before.
type ExecEvent struct {
	Kind ExecEventKind `json:"kind"`
	ID   string        `json:"id,omitempty"`
	Pos  int64         `json:"pos"`
	Data []byte        `json:"data,omitempty"`
	Lost int64         `json:"lost,omitempty"`
}

// Execution is one run of a script. Command is the beginning of its text.
type Execution struct {
	ID           string    `json:"id"`
	Workspace    string    `json:"workspace"`
	Session      string    `json:"session,omitempty"`
	Command      string    `json:"command"`
	UID          uint32    `json:"uid"`
	State        string    `json:"state"` // "waiting" for its session, "running", "ended", "lost" by a daemon that died
	Started      time.Time `json:"started"`
	Ended        time.Time `json:"ended,omitzero"`
	Status       int       `json:"status"`             // exit status
	Limit        string    `json:"limit,omitempty"`    // that ended it
	Canceled     bool      `json:"canceled,omitempty"` // it was killed
	Exited       bool      `json:"exited,omitempty"`   // it ended itself, as by exit
	Steps        int64     `json:"steps"`
	Output       int64     `json:"output"` // bytes written, of which the middle may not be kept
	Dir          string    `json:"dir,omitempty"`
	Error        string    `json:"error,omitempty"`  // a defect of vfsd that it met
	Unkept       string    `json:"unkept,omitempty"` // why output could not be kept
	CommandBytes []byte    `json:"command_bytes,omitempty"`
	DirBytes     []byte    `json:"dir_bytes,omitempty"`
}

// ExecFollowRequest asks for the output of an execution from a position on:
// what there is and, unless Now, what comes until its end.
type ExecFollowRequest struct {
	ID   string `json:"id"`
	From int64  `json:"from,omitempty"`
	Now  bool   `json:"now,omitempty"`
}

// ExecInputRequest gives bytes to an execution's input, which must have been
// asked for, and ends it with End. The reply comes when there was room.
type ExecInputRequest struct {
	ID   string `json:"id"`
	Data []byte `json:"data,omitempty"`
	End  bool   `json:"end,omitempty"`
}

// ExecInputResult tells whether the execution still reads.
type ExecInputResult struct {
	Reads bool `json:"reads"`
}

// ExecKillRequest ends an execution, or sends it a signal by its name: "INT",
// "TERM"; "" is "KILL".
type ExecKillRequest struct {
	ID     string `json:"id"`
	Signal string `json:"signal,omitempty"`
}

// ExecsRequest asks for executions; Workspace "" means of all.
type ExecsRequest struct {
	Workspace string `json:"workspace,omitempty"`
}

// Execs are executions, oldest first.
type Execs struct {
	Executions []Execution `json:"executions"`
}

// SessionRequest asks, of a session that is made if there is none, for what an
// interactive shell shows: a prompt (PS1, PS2; Fallback if it is not set), or
// the completions of the word at the end of a line. It waits for what the
// session executes.
type SessionRequest struct {
	Workspace string `json:"workspace"`
	Session   string `json:"session"`
	UID       uint32 `json:"uid"`
	GID       uint32 `json:"gid"`
	Dir       string `json:"dir,omitempty"` // of a session that is made
	Prompt    string `json:"prompt,omitempty"`
	Fallback  string `json:"fallback,omitempty"`
	Line      string `json:"line,omitempty"`
	Complete  bool   `json:"complete,omitempty"`
	LineBytes []byte `json:"line_bytes,omitempty"`
}

// SessionResult is the answer: Words may take the place of the line's end from
// byte From on.
type SessionResult struct {
	Prompt string   `json:"prompt,omitempty"`
	From   int      `json:"from"`
	Words  [][]byte `json:"words,omitempty"`
}

// SessionEndRequest ends a session that runs nothing.
type SessionEndRequest struct {
	Workspace string `json:"workspace"`
	Session   string `json:"session"`
	UID       uint32 `json:"uid"`
	GID       uint32 `json:"gid"`
}

// ListBytes is Bytes for a list: nil when every text is UTF-8.
func ListBytes(list []string) [][]byte {
	odd := false
	for _, text := range list {
		odd = odd || Bytes(text) != nil
	}
	if !odd {
		return nil
	}
	all := make([][]byte, len(list))
	for i, text := range list {
		all[i] = []byte(text)
	}
	return all
}

// ListNames is the reverse of ListBytes.
func ListNames(list []string, bytes [][]byte) []string {
	if len(bytes) == 0 {
		return list
	}
	all := make([]string, len(bytes))
	for i, b := range bytes {
		all[i] = string(b)
	}
	return all
}
