package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

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
	// Listeners are the addresses that others reach the daemon at. Default: the
	// node's.
	Listeners func() []string
	// Level is what the daemon logs. Default: it cannot be asked for or changed.
	Level *slog.LevelVar
	// Ready says why the node does not serve yet, or no longer; nil: it does.
	// Default: it does unless it is being drained.
	Ready func() error
	// Drain makes the node ready to be stopped; it is called once, with a context
	// that ends with the node. Default: not supported.
	Drain func(ctx context.Context) error
	// Stop begins to stop the node and returns; it may be called several times.
	// Default: not supported.
	Stop func()

	// Allow decides whether a node may make a request: its first word, such as ps or
	// exit. What the asking node is called is what it says itself. Default: whoever
	// knows the cookie may do everything.
	Allow func(peer, request node.Atom) bool
	// ReadOnly refuses whatever changes something: all but status, nodes, ps, tree,
	// info, log_level, trace and deadletters.
	ReadOnly bool

	// Limit bounds lists in answers. Default: 1000.
	Limit int
	// Workers bounds how many requests are answered at a time that take long.
	// Default: 16.
	Workers int
	// Streams bounds how many streams there are. Default: 16.
	Streams int
	// Timeout is how long a supervisor has to tell its children. Default: 2 s.
	Timeout time.Duration
}

func (c *Config) validate() error {
	if c.Limit < 0 || c.Workers < 0 || c.Streams < 0 || c.Timeout < 0 {
		return errors.New("admin: Config: Limit, Workers, Streams and Timeout must not be negative")
	}
	return nil
}

// Start starts the service of a node, once. Errors: [node.ErrNameTaken], what is
// wrong with the Config, [node.ErrStopped].
func Start(ctx context.Context, n *node.Node, c Config) error {
	if err := c.validate(); err != nil {
		return err
	}
	_, err := node.SpawnWait(ctx, n, node.Options{Name: Name}, node.ActorFunc(func(*node.Context, any) error { return nil }))
	if err != nil {
		return fmt.Errorf("admin: cannot start: %w", err)
	}
	return nil
}
