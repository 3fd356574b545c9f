package daemon

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/internal/control"
)

// scrape returns the values of the metrics of vfsd itself by name and labels.
func scrape(t *testing.T, h http.Handler) map[string]string {
	t.Helper()
	srv := httptest.NewServer(h)
	defer srv.Close()
	resp, err := http.Get(srv.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(resp.Body) // for the message alone
		t.Fatalf("status %d: %s", resp.StatusCode, b)
	}
	values := map[string]string{}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok && strings.HasPrefix(name, "vfsd_") {
			values[name] = value
		}
	}
	return values
}

func TestMetrics(t *testing.T) {
	d, err := Open(context.Background(), Options{Dir: t.TempDir(), Serve: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.closeNow(context.Background())
	if _, err := d.create(context.Background(), control.CreateRequest{Workspace: "ws"}); err != nil {
		t.Fatal(err)
	}
	got := scrape(t, metricsHandler(d))
	for name, want := range map[string]string{
		"vfsd_peer_sessions":                          "0",
		`vfsd_peer_bytes_total{direction="in"}`:       "0",
		"vfsd_workspaces":                             "1",
		`vfsd_mounts{state="mounted"}`:                "0",
		`vfsd_workspace_inodes{workspace="ws"}`:       "1",
		`vfsd_workspace_staged_bytes{workspace="ws"}`: "0",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if got["vfsd_disk_free_bytes"] == "" || got["vfsd_disk_free_bytes"] == "0" {
		t.Error("no free space is told")
	}
}

func TestMetricsBadAddress(t *testing.T) {
	d, err := Open(context.Background(), Options{Dir: t.TempDir(), Serve: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.closeNow(context.Background())
	if _, err := d.serveMetrics("nowhere"); control.KindOf(err) != control.KindUsage {
		t.Errorf("serving on a bad address: %v", err)
	}
	stop, err := d.serveMetrics("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop()
}
