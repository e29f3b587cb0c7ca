package node_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/internal/testkit/porttest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// wanted returns what a node reports about another that it is to be connected to.
func wanted(n *node.Node, name node.Atom) (w observe.Wanted, ok bool) {
	all := n.Wanted()
	i := slices.IndexFunc(all, func(w observe.Wanted) bool { return w.Name == name })
	if i < 0 {
		return w, false
	}
	return all[i], true
}

// A member of the mesh is reported for as long as it is listed, whether it is connected, was, or never has been.
func TestWantedOfMesh(t *testing.T) {
	places, log := &clustertest.Places{}, &logtest.Text{}
	places.Put("gone@127.0.0.1", []discovery.Endpoint{{Addr: fmt.Sprint("127.0.0.1:", porttest.Reserve(t))}})
	own := &clustertest.Places{} // of b, which removes itself from it when it stops; for a it stays listed
	b := startMesh(t, "b@127.0.0.1", own, log)
	defer b.Stop()
	at, err := own.Find(t.Context(), "b@127.0.0.1")
	require.NoError(t, err)
	places.Put("b@127.0.0.1", at)
	a := startMesh(t, "a@127.0.0.1", places, log)
	defer a.Stop()
	names := func() (all []node.Atom) {
		for _, w := range a.Wanted() {
			all = append(all, w.Name)
		}
		return all
	}
	testkit.Until(t, func() string {
		up, _ := wanted(a, "b@127.0.0.1")
		never, _ := wanted(a, "gone@127.0.0.1")
		if !up.Up || never.Failure == "" || never.Since.IsZero() {
			return fmt.Sprintf("%+v", a.Wanted())
		}
		return ""
	})
	require.Equal(t, []node.Atom{"b@127.0.0.1", "gone@127.0.0.1"}, names())
	up, _ := wanted(a, "b@127.0.0.1")
	require.Equal(t, observe.Wanted{Name: "b@127.0.0.1", Listed: true, Up: true}, up)
	require.NoError(t, b.Stop())
	seenNext := false
	testkit.Until(t, func() string {
		w, ok := wanted(a, "b@127.0.0.1")
		seenNext = seenNext || !w.Next.IsZero()
		if !ok || w.Up || !w.Listed || w.Failure == "" || w.Since.IsZero() || !seenNext {
			return fmt.Sprintf("%+v", a.Wanted())
		}
		return ""
	})
	require.Equal(t, []node.Atom{"b@127.0.0.1", "gone@127.0.0.1"}, names(), "at any time, not only while it is tried")
}

// Without a mesh a lost node is reported until it is connected again, or disconnected, or an hour has passed; one that
// has stopped in an orderly way is not lost.
func TestWantedAfterLoss(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		cut := &clustertest.Cutter{}
		c.Pipes = nil
		a, log := c.StartLogged("a", node.Distribution{Transport: cut})
		b := c.StartWith("b", node.Distribution{Transport: cut})
		connect := func() { // b does not dial: a cut connection ends in an orderly way for the side that did not dial
			require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
			testkit.UntilTrue(t, func() bool { return len(b.AllNodes()) > 0 }, "both are connected")
			require.NoError(t, a.Ping(testkit.Context(t), b.Name()))
			testkit.Until(t, func() string { return node.FarTables(a) + node.FarTables(b) }) // nothing is under way
		}
		connect()
		require.Empty(t, a.Wanted())
		require.NotContains(t, log.String(), "node down")
		lose := func() observe.Wanted {
			began := time.Now()
			log.Take()
			cut.Cut()
			var w observe.Wanted
			testkit.Until(t, func() string {
				if w, _ = wanted(a, b.Name()); w.Name == "" {
					return "it is not lost"
				}
				return ""
			})
			testkit.Until(t, func() string {
				return missing(log.String(), fmt.Sprintf("level=WARN msg=\"node down\" peer=%s", b.Name()))
			})
			testkit.UntilTrue(t, func() bool { return len(b.AllNodes()) == 0 }, "the other one knows")
			require.False(t, w.Up || w.Listed || w.Since.Before(began) || w.Failure == "", "%+v", w)
			return w
		}
		w := lose()
		require.Contains(t, log.String(), w.Failure)
		connect()
		require.Empty(t, a.Wanted())
		lose()
		a.Disconnect(b.Name())
		require.Empty(t, a.Wanted())
		connect()
		log.Take()
		require.NoError(t, b.Stop())
		testkit.Until(t, func() string {
			if len(a.AllNodes()) > 0 {
				return "it is connected"
			}
			return ""
		})
		testkit.Until(t, func() string { return missing(log.String(), `level=INFO msg="node down"`) })
		require.Empty(t, a.Wanted())
		require.NotContains(t, log.String(), `level=WARN msg="node down"`)
	})
}

func missing(text, part string) string {
	if strings.Contains(text, part) {
		return ""
	}
	return "the log lacks " + part
}

// mute is a transport whose dialled connections lose everything that is written once it is set.
type mute struct {
	dist.Transport
	on *atomic.Bool
}

func (m mute) Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error) {
	conn, err := m.Transport.Dial(ctx, addr, peer)
	if err != nil {
		return nil, err
	}
	return muteConn{conn, m.on}, nil
}

type muteConn struct {
	net.Conn
	on *atomic.Bool
}

func (c muteConn) Write(b []byte) (int, error) {
	if c.on.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// A peer that goes silent is lost, and that is logged as a warning.
func TestWantedAfterSilence(t *testing.T) {
	for _, protocol := range []string{"native", "erlang"} {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.NewCluster(t)
				c.Speak(protocol)
				on := &atomic.Bool{}
				a, log := c.StartLogged("a", node.Distribution{Timing: node.Timing{TickTime: 4 * time.Second}})
				b := c.StartWith("b", node.Distribution{Transport: mute{c.Pipes, on}, Timing: node.Timing{TickTime: 100 * time.Hour}})
				require.NoError(t, b.Connect(testkit.Context(t), a.Name()))
				synctest.Wait()
				on.Store(true)
				time.Sleep(6 * time.Second) // in the bubble
				w, ok := wanted(a, b.Name())
				require.True(t, ok)
				require.Contains(t, w.Failure, "net_tick_timeout")
				require.Contains(t, log.String(), "level=WARN msg=\"node down\"")
				time.Sleep(time.Hour)
				require.Empty(t, a.Wanted(), "nobody has asked for it for an hour")
			})
		})
	}
}
