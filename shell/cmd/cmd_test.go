package cmd_test

import (
	"sort"
	"strings"
	"testing"

	_ "github.com/vfsd/vfsd/shell/cmd"
	"github.com/vfsd/vfsd/shell/command"
)

// promised are the commands that the shell is to have, by group.
var promised = map[string]string{
	"files": `ls cat cp mv rm mkdir rmdir ln readlink realpath touch chmod chown chgrp stat file du df tree find mktemp
		truncate dd install split csplit shred sync mkfifo basename dirname pathchk`,
	"text": `grep egrep fgrep rg sed awk sort uniq cut tr head tail wc nl tac rev paste join comm column fold fmt expand
		unexpand pr strings od xxd hexdump iconv diff patch cmp sdiff diff3 look shuf seq numfmt printf echo yes tee xargs envsubst`,
	"data": `jq yq xan sqlite3 html-to-markdown`,
	"archives": `tar gzip gunzip zcat bzip2 xz zstd zip unzip cpio md5sum sha1sum sha256sum sha512sum b2sum b3sum cksum
		base64 base32`,
	"system": `date cal sleep timeout time env printenv export id whoami groups hostname uname arch nproc uptime ps kill
		pgrep nice nohup tty true false test [ expr bc factor which type`,
	"network": `curl wget`,
	"vcs":     `git`,
	"js":      `js js-exec node`,
}

// elsewhere says why a promised command is not in the registry.
var elsewhere = map[string]string{
	"export": "a builtin: it changes the shell's own variables",
	"type":   "a builtin: it tells of the shell's functions and aliases",
}

// TestPromisedCommands holds that each promised command is registered, or is
// the shell's own with the reason.
func TestPromisedCommands(t *testing.T) {
	var missing []string
	for group, names := range promised {
		for _, name := range strings.Fields(names) {
			reason := elsewhere[name]
			registered := command.Lookup(name) != nil
			switch {
			case registered && reason != "":
				t.Errorf("%s is registered and also %s", name, reason)
			case !registered && reason == "":
				missing = append(missing, group+":"+name)
			}
		}
	}
	sort.Strings(missing)
	if len(missing) > 0 {
		t.Errorf("not registered: %s", strings.Join(missing, " "))
	}
}

// TestHelp holds that every command explains itself, but for those that take
// their arguments raw as the real ones do.
func TestHelp(t *testing.T) {
	for _, name := range command.Names() {
		info := command.Lookup(name).Info
		if !strings.Contains(info.Synopsis, name) || info.Summary == "" {
			t.Errorf("%s: synopsis %q, summary %q", name, info.Synopsis, info.Summary)
		}
	}
}
