package main

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/supervisor"
)

//go:embed page
var files embed.FS

const (
	maxName = 40   // characters of the name of a person or a room
	maxText = 4096 // bytes of a message
)

// web is the process that owns the listener and the HTTP server.
type web struct {
	*chat
	server http.Server
}

func (w *web) Init(c *genserver.Context) error {
	c.TrapExit(true) // for Terminate
	l, err := w.listen("tcp", w.Listen)
	if err != nil {
		return fmt.Errorf("listening for browsers: %w", err)
	}
	w.server = http.Server{Handler: w.handler(c.Node()), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(c.Log().Handler(), slog.LevelDebug)}
	n, self := c.Node(), c.Self()
	go func() { // ends with the server, which Terminate closes
		if err := w.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			n.Exit(self, node.Atom("listener_failed"))
		}
	}()
	c.Log().Info("browsers can connect", "address", l.Addr().String())
	return nil
}

// Terminate closes the listener. The connections of browsers are no longer the server's.
func (w *web) Terminate(*genserver.Context, any) { w.server.Close() }

// exited ends the process when its listener has failed: the supervisor starts it again.
func (w *web) exited(_ *genserver.Context, m node.Exited) error { return node.ExitWith(m.Reason) }

var webs = genserver.Define(genserver.OnInfo((*web).exited))

func (c *chat) handler(n *node.Node) http.Handler {
	page, err := fs.Sub(files, "page")
	if err != nil {
		panic(err) // the embedded folder is there
	}
	static := http.FileServerFS(page)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src data:; frame-ancestors 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		static.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /room/{room}", func(w http.ResponseWriter, r *http.Request) { c.connect(n, w, r) })
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]int64{
			"browsers": c.open.Load(), "dropped": c.dropped.Load(), "slow": c.slow.Load(),
		})
	})
	return mux
}

// connect makes an HTTP request a WebSocket, and starts its process.
func (c *chat) connect(n *node.Node, w http.ResponseWriter, r *http.Request) {
	b := &browser{chat: c, room: r.PathValue("room"), name: r.FormValue("name")}
	if !valid(b.room) || !valid(b.name) {
		http.Error(w, "a name has 1 to 40 printable characters", http.StatusBadRequest)
		return
	}
	if c.open.Add(1) > int64(c.Connections) {
		c.open.Add(-1)
		http.Error(w, "too many connections", http.StatusServiceUnavailable)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{OriginPatterns: c.Origins})
	if err != nil { // it has been answered: 403 for a page of another origin
		c.open.Add(-1)
		return
	}
	conn.SetReadLimit(maxText)
	b.conn = conn
	if _, err := supervisor.StartDynamic(r.Context(), n, node.Atom("browsers"), b); err != nil {
		conn.Close(websocket.StatusGoingAway, "going away")
		c.open.Add(-1)
	}
}

// valid reports whether a text can be the name of a person or a room. Pages must still escape it.
func valid(name string) bool {
	if name == "" || !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxName {
		return false
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
