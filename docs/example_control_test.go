package docs_test

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/node"
)

// The control structures of Scala's actors (Haller and Odersky; "Pondering Actor Design Trades") as functions upon the
// public API. A node knows none of them: other ones can be written in the same way.

// reaction is what an actor does with one message, and returns what it does next; nil: it ends.
type reaction func(c *node.Context, msg any) (next reaction, err error)

// Receive makes a reaction the behaviour of an actor.
func (r reaction) Receive(c *node.Context, msg any) error {
	next, err := r(c, msg)
	switch {
	case err != nil:
		return err
	case next == nil:
		return node.ErrStop
	}
	c.Become(next)
	return nil
}

// react handles one message of type T; all others stay in the mailbox.
func react[T any](f func(T)) reaction {
	return func(_ *node.Context, msg any) (reaction, error) {
		m, ok := msg.(T)
		if !ok {
			return nil, node.ErrUnhandled
		}
		f(m)
		return nil, nil
	}
}

// then continues with what next returns when first is finished.
func then(first reaction, next func() reaction) reaction {
	return func(c *node.Context, msg any) (reaction, error) {
		rest, err := first(c, msg)
		switch {
		case err != nil:
			return nil, err
		case rest == nil:
			return next(), nil
		}
		return then(rest, next), nil
	}
}

// andThen runs one reaction after the other.
func andThen(first, second reaction) reaction {
	return then(first, func() reaction { return second })
}

// loopWhile repeats a reaction until the condition no longer holds at its end.
func loopWhile(cond func() bool, body reaction) reaction {
	return then(body, func() reaction {
		if cond() {
			return loopWhile(cond, body)
		}
		return nil
	})
}

// loop repeats a reaction for ever.
func loop(body reaction) reaction { return loopWhile(func() bool { return true }, body) }

// reactWhile handles messages of type T until f returns false.
func reactWhile[T any](f func(T) bool) reaction {
	more := true
	return loopWhile(func() bool { return more }, react(func(m T) { more = f(m) }))
}

// In Scala: reactWhile(pings < 3) { case Ping => pings += 1 } andThen { react { case Stop => … } }
func Example_controlStructures() {
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	pings := 0
	counting := reactWhile(func(m string) bool {
		pings++
		fmt.Println(m, pings)
		return pings < 3
	})
	stopping := react(func(m error) { fmt.Println(m) })
	h, _ := n.Open()
	pid, _ := h.SpawnOpt(node.Options{Monitor: new(node.Ref)}, andThen(counting, stopping))
	h.Send(pid, errors.New("stop")) // waits until the actor reacts to it
	for range 3 {
		h.Send(pid, "ping")
	}
	fmt.Println(node.ReceiveOf[node.Down](h).Reason)
	// Output:
	// ping 1
	// ping 2
	// ping 3
	// stop
	// normal
}

// Two reactions in alternation, for ever. In Scala: loop { react { case i: Int => … react { case s: String => … } } }
func Example_loop() {
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	h, _ := n.Open()
	number := react(func(i int) { n.Send(h.Self(), fmt.Sprint("number ", i)) })
	word := react(func(s string) { n.Send(h.Self(), "word "+s) })
	pid, _ := n.Spawn(loop(andThen(number, word)))
	for _, m := range []any{1, 2, "one", "two"} {
		h.Send(pid, m)
	}
	for range 4 {
		fmt.Println(h.Receive())
	}
	// Output:
	// number 1
	// word one
	// number 2
	// word two
}
