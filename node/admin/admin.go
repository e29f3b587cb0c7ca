package admin

import (
	"context"
	"log/slog"
	"time"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
)

// Config says what the service may do, and what it cannot know by itself. The zero
// value works.
type Config struct {
	// Version of the daemon, for people. Default: the module's, as the program was
	// built.
	Version string
	// Started is when the daemon has. Default: now.
	Started time.Time
	// Listeners returns the addresses that others reach the daemon at. Default: the
	// node's.
	Listeners func() []string
	// Level is what the daemon logs. Default: it cannot be asked for or changed.
	Level *slog.LevelVar
	// Ready says why the node does not serve yet, or no longer; nil: it does.
	// Default: it does unless it is being drained.
	Ready func() error
	// Drain makes the node ready to be stopped. It is not called again while it runs,
	// or once it has returned nil; its context ends with the node. Default: not
	// supported.
	Drain func(ctx context.Context) error
	// Stop begins to stop the node and returns; it may be called several times.
	// Default: not supported.
	Stop func()

	// Operators decides whether another node may do what changes something, what
	// shows messages, and what costs CPU: all but status, nodes, ps, waits, tree, info, and log_level that asks. The
	// program itself always may. Default: whoever knows the cookie.
	Operators func(peer node.Atom) bool
	// Allow decides whether a node may make a request: its first word, such as ps or
	// exit; beside Operators. Default: it may.
	//
	// For both, peer is the node over whose connection the request has come; a request
	// that says it is from another is refused. "" is for one that has come in another
	// way, through a process of this node perhaps.
	Allow func(peer, request node.Atom) bool
	// ReadOnly refuses whatever changes something: all but status, nodes, ps, waits, tree,
	// info, stack, profile, log_level, trace and deadletters.
	ReadOnly bool

	// Limit bounds lists in answers. Default: 1000.
	Limit int
	// Workers bounds how many requests are answered at a time that take long; twice
	// as many with status, exit and stop. Default: 16.
	Workers int
	// Streams bounds how many streams there are. Default: 16.
	Streams int
	// Timeout is how long a supervisor has to tell its children. Default: 2 s.
	Timeout time.Duration
}

// Start starts the service of a node, once. The node keeps it up: one
// that has ended is started again and knows what it knew; streams go on, and who waits
// for an answer is told by the monitor of its call. Errors: [node.ErrNameTaken], what is
// wrong with the Config, [node.ErrNodeStopped].
func Start(ctx context.Context, n *node.Node, c Config) error {
	return admin.Start(ctx, n, admin.Config(c))
}
