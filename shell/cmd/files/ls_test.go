package files

import (
	"regexp"
	"testing"
	"time"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

// lsWorld has only old files, so that no time depends on the day of the test.
func lsWorld() commandtest.Case {
	day := func(n int) time.Time { return past.AddDate(0, 0, n) }
	e := func(path, content string, mode uint32, n int) commandtest.Entry {
		return commandtest.Entry{Path: path, Content: content, Mode: mode, Time: day(n)}
	}
	return commandtest.Case{Entries: []commandtest.Entry{
		e("b.txt", "twelve bytes", 0, 1), e("a.c", "x", 0, 5), e("Makefile", "all:\n", 0, 3), e(".hidden", "h", 0, 2), e("run.sh", "#!/bin/sh\n", 0o755, 4),
		e("big.bin", string(make([]byte, 150000)), 0o600, 6), e("file10", "1", 0, 7), e("file9", "22", 0, 8), e("with space", "", 0, 9), e("it's", "", 0, 10), e("back~", "", 0, 11), e("suid", "s", 0o4755, 12),
		e("tab\there", "", 0, 12), e("d/x", "x", 0, 1), e("d/y.tar.gz", "y", 0, 1), e("d/sub/z", "z", 0, 1), e("d/.dot", "", 0, 1), e("d/sub/", "", 0, 2), e("d/", "", 0, 3), e("empty/", "", 0o1777, 4),
		{Path: "h", Hard: "a.c"}, {Path: "pipe", FIFO: true, Time: day(5)},
	}}
}

// directories have no size in common among file systems, and symlinks the
// time at which they were made.
// recent takes out the times of what was made for the run: they have hours.
func recent(s string) string {
	return regexp.MustCompile(`\b[A-Z][a-z]{2} [ \d]\d \d\d:\d\d\b`).ReplaceAllString(s, "RECENT")
}

func lsClean(s string) string {
	s = regexp.MustCompile(`(?m)^(d\S+ +)\d+ (root +root|root|0 +0) +[0-9.]+[KM]?`).ReplaceAllString(s, "${1}N $2 S")
	s = recent(s)
	return regexp.MustCompile(`(?m)^total.*`).ReplaceAllString(s, "total")
}

func TestLs(t *testing.T) {
	w := lsWorld()
	w.Clean = lsClean
	links := w
	links.Entries = append(append([]commandtest.Entry{}, w.Entries...), commandtest.Entry{Path: "l", Link: "a.c"}, commandtest.Entry{Path: "dl", Link: "d"}, commandtest.Entry{Path: "gone", Link: "nowhere"}, commandtest.Entry{Path: "loop", Link: "loop"})
	wide := w
	wide.Env = []string{"LC_ALL=C.UTF-8"}
	wide.Entries = append(append([]commandtest.Entry{}, w.Entries...), commandtest.Entry{Path: "Ünïcode"}, commandtest.Entry{Path: "日本"}, commandtest.Entry{Path: "bad\xff"})
	long := links
	long.Clean = func(s string) string {
		return regexp.MustCompile(`(?m)^(l\S+ .*root +\d+ ).{12} (\S+ -> )`).ReplaceAllString(lsClean(s), "$1 T $2")
	}
	commandtest.Run(t, join(commandtest.Lines(w,
		"ls", "ls -a", "ls -A", "ls -1", "ls d", "ls d empty", "ls a.c d b.txt", "ls -d d", "ls -d", "ls -R", "ls -R d", "ls -aR d", "ls -r", "ls -t", "ls -tr", "ls -S", "ls -Sr", "ls -X", "ls -v", "ls -B", "ls -I '*.c'", "ls --hide='*.c' -a", "ls --hide='f*'", "ls --ignore='[a-m]*'",
		"ls -C", "ls -x", "ls -m", "ls -C -w 40", "ls -x -w 40", "ls -m -w 40", "ls -C -w 10", "ls -Cw0", "ls -x -T0", "ls -Cw 200", "ls -CF", "ls --format=across", "ls --format=single-column", "ls --format=bogus", "ls -w zz", "ls -T zz",
		"ls -F", "ls -p", "ls --file-type", "ls --indicator-style=slash", "ls -Q", "ls -b", "ls -q", "ls -N", "ls --quoting-style=shell", "ls --quoting-style=shell-escape", "ls --quoting-style=shell-escape -C", "ls --quoting-style=shell-escape -l", "ls --quoting-style=c", "ls --quoting-style=locale", "ls --quoting-style=shell-always", "ls --quoting-style=bogus",
		"ls nope", "ls nope a.c", "ls -z", "ls ''", "ls a.c/x", "ls a.c/", "ls d/", "ls ./d", "ls -d d/ a.c", "ls --sort=size", "ls --sort=bogus", "ls --sort=width", "ls --sort=none d/sub", "ls -U d/sub", "ls --group-directories-first", "ls --group-directories-first -r", "ls --zero", "ls empty", "ls -s a.c big.bin", "ls -sh big.bin a.c", "ls -s --block-size=1 big.bin", "ls -sk big.bin", "ls -s1 d/x", "ls --time=bogus", "ls -ut a.c b.txt", "ls -tu", "ls --color=never", "ls --color=auto", "ls --color=bogus", "ls -f empty",
		"ls -l", "ls -la d/sub", "ls -lA d", "ls -lh", "ls -l --si", "ls -n", "ls -g", "ls -o", "ls -lG", "ls -l --author a.c", "ls -lS", "ls -lt", "ls -ltr", "ls -lF", "ls -ld d a.c", "ls -l d empty", "ls -lR d", "ls -l --time-style=long-iso a.c", "ls -l --time-style=full-iso a.c", "ls -l --time-style=iso a.c", "ls -l --time-style=+%Y a.c", "ls -l --time-style=bogus a.c", "ls --full-time a.c", "ls -lu a.c", "ls -l --block-size=K big.bin a.c", "ls -l --block-size=KB big.bin", "ls -lk big.bin", "ls -l --block-size=zz", "ls -l1 a.c", "ls -1l a.c", "ls -lC a.c", "ls -l empty", "ls -lq 'tab	here'", "ls -lb 'tab	here'", "ls -ln d/x", "ls -lgo a.c", "ls -l --time=atime a.c", "ls -lh big.bin", "ls -l pipe suid", "ls -l nope a.c d",
		"ls --color", "ls -dl .", "ls -ad .", "ls -al empty", "ls -lv", "ls -hs big.bin",
	), commandtest.Lines(links, "ls l dl", "ls -F l dl gone", "ls -L l", "ls -H dl", "ls -d dl", "ls dl/", "ls -L gone", "ls -Fd dl", "ls --dereference-command-line-symlink-to-dir dl", "ls loop", "ls -L loop", "ls -RL d"),
		commandtest.Lines(long, "ls -l l gone", "ls -l dl", "ls -lL l", "ls -lF l dl gone", "ls -lH dl", "ls -l dl/"),
	))
	t.Run("UTF-8", func(t *testing.T) {
		commandtest.Run(t, commandtest.Lines(wide, "ls", "ls -C", "ls -x", "ls -q", "ls -b", "ls -Q", "ls --quoting-style=shell-escape", "ls --quoting-style=locale d", "ls -m", "ls nope", "ls --sort=bogus"))
	})
	t.Run("columns", func(t *testing.T) {
		commandtest.Run(t, []commandtest.Case{
			{Args: []string{"ls", "-C"}, Env: []string{"COLUMNS=30"}, Entries: w.Entries},
			{Args: []string{"ls", "-s", "big.bin"}, Env: []string{"BLOCK_SIZE=1"}, Entries: w.Entries},
			{Args: []string{"ls", "-l", "big.bin"}, Env: []string{"LS_BLOCK_SIZE=K"}, Entries: w.Entries},
			{Args: []string{"ls", "-l", "a.c"}, Env: []string{"TIME_STYLE=+%d", "QUOTING_STYLE=c"}, Entries: w.Entries},
			{Args: []string{"ls", "--color=always"}, Env: []string{"LS_COLORS=di=31:*.c=32:*.gz=33:ex=:fi=36"}, Entries: w.Entries},
			{Name: "color", Args: []string{"ls", "--color=always"}, Env: []string{"TERM=xterm-256color"}, Entries: links.Entries},
			{Name: "color long", Args: []string{"ls", "--color=always", "-l", "d"}, Env: []string{"TERM=linux"}, Entries: links.Entries},
			{Name: "color target", Args: []string{"ls", "--color=always", "-l", "l", "dl", "gone"}, Env: []string{"TERM=xterm"}, Entries: links.Entries, Clean: long.Clean},
			{Name: "color all", Args: []string{"ls", "--color=always", "-l", "l", "dl", "gone"}, Env: []string{"LS_COLORS=or=31:mi=32:ln=target:di=33:*.c=34"}, Entries: links.Entries, Clean: long.Clean},
			{Name: "color classify", Args: []string{"ls", "--color=always", "-F"}, Env: []string{"COLORTERM=1"}, Entries: links.Entries},
			{Name: "zone", Args: []string{"ls", "-l", "a.c"}, Env: []string{"TZ=America/New_York"}, Entries: w.Entries},
		})
	})
}
