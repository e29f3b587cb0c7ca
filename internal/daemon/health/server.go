package health

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"
)

// Check is a condition of readiness.
type Check struct {
	Name string
	Fail func() error // returns why it does not hold, or nil
}

// Config configures a [Server].
type Config struct {
	Listen string // host:port
	// Checks are the conditions of readiness, in the order in which they are shown. Default: none, always ready.
	Checks []Check
	// Alive returns why the daemon is not alive, or nil. ctx bounds it. Default: it is alive while it responds.
	Alive func(ctx context.Context) error
	// Metrics is served as /metrics. Default: no metrics.
	Metrics http.Handler
	// Pprof serves profiles, but not the command line: it may hold a cookie.
	Pprof bool
	// Connections is the maximum number of concurrent connections. Default: 64.
	Connections int
	// HeaderTime is how long the header of a request may take. Default: 5 s.
	HeaderTime time.Duration
	// Log receives the errors of connections. Default: slog.Default().
	Log *slog.Logger
}

// Bounds of a request.
const (
	headerTime  = 5 * time.Second
	readTime    = 10 * time.Second
	writeTime   = 15 * time.Second // for a profile in addition to its own time
	idleTime    = 2 * time.Minute
	headerBytes = 16 << 10
	aliveTime   = 2 * time.Second

	defaultConnections = 64
)

// Server is the running HTTP server.
type Server struct {
	http *http.Server
	open *connections
	addr net.Addr
	done chan error
}

// Start listens and starts serving. Its error is that of listening.
func Start(c Config) (*Server, error) {
	ln, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("health: cannot serve HTTP: %w", err)
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	s := &Server{
		addr: ln.Addr(), done: make(chan error, 1), open: limit(ln, cmp.Or(c.Connections, defaultConnections)),
		http: &http.Server{
			Handler: Handler(c), ReadHeaderTimeout: cmp.Or(c.HeaderTime, headerTime), ReadTimeout: readTime, WriteTimeout: writeTime,
			IdleTimeout: idleTime, MaxHeaderBytes: headerBytes, ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn),
		},
	}
	install(s.http)
	go func() { s.done <- s.http.Serve(s.open) }() // ended by Stop, which waits for it
	return s, nil
}

// Addr returns the address of the listener.
func (s *Server) Addr() net.Addr { return s.addr }

// Use returns how many connections are open, their maximum, and how many were closed in favour of new ones.
func (s *Server) Use() (open, most int, closed uint64) {
	s.open.mu.Lock()
	defer s.open.mu.Unlock()
	return s.open.open, s.open.most, s.open.dropped.Load()
}

// SetConnections replaces Config.Connections.
func (s *Server) SetConnections(most int) { s.open.setMost(cmp.Or(most, defaultConnections)) }

// Stop ends the server: it accepts no new requests, and those in progress have until ctx ends.
func (s *Server) Stop(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("health: stopping the HTTP server: %w", err)
	}
	return nil
}

// Handler returns the handler of a Server.
func Handler(c Config) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), aliveTime)
		defer cancel()
		var err error
		if c.Alive != nil {
			err = c.Alive(ctx)
		}
		answer(w, err)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		state := Look(c.Checks)
		if r.URL.Query().Has("verbose") {
			state.json(w)
			return
		}
		answer(w, state.Err())
	})
	if c.Metrics != nil {
		mux.Handle("GET /metrics", c.Metrics)
	}
	if c.Pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return mux
}

// answer responds with ok, or with 503 and the error.
func answer(w http.ResponseWriter, err error) {
	head(w, "text/plain; charset=utf-8", err == nil)
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	fmt.Fprintln(w, "ok")
}

func head(w http.ResponseWriter, typ string, ok bool) {
	w.Header().Set("Content-Type", typ)
	w.Header().Set("Cache-Control", "no-store")
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// State is the result of all checks.
type State struct {
	Ready  bool     `json:"ready"`
	Checks []Result `json:"checks"`
}

// Result is the result of one check.
type Result struct {
	Name  string `json:"name"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"` // why it does not hold
}

// Look runs all checks.
func Look(checks []Check) State {
	s := State{Ready: true, Checks: []Result{}}
	for _, c := range checks {
		r := Result{Name: c.Name, OK: true}
		if err := c.Fail(); err != nil {
			r.OK, r.Error = false, err.Error()
			s.Ready = false
		}
		s.Checks = append(s.Checks, r)
	}
	return s
}

// ErrNotReady is wrapped by the errors of [State.Err].
var ErrNotReady = errors.New("health: not ready")

// Err names the checks that fail and why, or returns nil.
func (s State) Err() error {
	if s.Ready {
		return nil
	}
	var why []string
	for _, r := range s.Checks {
		if !r.OK {
			why = append(why, r.Name+": "+r.Error)
		}
	}
	return fmt.Errorf("%w: %s", ErrNotReady, strings.Join(why, "; "))
}

func (s State) json(w http.ResponseWriter) {
	head(w, "application/json", s.Ready)
	_ = json.NewEncoder(w).Encode(s) // the client is gone
}
