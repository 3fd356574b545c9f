package archive

import (
	"archive/tar"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// append adds to the end of an archive: files, newer files, or other archives.
func (a *archiver) append() {
	if a.filter != nil {
		a.usage("Cannot update compressed archives")
		a.status = fatal
		return
	}
	f, err := a.c.FS.OpenFile(a.file, syscall.O_RDWR|syscall.O_CREAT, 0o666)
	if err != nil {
		a.message("%s: Cannot read: %s", a.quote(a.file), command.Strerror(syscall.EBADF))
		a.die("At beginning of tape, quitting now")
		return
	}
	defer f.Close()
	at, err := f.Stat()
	if err == nil {
		a.self = at.Ino
		err = f.Truncate(int64(at.Size)) // fails for what cannot be changed
	}
	if err != nil {
		a.die("%s: Cannot open: %s", a.quote(a.file), command.Strerror(err))
		return
	}
	spans, ok := a.scan(f, int64(at.Size))
	if !ok {
		return
	}
	end := int64(0)
	if len(spans) > 0 {
		end = spans[len(spans)-1].end
	}
	if a.mode == 'u' {
		a.dropOld(spans)
	}
	if _, err := f.Seek(end, io.SeekStart); err != nil {
		a.die("%s: Cannot seek: %s", a.quote(a.file), command.Strerror(err))
		return
	}
	s, err := a.newSink(f, nil, false)
	if err != nil {
		a.die("%s: %v", a.quote(a.file), err)
		return
	}
	if a.mode == 'A' {
		a.catenate(s)
	} else {
		a.addAll(s)
	}
	err = s.close(a.blocking, end)
	if err == nil {
		err = f.Truncate(end + s.raw.n)
	}
	if err != nil && a.status != fatal {
		a.writeFailed(err)
	}
}

// span is where a member is in an archive, its extended headers included.
type span struct {
	start, end int64
	name       string
	mtime      time.Time
}

// offsetReader counts what a tar.Reader has consumed.
type offsetReader struct {
	r   io.ReaderAt
	off int64
}

func (o *offsetReader) Read(p []byte) (int, error) {
	n, err := o.r.ReadAt(p, o.off)
	o.off += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// scan finds the members of an archive.
func (a *archiver) scan(f io.ReaderAt, size int64) ([]span, bool) {
	var out []span
	if size == 0 {
		return nil, true
	}
	r := &offsetReader{r: f}
	tr := tar.NewReader(r)
	for a.ctx.Err() == nil {
		start := int64(0)
		if len(out) > 0 {
			start = out[len(out)-1].end
		}
		h, err := tr.Next()
		if err == io.EOF {
			return out, true
		}
		if err != nil {
			if len(out) == 0 {
				a.message("This does not look like a tar archive")
				a.status = 2
			} else {
				a.die("Unexpected EOF in archive")
			}
			return nil, false
		}
		data := int64(0)
		if h.Typeflag == tar.TypeReg || h.Typeflag == tar.TypeGNUSparse {
			data = (h.Size + recordSize - 1) / recordSize * recordSize
		}
		out = append(out, span{start: start, end: r.off + data, name: h.Name, mtime: h.ModTime})
	}
	return nil, false
}

// dropOld takes those operands off the list that the archive has no older copy
// of: what is in directories is decided as it is added.
func (a *archiver) dropOld(spans []span) {
	newest := map[string]time.Time{}
	for _, s := range spans {
		newest[strings.TrimSuffix(s.name, "/")] = s.mtime
	}
	kept := a.names[:0]
	for _, n := range a.names {
		kept = append(kept, a.newer(n, newest)...)
	}
	a.names, a.noRecursion = kept, true
}

// newer lists what below an operand is newer than in the archive.
func (a *archiver) newer(n tarName, have map[string]time.Time) []tarName {
	at, err := a.look(n.at, n.name)
	if err != nil {
		return []tarName{n}
	}
	var out []tarName
	mtime, ok := have[strings.TrimRight(strings.TrimLeft(n.name, "/"), "/")]
	if !ok || time.Unix(0, at.Mtime).Unix() > mtime.Unix() {
		out = append(out, n)
	}
	if !at.IsDir() {
		return out
	}
	es, err := n.at.ReadDirIno(at.Ino)
	if err != nil {
		a.fail(n.name, "Cannot open", err)
		return out
	}
	for i := range es {
		out = append(out, a.newer(tarName{name: strings.TrimRight(n.name, "/") + "/" + es[i].Name, at: n.at}, have)...)
	}
	return out
}

// catenate copies the members of other archives.
func (a *archiver) catenate(s *tarSink) {
	for _, n := range a.names {
		f, err := n.at.Open(n.name)
		if err != nil {
			a.fail(n.name, "Cannot open", err)
			continue
		}
		at, err := f.Stat()
		if err == nil {
			spans, ok := a.scan(f, int64(at.Size))
			if ok && len(spans) > 0 {
				_, err = io.CopyBuffer(onlyWriter{s.raw}, io.NewSectionReader(f, 0, spans[len(spans)-1].end), make([]byte, copySize))
			}
		}
		f.Close()
		if err != nil {
			a.fail(n.name, "Cannot read", err)
		}
	}
}

// delete removes members from an archive, by moving what follows them.
func (a *archiver) delete() {
	f, err := a.c.FS.OpenFile(a.file, syscall.O_RDWR, 0)
	if err != nil {
		a.die("%s: Cannot open: %s", a.quote(a.file), command.Strerror(err))
		return
	}
	defer f.Close()
	at, err := f.Stat()
	if err != nil {
		a.die("%s: Cannot stat: %s", a.quote(a.file), command.Strerror(err))
		return
	}
	spans, ok := a.scan(f, int64(at.Size))
	if !ok {
		return
	}
	pos := int64(0)
	for _, s := range spans {
		if len(a.names) > 0 && a.wanted(s.name) {
			continue
		}
		if err := moveBytes(f, s.start, pos, s.end-s.start); err != nil {
			a.writeFailed(err)
			return
		}
		pos += s.end - s.start
	}
	block := int64(a.blocking * recordSize)
	size := (pos + 2*recordSize + block - 1) / block * block
	if err = f.Truncate(pos); err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		a.writeFailed(err)
	}
	for _, n := range a.names {
		if !n.used {
			a.message("%s: Not found in archive", a.quote(n.name))
			a.status = max(a.status, 2)
		}
	}
}

// moveBytes moves n bytes of a file towards its start.
func moveBytes(f vfs.File, from, to, n int64) error {
	if from == to {
		return nil
	}
	buf := make([]byte, copySize)
	for n > 0 {
		m, err := f.ReadAt(buf[:min(n, int64(len(buf)))], from)
		if m == 0 {
			return err
		}
		if _, err := f.WriteAt(buf[:m], to); err != nil {
			return err
		}
		from, to, n = from+int64(m), to+int64(m), n-int64(m)
	}
	return nil
}
