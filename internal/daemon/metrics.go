package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/vfsd/vfsd/internal/control"
)

// metrics collects the figures of a daemon when it is asked for them.
type metrics struct{ d *Daemon }

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("vfsd_"+name, help, labels, nil)
}

// The metrics; docs/metrics.md has them too. Those of workspaces are of the
// open ones: one that sleeps is not woken to be counted.
var (
	metricWorkspaces = describe("workspaces", "Workspaces in the data directory.")
	metricChunks     = describe("store_chunks", "Different chunks in the store.")
	metricRaw        = describe("store_raw_bytes", "Bytes of the different chunks before compression.")
	metricStored     = describe("store_bytes", "Bytes of the packs.")
	metricDead       = describe("store_dead_bytes", "Bytes in packs that are known to be superseded.")
	metricDamaged    = describe("store_damaged", "Damaged places met in packs.")
	metricDiskFree   = describe("disk_free_bytes", "Free bytes of the file system that holds the data directory.")
	metricMounts     = describe("mounts", "Mounts by state.", "state")
	metricRequests   = describe("mount_requests_total", "FUSE requests of a mount by opcode.", "workspace", "opcode")
	metricHandles    = describe("mount_handles", "Open files and directories of a mount.", "workspace")
	metricInodes     = describe("workspace_inodes", "Inodes of an open workspace.", "workspace")
	metricBytes      = describe("workspace_bytes", "Allocated bytes of an open workspace.", "workspace")
	metricJournal    = describe("workspace_journal_bytes", "Bytes of the present journal epoch of an open workspace.", "workspace")
	metricPeers      = describe("peer_sessions", "Sessions of peers that are open.")
	metricPeersTotal = describe("peer_sessions_total", "Sessions of peers so far.")
	metricPeerBytes  = describe("peer_bytes_total", "Bytes exchanged with peers.", "direction")
	metricPeerChunks = describe("peer_chunks_total", "Chunks exchanged with peers.", "direction")
	metricStaged     = describe("workspace_staged_bytes", "Bytes of an open workspace that are not chunked yet.", "workspace")
)

// Describe implements prometheus.Collector: what there is depends on the mounts
// and workspaces, so nothing is said beforehand.
func (m metrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m metrics) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	s, err := m.d.status(context.Background(), control.StatusRequest{})
	if err != nil {
		out <- prometheus.NewInvalidMetric(metricWorkspaces, err)
		return
	}
	gauge(metricWorkspaces, float64(s.Workspaces))
	gauge(metricChunks, float64(s.Store.Chunks))
	gauge(metricRaw, float64(s.Store.RawBytes))
	gauge(metricStored, float64(s.Store.StoredBytes))
	gauge(metricDead, float64(s.Store.DeadBytes))
	gauge(metricDamaged, float64(s.Store.Damaged))
	gauge(metricDiskFree, float64(s.Store.DiskFree))
	states := map[control.MountState]int{control.Mounted: 0, control.Dead: 0, control.Absent: 0}
	for _, mount := range s.Mounts {
		states[mount.State]++
	}
	for state, n := range states {
		gauge(metricMounts, float64(n), string(state))
	}
	for _, a := range m.d.active() {
		stats := a.m.Stats()
		gauge(metricHandles, float64(a.wire().Handles), a.entry.Workspace)
		for op, n := range stats.Requests {
			out <- prometheus.MustNewConstMetric(metricRequests, prometheus.CounterValue, float64(n), a.entry.Workspace, op)
		}
	}
	m.peers(out)
	m.workspaces(gauge)
}

// peers are the figures of whoever connected to this daemon since it was started.
func (m metrics) peers(out chan<- prometheus.Metric) {
	local, public := m.d.peers()
	a, b := local.Totals(), public.Totals()
	count := func(d *prometheus.Desc, v uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	out <- prometheus.MustNewConstMetric(metricPeers, prometheus.GaugeValue, float64(a.Open+b.Open))
	count(metricPeersTotal, a.Sessions+b.Sessions)
	count(metricPeerBytes, a.BytesIn+b.BytesIn, "in")
	count(metricPeerBytes, a.BytesOut+b.BytesOut, "out")
	count(metricPeerChunks, a.ChunksIn+b.ChunksIn, "in")
	count(metricPeerChunks, a.ChunksOut+b.ChunksOut, "out")
}

func (m metrics) workspaces(gauge func(*prometheus.Desc, float64, ...string)) {
	names, err := m.d.data.List()
	if err != nil {
		return // the status has failed for the same reason
	}
	for _, name := range names {
		s, err := m.d.data.Peek(name)
		if err != nil || !s.Open {
			continue
		}
		w, err := m.d.data.Open(name)
		if err != nil {
			continue // it closed just now
		}
		f := w.Stats()
		gauge(metricInodes, float64(f.Inodes), name)
		gauge(metricBytes, float64(f.Bytes), name)
		gauge(metricJournal, float64(f.JournalBytes), name)
		gauge(metricStaged, float64(f.StagedBytes), name)
	}
}

// metricsHandler serves the figures of the daemon and of its process.
func metricsHandler(d *Daemon) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(metrics{d}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(d.log.Handler(), slog.LevelWarn)}))
	return mux
}

// serveMetrics serves them on a TCP address until stop is called.
func (d *Daemon) serveMetrics(addr string) (stop func(), err error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, control.Errorf(control.KindUsage, "metrics: %w; --metrics takes HOST:PORT", err)
	}
	srv := &http.Server{Handler: metricsHandler(d), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(l); err != http.ErrServerClosed {
			d.note("metrics are not served any more: %v", err)
		}
	}()
	d.log.Info("metrics", "at", fmt.Sprintf("http://%s/metrics", l.Addr()))
	return func() {
		if err := srv.Close(); err != nil {
			d.log.Debug("metrics", "err", err)
		}
		<-done
	}, nil
}
