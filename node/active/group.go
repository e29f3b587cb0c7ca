package active

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"weak"

	"github.com/actornode/actornode/internal/fiber"
	"github.com/actornode/actornode/internal/nodehook"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/internal/activation"
	"github.com/actornode/actornode/node/internal/process"
	"github.com/actornode/actornode/wire"
)

// steps is how many activations begin or go on in a turn until others on the stage have theirs.
const steps = 256

// group is the behaviour of the process of active objects.
type group struct {
	activation.Group // owned by whoever holds turn
	waits
	turn    sync.Mutex
	name    string
	node    *node.Node
	pid     node.PID
	process *process.Process
	context *node.Context // of the turn
	first   any
	others  map[uint64]any
	past    *node.Context // for when the process has ended, which calls end; nil: it does not
	err     error         // what the process is to end with

	outside struct {
		sync.Mutex
		ready []*activation.Activation // by others than the group in its turn
		woken bool                     // a message says so
		over  bool
	}
}

// What the mailbox of a group has beside calls.
type (
	wakeUp struct{} // there is something in outside, or left from a turn
	joins  struct {
		number uint64
		object any
	}
)

// Immutable has an object that joins a group not be copied: who gives it away knows.
func (joins) Immutable() {}

// invocation is the body of a call.
type invocation interface {
	begin(g *group, from node.From) *activation.Activation
}

func newGroup(first any, t reflect.Type) *group { return &group{first: first, name: t.String()} }

// BehaviourName is part of node.BehaviourNamer.
func (g *group) BehaviourName() string { return g.name }

// Init is part of node.Initializer.
func (g *group) Init(c *node.Context) error {
	g.node, g.pid = c.Node(), c.Self()
	p, _ := nodehook.Process(c)
	g.process = p.(*process.Process)
	g.Group.Init(nodehook.Fibers(c))
	return nil
}

// Receive is part of node.Actor: a turn.
func (g *group) Receive(c *node.Context, msg any) error {
	//actornode:ignore blocking nobody else takes it before the process has ended
	g.turn.Lock()
	defer g.turn.Unlock()
	g.context = c
	switch m := msg.(type) {
	case node.Request[invocation]:
		g.Ready(m.Body.begin(g, m.From))
	case wakeUp:
		g.takeOutside()
	case joins:
		g.add(m.number, m.object)
		return nil
	default:
		if err := g.other(msg); err != nil {
			return err
		}
	}
	more := false
	if home := nodehook.Home(c); home != nil {
		more = g.Turn(home, steps)
	} else {
		more = g.turnElsewhere()
	}
	if more {
		nodehook.Signal(c, g.pid, wakeUp{})
	}
	if g.Waiting() > 0 && g.past == nil {
		g.past = nodehook.Past(c).(*node.Context)
		w := weak.Make(g) // what waits has g on its stack; else the process need not keep g for this
		context.AfterFunc(c.Context(), func() {
			if g := w.Value(); g != nil {
				g.end()
			}
		})
	}
	return g.err
}

// turnElsewhere is Turn where the calling goroutine must not switch to a fiber.
func (g *group) turnElsewhere() (more bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		more = g.Turn(new(fiber.Fiber), steps)
	}()
	<-done
	return more
}

// end unwinds what waits when the process has ended.
func (g *group) end() {
	g.outside.Lock()
	g.outside.over, g.outside.ready = true, nil
	g.outside.Unlock()
	g.turn.Lock() // the last handler may still run
	defer g.turn.Unlock()
	g.context = g.past
	g.End(new(fiber.Fiber), func(a *activation.Activation) { a.Method.(task).act(g.past) })
}

// readyFromOutside is Ready on behalf of others than the group in its turn.
func (g *group) readyFromOutside(by *process.Acting, a *activation.Activation) {
	g.outside.Lock()
	if g.outside.over {
		g.outside.Unlock()
		return
	}
	g.outside.ready = append(g.outside.ready, a)
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
	g.outside.Unlock()
	for _, a := range ready {
		g.Ready(a)
	}
}

// runs reports whether the activation of c is what runs.
func (g *group) runs(c *Context) bool { return g.Running() == &c.acts.Activation }

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

// object returns an object of the group; nil: there is none with the number.
func (g *group) object(number uint64) any {
	if number == 0 {
		return g.first
	}
	return g.others[number]
}

// other is for a message that is no call by Go of this node.
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
	g.node.Log().Warn("unexpected message", "pid", g.pid.String(), "object", g.name, "message", sysmsg.Brief(msg))
	return nil
}
