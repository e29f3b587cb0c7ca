package channel_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/channel"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

func init() {
	node.RegisterTypes(node.TypeOf[price](), node.TypeOf[channel.Output[price]](), node.TypeOf[subscribe]())
}

// add stands for {add, A, B} of Erlang.
type add struct {
	_    struct{} `etf:"add,tuple"`
	A, B int64
}

// broken cannot be read.
type broken struct{ n int }

func (*broken) SetTerm(any) error { panic("broken") }

// sent sends messages by the reference of a channel, past the compiler's check of their type.
func sent(t *testing.T, from node.Caller, ref node.Ref, messages ...any) {
	t.Helper()
	for _, m := range messages {
		require.NoError(t, node.Send(from, ref, m))
	}
}

// lost takes the next dead letter.
func lost(t *testing.T, s *deadletter.Stream, cause deadletter.Cause, m any) {
	t.Helper()
	l := testkit.Receive(t, s.C)
	require.Equal(t, cause, l.Cause)
	require.Equal(t, m, l.Message)
}

// Each Input receives the values of its channel, in order, and leaves everything else in the mailbox.
func TestChannels(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	dead := n.DeadLetters(16)
	defer dead.Close()
	p := nodetest.NewProbe(t, n)
	first, second, texts := channel.New[int](p), channel.New[int](p), channel.New[string](p)
	require.NotEqual(t, first.Output(), second.Output())
	for i := range 3 {
		require.NoError(t, n.Send(p.Self(), i))
		require.NoError(t, second.Output().Send(n, 10+i))
		require.NoError(t, first.Output().Send(p, 20+i))
		require.NoError(t, texts.Output().Send(n, fmt.Sprint(30+i)))
	}
	sent(t, n, first.Output().Ref, "no number", nil)
	lost(t, dead, deadletter.WrongType, "no number")
	lost(t, dead, deadletter.WrongType, nil)
	for i := range 3 {
		require.Equal(t, 20+i, first.Receive(p.Process))
		require.Equal(t, i, node.ReceiveOf[int](p.Process), "what is sent to the process is of no channel")
	}
	m, ok := second.Of(p.Receive())
	require.True(t, ok)
	require.Equal(t, 10, m)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	next := 11
	for m := range second.Messages(ctx, p.Process) {
		require.Equal(t, next, m)
		if next++; next == 13 {
			cancel()
		}
	}
	require.Equal(t, 13, next)
	_, err := second.ReceiveWithin(p.Process, 0)
	require.ErrorIs(t, err, node.ErrTimeout)
	require.True(t, texts.Close(p))
	require.False(t, texts.Close(p))
	require.NoError(t, texts.Output().Send(n, "late"))
	lost(t, dead, deadletter.NoAlias, "late")
	for i := range 3 {
		m, err := texts.ReceiveWithin(p.Process, 0)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(30+i), m)
	}
	m2, err := p.ReceiveWithin(0, nil)
	require.ErrorIs(t, err, node.ErrTimeout, "%v", m2)
	require.ErrorIs(t, channel.Output[int]{}.Send(n, 1), node.ErrArgument)
}

// A message that is no T does not use up the channel; one that stands for a T does.
func TestOnce(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	dead := n.DeadLetters(16)
	defer dead.Close()
	p := nodetest.NewProbe(t, n)
	reply := channel.Once[add](p)
	sent(t, n, reply.Output().Ref, 1, wire.Tuple{node.Atom("add"), 1, 2}, (add{A: 3, B: 4}))
	lost(t, dead, deadletter.WrongType, 1)
	lost(t, dead, deadletter.NoAlias, (add{A: 3, B: 4}))
	require.Equal(t, (add{A: 1, B: 2}), reply.Receive(p.Process))
	require.False(t, reply.Close(p))

	anything := channel.New[any](p)
	for _, m := range []any{nil, 1, p.Self()} {
		require.NoError(t, anything.Output().Send(n, m))
		require.Equal(t, m, anything.Receive(p.Process))
	}
	bad := channel.New[broken](p)
	sent(t, n, bad.Output().Ref, 1, broken{2})
	lost(t, dead, deadletter.WrongType, 1)
	require.Equal(t, broken{2}, bad.Receive(p.Process))

	// A call is not a value, whatever its type.
	calls := channel.New[node.Request[int]](p)
	_, err := actortest.CallWithin[int](testkit.Limit, n, calls.Output().Ref, 1)
	require.Error(t, err)
	require.NotErrorIs(t, err, node.ErrTimeout)
	require.Equal(t, deadletter.WrongType, testkit.Receive(t, dead.C).Cause)
	results := channel.New[node.Result](p)
	node.Async[int](n, p.Self(), 5).SendTo(results.Output().Ref, "tag")
	require.NoError(t, node.ReceiveOf[node.Request[int]](p.Process).Reply(6))
	require.Equal(t, node.Result{Tag: "tag", Value: 6}, results.Receive(p.Process))
}

// An actor tells the messages of its channels from other messages.
func TestActor(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	p := nodetest.NewProbe(t, n)
	var in *channel.Input[int]
	out := channel.Once[channel.Output[int]](p)
	pid, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		if in == nil {
			in = channel.New[int](c)
			return msg.(channel.Output[channel.Output[int]]).Send(c, in.Output())
		}
		v, ok := in.Of(msg)
		if v == 3 {
			in.Close(c)
		}
		return c.Send(p.Self(), fmt.Sprint(v, ok))
	}))
	require.NoError(t, err)
	require.NoError(t, n.Send(pid, out.Output()))
	numbers := out.Receive(p.Process)
	require.NoError(t, n.Send(pid, 1))
	require.NoError(t, numbers.Send(p, 2))
	require.NoError(t, numbers.Send(p, 3))
	require.NoError(t, numbers.Send(p, 4))
	for _, want := range []string{"0 false", "2 true", "3 true"} {
		require.Equal(t, want, nodetest.Expect[string](p))
	}
	ref := p.Monitor(numbers.Ref) // does not exist
	require.Equal(t, node.NoProc, p.ExpectDown(ref).Reason)
}

// The limit of a bounded mailbox holds for its channels, too.
func TestBounded(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	p := nodetest.NewProbe(t, n)
	out := channel.Once[channel.Output[int]](p)
	bounded := node.Options{Bounds: mailbox.Bounds{Messages: 2, Policy: mailbox.Refuse}}
	_, err := n.SpawnOpt(bounded, node.ProcessFunc(func(q *node.Process) error {
		in := channel.New[int](q)
		if err := out.Output().Send(q, in.Output()); err != nil {
			return err
		}
		return p.Node().Send(p.Self(), node.ReceiveOf[string](q))
	}))
	require.NoError(t, err)
	in := out.Receive(p.Process)
	require.NoError(t, in.Send(n, 1))
	require.NoError(t, in.Send(n, 2))
	require.ErrorIs(t, in.Send(n, 3), node.ErrMailboxFull)
}

// A channel works on other nodes as it does here, by both protocols.
func TestOtherNodes(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, on *clustertest.Cluster) {
		a, b, c := on.Start("a"), on.Start("b"), on.Start("c")
		p, far, further := nodetest.NewProbe(t, a), nodetest.NewProbe(t, b), nodetest.NewProbe(t, c)
		dead := a.DeadLetters(16)
		defer dead.Close()
		prices, numbers := channel.New[price](p), channel.Once[int64](p)
		require.NoError(t, p.Send(far.Self(), subscribe{prices.Output()}))
		got := node.ReceiveOf[subscribe](far.Process)
		require.Equal(t, prices.Output(), got.To)
		require.NoError(t, far.Send(further.Self(), got)) // sent on
		got = node.ReceiveOf[subscribe](further.Process)
		require.NoError(t, got.To.Send(further, price{"ERIC", 1}))
		require.Equal(t, price{"ERIC", 1}, prices.Receive(p.Process))
		require.NoError(t, got.To.Send(further, price{"VOLV", 2}))
		sent(t, further, got.To.Ref, "no price")
		require.NoError(t, got.To.Send(further, price{"SAAB", 3}))
		require.Equal(t, price{"VOLV", 2}, prices.Receive(p.Process))
		require.Equal(t, price{"SAAB", 3}, prices.Receive(p.Process))
		lost(t, dead, deadletter.WrongType, "no price")

		require.NoError(t, p.Send(far.Self(), numbers.Output())) // not registered by the program
		switch out := far.Receive().(type) {
		case channel.Output[int64]:
			require.NoError(t, out.Send(far, 1<<40))
		case node.Ref: // as for OTP
			sent(t, far, channel.Output[int64]{Ref: out}.Ref, int64(1<<40))
		}
		require.Equal(t, int64(1<<40), numbers.Receive(p.Process))
		_, err := actortest.CallWithin[int](testkit.Limit, far, got.To.Ref, 1)
		require.Error(t, err)
		require.NotErrorIs(t, err, node.ErrTimeout)
	})
}

// The name that other nodes have for an alias stands for the channel, too: here and there, for messages and calls.
func TestByName(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		a, b := c.Start("a"), c.Start("b")
		c.Connect(a, b)
		receipts := a.Peers()[0].Protocol == "native" // other protocols have no receipts
		p := nodetest.NewProbe(t, a)
		dead := a.DeadLetters(16)
		defer dead.Close()
		for _, from := range []*node.Node{a, b} {
			in := channel.New[int](p)
			at := tables.OfAlias(in.Output().Ref)
			send := []func(m any) error{func(m any) error { return from.Send(at, m) }}
			if from == a || receipts {
				send = append(send, func(m any) error { return node.Deliver(testkit.Context(t), from, at, m) })
			}
			for _, send := range send {
				_ = send("no number") // Deliver says so
				lost(t, dead, deadletter.WrongType, "no number")
				require.NoError(t, send(7))
				require.Equal(t, 7, in.Receive(p.Process))
			}
			_, err := actortest.CallWithin[int](testkit.Limit, from, at, 1)
			require.Error(t, err)
			require.NotErrorIs(t, err, node.ErrTimeout)
			require.Equal(t, deadletter.WrongType, testkit.Receive(t, dead.C).Cause)
		}
		require.Zero(t, p.MailboxLen(), "nothing has come past a channel")
	})
}

// For Erlang a channel is a reference, and what Erlang sends to it must be a T.
func TestOTP(t *testing.T) {
	erltest.Need(t)
	mapper := epmdtest.Serve(t, "127.0.0.1")
	n := nodetest.Start(t, node.Config{Name: "a@127.0.0.1",
		Distribution: &node.Distribution{Cookie: erltest.Cookie, Finder: &discovery.EPMD{Config: mapper}}})
	dead := n.DeadLetters(16)
	defer dead.Close()
	p := nodetest.NewProbe(t, n)
	require.NoError(t, n.Register("main", p.Self()))
	e := erltest.Start(t, erltest.Options{Name: "e@127.0.0.1", Cookie: erltest.Cookie, EPMD: mapper.Port})
	e.Ask("register(e, spawn(fun() -> receive R when is_reference(R) -> " +
		"R ! {add, 1, 2}, R ! 3, R ! {add, 4, 5}, {main, 'a@127.0.0.1'} ! R end end))")
	sums := channel.New[add](p)
	require.NoError(t, p.Send(node.At{Name: "e", Node: "e@127.0.0.1"}, sums.Output()))
	require.Equal(t, (add{A: 1, B: 2}), sums.Receive(p.Process))
	require.Equal(t, (add{A: 4, B: 5}), sums.Receive(p.Process))
	lost(t, dead, deadletter.WrongType, 3)
	require.Equal(t, sums.Output(), channel.Output[add]{Ref: node.ReceiveOf[node.Ref](p.Process)})
}

// The terms that stand for an output.
func TestTerms(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	out := channel.New[int](nodetest.NewProbe(t, n)).Output()
	var read channel.Output[int]
	require.NoError(t, read.SetTerm(out.Term()))
	require.Equal(t, out, read)
	require.NoError(t, read.SetTerm(channel.Output[int]{}.Term()))
	require.Zero(t, read)
	require.ErrorContains(t, read.SetTerm(1), "want a reference")
	require.Error(t, read.SetTerm(node.Atom("x")))
}
