package node_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
)

// A sender learns what becomes of its message, here and on another node.
func TestDeliver(t *testing.T) {
	for _, far := range []bool{false, true} {
		a, b, self, remote := two(t)
		var from node.Caller = self
		if !far {
			from = b
		}
		hold := make(chan struct{})
		defer close(hold)
		idle := node.ActorFunc(func(*node.Context, any) error { <-hold; return nil })
		at := func(name node.Atom) node.At { return node.At{Name: name, Node: b.Name()} }
		for _, c := range []struct {
			policy mailbox.Policy
			want   error
		}{{mailbox.Refuse, node.ErrMailboxFull}, {mailbox.DropNewest, node.ErrDropped}, {mailbox.DropOldest, nil}} {
			began := make(chan struct{}, 1)
			pid, err := b.SpawnOpt(node.Options{Bounds: mailbox.Bounds{Messages: 2, Policy: c.policy}},
				node.ActorFunc(func(*node.Context, any) error { began <- struct{}{}; <-hold; return nil }))
			require.NoError(t, err)
			require.NoError(t, node.Deliver(testkit.Context(t), from, pid, 1))
			<-began
			require.NoError(t, node.Deliver(testkit.Context(t), from, pid, 2))
			require.ErrorIs(t, node.Deliver(testkit.Context(t), from, pid, 3), c.want, "%v, far %v", c.policy, far)
			if !far {
				require.ErrorIs(t, b.SendOpt(node.SendOptions{NoWait: true}, pid, 4), c.want, "%v", c.policy)
			}
		}
		pid, err := b.SpawnOpt(node.Options{Name: "gone"}, idle)
		require.NoError(t, err)
		require.NoError(t, node.Deliver(testkit.Context(t), from, remote, "ok"))
		b.Exit(pid, node.Kill)
		require.ErrorIs(t, node.Deliver(testkit.Context(t), from, pid, 1), node.ErrNoProcess)
		require.ErrorIs(t, node.Deliver(testkit.Context(t), from, at("gone"), 1), node.ErrNoName)
		assert.Positive(t, b.Stats().DeadLetters[deadletter.NoProcess])
		alias := b.MakeRef()
		require.ErrorIs(t, node.Deliver(testkit.Context(t), from, alias, 1), node.ErrNoProcess)
		if far {
			require.ErrorAs(t, node.Deliver(testkit.Context(t), from, remote, struct{}{}), new(*wire.EncodeError))
			// A mailbox that makes its senders wait does not make a connection wait.
			pid, err := b.SpawnOpt(node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Block}}, idle)
			require.NoError(t, err)
			require.NoError(t, node.Deliver(testkit.Context(t), from, pid, 1))
			require.ErrorContains(t, node.Deliver(testkit.Context(t), from, pid, 2), "full for now")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			got := make(chan any, 101)
			pid, err = b.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error { got <- msg; return nil }))
			require.NoError(t, err)
			for range 100 {
				require.ErrorIs(t, node.Deliver(ctx, from, pid, "not sent"), context.Canceled)
			}
			require.NoError(t, node.Deliver(testkit.Context(t), from, pid, "sent"))
			require.Equal(t, "sent", testkit.Receive(t, got))
			require.True(t, a.Disconnect(b.Name()))
		}
	}
	self, err := clustertest.NewMemoryCluster(t).Start("x").Open()
	require.NoError(t, err)
	self.Close(nil)
	require.ErrorIs(t, node.Deliver(t.Context(), self, self.Self(), 1), node.ErrExited)
}

// Receipts come in the order of the messages, and in order with the messages before and after.
func TestDeliverKeepsOrder(t *testing.T) {
	_, b, self, _ := two(t)
	var got []any
	all := make(chan []any, 1)
	pid, err := b.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
		if got = append(got, msg); len(got) == 300 {
			all <- got
		}
		return nil
	}))
	require.NoError(t, err)
	for i := range 100 {
		require.NoError(t, self.Send(pid, 3*i))
		require.NoError(t, node.Deliver(testkit.Context(t), self, pid, 3*i+1))
		require.NoError(t, self.Send(pid, 3*i+2))
	}
	for i, v := range <-all {
		require.Equal(t, i, v)
	}
}

// Erlang's protocol has no receipts.
func TestDeliverNoReceipts(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	start := func(name string) *node.Node {
		cfg := c.Config(name)
		cfg.Distribution.Protocols = []dist.Protocol{&erldist.Protocol{}}
		n := nodetest.Start(t, cfg)
		return n
	}
	a, b := start("a"), start("b")
	require.ErrorIs(t, node.Deliver(testkit.Context(t), a, node.At{Name: "net_kernel", Node: b.Name()}, 1), errors.ErrUnsupported)
	require.ErrorContains(t, node.Deliver(testkit.Context(t), a, node.At{Name: "x", Node: "none@127.0.0.1"}, 1), "none@127.0.0.1")
	alone := nodetest.Start(t, node.Config{})
	require.ErrorIs(t, node.Deliver(testkit.Context(t), alone, node.At{Name: "x", Node: "none@127.0.0.1"}, 1), node.ErrNotHere)
}

// Send, Monitor, Link, Unlink, Linked, Exit and SendTo take anything that names a process.
func TestDestinations(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	h.TrapExit(true)
	for _, kind := range []string{"pid", "name", "at", "alias"} {
		t.Run(kind, func(t *testing.T) {
			aliases := make(chan node.Ref, 1)
			pid, err := n.SpawnOpt(node.Options{Name: "server"}, node.ProcessFunc(func(p *node.Process) error {
				aliases <- p.Alias()
				h := p.Receive()
				p.Send(h.(node.PID), "here")
				p.Receive()
				return nil
			}))
			require.NoError(t, err)
			to := map[string]node.Dest{
				"pid": pid, "name": node.Atom("server"), "at": node.At{Name: "server", Node: n.Name()}, "alias": <-aliases,
			}[kind]
			require.NoError(t, h.Send(to, h.Self()))
			assert.Equal(t, "here", nodetest.Expect[string](h))
			ref := h.Monitor(to)
			h.Link(to)
			assert.True(t, h.Inside(process.Key{}).Linked(to))
			h.Unlink(to)
			assert.False(t, h.Inside(process.Key{}).Linked(to))
			assert.False(t, h.Inside(process.Key{}).Linked(pid))
			h.Link(to)
			h.Exit(to, wire.Atom("enough"))
			assert.Equal(t, wire.Atom("enough"), h.ExpectDown(ref).Reason)
			assert.Equal(t, node.Exited{From: pid, Reason: wire.Atom("enough")}, nodetest.Expect[node.Exited](h))
		})
	}
	assert.ErrorIs(t, h.Send(nil, 1), node.ErrArgument)
	assert.False(t, h.Inside(process.Key{}).Linked(node.Atom("server")), "nobody has the name")
	h.Unlink(node.Atom("server"))
	h.Unlink(nil)
	assert.False(t, h.Inside(process.Key{}).Linked(nil))
}

// The result of a future goes to anything that names a process when the future is completed.
func TestSendToDestinations(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	n, other := c.Start("a"), c.Start("b")
	h, far := nodetest.NewProbe(t, n), nodetest.NewProbe(t, other)
	require.NoError(t, n.Register("here", h.Self()))
	require.NoError(t, other.Register("there", far.Self()))
	pid, requests := keeper(t, n)
	for kind, to := range map[string]node.Dest{
		"pid": h.Self(), "name": node.Atom("here"), "at": node.At{Name: "here", Node: n.Name()},
		"alias": h.Alias(), "reply alias": h.AliasOnce(),
	} {
		t.Run(kind, func(t *testing.T) {
			f := node.Async[int](n, pid, "")
			f.SendTo(to, kind)
			require.NoError(t, (<-requests).Reply(5))
			assert.Equal(t, node.Result{Tag: kind, Value: 5}, nodetest.Expect[node.Result](h))
			f.SendTo(to, "again")
			if kind == "reply alias" {
				h.ExpectNone()
				return
			}
			assert.Equal(t, node.Result{Tag: "again", Value: 5}, nodetest.Expect[node.Result](h))
		})
	}
	for kind, to := range map[string]node.Dest{
		"pid": far.Self(), "at": node.At{Name: "there", Node: other.Name()}, "alias": far.Alias(),
	} {
		t.Run("far "+kind, func(t *testing.T) {
			f := node.Async[int](n, pid, "")
			f.SendTo(to, kind)
			require.NoError(t, (<-requests).Reply(5))
			assert.NotNil(t, nodetest.Expect[any](far))
		})
	}
	letters := n.DeadLetters(8)
	defer letters.Close()
	f := node.Async[int](n, pid, "")
	require.NoError(t, (<-requests).Reply(5))
	gone := h.AliasOnce()
	h.Unalias(gone)
	for _, to := range []node.Dest{nil, node.Atom("nobody"), node.At{Name: "nobody", Node: n.Name()}, gone} {
		f.SendTo(to, "lost")
		l := <-letters.C
		assert.Equal(t, "lost", l.Message.(node.Result).Tag, "%v", to)
	}
}

// A message of SendBytes does not change with the sender's buffer, keeps its order with messages of Send, and arrives
// whatever its size: between nodes of both protocols, on one node, and from every kind of sender.
func TestSendBytes(t *testing.T) {
	farPair(t, func(t *testing.T, a, b *node.Node) {
		for _, at := range []*node.Node{a, b} {
			far := nodetest.NewProbe(t, at)
			for name, send := range sendersOf(t, a) {
				const messages = 300
				go send(far.Self(), messages)
				for i := range messages {
					want := bytes.Repeat([]byte{byte(i)}, 8+sizeOf(i))
					binary.BigEndian.PutUint64(want, uint64(i))
					require.Equal(t, want, far.Receive(), "%s, message %d", name, i)
				}
			}
			dead := b.DeadLetters(1)
			far.Close(nil)
			require.NoError(t, a.SendBytes(far.Self(), []byte("late")))
			if at == b {
				l := <-dead.C
				assert.Equal(t, []byte("late"), l.Message)
			}
		}
	})
}

// sizeOf is how many bytes message i has besides its number.
func sizeOf(i int) int {
	switch i % 50 {
	case 7:
		return 300
	case 8:
		return 100_000
	}
	return i % 200
}

// bytesSender can send values and bytes.
type bytesSender interface {
	Send(to node.Dest, msg any) error
	SendBytes(to node.Dest, b []byte) error
}

// sendersOf are functions that send messages from a node, every third with Send.
func sendersOf(t *testing.T, n *node.Node) map[string]func(to node.PID, messages int) {
	send := func(s bytesSender, to node.PID, messages int) {
		buf := make([]byte, 1<<20)
		for i := range messages {
			b := buf[:8+sizeOf(i)]
			for k := range b {
				b[k] = byte(i)
			}
			binary.BigEndian.PutUint64(b, uint64(i))
			if i%3 == 0 {
				assert.NoError(t, s.Send(to, bytes.Clone(b)))
			} else {
				assert.NoError(t, s.SendBytes(to, b))
			}
			clear(b)
		}
	}
	by := func(o node.Options) func(node.PID, int) {
		return func(to node.PID, messages int) {
			var b node.Actor = node.ProcessFunc(func(s *node.Process) error {
				send(s, to, messages)
				return nil
			})
			if o.Label == "actor" {
				b = node.ActorFunc(func(c *node.Context, _ any) error {
					send(c, to, messages)
					return node.ErrStop
				})
			}
			pid, err := n.SpawnOpt(o, b)
			if assert.NoError(t, err) {
				assert.NoError(t, n.Send(pid, "go"))
			}
		}
	}
	return map[string]func(to node.PID, messages int){
		"goroutine": func(to node.PID, messages int) { send(n, to, messages) },
		"actor":     by(node.Options{Label: "actor"}),
		"process":   by(node.Options{}),
		"coroutine": by(node.Options{Coroutine: true}),
	}
}

// A process that has ended sends nothing.
func TestSendBytesExited(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	to, h := nodetest.NewProbe(t, n), nodetest.NewProbe(t, n)
	h.Close(nil)
	require.ErrorIs(t, h.SendBytes(to.Self(), nil), node.ErrExited)
}
