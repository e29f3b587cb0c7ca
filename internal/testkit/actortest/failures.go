package actortest

import (
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// FailedStarts returns the ways in which an error in Init can keep a process from starting.
func FailedStarts(why func() error) map[string]func() error {
	ways := FailedFunctions(why)
	ways["an exit in a term"] = func() error { return node.ExitWith(wire.Tuple{node.Shutdown, wire.List{why()}}) }
	return ways
}

// FailedFunctions returns the ways in which a function can fail with an error.
func FailedFunctions(why func() error) map[string]func() error {
	return map[string]func() error{
		"an error": why,
		"a panic":  func() error { panic(why()) },
		"an exit":  func() error { return node.ExitWith(why()) },
	}
}

// FailedEnds returns the ways in which a process can end with an error when it handles a message.
func FailedEnds(why func() error) map[string]func(c *node.Context) error {
	ways := map[string]func(c *node.Context) error{
		"an exit in a term": func(*node.Context) error { return node.ExitWith(wire.Tuple{node.Shutdown, why()}) },
		"an exit signal": func(c *node.Context) error {
			c.Exit(c.Self(), why())
			return nil
		},
		"the exit of who was called": func(c *node.Context) error {
			pid, err := c.Spawn(node.ActorFunc(func(*node.Context, any) error { return why() }))
			if err != nil {
				return err
			}
			_, err = node.Call[int](c.Context(), c, pid, 1)
			return err
		},
	}
	for way, fail := range FailedFunctions(why) {
		ways[way] = func(*node.Context) error { return fail() }
	}
	return ways
}
