package control

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/vfsd/vfsd/replica"
)

// PeerPath is where a connection turns into a session between replicas, and
// PeerProtocol what it is asked for with Upgrade; spec/protocol.md has the rest.
const (
	PeerPath     = "GET " + replica.PeerPath
	PeerProtocol = replica.PeerUpgrade
)

// ServePeers has connections that ask for it served by serve, which closes them.
func (s *Server) ServePeers(serve func(context.Context, net.Conn)) {
	s.mux.HandleFunc(PeerPath, func(w http.ResponseWriter, r *http.Request) {
		if !strings.EqualFold(r.Header.Get("Upgrade"), PeerProtocol) {
			s.fail(w, Errorf(KindUsage, "%s takes the header Upgrade: %s", r.URL.Path, PeerProtocol))
			return
		}
		nc, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			s.fail(w, Wrap(KindInternal, err))
			return
		}
		const accepted = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + PeerProtocol + "\r\n\r\n"
		if _, err := nc.Write([]byte(accepted)); err != nil {
			s.log.Debug("a peer went away", "err", err)
			nc.Close()
			return
		}
		if err := nc.SetDeadline(time.Time{}); err != nil {
			s.log.Debug("a peer went away", "err", err)
		}
		// A connection that was hijacked outlives its request's context.
		serve(context.WithoutCancel(r.Context()), &begun{Conn: nc, r: rw.Reader})
	})
}

// begun is a connection of which some bytes were read already.
type begun struct {
	net.Conn
	r *bufio.Reader
}

func (b *begun) Read(p []byte) (int, error) { return b.r.Read(p) }
