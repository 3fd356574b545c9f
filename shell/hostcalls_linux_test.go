package shell_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/shell"

	// What can be run.
	_ "github.com/vfsd/vfsd/shell/cmd"
)

// hostileCorpus tries every way out of the workspace that a script has. SECRET
// stands for the path of a file of the host, whose content is secretText too.
var hostileCorpus = []string{
	`cat SECRET; cat < SECRET; read x < SECRET; echo "$x" $(<SECRET); mapfile a < SECRET; echo "${a[@]}"`,
	`cat ../../../../../../../../SECRET; cd ..; cd ../..; cat SECRET; ls -la SECRET; stat SECRET; file SECRET; test -e SECRET && echo there`,
	`source SECRET; . SECRET; bash SECRET; /bin/sh -c 'cat SECRET'; sh SECRET; exec SECRET`,
	`cat /etc/passwd /etc/shadow /proc/self/environ /proc/1/cmdline /proc/self/maps /sys/kernel/version`,
	`ls / /etc /proc /proc/self /proc/self/fd /sys /dev /root /home /tmp /var; find / -name '*' | head -1000; echo /*; echo /etc/*; tree /; du -a /`,
	`echo ~root ~nobody ~daemon ~games ~; cd ~root; cd ~nobody; pwd -P; pwd -L; dirs`,
	`env; printenv; export -p; declare -p; set; awk 'BEGIN { for (k in ENVIRON) print k, ENVIRON[k] }'; jq -n 'env, $ENV'; echo $LEAK ${LEAK} "${!L@}"`,
	`command -v ls; type -a cat; hash ls; which -a sh; compgen -c | head; compgen -u; compgen -g; compgen -A hostname; complete -p`,
	`kill -9 1; kill -9 -1; kill -TERM 0 & kill -0 1; kill -9 $PPID; pgrep .; ps aux; ps -ef; trap '' TERM`,
	`exec 3<>/dev/tcp/127.0.0.1/22; echo x > /dev/tcp/127.0.0.1/9; echo x > /dev/udp/127.0.0.1/9; cat < /dev/tcp/localhost/80`,
	`awk 'BEGIN { system("id > /tmp/p"); "id" | getline x; print x; print "x" | "cat > SECRET"; getline y < "SECRET"; print y; print > "SECRET"; while (("ls /" | getline z) > 0) print z }'`,
	`echo x | sed 's/x/id/e'; echo x | sed 'e id'; sed -n 'r SECRET' /dev/null; sed 'w SECRET' <<< x; sed -i s/a/b/ SECRET; sed -n 'R SECRET' <<< x`,
	`sqlite3 :memory: ".shell id" ".system id" ".load /lib/x.so" ".read SECRET" ".import SECRET t" ".output SECRET" "select 1"; sqlite3 SECRET .tables; sqlite3 x.db "attach 'SECRET' as s; select * from s.x; select readfile('SECRET'); select load_extension('x')"`,
	`jq -n 'input_filename, $__prog_args' ; jq -n --slurpfile a SECRET '$a'; jq -n --rawfile a SECRET '$a'; jq -L /etc 'import "passwd" as p; .' <<< 1; yq 'load("SECRET")' <<< a; yq 'load_str("SECRET"), env(LEAK), strenv(LEAK)' <<< a`,
	`ln -s SECRET l; cat l; readlink -f l; ln SECRET h; cp l c; cat c; mv l m; echo x > m; cat m; realpath m; cp -a /etc/. e`,
	`touch SECRET; chmod 777 SECRET; chown 0:0 SECRET; rm -rf SECRET; rm -rf --no-preserve-root /; truncate -s 0 SECRET; dd if=SECRET of=x; dd if=/dev/zero of=SECRET count=1; shred SECRET; mkdir -p SECRET; > SECRET`,
	`mknod d b 8 0; cat d; mknod c c 1 1; head -c 10 c; mkfifo p; cat /dev/mem /dev/kmsg /dev/sda /dev/tty < /dev/null; head -c 4 /dev/urandom | wc -c`,
	`date; date -d tomorrow; date -r SECRET; date -s 2020-01-01; TZ=:/etc/localtime date; TZ=../../../SECRET date; TZ=America/New_York date; TZ=:SECRET date; printf '%(%c)T\n' -1; cal; uptime; times; time :`,
	`hostname; hostname evil; uname -a; nproc; whoami; id; groups; id root; id nobody; tty; arch; echo $HOSTNAME $HOSTTYPE $MACHTYPE $UID $EUID $GROUPS $PPID $BASHPID $RANDOM $SRANDOM`,
	`ulimit -a; ulimit -n 5; ulimit -f 1; umask 0; nice -n -20 id; nohup id; timeout 1 id; env -i id; xargs -P4 -n1 id <<< 'a b c d'; find . -exec id \; ; find . -delete`,
	`df; df -h /; du -s /; sync; mktemp; mktemp -d; mktemp /tmp/XXXXXX; sort -T /tmp <<< b; split -b 1 <<< abc; sort -o SECRET <<< x; tee SECRET <<< x; install -m 777 /dev/null SECRET`,
	`coproc cat; echo x >&${COPROC[1]}; cat <(cat SECRET) > >(cat); exec 5<SECRET 6>SECRET; { cat; } <SECRET; (exec cat SECRET); eval 'cat SECRET'; "$BASH" -c 'cat SECRET'; $SHELL SECRET; builtin source SECRET`,
	`printf '../../../../../tmp/x\0' | cpio -o0 2>/dev/null | cpio -i; mkdir z; echo evil > z/f; tar cf t.tar --transform 's,z,../../../..,' z; tar xPf t.tar; tar xf t.tar -C /; zip q.zip SECRET; unzip -o q.zip; tar cf - SECRET | tar tf -; tar --to-command=id -xf t.tar; tar -I id -xf t.tar; tar --use-compress-program=id -cf x z; tar --checkpoint=1 --checkpoint-action=exec=id -cf x z; gzip -c SECRET | zcat`,
	`grep -r x / --include=passwd; rg x /; grep -f SECRET <<< x; diff SECRET /dev/null; cmp SECRET SECRET; patch SECRET < /dev/null; wc SECRET; md5sum SECRET; base64 SECRET; xxd SECRET; od SECRET; comm SECRET SECRET; join SECRET SECRET; paste SECRET; look a; shuf -i 1-3; factor 12345; bc <<< '2^64'; expr 1 + 1`,
	`curl file://SECRET; curl http://127.0.0.1/; wget -O- http://127.0.0.1; git clone /etc x; git -C / status; git init r; cd r; git config --global core.pager id; git log; ssh localhost; nc localhost 1; python3 -c 'print(1)'; perl -e 'print 1'; node -e 1`,
	`LD_PRELOAD=SECRET id; PATH=/bin:/usr/bin:. ls; BASH_ENV=SECRET bash -c :; ENV=SECRET sh -c :; enable -f SECRET x; hash -p SECRET x; x; history; fc -l; bind -p; exec -a x id; suspend; logout; caller; trap -l; shopt; help`,
}

const (
	helperEnv  = "VFSD_SHELL_HELPER"
	secretText = "content-of-a-file-of-the-host"
	secretVar  = "content-of-a-variable-of-the-host"
	markBegin  = "HOST-CALLS-BEGIN"
	markEnd    = "HOST-CALLS-END"
)

// TestHostCallsHelper is the process that is traced; by itself it does nothing.
func TestHostCallsHelper(t *testing.T) {
	secret := os.Getenv(helperEnv)
	if secret == "" {
		t.Skip("TestHostCalls runs it in a process of its own")
	}
	limits := smallLimits
	limits.Memory = 128 << 20
	run := func(script string) []byte {
		sh := shell.New(shell.Config{FS: memfs.New()})
		ses := sh.NewSession(shell.SessionOptions{})
		defer ses.Close()
		var out bytes.Buffer
		ses.Exec(context.Background(), shell.Execution{
			Script: strings.ReplaceAll(script, "SECRET", secret), Stdout: &out, Stderr: &out, Limits: limits,
		})
		return out.Bytes()
	}
	run("echo warm") // what the runtime does once
	var all bytes.Buffer
	mark(markBegin)
	for _, script := range hostileCorpus {
		for _, command := range strings.Split(script, "; ") {
			all.Write(run(command))
		}
		all.Write(run(script))
	}
	mark(markEnd)
	for _, text := range []string{secretText, secretVar} {
		if bytes.Contains(all.Bytes(), []byte(text)) {
			t.Errorf("the scripts have seen %q", text)
		}
	}
	if all.Len() < 10_000 {
		t.Errorf("the scripts have said only %d bytes", all.Len())
	}
}

// mark makes a system call that is easily found.
func mark(text string) { _, _ = syscall.Write(-1, []byte(text)) } // EBADF

// harmless are the calls by which Go's runtime has memory, threads and time.
var harmless = []string{
	"futex", "nanosleep", "clock_nanosleep", "clock_gettime", "gettimeofday", "sched_yield", "epoll_pwait", "epoll_wait",
	"mmap", "munmap", "madvise", "mprotect", "mincore", "brk", "prctl", "getrandom",
	"clone", "clone3", "set_robust_list", "rseq", "sigaltstack", "rt_sigprocmask", "rt_sigaction", "rt_sigreturn",
	"gettid", "getpid", "tgkill", "exit", "sched_getaffinity", "restart_syscall",
}

// wakeup is how one of the runtime's threads wakes another that polls.
var wakeup = regexp.MustCompile(`(?:read|write)\(\d+<anon_inode:\[eventfd\]>`)

var callName = regexp.MustCompile(`^(?:\[pid +\d+\] |\d+ +)?([a-z_0-9]+)\(`)

// TestHostCalls (P6): scripts that try everything make no call to the host but
// those of Go's runtime: no file, no process, no network, no signal.
func TestHostCalls(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("it takes strace (apt-get install strace)")
	}
	dir := t.TempDir()
	secret, trace := filepath.Join(dir, "secret"), filepath.Join(dir, "trace")
	if err := os.WriteFile(secret, []byte(secretText), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(strace, "-f", "-y", "-qq", "-s", "200", "-o", trace, os.Args[0], "-test.run=^TestHostCallsHelper$")
	// The number of threads is given, or the runtime looks for it now and then.
	cmd.Env = append(os.Environ(), helperEnv+"="+secret, "LEAK="+secretVar, "GOMAXPROCS=2")
	if out, err := cmd.CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("ptrace")) {
			t.Skipf("strace may trace nothing here: %s", out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok1 := strings.Cut(string(b), markBegin)
	traced, _, ok2 := strings.Cut(rest, markEnd)
	if !ok1 || !ok2 {
		t.Fatalf("the trace of %d bytes has no marks", len(b))
	}
	counts := map[string]int{}
	for i, line := range strings.Split(traced, "\n") {
		m := callName.FindStringSubmatch(line)
		if i == 0 || m == nil || strings.Contains(line, "write(-1, ") {
			continue // the marks themselves, signals, and the second halves of calls
		}
		counts[m[1]]++
		if !slices.Contains(harmless, m[1]) && !wakeup.MatchString(line) {
			t.Errorf("a call to the host: %s", line)
		}
		if m[1] == "mmap" && !strings.Contains(line, "MAP_ANONYMOUS") {
			t.Errorf("a file is mapped: %s", line)
		}
	}
	t.Log(fmt.Sprint(counts))
	if got, err := os.ReadFile(secret); err != nil || string(got) != secretText {
		t.Errorf("the file of the host is %q now, %v", got, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("beside it there is %v now, %v", left, err)
	}
}
