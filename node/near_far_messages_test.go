package node_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/wire"
)

var messagePrograms = []program{
	{"a call whose From is none", func(w *world) {
		me := w.me.Self()
		calls := []any{wire.Tuple{node.Atom("$gen_call"), 7, "first"},
			wire.Tuple{node.Atom("$gen_call"), wire.Tuple{me, 1, 2}, "second"},
			wire.Tuple{node.Atom("$gen_call"), node.Atom("nobody")}}
		server := genserver.Define(
			genserver.OnCall(func(*nearRack, *genserver.Context, nearTake) (int, error) { return 5, nil }),
			genserver.OnInfo(func(_ *nearRack, c *genserver.Context, m wire.Tuple) error {
				return c.Send(me, fmt.Sprintf("%T %d", m, len(m)))
			}))
		for _, b := range []node.Actor{shower(me), server.New(&nearRack{})} {
			pid := w.serve(b)
			for _, call := range calls {
				w.check(w.me.Send(pid, call))
				w.say("%.10s", w.next())
			}
		}
	}},
	{"messages in order", func(w *world) {
		me := w.me.Self()
		pid := w.startProcess(func(p *node.Process) error {
			for i := range 2000 {
				if got := node.ReceiveOf[int](p); got != i {
					return p.Send(me, fmt.Sprintf("%d came when it was %d's turn", got, i))
				}
			}
			return p.Send(me, "all in order")
		})
		for i := range 2000 {
			w.check(w.me.Send(pid, i))
		}
		w.say("%s", show(w.next()))
	}},
	{"messages both ways", func(w *world) {
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			t := msg.(wire.Tuple)
			return c.Send(t[0].(node.PID), t[1].(int)+1)
		}))
		n := 0
		for range 50 {
			w.check(w.me.Send(pid, wire.Tuple{w.me.Self(), n}))
			n = w.next().(int)
		}
		w.say("%d", n)
	}},
	{"a message behind a long one", func(w *world) {
		me := w.me.Self()
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			if b, ok := msg.([]byte); ok {
				return c.Send(me, len(b))
			}
			return c.Send(me, msg)
		}))
		w.check(w.me.Send(pid, make([]byte, 1<<20)))
		w.check(w.me.Send(pid, "behind"))
		w.say("%s", show(w.next()))
		w.say("%s", show(w.next()))
	}},
	{"messages and then the end", func(w *world) {
		me := w.me.Self()
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			for i := range 100 {
				c.Send(me, i)
			}
			return node.ErrStop
		}))
		w.me.Link(pid)
		w.check(w.me.Send(pid, "go"))
		sum := 0
		for m := w.next(); ; m = w.next() {
			if e, ok := m.(node.Exited); ok {
				w.say("%d, %s", sum, show(e.Reason))
				return
			}
			sum += m.(int)
		}
	}},
	{"a message to a name", func(w *world) {
		at := w.named("near_shower", shower(w.me.Self()))
		w.check(w.me.Send(at, 7))
		w.say("%s", show(w.next()))
	}},
	{"a message to an alias", func(w *world) {
		me := w.me.Self()
		aliases := make(chan node.Ref, 2)
		w.startProcess(func(p *node.Process) error {
			aliases <- p.Alias(false)
			aliases <- p.Alias(true)
			for {
				p.Send(me, show(p.Receive()))
			}
		})
		ref, once := hand(w, w.there, testkit.Receive(w.t, aliases)), hand(w, w.there, testkit.Receive(w.t, aliases))
		w.check(w.me.Send(ref, 1))
		w.check(w.me.Send(once, 2))
		w.me.Send(once, "lost")
		w.check(w.me.Send(ref, 3))
		for range 3 {
			w.say("%s", show(w.next()))
		}
	}},
	{"an alias in a message", func(w *world) {
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error { return c.Send(msg.(node.Ref), "for the alias") }))
		alias := w.me.Alias(true)
		w.check(w.me.Send(pid, alias))
		w.say("%s", show(w.next()))
		w.check(w.me.Send(pid, alias))
		w.there.Exit(pid, node.Kill)
		_, err := node.AwaitExit(w.ctx, w.me, pid)
		w.check(err)
		w.check(w.me.Send(w.me.Self(), "last"))
		w.say("%s", show(w.next()))
	}},
	{"a message that is delivered", func(w *world) {
		pid := w.start(shower(w.me.Self()))
		err := node.Deliver(w.ctx, w.me, pid, 1)
		if w.say("%v", err); err != nil {
			return
		}
		w.say("%s", show(w.next()))
		w.there.Exit(pid, node.Kill)
		_, err = node.AwaitExit(w.ctx, w.me, pid)
		w.check(err)
		w.say("%v", node.Deliver(w.ctx, w.me, pid, 1))
		err = node.Deliver(w.ctx, w.me, node.At{Name: "near_nobody", Node: w.there.Name()}, 1)
		w.say("no name %v", errors.Is(err, node.ErrNoName))
	}},
	{"a timer for another process", func(w *world) {
		timer, err := w.me.SendAfter(time.Hour, w.start(shower(w.me.Self())), 7)
		w.check(err)
		_, ok := timer.Cancel()
		w.say("under way %v", ok)
	}},
	{"bytes", func(w *world) {
		pid := w.start(shower(w.me.Self()))
		b := []byte("mine")
		w.check(w.me.SendBytes(pid, b))
		copy(b, "gone")
		w.say("%s", show(w.next()))
	}},
	{"casts", func(w *world) {
		me := w.me.Self()
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			switch m := msg.(type) {
			case node.Cast[int]:
				return c.Send(me, show(m.Body))
			case node.Cast[nearOrder]:
				return c.Send(me, show(m.Body))
			}
			return c.Send(me, fmt.Sprintf("a %T", msg))
		}))
		w.check(w.me.Send(pid, node.Cast[int]{Body: 3}))
		w.check(w.me.Send(pid, node.Cast[nearOrder]{Body: newNearOrder(1)}))
		w.say("%s", show(w.next()))
		w.say("%s", show(w.next()))
	}},
	{"a sender and its receiver know each other", func(w *world) {
		me := w.me.Self()
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			return c.Send(me, wire.Tuple{c.Self(), msg.(node.PID) == me})
		}))
		w.check(w.me.Send(pid, me))
		t := w.next().(wire.Tuple)
		w.say("%v %v", t[0] == pid, t[1])
	}},
	{"a stream with answers", func(w *world) {
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			for i := range msg.(node.Request[int]).Body {
				if err := c.Send(msg.(node.Request[int]).Caller(), i); err != nil {
					return err
				}
			}
			return c.Reply(msg.(node.Request[int]).From, "done")
		}))
		r, err := node.Call[string](w.ctx, w.me, pid, 300)
		w.answer(r, err)
		sum := 0
		for range 300 {
			sum += w.next().(int)
		}
		w.say("%d", sum)
	}},
}
