package uroot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/u-root/u-root/pkg/core"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/shell/command/commandtest"
	"github.com/vfsd/vfsd/shell/command/uroot"
	"github.com/vfsd/vfsd/vfs"
)

// show prints what a command sees of its world.
func show(_ context.Context, c *command.Context, args []string) int {
	in, _ := io.ReadAll(c.Stdin)
	fmt.Fprintf(c.Stdout, "%q %q %s %s\n", args, in, c.Dir, c.Env.Get("V"))
	return len(args) - 1
}

func TestWrap(t *testing.T) {
	w := vfs.NewWalker(memfs.New(), &vfs.Op{})
	if err := w.MkdirAll("/d/e", 0o755); err != nil {
		t.Fatal(err)
	}
	base := commandtest.NewContext(w, "/", command.Environ{"V=old", "W=gone"})
	cmd := uroot.Wrap(&command.Command{Info: command.Info{Name: "show"}, Run: show}, *base)
	var out bytes.Buffer
	cmd.SetIO(strings.NewReader("in"), &out, io.Discard)
	cmd.SetWorkingDir("/d/e")
	cmd.SetLookupEnv(func(name string) (string, bool) { return "new", name == "V" })
	err := cmd.RunContext(context.Background(), "a", "b")
	var status uroot.StatusError
	if !errors.As(err, &status) || status != 2 {
		t.Errorf("error %v", err)
	}
	if want := "[\"show\" \"a\" \"b\"] \"in\" /d/e new\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
	cmd.SetWorkingDir("/nope")
	if err := cmd.Run(); err == nil {
		t.Error("it ran in a directory that is not there")
	}
}

// upper is a u-root command that keeps to its streams.
type upper struct{ core.Base }

func (u *upper) Run(args ...string) error { return u.RunContext(context.Background(), args...) }

func (u *upper) RunContext(_ context.Context, args ...string) error {
	if len(args) > 0 {
		return errors.New("no arguments")
	}
	b, err := io.ReadAll(u.Stdin)
	fmt.Fprint(u.Stdout, strings.ToUpper(string(b)), u.Getenv("V"), u.WorkingDir)
	return err
}

func TestAdapt(t *testing.T) {
	run := uroot.Adapt(func() core.Command { return &upper{} })
	c := commandtest.NewContext(vfs.NewWalker(memfs.New(), &vfs.Op{}), "/", command.Environ{"V=v"})
	var out, errs bytes.Buffer
	c.Command = &command.Command{Info: command.Info{Name: "upper"}}
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader("abc"), command.NewWriter(&out), &errs
	if status := run(context.Background(), c, []string{"upper"}); status != 0 {
		t.Errorf("status %d", status)
	}
	c.Stdout.Flush()
	if out.String() != "ABCv/" {
		t.Errorf("got %q", out.String())
	}
	if status := run(context.Background(), c, []string{"upper", "x"}); status != 1 || errs.String() != "upper: no arguments\n" {
		t.Errorf("status %d, %q", status, errs.String())
	}
}
