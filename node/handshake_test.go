package node_test

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
)

// otpFlags are the flags that an Erlang node must have.
const otpFlags = 0x2d07df7fbd

// say sends a message of Erlang's handshake protocol.
func say(t *testing.T, c net.Conn, msg ...any) {
	t.Helper()
	require.NoError(t, c.SetDeadline(time.Now().Add(testkit.Limit)))
	var b []byte
	for _, m := range msg {
		switch m := m.(type) {
		case string:
			b = append(b, m...)
		default:
			var err error
			b, err = binary.Append(b, binary.BigEndian, m)
			require.NoError(t, err)
		}
	}
	_, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...))
	require.NoError(t, err)
}

// sayName sends the first message of a node that dials.
func sayName(t *testing.T, c net.Conn, name string) {
	t.Helper()
	say(t, c, "N", uint64(otpFlags), uint32(7), uint16(len(name)), name)
}

// hear receives a message; false: the connection has ended.
func hear(t *testing.T, c net.Conn) ([]byte, bool) {
	t.Helper()
	var head [2]byte
	if c.SetDeadline(time.Now().Add(testkit.Limit)) != nil {
		return nil, false
	}
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, false
	}
	b := make([]byte, binary.BigEndian.Uint16(head[:]))
	_, err := io.ReadFull(c, b)
	return b, err == nil
}

// claims plays a stranger that claims to be a node, and has received a challenge.
func claims(t *testing.T, c net.Conn, name string) {
	t.Helper()
	sayName(t, c, name)
	status, ok := hear(t, c)
	require.True(t, ok)
	require.Contains(t, []string{"sok", "sok_simultaneous"}, string(status))
	challenge, ok := hear(t, c)
	require.True(t, ok)
	require.EqualValues(t, 'N', challenge[0])
}

// A stranger begins a handshake in the name of a peer. The peer connects, is sent to, and disconnects. Then the
// stranger's handshake ends, in each possible way.
func TestStrangerUnderPeersName(t *testing.T) {
	for _, silent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := clustertest.NewCluster(t)
			a := w.Start("go")
			stranger := w.Dial(a, "erlang", "127.0.0.2")
			claims(t, stranger, "x@127.0.0.1")
			x := w.Start("x")
			require.NoError(t, x.Connect(testkit.Context(t), a.Name()))
			synctest.Wait()
			require.NoError(t, a.Send(node.At{Name: "nobody", Node: x.Name()}, 1))
			require.Equal(t, []node.Atom{x.Name()}, a.AllNodes())
			require.True(t, x.Disconnect(a.Name()))
			synctest.Wait()
			require.Empty(t, a.AllNodes())
			if !silent {
				stranger.Close()
			} else {
				time.Sleep(10 * time.Second) // in the bubble: the handshake's time is over
			}
			synctest.Wait()
			require.NoError(t, a.Ping(testkit.Context(t), x.Name()))
		})
	}
}

// Strangers that claim to be a peer neither keep this node from connecting to that peer nor delay it, and the peer can
// connect.
func TestStrangersDoNotDelay(t *testing.T) {
	for _, name := range []string{"a", "z"} { // less than the peer's, and greater
		synctest.Test(t, func(t *testing.T) {
			w := clustertest.NewCluster(t)
			n, x := w.Start(name), w.Start("m")
			for range 3 {
				claims(t, w.Dial(n, "erlang", "127.0.0.2"), string(x.Name()))
			}
			begun := time.Now()
			require.NoError(t, n.Connect(testkit.Context(t), x.Name()))
			require.Zero(t, time.Since(begun))
			require.True(t, n.Disconnect(x.Name()))
			time.Sleep(time.Second) // the goodbye waits for a write in progress
			begun = time.Now()
			require.NoError(t, x.Connect(testkit.Context(t), n.Name()))
			require.Zero(t, time.Since(begun))
		})
	}
}

// A peer believes in a connection that this node has lost. This node insists on a new one, even while strangers claim
// to be that peer.
func TestStrangersDoNotKeepFromInsisting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := clustertest.NewCluster(t)
		x := w.Start("x")
		old := w.Dial(x, "native", "127.0.0.2") // as a former instance of a that has not ended its connection
		link, err := (&node.Distribution{}).ProtocolsByName("native")
		require.NoError(t, err)
		l, err := link[0].Dial(testkit.Context(t), old, dist.Handshake{Local: wire.NodeID{Name: "a@127.0.0.1", Creation: 5},
			Peer: x.Name(), Hidden: true,
			Cookies: func(wire.Atom) (string, string) { return "secret", "secret" }})
		require.NoError(t, err)
		defer l.Close()
		synctest.Wait()
		require.Equal(t, []node.Atom{"a@127.0.0.1"}, x.AllNodes())
		a := w.Start("a")
		claims(t, w.Dial(a, "erlang", "127.0.0.2"), string(x.Name()))
		begun := time.Now()
		require.NoError(t, a.Connect(testkit.Context(t), x.Name()))
		require.Zero(t, time.Since(begun))
		require.NoError(t, a.Ping(testkit.Context(t), x.Name()))
	})
}

// A relay has no cookie. It makes a node dial it, sends that node the challenge that the node has sent in another
// handshake, and passes the answer on.
func TestRelayedChallenge(t *testing.T) {
	t.Run("accepts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v, relay := relayed(t)
			in := relay.w.Dial(v, "erlang", "127.0.0.2")
			sayName(t, in, "relay@127.0.0.1")
			hear(t, in)
			posed, _ := hear(t, in)
			require.Len(t, posed, 1+8+4+4+2+len(v.Name()))
			out := relay.dialledBy(t, v, "other@127.0.0.1")
			answer, answered := relay.pose(t, out, "other@127.0.0.1", binary.BigEndian.Uint32(posed[9:]))
			if answered {
				say(t, in, "r", uint32(1), string(answer[5:]))
				_, in := hear(t, in)
				assert.False(t, in, "the relay is in")
			}
			assert.False(t, answered)
			synctest.Wait()
			require.Empty(t, v.AllNodes())
		})
	})
	t.Run("dials", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v, relay := relayed(t)
			one, two := relay.dialledBy(t, v, "relay@127.0.0.1"), relay.dialledBy(t, v, "other@127.0.0.1")
			first, ok := relay.pose(t, one, "relay@127.0.0.1", 1)
			require.True(t, ok)
			answer, answered := relay.pose(t, two, "other@127.0.0.1", binary.BigEndian.Uint32(first[1:]))
			if answered {
				say(t, one, "a", string(answer[5:]))
			}
			assert.False(t, answered)
			synctest.Wait()
			require.Empty(t, v.AllNodes(), "the relay is in")
		})
	})
}

// relay plays a peer without the cookie, under whose names a node looks for others.
type relay struct {
	w  *clustertest.Cluster
	ln net.Listener
}

func relayed(t *testing.T) (*node.Node, *relay) {
	w := clustertest.NewCluster(t)
	ln, err := w.Pipes.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { ln.Close() })
	for _, name := range []node.Atom{"relay@127.0.0.1", "other@127.0.0.1"} {
		w.Places.Put(name, []discovery.Endpoint{{Protocol: "erlang", Addr: ln.Addr().String()}})
	}
	return w.StartWith("victim", node.Distribution{Protocols: []dist.Protocol{&erldist.Protocol{}}}), &relay{w, ln}
}

// dialledBy makes the node connect to a name, and returns the connection.
func (r *relay) dialledBy(t *testing.T, v *node.Node, name node.Atom) net.Conn {
	t.Helper()
	require.NoError(t, v.Send(node.At{Name: "x", Node: name}, 1))
	c, err := r.ln.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	_, ok := hear(t, c)
	require.True(t, ok)
	say(t, c, "sok")
	return c
}

// pose sends a challenge in a name, and returns the answer.
func (r *relay) pose(t *testing.T, c net.Conn, name string, challenge uint32) ([]byte, bool) {
	t.Helper()
	say(t, c, "N", uint64(otpFlags), challenge, uint32(7), uint16(len(name)), name)
	return hear(t, c)
}

// Strangers do not keep an operator from a node that is short of memory: the few connections a second are for peers
// that have proved who they are.
func TestStrangersWhileShedding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := clustertest.NewCluster(t)
		var d node.Distribution
		chosen, err := d.ProtocolsByName("erlang")
		require.NoError(t, err)
		b := w.StartWith("b", node.Distribution{Protocols: chosen})
		a := w.StartWith("a", node.Distribution{Protocols: chosen})
		b.Inside(process.Key{}).Shed(true)
		for range 5 {
			claims(t, w.Dial(b, "erlang", "10.0.0.1"), "x@127.0.0.1")
		}
		require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
	})
}

// A node sends ticks when it has nothing to send, even to a peer that sends all the time; so a node that only receives
// stays connected. So does one that has nothing to send and receives nothing.
func TestSilentStayConnected(t *testing.T) {
	for _, protocol := range []string{"native", "erlang"} {
		for _, speaks := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				w := clustertest.NewCluster(t)
				w.Speak(protocol)
				d := node.Distribution{Timing: node.Timing{TickTime: 20 * time.Second}}
				a, b := w.StartWith("a", d), w.StartWith("b", d)
				w.Connect(a, b)
				heard := 0
				sink, err := b.Spawn(node.ActorFunc(func(*node.Context, any) error { heard++; return nil }))
				require.NoError(t, err)
				for range 200 {
					time.Sleep(time.Second)
					if speaks {
						require.NoError(t, a.Send(sink, 1))
					}
					require.Equal(t, []node.Atom{b.Name()}, a.AllNodes(), "%s, speaks: %v", protocol, speaks)
				}
				synctest.Wait()
				if speaks {
					require.Equal(t, 200, heard)
				}
			})
		}
	}
}
