package active

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"
	"weak"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"

	"github.com/actornode/actornode/wire"
)

// steps is the most activations that begin or go on in a turn. If Config.Budget, the messages that an Actor handles in
// a turn, is lower, that counts.
const steps = 256

// When a group has nothing else to do, it evaluates conditions that its steps have not: chunk of them, then other
// processes of the stage and the mailbox have their turn. After a step it evaluates at most idle of them. The rest waits
// until no step has come for so long that evaluating all takes an eighth of that time: with very many conditions, a
// program that steps and awaits again and again should not pay for all of them each time.
const (
	chunk   = 128
	idle    = 2 * chunk
	perRest = 200 * time.Nanosecond // for each of the rest
)

// group is the behaviour of the process of active objects.
type group struct {
	thread // owned by whoever holds turn
	waits
	turn    sync.Mutex
	name    string
	node    *node.Node
	pid     node.PID
	process *process.Process
	context *node.Context // of the turn
	first   any
	others  map[uint64]any
	steps   int           // in a turn, at most
	awake   bool          // the group's own wakeUp is in its mailbox
	checks  int           // how many conditions it may still evaluate, before rest, when it has nothing else to do
	rest    bool          // there has been no step for long
	timed   bool          // a timer runs, to see whether there is a step
	past    *node.Context // for end, after the process has ended; nil: end will not be called
	err     error         // with which the process will end

	outside outside
}

// outside is what others hand to a group outside its turn.
type outside struct {
	sync.Mutex
	ready   []*activation
	changed bool    // what conditions depend on
	late    []*bool // to be set, by the turn: the time of an UntilWithin is over
	rest    bool    // the timer has run
	woken   bool    // a message says so
	over    bool
}

// Messages of a group besides calls.
type (
	wakeUp struct{} // there is something in outside, or left from a turn
	joins  struct {
		number uint64
		object any
	}
)

// Immutable keeps an object that joins a group from being copied: the sender knows that it gives it away.
func (joins) Immutable() {}

// invocation is the body of a call.
type invocation interface {
	begin(g *group, from node.From) *activation
}

func newGroup(first any, t reflect.Type) *group { return &group{first: first, name: t.String()} }

// BehaviourName is part of node.BehaviourNamer.
func (g *group) BehaviourName() string { return g.name }

// Init is part of node.Initializer.
func (g *group) Init(c *node.Context) error {
	g.node, g.pid = c.Node(), c.Self()
	g.process, _ = c.Inside(process.Key{}).Process()
	g.steps = min(steps, g.process.System.Budget)
	g.thread.Init(c.Inside(process.Key{}).Fibers(), g.process)
	return nil
}

// Receive is part of node.Actor: a turn.
func (g *group) Receive(c *node.Context, msg any) error {
	//actornode:ignore blocking nobody else takes it before the process has ended
	g.turn.Lock()
	defer g.turn.Unlock()
	g.context = c
	check := 0
	switch m := msg.(type) {
	case node.Request[invocation]:
		g.Ready(m.Body.begin(g, m.From))
	case wakeUp:
		g.takeOutside()
		if g.awake = false; g.Unsure() > 0 && !g.process.Behind() {
			check = g.check()
		}
	case joins:
		g.add(m.number, m.object)
	default:
		if err := g.other(msg); err != nil {
			return err
		}
	}
	before := g.Steps()
	more, unsure := g.takeTurn(c, check)
	if g.Steps() != before {
		g.checks, g.rest = idle, false
	}
	err := g.err
	if (more || unsure > 0) && g.goOn(c, more, unsure) && err == nil {
		err = process.ErrGivesWay
	}
	if g.Waiting() > 0 && g.past == nil {
		g.past = c.InsideTurn(process.Key{}).Past()
		w := weak.Make(g) // waiting activations have g on their stacks; without any, g need not be kept for this
		context.AfterFunc(c.Context(), func() {
			if g := w.Value(); g != nil {
				g.end()
			}
		})
	}
	return err
}

// check returns how many conditions to evaluate in a turn of a group that has nothing else to do.
func (g *group) check() int {
	if g.rest {
		return 8 * chunk
	}
	n := min(g.checks, chunk)
	g.checks -= n
	return n
}

// goOn arranges another turn if work is left: more is ready, or unsure conditions have not been
// evaluated. It reports whether other processes of the stage come first.
func (g *group) goOn(c *node.Context, more bool, unsure int) bool {
	alone := !g.process.Behind()
	switch {
	case more:
	case !alone && !g.process.Boxed: // the next message has a turn in any case
		return false
	case alone && !g.rest && g.checks == 0:
		g.time(time.Duration(unsure) * perRest)
		return false
	}
	if !g.awake || alone { // alone: the owner of the mailbox has lost it
		g.awake = true
		c.Inside(process.Key{}).Signal(g.pid, wakeUp{})
	}
	return alone
}

// time has the rest of the conditions evaluated after d, unless a timer for that runs already.
func (g *group) time(d time.Duration) {
	if g.timed {
		return
	}
	g.timed = true
	sys := g.process.System
	sys.Env.AfterFunc(d, func() { g.fromOutside(&sys.Plain, func(o *outside) { o.rest = true }) })
}

// takeTurn is thread.Turn.
func (g *group) takeTurn(c *node.Context, check int) (more bool, unsure int) {
	if home := c.InsideTurn(process.Key{}).Home(); home != nil {
		return g.Turn(home, g.steps, check)
	}
	return g.takeTurnElsewhere(check)
}

// takeTurnElsewhere is takeTurn where the calling goroutine must not switch to a fiber.
func (g *group) takeTurnElsewhere(check int) (more bool, unsure int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		more, unsure = g.Turn(new(fiber.Fiber), g.steps, check)
	}()
	<-done
	return more, unsure
}

// end unwinds the waiting activations when the process has ended.
func (g *group) end() {
	g.outside.Lock()
	g.outside.over, g.outside.ready = true, nil
	g.outside.Unlock()
	g.turn.Lock() // the last handler may still run
	defer g.turn.Unlock()
	g.context = g.past
	g.End(new(fiber.Fiber), func(a *activation) { a.Method.(task).act(g.past) })
}

// readyFromOutside is Ready, called outside the group's turn.
func (g *group) readyFromOutside(by *process.Acting, a *activation) {
	g.fromOutside(by, func(o *outside) { o.ready = append(o.ready, a) })
}

// fromOutside calls add, and has the group look at what it added.
func (g *group) fromOutside(by *process.Acting, add func(o *outside)) {
	g.outside.Lock()
	if g.outside.over {
		g.outside.Unlock()
		return
	}
	add(&g.outside)
	wake := !g.outside.woken
	g.outside.woken = true
	g.outside.Unlock()
	if wake && !g.process.Gone() {
		g.process.Signal(by, wakeUp{})
	}
}

func (g *group) takeOutside() {
	g.outside.Lock()
	ready := g.outside.ready
	g.outside.ready, g.outside.woken = nil, false
	if g.outside.rest {
		g.outside.rest, g.rest, g.timed = false, true, false
	}
	changed, late := g.outside.changed, g.outside.late
	g.outside.changed, g.outside.late = false, nil
	g.outside.Unlock()
	for _, l := range late {
		*l = true
	}
	if changed || len(late) > 0 {
		g.Changed()
		g.checks, g.rest = idle, false
	}
	for _, a := range ready {
		g.Ready(a)
	}
}

// runs reports whether the activation of c is running.
func (g *group) runs(c *Context) bool { return g.Running() == &c.acts.activation }

func (g *group) add(number uint64, object any) {
	if g.others == nil {
		g.others = make(map[uint64]any)
	}
	g.others[number] = object
}

// find returns an object of the group.
func find[T any](g *group, number uint64) (T, error) {
	object := g.object(number)
	o, ok := object.(T)
	if !ok {
		return o, fmt.Errorf("active: %v has no %v but a %T: %w", g.pid, reflect.TypeFor[T](), object, node.ErrUnhandled)
	}
	return o, nil
}

// object returns the object of the group with the number, or nil.
func (g *group) object(number uint64) any {
	if number == 0 {
		return g.first
	}
	return g.others[number]
}

// other handles a message that is not a call by Go from this node.
func (g *group) other(msg any) error {
	if g.exported(msg) {
		return nil
	}
	if r, ok := g.first.(Receiver); ok {
		g.Ready(g.newReception(r, msg))
		return nil
	}
	if e, ok := msg.(node.Exited); ok {
		return node.ExitWith(e.Reason)
	}
	if r, ok := g.node.AsRequest(msg); ok {
		what := fmt.Sprintf("with a %T, which is no method of it", r.Body)
		if call, ok := parseCall(r.Body); ok {
			what = fmt.Sprintf("by the name %s, which is exported for no such object", wire.Format(call.Method))
		}
		err := fmt.Errorf("active: a call of %v %s: %w", g.pid, what, node.ErrUnhandled)
		_ = r.Fail(err) // the caller may have given up
		return nil
	}
	g.node.Log().Warn("unexpected message", "pid", g.pid.String(), "object", g.name, "message", sysmsg.Brief(g.node, msg))
	return nil
}
