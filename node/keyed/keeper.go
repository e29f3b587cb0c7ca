package keyed

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// keeper is the group's process. It alone starts and ends processes, and changes the table. It waits for nothing: what follows
// an Init or an exit is in the entry's change. It has the lock of the group while its handler runs, in case it is killed then
// and restarted.
type keeper[K comparable] struct {
	g       *Group[K]
	node    *node.Node
	pid     node.PID
	process *process.Process
	c       *node.Context // of the current message

	byPID  map[node.PID]*entry[K] // whose exit has not been handled
	order  entry[K]               // the end of a ring of the entries that have a place; next is that with the oldest noticed use
	places int                    // their number, at most Max
	line   []*entry[K]            // that wait for a place: one for each process that ends for them

	ticked uint32    // the number of ticks
	rounds uint32    // in Idle; 0: no process ends for idleness
	next   *entry[K] // where the sweep that is under way goes on; nil: none is
	excess int       // how many processes are still to end for Kind.Memory
	cycles uint64

	ending any  // the exit reason of the group; nil: it goes on
	killed bool // those that had not ended in time

	ticking, stopping *node.Timer // of the next tick, and of the time that a stop may take

	exported [counters]*atomic.Uint64 // counters of the node, for metrics
}

// phase is the state of an entry. One without a change is running.
//
//	queued ──place──► starting ──Init──► running ──► ending ──exit──► removed
//	                     ▲  └───fails──┐    │crash
//	                     └──next use── failed
type phase uint8

const (
	queued   phase = iota // for a place
	starting              // its Init runs
	running
	ending // it has had an exit signal, or has exited
	failed // there is no process
)

// change is what only an entry needs whose process is not running, or has failed before.
type change[K comparable] struct {
	phase   phase
	reason  any  // of the exit
	exited  bool // reason is set: the exit signal has come
	ignored bool // its Init has returned ErrIgnore
	why     int  // the counter of an end that the group has decided; 0: it has not
	waiting []waiter[K]
	enders  []node.From
	timer   *node.Timer   // of its next message about the entry
	looks   int           // for its exit signal, and code that still runs
	failure *FailingError // nil: it has not failed since it last ran for long
	ran     bool          // a process of it has run
}

// waiter is a use that waits.
type waiter[K comparable] struct {
	node.From
	ticket *ticket[K]
}

// messages to itself
type (
	tick                    struct{}
	sweep                   struct{}
	look[K comparable]      struct{ e *entry[K] } // has its code returned?
	outOfTime[K comparable] struct{ e *entry[K] } // nil: the whole group is
	backoff[K comparable]   struct {              // is over
		e   *entry[K]
		now *FailingError // that of e, unless the message is too late
	}
)

// Limits and times of a keeper.
const (
	atOnce     = 1000 // entries that one turn of a sweep, and a search for an idle process, look at
	fraction   = 8    // of the processes that end after a cycle of the collector
	ticks      = 4    // in Idle
	longTick   = time.Minute
	memoryTick = time.Second
	firstLook  = time.Microsecond // the wait for code that still runs, which doubles up to lastLook
	lastLook   = time.Second
	sureLooks  = 15 // after so many an exit is believed of which no signal has come
)

// BehaviourName implements node.BehaviourNamer.
func (*keeper[K]) BehaviourName() string { return "keyed" }

// ReportsCrashes tells the node that the group logs the crash reports of its processes.
func (*keeper[K]) ReportsCrashes() {}

// Init implements node.Initializer.
func (k *keeper[K]) Init(c *node.Context) error {
	k.g.mu.Lock()
	defer k.g.mu.Unlock()
	old := k.g.keeper.Load()
	if old != nil && !old.process.Gone() {
		return fmt.Errorf("%w: keyed: group %s already runs as %v", node.ErrArgument, k.g.kind.Name, old.pid)
	}
	k.c, k.node, k.pid, k.byPID = c, c.Node(), c.Self(), make(map[node.PID]*entry[K])
	k.order.prev, k.order.next = &k.order, &k.order
	k.process, _ = c.Inside(process.Key{}).Process()
	c.TrapExit(true)
	k.export()
	if old != nil {
		k.inherit(old)
	}
	k.g.keeper.Store(k)
	return k.wind()
}

// inherit takes over what the last keeper has left: its processes end, and all else is forgotten.
func (k *keeper[K]) inherit(old *keeper[K]) {
	for e := range k.g.table.all {
		e.word.Or(closed)
		e.change = nil
		if e.process == nil || old.byPID[e.process.PID()] != e {
			k.g.table.remove(e)
			continue
		}
		k.byPID[e.process.PID()] = e
		k.push(e)
		k.places++
		if !e.process.Gone() {
			k.c.Link(e.process.PID())
		}
		k.finish(e, countEnded)
	}
}

// Receive implements node.Actor.
func (k *keeper[K]) Receive(c *node.Context, msg any) error {
	//actornode:ignore blocking only a handler of the last group's process, which was killed, may still have it
	k.g.mu.Lock()
	defer k.g.mu.Unlock()
	if k.g.keeper.Load() != k {
		return node.ErrStop // it has been killed, and replaced
	}
	k.c = c
	k.handle(msg)
	if k.ending != nil && (k.places == 0 || k.killed) {
		for _, t := range []*node.Timer{k.ticking, k.stopping} { // otherwise their messages would be dead letters
			if t != nil {
				t.Cancel()
			}
		}
		return node.ExitWith(k.ending)
	}
	return nil
}

func (k *keeper[K]) handle(msg any) {
	switch m := msg.(type) {
	case node.Request[use[K]]:
		k.use(m.Body.key, waiter[K]{m.From, m.Body.ticket})
	case node.Request[finish[K]]:
		k.finishKey(m.Body.key, m.From)
	case node.Started:
		if e := k.byPID[m.PID]; e != nil && e.change != nil {
			if m.Ignored {
				e.change.ignored = true
			} else {
				k.started(e)
			}
		}
	case node.Exited:
		k.exited(m)
	case look[K]:
		k.settle(m.e)
	case outOfTime[K]:
		k.kill(m.e)
	case backoff[K]:
		switch {
		case !m.e.is(failed) || m.e.change.failure != m.now:
		case k.restarts(m.e):
			k.begin(m.e)
		default:
			k.remove(m.e)
		}
	case tick:
		k.beat()
	case sweep:
		k.sweep()
	default:
		k.other(msg)
	}
}

// other handles what supervisors are asked, too.
func (k *keeper[K]) other(msg any) {
	r, ok := k.node.AsRequest(msg)
	if !ok {
		k.c.Unknown(msg)
		return
	}
	body := r.Body
	if t, ok := termof.Of(body); ok {
		body = t // of supervisor.WhichChildren
	}
	count := func(what wire.Atom, n int) wire.Tuple { return wire.Tuple{what, n} }
	switch body {
	case wire.Atom("which_children"):
		l := wire.List{}
		for _, pid := range k.g.All() {
			l = append(l, wire.Tuple{wire.AtomUndefined, pid, wire.Atom("worker"), wire.Atom("dynamic")})
		}
		r.Reply(l)
	case wire.Atom("count_children"):
		r.Reply(wire.List{count("specs", 1), count("active", len(k.byPID)), count("supervisors", 0), count("workers", k.places)})
	default:
		k.c.Unknown(msg)
	}
}

// use handles a use that could not enter.
func (k *keeper[K]) use(key K, w waiter[K]) {
	e, _ := k.g.table.get(key)
	switch {
	case k.ending != nil:
		w.Reply(outcome{ErrEnded})
	case e == nil:
		k.add(key, []waiter[K]{w})
	case e.is(running):
		if !e.process.Gone() {
			k.admit(e, w)
			return
		}
		k.leaves(e)
		k.wait(e, w)
		k.settle(e) // its exit has no signal if it has unlinked the group
	case e.process != nil && w.Caller() == e.process.PID():
		w.Reply(outcome{fmt.Errorf("%w: its own key, while it starts or ends", node.ErrSelfCall)})
	case !e.is(failed):
		k.wait(e, w)
	case time.Now().Before(e.change.failure.Next):
		k.count(countRefusedFailing)
		w.Reply(outcome{e.change.failure})
	default:
		k.wait(e, w)
		k.begin(e)
	}
}

// wait adds a waiter to e. Those that have given up go whenever the list would grow.
func (k *keeper[K]) wait(e *entry[K], w waiter[K]) {
	l := e.change.waiting
	if len(l) == cap(l) {
		l = slices.DeleteFunc(l, func(w waiter[K]) bool { return !w.Pending() })
	}
	e.change.waiting = append(l, w)
}

// admit enters for a waiter.
func (k *keeper[K]) admit(e *entry[K], w waiter[K]) {
	e.word.Add(one)
	e.word.Or(marked)
	if !w.ticket.entry.CompareAndSwap(nil, e) {
		e.leave() // it has given up
		return
	}
	w.Reply(outcome{})
}

func (e *entry[K]) is(p phase) bool {
	if e.change == nil {
		return p == running
	}
	return e.change.phase == p
}
