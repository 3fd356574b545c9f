package scale

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// step is what a child process does; the fields that its name asks for.
type step struct {
	Name     string        `json:"name"`
	Dir      string        `json:"dir"` // the data directory is below it
	Count    int           `json:"count,omitempty"`
	PerDir   int           `json:"per_dir,omitempty"`
	Size     int64         `json:"size,omitempty"`
	Real     int64         `json:"real,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
	Mount    string        `json:"mount,omitempty"`
	Driver   string        `json:"driver,omitempty"`
	Profile  string        `json:"profile,omitempty"` // file for the heap profile
}

// data is where the data directory of a step is.
func (s *step) data() string { return filepath.Join(s.Dir, "data") }

// figures are what a child found, by the name of the curve.
type figures map[string]float64

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// children are the steps by name. emit may be called more than once.
var children = map[string]func(ctx context.Context, s step, in io.Reader, emit func(figures) error) error{
	"fill":        fill,
	"look":        look,
	"serve":       serve,
	"many":        many,
	"sleep":       sleep,
	"sparse-fill": sparseFill,
	"sparse-look": sparseLook,
	"background":  background,
	"churn":       churn,
}

// Child does the step that arg describes and writes its figures to out, a line
// of JSON each time. It is the whole work of a child process.
func Child(ctx context.Context, arg string, in io.Reader, out io.Writer) error {
	var s step
	if err := json.Unmarshal([]byte(arg), &s); err != nil {
		return fmt.Errorf("bench scale step: %w", err)
	}
	do, ok := children[s.Name]
	if !ok {
		return fmt.Errorf("bench scale: no step %q", s.Name)
	}
	emit := func(f figures) error { return json.NewEncoder(out).Encode(f) }
	if err := do(ctx, s, in, emit); err != nil {
		return fmt.Errorf("bench scale, %s: %w", s.Name, err)
	}
	return nil
}

// child runs a step that emits once and returns what it emitted.
func (r *runner) child(ctx context.Context, s step) (figures, error) {
	out := figures{}
	err := r.stream(ctx, s, func(f figures) {
		for k, v := range f {
			out[k] = v
		}
	})
	return out, err
}

// stream runs a step to its end and hands on each of its figures.
func (r *runner) stream(ctx context.Context, s step, got func(figures)) error {
	cmd, said, err := r.command(ctx, s)
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("step %s: %w", s.Name, err)
	}
	d := json.NewDecoder(out)
	for {
		var f figures
		if err = d.Decode(&f); err != nil {
			break
		}
		got(f)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if werr := cmd.Wait(); werr != nil || err != nil {
		return fmt.Errorf("step %s: %w: %s", s.Name, errors.Join(werr, err), strings.TrimSpace(said.String()))
	}
	return nil
}

// patience is how long a child has to end after it was asked to.
const patience = 10 * time.Second

func (r *runner) command(ctx context.Context, s step) (*exec.Cmd, *strings.Builder, error) {
	if len(r.o.Command) == 0 {
		return nil, nil, errors.New("no command for child processes")
	}
	if r.o.Profiles != "" {
		s.Profile = filepath.Join(r.o.Profiles, fmt.Sprintf("%s-%d.pprof", s.Name, s.Count))
	}
	arg, err := json.Marshal(s)
	if err != nil {
		return nil, nil, err
	}
	args := append(append([]string{}, r.o.Command...), string(arg))
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	// A child that serves a mount must unmount it.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	said := new(strings.Builder)
	cmd.Stderr = said
	return cmd, said, nil
}

// mounted is a child that serves a workspace.
type mounted struct {
	point string
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *json.Decoder
	said  *strings.Builder
}

// serve starts a child that mounts the workspace of a step's directory.
func (r *runner) serve(ctx context.Context, dir string, n int) (*mounted, error) {
	point := filepath.Join(dir, "mount")
	if err := os.Mkdir(point, 0o755); err != nil {
		return nil, err
	}
	cmd, said, err := r.command(ctx, step{Name: "serve", Dir: dir, Count: n, Mount: point, Driver: r.o.Driver})
	if err != nil {
		return nil, err
	}
	m := &mounted{point: point, cmd: cmd, said: said}
	if m.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	m.out = json.NewDecoder(bufio.NewReader(out))
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var f figures
	if err := m.out.Decode(&f); err != nil {
		return nil, errors.Join(err, m.stop())
	}
	return m, nil
}

// memory asks the child for its memory.
func (m *mounted) memory() (figures, error) {
	if _, err := io.WriteString(m.in, "memory\n"); err != nil {
		return nil, err
	}
	var f figures
	return f, m.out.Decode(&f)
}

// stop unmounts and waits for the child's end.
func (m *mounted) stop() error {
	m.in.Close()
	if err := m.cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(m.said.String()))
	}
	return os.Remove(m.point)
}
