package node_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/node"
)

// What SendBytes has sent does not change with the sender's buffer, goes in order with what
// Send sends, and comes whatever its size: between nodes of both protocols, in one node, and
// from every kind of sender.
func TestSendBytes(t *testing.T) {
	farPair(t, func(t *testing.T, a, b *node.Node) {
		for _, at := range []*node.Node{a, b} {
			far := nodetest.Open(t, at)
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

// sizeOf is how many bytes message i has beside its number.
func sizeOf(i int) int {
	switch i % 50 {
	case 7:
		return 300
	case 8:
		return 100_000
	}
	return i % 200
}

// bytesSender is what sends.
type bytesSender interface {
	Send(to node.Dest, msg any) error
	SendBytes(to node.Dest, b []byte) error
}

// sendersOf are functions that send messages from a node, each third by Send.
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
	to, h := nodetest.Open(t, n), nodetest.Open(t, n)
	h.Close(nil)
	require.ErrorIs(t, h.SendBytes(to.Self(), nil), node.ErrExited)
}
