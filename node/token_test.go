package node_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// answerTraced sends {got, X} for {From, X}.
func answerTraced(send func(node.Dest, any) error, msg any) {
	if m, ok := msg.(wire.Tuple); ok {
		send(m[0].(node.PID), wire.Tuple{node.Atom("got"), m[1]})
	}
}

// tracedBehaviours answer their messages, each in its own way.
func tracedBehaviours() map[node.Atom]node.Actor {
	return map[node.Atom]node.Actor{
		"actor": node.ActorFunc(func(c *node.Context, msg any) error { answerTraced(c.Send, msg); return nil }),
		"process": node.ProcessFunc(func(p *node.Process) error {
			for {
				answerTraced(p.Send, p.Receive())
			}
		}),
		"matching": node.ProcessFunc(func(p *node.Process) error {
			for {
				answerTraced(p.Send, node.ReceiveOf[wire.Tuple](p))
			}
		}),
		"relay": node.ActorFunc(func(c *node.Context, msg any) error { return c.Send(node.Atom("actor"), msg) }),
		"spawning": node.ActorFunc(func(c *node.Context, msg any) error {
			_, err := c.Spawn(node.ProcessFunc(func(p *node.Process) error { answerTraced(p.Send, msg); return nil }))
			return err
		}),
		"asking": node.ActorFunc(func(c *node.Context, msg any) error {
			if _, ok := msg.(wire.Tuple); ok {
				node.SendRequest(c, node.Atom("asked"), "tag", msg)
			}
			return nil
		}),
		"asked": node.ActorFunc(func(c *node.Context, msg any) error {
			//actornode:ignore noreply what is sent beside a reply is what the test looks at
			if r, ok := msg.(node.Request[any]); ok {
				answerTraced(c.Send, r.Body)
			}
			return nil
		}),
	}
}

// A process that takes a message with a token sends with that token, in every way, until it takes a message without
// one.
func TestTokens(t *testing.T) {
	c := newOTPHost(t)
	e := c.erl("e1", "secret")
	n := c.start(c.config("go"))
	behaviours := tracedBehaviours()
	for name, b := range behaviours {
		_, err := n.SpawnOpt(node.Options{Name: name}, b)
		require.NoError(t, err)
	}
	for _, o := range []node.Options{{Name: "coroutine", Coroutine: true}, {Name: "selective", Coroutine: true}, {Name: "detached", Place: node.Detached()}} {
		b := behaviours["process"]
		switch o.Name {
		case "selective":
			b = behaviours["matching"]
		case "detached":
			b = behaviours["actor"]
		}
		_, err := n.SpawnOpt(o, b)
		require.NoError(t, err)
	}
	for _, name := range []string{"actor", "process", "matching", "relay", "spawning", "asking", "coroutine", "selective", "detached"} {
		for i, label := range []string{"17", "none", "none", `{my,"label"}`, "18", "19", "none"} {
			assert.Equal(t, label, e.Ask("far:traced({%s,'%s'}, %s, %d)", name, n.Name(), label, i), "%s, message %d", name, i)
		}
	}
	for name, b := range map[node.Atom]node.Actor{
		"server": node.ActorFunc(func(c *node.Context, msg any) error {
			r, _ := n.AsRequest(msg)
			return c.Reply(r.From, r.Body)
		}),
		"serving": node.ProcessFunc(func(p *node.Process) error {
			for {
				r, _ := n.AsRequest(p.Receive())
				p.Reply(r.From, r.Body)
			}
		}),
	} {
		_, err := n.SpawnOpt(node.Options{Name: name}, b)
		require.NoError(t, err)
		for _, label := range []string{"none", "17", "18", "none"} {
			assert.Equal(t, label, e.Ask("far:traced_call({%s,'%s'}, %s)", name, n.Name(), label), name)
		}
	}

	// A bounded mailbox keeps messages, but not their tokens.
	_, err := n.SpawnOpt(node.Options{Name: "bounded", Bounds: mailbox.Bounds{Messages: 9}}, behaviours["actor"])
	require.NoError(t, err)
	assert.Equal(t, "none", e.Ask("far:traced({bounded,'%s'}, 17, 1)", n.Name()))
	// A process that is spawned, or called by erpc, has the token from the start.
	require.NoError(t, rpc.ExportBehaviour(n, mfa("m", "answer", 2), func(args []any) (node.Actor, error) {
		return node.ProcessFunc(func(p *node.Process) error { answerTraced(p.Send, wire.Tuple(args)); return nil }), nil
	}))
	assert.Equal(t, "17", e.Ask("seq_trace:set_token(label, 17), spawn('%s', m, answer, [self(), 1]), seq_trace:set_token([]), "+
		"receive {got, 1} -> element(2, seq_trace:get_token(label)) after 50000 -> no_answer end", n.Name()))
	assert.Equal(t, "true", e.Ask("seq_trace:set_token([]), true"))
}

// A message that is left for later keeps its token, and is shown without it meanwhile.
func TestTokenWaits(t *testing.T) {
	c := newOTPHost(t)
	e := c.erl("e1", "secret")
	n := c.start(c.config("go"))
	pid, err := n.SpawnOpt(node.Options{Name: "holding"}, node.ActorFunc(func(c *node.Context, msg any) error {
		if msg == node.Atom("go_on") {
			c.Become(node.ActorFunc(func(c *node.Context, msg any) error { answerTraced(c.Send, msg); return nil }))
			return nil
		}
		return node.ErrUnhandled
	}))
	require.NoError(t, err)
	self := e.Ask("seq_trace:set_token(label, 5), {holding,'%s'} ! {self(), first}, seq_trace:set_token([]), {holding,'%[1]s'} ! {self(), second}, ok", n.Name())
	require.Equal(t, "ok", self)
	testkit.Until(t, func() string {
		if msgs := n.Inside(process.Key{}).Messages(pid, 9); len(msgs) != 2 || msgs[0].(wire.Tuple)[1] != node.Atom("first") {
			return wire.Format(wire.List(msgs))
		}
		return ""
	})
	assert.Equal(t, "{5,[]}", e.Ask("{holding,'%s'} ! go_on, "+
		"A = receive {got, first} -> element(2, seq_trace:get_token(label)) after 50000 -> nothing end, "+
		"B = receive {got, second} -> seq_trace:get_token() after 50000 -> nothing end, {A, B}", n.Name()))

	// Its serial counts on, as OTP's does.
	_, err = n.SpawnOpt(node.Options{Name: "echoing"}, node.ActorFunc(func(c *node.Context, msg any) error {
		answerTraced(c.Send, msg)
		answerTraced(c.Send, msg)
		return nil
	}))
	require.NoError(t, err)
	erlang := e.Ask("register(twice, spawn(fun T() -> receive {F, X} -> F ! {got, X}, F ! {got, X}, T() end end)), ok")
	require.Equal(t, "ok", erlang)
	serials := "[begin seq_trace:set_token(label, 7), seq_trace:set_token(serial, {0, 100 * I}), %s ! {self(), I}, seq_trace:set_token([]), " +
		"[receive {got, I} -> element(2, seq_trace:get_token(serial)) after 50000 -> nothing end || _ <- [1, 2]] end || I <- [1, 2, 1]]"
	want := e.Ask(serials, "twice")
	assert.Equal(t, want, e.Ask(serials, "{echoing,'"+string(n.Name())+"'}"))
	assert.Contains(t, want, "{")
}
