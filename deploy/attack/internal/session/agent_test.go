package session

import (
	"context"
	"errors"

	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// fuzzed is a Go type that the node has registered; peers encode its values with fuzzTypes.
type fuzzed struct {
	ID   int
	Text string
	Any  any
	Next *fuzzed
	Many []fuzzed
}

var fuzzTypes = new(pack.Types)

func init() {
	const name = "fuzz.Value"
	node.RegisterTypes(node.TypeOf[fuzzed](name))
	if err := pack.Register[fuzzed](fuzzTypes, name); err != nil {
		panic(err)
	}
}

var bare = context.Background()

// agent is a process of the node that acts on peers as they ask it to, and reports the results to the last one that
// asked:
//
//	{From, link | unlink | monitor | call | send | exit, Pid, N}   {Agent, did, N}
//	{From, demonitor, Ref, N} and {From, trap, true | false, N}   {Agent, did, N}
//	{From, stop, Reason}                                          none: it exits
//	exit signals, if it traps them                                {Agent, exit, From, Reason}
//	the Down of a monitor                                         {Agent, down, Reason}
//	the answer to a call                                          {Agent, answer, N, Value} or {Agent, failed, N, Reason}
type agent struct{ boss wire.PID }

func newAgent([]any) (node.Actor, error) { return &agent{}, nil }

func (a *agent) Receive(c *node.Context, msg any) error {
	tell := func(t ...any) { _ = c.Send(a.boss, wire.Tuple(append([]any{c.Self()}, t...))) }
	switch m := msg.(type) {
	case node.Exited:
		tell(wire.Atom("exit"), m.From, m.Reason)
	case node.Down:
		tell(wire.Atom("down"), m.Reason)
	case node.Result:
		if exit := (*node.ExitError)(nil); errors.As(m.Err, &exit) {
			tell(wire.Atom("failed"), m.Tag, exit.Reason)
		} else {
			tell(wire.Atom("answer"), m.Tag, m.Value)
		}
	case wire.Tuple:
		return a.do(c, m)
	}
	return nil
}

func (a *agent) do(c *node.Context, m wire.Tuple) error {
	if len(m) < 3 {
		return nil
	}
	boss, ok := m[0].(wire.PID)
	if !ok {
		return nil
	}
	a.boss = boss
	far, _ := m[2].(wire.PID)
	switch m[1] {
	case wire.Atom("stop"):
		return node.ExitWith(m[2])
	case wire.Atom("link"):
		c.Link(far)
	case wire.Atom("unlink"):
		c.Unlink(far)
	case wire.Atom("monitor"):
		c.Monitor(far)
	case wire.Atom("demonitor"):
		ref, _ := m[2].(wire.Ref)
		c.DemonitorFlush(ref)
	case wire.Atom("call"):
		node.SendRequest(c, far, m[3], m[3])
	case wire.Atom("send"):
		_ = c.Send(far, wire.Tuple{c.Self(), wire.Atom("sent"), m[3]})
	case wire.Atom("exit"):
		c.Exit(far, wire.Atom("told"))
	case wire.Atom("trap"):
		c.TrapExit(m[2] == true || m[2] == wire.Atom("true"))
	}
	return c.Send(boss, wire.Tuple{c.Self(), wire.Atom("did"), m[len(m)-1]})
}
