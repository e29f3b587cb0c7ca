package node_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// nearTill is a server with a state.
type nearTill struct {
	sum  int
	keep []node.From
}

type (
	nearPay struct {
		genserver.Returns[int]
		Amount int
	}
	nearLater struct{ genserver.Returns[string] }
	nearAlarm struct{ What string }
)

func (t *nearTill) pay(c *genserver.Context, p nearPay) (int, error) {
	switch {
	case p.Amount < 0:
		return 0, nearLimitError{t.sum, "money"}
	case p.Amount == 0:
		c.Stop(node.Atom("closed"))
	}
	t.sum += p.Amount
	return t.sum, nil
}

func (t *nearTill) later(c *genserver.Context, _ nearLater) (string, error) {
	t.keep = append(t.keep, c.From())
	return "", genserver.ErrReplyLater
}

func (t *nearTill) cast(c *genserver.Context, a nearAlarm) error {
	for _, from := range t.keep {
		c.Reply(from, a.What)
	}
	t.keep = nil
	return nil
}

func (t *nearTill) Term() any { return wire.Tuple{node.Atom("till"), t.sum} }

var nearTills = genserver.Define(genserver.OnCall((*nearTill).pay), genserver.OnCall((*nearTill).later),
	genserver.OnCast((*nearTill).cast))

func genTill() node.Actor { return nearTills.New(&nearTill{}) }

type (
	nearDigit struct {
		genserver.Returns[int]
		Digit string
	}
	nearKnock struct{ genserver.Returns[string] }
)

var behaviourPrograms = []program{
	{"a server", func(w *world) {
		pid := w.serve(genTill())
		for _, amount := range []int{5, 7, -1} {
			n, err := genserver.Call(w.ctx, w.me, pid, nearPay{Amount: amount})
			w.answer(n, err)
		}
	}},

	{"a supervisor", func(w *world) {
		sup := w.start(supervisor.New(supervisor.Spec{Intensity: 10, Children: []supervisor.Child{
			{ID: node.Atom("till"), Options: node.Options{Name: "near_child"},
				Start: func(...any) (node.Actor, error) { return genTill(), nil }},
		}}))
		at := node.At{Name: "near_child", Node: w.there.Name()}
		n, err := genserver.Call(w.ctx, w.me, at, nearPay{Amount: 3})
		w.answer(n, err)
		w.children(sup)
		_, err = genserver.Call(w.ctx, w.me, at, nearPay{}) // it ends, and is restarted
		w.answer(nil, err)
		testkit.Until(w.t, func() string {
			if n, err := genserver.Call(w.ctx, w.me, at, nearPay{Amount: 2}); n != 2 || err != nil {
				return fmt.Sprint(n, err)
			}
			return ""
		})
		w.children(sup)
		w.say("%v", supervisor.TerminateChild(w.ctx, w.me, sup, node.Atom("till")))
		w.children(sup)
		_, err = supervisor.RestartChild(w.ctx, w.me, sup, node.Atom("till"))
		w.say("%v", err)
		w.say("not found %v", errors.Is(supervisor.TerminateChild(w.ctx, w.me, sup, node.Atom("nobody")), supervisor.ErrNotFound))
		counts, err := supervisor.CountChildren(w.ctx, w.me, sup)
		w.say("%+v %v", counts, err)
	}},

	{"a server that stops with an answer", func(w *world) {
		pid := w.start(genTill())
		ref := w.me.Monitor(pid)
		n, err := genserver.Call(w.ctx, w.me, pid, nearPay{})
		w.answer(n, err)
		w.say("%s", show(w.down(ref).Reason))
	}},
	{"a server by its name", func(w *world) {
		n, err := genserver.Call(w.ctx, w.me, w.named("near_till", genTill()), nearPay{Amount: 3})
		w.answer(n, err)
	}},
	{"a server that is stopped", func(w *world) {
		pid := w.start(genTill())
		ref := w.me.Monitor(pid)
		w.say("%v", sys.Stop(w.ctx, w.me, pid, node.Shutdown))
		w.say("%s", show(w.down(ref).Reason))
	}},
	{"a server that is suspended", func(w *world) {
		pid := w.start(genTill())
		w.check(sys.Suspend(w.ctx, w.me, pid))
		f := genserver.Async(w.me, pid, nearPay{Amount: 3})
		w.check(sys.Resume(w.ctx, w.me, pid))
		w.answer(node.Await(w.ctx, w.me, f))
	}},
	{"a subscription to events", func(w *world) {
		pid := w.start(event.New(event.Config{}))
		s, err := event.Subscribe[nearAlarm](w.ctx, w.there, pid, 8)
		w.check(err)
		defer s.Close()
		for _, what := range []string{"fire", "flood"} {
			w.check(event.Notify(w.me, pid, nearAlarm{what}))
			w.say("%s", show(testkit.Receive(w.t, s.C)))
		}
	}},
	{"a supervisor's child by its name", func(w *world) {
		w.export("near", "till", 1, func(args []any) (node.Actor, error) { return nearTills.New(&nearTill{sum: args[0].(int)}), nil })
		sup := w.start(supervisor.New(supervisor.Spec{}))
		child := supervisor.Child{ID: node.Atom("till"), Named: supervisor.Named{Module: "near", Function: "till", Args: []any{40}}}
		pid, err := supervisor.StartChild(w.ctx, w.me, sup, child)
		w.check(err)
		n, err := genserver.Call(w.ctx, w.me, pid, nearPay{Amount: 2})
		w.answer(n, err)
		_, err = supervisor.StartChild(w.ctx, w.me, sup, child)
		var already *supervisor.AlreadyStartedError
		w.say("%v", errors.As(err, &already) && already.PID == pid)
		w.children(sup)
	}},
	{"a supervisor's children of one sort", func(w *world) {
		sup := w.start(supervisor.New(supervisor.Spec{Strategy: supervisor.SimpleOneForOne, Children: []supervisor.Child{
			{ID: "till", Start: func(args ...any) (node.Actor, error) { return nearTills.New(&nearTill{sum: args[0].(int)}), nil }},
		}}))
		for i := range 3 {
			pid, err := supervisor.StartDynamic(w.ctx, w.me, sup, i)
			w.check(err)
			n, err := genserver.Call(w.ctx, w.me, pid, nearPay{Amount: 10})
			w.answer(n, err)
		}
		counts, err := supervisor.CountChildren(w.ctx, w.me, sup)
		w.say("%+v %v", counts, err)
	}},
	{"a child whose id is a string", func(w *world) {
		sup := w.start(supervisor.New(supervisor.Spec{Children: []supervisor.Child{
			{ID: "savings", Start: func(...any) (node.Actor, error) { return genTill(), nil }}}}))
		w.children(sup)
	}},
	{"a child of a supervisor elsewhere", func(w *world) {
		w.export("near", "till", 1, func(args []any) (node.Actor, error) { return nearTills.New(&nearTill{sum: args[0].(int)}), nil })
		sup, err := supervisor.Start(w.ctx, w.here, supervisor.Spec{Intensity: 10}, node.Options{})
		w.check(err)
		w.later(func() { w.here.Exit(sup, node.Kill) })
		from := node.ProcessFunc(func(p *node.Process) error {
			sup := node.ReceiveOf[node.PID](p)
			_, err := supervisor.WhichChildren(w.ctx, p, sup)
			return p.Send(w.me.Self(), fmt.Sprint(err))
		})
		w.check(w.me.Send(w.start(from), sup))
		w.say("%s", show(w.next()))
	}},
}

// children says which children a supervisor has.
func (w *world) children(sup node.PID) {
	all, err := supervisor.WhichChildren(w.ctx, w.me, sup)
	w.check(err)
	for _, c := range all {
		w.say("%s %v %v %v", show(c.ID), c.PID != node.PID{}, c.Type, c.Modules)
	}
}

// export exports a behaviour there until the run is over.
func (w *world) export(module, function node.Atom, arity int, b rpc.Behaviour) {
	e := wire.Export{Module: module, Function: function, Arity: arity}
	w.check(rpc.ExportBehaviour(w.there, e, b))
	w.later(func() { rpc.Unexport(w.there, e) })
}

var groupPrograms = []program{
	{"a group", func(w *world) {
		there, err := pg.Start(w.ctx, w.there, pg.Config{Name: "near_groups"})
		w.check(err)
		here := there
		if w.here != w.there {
			here, err = pg.Start(w.ctx, w.here, pg.Config{Name: "near_groups"})
			w.check(err)
		}
		w.later(func() {
			for _, n := range []*node.Node{w.here, w.there} {
				if pid, ok := n.Whereis("near_groups"); ok {
					n.Exit(pid, node.Kill)
					node.AwaitExit(w.ctx, n, pid)
				}
			}
		})
		group := wire.Tuple{node.Atom("bakers"), 7}
		ref, members, err := here.Monitor(w.ctx, w.me, group)
		w.check(err)
		w.say("%d", len(members))
		pid := w.start(shower(w.me.Self()))
		w.check(there.Join(w.ctx, w.there, group, pid, pid))
		changes := 0
		for changes < 2 {
			c := w.next().(pg.Change)
			w.say("%v %v %v", c.Ref == ref, c.Join, slices.Equal(c.PIDs, []node.PID{pid, pid}))
			changes += len(c.PIDs)
		}
		w.say("%v %v", slices.Equal(here.Members(group), []node.PID{pid, pid}), here.Groups())
		for p := range here.Each(group) {
			w.check(w.me.Send(p, "hello"))
			w.say("%s", show(w.next()))
		}
		w.check(there.Leave(w.ctx, w.there, group, pid))
		w.say("%v", w.next().(pg.Change).Join)
		w.there.Exit(pid, node.Kill)
		w.say("%v", w.next().(pg.Change).Join)
		w.say("%d", len(here.Members(group)))
	}},
	{"a name that is looked for", func(w *world) {
		at := w.named("near_known", nearAdder)
		pid, err := rpc.Call[node.PID](w.ctx, w.me, w.there.Name(), "erlang", "whereis", node.Atom("near_known"))
		w.check(err)
		ask[int](w, pid, 1)
		ask[int](w, at, 1)
	}},
	{"a process that is spawned by name", func(w *world) {
		w.export("near", "till", 1, func(args []any) (node.Actor, error) { return nearTills.New(&nearTill{sum: args[0].(int)}), nil })
		pid, err := rpc.Spawn(w.ctx, w.me, w.there.Name(), "near", "till", 40)
		w.check(err)
		w.later(func() { w.there.Exit(pid, node.Kill) })
		n, err := genserver.Call(w.ctx, w.me, pid, nearPay{Amount: 2})
		w.answer(n, err)
		w.say("%v", pid.Node() == w.there.Name())
		_, err = rpc.Spawn(w.ctx, w.me, w.there.Name(), "near", "nobody", 40)
		w.say("%v", err)
	}},
	{"arguments of a spawn", func(w *world) {
		w.export("near", "shows", 4, func(args []any) (node.Actor, error) {
			return node.ProcessFunc(func(p *node.Process) error {
				to := args[0].(node.PID)
				for _, a := range args[1:] {
					p.Send(to, show(a))
				}
				return nil
			}), nil
		})
		_, err := rpc.Spawn(w.ctx, w.me, w.there.Name(), "near", "shows", w.me.Self(), newNearOrder(1), int64(7), []string{"a"})
		w.check(err)
		for range 3 {
			w.say("%s", show(w.next()))
		}
	}},
}
