package node_test

import (
	"errors"
	"fmt"
	"io"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/wire"
)

var (
	errNearSoldOut = errors.New("sold out")
	errNearNoCard  = errors.New("no card")
)

// nearLimitError is an error with its own type.
type nearLimitError struct {
	Limit int
	What  string
}

func (e nearLimitError) Error() string { return fmt.Sprintf("%s: %d at most", e.What, e.Limit) }

// nearFailing answers with the error of a number.
type nearFailing struct{}

type nearFail struct {
	genserver.Returns[int]
	How string
}

func nearError(how string) error {
	switch how {
	case "plain":
		return errors.New("empty job")
	case "sentinel":
		return errNearSoldOut
	case "wrapped":
		return fmt.Errorf("order 7: %w", errNearSoldOut)
	case "twice wrapped":
		return fmt.Errorf("shop: %w", fmt.Errorf("order 7: %w", io.EOF))
	case "typed":
		return nearLimitError{7, "orders"}
	case "typed and wrapped":
		return fmt.Errorf("shop: %w", nearLimitError{7, "orders"})
	case "joined":
		return errors.Join(errNearSoldOut, errNearNoCard, nearLimitError{1, "cards"})
	case "of the node":
		return node.ErrTimeout
	case "of two":
		return fmt.Errorf("%w, %w", errNearSoldOut, io.EOF)
	}
	panic("bad job: " + how)
}

func (*nearFailing) fail(_ *genserver.Context, r nearFail) (int, error) { return 0, nearError(r.How) }

var nearFailings = genserver.Define(genserver.OnCall((*nearFailing).fail))

// blame reports what a program can find in an error.
func (w *world) blame(err error) {
	var limit nearLimitError
	var exit *node.ExitError
	var crash *node.Crash
	w.say("%v", err)
	w.say("sold out %v, no card %v, EOF %v, timeout %v", errors.Is(err, errNearSoldOut), errors.Is(err, errNearNoCard),
		errors.Is(err, io.EOF), errors.Is(err, node.ErrTimeout))
	if errors.As(err, &limit) {
		w.say("limit %s", show(limit.Limit)+" "+limit.What)
	}
	if errors.As(err, &exit) {
		w.say("exit %s", show(exit.Reason))
		crash, _ = exit.Reason.(*node.Crash)
	}
	if crash != nil {
		_, isError := crash.Reason.(error)
		w.say("crash of an error %v, %v", isError, crash)
	}
}

// answersWith is the program for one error of a server.
func answersWith(how string) program {
	return program{"an error that is " + how, func(w *world) {
		_, err := genserver.Call(w.ctx, w.me, w.serve(nearFailings.New(&nearFailing{})), nearFail{How: how})
		w.blame(err)
	}}
}

// crashing is the program for one way that a process crashes.
func crashing(name string, crash func() error) program {
	return program{"a crash by " + name, func(w *world) {
		pid := w.start(node.ActorFunc(func(*node.Context, any) error { return crash() }))
		ref := w.me.Monitor(pid)
		_, err := node.Call[int](w.ctx, w.me, pid, 1)
		w.blame(err)
		d := w.next().(node.Down)
		w.say("%v", d.Ref == ref)
		err, _ = d.Reason.(error)
		w.say("%s, sold out %v", show(d.Reason), errors.Is(err, errNearSoldOut))
		if c, ok := d.Reason.(*node.Crash); ok {
			w.say("sold out %v", errors.Is(c.Unwrap(), errNearSoldOut))
		}
	}}
}

// nearBreak panics when it is given no map.
func nearBreak(m map[string]int) { m["a"] = 1 }

var errorPrograms = []program{
	answersWith("plain"),

	answersWith("sentinel"),

	answersWith("wrapped"),

	answersWith("twice wrapped"),

	answersWith("typed"),

	answersWith("typed and wrapped"),

	answersWith("joined"),

	answersWith("of the node"),

	answersWith("of two"),

	answersWith("a panic"),

	crashing("a panic with a text", func() error { panic("bad cake") }),

	crashing("a panic with an error", func() error { panic(fmt.Errorf("bad cake: %w", errNearSoldOut)) }),

	crashing("a panic with a number", func() error { panic(7) }),

	crashing("a panic of the runtime", func() error {
		nearBreak(nil)
		return nil
	}),

	crashing("an error", func() error { return errors.New("no flour") }),

	crashing("a wrapped error", func() error { return fmt.Errorf("bakery: %w", errNearSoldOut) }),

	{"an error in a message", func(w *world) {
		me := w.me.Self()
		pid := w.start(node.ActorFunc(func(c *node.Context, _ any) error {
			c.Send(me, fmt.Errorf("shop: %w", errNearSoldOut))
			return c.Send(me, nearLimitError{3, "cakes"})
		}))
		w.check(w.me.Send(pid, "go"))
		for range 2 {
			err, _ := w.next().(error)
			w.blame(err)
		}
	}},

	{"an error by Fail", func(w *world) {
		pid := w.serve(node.ActorFunc(func(_ *node.Context, msg any) error {
			return msg.(node.Request[int]).Fail(nearError("joined"))
		}))
		_, err := node.Call[int](w.ctx, w.me, pid, 1)
		w.blame(err)
	}},

	{"an error in a reply", func(w *world) {
		pid := w.serve(node.ActorFunc(func(_ *node.Context, msg any) error {
			return msg.(node.Request[int]).Reply(nearError("wrapped"))
		}))
		r, err := node.Call[error](w.ctx, w.me, pid, 1)
		w.check(err)
		w.blame(r)
	}},
}

// waiting is a process that ends with the reason that it is sent.
var waiting node.ActorFunc = func(_ *node.Context, msg any) error {
	if msg == "stop" {
		return node.ErrStop
	}
	return node.ExitWith(msg)
}

// exiting is the program for one exit reason, as links and monitors see it.
func exiting(name string, reason any) program {
	return program{"an exit with " + name, func(w *world) {
		pid := w.start(node.ActorFunc(func(*node.Context, any) error { return node.ExitWith(reason) }))
		ref := w.me.Monitor(pid)
		w.me.Link(pid)
		w.check(w.me.Send(pid, "end"))
		down := w.down(ref)
		w.say("down %v %s", down.PID == pid, show(down.Reason))
		m, ok := w.next().(node.Exited)
		w.say("exited %v %v %s", ok, m.From == pid, show(m.Reason))
	}}
}

var exitPrograms = []program{
	exiting("a sentinel", errNearSoldOut),

	exiting("a wrapped error", fmt.Errorf("shop: %w", errNearSoldOut)),

	exiting("normal", node.Normal),
	exiting("shutdown", node.Shutdown),
	exiting("an atom", node.Atom("flour")),
	exiting("a tuple", wire.Tuple{node.Atom("no"), 3}),
	exiting("a string", "no flour"),
	exiting("a number", 7),
	exiting("a struct", nearReceipt{"tea", 3, 7.5}),
	exiting("a typed error", nearLimitError{1, "cakes"}),
	exiting("nothing", nil),
	{"a monitor of who is dead", func(w *world) {
		pid := w.start(waiting)
		w.there.Exit(pid, node.Kill)
		_, err := node.AwaitExit(w.ctx, w.me, pid)
		w.check(err)
		ref := w.me.Monitor(pid)
		w.say("%s", show(w.down(ref).Reason))
	}},
	{"a monitor of nobody's name", func(w *world) {
		ref := w.me.Monitor(node.At{Name: "near_nobody", Node: w.there.Name()})
		d := w.down(ref)
		w.say("%s %s %v", show(d.Reason), d.Name, d.Node == w.there.Name())
	}},
	{"a monitor by name", func(w *world) {
		at := w.named("near_watched", waiting)
		ref := w.me.Monitor(at)
		w.check(w.me.Send(at, node.Atom("flour")))
		d := w.down(ref)
		w.say("%s %s %v", show(d.Reason), d.Name, d.Node == w.there.Name())
	}},
	{"a monitor that is taken back", func(w *world) {
		pid := w.start(waiting)
		ref := w.me.Monitor(pid)
		w.say("%v", w.me.DemonitorFlush(ref))
		other := w.me.Monitor(pid)
		w.check(w.me.Send(pid, "stop"))
		w.say("%v", w.next().(node.Down).Ref == other)
	}},
	{"many monitors of one process", func(w *world) {
		pid := w.start(waiting)
		refs := make(map[node.Ref]bool)
		for range 10 {
			refs[w.me.Monitor(pid)] = true
		}
		w.check(w.me.Send(pid, "stop"))
		for range 10 {
			delete(refs, w.next().(node.Down).Ref)
		}
		w.say("%d without a Down", len(refs))
	}},
	{"a link of who is dead", func(w *world) {
		pid := w.start(waiting)
		w.there.Exit(pid, node.Kill)
		_, err := node.AwaitExit(w.ctx, w.me, pid)
		w.check(err)
		w.me.Link(pid)
		m := w.next().(node.Exited)
		w.say("%v %s", m.From == pid, show(m.Reason))
	}},
	{"a link that is taken back", func(w *world) {
		pid := w.start(waiting)
		ref := w.me.Monitor(pid)
		w.me.Link(pid)
		w.me.Unlink(pid)
		w.check(w.me.Send(pid, node.Atom("flour")))
		m := w.next().(node.Down)
		w.say("%v %s", m.Ref == ref, show(m.Reason))
		w.check(w.me.Send(w.me.Self(), "last"))
		w.say("%s", show(w.next()))
	}},
	{"a link that breaks there", func(w *world) {
		me := w.me.Self()
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			c.Link(msg.(node.PID))
			return c.Send(me, "linked")
		}))
		linked, err := w.here.Spawn(waiting)
		w.check(err)
		here, there := w.me.Monitor(linked), w.me.Monitor(pid)
		w.check(w.me.Send(pid, linked))
		w.say("%s", show(w.next()))
		w.check(w.me.Send(linked, node.Atom("flour")))
		w.say("%s", show(w.down(here).Reason))
		w.say("%s", show(w.down(there).Reason))
	}},
	{"a link of who traps exits", func(w *world) {
		me := w.me.Self()
		trapping := make(chan struct{})
		pid := w.startProcess(func(p *node.Process) error {
			p.TrapExit(true)
			close(trapping)
			e := node.ReceiveOf[node.Exited](p)
			return p.Send(me, fmt.Sprint(e.From == me, " ", show(e.Reason)))
		})
		testkit.Receive(w.t, trapping)
		w.me.Exit(pid, nearReceipt{"tea", 1, 2.5})
		w.say("%s", show(w.next()))
	}},
	{"an exit signal", func(w *world) {
		pid := w.start(waiting)
		ref := w.me.Monitor(pid)
		w.me.Exit(pid, node.Normal) // ignored
		w.me.Exit(pid, node.Atom("flour"))
		w.say("%s", show(w.down(ref).Reason))
	}},
	{"an exit signal that kills", func(w *world) {
		pid := w.start(waiting)
		ref := w.me.Monitor(pid)
		w.me.Exit(pid, node.Kill)
		w.say("%s", show(w.down(ref).Reason))
	}},
	{"waiting for an exit", func(w *world) {
		pid := w.start(waiting)
		ref := w.me.Monitor(pid)
		w.check(w.me.Send(pid, node.Atom("flour")))
		w.say("%s", show(w.down(ref).Reason))
		reason, err := node.AwaitExit(w.ctx, w.here, pid)
		w.say("%s %v", show(reason), err)
	}},
	{"a call of who ends meanwhile", func(w *world) {
		pid := w.serve(node.ActorFunc(func(*node.Context, any) error { return node.ExitWith(node.Atom("flour")) }))
		_, err := node.Call[int](w.ctx, w.me, pid, 1)
		var exit *node.ExitError
		w.say("%v %v", err, errors.As(err, &exit))
		w.say("%s", show(exit.Reason))
	}},
}
