package node_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/certtest"
	"github.com/actornode/actornode/internal/testkit/clustertest"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
	"github.com/actornode/actornode/wire/tlsdist"
)

// limitOf returns how much of a limit of a node is used.
func limitOf(t testing.TB, n *node.Node, name string) observe.Limit {
	t.Helper()
	all := n.LimitUsage()
	i := slices.IndexFunc(all, func(l observe.Limit) bool { return l.Name == name })
	require.GreaterOrEqual(t, i, 0, "%v", all)
	return all[i]
}

// Strangers open connections to both listeners, many more than may be pending, from one host or from many, and send
// nothing or little. Meanwhile nodes connect at once.
func TestFloodOfPending(t *testing.T) {
	for _, hosts := range []int{1, 40} {
		for _, says := range []string{"", "\x00", "\x00\x05"} {
			synctest.Test(t, func(t *testing.T) {
				w := clustertest.NewCluster(t)
				n, log := w.StartLogged("n", node.Distribution{Limits: node.Limits{Cluster: node.ClusterLimits{Pending: 32}}})
				goroutines := testkit.Goroutines()
				peers := 0
				for i := range 400 {
					for _, protocol := range []string{"erlang", "native"} {
						c := w.Dial(n, protocol, fmt.Sprint("10.0.0.", 1+i%hosts))
						if says != "" {
							_ = c.SetWriteDeadline(time.Now().Add(time.Millisecond)) // it may be dropped before
							_, _ = c.Write([]byte(says))
						}
					}
					if i%100 == 99 {
						synctest.Wait()
						require.LessOrEqual(t, testkit.Goroutines()-goroutines, 4*2*32+16*peers, "bounded")
						begun := time.Now()
						peer := w.StartWith(fmt.Sprint("peer", i), node.Distribution{})
						require.NoError(t, peer.Connect(testkit.Context(t), n.Name()))
						require.Zero(t, time.Since(begun))
						peers++
					}
				}
				synctest.Wait()
				all, share := limitOf(t, n, "pending"), limitOf(t, n, "pending_per_source")
				require.EqualValues(t, []int64{32, 8}, []int64{all.Max, share.Max})
				if hosts == 1 {
					require.EqualValues(t, []int64{8, 8}, []int64{all.Used, share.Used})
					require.Greater(t, share.Refused, uint64(500))
					require.Contains(t, log.String(), "limits.pending_per_source")
				} else {
					require.Greater(t, all.Refused, uint64(500))
					require.Contains(t, log.String(), "limits.pending)")
				}
				log.Take()
				time.Sleep(2*time.Second + time.Millisecond)
				synctest.Wait()
				require.Zero(t, limitOf(t, n, "pending").Used, "a name must come within two seconds")
				require.Contains(t, log.Take(), "did not send its name within 2s")
				require.Len(t, n.AllNodes(), peers)
			})
		}
	}
}

// A peer that sends its name, and then nothing, has the time of a handshake, and no more.
func TestSlowHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := clustertest.NewCluster(t)
		n, log := w.StartLogged("n", node.Distribution{})
		claims(t, w.Dial(n, "erlang", "10.0.0.1"), "x@127.0.0.1")
		time.Sleep(3 * time.Second)
		require.EqualValues(t, 1, limitOf(t, n, "pending").Used)
		time.Sleep(5 * time.Second)
		require.Zero(t, limitOf(t, n, "pending").Used)
		require.Contains(t, log.String(), "refused an incoming connection")
	})
}

// The number of connections is limited, in and out, and for each source. A refused node learns why, and both sides log
// it. When one connection ends another may come.
func TestMostConnections(t *testing.T) {
	for _, protocol := range []string{"native", "erlang"} {
		synctest.Test(t, func(t *testing.T) {
			w := clustertest.NewCluster(t)
			only, err := (&node.Distribution{}).ProtocolsByName(protocol)
			require.NoError(t, err)
			n, log := w.StartLogged("n", node.Distribution{Protocols: only,
				Limits: node.Limits{Cluster: node.ClusterLimits{Connections: 3, ConnectionsPerSource: 2}}})
			peer := func(name, host string) *node.Node {
				d := node.Distribution{Protocols: only, Transport: w.Pipes.At(host)}
				return w.StartWith(name, d)
			}
			a, b, c := peer("a", "10.0.0.1"), peer("b", "10.0.0.1"), peer("c", "10.0.0.1")
			require.NoError(t, a.Connect(testkit.Context(t), n.Name()))
			require.NoError(t, b.Connect(testkit.Context(t), n.Name()))
			err = c.Connect(testkit.Context(t), n.Name())
			require.Error(t, err)
			if protocol == "native" {
				require.ErrorContains(t, err, "n@127.0.0.1 accepts no more connections now")
			} else {
				require.ErrorContains(t, err, "not_allowed")
			}
			synctest.Wait()
			require.Contains(t, log.Take(), "too many connections to this node")
			require.EqualValues(t, 2, limitOf(t, n, "connections_per_source").Used)
			require.NotZero(t, limitOf(t, n, "connections_per_source").Refused)

			d, e := peer("d", "10.0.0.2"), peer("e", "10.0.0.3")
			require.NoError(t, n.Connect(testkit.Context(t), d.Name()))
			require.ErrorContains(t, n.Connect(testkit.Context(t), c.Name()), "limits.connections: 3")
			require.Error(t, e.Connect(testkit.Context(t), n.Name()))
			require.EqualValues(t, 3, limitOf(t, n, "connections").Used)
			require.NotZero(t, limitOf(t, n, "connections").Refused)
			synctest.Wait() // until d has the connection, too
			require.True(t, d.Disconnect(n.Name()))
			synctest.Wait()
			require.NoError(t, e.Connect(testkit.Context(t), n.Name()))
			// A peer that replaces its own connection is not refused.
			require.True(t, a.Disconnect(n.Name()))
			require.NoError(t, a.Connect(testkit.Context(t), n.Name()))
			synctest.Wait()
			require.EqualValues(t, 3, limitOf(t, n, "connections").Used)
			for _, p := range []*node.Node{a, b, e} {
				p.Disconnect(n.Name())
			}
			synctest.Wait()
			require.Zero(t, limitOf(t, n, "connections").Used)
			require.Zero(t, limitOf(t, n, "connections_per_source").Used)
		})
	}
}

// hole is a network in which only existing nodes answer.
type hole struct {
	*clustertest.Pipes
	under, most atomic.Int64
}

func (h *hole) Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error) {
	if !strings.HasPrefix(string(peer), "nobody") {
		return h.Pipes.Dial(ctx, addr, peer)
	}
	n := h.under.Add(1)
	defer h.under.Add(-1)
	for most := h.most.Load(); n > most && !h.most.CompareAndSwap(most, n); most = h.most.Load() {
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// everywhere finds every node at one address, except those it knows.
type everywhere struct{ *clustertest.Places }

func (e everywhere) Find(ctx context.Context, name node.Atom) ([]discovery.Endpoint, error) {
	if at, err := e.Places.Find(ctx, name); err == nil {
		return at, nil
	}
	return []discovery.Endpoint{{Protocol: "native", Addr: "10.9.9.9:9"}}, nil
}

// A peer makes this node answer ten thousand nodes that do not exist. The number of concurrent dials is limited; the
// others wait without a goroutine each, or fail at once. A node that somebody waits for is connected at once, and so is
// one that was connected before.
func TestManyDials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := clustertest.NewCluster(t)
		h := &hole{Pipes: w.Pipes}
		n := w.StartWith("n", node.Distribution{Transport: h, Finder: everywhere{w.Places},
			Limits: node.Limits{Cluster: node.ClusterLimits{Dials: 16}}})
		real, again := w.Start("real"), w.Start("again")
		require.NoError(t, n.Connect(testkit.Context(t), again.Name()))
		require.True(t, n.Disconnect(again.Name()))
		synctest.Wait()
		before := testkit.Goroutines()
		const many = 10_000
		for i := range many {
			require.NoError(t, n.Send(node.At{Name: "x", Node: node.Atom(fmt.Sprint("nobody", i, "@10.9.9.9"))}, i))
		}
		synctest.Wait()
		require.LessOrEqual(t, testkit.Goroutines()-before, 3*16)
		require.EqualValues(t, 12, h.most.Load(), "three quarters of 16")
		use := limitOf(t, n, "dials")
		require.EqualValues(t, []int64{16, 12}, []int64{use.Max, use.Used})
		require.EqualValues(t, many-12-16*16, use.Refused)

		begun := time.Now()
		require.NoError(t, n.Connect(testkit.Context(t), real.Name()))
		require.NoError(t, n.Send(node.At{Name: "x", Node: again.Name()}, 1))
		synctest.Wait()
		require.Equal(t, []node.Atom{again.Name(), real.Name()}, n.AllNodes())
		require.Zero(t, time.Since(begun))

		time.Sleep(20 * time.Second) // all have had their turn, or waited too long
		synctest.Wait()
		assert.Zero(t, limitOf(t, n, "dials").Used)
		assert.EqualValues(t, many, n.Stats().DeadLetters[deadletter.NotConnected], "each message is a dead letter")
		assert.LessOrEqual(t, h.most.Load(), int64(16))
		assert.Len(t, n.Peers(), 2)
	})
}

// Strangers begin handshakes in the names of peers, and end them in many ways, while the peers connect, disconnect and
// call each other.
func TestStrangersStress(t *testing.T) {
	seed := testkit.Seed(t)
	w := clustertest.NewCluster(t)
	var all []*node.Node
	for _, name := range []string{"a", "m", "z"} {
		n := w.StartWith(name, node.Distribution{Limits: node.Limits{Cluster: node.ClusterLimits{Pending: 16}}})
		_, err := n.SpawnOpt(node.Options{Name: "echo"}, node.ActorFunc(echo))
		require.NoError(t, err)
		all = append(all, n)
	}
	rounds := testkit.By(60, 400, 4000)
	var wg sync.WaitGroup
	for k := range 4 {
		r := randomOf(seed, k)
		wg.Go(func() {
			for range rounds {
				victim, name := all[r.IntN(3)], all[r.IntN(3)].Name()
				protocol := []string{"erlang", "native"}[r.IntN(2)]
				i := slices.IndexFunc(victim.Endpoints(), func(e discovery.Endpoint) bool { return e.Protocol == protocol })
				c, err := w.Pipes.At(fmt.Sprint("10.0.0.", r.IntN(3))).Dial(t.Context(), victim.Endpoints()[i].Addr, name)
				if err != nil {
					t.Error(err)
					return
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+r.IntN(8))*time.Millisecond)
				holds := r.IntN(2) == 0
				h := dist.Handshake{Local: wire.NodeID{Name: name, Creation: 3}, Peer: victim.Name(),
					Cookies: func(wire.Atom) (string, string) {
						if holds { // the handshake is half open until then
							<-ctx.Done()
						}
						return "guess", "guess"
					}}
				var p dist.Protocol = &erldist.Protocol{}
				if protocol == "native" {
					only, _ := (&node.Distribution{}).ProtocolsByName("native")
					p = only[0]
				}
				if _, err := p.Dial(ctx, c, h); err == nil {
					t.Error("a stranger is in")
				}
				cancel()
			}
		})
	}
	for k := range 3 {
		r := randomOf(seed, 10+k)
		wg.Go(func() {
			for range rounds {
				n, other := all[k], all[r.IntN(3)]
				if n == other {
					continue
				}
				switch r.IntN(4) {
				case 0:
					n.Disconnect(other.Name())
				case 1:
					_ = n.Connect(testkit.Context(t), other.Name())
				default:
					ctx, cancel := context.WithTimeout(t.Context(), testkit.Limit)
					_, err := node.Call[int](ctx, n, node.At{Name: "echo", Node: other.Name()}, 1)
					if ctx.Err() != nil {
						t.Errorf("a call hangs: %v", err)
					}
					cancel()
				}
			}
		})
	}
	wg.Wait()
	for _, n := range all {
		for _, other := range all {
			testkit.Until(t, func() string {
				if err := n.Ping(testkit.Context(t), other.Name()); err != nil {
					return err.Error()
				}
				return ""
			})
		}
		testkit.Until(t, func() string {
			if use := limitOf(t, n, "pending"); use.Used > 0 {
				return fmt.Sprintf("%+v", use)
			}
			if use := limitOf(t, n, "connections"); use.Used != 2 {
				return fmt.Sprintf("%+v", use)
			}
			return ""
		})
	}
}

func randomOf(seed uint64, k int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(k))) }

// Refused connections that are told why have a while to read it. That does not allow more connections than may be
// pending.
func TestFloodOfRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := clustertest.NewCluster(t)
		n := w.StartWith("n", node.Distribution{Limits: node.Limits{Cluster: node.ClusterLimits{Pending: 16, PendingPerSource: 16}}})
		synctest.Wait()
		before := testkit.Goroutines()
		for range 300 {
			c := w.Dial(n, "native", "10.0.0.1")
			_, err := c.Write([]byte("\x00\x05Hello"))
			require.NoError(t, err)
			go func() { _, _ = c.Read(make([]byte, 1000)) }() // ends with the refusal
		}
		synctest.Wait()
		require.LessOrEqual(t, testkit.Goroutines()-before, 3*16)
		require.LessOrEqual(t, limitOf(t, n, "pending").Used, int64(16))
	})
}

// A TLS handshake that does not end is aborted when the time for the whole handshake is over, and can be dropped
// before.
func TestEndlessTLSHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := clustertest.NewCluster(t)
		files := certtest.New(t, "ca").Write(t.TempDir(), certtest.Host("127.0.0.1"))
		tr, err := tlsdist.New(tlsdist.Config{Cert: files.Cert, Key: files.Key, CA: files.CA, Under: w.Pipes})
		require.NoError(t, err)
		n := w.StartWith("n", node.Distribution{Transport: tr, Limits: node.Limits{Cluster: node.ClusterLimits{Pending: 8}}})
		synctest.Wait()
		handshakes := func() int { return testkit.Goroutines("wire/tlsdist.") }
		before := handshakes() // the listener's
		for range 20 {
			c := w.Dial(n, "native", "10.0.0.1")
			go func() { // a byte a second of a long message; ends with the connection
				for _, err := c.Write([]byte("\x16\x03\x01\x02\x00")); err == nil; _, err = c.Write([]byte{1}) {
					time.Sleep(time.Second)
				}
			}()
		}
		synctest.Wait()
		require.EqualValues(t, 8, limitOf(t, n, "pending").Used)
		require.Greater(t, handshakes(), before)
		time.Sleep(8 * time.Second)
		synctest.Wait()
		require.Zero(t, limitOf(t, n, "pending").Used)
		require.Equal(t, before, handshakes(), "nothing goes on with them")
		other := w.StartWith("other", node.Distribution{Transport: tr})
		require.NoError(t, other.Connect(testkit.Context(t), n.Name()))
	})
}
