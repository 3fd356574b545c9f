package control

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"
)

// Server answers calls. Register answers with Call.Serve and Stream.Serve
// before it is used; it is an http.Handler.
type Server struct {
	mux        *http.ServeMux
	log        *slog.Logger
	classifier func(error) *Error
	gate       gate
}

// NewServer returns a server without answers. classify turns the errors of
// answers into Errors.
func NewServer(log *slog.Logger, classify func(error) *Error) *Server {
	s := &Server{mux: http.NewServeMux(), log: log, classifier: classify}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, Errorf(KindUsage, "no call %s %q here: the calls are POST %sNAME; vfsctl and daemon may differ in version", r.Method, r.URL.Path, Prefix))
	})
	return s
}

func (s *Server) handle(name string, h http.HandlerFunc) {
	s.mux.HandleFunc("POST "+Prefix+name, h)
}

// ServeHTTP answers one request, of those who have a right to be answered.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, _ := r.Context().Value(peerKey{}).(peer)
	if err := p.allowed(); err != nil {
		s.fail(w, err)
		return
	}
	defer func() {
		if x := recover(); x != nil {
			s.log.Error("panic", "path", r.URL.Path, "panic", x, "stack", string(debug.Stack()))
			s.fail(w, Errorf(KindInternal, "%s: %v: a defect of vfsd; its log has more", r.URL.Path, x))
		}
	}()
	s.pass(w, r)
}

func (s *Server) classify(err error) *Error {
	e := s.classifier(err)
	if e.Kind == KindInternal || e.Kind == KindCorrupt {
		s.log.Error("call failed", "err", err)
	}
	return e
}

func (s *Server) fail(w http.ResponseWriter, err error) {
	e := s.classify(err)
	status := statusOf[e.Kind]
	if status == 0 {
		status = http.StatusInternalServerError
	}
	s.write(w, status, reply{e})
}

func (s *Server) write(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		s.log.Error("encode reply", "err", err)
		status, b = http.StatusInternalServerError, []byte(`{"error":{"kind":"internal","message":"cannot encode the reply"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(append(b, '\n')); err != nil {
		s.log.Debug("write reply", "err", err) // the client went away
	}
}

// headerPatience bounds how long a client may take over a request's header.
const headerPatience = 10 * time.Second

// HTTP returns an http.Server that serves s and knows its peers. Shutdown
// stops it gracefully.
func (s *Server) HTTP() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: headerPatience, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			p, err := peerOf(c)
			if err != nil {
				s.log.Warn("cannot tell who connects", "err", err)
			}
			return context.WithValue(ctx, peerKey{}, p)
		},
	}
}
