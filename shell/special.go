package shell

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"
)

// special computes a variable that the shell itself keeps. It loses that with
// unset.
type special struct {
	get    func(s *state) string
	list   func(s *state) []string // of arrays
	assign func(s *state, value string)
}

func (sp *special) scalar(s *state, v *variable) (string, bool) {
	if sp.get != nil {
		return sp.get(s), true
	}
	if list := sp.list(s); len(list) > 0 {
		return list[0], true
	}
	return "", false
}

// ignored is the assignment of variables that cannot be assigned.
func ignored(*state, string) {}

// specials are the computed variables by name.
var specials map[string]*special

func init() {
	specials = map[string]*special{
		"RANDOM":        {get: (*state).nextRandom, assign: (*state).seedRandom},
		"SRANDOM":       {get: secureRandom, assign: ignored},
		"SECONDS":       {get: (*state).seconds, assign: (*state).setSeconds},
		"EPOCHSECONDS":  {get: func(s *state) string { return strconv.FormatInt(s.now().Unix(), 10) }, assign: ignored},
		"EPOCHREALTIME": {get: epochRealtime, assign: ignored},
		"LINENO":        {get: func(s *state) string { return strconv.Itoa(s.line) }, assign: ignored},
		"BASHPID":       {get: func(s *state) string { return strconv.Itoa(s.p.pid) }, assign: ignored},
		"BASH_COMMAND":  {get: (*state).commandText, assign: ignored},
		"BASH_SUBSHELL": {get: func(s *state) string { return strconv.Itoa(s.subshell) }, assign: ignored},
		"BASH_ARGV0":    {get: func(s *state) string { return s.arg0 }, assign: func(s *state, v string) { s.arg0 = v }},
		"HISTCMD":       {get: func(*state) string { return "1" }, assign: ignored},
		"FUNCNAME":      {list: (*state).funcNames, assign: ignored},
		"BASH_SOURCE":   {list: (*state).sourceNames, assign: ignored},
		"BASH_LINENO":   {list: (*state).callLines, assign: ignored},
		"BASH_ARGC":     {list: none, assign: ignored},
		"BASH_ARGV":     {list: none, assign: ignored},
		"PIPESTATUS":    {list: (*state).pipeStatuses, assign: (*state).setPipeStatus},
		"DIRSTACK":      {list: (*state).dirStack, assign: ignored},
		"GROUPS":        {list: func(s *state) []string { return []string{strconv.Itoa(int(s.sh.cfg.Cred.GID))} }, assign: ignored},
		"SHELLOPTS":     {get: func(s *state) string { return s.opts.shellopts() }},
		"BASHOPTS":      {get: func(s *state) string { return s.opts.bashopts() }},
		"_":             {get: func(s *state) string { return s.lastArg }},
	}
}

func none(*state) []string { return nil }

// specialAttrs are attributes of computed variables.
var specialAttrs = map[string]attr{
	"RANDOM": attrInteger, "SRANDOM": attrInteger, "BASHPID": attrInteger, "HISTCMD": attrInteger,
	"FUNCNAME": attrArray, "BASH_SOURCE": attrArray | attrNoUnset, "BASH_LINENO": attrArray | attrNoUnset,
	"BASH_ARGC": attrArray, "BASH_ARGV": attrArray, "PIPESTATUS": attrArray, "DIRSTACK": attrArray, "GROUPS": attrArray,
	"SHELLOPTS": attrReadonly, "BASHOPTS": attrReadonly,
}

// randomState is the generator behind RANDOM.
type randomState struct {
	seed uint32
	last uint32
}

// nextRandom steps the generator as Bash does: the minimal standard one, its
// halves folded.
func (s *state) nextRandom() string {
	r := &s.random
	if r.seed == 0 {
		var b [4]byte
		rand.Read(b[:])
		r.seed = binary.LittleEndian.Uint32(b[:])
	}
	for {
		if r.seed == 0 {
			r.seed = 123459876
		}
		v := int64(16807)*(int64(r.seed)%127773) - 2836*(int64(r.seed)/127773)
		if v < 0 {
			v += 0x7fffffff
		}
		r.seed = uint32(v)
		n := (r.seed>>16 ^ r.seed&0xffff) & 32767
		if n != r.last {
			r.last = n
			return strconv.Itoa(int(n))
		}
	}
}

func (s *state) seedRandom(value string) {
	n, _ := strconv.ParseInt(value, 10, 64)
	s.random = randomState{seed: uint32(n)}
	if s.random.seed == 0 {
		s.random.seed = 123459876
	}
}

func secureRandom(*state) string {
	var b [4]byte
	rand.Read(b[:])
	return strconv.FormatUint(uint64(binary.LittleEndian.Uint32(b[:])), 10)
}

func (s *state) now() time.Time { return s.sh.cfg.Now() }

func (s *state) seconds() string {
	return strconv.FormatInt((s.now().UnixNano()-s.startTime)/1e9, 10)
}

func (s *state) setSeconds(value string) {
	n, _ := strconv.ParseInt(value, 10, 64)
	s.startTime = s.now().UnixNano() - n*1e9
}

func epochRealtime(s *state) string {
	t := s.now()
	return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000)
}

func (s *state) pipeStatuses() []string {
	if s.pipeStatus == nil {
		return []string{strconv.Itoa(s.status)}
	}
	out := make([]string, len(s.pipeStatus))
	for i, n := range s.pipeStatus {
		out[i] = strconv.Itoa(n)
	}
	return out
}

func (s *state) setPipeStatus(value string) {
	n, _ := strconv.Atoi(value)
	s.pipeStatus, s.pipeKeep = []int{n}, true
}

// funcNames is FUNCNAME: the calls, innermost first, and "main" when a script
// file is at the bottom.
func (s *state) funcNames() []string {
	if s.functionFrame() < 0 {
		return nil
	}
	var out []string
	for i := len(s.frames) - 1; i >= 0; i-- {
		out = append(out, s.frames[i].name)
	}
	if s.mode == modeFile {
		out = append(out, "main")
	}
	return out
}

// sourceNames is BASH_SOURCE.
func (s *state) sourceNames() []string {
	var out []string
	for i := len(s.frames) - 1; i >= 0; i-- {
		out = append(out, s.frames[i].source)
	}
	if s.mode == modeFile {
		out = append(out, s.arg0)
	}
	return out
}

// callLines is BASH_LINENO.
func (s *state) callLines() []string {
	var out []string
	for i := len(s.frames) - 1; i >= 0; i-- {
		out = append(out, strconv.Itoa(s.frames[i].line))
	}
	if s.mode == modeFile {
		out = append(out, "0")
	}
	return out
}

// dirStack is DIRSTACK.
func (s *state) dirStack() []string {
	return append([]string{s.tilde(s.dir)}, s.stack...)
}
