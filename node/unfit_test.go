package node_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/logtest"
	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
)

// What is no reply, and cannot be sent, is nothing to its receiver; a caller is told that its reply cannot be sent,
// also if the call has come as a message from a PID and a reference, as gen_server:call of OTP 23 makes it.
func TestUnfitReplyToPlainFrom(t *testing.T) {
	farNodes(t, nil, func(t *testing.T, a, b *node.Node) {
		self := nodetest.Open(t, a)
		pid, err := b.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			r := msg.(node.Request[int])
			if err := c.SendOpt(node.SendOptions{NoWait: true}, r.From.Caller(), wire.Tuple{c.Node().MakeRef(), unknown{1}}); err == nil {
				return r.From.Fail(err)
			}
			return r.From.Reply(wire.Tuple{unknown{r.Body}})
		}))
		require.NoError(t, err)
		ref := a.MakeRef()
		require.NoError(t, self.Send(pid, wire.Tuple{node.Atom("$gen_call"), wire.Tuple{self.Self(), ref}, 7}))
		reply := nodetest.Next[wire.Tuple](t, self)
		require.Equal(t, ref, reply[0])
		require.Contains(t, wire.Format(reply[1]), "cannot encode: pack: at {1}: type node_test.unknown is not registered")
		nodetest.Quiet(t, self)
	})
}

// Whoever sends, casts, calls or replies with what cannot be sent gets the error, with the place in that value. There is a dead
// letter, and nothing in the log.
func TestUnfitIsToldOnce(t *testing.T) {
	log := &logtest.Text{}
	farNodes(t, log.Logger(), func(t *testing.T, a, b *node.Node) {
		self := nodetest.Open(t, a)
		values := []any{unknown{1}, wire.Tuple{1, 2, unknown{1}}, wire.Tuple{1, unknown{1}}, holder{Any: unknown{1}},
			[]any{make(chan int)}}
		wants := []string{"cannot encode: type node_test.unknown", "at {3}: type", "at {2}: type", "at x.Holder.Any: type",
			"at []any[0]: etf: at chan int: a Go value"}
		pid, err := b.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			return msg.(node.Request[int]).From.Reply(values[msg.(node.Request[int]).Body])
		}))
		require.NoError(t, err)
		dead := []*deadletter.Stream{a.DeadLetters(100), b.DeadLetters(100)}
		for i, v := range values {
			_, called := node.Call[any](testkit.Context(t), self, pid, v)
			_, replied := node.Call[any](testkit.Context(t), self, pid, i)
			for what, err := range map[string]error{"send": self.Send(pid, v), "cast": node.Send(self, pid, node.Cast[any]{Body: v}),
				"call": called, "reply": replied} {
				require.ErrorContains(t, err, "wire: cannot encode: ", what)
				require.ErrorContains(t, err, wants[i], what)
			}
		}
		require.ErrorContains(t, self.Send(pid, wire.Tuple{node.Atom("$gen_cast"), unknown{1}}), "at {2}: type", "it is the message")
		for i, n := range []int{3*len(values) + 1, len(values)} {
			for range n {
				require.Equal(t, deadletter.NotATerm, testkit.Receive(t, dead[i].C).Cause)
			}
			dead[i].Close()
		}
	})
	require.NotContains(t, log.String(), "WARN")
}

// What has waited for the connection, and cannot be sent then, is told in the log, with the error.
func TestUnfitIsLoggedWhereNobodyIsTold(t *testing.T) {
	where := &nodetest.Places{}
	log := &logtest.Text{}
	a := nodetest.Start(t, node.Config{Name: "a@127.0.0.1", Log: log.Logger(), Distribution: &node.Distribution{Cookie: "secret",
		Finder: where}})
	b := nodetest.Start(t, node.Config{Name: "b@127.0.0.1", Distribution: &node.Distribution{Cookie: "secret", Finder: where}})
	self := nodetest.Open(t, a)
	pid, err := b.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	require.NoError(t, self.Send(pid, unknown{1}))
	log.Await(t, "a signal was not sent")
	require.Contains(t, log.String(), "type node_test.unknown is not registered")
	require.NotContains(t, log.String(), "dead letter")
}

// A node does not send what is another type on the other node, as soon as that has said so.
func TestOtherShape(t *testing.T) {
	farNodes(t, nil, func(t *testing.T, a, b *node.Node) {
		self := nodetest.Open(t, a)
		pid, err := b.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
			return msg.(node.Request[int]).From.Reply(wire.Tuple{shapeThere{"a"}})
		}))
		require.NoError(t, err)
		_, err = node.Call[any](testkit.Context(t), self, pid, 1)
		require.ErrorContains(t, err, "at {1}")
		require.ErrorContains(t, err, "x.Shape.ID differs: here {ID string}, there {ID int}")
		require.ErrorContains(t, self.Send(pid, shapeHere{1}), "x.Shape.ID differs: here {ID int}, there {ID string}")
	})
}

// bomb is a registered type that panics while it is written, if N is negative, or read, if N is 13.
type bomb struct{ N int }

func (b bomb) MarshalText() ([]byte, error) {
	if b.N < 0 {
		panic("no text")
	}
	return strconv.AppendInt(nil, int64(b.N), 10), nil
}

func (b *bomb) UnmarshalText(text []byte) (err error) {
	if b.N, err = strconv.Atoi(string(text)); b.N == 13 {
		panic("no number")
	}
	return err
}

// A type that panics while a value of it is written or read costs that message: the sender, the caller, or the receiver's
// node gets the error. The connection goes on.
func TestTypesThatPanic(t *testing.T) {
	farNodes(t, nil, func(t *testing.T, a, b *node.Node) {
		self := nodetest.Open(t, a)
		pid, err := b.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
			if r, ok := msg.(node.Request[int]); ok {
				return r.From.Reply(bomb{r.Body})
			}
			return msg.(node.Request[bomb]).From.Reply(0)
		}))
		require.NoError(t, err)
		dead := b.DeadLetters(10)
		defer dead.Close()
		self.MonitorNode(b.Name())
		reply, err := node.Call[bomb](testkit.Context(t), self, pid, 7)
		require.NoError(t, err)
		require.Equal(t, bomb{7}, reply)

		require.ErrorContains(t, self.Send(pid, wire.Tuple{bomb{-1}}), "no text")
		require.NoError(t, self.Send(pid, wire.Tuple{bomb{13}}))
		letter := testkit.Receive(t, dead.C)
		require.Equal(t, deadletter.Unreadable, letter.Cause)
		require.ErrorContains(t, letter.Message.(error), "no number")
		for n, text := range map[int]string{-1: "no text", 13: "no number"} {
			_, err = node.Call[any](testkit.Context(t), self, pid, bomb{n})
			require.ErrorContains(t, err, text, "a request")
			_, err = node.Call[any](testkit.Context(t), self, pid, n)
			require.ErrorContains(t, err, text, "a reply")
		}
		left, err := node.Call[int](testkit.Context(t), self, pid, bomb{1})
		require.NoError(t, err)
		require.Zero(t, left)
		nodetest.Quiet(t, self) // no NodeDown
	})
}
