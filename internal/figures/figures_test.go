package figures

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// failing is a test that has failed.
type failing struct {
	*testing.T
	errs []string
}

func (f *failing) Failed() bool { return true }
func (f *failing) Errorf(format string, args ...any) {
	f.errs = append(f.errs, fmt.Sprintf(format, args...))
}

func TestNoteAndRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "figures")
	t.Setenv(Env, name)
	Note(t, "kills", Count{"kills", 2}, Count{"lost", 0})
	Note(t, "kills", Count{"kills", 3}, Count{"checked", 7})
	Note(&failing{T: t}, "damage", Count{"damages", 1})
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(all), "[{kills true [{kills 5} {lost 0} {checked 7}]} {damage false [{damages 1}]}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNoteCannotWrite(t *testing.T) {
	t.Setenv(Env, filepath.Join(t.TempDir(), "missing", "figures"))
	f := &failing{T: t}
	Note(f, "kills")
	if len(f.errs) != 1 {
		t.Errorf("errors %q, want one", f.errs)
	}
	t.Setenv(Env, "")
	Note(f, "kills")
	if len(f.errs) != 1 {
		t.Errorf("errors %q without a file", f.errs[1:])
	}
}

func TestReadRefuses(t *testing.T) {
	for _, text := range []string{"nonsense", `{"passed":true}`, "{}"} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
