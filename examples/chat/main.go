// Chat is a chat in the browser on any number of nodes: a process for each connection, and rooms that are process groups.
//
//	go run ./examples/chat start --config examples/chat/a.yaml    # then http://127.0.0.1:8081
//
// README.md says what to read first.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
)

func main() {
	c, err := newChat()
	if err != nil {
		panic(err)
	}
	start := func(ctx context.Context, p *node.Process) (node.PID, error) { // when the settings have been read
		return supervisor.Start(ctx, p, c.spec(), node.Options{Name: "chat", Link: true})
	}
	actornode.Main(actornode.Program{
		Name: "chat", About: "A chat in the browser, on any number of nodes",
		Sections:     map[string]any{"chat": &c.settings},
		Applications: []application.Spec{{Name: "chat", Type: application.Permanent, Start: start}},
	})
}

// settings are the section chat of the configuration.
type settings struct {
	Listen      string        // address for browsers
	Origins     []string      // pages of other hosts that may connect, such as www.example.com
	Connections int           // browsers at a time
	Queue       int           // messages that wait for a browser; of more the oldest are dropped
	Patience    time.Duration // how long a browser may take for one message
	Pace        time.Duration // from one message of a browser to the next; TCP slows it down
}

// Check validates the settings together.
func (s *settings) Check() error {
	if s.Connections < 1 || s.Queue < 1 || s.Patience <= 0 || s.Pace < 0 {
		return errors.New("connections, queue and patience must be greater than 0, and pace not less")
	}
	return nil
}

// chat is what the processes of a node share.
type chat struct {
	settings
	listen   func(network, address string) (net.Listener, error)
	scope    *pg.Scope
	open     atomic.Int64 // connections
	browsers sync.Map     // node.PID → *browser, for those that run
	dropped  atomic.Int64 // messages that no browser has got because it read too slowly
	slow     atomic.Int64 // browsers that were given up
}

func newChat() (*chat, error) {
	scope, err := pg.New(pg.Config{Name: "rooms"})
	if err != nil {
		return nil, fmt.Errorf("making the scope of the rooms: %w", err)
	}
	return &chat{scope: scope, listen: net.Listen, settings: settings{
		Listen: "127.0.0.1:8080", Connections: 10_000, Queue: 100, Patience: 10 * time.Second, Pace: 20 * time.Millisecond,
	}}, nil
}

// spec is the tree of a node. It stops from the last child to the first: no new connections, then all browsers get the close
// code 1001, all at once. If the rooms fail, all that follows is started again, and the browsers connect again.
func (c *chat) spec() supervisor.Spec {
	browser := supervisor.Child{
		ID: "browser", Restart: supervisor.Temporary, // only the browser can connect again
		Start:   func(args ...any) (node.Actor, error) { return browsers.New(args[0].(*browser)), nil },
		Options: node.Options{Bounds: mailbox.Bounds{Messages: c.Queue, Policy: mailbox.DropOldest, Dropped: c.drop}},
	}
	all := supervisor.Spec{Strategy: supervisor.SimpleOneForOne, Children: []supervisor.Child{browser}}
	return supervisor.Spec{Strategy: supervisor.RestForOne, Intensity: 10, Period: time.Minute, Children: []supervisor.Child{
		{ID: "rooms", Start: func(...any) (node.Actor, error) { return c.scope.Actor(), nil }},
		{ID: "people", Options: node.Options{Name: "people"},
			Start: func(...any) (node.Actor, error) { return peoples.New(&people{chat: c}), nil }},
		{ID: "browsers", Type: supervisor.Supervisor, Options: node.Options{Name: "browsers"},
			Start: func(...any) (node.Actor, error) { return supervisor.New(all), nil }},
		{ID: "web", Start: func(...any) (node.Actor, error) { return webs.New(&web{chat: c}), nil }},
	}}
}
