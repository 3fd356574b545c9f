package data

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/shell/command/commandtest"
)

// TestSqliteFiles keeps databases in the workspace from run to run.
func TestSqliteFiles(t *testing.T) {
	w, dir := commandtest.World(t, &commandtest.Case{})
	run := func(args ...string) (int, string) {
		var out bytes.Buffer
		c := commandtest.NewContext(w, dir, nil)
		c.Stdout, c.Stderr = command.NewWriter(&out), &out
		status, err := c.Exec(context.Background(), append([]string{"sqlite3"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return status, out.String()
	}
	outside := filepath.Join(t.TempDir(), "outside.db")
	for _, step := range []struct{ sql, want string }{
		{"create table t(a, b); insert into t values (1, 'x'), (2, zeroblob(100000)); create index i on t(b)", ""},
		{"select a, length(b) from t", "1|1\n2|100000\n"},
		{"pragma integrity_check", "ok\n"},
		{"pragma journal_mode=persist; begin; insert into t values (3, 'y'); commit; select count(*) from t", "persist\n3\n"},
		{"pragma journal_mode=wal", "delete\n"},
		{"vacuum; vacuum into 'copy.db'; attach 'copy.db' as c; select count(*) from c.t", "3\n"},
		{"create temp table big as with recursive c(x) as (select 1 union all select x+1 from c where x<50000) select x, hex(randomblob(20)) h from c; select count(distinct h) from big order by 1", "50000\n"},
		{"attach 'file:" + outside + "?vfs=os' as o; create table o.t(a)", "not authorized"},
		{"attach 'FILE:" + outside + "?vfs=os' as o; create table o.t(a)", "not authorized"},
		{"attach 'fi' || 'le:" + outside + "?vfs=os' as o; create table o.t(a)", "not authorized"},
		{"vacuum into 'file:" + outside + "?vfs=os'", "authorization denied"},
		{"vacuum into 'fi' || 'le:" + outside + "?vfs=os'", "authorization denied"},
		{".backup 'file:" + outside + "?vfs=os'", "unable to open"},
		{"select load_extension('x')", "load_extension"},
		{"select readfile('/etc/passwd')", "no such function"},
		{"insert into t values (4, 'z')", ""},
		{"pragma database_list", "0|main|" + dir + "/x.db\n"},
	} {
		_, got := run("x.db", step.sql)
		if got != step.want && (step.want == "" || !strings.Contains(got, step.want)) {
			t.Errorf("%s: %q, want %q", step.sql, got, step.want)
		}
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a database was made outside")
	}
	if a, err := w.Lstat("x.db"); err != nil || a.Size < 100000 {
		t.Error(a.Size, err)
	}
	if _, err := w.Lstat("x.db-journal"); err == nil {
		t.Error("the journal is left")
	}
	if status, got := run("file:x.db?vfs=os&mode=ro", "create table z(a)"); status == 0 || !strings.Contains(got, "readonly") {
		t.Errorf("read-only: %d %q", status, got)
	}
	if status, got := run("-readonly", "nope.db", "select 1 from t"); status == 0 {
		t.Errorf("missing: %d %q", status, got)
	}
}
