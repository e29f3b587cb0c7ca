package node_test

import (
	"errors"
	"strings"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/event"
)

// referencePrograms are about references that travel: futures, Froms, aliases, typed references.
var referencePrograms = []program{
	{"a call of nobody's name", func(w *world) {
		_, err := node.Call[int](w.ctx, w.me, node.At{Name: "near_nobody", Node: w.there.Name()}, 1)
		w.say("no process %v, no name %v", errors.Is(err, node.ErrNoProcess), errors.Is(err, node.ErrNoName))
	}},
	{"a future that is sent to another process", func(w *world) {
		f := node.Async[int](w.me, w.serve(nearAdder), 1)
		other := w.start(shower(w.me.Self()))
		f.SendTo(other, "done")
		w.say("%s", show(w.next()))
	}},
	{"a manager of events", func(w *world) {
		me := w.me.Self()
		pid := w.start(event.New(event.Config{Modules: map[node.Atom]func(any) (event.Handler, error){
			"teller": func(any) (event.Handler, error) {
				return event.Func(func(c *event.Context, a nearAlarm) error { return c.Send(me, "alarm: "+a.What) }), nil
			},
		}}))
		w.check(event.Add(w.ctx, w.there, pid, event.ID{Module: "own"}, event.Func(func(c *event.Context, a nearAlarm) error {
			return c.Send(me, "own: "+a.What)
		})))
		w.check(event.Notify(w.me, pid, nearAlarm{"fire"}))
		w.say("%s", show(w.next()))
		w.check(event.SyncNotify(w.ctx, w.me, pid, nearAlarm{"flood"}))
		w.say("%s", show(w.next()))
		ids, err := event.Handlers(w.ctx, w.me, pid)
		w.check(err)
		w.say("%v", ids)
		_, err = event.Call[int](w.ctx, w.me, pid, event.ID{Module: "own"}, "how many?")
		w.say("no calls %v", errors.Is(err, event.ErrNoCalls))
		_, err = event.Call[int](w.ctx, w.me, pid, event.ID{Module: "nobody"}, "how many?")
		w.say("no handler %v", errors.Is(err, event.ErrNoHandler))
		_, err = event.Delete(w.ctx, w.me, pid, event.ID{Module: "own"}, nil)
		w.say("%v", err)
	}},
	{"messages of the node that are sent on", func(w *world) {
		other := w.start(shower(w.me.Self()))
		pid := w.start(node.ActorFunc(func(*node.Context, any) error { return node.ErrStop }))
		ref := w.me.Monitor(pid)
		w.check(w.me.Send(pid, "end"))
		down := w.down(ref)
		for _, m := range []any{down, node.Exited{From: pid, Reason: node.Shutdown}, node.NodeDown{Node: "a@b", Reason: "gone"},
			node.At{Name: "a", Node: "b@c"}, node.Result{Tag: 1, Err: errNearSoldOut}} {
			w.check(w.me.Send(other, m))
			kind, _, _ := strings.Cut(w.next().(string), " ")
			w.say("%s", kind)
		}
	}},
}
