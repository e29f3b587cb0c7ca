package node_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/wire"
)

// referencePrograms are about references that cross nodes: futures, Froms, aliases, typed addresses.
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
		w.answer(node.Await(w.ctx, w.me, f))
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
		w.answer(node.Await(w.ctx, w.me, f))
		ask[int](w, alias, 1)
	}},
	{"a monitor by an alias", func(w *world) {
		pid, alias := w.aliased(false)
		ref, other := w.me.Monitor(alias), w.me.Monitor(alias)
		w.say("%v", w.me.DemonitorFlush(other))
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
		w.say("%s", testkit.Receive(w.t, waiter))
		w.there.Exit(pid, node.Atom("enough"))
		w.say("%s", testkit.Receive(w.t, waiter))
	}},
	{"an alias that is taken back", func(w *world) {
		pid, alias := w.aliased(false)
		ask[string](w, pid, "unalias")
		ask[int](w, alias, 1)
		ref := w.me.Monitor(alias)
		w.say("%s", show(w.down(ref).Reason))
		ask[int](w, pid, 1)
	}},
	{"a typed address", func(w *world) {
		shelf := w.shelf("")
		w.askRack(shelf)
		w.say("%v", genserver.AddrOf[*nearRack](shelf.PID) == shelf)
	}},
	{"a typed address by a name", func(w *world) {
		shelf := w.shelf("near_rack")
		w.askRack(genserver.AddrOf[*nearRack](node.At{Name: "near_rack", Node: w.there.Name()}))
		at := hand(w, w.there, nearErrand{genserver.AddrOf[*nearRack](node.At{Name: "near_rack", Node: w.there.Name()}), 1})
		w.askRack(at.At)
		w.say("%v", at.At != shelf)
	}},
	{"a typed address that is sent on", func(w *world) {
		errands := node.ActorFunc(func(c *node.Context, msg any) error {
			r := msg.(node.Request[nearErrand])
			n, err := genserver.CallTo(w.ctx, c, r.Body.At, nearTake{Count: r.Body.Count})
			if err != nil {
				return r.Fail(err)
			}
			return r.Reply(n)
		})
		shelf, boy := w.shelf(""), hand(w, w.aside, w.startOn(w.aside, node.Options{}, errands))
		ask[int](w, boy, nearErrand{shelf, 2})
		ask[int](w, boy, nearErrand{shelf, 200})
	}},
	{"a future whose server ends", func(w *world) {
		pid := w.start(node.ActorFunc(func(_ *node.Context, msg any) error {
			if r, ok := msg.(node.Request[string]); ok {
				return r.Reply("here")
			}
			return nil
		}))
		f := node.Async[int](w.me, pid, 1)
		waiter := node.ProcessFunc(func(p *node.Process) error {
			r := node.ReceiveOf[node.Request[*node.Future[int]]](p)
			r.Reply("has it")
			_, err := node.Await(w.ctx, p, r.Body)
			return p.Send(w.me.Self(), fmt.Sprint(err))
		})
		for _, n := range []*node.Node{w.here, w.there, w.aside} {
			ask[string](w, w.startOn(n, node.Options{}, waiter), f)
		}
		ask[string](w, pid, "there?")
		w.there.Exit(pid, node.Atom("enough"))
		for range 3 {
			w.say("%s", show(w.next()))
		}
	}},
	{"a call with a reference", func(w *world) {
		pid := w.start(node.ActorFunc(func(_ *node.Context, msg any) error {
			switch r := msg.(type) {
			case node.Request[node.PID]:
				return r.Reply(fmt.Sprintf("%T %v", msg, r.Body == w.me.Self()))
			case node.Request[node.Ref]:
				return r.Reply(fmt.Sprintf("%T", msg))
			case node.Request[node.At]:
				return r.Reply(fmt.Sprintf("%T %v", msg, r.Body))
			case node.Request[node.From]:
				return r.Reply(fmt.Sprintf("%T %v", msg, r.Body.Caller() == w.me.Self()))
			}
			return fmt.Errorf("a message of type %T", msg)
		}))
		ask[string](w, pid, w.me.Self())
		ask[string](w, pid, w.here.MakeRef())
		ask[string](w, pid, node.At{Name: "a", Node: "b@c"})
		hold := make(chan node.From, 1)
		holder := w.start(node.ActorFunc(func(_ *node.Context, msg any) error { hold <- msg.(node.Request[int]).From; return nil }))
		f := node.Async[int](w.me, holder, 1)
		from := testkit.Receive(w.t, hold)
		r, err := node.Call[string](w.ctx, w.aside, pid, from)
		w.answer(r, err)
		w.check(from.Reply(2))
		w.answer(node.Await(w.ctx, w.me, f))
	}},
	{"a future whose maker has ended", func(w *world) {
		me := w.me.Self()
		hold := make(chan node.From, 1)
		server := w.start(node.ActorFunc(func(_ *node.Context, msg any) error { hold <- msg.(node.Request[int]).From; return nil }))
		maker := w.start(node.ProcessFunc(func(p *node.Process) error {
			return p.Send(me, node.Async[string](p, server, 1))
		}))
		_, err := node.AwaitExit(w.ctx, w.me, maker)
		w.check(err)
		f := w.next().(*node.Future[string])
		w.check(testkit.Receive(w.t, hold).Reply("done"))
		v, err := node.Await(w.ctx, w.me, f)
		w.say("%s %v", v, err)
		v, err = node.Await(w.ctx, w.me, f)
		w.say("%s %v", v, err)
	}},
}

// nearRack is a server that accepts only some types of request.
type nearRack struct{ count int }

type (
	nearTake struct {
		genserver.To[*nearRack, int]
		Count int
	}
	nearFill struct {
		genserver.To[*nearRack, struct{}]
		Count int
	}
	nearErrand struct {
		At    genserver.Addr[*nearRack]
		Count int
	}
)

func init() {
	node.RegisterTypes(node.TypeOf[nearTake]("near.Take"), node.TypeOf[nearFill]("near.Fill"),
		node.TypeOf[nearErrand]("near.Errand"), node.TypeOf[genserver.Addr[*nearRack]]("near.RackAddr"))
}

var nearRacks = genserver.Define(
	genserver.OnCall(func(s *nearRack, _ *genserver.Context, t nearTake) (int, error) {
		if t.Count > s.count {
			return 0, nearLimitError{s.count, "cakes"}
		}
		s.count -= t.Count
		return s.count, nil
	}),
	genserver.OnCast(func(s *nearRack, _ *genserver.Context, f nearFill) error { s.count += f.Count; return nil }),
)

// shelf starts a nearRack there.
func (w *world) shelf(name node.Atom) genserver.Addr[*nearRack] {
	addr, err := nearRacks.StartAddr(w.ctx, w.there, &nearRack{10}, node.Options{Name: name})
	w.check(err)
	w.later(func() { w.there.Exit(addr.PID, node.Kill); node.AwaitExit(w.ctx, w.there, addr.PID) })
	return hand(w, w.there, addr)
}

// askRack reports the results of the requests that a typed address takes.
func (w *world) askRack(shelf genserver.Addr[*nearRack]) {
	n, err := genserver.CallTo(w.ctx, w.me, shelf, nearTake{Count: 3})
	w.answer(n, err)
	w.check(genserver.CastTo(w.me, shelf, nearFill{Count: 5}))
	n, err = node.Await(w.ctx, w.me, genserver.AsyncTo(w.me, shelf, nearTake{Count: 2}))
	w.answer(n, err)
	n, err = genserver.CallTo(w.ctx, w.me, shelf, nearTake{Count: 100})
	w.answer(n, err)
}

// aliased starts a process there, which multiplies, and returns its PID and its alias.
func (w *world) aliased(once bool) (node.PID, node.Ref) {
	aliases := make(chan node.Ref, 1)
	pid := w.startProcess(func(p *node.Process) error {
		alias := aliasOf(p, once)
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
	return pid, hand(w, w.there, testkit.Receive(w.t, aliases))
}

// nearGraph is a value whose parts can refer to the same data.
type nearGraph struct {
	Name       string
	Next       *nearGraph
	Also       *nearGraph
	Data, Same []byte
	By         map[string]*nearGraph
	Any        any
}

// partsPrograms are about messages with many parts, some of which occur in several places.
var partsPrograms = []program{
	{"a value whose parts refer to the same", func(w *world) {
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			t := msg.(wire.Tuple)
			return c.Send(t[0].(node.PID), wire.Tuple{partsOf(t[1].(*nearGraph)), t[1], t[2]})
		}))
		data := bytes.Repeat([]byte("data"), 20_000)
		leaf := &nearGraph{Name: "leaf"}
		g := &nearGraph{Name: "root", Next: leaf, Also: leaf, Data: data, Same: data, By: map[string]*nearGraph{"a": leaf}, Any: leaf}
		w.check(w.me.Send(pid, wire.Tuple{w.me.Self(), g, data}))
		t := w.next().(wire.Tuple)
		w.say("there %s", t[0])
		w.say("here  %s %v", partsOf(t[1].(*nearGraph)), bytes.Equal(t[2].([]byte), data))
	}},
	{"a value with errors in its fields", func(w *world) {
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			t := msg.(wire.Tuple)
			return c.Send(t[0].(node.PID), wire.Tuple{errors.Is(t[1].(*nearTrouble).Deep.All[0], io.EOF), t[1]})
		}))
		w.check(w.me.Send(pid, wire.Tuple{w.me.Self(), newNearTrouble(2)}))
		t := w.next().(wire.Tuple)
		w.say("there %v", t[0])
		w.troubles(t[1].(*nearTrouble))
	}},
	{"errors deep in a message", func(w *world) {
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			t := msg.(wire.Tuple)
			return c.Send(t[0].(node.PID), wire.Tuple{errors.Is(t[1].([]error)[0], io.EOF), t[1], t[2], t[3]})
		}))
		w.check(w.me.Send(pid, wire.Tuple{w.me.Self(), []error{fmt.Errorf("order 7: %w", io.EOF)}, map[string]error{"a": errNearNoCard},
			wire.List{nearLimitError{7, "orders"}}}))
		t := w.next().(wire.Tuple)
		w.say("there %v", t[0])
		w.blame(t[1].([]error)[0])
		w.say("no card %v", t[2].(map[string]error)["a"] == errNearNoCard)
		w.blame(t[3].(wire.List)[0].(error))
	}},
}

// nearTrouble has errors in its fields.
type nearTrouble struct {
	Err  error
	All  []error
	By   map[string]error
	Any  any
	Deep *nearTrouble
}

func newNearTrouble(depth int) *nearTrouble {
	t := &nearTrouble{
		Err: errNearSoldOut, All: []error{fmt.Errorf("order 7: %w", io.EOF), nil, errors.New("plain"), nearLimitError{7, "orders"}},
		By:  map[string]error{"a": errors.Join(errNearNoCard, nearLimitError{1, "cards"}), "b": &node.ExitError{Reason: node.Atom("why")}},
		Any: fmt.Errorf("any: %w", errNearSoldOut),
	}
	if depth > 0 {
		t.Deep = newNearTrouble(depth - 1)
	}
	return t
}

// troubles reports what a program can find in t.
func (w *world) troubles(t *nearTrouble) {
	w.say("%v", t.Err == errNearSoldOut)
	for _, err := range append(t.All, t.Err, t.By["a"], t.By["b"], t.Any.(error)) {
		w.blame(err)
	}
	if t.Deep != nil {
		w.troubles(t.Deep)
	}
}

// partsOf returns the contents of each part of g.
func partsOf(g *nearGraph) string {
	return fmt.Sprint(g.Name, g.Next.Name, g.Also.Name, g.By["a"].Name, g.Any.(*nearGraph).Name, len(g.Data), bytes.Equal(g.Data, g.Same))
}
