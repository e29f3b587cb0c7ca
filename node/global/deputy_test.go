package global_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// silent makes a node visible and leaves the name global_name_server to a test.
type silent struct{}

func (silent) Publish(process.Key, *node.Node) error { return nil }

// clashTest is two published nodes and a peer of the first, which plays the name server of its node.
type clashTest struct {
	*testing.T
	a, b, c *node.Node
	policy  *rights.Policy
	me      *node.Process         // global_name_server of b
	victims map[string]*nodeProbe // on a and on c
	paid    int                   // calls of shop:pay/3 on either node
}

// nodeProbe is a process that records nothing but what it has in its mailbox.
type nodeProbe struct {
	*node.Process
	n *node.Node
}

func newClashTest(t *testing.T, protocol, third string, operators bool) *clashTest {
	w := &clashTest{T: t, victims: map[string]*nodeProbe{}}
	of := clustertest.NewCluster(t)
	of.Speak(protocol)
	var err error
	w.policy, err = rights.New(rights.Config{})
	require.NoError(t, err)
	with := node.Distribution{Access: node.Access{Rights: w.policy}, Published: global.Join(global.Config{})}
	w.a, w.c = of.StartWith("a", with), of.StartWith(third, with)
	w.b = of.StartWith("b", node.Distribution{Published: silent{}})
	for _, n := range []*node.Node{w.a, w.c} {
		require.NoError(t, rpc.Export(n, pay, func(context.Context, []any) (any, error) { w.paid++; return 1, nil }))
	}
	if operators { // c is the only one
		is := func(name node.Atom) bool { return name == w.c.Name() }
		require.NoError(t, admin.Start(testkit.Context(t), w.a, admin.Config{Operators: is}))
	}
	require.NoError(t, w.a.Connect(testkit.Context(t), w.c.Name()))
	require.NoError(t, global.Sync(testkit.Context(t), w.a, w.c.Name()))
	w.me = nodetest.NewProbe(t, w.b).Process
	require.NoError(t, w.b.Register("global_name_server", w.me.Self()))
	return w
}

// victim returns a process of n with that name, a new one if it has been ended.
func (w *clashTest) victim(n *node.Node, name string) node.PID {
	v := w.victims[name]
	if v == nil || !n.IsAlive(v.Self()) {
		v = &nodeProbe{nodetest.NewProbe(w.T, n).Process, n}
		w.victims[name] = v
	}
	return v.Self()
}

func tuple(v ...any) wire.Tuple { return v }

func word(s string) wire.Atom { return wire.Atom(s) }

// cast sends the name server of a what that of b would.
func (w *clashTest) cast(v ...any) {
	require.NoError(w, w.me.Send(node.At{Name: "global_name_server", Node: w.a.Name()}, calls.MakeCast(tuple(v...))))
	synctest.Wait()
}

// got returns the casts of a kind that the name server of b has got.
func (w *clashTest) got(kind wire.Atom) (all []wire.Tuple) {
	for _, m := range actortest.Rest(w.me) {
		body, _ := node.AsCast(m)
		if t, ok := body.(wire.Tuple); ok && t[0] == any(kind) {
			all = append(all, t)
		}
	}
	return all
}

// clash lets b do this by messages to the name server of a alone: it gives a name to ours, with a method, and says in a
// handshake that his has that name, too.
func (w *clashTest) clash(method wire.Export, ours, his node.PID) {
	w.a.Disconnect(w.b.Name())
	synctest.Wait()
	actortest.Rest(w.me)
	require.NoError(w, w.b.Connect(testkit.Context(w), w.a.Name()))
	synctest.Wait()
	began := w.got("init_connect")
	require.Len(w, began, 1)
	tag := began[0][1].(wire.Tuple)[1]
	b := w.b.Name()
	entry := func(pid node.PID) wire.Tuple { return tuple(word("x"), pid, method) }
	w.cast(word("new_nodes"), b, wire.List{tuple(word("insert"), entry(ours))}, wire.List{}, wire.List{}, wire.List{})
	has, _ := global.Whois(w.a, word("x"))
	require.Equal(w, ours, has)
	w.cast(word("init_connect"), tuple(8, 77), b, tuple(word("locker"), word("no_longer_a_pid"), wire.NewMap(), w.me.Self()))
	w.cast(word("lock_set"), w.me.Self(), wire.AtomTrue, wire.List{}, tag)
	require.Len(w, w.got("exchange"), 1)
	w.cast(word("exchange"), b, wire.List{entry(his)}, wire.List{}, tag)
	time.Sleep(2 * time.Millisecond) // of the bubble
	synctest.Wait()
	require.Len(w, w.got("resolved"), 1, "the clash of %v and %v has been resolved by %v", ours, his, method)
}

// effects returns what has happened to others since it was called last.
func (w *clashTest) effects() map[string]bool {
	e := map[string]bool{}
	for name, v := range w.victims {
		if v.n == w.b {
			continue // the peer may do that to its own
		}
		if !v.n.IsAlive(v.Self()) {
			e[map[bool]string{true: "end here", false: "end there"}[v.n == w.a]] = true
			delete(w.victims, name)
		} else if len(actortest.Rest(v.Process)) > 0 {
			e["message"] = true
		}
	}
	if w.paid > 0 {
		e["call"], w.paid = true, 0
	}
	return e
}

// A peer brings about a clash of names and says which processes have the name, with which method. What the resolution does
// to processes, here or on a third node, the peer must have the right to do, and to call the method.
func TestPeerMakesNamesClash(t *testing.T) {
	for _, protocol := range []string{"native", "erlang"} {
		for _, third := range []string{"c", "0"} { // after a and before it: that decides which process a method ends
			for _, operators := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, with %s, operators %t", protocol, third, operators), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { newClashTest(t, protocol, third, operators).run(operators) })
				})
			}
		}
	}
}

// run tries all clashes with some rights. operators says that a has operators, and b is none.
func (w *clashTest) run(operators bool) {
	seen := map[string]bool{}
	for _, more := range [][]string{nil, {"signal"}, {"send", "call"}, {"send", "call", "signal"}, {"all"}} {
		may := append([]string{"connect", "send global_name_server", "call global_name_server"}, more...)
		require.NoError(w, w.policy.Set(rights.Config{Rules: []rights.Rule{{Peer: string(w.b.Name()), May: may},
			{May: []string{"all"}}}}))
		all := slices.Contains(may, "all")
		sends, signals := all || slices.Contains(may, "send"), all || slices.Contains(may, "signal")
		for _, method := range []wire.Export{pay, global.RandomExit, global.RandomNotify, global.NotifyAll} {
			for _, ours := range []*node.Node{w.a, w.c} {
				for _, his := range []*node.Node{w.a, w.b, w.c} {
					what := fmt.Sprintf("%v of %s and %s, with %q", method, ours.Name(), his.Name(), may)
					w.clash(method, w.victim(ours, "ours "+string(ours.Name())), w.victim(his, "his "+string(his.Name())))
					got := w.effects()
					for e := range got {
						seen[fmt.Sprint(e, all)] = true
					}
					require.False(w, got["end here"] && (operators || !signals), what)
					require.False(w, got["end there"] && !(signals && sends), what)
					require.False(w, got["message"] && !sends, what)
					require.False(w, got["call"] && !all, what)
				}
			}
		}
	}
	want := []string{"end there", "message", "call"} // each happens to who may do it
	if !operators {
		want = append(want, "end here")
	}
	for _, e := range want {
		require.True(w, seen[e+"true"], e)
	}
}

// pay is a function that peers may call only with the right to it.
var pay = wire.Export{Module: "shop", Function: "pay", Arity: 3}

// A peer whose request names no process, or a process of another node and an alias of its own, gets no lock: the goroutines of
// this node, or that process, would have it.
func TestPeerOfNoProcess(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, of *clustertest.Cluster) {
		a := of.StartWith("a", node.Distribution{Published: global.Join(global.Config{})})
		b := of.StartWith("b", node.Distribution{Published: silent{}})
		me, near := nodetest.NewProbe(t, b), nodetest.NewProbe(t, a)
		ask := func(who any, lock string) any {
			alias := wire.ImproperList{Head: []any{word("alias")}, Tail: me.AliasOnce()}
			request := calls.MakeCall(tuple(who, alias), tuple(word("set_lock"), tuple(word(lock), me.Self())))
			require.NoError(t, me.Send(node.At{Name: "global_name_server", Node: a.Name()}, request))
			return nodetest.Expect[wire.Tuple](me)[1]
		}
		require.Equal(t, true, ask(me.Self(), "mine"))
		for i, who := range []any{word("undefined"), near.Self()} {
			lock := fmt.Sprint("lock", i)
			require.NotEqual(t, true, ask(who, lock))
			ok, err := global.TryLock(testkit.Context(t), near, global.ID{Resource: word(lock), Requester: near.Self()}, a.Name())
			require.NoError(t, err)
			require.True(t, ok, "nobody has it")
		}
	})
}
