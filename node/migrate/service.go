package migrate

import (
	"fmt"
	"slices"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"

	"github.com/actornode/actornode/wire"
)

// mostUnconfirmed is the most moves to this node whose source does not know yet that the process has started. Such a
// move stays only if the connection is lost at that moment.
const mostUnconfirmed = 4096

// server is the service. Only its process uses its fields.
type server struct {
	kinds    *kindTable
	asked    map[node.Ref]node.From // callers that wait in To, or for an arrival, by the monitor over the process
	arrivals map[node.PID]node.Ref  // the monitors over arrivals that have not started
	guests   map[node.PID]guest     // processes that have come and run here
	watched  map[node.Ref]watched   // monitors over guests and over holders
	started  map[wire.Ref]node.PID  // by move: processes that have started and are not confirmed
}

// guest is what the service knows about a process that has come and runs here.
type guest struct{ watches []node.Ref }

// watched is what a monitor of the service is for.
type watched struct {
	guest, holder node.PID
	source        bool // the process came from this holder
}

func newServer(t *kindTable) *server {
	return &server{t, make(map[node.Ref]node.From), make(map[node.PID]node.Ref), make(map[node.PID]guest),
		make(map[node.Ref]watched),
		make(map[wire.Ref]node.PID)}
}

// BehaviourName is part of node.BehaviourNamer.
func (*server) BehaviourName() string { return "migrate.service" }

// Receive is part of node.Actor.
func (s *server) Receive(c *node.Context, msg any) error {
	if r, ok := c.Node().AsRequest(msg); ok {
		s.request(c, r)
		return nil
	}
	by := c.Node().Inside(process.Key{}).AskerOf(msg)
	if m, ok := msg.(node.PeerMessage); ok {
		msg = m.Message
	}
	switch m := msg.(type) {
	case ended:
		if c.DemonitorFlush(m.watch) {
			delete(s.asked, m.watch)
		}
	case arrived:
		s.arrived(c, m)
	case left:
		s.forget(c, m.pid)
	case confirm:
		if m.ID.Node() == by.Node() {
			delete(s.started, m.ID)
		}
	case mark:
		give(c, m.To, marking{m.ID, m.Identity})
	case exited:
		relayExit(c, by, m)
	case down:
		relayDown(c, m)
	case drop:
		takeAway(c, m)
	case node.Down:
		s.down(c, m)
	}
	return nil
}

// request handles messages that need an answer.
func (s *server) request(c *node.Context, r node.Request[any]) {
	switch m := r.Body.(type) {
	case order:
		s.depart(c, m, r.From)
	case prepare:
		s.prepare(c, &m, r.From)
	case outcome:
		s.outcome(c, m, r.From)
	default:
		_ = r.From.Fail(&genserver.UnhandledError{Server: s.BehaviourName(), Request: r.Body})
	}
}

// own returns the process that acts. local returns any process of this node, or nil.
func own(c *node.Context) *process.Process {
	p, _ := c.Inside(process.Key{}).Process()
	return p
}

func local(c *node.Context, pid node.PID) *process.Process { return own(c).System.Lookup(pid) }

// give makes the process pid run the order to. It returns false if pid is not an Actor on a stage here.
func give(c *node.Context, pid node.PID, to node.Actor) bool {
	return c.Inside(process.Key{}).Order(pid, to)
}

// depart makes a process of this node move.
func (s *server) depart(c *node.Context, o order, from node.From) {
	pid, to := o.pid, o.to
	p := local(c, pid)
	switch {
	case p == nil:
		_ = from.Fail(fmt.Errorf("%w on this node: %v", node.ErrNoProcess, pid))
		return
	case to == c.Node().Name():
		_ = from.Fail(fmt.Errorf("%w: it is on %s already", ErrFixed, to))
		return
	case p.Kind != process.Actor:
		_ = from.Fail(fixed("a goroutine, a coroutine or a scheduler of its own"))
		return
	case p.Boxed && inbox.IsOwned(p.Cold.Box):
		_ = from.Fail(fixed("an owner, which is of this node (lifetime.Own)"))
		return
	case p.Boxed:
		_ = from.Fail(fixed("a mailbox with limits, or of its own making"))
		return
	}
	watch := c.Monitor(pid)
	s.asked[watch] = from
	give(c, pid, departing{&mover{kinds: s.kinds, from: from, to: to, watch: watch}})
}

// prepare starts an arrival for a process from another node.
func (s *server) prepare(c *node.Context, m *prepare, from node.From) {
	refuse := func(err error) { _ = from.Fail(err) }
	kind, ok := s.kinds.named[m.Kind]
	peer := from.Inside(process.Key{}).MadeBy()
	switch taken, _ := c.Node().Whereis(m.Name); {
	case !ok:
		refuse(fmt.Errorf("%w: there is no kind %s on %s", ErrNotAllowed, m.Kind, c.Node().Name()))
		return
	case !from.Inside(process.Key{}).Allows(export(m.Kind)):
		refuse(fmt.Errorf("%w: %s does not allow it for %s", ErrNotAllowed, c.Node().Name(), m.Kind))
		return
	case m.ID.Node() != peer || m.Source.Node() != peer:
		refuse(fmt.Errorf("%w: the process %v is not one of %s", ErrNotAllowed, m.Source, peer))
		return
	case len(s.started) >= mostUnconfirmed:
		refuse(fmt.Errorf("%w: %s has %d moves whose source does not know yet what has come of them",
			ErrFailed, c.Node().Name(), len(s.started)))
		return
	case m.Name != "" && !taken.IsZero() && !slices.Contains(m.Trail, taken):
		refuse(fmt.Errorf("%w on %s: %s", node.ErrNameTaken, c.Node().Name(), m.Name))
		return
	}
	if err := m.check(); err != nil {
		refuse(err)
		return
	}
	a := &arrival{kinds: s.kinds, prepare: m, from: from, peer: peer, service: c.Self()}
	if err := attempt(func() error { a.inner = kind.New().(Mover); return nil }); err != nil {
		refuse(err)
		return
	}
	for _, f := range m.Trail {
		if p := local(c, f); p != nil {
			a.back = f
		}
	}
	pid, err := c.SpawnOpt(node.Options{Label: m.Label, For: a.peer}, a)
	if err != nil {
		refuse(err)
		return
	}
	watch := c.Monitor(pid) // it may be killed before it answers
	s.asked[watch], s.arrivals[pid] = from, watch
}

// outcome answers a source in doubt.
func (s *server) outcome(c *node.Context, m outcome, from node.From) {
	if m.ID.Node() != from.Inside(process.Key{}).MadeBy() {
		_ = from.Fail(fmt.Errorf("%w: the move is one of another node", ErrNotAllowed))
		return
	}
	if pid, ok := s.started[m.ID]; ok {
		c.Reply(from, pid)
		return
	}
	whom := m.Back
	if whom.IsZero() {
		whom = m.Arrival
	}
	watch := c.Monitor(whom) // it may end before it answers: the source then asks again
	if !give(c, whom, asking{from, m.ID, watch}) {
		c.DemonitorFlush(watch)
		c.Reply(from, node.PID{})
		return
	}
	s.asked[watch] = from
}

// arrived records a process that has started here. It must end with its forwarders, except those whose
// connection is lost.
func (s *server) arrived(c *node.Context, m arrived) {
	s.started[m.id] = m.pid
	c.DemonitorFlush(s.arrivals[m.arrival])
	delete(s.asked, s.arrivals[m.arrival])
	delete(s.arrivals, m.arrival)
	s.forget(c, m.pid)
	var g guest
	for _, h := range append(m.holders, m.pid) {
		ref := c.Monitor(h)
		s.watched[ref] = watched{m.pid, h, h == m.source}
		g.watches = append(g.watches, ref)
	}
	s.guests[m.pid] = g
}

// forget removes the service's monitors for a process.
func (s *server) forget(c *node.Context, pid node.PID) {
	for _, ref := range s.guests[pid].watches {
		c.DemonitorFlush(ref)
		delete(s.watched, ref)
	}
	delete(s.guests, pid)
}

// down handles the end of a process that the service watches.
func (s *server) down(c *node.Context, m node.Down) {
	if from, ok := s.asked[m.Ref]; ok {
		delete(s.asked, m.Ref)
		delete(s.arrivals, m.PID)
		if from.Pending() {
			_ = from.Fail(&node.ExitError{Reason: m.Reason})
		}
		return
	}
	w, ok := s.watched[m.Ref]
	if !ok {
		return
	}
	delete(s.watched, m.Ref)
	switch p := local(c, w.guest); {
	case w.guest == w.holder:
		s.forget(c, w.guest)
	case p == nil:
	case m.Reason == node.NoConnection, m.Reason == node.NoProc && !w.source: // it was cut off before
		cutOff(c, p, w.holder)
	case m.Reason == node.NoProc: // it was killed while the process started
		p.Exit(&p.System.Plain, node.Killed)
	default: // somebody has ended the forwarder, and so the process
		p.Exit(&p.System.Plain, m.Reason)
	}
}
