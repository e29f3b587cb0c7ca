package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

// Config is the Config of package node/admin, which documents its fields.
type Config struct {
	Version   string
	Started   time.Time
	Listeners func() []string
	Level     *slog.LevelVar
	Ready     func() error
	Drain     func(ctx context.Context) error
	Stop      func()
	Operators func(peer node.Atom) bool
	Allow     func(peer, request node.Atom) bool
	ReadOnly  bool
	Limit     int
	Workers   int
	Streams   int
	Timeout   time.Duration
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

// service answers requests. It is an Actor to be spawned under the name [Name]. After it ends it may be spawned again, and
// keeps its state. It needs [node.Options].ShowPeer: without it the service does not know the peer of a request, and
// Operators and Allow are called with the peer "".
type service struct {
	cfg     Config
	busy    atomic.Int32 // workers
	streams atomic.Int32
	drain   drain
}

// newService makes a service. It returns an error if the Config is invalid.
func newService(c Config) (*service, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &service{cfg: c}, nil
}

// Start starts the service of a node: see package node/admin.
func Start(ctx context.Context, n *node.Node, c Config) error {
	s, err := newService(c)
	if err == nil {
		_, err = n.Inside(process.Key{}).Keep(ctx, process.Kept[node.Actor]{
			Name: Name, ShowPeer: true, New: func() node.Actor { return s }, Operators: c.Operators,
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

// livenessProbe is the node's request to check that the service answers.
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
		return nil // drop anything else
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

// request is a request in progress.
type request struct {
	s       *service
	n       *node.Node
	from    node.From
	worker  *node.Process // the worker, or nil for the service itself
	command node.Atom
	args    []any
	peer    node.Atom       // the requesting node, or "" if unknown
	addr    string          // of peer; "" for this node
	who     rights.Identity // of peer
	audited bool            // it changes something, shows messages, or costs CPU
	done    bool            // answered, or left to another worker to answer
}

// work runs d in a new process, which ends with the answer, or with the node.
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

// run executes d and answers.
func (q *request) run(d *command) {
	var v any
	var err error
	if crash := sysmsg.Guard(func() { v, err = d.run(q) }); crash != nil {
		q.n.Log().Error("operator request failed", "request", string(q.command), "reason", crash.Error(), "stack", string(crash.Stack))
		err = crash
	}
	if q.done = true; err != errNoReplyYet {
		q.answer(v, err)
	}
}

// errNoReplyYet means that the answer comes later.
var errNoReplyYet = errors.New("admin: later")

// answer sends the answer; it does not matter if the peer is gone.
func (q *request) answer(v any, err error) {
	q.log(err)
	if err != nil {
		q.from.Reply(refusal(err))
		return
	}
	q.from.Reply(wire.Tuple{wire.AtomOK, v})
}

// limit returns the maximum length of a list when n elements were requested.
func (s *service) limit(n int) int {
	if n <= 0 {
		return s.cfg.Limit
	}
	return min(n, s.cfg.Limit)
}
