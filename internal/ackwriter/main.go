// Ackwriter changes files and notes each change once it was acknowledged, so
// that after a crash of whatever keeps the files one can tell whether anything
// acknowledged is missing (P1) or fsynced (P2).
//
//	ackwriter write DIR LOG [-seed N] [-count N] [-fsync N]   until it fails or is done
//	ackwriter verify DIR LOG [-power]
//	ackwriter fill DIR LOG [-count N]              N small files, without notes
//	ackwriter shutdown DIR LOG                     cut the power of DIR's ext4
//
// LOG belongs on another file system. Each line of it is one change, written
// after the system call that made it had returned. The last change may have
// happened without its line. With -fsync every Nth put or add is fsynced and
// noted as such; verify -power then asks for what a power cut must leave: names
// and sizes as after some change not before the last fsync, and the bytes of
// every file that was fsynced and not changed since.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: ackwriter write|verify|fill|shutdown DIR LOG [-seed N] [-count N]")
		os.Exit(2)
	}
	flags := flag.NewFlagSet("ackwriter", flag.ExitOnError)
	seed := flags.Int64("seed", 1, "seed of the changes")
	count := flags.Int("count", 1<<30, "how many changes at the most")
	every := flags.Int("fsync", 0, "fsync every so many puts and adds")
	power := flags.Bool("power", false, "the power was cut: what was not fsynced may be missing")
	if err := flags.Parse(os.Args[4:]); err != nil {
		os.Exit(2)
	}
	var err error
	switch os.Args[1] {
	case "write":
		err = write(os.Args[2], os.Args[3], *seed, *count, *every)
	case "verify":
		if *power {
			err = verifyPower(os.Args[2], os.Args[3])
		} else {
			err = verify(os.Args[2], os.Args[3])
		}
	case "fill":
		err = fill(os.Args[2], *count)
	case "shutdown":
		err = shutdown(os.Args[2])
	default:
		err = fmt.Errorf("no such command: %s", os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ackwriter:", err)
		os.Exit(1)
	}
}

// change is one line of the log.
//
//	put NAME SEED SIZE     the file holds SIZE bytes made from SEED
//	add NAME SEED SIZE     so many more at its end
//	move NAME TO
//	drop NAME
//	dir NAME
//	sync NAME              the file was fsynced
type change struct {
	verb, name, to string
	seed           int64
	size           int
}

func (c change) String() string {
	switch c.verb {
	case "put", "add":
		return fmt.Sprintf("%s %s %d %d", c.verb, c.name, c.seed, c.size)
	case "move":
		return fmt.Sprintf("move %s %s", c.name, c.to)
	}
	return c.verb + " " + c.name
}

func parse(line string) (change, error) {
	f := strings.Fields(line)
	if len(f) < 2 {
		return change{}, fmt.Errorf("bad line %q", line)
	}
	c := change{verb: f[0], name: f[1]}
	var err error
	switch {
	case len(f) == 4:
		_, err = fmt.Sscan(f[2]+" "+f[3], &c.seed, &c.size)
	case len(f) == 3:
		c.to = f[2]
	}
	return c, err
}

func content(seed int64, size int) []byte {
	b := make([]byte, size)
	rand.New(rand.NewSource(seed)).Read(b)
	return b
}

// write makes changes until one fails; that a change fails is how a run ends
// when the daemon dies, so it is no error.
func write(dir, log string, seed int64, count, every int) error {
	out, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	r := rand.New(rand.NewSource(seed))
	files := map[string]bool{}
	var names []string
	for i := range count {
		c := choose(r, i, names)
		if err := c.do(dir); err != nil {
			fmt.Printf("ackwriter: %d changes acknowledged, then %v\n", i, err)
			return nil
		}
		if _, err := fmt.Fprintln(out, c); err != nil {
			return err
		}
		if every > 0 && i%every == every-1 && (c.verb == "put" || c.verb == "add") {
			s := change{verb: "sync", name: c.name}
			if err := s.do(dir); err != nil {
				fmt.Printf("ackwriter: %d changes acknowledged, then fsync: %v\n", i+1, err)
				return nil
			}
			if _, err := fmt.Fprintln(out, s); err != nil {
				return err
			}
		}
		switch c.verb {
		case "put":
			files[c.name] = true
		case "move":
			delete(files, c.name)
			files[c.to] = true
		case "drop":
			delete(files, c.name)
		}
		names = names[:0]
		for n := range files {
			names = append(names, n)
		}
		sort.Strings(names)
	}
	fmt.Printf("ackwriter: %d changes acknowledged\n", count)
	return nil
}

func choose(r *rand.Rand, i int, names []string) change {
	size := r.Intn(9000)
	if r.Intn(20) == 0 {
		size = r.Intn(400000)
	}
	if i%200 == 0 {
		return change{verb: "dir", name: fmt.Sprintf("d%d", i/200)}
	}
	fresh := fmt.Sprintf("d%d/f%d", i/200, i)
	if len(names) < 5 || r.Intn(3) == 0 {
		return change{verb: "put", name: fresh, seed: r.Int63(), size: size}
	}
	name := names[r.Intn(len(names))]
	switch r.Intn(4) {
	case 0:
		return change{verb: "put", name: name, seed: r.Int63(), size: size}
	case 1:
		return change{verb: "add", name: name, seed: r.Int63(), size: size}
	case 2:
		return change{verb: "move", name: name, to: fresh}
	}
	return change{verb: "drop", name: name}
}

// do makes the change; a put goes through a temporary file and a rename, so
// that it happens as a whole.
func (c change) do(dir string) error {
	p := filepath.Join(dir, c.name)
	switch c.verb {
	case "dir":
		return os.Mkdir(p, 0o755)
	case "put":
		temp := filepath.Join(dir, "temp")
		if err := os.WriteFile(temp, content(c.seed, c.size), 0o644); err != nil {
			return err
		}
		return os.Rename(temp, p)
	case "add":
		f, err := os.OpenFile(p, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(content(c.seed, c.size))
		return errors.Join(err, f.Close())
	case "move":
		return os.Rename(p, filepath.Join(dir, c.to))
	case "sync":
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	}
	return os.Remove(p)
}

// fill makes small files, 500 a directory.
func fill(dir string, count int) error {
	for i := range count {
		d := filepath.Join(dir, fmt.Sprintf("d%d", i/500))
		if i%500 == 0 {
			if err := os.Mkdir(d, 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(d, fmt.Sprintf("f%d", i)), fmt.Appendf(nil, "file %d\n", i), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// verify replays the log and compares: every acknowledged change is there, and
// nothing else but what the one change after the last line may have done.
func verify(dir, log string) error {
	want, last, err := replay(log)
	if err != nil {
		return err
	}
	bad, extra, missing := 0, 0, 0
	got := map[string]bool{}
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil || rel == "temp" {
			return err
		}
		got[rel] = true
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		w, ok := want[rel]
		switch {
		case !ok:
			extra++
			fmt.Printf("extra: %s\n", rel)
		case !bytes.Equal(b, w):
			if !bytes.HasPrefix(b, w) { // an add whose line is missing
				fmt.Printf("differs: %s: %d bytes, want %d\n", rel, len(b), len(w))
			}
			bad++
		}
		return nil
	})
	if err != nil {
		return err
	}
	for name := range want {
		if !got[name] {
			missing++
			fmt.Printf("missing: %s\n", name)
		}
	}
	// One unlogged change touches one name, or two when it is a move.
	if bad+missing > 1 || extra > 1 {
		return fmt.Errorf("after %d acknowledged changes: %d files differ, %d are missing, %d are too many", last, bad, missing, extra)
	}
	fmt.Printf("ackwriter: %d acknowledged changes verified, %d files, none lost\n", last, len(want))
	return nil
}

// replay returns what the log says the files hold.
func replay(log string) (want map[string][]byte, lines int, err error) {
	changes, err := readLog(log)
	if err != nil {
		return nil, 0, err
	}
	want = map[string][]byte{}
	for _, c := range changes {
		c.apply(want)
	}
	return want, len(changes), nil
}

func readLog(log string) ([]change, error) {
	f, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var changes []change
	s := bufio.NewScanner(f)
	for s.Scan() {
		c, err := parse(s.Text())
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return changes, s.Err()
}

func (c change) apply(files map[string][]byte) {
	switch c.verb {
	case "put":
		files[c.name] = content(c.seed, c.size)
	case "add":
		files[c.name] = append(bytes.Clone(files[c.name]), content(c.seed, c.size)...)
	case "move":
		files[c.to] = files[c.name]
		delete(files, c.name)
	case "drop":
		delete(files, c.name)
	}
}
