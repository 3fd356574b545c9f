package journal_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/journal"
)

// killedDir is set in the processes that TestKill starts.
const killedDir = "VFSD_TEST_KILLED_DIR"

// P1: kill -9 at any instant loses no record that was acknowledged. A process
// of its own appends and tells each LSN; it is killed, and another goes on in
// the same directory.
func TestKill(t *testing.T) {
	if dir := os.Getenv(killedDir); dir != "" {
		appendUntilKilled(t, dir)
		return
	}
	rounds := 12
	if soak() {
		rounds = 1000
	}
	dir := filepath.Join(t.TempDir(), "j")
	rng := rand.New(rand.NewPCG(3, 3))
	var last journal.LSN
	for round := range rounds {
		acknowledged := killOne(t, dir, rng.IntN(3000))
		if acknowledged <= last {
			t.Fatalf("round %d: nothing was acknowledged after %d", round, last)
		}
		j := mustOpen(t, killOptions(dir))
		for _, e := range replay(t, j) {
			if e.Payload != killPayload(e.LSN) {
				t.Fatalf("round %d: record %d is %q", round, e.LSN, e.Payload)
			}
		}
		if last = j.Applied(); last < acknowledged {
			t.Fatalf("round %d: the last record is %d, %d was acknowledged", round, last, acknowledged)
		}
		mustClose(t, j)
	}
}

// killOne starts a process, reads a number of acknowledgements, kills it and
// returns the last LSN that it had acknowledged.
func killOne(t *testing.T, dir string, reads int) journal.LSN {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
	cmd.Env = append(os.Environ(), killedDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var b [8]byte
	var last journal.LSN
	for n := 0; ; n++ {
		if n == reads {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := io.ReadFull(out, b[:]); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || n < reads {
				t.Errorf("after %d acknowledgements: %v", n, err)
			}
			break
		}
		last = journal.LSN(binary.LittleEndian.Uint64(b[:]))
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("the process was not killed: %v", err)
	}
	return last
}

func killOptions(dir string) journal.Options {
	return journal.Options{Dir: dir, SegmentSize: 1 << 16}
}

func killPayload(lsn journal.LSN) string {
	return strings.Repeat(fmt.Sprint(lsn), int(lsn%50))
}

func appendUntilKilled(t *testing.T, dir string) {
	j := mustOpen(t, killOptions(dir))
	var b [8]byte
	for {
		lsn, err := j.Append(1, []byte(killPayload(j.Applied()+1)))
		if err == nil && lsn%100 == 0 {
			err = j.Fsync(lsn)
		}
		if err != nil {
			t.Fatal(err)
		}
		binary.LittleEndian.PutUint64(b[:], uint64(lsn))
		if _, err := os.Stdout.Write(b[:]); err != nil {
			t.Fatal(err)
		}
	}
}
