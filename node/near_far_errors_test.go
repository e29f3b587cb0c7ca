package node_test

import (
	"errors"
	"fmt"
	"io"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
)

var (
	errNearSoldOut = errors.New("sold out")
	errNearNoCard  = errors.New("no card")
)

// nearLimitError is an error with a type of its own.
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

// blame says what a program can find in an error.
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

// answersWith is the program of one error of a server.
func answersWith(how string) program {
	return program{"an error that is " + how, func(w *world) {
		_, err := genserver.Call(w.ctx, w.me, w.serve(nearFailings.New(&nearFailing{})), nearFail{How: how})
		w.blame(err)
	}}
}

// crashing is the program of one way for a process to crash.
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

// nearBreak breaks down where it is given no map.
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
