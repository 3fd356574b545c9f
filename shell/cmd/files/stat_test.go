package files

import (
	"regexp"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

func TestStat(t *testing.T) {
	w := world
	w.Entries = append(append([]commandtest.Entry{}, world.Entries...), commandtest.Entry{Path: "old", Content: "twelve bytes", Mode: 0o4640, Time: past})
	// Inode and device numbers, and times of change, are each machine's own.
	layout := w
	layout.Clean = func(s string) string {
		s = regexp.MustCompile(`Device: [0-9,]+`).ReplaceAllString(s, "Device: D")
		s = regexp.MustCompile(`Inode: [0-9]+ +`).ReplaceAllString(s, "Inode: N ")
		return regexp.MustCompile(`(Change|Birth): 20.*`).ReplaceAllString(s, "$1: T")
	}
	fs := w
	fs.Clean = digits
	commandtest.Run(t, join(commandtest.Lines(layout, "stat old", "stat -L old", "stat nope old", "stat"),
		commandtest.Lines(w,
			"stat -c '%n %N %F' f e d l gone p loop", "stat -Lc '%n %N %F' l dl gone", "stat -c '%a %A %f %u %g %U %G %h %s' f e l old x.sh", "stat -c %s f d/x", "stat -c '%x|%y|%X|%Y' old",
			"stat -c '%10s|%-10s|%010s|%.3X|%.0X|%.X|%15.2Y' old", "stat --printf '%s\\n%a\\t%n\\x41\\101\\e\\q' old", "stat --printf '%n' old f", "stat -c '%%|%B|%o|%q|%t %T' f", "stat -c '%' f", "stat -c '%5' f", "stat -c '%5%' f", "stat --format=%a%% f",
			"stat -c %n nope f", "stat -Lc %n gone", "stat -c %s", "stat -c '%#a %05a %+s % s' old", "stat -c '%20n|%-20n|%.2n' old", "stat -c %N 'with space'", "stat -c '%Hr,%Lr' f", "stat --printf '\\' f", "stat -c '\\n' f", "stat -x", "stat -c %m f", "stat -c '%C' f", "stat -t nope",
			"stat --cached=never -c %s f", "stat -fc %n f nope",
		), commandtest.Lines(fs, "stat -f -c '%a %b %c %d %f %i'  nope", "stat -f -")))
}
