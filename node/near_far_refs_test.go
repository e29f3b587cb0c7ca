package node_test

import (
	"errors"
	"fmt"
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
	{"a call by an alias", func(w *world) {
		_, alias := w.aliased(false)
		ask[int](w, alias, 4)
		w.check(w.me.Send(alias, 5)) // goes before the call
		ask[int](w, alias, 6)
		f := node.Async[int](w.me, alias, 7)
		w.answer(f.Await(w.ctx))
		node.SendRequest(w.me, alias, "tag", 8)
		w.say("%s", show(w.next()))
	}},
	{"a call by an alias for one message", func(w *world) {
		pid, alias := w.aliased(true)
		ask[int](w, alias, 4)
		ask[int](w, alias, 5)
		ask[int](w, pid, 6)
	}},
	{"a call by an alias of a process that ends", func(w *world) {
		pid, alias := w.aliased(false)
		f := node.Async[int](w.me, alias, -1) // is not answered
		ask[int](w, alias, 1)
		w.there.Exit(pid, node.Atom("enough"))
		w.answer(f.Await(w.ctx))
		ask[int](w, alias, 1)
	}},
	{"a monitor by an alias", func(w *world) {
		pid, alias := w.aliased(false)
		ref, other := w.me.Monitor(alias), w.me.Monitor(alias)
		w.say("%v", w.me.Demonitor(other, true))
		ask[int](w, alias, 1)
		w.there.Exit(pid, node.Atom("enough"))
		down := w.down(ref)
		w.say("%v %v %s", down.PID == pid, down.Name, show(down.Reason))
		down = w.down(w.me.Monitor(alias))
		w.say("%v %v %s", down.PID, down.Name, show(down.Reason))
		reason, err := node.AwaitExit(w.ctx, w.me, alias)
		w.say("%s %v", show(reason), err)
	}},
	{"waiting for an exit by an alias", func(w *world) {
		pid, alias := w.aliased(false)
		waiter := make(chan string)
		go func() {
			h, err := w.here.Open()
			if err != nil {
				waiter <- err.Error()
				return
			}
			defer h.Close(nil)
			waiter <- "waits"
			reason, err := node.AwaitExit(w.ctx, h, alias)
			waiter <- fmt.Sprint(reason == any(node.Atom("enough")) || reason == node.NoProc, err)
		}()
		w.say("%s", arrival(w, waiter))
		w.there.Exit(pid, node.Atom("enough"))
		w.say("%s", arrival(w, waiter))
	}},
	{"an alias that is taken back", func(w *world) {
		pid, alias := w.aliased(false)
		ask[string](w, pid, "unalias")
		ask[int](w, alias, 1)
		ref := w.me.Monitor(alias)
		w.say("%s", show(w.down(ref).Reason))
		ask[int](w, pid, 1)
	}},
}

// aliased starts a process there, which multiplies, and returns its alias, too.
func (w *world) aliased(once bool) (node.PID, node.Ref) {
	aliases := make(chan node.Ref, 1)
	pid := w.startProcess(func(p *node.Process) error {
		alias := p.Alias(once)
		aliases <- alias
		sum := 0
		for {
			switch m := p.Receive().(type) {
			case int:
				sum += m
			case node.Request[string]:
				m.Reply(fmt.Sprint(p.Unalias(alias)))
			case node.Request[int]:
				if m.Body > 0 {
					m.Reply(m.Body*10 + sum)
				}
			}
		}
	})
	return pid, hand(w, w.there, arrival(w, aliases))
}
