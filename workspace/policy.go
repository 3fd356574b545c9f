package workspace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Policy says what becomes of a file that two replicas have changed.
type Policy string

// The policies.
const (
	PolicyBoth   Policy = "both"   // keep both: one keeps the name, the other is put beside it
	PolicyText   Policy = "text"   // merge by lines; where that fails, keep both
	PolicyOurs   Policy = "ours"   // keep the version of the replica that merges
	PolicyTheirs Policy = "theirs" // keep the other one
)

// PolicyPath is where a workspace keeps its policy: lines of a pattern and a
// policy, blanks between; # begins a comment. The patterns are those of
// .gitignore without a negation, and the last that matches decides.
const PolicyPath = dotName + "/" + policyName

const policyName = "policy"

const (
	policyLimit = 64 << 10 // bytes
	policyRules = 1024
)

type policyRule struct {
	p pattern
	Policy
}

type policy struct{ rules []policyRule }

// ErrBadPolicy is in the chain of an error about a line of a policy.
var ErrBadPolicy = errors.New("bad policy")

// CheckPolicy reports what is wrong with the text of a policy.
func CheckPolicy(text []byte) error {
	_, err := parsePolicy(text)
	return err
}

func parsePolicy(text []byte) (*policy, error) {
	p := &policy{}
	if len(text) > policyLimit {
		return p, fmt.Errorf("%d bytes, the limit is %d: %w", len(text), policyLimit, ErrBadPolicy)
	}
	s := bufio.NewScanner(bytes.NewReader(text))
	s.Buffer(nil, policyLimit+1)
	for line := 1; s.Scan(); line++ {
		fields := strings.Fields(s.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		r := policyRule{Policy: PolicyBoth}
		if len(fields) == 2 {
			r.Policy = Policy(fields[1])
		}
		switch r.Policy {
		case PolicyBoth, PolicyText, PolicyOurs, PolicyTheirs:
		default:
			return p, fmt.Errorf("line %d: %q is none of both, text, ours, theirs: %w", line, fields[1], ErrBadPolicy)
		}
		if len(fields) != 2 || len(p.rules) == policyRules {
			return p, fmt.Errorf("line %d: want a pattern and one of both, text, ours, theirs: %w", line, ErrBadPolicy)
		}
		var ok bool
		if r.p, ok = parsePattern(fields[0]); !ok || r.p.negated {
			return p, fmt.Errorf("line %d: pattern %q: %w", line, fields[0], ErrBadPolicy)
		}
		p.rules = append(p.rules, r)
	}
	return p, s.Err()
}

// of returns the policy for a file.
func (p *policy) of(path string) Policy {
	for i := len(p.rules) - 1; i >= 0; i-- {
		if p.rules[i].p.covers(path) {
			return p.rules[i].Policy
		}
	}
	return PolicyBoth
}

// readPolicy returns the policy that both sides have, that which one of them
// has changed, or, where both have, the one that sorts last. One that cannot be
// read decides nothing: what a text says must not keep replicas apart.
func (m *merge) readPolicy() (*policy, error) {
	var texts [3]string
	for side := range m.trees {
		b, err := m.fileAt(side, strings.Split(PolicyPath, "/"))
		if err != nil {
			return nil, err
		}
		texts[side] = string(b)
	}
	text := pick(texts[atBase], texts[atOurs], texts[atTheirs], max(texts[atOurs], texts[atTheirs]))
	p, err := parsePolicy([]byte(text))
	if err != nil {
		m.w.log.Warn("merge policy is not used", "workspace", m.w.name, "err", err)
		return &policy{}, nil
	}
	return p, nil
}

// fileAt returns the bytes of a file of one side, nil when there is none or it
// is too large.
func (m *merge) fileAt(side int, path []string) ([]byte, error) {
	at := inodeKey(1)
	for _, name := range path {
		b, ok, err := m.trees[side].Get(m.ctx, dentryKey(keyIno(at), name))
		if err != nil || !ok {
			return nil, err
		}
		d, err := decodeDentry(b)
		if err != nil {
			return nil, err
		}
		at = inodeKey(d.ino)
	}
	b, ok, err := m.trees[side].Get(m.ctx, at)
	if err != nil || !ok {
		return nil, err
	}
	v, err := decodeInode(keyIno(at), b)
	if err != nil {
		return nil, err
	}
	n := &mnode{ino: v.Ino}
	n.v[side] = v
	text, _, err := m.readAll(n, side, policyLimit)
	return text, err
}
