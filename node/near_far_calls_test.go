package node_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// nearAdder answers requests of some types, each with its own handler.
var nearAdder node.ActorFunc = func(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case node.Request[int]:
		return c.Reply(m.From, m.Body+1)
	case node.Request[string]:
		return c.Reply(m.From, "you said "+m.Body)
	case node.Request[float64]:
		return c.Reply(m.From, m.Body/2)
	case node.Request[bool]:
		return c.Reply(m.From, !m.Body)
	case node.Request[node.Atom]:
		return c.Reply(m.From, m.Body+"s")
	case node.Request[wire.Tuple]:
		return c.Reply(m.From, append(m.Body, "and this"))
	case node.Request[nearOrder]:
		return c.Reply(m.From, nearReceipt{m.Body.Item, m.Body.Count, m.Body.Price * float64(m.Body.Count)})
	case node.Request[*nearOrder]:
		m.Body.Count++
		return c.Reply(m.From, m.Body)
	case node.Request[[]int]:
		return c.Reply(m.From, append(m.Body, len(m.Body)))
	case node.Request[map[string]int64]:
		m.Body["size"] = int64(len(m.Body))
		return c.Reply(m.From, m.Body)
	case node.Request[int64]:
		return c.Reply(m.From, m.Body-1)
	case node.Request[nearColour]:
		return c.Reply(m.From, m.Body+1)
	case node.Request[time.Duration]:
		return c.Reply(m.From, 2*m.Body)
	}
	return fmt.Errorf("a message of type %T", msg)
}

var callPrograms = []program{

	{"a call by an actor that is killed", func(w *world) {
		asked, over := make(chan struct{}), make(chan error, 1)
		pid := w.start(node.ActorFunc(func(_ *node.Context, msg any) error { close(asked); return nil }))
		caller, err := w.here.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			_, err := node.Call[int](context.Background(), c, pid, 1)
			over <- err
			return err
		}))
		w.check(err)
		w.check(w.me.Send(caller, "go"))
		ref := w.me.Monitor(caller)
		testkit.Receive(w.t, asked)
		w.here.Exit(caller, node.Kill)
		w.say("%s", show(w.down(ref).Reason))
		select {
		case err := <-over:
			w.say("%v", err)
		case <-w.ctx.Done():
			w.say("is not woken")
		}
	}},

	{"a call of oneself", func(w *world) {
		pid := w.serve(node.ActorFunc(func(c *node.Context, msg any) error {
			r, _ := c.Node().AsRequest(msg)
			_, err := node.Call[int](w.ctx, c, c.Self(), 1)
			return c.Reply(r.From, fmt.Sprint(err))
		}))
		ask[string](w, pid, 1)
	}},

	{"a call is answered", func(w *world) { ask[int](w, w.serve(nearAdder), 1) }},
	{"calls one after the other", func(w *world) {
		pid := w.serve(nearAdder)
		for i := range 20 {
			ask[int](w, pid, i)
		}
	}},
	{"a call with an atom", func(w *world) { ask[node.Atom](w, w.serve(nearAdder), node.Atom("cake")) }},
	{"a call with a float", func(w *world) { ask[float64](w, w.serve(nearAdder), 2.5) }},
	{"a call with a tuple", func(w *world) {
		ask[wire.Tuple](w, w.serve(nearAdder), wire.Tuple{node.Atom("a"), 1})
	}},
	{"a call with a string", func(w *world) { ask[string](w, w.start(nearAdder), "tea") }},
	{"a call with a pointer", func(w *world) {
		o := newNearOrder(3)
		ask[*nearOrder](w, w.start(nearAdder), &o)
	}},
	{"a call with a slice", func(w *world) { ask[[]int](w, w.start(nearAdder), []int{7, 8}) }},
	{"a call with a map", func(w *world) {
		ask[map[string]int64](w, w.start(nearAdder), map[string]int64{"a": 1})
	}},
	{"a call with a sized integer", func(w *world) { ask[int64](w, w.start(nearAdder), int64(1)) }},
	{"a call with a named integer", func(w *world) { ask[nearColour](w, w.start(nearAdder), nearRed) }},
	{"a call with a duration", func(w *world) { ask[time.Duration](w, w.start(nearAdder), time.Second) }},
	{"a call with any value", func(w *world) {
		ask[string](w, w.serve(node.ActorFunc(func(c *node.Context, msg any) error {
			r, _ := c.Node().AsRequest(msg)
			return c.Reply(r.From, fmt.Sprintf("%T", msg))
		})), any(5))
	}},
	{"a call by a name", func(w *world) { ask[int](w, w.named("near_adder", nearAdder), 5) }},
	{"a call of a process that is dead", func(w *world) {
		pid := w.start(nearAdder)
		w.there.Exit(pid, node.Kill)
		_, err := node.AwaitExit(w.ctx, w.me, pid)
		w.check(err)
		_, err = node.Call[int](w.ctx, w.me, pid, 1)
		w.say("%v, no process %v", err, errors.Is(err, node.ErrNoProcess))
	}},
	{"a call whose caller is no process", func(w *world) {
		r, err := node.Call[int](w.ctx, w.here, w.serve(nearAdder), 1)
		w.answer(r, err)
	}},
	{"a call that is answered with another type", func(w *world) {
		_, err := node.Call[bool](w.ctx, w.me, w.serve(nearAdder), 1)
		w.say("reply type %v", errors.Is(err, node.ErrReplyType)) // the text names the process
	}},
	{"a call that is answered with nothing", func(w *world) {
		pid := w.serve(node.ActorFunc(func(c *node.Context, msg any) error {
			r, _ := c.Node().AsRequest(msg)
			return c.Reply(r.From, nil)
		}))
		ask[any](w, pid, 1)
	}},
	{"a call that is given up", func(w *world) {
		late := make(chan node.From, 1)
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			if r, ok := msg.(node.Request[int]); ok {
				late <- r.From
				return nil
			}
			return c.Reply((<-late), 1)
		}))
		ctx, cancel := context.WithCancelCause(w.ctx)
		f := node.Async[int](w.me, pid, 1)
		from := testkit.Receive(w.t, late)
		late <- from
		cancel(errors.New("enough"))
		_, err := node.Await(ctx, w.me, f)
		w.say("%v", err)
		w.check(w.me.Send(pid, "answer now")) // after it only this arrives
		w.there.Exit(pid, node.Kill)
		_, err = node.AwaitExit(w.ctx, w.me, pid)
		w.check(err)
		w.check(w.me.Send(w.me.Self(), "last"))
		w.say("%s", show(w.next()))
	}},
	{"many calls at a time", func(w *world) {
		pid := w.serve(nearAdder)
		var all []*node.Future[int]
		for i := range 200 {
			all = append(all, node.Async[int](w.me, pid, i))
		}
		sum := 0
		for _, f := range all {
			n, err := node.Await(w.ctx, w.me, f)
			w.check(err)
			sum += n
		}
		w.say("%d", sum)
	}},
	{"a call by a process that is killed", func(w *world) {
		asked := make(chan struct{})
		pid := w.start(node.ActorFunc(func(_ *node.Context, msg any) error { close(asked); return nil }))
		caller, err := w.here.Spawn(node.ProcessFunc(func(p *node.Process) error {
			_, err := node.Call[int](context.Background(), p, pid, 1)
			return err
		}))
		w.check(err)
		ref := w.me.Monitor(caller)
		testkit.Receive(w.t, asked)
		w.here.Exit(caller, node.Kill)
		w.say("%s", show(w.down(ref).Reason))
	}},
	{"a server that calls back", func(w *world) {
		pid := w.serve(node.ProcessFunc(func(p *node.Process) error {
			r := node.ReceiveOf[node.Request[node.PID]](p)
			n, err := node.Call[int](w.ctx, p, r.Body, 41)
			r.Reply(fmt.Sprint(n, err))
			p.Receive() // the messages that its end would cause could overtake the reply
			return nil
		}))
		own, err := w.here.Spawn(nearAdder)
		w.check(err)
		w.later(func() { w.here.Exit(own, node.Kill) })
		ask[string](w, pid, own)
	}},
}

// answerPrograms are about replies that come later, from others, or twice.
var answerPrograms = []program{
	{"a future of a call that fails", func(w *world) {
		me := w.me.Self()
		f := node.Async[int](w.me, w.serve(node.ActorFunc(func(c *node.Context, msg any) error {
			return msg.(node.Request[int]).Fail(errNearSoldOut)
		})), 1)
		waiter := w.start(node.ProcessFunc(func(p *node.Process) error {
			_, err := node.Await(w.ctx, p, node.ReceiveOf[*node.Future[int]](p))
			return p.Send(me, fmt.Sprint(err, errors.Is(err, errNearSoldOut)))
		}))
		w.check(w.me.Send(waiter, f))
		w.say("%s", show(w.next()))
	}},

	{"an error by a process on a third node", func(w *world) {
		worker := w.startOn(w.aside, node.Options{}, node.ActorFunc(func(_ *node.Context, msg any) error {
			return msg.(node.Request[int]).Fail(errNearSoldOut)
		}))
		_, err := node.Call[int](w.ctx, w.me, w.serve(passOn(w, worker)), 1)
		w.say("%v, sold out %v", err, errors.Is(err, errNearSoldOut))
	}},

	{"a future for many", func(w *world) {
		me := w.me.Self()
		release := make(chan struct{})
		w.later(func() {
			select {
			case <-release:
			default:
				close(release)
			}
		})
		f := node.Async[int](w.me, w.start(node.ProcessFunc(func(p *node.Process) error {
			r := node.ReceiveOf[node.Request[int]](p)
			<-release
			return r.Reply(r.Body + 1)
		})), 1)
		waiter := node.ProcessFunc(func(p *node.Process) error {
			v, err := node.Await(w.ctx, p, node.ReceiveOf[*node.Future[int]](p))
			return p.Send(me, fmt.Sprint(v, err))
		})
		for _, n := range []*node.Node{w.here, w.there, w.aside} {
			w.check(w.me.Send(w.startOn(n, node.Options{}, waiter), f))
		}
		close(release)
		for range 3 {
			w.say("%s", show(w.next()))
		}
	}},

	{"an answer later", func(w *world) {
		pid := w.serve(node.ProcessFunc(func(p *node.Process) error {
			first := node.ReceiveOf[node.Request[int]](p)
			second := node.ReceiveOf[node.Request[int]](p)
			second.Reply(second.Body)
			first.Reply(first.Body)
			p.Receive()
			return nil
		}))
		a, b := node.Async[int](w.me, pid, 1), node.Async[int](w.me, pid, 2)
		w.answer(node.Await(w.ctx, w.me, b))
		w.answer(node.Await(w.ctx, w.me, a))
	}},
	{"an answer by another process there", func(w *world) {
		worker := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			r := msg.(node.Request[int])
			return r.Reply(r.Body * 2)
		}))
		ask[int](w, w.serve(passOn(w, worker)), 21)
	}},
	{"an answer by a process here", func(w *world) {
		worker := w.startOn(w.here, node.Options{}, node.ActorFunc(func(c *node.Context, msg any) error {
			r := msg.(node.Request[int])
			return c.Reply(r.From, r.Body*2)
		}))
		ask[int](w, w.serve(passOn(w, worker)), 21)
	}},
	{"an answer by a process on a third node", func(w *world) {
		worker := w.startOn(w.aside, node.Options{}, node.ActorFunc(func(c *node.Context, msg any) error {
			r := msg.(node.Request[int])
			return r.Reply(r.Body * 2)
		}))
		ask[int](w, w.serve(passOn(w, worker)), 21)
	}},
	{"a From alone that is handed on", func(w *world) {
		worker := w.startOn(w.aside, node.Options{}, node.ActorFunc(func(_ *node.Context, msg any) error {
			return msg.(node.From).Reply(7)
		}))
		ask[int](w, w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			return c.Send(worker, msg.(node.Request[int]).From)
		})), 1)
	}},
	{"two answers", func(w *world) {
		pid := w.serve(node.ActorFunc(func(c *node.Context, msg any) error {
			r := msg.(node.Request[int])
			r.Reply("first")
			r.Reply("second")
			return nil
		}))
		ask[string](w, pid, 1)
		ask[string](w, pid, 1)
	}},
	{"an answer when the server has ended", func(w *world) {
		froms := make(chan node.From, 1)
		server := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			froms <- msg.(node.Request[int]).From
			return node.ErrStop
		}))
		f := node.Async[int](w.me, server, 1)
		_, err := node.Await(w.ctx, w.me, f)
		w.say("%v", err)
		testkit.Receive(w.t, froms).Reply(1)
		w.check(w.me.Send(w.me.Self(), "last"))
		w.say("%s", show(w.next()))
	}},
	{"a future as a message", func(w *world) {
		f := node.Async[int](w.me, w.serve(nearAdder), 1)
		f.SendTo(w.me.Self(), "done")
		w.say("%s", show(w.next().(node.Result).Value))
	}},
}

// passOn hands requests on to a worker.
func passOn(w *world, worker node.PID) node.ActorFunc {
	return func(c *node.Context, msg any) error { return w.send(c, worker, msg) }
}
