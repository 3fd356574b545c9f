package archive

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

func cpioWorld() commandtest.Case {
	then := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	return commandtest.Case{Times: true, Entries: []commandtest.Entry{
		{Path: "d/", Time: then}, {Path: "d/f", Content: "hello\n", Time: then, Mode: 0o640}, {Path: "d/l", Link: "f", Time: then}, {Path: "odd", Content: "abc", Time: then}, {Path: "d/x", Content: "run", Mode: 0o755, Time: then}, {Path: "h1", Content: "hard", Time: then}, {Path: "h2", Hard: "h1"}, {Path: "new/"}}}
}

// TestCpio runs the lines as scripts of sh, because the tool lives in pipes.
func TestCpio(t *testing.T) {
	const list = "d\nd/f\nd/l\nodd\nd/x\nh1\nh2\n"
	w := cpioWorld()
	var cases []commandtest.Case
	add := func(stdin string, args ...string) {
		c := w
		c.Args, c.Stdin = append([]string{"cpio"}, args...), stdin
		c.Name = strings.Join(args, " ") + " < " + strings.ReplaceAll(stdin, "\n", " ")
		c.Times = false
		cases = append(cases, c)
	}
	add("", "-i")
	add("garbage, long enough to be a header of the old kind\n", "-i")
	add("")
	add("", "-o", "-H", "foo")
	add(list, "-pdm", "new")
	add(list, "-pdv", "new")
	add(list, "-p", "new")
	add(list+"nope\n", "-pd", "--quiet", "new")
	add("d/f\x00odd\x00", "-p0d", "new")
	add(list, "-p")
	add("d/l\n", "-pdL", "new")
	commandtest.Run(t, cases)
}

// TestCpioArchives reads what the real tool wrote, and what cpio itself wrote,
// in each format; without the real tool, only its own.
func TestCpioArchives(t *testing.T) {
	const list = "d\nd/f\nd/l\nodd\nd/x\nh1\nh2\n"
	numbers := regexp.MustCompile(`[0-9]+ blocks?`)
	for _, format := range []string{"bin", "odc", "newc"} {
		w := cpioWorld()
		w.Args, w.Stdin = []string{"cpio", "-o", "-H", format}, list
		made := commandtest.Inside(t, &w)
		archives := map[string]string{"own": made.Stdout}
		if _, err := exec.LookPath("cpio"); err == nil && commandtest.Live() {
			real := commandtest.Outside(t, &w)
			archives["real"] = real.Stdout
			if len(real.Stdout) != len(made.Stdout) || real.Stderr != made.Stderr {
				t.Errorf("%s: %d bytes %q, want %d %q", format, len(made.Stdout), made.Stderr, len(real.Stdout), real.Stderr)
			}
		}
		for name, archive := range archives {
			for _, args := range [][]string{{"-t"}, {"-tv"}, {"-idm"}, {"-idmv", "d/*"}, {"-idf", "d/*"}, {"-i", "--to-stdout", "odd"}} {
				c := commandtest.Case{Args: append([]string{"cpio"}, args...), Stdin: archive, Times: strings.Contains(args[0], "m")}
				got := commandtest.Inside(t, &c)
				if got.Status != 0 || !numbers.MatchString(got.Stderr) {
					t.Errorf("%s %s %q: %+v", format, name, args, got)
				}
				if commandtest.Live() {
					want := commandtest.Outside(t, &c)
					if got.Stdout != want.Stdout || got.Stderr != want.Stderr || strings.Join(got.Tree, "\n") != strings.Join(want.Tree, "\n") {
						t.Errorf("%s %s %q:\n got %+v\nwant %+v", format, name, args, got, want)
					}
				}
			}
		}
	}
}

func FuzzCpio(f *testing.F) {
	w := cpioWorld()
	for _, format := range []string{"bin", "odc", "newc"} {
		w.Args, w.Stdin = []string{"cpio", "-o", "-H", format}, "d\nd/f\nd/l\nh1\nh2\n"
		f.Add(commandtest.Inside(f, &w).Stdout)
	}
	f.Fuzz(func(t *testing.T, archive string) {
		commandtest.Inside(t, &commandtest.Case{Args: []string{"cpio", "-idm"}, Stdin: archive})
	})
}
