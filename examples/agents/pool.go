package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/port"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// Call is a request to a tool.
type Call struct {
	Number int `json:"-"` // in its request
	Tool   string
	Text   string
}

// Answer is what has become of a Call.
type Answer struct {
	Text   string `json:"text"`
	Tokens int    `json:"tokens"`
	Error  string `json:"error,omitempty"`
}

// Piece is part of an answer, and the term {piece, Call, Text}: a tool sends it on the way.
type Piece struct {
	_    struct{} `etf:"piece,tuple"`
	Call int      `json:"call"` // number of the call in its request
	Text string   `json:"text"`
}

// pool is a number of equal programs. Each works on one call at a time, so that the end of a program fails that call only.
type pool struct {
	free  chan node.Atom // names of the programs that have no work
	limit time.Duration  // for one call
	tools supervisor.Spec
}

// newPool makes a pool of size programs. start makes the process of one.
func newPool(size int, limit time.Duration, start func() node.Actor) *pool {
	p := &pool{free: make(chan node.Atom, size), limit: limit}
	p.tools = supervisor.Spec{Intensity: 100 * size, Period: time.Minute} // each kill is a restart
	for i := range size {
		name := node.Atom(fmt.Sprint("tool", i))
		p.free <- name
		p.tools.Children = append(p.tools.Children, supervisor.Child{
			ID: name, Options: node.Options{Name: name},
			Start: func(...any) (node.Actor, error) { return start(), nil },
			// A program that crashes at once is not started in a loop.
			Backoff: supervisor.Backoff{Initial: 50 * time.Millisecond, Max: 2 * time.Second},
		})
	}
	return p
}

//go:embed tools
var scripts embed.FS

// python returns how to start the program in a folder that it writes.
func python(dir string) (port.Config, error) {
	if err := os.CopyFS(dir, scripts); err != nil {
		return port.Config{}, fmt.Errorf("writing the tools: %w", err)
	}
	return port.Config{
		Command: "python3", Args: []string{filepath.Join(dir, "tools", "tools.py")},
		Ready: 30 * time.Second,
		Frame: 1 << 20, // the longest request or answer
	}, nil
}

var errLate = errors.New("it has overrun its time")

// call lets a free program work on a call, and kills it if it still does when the time is over or the caller has gone.
// to, unless zero, gets the pieces.
func (p *pool) call(ctx context.Context, n *node.Node, c Call, to node.PID) (text string, tokens int, err error) {
	var tool node.Atom
	select {
	case tool = <-p.free:
		defer func() { p.free <- tool }()
	case <-ctx.Done():
		return "", 0, fmt.Errorf("waiting for a free tool: %w", ctx.Err())
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.limit, errLate)
	defer cancel()
	request := wire.Tuple{c.Tool, c.Text, p.limit.Milliseconds(), to, c.Number}
	if to == (node.PID{}) {
		request[3] = wire.Atom("undefined") // None in Python
	}
	reply, err := node.Retry(ctx, n, func() (any, error) { // again only while the program is started, before it has the request
		return node.Call[any](ctx, n, tool, request)
	})
	if err != nil && ctx.Err() != nil {
		n.Exit(tool, node.Kill) // the operating system ends the program, the supervisor starts another
		err = context.Cause(ctx)
	}
	if err != nil {
		return "", 0, fmt.Errorf("tool %s: %w", c.Tool, err)
	}
	var answer struct {
		_      struct{} `etf:",tuple"`
		Text   string
		Tokens int
	}
	if err := etf.FromTerm(reply, &answer); err != nil {
		return "", 0, fmt.Errorf("reading the answer of tool %s: %w", c.Tool, err)
	}
	return answer.Text, max(answer.Tokens, 0), nil
}
