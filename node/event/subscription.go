package event

import (
	"context"
	"sync"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// subscription is the module in the IDs of the handlers that Subscribe adds.
const subscription wire.Atom = "subscription"

// Subscription is a channel of a manager's events of type E, for Go code that is not
// a process.
type Subscription[E any] struct {
	// C is closed when the subscription ends: by Close, with the manager, or by
	// Delete.
	C <-chan E

	handler *subscriber[E]
}

// Subscribe makes a channel of the coming events of type E; it ignores other
// events. The channel holds up to buffer events, at least 1. The manager never waits
// for the reader: it counts events that do not fit (see Missed), and logs the
// first of each such series. The errors are those of [Add].
func Subscribe[E any](ctx context.Context, from node.Caller, to node.Dest, buffer int) (*Subscription[E], error) {
	s := &subscriber[E]{ch: make(chan E, max(1, buffer))}
	id, err := node.Call[ID](ctx, from, to, addRequest{h: s})
	if err != nil {
		s.end() // the manager may still have added it; the next event then removes it
		return nil, err
	}
	s.mu.Lock()
	s.id = id
	s.mu.Unlock()
	return &Subscription[E]{s.ch, s}, nil
}

// Missed returns how many events did not fit into the channel.
func (s *Subscription[E]) Missed() uint64 {
	s.handler.mu.Lock()
	defer s.handler.mu.Unlock()
	return s.handler.missed
}

// Close ends the subscription. What is in the channel can still be read.
func (s *Subscription[E]) Close() {
	s.handler.end()
	s.handler.mu.Lock()
	id := s.handler.id
	s.handler.mu.Unlock()
	s.handler.node.Send(s.handler.manager, detach{id, s.handler})
}

// detach asks a manager to forget a handler.
type detach struct {
	id ID
	h  Handler `isolation:"share"`
}

// subscriber is the handler of a subscription.
type subscriber[E any] struct {
	ch      chan E
	node    *node.Node // set by Init
	manager node.PID
	stop    func() bool // stops watching for the manager's exit

	mu     sync.Mutex
	id     ID
	missed uint64
	behind bool // the last event did not fit
	over   bool // ch is closed
}

// Init is part of Initializer.
func (s *subscriber[E]) Init(c *Context) error {
	s.node, s.manager = c.Node(), c.Self()
	// A manager that is killed calls no Terminate.
	s.stop = context.AfterFunc(c.Context(), s.end)
	return nil
}

// HandleEvent is part of Handler.
func (s *subscriber[E]) HandleEvent(c *Context, event any) error {
	e, ok := event.(E)
	missed, err := s.put(e, ok)
	if missed > 0 {
		c.Node().Log().Warn("an event subscriber reads too slowly and misses events", "manager", c.Self().String(), "handler",
			c.ID().text(),
			"missed", missed, "buffer", cap(s.ch))
	}
	return err
}

// put puts an event into the channel. missed is above 0 if it is the first of a
// series that does not fit.
func (s *subscriber[E]) put(e E, ok bool) (missed uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return 0, ErrRemove
	case !ok:
		return 0, nil
	}
	select {
	case s.ch <- e:
		s.behind = false
		return 0, nil
	default:
		s.missed++
	}
	if s.behind {
		return 0, nil
	}
	s.behind = true
	return s.missed, nil
}

// Terminate is part of Terminator.
func (s *subscriber[E]) Terminate(*Context, End) any {
	s.stop()
	s.end()
	return wire.AtomOK
}

// State is part of sys.Stater: {Waiting, Buffer, Missed}.
func (s *subscriber[E]) State() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return wire.Tuple{len(s.ch), cap(s.ch), s.missed}
}

func (s *subscriber[E]) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.over = true
		close(s.ch)
	}
}
