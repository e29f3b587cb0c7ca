package node_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/statem"
	"github.com/actornode/actornode/wire"
)

// handedOver is the program for values that go there and come back, through an OTP node if there is one in between.
func handedOver(name string, values ...any) program {
	return program{"a value that is handed over, " + name, func(w *world) {
		me := w.me.Self()
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error { return w.send(c, me, wire.Tuple{show(msg), msg}) }))
		for _, v := range values {
			w.check(w.send(w.me, pid, v))
			t := w.next().(wire.Tuple)
			text, _ := wire.AsText(t[0])
			w.say("there %s", text)
			w.say("here  %s", show(t[1]))
		}
	}}
}

// nearShelf holds values whose types it does not declare.
type nearShelf struct {
	When   time.Time
	Things []any
	By     map[string]any
	Bell   nearKnock
}

// nearPromise holds futures.
type nearPromise struct {
	Lines *node.Future[[]nearLine]
	None  *node.Future[int]
	Any   any
}

func init() {
	node.RegisterTypes(node.TypeOf[nearShelf]("near.Shelf"), node.TypeOf[nearPromise]("near.Promise"))
}

// nearDoor is a state machine.
type nearDoor struct{ code, typed string }

func (d *nearDoor) locked(c *statem.Context, e statem.Event) (statem.State[*nearDoor], error) {
	switch m := e.Content.(type) {
	case nearDigit:
		d.typed += m.Digit
		statem.Reply(c, m, len(d.typed))
		if d.typed == d.code {
			return (*nearDoor).open, nil
		}
	case nearKnock:
		c.Postpone()
	default:
		return nil, statem.ErrUnhandled
	}
	return nil, nil
}

func (d *nearDoor) open(c *statem.Context, e statem.Event) (statem.State[*nearDoor], error) {
	m, ok := e.Content.(nearKnock)
	if !ok {
		return nil, statem.ErrUnhandled
	}
	statem.Reply(c, m, "come in")
	return nil, nil
}

var nearDoors = statem.Define((*nearDoor).locked, (*nearDoor).open)

// otpformPrograms are the programs whose values pass through OTP nodes.
var otpformPrograms = []program{
	{"a call with a boolean", func(w *world) { ask[bool](w, w.serve(nearAdder), true) }},
	{"a call with a struct", func(w *world) { ask[nearReceipt](w, w.serve(nearAdder), newNearOrder(3)) }},
	{"a call with a pointer that is passed on", func(w *world) {
		o := newNearOrder(3)
		ask[*nearOrder](w, w.serve(nearAdder), &o)
	}},
	{"a call with a time", func(w *world) {
		pid := w.serve(node.ActorFunc(func(c *node.Context, msg any) error {
			r := msg.(node.Request[time.Time])
			return c.Reply(r.From, r.Body.Add(time.Hour))
		}))
		ask[time.Time](w, pid, time.Date(2024, 2, 29, 12, 30, 0, 123456789, time.UTC))
	}},
	{"a call whose caller is an actor", func(w *world) {
		pid := w.serve(nearAdder)
		me := w.me.Self()
		caller, err := w.here.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			if r, ok := msg.(node.Result); ok {
				return c.Send(me, fmt.Sprintf("%v: %s, %v", r.Tag, show(r.Value), r.Err))
			}
			node.SendRequest(c, pid, "first", 1)
			node.SendRequest(c, pid, "second", newNearOrder(2))
			return nil
		}))
		w.check(err)
		w.later(func() { w.here.Exit(caller, node.Kill) })
		w.check(w.me.Send(caller, "go"))
		w.say("%s", show(w.next()))
		w.say("%s", show(w.next()))
	}},
	{"a call seen by AsRequest", func(w *world) {
		pid := w.serve(node.ActorFunc(func(c *node.Context, msg any) error {
			r, ok := c.Node().AsRequest(msg)
			return c.Reply(r.From, fmt.Sprint(ok, " ", show(r.Body)))
		}))
		ask[string](w, pid, newNearOrder(1))
		ask[string](w, pid, 7)
	}},
	{"a call of a body that nobody handles", func(w *world) {
		pid := w.serve(genTill())
		_, err := node.Call[int](w.ctx, w.me, pid, nearReceipt{Item: "tea"})
		w.say("%v", err)
		_, err = node.Call[int](w.ctx, w.me, pid, true)
		w.say("%v", err)
		var u *genserver.UnhandledError
		if errors.As(err, &u) {
			w.say("%s %s %q", u.Server, show(u.Request), u.Takes)
		}
		_, err = node.Call[int](w.ctx, w.me, w.serve(nearDoors.New(&nearDoor{})), nearReceipt{})
		w.say("%v %v", err, errors.As(err, &u))
	}},
	{"a From in a struct that is handed on", func(w *world) {
		worker := w.startOn(w.aside, node.Options{}, node.ActorFunc(func(_ *node.Context, msg any) error {
			j := msg.(nearJob)
			return j.For.Reply(j.Number * 3)
		}))
		ask[int](w, w.serve(node.ActorFunc(func(c *node.Context, msg any) error {
			r := msg.(node.Request[int])
			return w.send(c, worker, nearJob{r.Body, r.From})
		})), 5)
	}},
	{"a server that answers later", func(w *world) {
		pid := w.serve(genTill())
		f := genserver.Async(w.me, pid, nearLater{})
		w.check(genserver.Cast(w.me, pid, nearAlarm{"fire"}))
		w.answer(node.Await(w.ctx, w.me, f))
	}},
	{"a machine", func(w *world) {
		pid := w.serve(nearDoors.New(&nearDoor{code: "42"}))
		knock := genserver.Async(w.me, pid, nearKnock{})
		for _, d := range []string{"4", "2"} {
			n, err := genserver.Call(w.ctx, w.me, pid, nearDigit{Digit: d})
			w.answer(n, err)
		}
		w.answer(node.Await(w.ctx, w.me, knock))
	}},
	{"a function that fails", func(w *world) {
		e := wire.Export{Module: "near", Function: "fails", Arity: 1}
		w.check(rpc.Export(w.there, e, func(_ context.Context, args []any) (any, error) {
			how, _ := wire.AsText(args[0])
			return nil, nearError(how)
		}))
		w.later(func() { rpc.Unexport(w.there, e) })
		for _, how := range []string{"plain", "sentinel", "wrapped", "typed", "joined", "of two", "a panic"} {
			_, err := rpc.Call[int](w.ctx, w.me, w.there.Name(), "near", "fails", how)
			w.blame(err)
			var raised *rpc.Error
			w.say("%v", errors.As(err, &raised) && raised.Class == wire.AtomError)
		}
	}},
	{"a future that is handed over", func(w *world) {
		hold := make(chan node.From, 3)
		server := w.serve(node.ActorFunc(func(_ *node.Context, msg any) error {
			r, _ := w.there.AsRequest(msg)
			hold <- r.From
			return nil
		}))
		count := node.Async[int](w.me, server, 1)
		receipt := node.Async[nearReceipt](w.me, server, 2)
		lines := node.Async[[]nearLine](w.me, server, 3)
		froms := []node.From{testkit.Receive(w.t, hold), testkit.Receive(w.t, hold), testkit.Receive(w.t, hold)}
		me := w.me.Self()
		reader := node.ProcessFunc(func(p *node.Process) error {
			r := node.ReceiveOf[node.Request[*node.Future[int]]](p)
			if err := r.Reply("has it"); err != nil {
				return err
			}
			got := node.ReceiveOf[wire.Tuple](p)
			m := got[1].(nearPromise)
			number, err1 := node.Await(w.ctx, p, r.Body)
			paid, err2 := node.Await(w.ctx, p, got[0].(*node.Future[nearReceipt]))
			again, err3 := node.Await(w.ctx, p, m.Any.(*node.Future[int]))
			_, err4 := node.Await(w.ctx, p, m.Lines)
			return p.Send(me, fmt.Sprint(number, err1, paid, err2, m.None == nil, again, err3, err4))
		})
		for _, n := range []*node.Node{w.here, w.there, w.aside} {
			pid := w.startOn(n, node.Options{}, reader)
			ask[string](w, w.relay(pid), count)
			w.check(w.send(w.me, pid, wire.Tuple{receipt, nearPromise{lines, nil, count}}))
		}
		w.check(froms[0].Reply(7))
		w.check(froms[1].Reply(nearReceipt{Item: "tea"}))
		w.check(froms[2].Fail(errNearSoldOut))
		for range 3 {
			w.say("%s", show(w.next()))
		}
		back := hand(w, w.here, count)
		n, err := node.Await(w.ctx, w.here, back)
		w.say("%d %v", n, err)
	}},
	handedOver("a struct", newNearOrder(1), nearReceipt{}),
	handedOver("a pointer to a struct", new(newNearOrder(2)), &nearReceipt{}),
	handedOver("a struct without fields", nearKnock{}, nearLater{}, &nearKnock{}),
	handedOver("a time", time.Date(2024, 2, 29, 12, 30, 0, 123456789, time.UTC), time.Time{}),
	handedOver("a tree", nearTree{node.Atom("root"),
		&nearTree{Value: 1}, &nearTree{nearReceipt{Item: "tea"}, &nearTree{Value: &nearLine{"x"}}, nil}}),
	handedOver("a struct in terms", wire.Tuple{node.Atom("order"), newNearOrder(1), wire.List{1, nearReceipt{}, &nearLine{}}}),
	handedOver("a struct of any", nearShelf{When: time.Unix(1, 0).UTC(), Things: []any{
		nearReceipt{}, &nearLine{"x"}, nearKnock{}, time.Unix(2, 0).UTC(), 7, node.Atom("a"), []any{nearReceipt{}}},
		By: map[string]any{"a": nearReceipt{}, "b": 2.5}}),
	{"an error in a struct that is handed over", func(w *world) {
		me := w.me.Self()
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error { return w.send(c, me, msg) }))
		w.check(w.send(w.me, pid, nearShelf{Things: []any{nearError("joined"), fmt.Errorf("shelf: %w", io.EOF)}}))
		shelf := w.next().(nearShelf)
		for _, err := range shelf.Things {
			w.blame(err.(error))
		}
	}},
	handedOver("an error", nearLimitError{3, "cakes"}, fmt.Errorf("shop: %w", nearLimitError{3, "cakes"})),
}
