package files

import (
	"regexp"
	"testing"
	"time"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

// past is a time that no rule about recent files applies to.
var past = time.Date(2020, 2, 3, 4, 5, 6, 789000000, time.UTC)

// world is a small hierarchy that most cases run in.
var world = commandtest.Case{
	Files: map[string]string{"f": "one\ntwo\n", "e": "", "d/": "", "d/x": "x\n", "d/sub/": "", "with space": "s\n"},
	Entries: []commandtest.Entry{
		{Path: "l", Link: "f"}, {Path: "dl", Link: "d"}, {Path: "gone", Link: "nowhere"}, {Path: "loop", Link: "loop"},
		{Path: "h", Hard: "f"}, {Path: "p", FIFO: true}, {Path: "x.sh", Content: "#!/bin/sh\n", Mode: 0o755, Time: past},
	},
}

func join(lists ...[]commandtest.Case) []commandtest.Case {
	var out []commandtest.Case
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// digits blanks out numbers that differ from machine to machine.
func digits(s string) string { return regexp.MustCompile(`[0-9]+`).ReplaceAllString(s, "N") }

func TestNames(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"basename /a/b/c.txt .txt", "basename a/", "basename /", "basename //", "basename ''", "basename .txt .txt", "basename",
		"basename a b c", "basename -a x/y z/w", "basename -s .c a.c b.c", "basename -z a/b", "basename -a", "basename --multiple --suffix=.h d/a.h",
		"basename a/b/ b", "basename abc bc", "basename -- -a", "basename /a/b -a",
		"dirname /a/b/c", "dirname a", "dirname a/", "dirname /", "dirname //a", "dirname a//b//", "dirname ''", "dirname", "dirname -z a/b c",
		"dirname /a", "dirname a/b c/d /", "dirname -x",
		"pathchk f", "pathchk f/x", "pathchk -p 'a b'", "pathchk -P -- -a", "pathchk -P ''", "pathchk ''", "pathchk -p abcdefghijklmnop", "pathchk",
		"pathchk --portability a/-b", "pathchk nope/nope", "pathchk -p a/b",
	))
}

func TestMkdir(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"mkdir new", "mkdir a b d", "mkdir d", "mkdir f", "mkdir no/such", "mkdir -p no/such/dir", "mkdir -p d d/sub", "mkdir -p f/x", "mkdir -p f/x/y",
		"mkdir -pv q/r/s", "mkdir -v q", "mkdir -m 700 q", "mkdir -m u=rwx,go= q", "mkdir -pm 711 q/r", "mkdir -m 1777 t", "mkdir -m zz q", "mkdir",
		"mkdir -p f", "mkdir -p gone", "mkdir gone", "mkdir -p gone/x", "mkdir new/", "mkdir -p dl/new", "mkdir -Z q", "mkdir -x", "mkdir --parents=3 x", "mkdir -p ./q/../r",
		"mkdir -m g+s q", "mkdir -p ''", "mkdir ''", "mkdir .", "mkdir -p . ..", "mkdir /", "mkdir -p /", "mkdir -m a-w q", "mkdir --mode=2755 q", "mkdir 'new dir'", "mkdir p/x",
		"mkfifo q", "mkfifo -m 600 q", "mkfifo f", "mkfifo", "mkfifo -m 4777 q", "mkfifo -m zz q", "mkfifo no/q", "mkfifo a b f",
		"rmdir d/sub", "rmdir d", "rmdir f", "rmdir nope", "rmdir -p d/sub", "rmdir -v d/sub", "rmdir -pv d/sub", "rmdir --ignore-fail-on-non-empty d",
		"rmdir --ignore-fail-on-non-empty -p d/sub", "rmdir", "rmdir dl", "rmdir dl/", "rmdir d/sub/", "rmdir l/", "rmdir .", "rmdir d/sub/.", "rmdir d/sub nope f",
	))
}

func TestLink(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"ln f n", "ln f h", "ln -f f h", "ln -f f f", "ln -f e f", "ln -s f n", "ln -s f l", "ln -sf e l", "ln -sfn e dl", "ln -sf e dl", "ln -snf e dl", "ln -s ../f d", "ln -s f d",
		"ln f d", "ln f e d", "ln -s f e nope", "ln f e nope", "ln -s f e f", "ln nope n", "ln d n", "ln", "ln -T f", "ln -t d f e", "ln -t nope f", "ln -t f e", "ln -T f d", "ln -sT f dl",
		"ln -sv f n", "ln -v f n", "ln -sfv e l", "ln -b e f", "ln -bv e f", "ln -s -S .bak -b e f", "ln --backup=numbered -s e f", "ln --backup=bogus e f", "ln -sr d/x d/sub/y",
		"ln -r f n", "ln -sr f d", "ln l n", "ln -L l n", "ln -P l n", "ln -L gone n", "ln gone n", "ln -s '' n", "ln -s x", "ln -s d/x", "ln -s f no/n", "ln f no/n", "ln -sT f e d",
		"ln -fs d f", "ln -f f d", "ln -fT f d", "ln -i e f", "ln -s d/x d/sub d", "ln -sf d/x e", "ln -t d -T f", "ln -srf f dl",
		"link f n", "link f h", "link nope n", "link f", "link", "link a b c", "link d n", "unlink f", "unlink l", "unlink d", "unlink nope", "unlink", "unlink a b",
	))
}

func TestReadlink(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"readlink l", "readlink f", "readlink -v f", "readlink nope", "readlink -v nope", "readlink -n l", "readlink l dl", "readlink -n l dl", "readlink -z l", "readlink",
		"readlink -f l", "readlink -f f", "readlink -f nope", "readlink -f no/such", "readlink -vf no/such", "readlink -e nope", "readlink -ve nope", "readlink -e l", "readlink -m no/such/x", "readlink -m f/x",
		"readlink -f f/x", "readlink -vf f/", "readlink -f d/", "readlink -f dl/x", "readlink -f dl/../f", "readlink -f gone", "readlink -e gone", "readlink -m gone", "readlink -vf loop", "readlink -m loop",
		"readlink -f .", "readlink -f .//.", "readlink -f /", "readlink -f ''", "readlink -vf ''", "readlink -f nope/", "readlink -f d/sub/../x", "readlink -f 'with space'", "readlink -f f/.", "readlink -f f/..",
		"realpath f", "realpath l dl", "realpath nope", "realpath -e nope", "realpath -m no/such/../x", "realpath no/such", "realpath -q no/such", "realpath -s l", "realpath -s dl/../f", "realpath -L dl/../f", "realpath dl/../f",
		"realpath --relative-to=d f", "realpath --relative-to=d d/x", "realpath --relative-to=. d/x f .", "realpath --relative-to=d d", "realpath --relative-base=d d/x f", "realpath --relative-base=. --relative-to=d f", "realpath --relative-to=nope f",
		"realpath --relative-to=d/sub f d/x d", "realpath -z f", "realpath", "realpath ''", "realpath loop", "realpath gone", "realpath -e gone", "realpath --relative-to=f d", "realpath -e --relative-to=f d", "realpath f/", "realpath .", "realpath /", "realpath --relative-base=d --relative-to=. f d/x", "realpath -s .", "realpath -m ../../../../../../x",
		"realpath --no-symlinks ./d/./sub/..", "realpath //usr//",
	))
}

func TestTouch(t *testing.T) {
	timed := world
	timed.Times = true
	commandtest.Run(t, join(commandtest.Lines(timed,
		"touch -d 2021-03-04 f", "touch -d '2021-03-04 05:06:07' f new", "touch -t 202103040506 f", "touch -t 202103040506.07 f", "touch -t 2103040506 f", "touch -t 6903040506 f", "touch -t 13040506 f",
		"touch -r x.sh f", "touch -r x.sh -d '+1 day' f", "touch -r x.sh -d 'yesterday' f", "touch -d @1000000000 f", "touch -a -d 2021-01-01 x.sh", "touch -m -d 2021-01-01 x.sh", "touch --time=mtime -d 2021-01-01 x.sh",
		"touch --time=atime -d 2021-01-01 x.sh", "touch -d bogus f", "touch -t bogus f", "touch -t 209913010000 f", "touch -d 2021-01-01 l", "touch -h -d 2021-01-01 l", "touch -c -d 2020-01-01 nope", "touch -r nope -h f", "touch -d 2021-01-01 -t 202101010000 f",
		"touch -d 2021-01-01 -r f -t 202101010000 e", "touch -d 2021-01-01 d", "touch -d 2021-01-01 no/such", "touch f/x", "touch ''", "touch -d 2021-01-01 gone", "touch -h -d 2021-01-01 nope", "touch new/", "touch d/", "touch loop",
		"touch -d 2021-02-30 f", "touch -d '2021-03-04T05:06:07Z' f", "touch -d '2021-03-04 05:06:07 +0200' f", "touch -d '1 Jan 2000' f", "touch -f -d 2000-01-01 f",
	), commandtest.Lines(world, "touch f", "touch new a b", "touch -c new", "touch", "touch --time=bogus f", "touch -a new", "touch -- -x", "touch -", "touch -x")))
}

func TestRm(t *testing.T) {
	prompted := world
	prompted.Stdin = "y\nn\ny\n"
	commandtest.Run(t, join(commandtest.Lines(world,
		"rm f", "rm f nope e", "rm -f nope", "rm -f", "rm", "rm d", "rm -r d", "rm -rf d nope", "rm -d d/sub", "rm -d d", "rm -rv d/sub", "rm -v f e", "rm -dv d/sub", "rm -rv 'with space'", "rm l", "rm dl", "rm dl/", "rm -r dl/", "rm -r dl", "rm f/", "rm -f f/",
		"rm -rf .", "rm -r ..", "rm -rf d/..", "rm -rf d/.", "rm -f d", "rm p gone loop", "rm -- -f", "rm -f f/x", "rm f/x", "rm -x", "rm --interactive=bogus f", "rm --no-such", "rm ''", "rm -f ''", "rm -r /", "rm -rf / d", "rm -R d", "rm --recursive d e",
	), commandtest.Lines(prompted, "rm -i f e h", "rm -ri d/sub", "rm -I f", "rm -I f e h l", "rm -rI d", "rm --interactive f", "rm --interactive=once -r d e", "rm --interactive=never f", "rm -i d/sub", "rm -if f", "rm -fi f", "rm -iv e f", "rm -id d/sub")))
}

func TestChmod(t *testing.T) {
	named := func(s string) string { return s }
	w := world
	w.Clean = named
	commandtest.Run(t, commandtest.Lines(w,
		"chmod 600 f", "chmod u+x f", "chmod a-r f", "chmod go=u f", "chmod u=g,o+w f", "chmod +x f", "chmod -w f", "chmod -x x.sh", "chmod =r f", "chmod a+X f d", "chmod u+s,g+s,+t x.sh", "chmod 7777 d", "chmod 755 d", "chmod 0755 d", "chmod 00755 d", "chmod g+s d", "chmod u-s,g=rx d",
		"chmod -R 700 d", "chmod -Rv u+x d/sub", "chmod -v 644 f", "chmod -v 600 f", "chmod -c 600 f", "chmod -c 644 f", "chmod -f 600 nope", "chmod 600 nope f", "chmod 600 gone", "chmod 600 l", "chmod -v 600 l", "chmod", "chmod 600", "chmod zz f", "chmod 888 f", "chmod u+q f", "chmod u f",
		"chmod --reference=x.sh f", "chmod --reference=nope f", "chmod --reference=x.sh", "chmod -rw f", "chmod -r,+w f", "chmod u+rwx,g-w f", "chmod 77777 f", "chmod ug+rw,o-rwx f", "chmod +t d", "chmod o+t d", "chmod u+t f", "chmod -R go-rwx nope", "chmod -- -x x.sh", "chmod -v -x x.sh", "chmod a= f", "chmod = f", "chmod u=rwxs x.sh", "chmod +755 f", "chmod =755 f", "chmod -111 x.sh", "chmod u+755 f",
		"chmod g=o,u+X,o-x x.sh", "chmod a+rwx-x f", "chmod --recursive --verbose 711 d/sub", "chmod --changes 711 d/x", "chmod --quiet 711 nope", "chmod --preserve-root -R 755 /", "chmod -R 750 dl", "chmod u+x,,g+x f", "chmod ,u+x f", "chmod 644, f", "chmod -x", "chmod -v 644 f nope d",
		"chmod u+ug f", "chmod g-u f", "chmod o=g-r f",
	))
}

func TestChown(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"chown 54321 f", "chown -v 54321 f", "chown -v 54321:54322 f", "chown -v :54322 f", "chown -v 54321: f", "chown -v root f", "chown -v root: f", "chown -v root:root f", "chown -v : f", "chown -v '' f", "chown -c 0:0 f", "chown -c 7777777 f", "chown nosuchuser f", "chown :nosuchgroup f", "chown root:nosuchgroup f",
		"chown 1 nope", "chown", "chown 1", "chown -R 54321 d", "chown -Rv 54321 d/sub", "chown -h 54321 gone", "chown 54321 gone", "chown -v 54321 l", "chown -hv 54321 l", "chown --from=54321 -v root f", "chown --from=root:root 54321 -v f", "chown --from=:54321 -v 1 f", "chown --reference=f -v e", "chown --reference=nope e", "chown --reference=f",
		"chgrp 54321 f", "chgrp -v 54321 f", "chgrp -v root f", "chgrp nosuchgroup f", "chgrp 0", "chgrp -c 54321 f e", "chgrp -R 54321 d", "chgrp -hv 54321 gone", "chgrp --reference=f -v e", "chown -R --dereference 0 d", "chown -RL 54321 dl", "chown -RH 54321 dl", "chown -RvP 54321 dl", "chown +54321 f", "chown -v 54321.54322 f", "chown --preserve-root -R 0 /", "chown -f 0 nope", "chown 0 loop", "chgrp '' f", "chgrp -v '' f",
	))
}

func TestCat(t *testing.T) {
	w := world
	w.Files = map[string]string{"f": "one\ntwo\n", "tabs": "\ta\tb\r\nc\rd\n", "blank": "\n\n\na\n\n\n\nb", "bin": "\x00\x01\x7f\x80\x9b\xff\xe9\n", "d/": "", "nonl": "no newline", "cr": "x\r"}
	w.Entries = nil
	w.Stdin = "stdin\n"
	commandtest.Run(t, commandtest.Lines(w,
		"cat f nonl f", "cat", "cat -", "cat f - nonl", "cat -n f nonl f", "cat -b blank", "cat -s blank", "cat -ns blank", "cat -nE blank", "cat -A tabs", "cat -e tabs", "cat -t tabs", "cat -T tabs", "cat -E tabs", "cat -v tabs bin", "cat -A bin", "cat -vet cr cr", "cat -E cr f",
		"cat d", "cat nope f", "cat -bn blank", "cat -nb blank nonl blank", "cat -sb blank blank", "cat -n nonl nonl", "cat --number --squeeze-blank blank", "cat --show-all tabs", "cat -u f", "cat -z", "cat '' f", "cat -v cr", "cat -E cr", "cat -nA cr tabs", "cat f/x",
	))
}

func TestTruncate(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world,
		"truncate -s 3 f", "truncate -s 10 f new", "truncate -s +2 f", "truncate -s -2 f", "truncate -s -100 f", "truncate -s '<4' f", "truncate -s '>4' f", "truncate -s '>40' f", "truncate -s /3 f", "truncate -s %5 f", "truncate -s %0 f", "truncate -s 1K new", "truncate -s 1KB new", "truncate -s zz f", "truncate -s 1Q f", "truncate -s 99999999999999999999 f",
		"truncate f", "truncate -s 1", "truncate -r f e", "truncate -r f -s +3 e", "truncate -r f -s 3 e", "truncate -r nope e", "truncate -c -s 3 nope", "truncate -s 3 d", "truncate -s 3 no/such", "truncate -o f", "truncate -s '+-3' f", "truncate -s ' 3' f", "truncate -s 8E f", "truncate -s -K f", "truncate --size=0 f", "truncate -s '' f", "truncate -s 0x10 f",
	))
}

func TestMktemp(t *testing.T) {
	random := func(s string) string {
		return regexp.MustCompile(`[A-Za-z0-9]{10}|(aa\.)[A-Za-z0-9]{4}`).ReplaceAllString(s, "${1}R")
	}
	w := commandtest.Case{Env: []string{"TMPDIR=$DIR"}, Clean: random}
	commandtest.Run(t, commandtest.Lines(w,
		"mktemp -u", "mktemp -u aa.XXXX", "mktemp -u -p sub", "mktemp -u -t aa.XXXX", "mktemp -u --tmpdir=x aa.XXXX.c", "mktemp -u --suffix=.txt aa.XXXX", "mktemp aa.XX", "mktemp nope/aa.XXXX", "mktemp -d nope/aa.XXXX", "mktemp -q nope/aa.XXXX", "mktemp --suffix=.c aa.XXXXb", "mktemp -u --suffix=a/b aa.XXXX", "mktemp a b", "mktemp -t a/XXXX", "mktemp -p x /a/XXXX",
		"mktemp ''", "mktemp -ud", "mktemp -u XXXX/XX", "mktemp -z", "mktemp -u --tmpdir aa.XXXX",
	))
}

func TestSync(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(world, "sync f", "sync nope", "sync -d f", "sync -d", "sync -df f", "sync -f d", "sync d", "sync"))
}
