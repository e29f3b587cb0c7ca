package migrate

import (
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/node"

	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// phase is how far the move of a source has come.
type phase uint8

const (
	preparing phase = iota // the other node has been asked
	ready                  // it has answered, and the source waits for the mark
	committed              // the arrival may start
	doubtful               // the arrival, or the connection to it, has ended: had it started?
)

func (p phase) String() string {
	return [...]string{"asks it", "is to send what waits", "has told it to start", "in doubt whether it has started"}[p]
}

// mover is the behaviour of a process while it moves: the source. It leaves all messages except its own in the mailbox.
type mover struct {
	kinds *kindTable
	from  node.From
	to    node.Atom
	watch node.Ref // the service's monitor

	phase   atomic.Uint32 // a phase; Info reads it
	ended   error         // why the arrival that should have become the process ended; nil: it has not, or that is not known
	vain    int           // unanswered questions for the outcome, in a row
	prepare prepare
	arrival node.PID
	back    node.PID // the forwarder that will become the process; zero: arrival itself will
	over    node.Ref // monitor over arrival
	marked  bool
	ahead   int // messages before the mark
	sent    int // messages that arrival has got
}

// Tags of the requests of a mover.
type (
	prepareTag struct{ m *mover }
	outcomeTag struct{ m *mover }
)

// BehaviourName is part of node.BehaviourNamer.
func (m *mover) BehaviourName() string { return fmt.Sprintf("migrate.mover to %s: %v", m.to, m.at()) }

func (m *mover) at() phase { return phase(m.phase.Load()) }

func (m *mover) enter(p phase) { m.phase.Store(uint32(p)) }

// Receive is part of node.Actor.
func (m *mover) Receive(c *node.Context, msg any) error {
	switch msg := msg.(type) {
	case node.Result:
		switch msg.Tag {
		case prepareTag{m}:
			m.answered(c, msg)
			return nil
		case outcomeTag{m}:
			m.learnt(c, msg)
			return nil
		}
	case started:
		if msg.ID == m.prepare.ID && msg.At.Node() == m.to {
			m.finish(c, msg.At)
			return nil
		}
	case failed:
		if msg.ID == m.prepare.ID {
			m.give(c, fmt.Errorf("%w: %s: %s", ErrFailed, m.to, msg.Why))
			return nil
		}
	case node.Down:
		if msg.Ref == m.over {
			m.lost(c, msg.Reason)
			return nil
		}
	case again:
		m.ask(c)
		return nil
	}
	return node.ErrUnhandled
}

// departing orders a process to move.
type departing struct{ m *mover }

// Receive is part of node.Actor.
func (o departing) Receive(c *node.Context, _ any) error {
	o.m.begin(c)
	return nil
}

// begin is the first step; it replaces the process's behaviour. Nothing has moved yet.
func (m *mover) begin(c *node.Context) {
	_, b := c.Inside(process.Key{}).Process()
	if err := m.describe(c, b); err != nil {
		m.refuse(c, err)
		return
	}
	m.kinds.at(c, "source asks")
	c.Push(m)
	node.SendRequest(c, at(m.to), prepareTag{m}, m.prepare)
}

// refuse tells To why the process does not move.
func (m *mover) refuse(c *node.Context, err error) {
	_ = m.from.Fail(err) // the caller may have given up
	_ = c.Send(service, ended{m.watch})
}

// describe fills in prepare. It returns an error if the process cannot move.
func (m *mover) describe(c *node.Context, b any) error {
	switch b := b.(type) {
	case *mover, *arrival:
		return ErrMoving
	case *forwarder:
		return &MovedError{b.to}
	}
	if err := m.snapshot(own(c)); err != nil {
		return err
	}
	kind, ok := m.kinds.types[reflect.TypeOf(b)]
	mv, isMover := b.(Mover)
	if !ok || !isMover {
		return fixed(typeOf(b))
	}
	m.prepare.Kind, m.prepare.Source, m.prepare.Parent = kind, c.Self(), c.Parent()
	return attempt(func() (err error) {
		m.prepare.State, err = mv.MoveOut(c)
		return err
	})
}

// typeOf names the type of a process that has no Kind.
func typeOf(b any) string {
	named, ok := b.(node.BehaviourNamer)
	if _, mover := b.(Mover); !ok || mover {
		return fmt.Sprintf("the type %T, of which migrate.Start has no Kind", b)
	}
	if _, active := b.(observe.ActiveObject); active {
		return fmt.Sprintf("an active object, %s: methods that wait have stacks, which cannot follow", named.BehaviourName())
	}
	return fmt.Sprintf("a behaviour that is no Mover, %s", named.BehaviourName())
}

// snapshot fills in the part of prepare that the node knows.
func (m *mover) snapshot(p *process.Process) error {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	k := p.ColdPart()
	_, byName := p.System.ByName.Load(p)
	switch {
	case p.Protected:
		return fixed("the protection of a service")
	case p.ShowsPeer:
		return fixed("messages that say which node they have come from")
	case len(k.Stack) > 0:
		return fixed("behaviours below the present one, or is suspended")
	case len(k.Aliases) > 0:
		return fixed("aliases")
	case k.Timers != nil && k.Timers.Len() > 0:
		return fixed("timers that have not fired")
	case byName:
		return fixed("links that it has asked for by names on other nodes")
	}
	m.prepare.ID = p.System.NewRef()
	m.prepare.Name, m.prepare.Label, m.prepare.Trap = k.Name, k.Label, k.Trap
	r := k.Moved
	if r == nil {
		r = &process.Moved{}
	}
	if m.prepare.Identity = r.Identity; m.prepare.Identity.IsZero() {
		m.prepare.Identity = unguessable(p.System)
	}
	m.prepare.Trail = trail(r.Trail, p.PID())
	if len(m.prepare.Trail) > mostForwarders {
		return fixed(fmt.Sprintf("been on %d nodes, and has a forwarder on each", mostForwarders))
	}
	for to := range k.Links.All() {
		m.prepare.Links = append(m.prepare.Links, link{to, holder(r.Links[to], p)})
	}
	if p.Tied {
		m.prepare.Links = append(m.prepare.Links, link{p.System.Origin.PID(p.Parent - 1), p.PID()})
	}
	for ref, h := range r.Monitors {
		m.prepare.Monitors = append(m.prepare.Monitors, monitor{ref, h})
	}
	for _, w := range k.Watching {
		if w.Node {
			return fixed("a monitor of a node")
		}
		m.prepare.Monitors = append(m.prepare.Monitors, monitor{w.Ref(), p.PID()})
	}
	return nil
}

// mostForwarders is the most forwarders that a process may have.
const mostForwarders = 64

// holder returns h, or the PID of p if h is zero.
func holder(h node.PID, p *process.Process) node.PID {
	if h.IsZero() {
		return p.PID()
	}
	return h
}

// trail adds the forwarder pid to a copy of all, in place of one on the same node.
func trail(all []node.PID, pid node.PID) []node.PID {
	all = slices.DeleteFunc(slices.Clone(all), func(f node.PID) bool { return f.Node() == pid.Node() })
	return append(all, pid)
}

// unguessable makes a reference with random words: only processes that were given it know it.
func unguessable(sys *process.System) wire.Ref {
	number, r := sys.NewNumber(), sys.Env.Uint64()
	return sys.Origin.Ref(uint32(number)&0x3ffff, uint32(number>>18), uint32(number>>50), uint32(r), uint32(r>>32))
}

// answered goes on when the other node has said whether it takes the process.
func (m *mover) answered(c *node.Context, r node.Result) {
	p, ok := r.Value.(prepared)
	if r.Err != nil || !ok {
		err := notThere(r.Err, m.to)
		if err == nil {
			err = ErrNotThere
		}
		m.give(c, err)
		return
	}
	if p.Arrival.Node() != m.to { // it would get the messages that wait here
		m.give(c, fmt.Errorf("%w: %s has named a process of another node, %v", ErrFailed, m.to, p.Arrival))
		return
	}
	m.arrival, m.back = p.Arrival, p.Back
	m.enter(ready)
	m.over = c.Monitor(m.arrival)
	m.kinds.at(c, "source ready")
	if m.back.IsZero() || m.marked {
		m.commit(c)
	}
}

// mark records that everything has come that a forwarder forwarded before the arrival took it over.
func (m *mover) mark(c *node.Context, id wire.Ref) {
	if id != m.prepare.ID || m.marked {
		return
	}
	p := own(c)
	m.marked = true
	p.Runner().Owning(acting(c), func() { m.ahead = p.Queue.CountPassed() })
	if m.at() == ready {
		m.commit(c)
	}
}

// commit sends the arrival the waiting messages, and tells it to start.
func (m *mover) commit(c *node.Context) {
	msgs := waiting(c)
	if !m.back.IsZero() {
		msgs = msgs[:m.ahead]
	}
	for _, msg := range msgs {
		if err := c.Send(m.arrival, msg); err != nil {
			m.give(c, fmt.Errorf("migrate: a message that waits cannot follow: %w", err))
			return
		}
	}
	m.kinds.at(c, "source commits")
	m.sent = len(msgs)
	m.enter(committed)
	_ = c.Send(m.arrival, commit{m.prepare.ID, m.sent}) // an error means that the connection is lost: see lost
	m.kinds.at(c, "source committed")
}

// waiting returns the messages that were left in the mailbox.
func waiting(c *node.Context) (msgs []any) {
	p := own(c)
	p.Runner().Owning(acting(c), func() {
		n := p.Queue.CountPassed()
		for msg := range p.Queue.All() {
			if len(msgs) == n {
				return
			}
			msgs = append(msgs, watch.BareMessage(msg))
		}
	})
	return msgs
}

// lost handles the end of the arrival before it has said that it has started.
func (m *mover) lost(c *node.Context, reason any) {
	err := fmt.Errorf("%w: what should have become the process on %s has ended: %w",
		ErrFailed, m.to, &node.ExitError{Reason: reason})
	if m.at() != committed {
		m.give(c, err)
		return
	}
	if reason != node.NoConnection && m.back.IsZero() {
		m.ended = err
	}
	m.enter(doubtful)
	m.ask(c)
}

// ask asks the other node whether the process has started.
func (m *mover) ask(c *node.Context) {
	node.SendRequest(c, at(m.to), outcomeTag{m}, outcome{m.prepare.ID, m.arrival, m.back})
}

// mostVain is the number of unanswered questions after which To returns ErrUnknown.
const mostVain = 3

// learnt goes on when the other node has answered; if it has not, it is asked again.
func (m *mover) learnt(c *node.Context, r node.Result) {
	pid, ok := r.Value.(node.PID)
	vain := r.Err != nil || !ok || !pid.IsZero() && pid.Node() != m.to
	switch {
	case vain && m.ended != nil: // it ended without saying that it had started
		m.give(c, m.ended)
	case vain: // also if the service there is being restarted
		if m.vain++; m.vain == mostVain {
			m.doubt(c)
		}
		if _, err := c.SendAfter(m.kinds.pause, c.Self(), again{}); err != nil {
			c.Node().Log().Warn("a process waits for another node until this one stops", "process", c.Self().String(),
				"node", string(m.to))
		}
	case pid.IsZero(): // or it is a new node of that name: it has nothing of the old one
		m.give(c, fmt.Errorf("%w: what should have become the process on %s ended, or the connection, before it had started",
			ErrFailed, m.to))
	default:
		m.finish(c, pid)
	}
}

// doubt reports, once, that the outcome is not known.
func (m *mover) doubt(c *node.Context) {
	_ = m.from.Fail(fmt.Errorf("%w: %v waits for %s", ErrUnknown, c.Self(), m.to))
	c.Node().Log().Warn("a process waits: it does not know whether it has moved, as the other node does not answer; "+
		"it goes on when that node, or a new one of its name, can be reached; to end it, kill it",
		"process", c.Self().String(), "node", string(m.to))
}

// give gives up the move: the process goes on here.
func (m *mover) give(c *node.Context, err error) {
	if !m.arrival.IsZero() {
		c.DemonitorFlush(m.over)
		_ = c.Send(m.arrival, abort{m.prepare.ID}) // the arrival also ends if the connection is lost
	}
	c.Unbecome()
	m.refuse(c, err)
}

// finish makes the process a forwarder: the process now runs on the other node.
func (m *mover) finish(c *node.Context, now node.PID) {
	m.kinds.at(c, "source finishes")
	c.Unbecome()
	f := &forwarder{to: now, skip: m.sent, over: m.over, identity: m.prepare.Identity}
	f.begin(c, m)
	c.Become(f)
	_ = m.from.Reply(now)
	_ = c.Send(at(m.to), confirm{m.prepare.ID}) // if it is lost, one record of mostUnconfirmed remains there
	_ = c.Send(service, left{c.Self()})
	_ = c.Send(service, ended{m.watch})
}
