package sort

import (
	"container/heap"
	"context"
	"errors"
	"io"
	"slices"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/cmd/text/spool"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// Bounds of the memory that lines are gathered in.
const (
	maxBudget = 128 << 20
	minBudget = 1 << 20
	// lineCost is what a line costs besides its text.
	lineCost = 56
	// arenaSize is how much text is kept in one piece.
	arenaSize = 1 << 20
)

// source is a sorted sequence of lines.
type source struct {
	r    *lines.Reader
	name string
	head line // valid until the source advances
	rank int  // breaks ties: the order of the inputs
}

// sorter gathers lines and keeps sorted runs.
type sorter struct {
	*job
	budget int64
	held   int64 // on the account
	used   int64
	batch  []line
	arena  []byte

	file vfs.File // the runs
	size int64
	runs []run
}

// run is a sorted part of the file.
type run struct{ off, n int64 }

// run sorts or merges the files.
func (j *job) run(ctx context.Context, files []string) int {
	st := &sorter{job: j}
	defer st.close()
	st.budget = j.s.budget
	if st.budget == 0 {
		st.budget = maxBudget
	}
	st.budget = max(minBudget, min(st.budget, j.c.Memory.Left()/2))
	var err error
	if j.s.merge {
		err = j.mergeFiles(ctx, files)
	} else {
		err = st.sortFiles(ctx, files)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errReported) || ctx.Err() != nil || j.c.Stdout.Err() != nil:
		return exitTrouble
	case errors.Is(err, syscall.ENOMEM):
		j.c.Errorf("memory exhausted")
	default:
		j.c.Errorf("%s", command.Strerror(err))
	}
	return exitTrouble
}

func (st *sorter) close() {
	if st.file != nil {
		st.file.Close()
	}
	st.c.Memory.Shrink(st.held)
}

// sortFiles sorts the lines of all files.
func (st *sorter) sortFiles(ctx context.Context, files []string) error {
	for _, name := range files {
		f, err := st.open(name)
		if err != nil {
			return err
		}
		err = st.gather(ctx, f, name)
		f.Close()
		if err != nil {
			return err
		}
	}
	st.sortBatch()
	if err := ctx.Err(); err != nil {
		return err
	}
	out, closeOutput, err := st.openOutput()
	if err != nil {
		return err
	}
	if len(st.runs) == 0 {
		err = st.write(out, st.batch)
	} else if err = st.spill(ctx); err == nil {
		err = st.mergeRuns(ctx, out)
	}
	if closeOutput() != 0 {
		return errReported
	}
	return err
}

// gather adds the lines of one file.
func (st *sorter) gather(ctx context.Context, f io.Reader, name string) error {
	r := lines.NewReader(f, st.c.Memory)
	r.Delim = st.s.delim
	defer r.Release()
	for n := 0; ; n++ {
		text, _, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil && n%checkEvery == 0 {
			err = ctx.Err()
		}
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, syscall.ENOMEM) {
				st.fail("read failed", name, err)
				return errReported
			}
			return err
		}
		if err := st.add(ctx, text); err != nil {
			return err
		}
	}
}

// add keeps a line; when the budget is used up the batch becomes a run.
func (st *sorter) add(ctx context.Context, text []byte) error {
	cost := int64(len(text)) + lineCost
	if st.used+cost > st.budget && len(st.batch) > 0 {
		st.sortBatch()
		if err := st.spill(ctx); err != nil {
			return err
		}
	}
	if st.used += cost; st.used > st.held {
		grow := st.used - st.held + arenaSize
		if err := st.c.Memory.Grow(grow); err != nil {
			return err
		}
		st.held += grow
	}
	if len(text) > cap(st.arena)-len(st.arena) {
		st.arena = make([]byte, 0, max(arenaSize, len(text)))
	}
	at := len(st.arena)
	st.arena = append(st.arena, text...)
	st.batch = append(st.batch, st.order.line(st.arena[at:len(st.arena):len(st.arena)]))
	return nil
}

// sortBatch sorts the lines that are held.
func (st *sorter) sortBatch() {
	if st.order.simple || !st.s.stable && !st.s.unique {
		slices.SortFunc(st.batch, st.order.compare)
	} else {
		slices.SortStableFunc(st.batch, st.order.compare)
	}
}

// spill writes the batch to the file as a run.
func (st *sorter) spill(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if st.file == nil {
		f, err := spool.New(st.c, st.s.tempDir)
		if err != nil {
			dir := st.s.tempDir
			if dir == "" {
				dir = "/tmp"
			}
			st.c.Errorf("cannot create temporary file in %s: %s", st.c.QuoteArg(dir), command.Strerror(err))
			return errReported
		}
		st.file = f
	}
	w := counting{w: st.file}
	out := command.NewWriter(&w)
	err := st.write(out, st.batch)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return err
	}
	st.runs = append(st.runs, run{st.size, w.n})
	st.size += w.n
	st.batch, st.arena, st.used = st.batch[:0], nil, 0
	return nil
}

// counting counts what is written.
type counting struct {
	w io.Writer
	n int64
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// write writes sorted lines, only the first of equal ones with -u.
func (st *sorter) write(out *command.Writer, batch []line) error {
	for i, l := range batch {
		if st.s.unique && i > 0 && st.order.compare(batch[i-1], l) == 0 {
			continue
		}
		out.Write(l.text)
		if err := out.WriteByte(st.s.delim); err != nil {
			return err
		}
	}
	return nil
}

// mergeRuns merges the runs of the file.
func (st *sorter) mergeRuns(ctx context.Context, out *command.Writer) error {
	st.batch = nil
	st.c.Memory.Shrink(st.held)
	st.held = 0
	var sources []*source
	for i, r := range st.runs {
		section := io.NewSectionReader(st.file, r.off, r.n)
		sources = append(sources, &source{r: lines.NewReader(section, st.c.Memory), rank: i})
	}
	return st.mergeSources(ctx, sources, out)
}

// mergeFiles merges files that are sorted.
func (j *job) mergeFiles(ctx context.Context, files []string) error {
	var sources []*source
	for i, name := range files {
		f, err := j.open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		sources = append(sources, &source{r: lines.NewReader(f, j.c.Memory), name: name, rank: i})
	}
	if !j.s.out {
		return j.mergeSources(ctx, sources, j.c.Stdout)
	}
	// The output may be one of the inputs.
	held, err := spool.New(j.c, j.s.tempDir)
	if err != nil {
		return err
	}
	defer held.Close()
	w := command.NewWriter(held)
	if err := j.mergeSources(ctx, sources, w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if _, err := held.Seek(0, io.SeekStart); err != nil {
		return err
	}
	out, closeOutput, err := j.openOutput()
	if err != nil {
		return err
	}
	_, err = io.Copy(out, struct{ io.Reader }{held})
	if closeOutput() != 0 {
		return errReported
	}
	return err
}

// sourceHeap orders sources by their present lines.
type sourceHeap struct {
	list  []*source
	order *order
}

func (h *sourceHeap) Len() int { return len(h.list) }
func (h *sourceHeap) Less(i, j int) bool {
	d := h.order.compare(h.list[i].head, h.list[j].head)
	return d < 0 || d == 0 && h.list[i].rank < h.list[j].rank
}
func (h *sourceHeap) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *sourceHeap) Push(x any)    { h.list = append(h.list, x.(*source)) }
func (h *sourceHeap) Pop() any {
	last := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	return last
}

// mergeSources merges sorted sequences.
func (j *job) mergeSources(ctx context.Context, sources []*source, out *command.Writer) error {
	h := &sourceHeap{order: j.order}
	for _, s := range sources {
		s.r.Delim = j.s.delim
		defer s.r.Release()
		ok, err := j.advance(s)
		if err != nil {
			return err
		}
		if ok {
			h.list = append(h.list, s)
		}
	}
	heap.Init(h)
	var last []byte
	for n := 0; len(h.list) > 0; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		s := h.list[0]
		if !j.s.unique || n == 0 || j.order.compare(j.order.line(last), s.head) != 0 {
			out.Write(s.head.text)
			if err := out.WriteByte(j.s.delim); err != nil {
				return err
			}
			if j.s.unique {
				last = append(last[:0], s.head.text...)
			}
		}
		ok, err := j.advance(s)
		if err != nil {
			return err
		}
		if ok {
			heap.Fix(h, 0)
		} else {
			heap.Pop(h)
		}
	}
	return nil
}

// advance reads a source's next line; false at its end.
func (j *job) advance(s *source) (bool, error) {
	text, _, err := s.r.Next()
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		if s.name == "" || errors.Is(err, syscall.ENOMEM) {
			return false, err
		}
		j.fail("read failed", s.name, err)
		return false, errReported
	}
	s.head = j.order.line(text)
	return true, nil
}
