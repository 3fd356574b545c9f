package command

import "strings"

// Environ is an environment: NAME=value strings, no name twice, in the order
// in which env prints them.
type Environ []string

// Lookup returns a variable's value, and whether it is set.
func (e Environ) Lookup(name string) (string, bool) {
	for _, kv := range e {
		if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:], true
		}
	}
	return "", false
}

// Get returns a variable's value, "" when it is not set.
func (e Environ) Get(name string) string {
	v, _ := e.Lookup(name)
	return v
}

// Set returns the environment with a variable set: in its old place, or last.
// The receiver is not changed.
func (e Environ) Set(name, value string) Environ {
	out := make(Environ, len(e), len(e)+1)
	copy(out, e)
	for i, kv := range out {
		if n, _, ok := strings.Cut(kv, "="); ok && n == name {
			out[i] = name + "=" + value
			return out
		}
	}
	return append(out, name+"="+value)
}

// Unset returns the environment without a variable. The receiver is not
// changed.
func (e Environ) Unset(name string) Environ {
	out := make(Environ, 0, len(e))
	for _, kv := range e {
		if n, _, ok := strings.Cut(kv, "="); !ok || n != name {
			out = append(out, kv)
		}
	}
	return out
}
