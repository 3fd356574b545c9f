package lines

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/vfsd/vfsd/shell/command"
)

func TestNext(t *testing.T) {
	long := strings.Repeat("x", 3*Size)
	text := "a\n\n" + long + "\nlast"
	for name, src := range map[string]io.Reader{
		"whole":    strings.NewReader(text),
		"one byte": iotest.OneByteReader(strings.NewReader(text)),
		"late EOF": iotest.DataErrReader(strings.NewReader(text)),
	} {
		m := command.NewMemory(1 << 20)
		r := NewReader(src, m)
		for i, want := range []string{"a", "", long, "last"} {
			line, ended, err := r.Next()
			if string(line) != want || ended != (i < 3) || err != nil {
				t.Fatalf("%s: line %d is %.20q %v %v", name, i, line, ended, err)
			}
		}
		if _, _, err := r.Next(); err != io.EOF {
			t.Errorf("%s: %v after the end", name, err)
		}
		if got := r.Consumed(); got != int64(len(text)) {
			t.Errorf("%s: consumed %d of %d", name, got, len(text))
		}
		r.Release()
		if m.Used() != 0 {
			t.Errorf("%s: %d bytes on the account", name, m.Used())
		}
	}
}

func TestNextErrors(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), nil)
	if line, _, err := r.Next(); string(line) != "a" || err != nil {
		t.Fatalf("%q %v", line, err)
	}
	if _, _, err := r.Next(); err != broken {
		t.Fatalf("%v", err)
	}
	r = NewReader(strings.NewReader(strings.Repeat("x", 4*Size)), command.NewMemory(Size))
	if _, _, err := r.Next(); err != syscall.ENOMEM {
		t.Errorf("a line past the limit: %v", err)
	}
}

func TestWindow(t *testing.T) {
	r := NewReader(iotest.HalfReader(strings.NewReader(strings.Repeat("ab", Size))), nil)
	var got strings.Builder
	for {
		w, err := r.Window()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n := max(1, len(w)/3)
		got.Write(w[:n])
		r.Skip(n)
		if _, err := r.More(); err != nil && err != io.EOF {
			t.Fatal(err)
		}
	}
	if got.String() != strings.Repeat("ab", Size) {
		t.Error("bytes were lost")
	}
}
