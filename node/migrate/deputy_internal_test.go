package migrate

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

// guarded is a Mover that records the signals that it gets.
type guarded struct{ got []any }

// What guarded answers to, besides recording all else.
type (
	recorded   struct{} // what it has got: a wire.List of text
	linking    struct{ PID node.PID }
	monitoring struct{ PID node.PID }
)

func init() {
	node.RegisterTypes(node.TypeOf[recorded]("deputy.recorded"), node.TypeOf[linking]("deputy.linking"),
		node.TypeOf[monitoring]("deputy.monitoring"))
}

func (g *guarded) Receive(c *node.Context, msg any) error {
	r, ok := c.Node().AsRequest(msg)
	if !ok {
		g.got = append(g.got, wire.Format(msg))
		return nil
	}
	switch q := r.Body.(type) {
	case recorded:
		return r.From.Reply(append(wire.List{}, g.got...))
	case linking:
		c.Link(q.PID)
	case monitoring:
		return r.From.Reply(c.Monitor(q.PID))
	}
	return r.From.Reply(true)
}

func (g *guarded) MoveOut(*node.Context) (any, error)      { return append(wire.List{}, g.got...), nil }
func (g *guarded) MoveIn(_ *node.Context, state any) error { g.got = state.(wire.List); return nil }

// deputyTest is two nodes that move processes, and a peer of both that may do little.
type deputyTest struct {
	*testing.T
	a, b, c *node.Node
	me      *nodetest.Probe                  // of b
	step    func(c *node.Context, at string) // on c; set before a move
}

// newDeputyTest starts the nodes; b has no service, so that a test can be one.
func newDeputyTest(t *testing.T, of *clustertest.Cluster, may ...string) *deputyTest {
	w := &deputyTest{T: t}
	policy, err := rights.New(rights.Config{Rules: []rights.Rule{
		{Peer: "b@127.0.0.1", May: append(may, "connect", "send migrate", "call migrate")}, {May: []string{"all"}}}})
	require.NoError(t, err)
	with := node.Distribution{Access: node.Access{Rights: policy}}
	w.a, w.b, w.c = of.StartWith("a", with), of.Start("b"), of.StartWith("c", with)
	kind := Kind{Name: "guarded", New: func() node.Actor { return new(guarded) }}
	require.NoError(t, Start(testkit.Context(t), w.a, kind))
	require.NoError(t, start(testkit.Context(t), w.c, func(c *node.Context, at string) {
		if w.step != nil {
			w.step(c, at)
		}
	}, pause, []Kind{kind}))
	of.Connect(w.a, w.b, w.c)
	w.me = nodetest.NewProbe(t, w.b)
	w.me.TrapExit(true)
	return w
}

// guarded starts a process that can move.
func (w *deputyTest) guarded(n *node.Node, name node.Atom) node.PID {
	pid, err := n.SpawnOpt(node.Options{Name: name}, new(guarded))
	require.NoError(w, err)
	return pid
}

func (w *deputyTest) move(pid node.PID, from, to *node.Node) node.PID {
	now, err := To(testkit.Context(w), from, pid, to.Name())
	require.NoError(w, err)
	return now
}

// recorded is what a process of n has got.
func (w *deputyTest) recorded(n *node.Node, pid node.PID) wire.List {
	synctest.Wait()
	return ask[wire.List](w.T, n, pid, recorded{})
}

// inBubbles runs a test over each protocol.
func inBubbles(t *testing.T, f func(t *testing.T, of *clustertest.Cluster)) {
	for _, protocol := range []string{"native", "erlang"} {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				of := clustertest.NewCluster(t)
				of.Speak(protocol)
				f(t, of)
			})
		})
	}
}

func ask[R any](t *testing.T, from node.Caller, to node.Dest, q any) R {
	v, err := node.Call[R](testkit.Context(t), from, to, q)
	require.NoError(t, err)
	return v
}

// A peer that is not a node where a process has been tells the services that a signal has come for it, that a link or a
// monitor of it is gone. Neither the node where it was nor the one where it is takes that from the peer, and the first does
// not say it to the second in its own name.
func TestPeerRelaysNoSignals(t *testing.T) {
	inBubbles(t, func(t *testing.T, of *clustertest.Cluster) {
		w := newDeputyTest(t, of)
		near, far := nodetest.NewProbe(t, w.a), nodetest.NewProbe(t, w.a)
		near.TrapExit(true)
		pid := w.guarded(w.a, "")
		require.True(t, ask[bool](t, w.a, pid, linking{near.Self()}))
		ref := ask[node.Ref](t, w.a, pid, monitoring{far.Self()})
		now := w.move(pid, w.a, w.c)
		for _, to := range []node.PID{pid, now} {
			for _, identity := range []wire.Ref{{}, w.b.MakeRef(), w.a.MakeRef()} {
				for _, holder := range []node.PID{pid, now, w.me.Self()} {
					for _, n := range []*node.Node{w.a, w.c} {
						for _, from := range []node.PID{near.Self(), holder, w.me.Self(), {}} {
							require.NoError(t, w.me.Send(at(n.Name()), exited{to, from, node.Kill, identity}))
							require.NoError(t, w.me.Send(at(n.Name()), exited{to, from, wire.Atom("boom"), identity}))
						}
						require.NoError(t, w.me.Send(at(n.Name()), down{to, node.Down{Ref: ref, PID: far.Self(), Reason: 1}, identity}))
						require.NoError(t, w.me.Send(at(n.Name()), drop{holder, near.Self(), wire.Ref{}, identity}))
						require.NoError(t, w.me.Send(at(n.Name()), drop{holder, node.PID{}, ref, identity}))
						require.NoError(t, w.me.Send(at(n.Name()), mark{ref, to, identity}))
					}
				}
			}
		}
		require.Empty(t, w.recorded(w.c, now))
		i, err := w.a.Info(near.Self())
		require.NoError(t, err)
		require.Equal(t, []node.PID{pid}, i.Links)
		i, err = w.a.Info(far.Self())
		require.NoError(t, err)
		require.Equal(t, []node.PID{pid}, i.Watchers)
		near.Close(wire.Atom("bye")) // the link that the process has made before it moved is there, and still tells it
		synctest.Wait()
		require.False(t, w.c.IsAlive(now))
		require.False(t, w.a.IsAlive(pid))
	})
}

// A peer that may move a process to this node says that the process is one of another node. What this node then says to the
// process that moves does not go there.
func TestPeerNamesSource(t *testing.T) {
	inBubbles(t, func(t *testing.T, of *clustertest.Cluster) {
		w := newDeputyTest(t, of, "spawn migrate:guarded/1")
		for _, n := range []*node.Node{w.a, w.c} {
			victim := nodetest.NewProbe(t, n)
			for _, id := range []wire.Ref{w.b.MakeRef(), w.a.MakeRef(), n.MakeRef()} {
				for _, messages := range []int{0, 5} { // it starts, and it does not
					p := prepare{ID: id, Kind: "guarded", Source: victim.Self(), Trail: []node.PID{victim.Self()}, Identity: id,
						State: wire.List{}}
					got, err := node.Call[prepared](testkit.Context(t), w.me, at(w.a.Name()), p)
					if err == nil {
						ref := w.me.Monitor(got.Arrival)
						require.NoError(t, w.me.Send(got.Arrival, commit{id, messages}))
						if messages > 0 {
							w.me.ExpectDown(ref)
						}
						synctest.Wait()
					}
					require.Empty(t, actortest.Rest(victim))
					require.ErrorIs(t, err, ErrNotAllowed)
				}
			}
		}
		id := w.b.MakeRef() // as itself it may
		got, err := node.Call[prepared](testkit.Context(t), w.me, at(w.a.Name()),
			prepare{ID: id, Kind: "guarded", Source: w.me.Self(), State: wire.List{}})
		require.NoError(t, err)
		require.NoError(t, w.me.Send(got.Arrival, commit{id, 0}))
		require.Equal(t, started{id, got.Arrival}, nodetest.Expect[started](w.me))
	})
}

// A peer that may move a process to this node names holders of its links and monitors, or forwarders, that the process cannot
// have. The node does not take it, and so says nothing to their nodes.
func TestPeerNamesHolders(t *testing.T) {
	inBubbles(t, func(t *testing.T, of *clustertest.Cluster) {
		w := newDeputyTest(t, of, "spawn migrate:guarded/1")
		near, far := nodetest.NewProbe(t, w.a), nodetest.NewProbe(t, w.c)
		mine, ref := w.me.Self(), w.b.MakeRef()
		trail := func(n int) []node.PID { return slices.Repeat([]node.PID{mine}, n) }
		held := "on a node where it has not been"
		for _, q := range []struct {
			what string
			p    prepare
			says string // empty: it is taken
		}{
			{"a link on a third node", prepare{Links: []link{{near.Self(), mine}, {near.Self(), far.Self()}}}, held},
			{"a link on this node", prepare{Links: []link{{far.Self(), near.Self()}}}, held},
			{"a link on no node", prepare{Links: []link{{far.Self(), node.PID{}}}}, held},
			{"a monitor on a third node", prepare{Monitors: []monitor{{ref, mine}, {ref, far.Self()}}}, held},
			{"a monitor on this node", prepare{Monitors: []monitor{{ref, near.Self()}}}, held},
			{"a monitor on no node", prepare{Monitors: []monitor{{ref, node.PID{}}}}, held},
			{"too many forwarders", prepare{Trail: trail(mostForwarders + 1)}, "it has 65 forwarders, and at most 64 are allowed"},
			{"as many forwarders as there may be", prepare{Trail: trail(mostForwarders)}, ""},
			{"a link and a monitor by a forwarder", prepare{Trail: []node.PID{far.Self(), mine},
				Links:    []link{{near.Self(), far.Self()}, {far.Self(), mine}},
				Monitors: []monitor{{ref, far.Self()}, {w.b.MakeRef(), mine}}}, ""},
		} {
			q.p.ID, q.p.Kind, q.p.Source, q.p.State = w.b.MakeRef(), "guarded", mine, wire.List{}
			got, err := node.Call[prepared](testkit.Context(t), w.me, at(w.a.Name()), q.p)
			if q.says != "" {
				require.ErrorIs(t, err, ErrNotAllowed, q.what)
				require.ErrorContains(t, err, q.says, q.what)
				continue
			}
			require.NoError(t, err, q.what)
			require.NoError(t, w.me.Send(got.Arrival, abort{q.p.ID}))
		}
	})
}

// A peer that a process moves to says that a process of another node takes it in, or has become it. That one gets neither
// the messages that wait nor those that come later.
func TestPeerNamesArrival(t *testing.T) {
	inBubbles(t, func(t *testing.T, of *clustertest.Cluster) {
		w := newDeputyTest(t, of, "send moving", "call moving")
		for _, how := range []string{"prepared", "started", "outcome"} {
			for _, n := range []*node.Node{w.a, w.c} {
				w.impostor(how, n)
			}
		}
	})
}

// impostor moves a process of a to b, which answers that it is now a process of victims.
func (w *deputyTest) impostor(how string, victims *node.Node) {
	victim, pid := nodetest.NewProbe(w, victims), w.guarded(w.a, "moving")
	var id wire.Ref
	mine := nodetest.NewProbe(w, w.b) // the arrival that b has
	service, err := w.b.SpawnOpt(node.Options{Name: service}, node.ActorFunc(func(c *node.Context, msg any) error {
		r, ok := c.Node().AsRequest(msg)
		if !ok {
			return nil
		}
		switch q := r.Body.(type) {
		case prepare:
			id = q.ID
			require.NoError(w, w.a.Send(pid, wire.Atom("a_secret")))
			if how == "prepared" {
				return r.From.Reply(prepared{Arrival: victim.Self()})
			}
			return r.From.Reply(prepared{Arrival: mine.Self()})
		case outcome:
			return r.From.Reply(victim.Self())
		}
		return nil
	}))
	require.NoError(w, err)
	moved := make(chan error, 1)
	ctx := testkit.Context(w)
	go func() { // it ends when To returns, which is waited for
		_, err := To(ctx, w.a, pid, w.b.Name())
		moved <- err
	}()
	synctest.Wait()
	switch how {
	case "started":
		require.NoError(w, w.me.Send(node.At{Name: "moving", Node: w.a.Name()}, started{id, victim.Self()}))
	case "outcome":
		mine.Close(wire.Atom("boom"))
	}
	synctest.Wait()
	require.NoError(w, w.me.Send(node.At{Name: "moving", Node: w.a.Name()}, wire.Atom("another")))
	synctest.Wait()
	require.Empty(w, actortest.Rest(victim), how)
	if how == "started" { // the process has not moved yet, and does when b says so of its own process
		require.Empty(w, moved)
		require.NoError(w, w.me.Send(node.At{Name: "moving", Node: w.a.Name()}, started{id, mine.Self()}))
		require.NoError(w, <-moved)
	} else {
		require.ErrorIs(w, <-moved, ErrFailed)
		require.Equal(w, wire.List{"a_secret", "another"}, w.recorded(w.a, pid))
	}
	w.a.Exit(pid, node.Kill)
	w.b.Exit(service, node.Kill)
	synctest.Wait()
}

// A peer asks for the outcome of a move between two other nodes. That does not end what is to become the process.
func TestPeerAsksForOutcome(t *testing.T) {
	inBubbles(t, func(t *testing.T, of *clustertest.Cluster) {
		w := newDeputyTest(t, of)
		asked := 0
		w.step = func(c *node.Context, step string) {
			if step != "source ready" {
				return
			}
			_, b := c.Inside(process.Key{}).Process()
			for _, id := range []wire.Ref{b.(*mover).prepare.ID, w.b.MakeRef()} {
				asked++
				now, err := node.Call[node.PID](testkit.Context(t), w.b, at(w.a.Name()), outcome{id, b.(*mover).arrival, node.PID{}})
				require.True(t, err != nil || now.IsZero(), "%v", now)
			}
		}
		now := w.move(w.guarded(w.c, ""), w.c, w.a)
		require.Equal(t, 2, asked)
		require.Empty(t, w.recorded(w.a, now))
	})
}
