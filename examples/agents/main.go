// Agents serves conversations that use tools: programs in Python that take long, hang and crash.
//
//	go run ./examples/agents
//	curl -d '{"calls": [{"tool": "count", "text": "one two"}]}' http://127.0.0.1:8090/conversations/ann
//
// README.md says what to read first.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/channel"
	"github.com/actornode/actornode/node/keyed"
	"github.com/actornode/actornode/node/port"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire/etf"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8090", "address for HTTP")
	size := flag.Int("tools", 4, "programs, and so calls at a time")
	limit := flag.Duration("limit", 10*time.Second, "how long a call may take")
	calls := flag.Int("calls", 100, "calls of a conversation")
	tokens := flag.Int("tokens", 10_000, "tokens of a conversation")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", *listen)
	if err == nil {
		log.Print("listening on ", l.Addr())
		err = run(ctx, l, *size, *limit, Budget{*calls, *tokens})
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends, and then has a minute to answer what it has begun.
func run(ctx context.Context, l net.Listener, size int, limit time.Duration, each Budget) error {
	dir, err := os.MkdirTemp("", "agents")
	if err != nil {
		return fmt.Errorf("making a folder for the tools: %w", err)
	}
	defer os.RemoveAll(dir)
	program, err := python(dir)
	if err != nil {
		return err
	}
	n, err := node.Start(node.Config{})
	if err != nil {
		return fmt.Errorf("starting the node: %w", err)
	}
	defer n.Stop()
	a, err := start(ctx, n, newPool(size, limit, func() node.Actor { return port.New(program) }), each)
	if err != nil {
		return err
	}
	server := http.Server{Handler: a.handler(n), ReadTimeout: 10 * time.Second}
	return supervisor.Run(ctx, n, a.top, supervisor.Service{
		Serve: func() error { return server.Serve(l) }, Drain: server.Shutdown, Stop: time.Minute,
	})
}

// start starts the tree: the tools, then what uses them.
func start(ctx context.Context, n *node.Node, p *pool, each Budget) (*agents, error) {
	a := newAgents(p, each)
	var err error
	a.top, err = supervisor.Start(ctx, n, supervisor.Spec{Children: []supervisor.Child{
		{ID: "tools", Type: supervisor.Supervisor, Options: node.Options{Name: "tools"},
			Start: func(...any) (node.Actor, error) { return supervisor.New(p.tools), nil }},
		a.conversations.Child(),
	}}, node.Options{Name: "agents"})
	if err != nil {
		return nil, fmt.Errorf("starting the tools: %w", err)
	}
	return a, nil
}

const maxBody, maxCalls = 64 << 10, 16

func (a *agents) handler(n *node.Node) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /conversations/{id}", func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Calls []Call }
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&request)
		id := r.PathValue("id")
		if err != nil || len(request.Calls) == 0 || len(request.Calls) > maxCalls || len(id) > 64 {
			http.Error(w, `want {"calls": [{"tool": "count", "text": "…"}]}, and 16 calls at most`, http.StatusBadRequest)
			return
		}
		for i := range request.Calls {
			request.Calls[i].Number = i
		}
		if r.URL.Query().Has("stream") {
			a.stream(n, w, r, id, request.Calls)
			return
		}
		turn, err := keyed.Ask(r.Context(), n, a.conversations, id, Ask{Calls: request.Calls})
		if err != nil {
			http.Error(w, err.Error(), status(err))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(turn)
	})
	return mux
}

func status(err error) int {
	switch {
	case errors.Is(err, node.ErrMailboxFull):
		return http.StatusTooManyRequests
	case errors.Is(err, keyed.ErrFull), errors.Is(err, keyed.ErrFailing):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// last is the message behind the pieces.
type last struct {
	turn Turn
	err  error
}

// stream answers with server-sent events: pieces as they come, and then the whole turn. A client that reads slowly slows the
// tools down, and these are killed at the end of their time.
func (a *agents) stream(n *node.Node, w http.ResponseWriter, r *http.Request, id string, calls []Call) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	to, messages, err := channel.Spawn[any](ctx, n, 0, node.Options{
		Bounds: mailbox.Bounds{Messages: 64, Policy: mailbox.Block},
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	go func() { // ends with ctx, or before
		turn, err := keyed.Ask(ctx, n, a.conversations, id, Ask{Calls: calls, Pieces: to})
		n.Send(to, last{turn, err})
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	for m := range messages {
		var piece Piece
		if l, ok := m.(last); ok && l.err == nil {
			event(w, "turn", l.turn)
			return
		} else if ok {
			event(w, "error", l.err.Error())
			return
		} else if etf.FromTerm(m, &piece) == nil {
			event(w, "piece", piece)
		}
	}
}

func event(w http.ResponseWriter, kind string, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		text, kind = []byte(`"not readable"`), "error"
	}
	to := http.NewResponseController(w)
	to.SetWriteDeadline(time.Now().Add(10 * time.Second)) // for a client that reads nothing
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, text)
	to.Flush()
}
