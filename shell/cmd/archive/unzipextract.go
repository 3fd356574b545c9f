package archive

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// extractAll restores members; symlinks and the attributes of directories come
// last.
func (u *unzipper) extractAll(files []*zip.File) {
	for _, m := range files {
		if u.ctx.Err() != nil || u.c.Stdout.Err() != nil {
			return
		}
		if u.mode == 'p' || u.mode == 'c' {
			u.toStdout(m)
			continue
		}
		u.extract(m)
	}
	for _, l := range u.links {
		if u.quiet == 0 {
			fmt.Fprintf(u.c.Stdout, "  %-22s -> %s\n", l.path, l.target)
		}
		if err := u.c.FS.Symlink(l.target, l.path); err != nil {
			u.error(0, "symlink error: %s", command.Strerror(err))
			u.status = max(u.status, 1)
		}
	}
	sort.SliceStable(u.dirs, func(i, j int) bool { return u.dirs[i].Name > u.dirs[j].Name })
	for _, m := range u.dirs {
		if path, ok := u.path(m); ok {
			u.attributes(strings.TrimRight(path, "/"), m)
		}
	}
}

func (u *unzipper) toStdout(m *zip.File) {
	if strings.HasSuffix(m.Name, "/") {
		return
	}
	if u.mode == 'c' && u.quiet == 0 {
		verb := "  inflating"
		if m.Method == zip.Store {
			verb = " extracting"
		}
		fmt.Fprintf(u.c.Stdout, "%s: %-22s  \n", verb, m.Name)
	}
	r, err := openMember(m)
	if err == nil {
		_, err = io.CopyBuffer(onlyWriter{u.c.Stdout}, onlyReader{withContext{u.ctx, r}}, make([]byte, copySize))
		r.Close()
	}
	if err != nil && u.c.Stdout.Err() == nil {
		u.error(0, "  error:  %s", zipFault(err))
		u.status = 2
	}
	if u.mode == 'c' && u.quiet == 0 {
		u.c.Stdout.WriteString("\n")
	}
}

// path is where a member goes: below the directory, whatever its name says.
func (u *unzipper) path(m *zip.File) (string, bool) {
	var parts []string
	for _, p := range strings.Split(strings.ReplaceAll(m.Name, "\\", "/"), "/") {
		if p != "" && p != "." && p != ".." {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return "", false
	}
	if u.junk {
		parts = parts[len(parts)-1:]
	}
	path := strings.Join(parts, "/")
	if u.lower {
		path = strings.ToLower(path)
	}
	if u.dir != "" {
		path = gnulib.Join(u.dir, path)
	}
	if strings.HasSuffix(m.Name, "/") {
		path += "/"
	}
	return path, true
}

func (u *unzipper) extract(m *zip.File) {
	path, ok := u.path(m)
	if !ok {
		return
	}
	if strings.Contains("/"+m.Name, "/../") || strings.HasPrefix(m.Name, "/") {
		u.error(0, "warning:  skipped \"../\" path component(s) in %s", m.Name)
		u.status = max(u.status, 1)
	}
	if strings.HasSuffix(m.Name, "/") {
		u.directory(path, m)
		return
	}
	path, ok = u.clear(path, m)
	if !ok {
		return
	}
	if err := u.c.FS.MkdirAll(gnulib.Dir(path), 0o777); err != nil {
		u.error(0, "checkdir error:  cannot create %s\n                 %s", gnulib.Dir(path), command.Strerror(err))
		u.status = max(u.status, 2)
		return
	}
	if m.Mode()&fs.ModeSymlink != 0 {
		u.symlink(path, m)
		return
	}
	u.file(path, m)
}

func (u *unzipper) directory(path string, m *zip.File) {
	if u.junk || u.freshen {
		return
	}
	bare := strings.TrimRight(path, "/")
	if a, err := u.c.FS.Stat(bare); err == nil && a.IsDir() {
		return
	}
	if u.quiet == 0 {
		u.c.Stdout.WriteString("   creating: " + path + "\n")
	}
	if err := u.c.FS.MkdirAll(bare, 0o777); err != nil {
		u.error(0, "checkdir error:  cannot create %s\n                 %s", bare, command.Strerror(err))
		u.status = max(u.status, 2)
		return
	}
	u.dirs = append(u.dirs, m)
}

// clear decides about a file that is in the way; it may change the name.
func (u *unzipper) clear(path string, m *zip.File) (string, bool) {
	for {
		a, err := u.c.FS.Lstat(path)
		if err != nil {
			return path, !u.freshen
		}
		if (u.freshen || u.update) && time.Unix(0, a.Mtime).Unix() >= m.Modified.Unix() {
			return path, false
		}
		if u.never {
			return path, false
		}
		if !u.over {
			answer, newName := u.ask(path)
			switch answer {
			case 'n':
				return path, false
			case 'r':
				path = newName
				continue
			}
		}
		if err := u.c.FS.Unlink(path); err != nil {
			u.error(0, "error:  cannot delete old %s\n        %s", path, command.Strerror(err))
			u.status = max(u.status, 50)
			return path, false
		}
		return path, true
	}
}

// ask asks what to do with a file that is there.
func (u *unzipper) ask(path string) (byte, string) {
	if u.in == nil {
		u.in = bufio.NewReader(u.c.Stdin)
	}
	for {
		u.error(0, "replace %s? [y]es, [n]o, [A]ll, [N]one, [r]ename: ", path)
		line, err := u.in.ReadString('\n')
		if err != nil && line == "" {
			u.error(0, " NULL\n(EOF or read error, treating as \"[N]one\" ...)")
			u.never = true
			return 'n', ""
		}
		switch strings.TrimSpace(line) {
		case "y", "Y":
			return 'y', ""
		case "n":
			return 'n', ""
		case "A":
			u.over = true
			return 'y', ""
		case "N":
			u.never = true
			return 'n', ""
		case "r", "R":
			u.error(0, "new name: ")
			name, _ := u.in.ReadString('\n')
			return 'r', strings.TrimSpace(name)
		}
		u.error(0, "error:  invalid response [%s]", strings.TrimSpace(line))
	}
}

// maxTarget bounds a symlink's target.
const maxTarget = vfs.MaxSymlink

func (u *unzipper) symlink(path string, m *zip.File) {
	r, err := m.Open()
	if err != nil {
		u.error(0, "  error:  %s", zipFault(err))
		u.status = 2
		return
	}
	defer r.Close()
	target, err := io.ReadAll(io.LimitReader(r, maxTarget))
	if err != nil {
		u.error(0, "  error:  %s", zipFault(err))
		u.status = 2
		return
	}
	if u.quiet == 0 {
		fmt.Fprintf(u.c.Stdout, "    linking: %-22s  -> %s \n", path, target)
	}
	u.links = append(u.links, zipLink{path, string(target)})
}

func (u *unzipper) file(path string, m *zip.File) {
	if u.quiet == 0 {
		verb := "  inflating"
		if m.Method == zip.Store {
			verb = " extracting"
		}
		fmt.Fprintf(u.c.Stdout, "%s: %-22s  ", verb, path)
	}
	say := func(text string) {
		if u.quiet == 0 {
			u.c.Stdout.WriteString(text + "\n")
		}
	}
	f, err := u.c.FS.OpenFile(path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, 0o600)
	if err != nil {
		say("")
		u.error(0, "error:  cannot create %s\n        %s", path, command.Strerror(err))
		u.status = max(u.status, 50)
		return
	}
	r, err := m.Open()
	if err == nil {
		_, err = io.CopyBuffer(onlyWriter{f}, onlyReader{withContext{u.ctx, r}}, make([]byte, copySize))
		r.Close()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		say(" " + zipFault(err))
		u.status = max(u.status, 2)
		return
	}
	say("")
	u.attributes(path, m)
}

// attributes sets mode and time.
func (u *unzipper) attributes(path string, m *zip.File) {
	mode := uint32(m.Mode().Perm())
	if m.CreatorVersion>>8 != 3 { // not made on Unix
		mode = 0o644
		if strings.HasSuffix(m.Name, "/") {
			mode = 0o755
		}
	}
	ns := m.Modified.UnixNano()
	set := &vfs.SetAttr{Mask: vfs.SetMode | vfs.SetAtime | vfs.SetMtime, Mode: mode &^ u.c.FS.Op.Umask, Atime: ns, Mtime: ns}
	if err := u.c.FS.Setattr(path, true, set); err != nil {
		u.error(0, "warning:  cannot set attributes of %s: %s", path, command.Strerror(err))
		u.status = max(u.status, 1)
	}
}
