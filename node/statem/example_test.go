package statem_test

import (
	"context"
	"fmt"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/statem"
)

// door is a machine's data. It opens for the right code, and locks by itself.
type door struct {
	code, typed string
}

// The messages for a door.
type (
	Digit struct { // a call: how many digits it has now
		genserver.Returns[int]
		Digit rune
	}
	Knock struct{ genserver.Returns[string] } // a call
	Slam  struct{}                            // a cast
)

type state = statem.State[*door]

func (d *door) locked(c *statem.Context, e statem.Event) (state, error) {
	switch m := e.Content.(type) {
	case statem.Entered:
		d.typed = ""
	case Digit:
		d.typed += string(m.Digit)
		statem.Reply(c, m, len(d.typed))
		if d.typed == d.code {
			return (*door).open, nil
		}
	case Knock:
		c.Postpone() // until somebody has opened
	default:
		return nil, statem.ErrUnhandled
	}
	return nil, nil
}

func (d *door) open(c *statem.Context, e statem.Event) (state, error) {
	switch m := e.Content.(type) {
	case statem.Entered:
		c.SetTimeout(statem.StateTimeout, time.Hour, Slam{})
	case Knock:
		statem.Reply(c, m, "come in")
	case Slam: // cast, or the hour is over
		return (*door).locked, nil
	default:
		return nil, statem.ErrUnhandled
	}
	return nil, nil
}

var doors = statem.Define((*door).locked, (*door).open).EnterCalls()

func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	ctx := context.Background()

	pid, err := doors.Start(ctx, n, &door{code: "42"}, node.Options{Name: "door"})
	if err != nil {
		panic(err)
	}
	knock := genserver.Async(n, pid, Knock{})
	for _, r := range "42" {
		digits, err := genserver.Call(ctx, n, pid, Digit{Digit: r}) // digits is an int
		fmt.Println(digits, err)
	}
	fmt.Println(node.Await(ctx, n, knock))
	genserver.Cast(n, pid, Slam{})
	_, err = node.Call[any](ctx, n, pid, "what?")
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// 2 <nil>
	// come in <nil>
	// statem: *statem_test.door does not handle calls of type string in the state locked
}
