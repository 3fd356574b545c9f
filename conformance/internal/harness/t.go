package harness

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// maxFailures bounds what a case may have to say: one broken rule can fail
// thousands of assertions of a loop.
const maxFailures = 20

// T is a case while it runs. Its assertions may be called from every thread
// that it started; the makers belong to the thread that calls them.
type T struct {
	// Env is what is known of the file system and of this process.
	Env *Env

	name    string
	dir     string // the case's directory, absolute
	cfg     *Config
	process *processState

	mu       sync.Mutex // guards the rest
	passed   int
	failed   int
	failures []string
	skip     string
	cleanups []func()
	open     map[int]bool // descriptors to close at the end
}

// stopCase is the panic that ends a case early; what it had to say is in T.
type stopCase struct{}

// Name returns the case's full name.
func (t *T) Name() string { return t.name }

// Path returns the absolute path of a name in the case's directory.
func (t *T) Path(name string) string { return filepath.Join(t.dir, name) }

// Short reports whether long loops should be cut.
func (t *T) Short() bool { return t.cfg.Short }

// Second returns the absolute path of the case's directory as another mount
// of the same files shows it; without one the case is skipped.
func (t *T) Second() string {
	if t.cfg.Second == "" {
		t.Skip("no second mount of the same files was given")
	}
	rel, err := filepath.Rel(t.cfg.Dir, t.dir)
	t.Must(err)
	return filepath.Join(t.cfg.Second, rel)
}

// Cleanup has fn run when the case ends, on its thread and with the
// credentials that it began with; the last registered runs first.
func (t *T) Cleanup(fn func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, fn)
}

// Skip ends the case: it cannot be judged here, and why.
func (t *T) Skip(format string, args ...any) {
	t.mu.Lock()
	if t.skip == "" {
		t.skip = fmt.Sprintf(format, args...)
	}
	t.mu.Unlock()
	panic(stopCase{})
}

// Fatalf fails the case and ends it.
func (t *T) Fatalf(format string, args ...any) {
	t.fail(fmt.Sprintf(format, args...))
	panic(stopCase{})
}

// Must ends the case when a step of its setup failed.
func (t *T) Must(err error) {
	if err != nil {
		t.fail("setup: " + describe(err))
		panic(stopCase{})
	}
}

// Check counts one assertion and reports whether it held.
func (t *T) Check(ok bool, format string, args ...any) bool {
	if ok {
		t.pass()
	} else {
		t.fail(fmt.Sprintf(format, args...))
	}
	return ok
}

// OK asserts that a call succeeded.
func (t *T) OK(err error, what ...any) bool {
	if err == nil {
		t.pass()
		return true
	}
	t.fail(label(what) + "got " + describe(err) + ", want success")
	return false
}

// Errno asserts that a call failed with one of the given numbers.
func (t *T) Errno(err error, want ...syscall.Errno) bool {
	var got syscall.Errno
	if errors.As(err, &got) {
		for _, w := range want {
			if got == w {
				t.pass()
				return true
			}
		}
	}
	names := make([]string, len(want))
	for i, w := range want {
		names[i] = ErrnoName(w)
	}
	t.fail(fmt.Sprintf("got %s, want %s", describe(err), strings.Join(names, " or ")))
	return false
}

// Result asserts the outcome of a call that a model foretold: 0 is success.
func (t *T) Result(err error, want syscall.Errno, what ...any) bool {
	var got syscall.Errno
	if err != nil && !errors.As(err, &got) {
		got = 1 << 16 // no errno at all
	}
	if got == want {
		t.pass()
		return true
	}
	wanted := "success"
	if want != 0 {
		wanted = ErrnoName(want)
	}
	t.fail(fmt.Sprintf("%sgot %s, want %s", label(what), describe(err), wanted))
	return false
}

// Equal asserts got == want.
func Equal[V comparable](t *T, what string, got, want V) bool {
	if got == want {
		t.pass()
		return true
	}
	t.fail(fmt.Sprintf("%s is %v, want %v", what, show(got), show(want)))
	return false
}

// Eventually asserts that cond becomes true before the time is up: for what
// another party does in its own time (an event, the end of a process).
func (t *T) Eventually(limit time.Duration, what string, cond func() bool) bool {
	pause := 200 * time.Microsecond
	for end := time.Now().Add(limit); ; {
		if cond() {
			t.pass()
			return true
		}
		if time.Now().After(end) {
			t.fail(fmt.Sprintf("%s: not within %v", what, limit))
			return false
		}
		time.Sleep(pause)
		if pause < 10*time.Millisecond {
			pause *= 2
		}
	}
}

func (t *T) pass() {
	t.mu.Lock()
	t.passed++
	t.mu.Unlock()
}

func (t *T) fail(text string) {
	where := caller()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed++
	if len(t.failures) < maxFailures {
		t.failures = append(t.failures, where+text)
	}
}

// caller names the line of a case that is asserting.
func caller() string {
	var pcs [24]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if !ours(f) {
			return fmt.Sprintf("%s:%d: ", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// ours reports whether a frame is of this package (its tests are not), of the
// runtime, or the cases' short name for Equal.
func ours(f runtime.Frame) bool {
	base := f.Function[strings.LastIndexByte(f.Function, '/')+1:]
	return strings.HasPrefix(base, "harness.") && !strings.HasSuffix(f.File, "_test.go") ||
		strings.HasPrefix(base, "runtime.") || strings.HasPrefix(base, "posix.eq[")
}

func label(what []any) string {
	if len(what) == 0 {
		return ""
	}
	if format, ok := what[0].(string); ok {
		return fmt.Sprintf(format, what[1:]...) + ": "
	}
	return fmt.Sprint(what...) + ": "
}

func describe(err error) string {
	if err == nil {
		return "success"
	}
	var e syscall.Errno
	if errors.As(err, &e) {
		if err == error(e) {
			return ErrnoName(e)
		}
		return ErrnoName(e) + " (" + err.Error() + ")"
	}
	return err.Error()
}

// show makes values readable: strings quoted and cut.
func show(v any) string {
	s, ok := v.(string)
	if !ok {
		return fmt.Sprint(v)
	}
	if len(s) > 120 {
		return fmt.Sprintf("%q... (%d bytes)", s[:120], len(s))
	}
	return fmt.Sprintf("%q", s)
}
