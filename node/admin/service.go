package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
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

	// Operators decides whether another node may do what changes something, and what
	// shows messages: all but status, nodes, ps, tree, info, and log_level that asks. The
	// program itself always may. Default: whoever knows the cookie.
	Operators func(peer node.Atom) bool
	// Allow decides whether a node may make a request: its first word, such as ps or
	// exit; beside Operators. Default: it may.
	//
	// For both, peer is the node over whose connection the request has come; a request
	// that says it is from another is refused. "" is for one that has come in another
	// way, through a process of this node perhaps.
	Allow func(peer, request node.Atom) bool
	// ReadOnly refuses whatever changes something: all but status, nodes, ps, tree,
	// info, log_level, trace and deadletters.
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

const (
	defaultLimit   = 1000
	defaultWorkers = 16
	defaultStreams = 16
	defaultTimeout = 2 * time.Second
)

func (c *Config) validate() error {
	if c.Limit < 0 || c.Workers < 0 || c.Streams < 0 || c.Timeout < 0 {
		return errors.New("admin: Config: Limit, Workers, Streams and Timeout must not be negative")
	}
	for _, d := range []struct {
		field *int
		or    int
	}{{&c.Limit, defaultLimit}, {&c.Workers, defaultWorkers}, {&c.Streams, defaultStreams}} {
		if *d.field == 0 {
			*d.field = d.or
		}
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Started.IsZero() {
		c.Started = time.Now()
	}
	if c.Version == "" {
		if b, ok := debug.ReadBuildInfo(); ok {
			c.Version = b.Main.Version
		}
	}
	return nil
}

// service answers requests. It is an Actor, to be spawned under the name [Name]. When it has ended
// it may be spawned anew, and knows what it knew. It needs [node.Options].ShowPeer: without it
// the service does not know who asks, and Operators and Allow are asked for the peer "".
type service struct {
	cfg     Config
	busy    atomic.Int32 // workers
	streams atomic.Int32
	drain   drain
}

// newService makes a service. The error is what is wrong with the Config.
func newService(c Config) (*service, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &service{cfg: c}, nil
}

// Start starts the service of a node, once. The node keeps it up ([node.Node.Keep]): one
// that has ended is started again and knows what it knew; streams go on, and who waits
// for an answer is told by the monitor of its call. Errors: [node.ErrNameTaken], what is
// wrong with the Config, [node.ErrNodeStopped].
func Start(ctx context.Context, n *node.Node, c Config) error {
	s, err := newService(c)
	if err == nil {
		_, err = n.Keep(ctx, node.Service{
			Options: node.Options{Name: Name, ShowPeer: true}, New: func() node.Actor { return s },
			Ask: func(ctx context.Context, pid node.PID) error {
				_, err := node.Call[bool](ctx, n, pid, livenessProbe{})
				return err
			},
		})
	}
	if err != nil {
		return fmt.Errorf("admin: cannot start: %w", err)
	}
	return nil
}

// livenessProbe is what the node asks the service to see whether it answers.
type livenessProbe struct{}

// Receive is part of node.Actor.
func (s *service) Receive(c *node.Context, msg any) error {
	n := c.Node()
	if r, ok := msg.(node.Request[livenessProbe]); ok {
		r.Reply(true)
		return nil
	}
	r, ok := n.AsRequest(msg)
	if !ok {
		return nil // what else comes is nobody's
	}
	q := &request{s: s, n: n, from: r.From}
	d, err := q.read(r.Body)
	switch {
	case err != nil:
		q.answer(nil, err)
	case d.flags&slow == 0:
		q.run(d)
	case s.busy.Add(1) > int32(s.cfg.Workers) && !(d.flags&essential != 0 && s.busy.Load() <= 2*int32(s.cfg.Workers)):
		s.busy.Add(-1)
		q.answer(nil, fmt.Errorf("%w: %d requests are in progress, the most allowed", ErrBusy, s.cfg.Workers))
	default:
		q.work(d)
	}
	return nil
}

// request is a request that is being answered.
type request struct {
	s       *service
	n       *node.Node
	from    node.From
	worker  *node.Process // the worker; nil: the service itself
	command node.Atom
	args    []any
	peer    node.Atom // who has asked; "": not known
	addr    string    // of peer; "": this node
	audited bool      // it changes something, or shows messages
	done    bool      // it has been answered, or will be by another
}

// work runs d in a process of its own: it ends with the answer, or with the node.
func (q *request) work(d *command) {
	_, err := q.n.SpawnOpt(node.Options{Label: string(Name + ": " + q.command)}, node.ProcessFunc(func(p *node.Process) error {
		defer q.s.busy.Add(-1)
		q.worker = p
		defer func() {
			if !q.done { // killed
				q.answer(nil, errEnded)
			}
		}()
		q.run(d)
		return nil
	}))
	if err != nil {
		q.s.busy.Add(-1)
		q.answer(nil, err)
	}
}

// run does what is asked and answers.
func (q *request) run(d *command) {
	var v any
	var err error
	if crash := sysmsg.Guard(func() { v, err = d.run(q) }); crash != nil {
		q.n.Log().Error("operator request failed", "request", string(q.command), "reason", crash.String(), "stack", string(crash.Stack))
		err = errors.New(crash.String())
	}
	if q.done = true; err != errNoReplyYet {
		q.answer(v, err)
	}
}

// errNoReplyYet says that the answer comes later.
var errNoReplyYet = errors.New("admin: later")

// answer answers; whoever has asked and gone does not matter.
func (q *request) answer(v any, err error) {
	q.log(err)
	if err != nil {
		q.from.Reply(refusal(err))
		return
	}
	q.from.Reply(wire.Tuple{wire.OK, v})
}

// limit is how long a list may be of which n are asked for.
func (s *service) limit(n int) int {
	if n <= 0 {
		return s.cfg.Limit
	}
	return min(n, s.cfg.Limit)
}
