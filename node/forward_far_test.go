package node_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// eachProtocolOfThree runs f with three nodes for each protocol between nodes.
func eachProtocolOfThree(t *testing.T, f func(t *testing.T, a, b, c *node.Node)) {
	clustertest.EachProtocol(t, func(t *testing.T, all *clustertest.Cluster) {
		a, b, c := all.Start("a"), all.Start("b"), all.Start("c")
		all.Connect(a, b, c)
		f(t, a, b, c)
	})
}

// noneFar waits until nodes have no monitor and no call between them.
func noneFar(t testing.TB, nodes ...*node.Node) {
	t.Helper()
	testkit.Until(t, func() string {
		for _, n := range nodes {
			for _, p := range n.Peers() {
				if p.Monitors+p.Watchers+p.Calls != 0 {
					return fmt.Sprintf("%s has %d monitors, %d watchers and %d calls of %s", n.Name(), p.Monitors, p.Watchers, p.Calls, p.Name)
				}
			}
		}
		return ""
	})
}

// The caller, the forwarder and the worker are on any of the nodes.
func TestForwardFar(t *testing.T) {
	eachProtocolOfThree(t, func(t *testing.T, a, b, c *node.Node) {
		nodes := []*node.Node{a, b, c}
		for i := range 27 {
			caller, forwarder, server := nodes[i/9], nodes[i/3%3], nodes[i%3]
			t.Run(fmt.Sprintf("%.1s %.1s %.1s", caller.Name(), forwarder.Name(), server.Name()), func(t *testing.T) {
				for k, name := range slices.Sorted(maps.Keys(asks)) {
					if testkit.At() < testkit.Merge && k != i%len(asks) {
						continue // make merge tries all ways to call, on all nodes
					}
					ask := asks[name]
					w := newForwardee()
					to := spawn(t, server, w)
					via := spawn(t, forwarder, newForwarder(to))
					got, err := ask(t, caller, via, answer)
					require.NoError(t, err, name)
					require.Equal(t, "done", got)
					_, err = ask(t, caller, via, refuse)
					require.ErrorContains(t, err, "refused")
					_, err = ask(t, caller, via, crash)
					boom(t, err)
					_, err = ask(t, caller, via, answer)
					require.ErrorIs(t, err, node.ErrNoProcess)

					w = newForwardee()
					to = spawn(t, server, w)
					via = spawn(t, forwarder, newForwarder(to))
					f := node.Async[string](caller, via, keep)
					from := testkit.Receive(t, w.kept)
					if server == forwarder { // the From of the caller
						noForwarder(t, forwarder, via)
					}
					require.NoError(t, from.Reply("late"))
					got, err = node.Await(testkit.Context(t), caller, f)
					require.NoError(t, err)
					require.Equal(t, "late", got)

					if server != forwarder {
						f = node.Async[string](caller, via, keep)
						testkit.Receive(t, w.kept)
						require.True(t, f.Cancel())
					}
				}
				noneFar(t, nodes...)
			})
		}
	})
}

// noForwarder ends a forwarder, and waits until it is over.
func noForwarder(t *testing.T, n *node.Node, via node.PID) {
	h := nodetest.NewProbe(t, n)
	ref := h.Monitor(via)
	n.Exit(via, node.Kill)
	h.ExpectDown(ref)
}

// The caller gets an error if the worker's node is lost; a name there works like a PID.
func TestWorkersNodeIsLost(t *testing.T) {
	eachProtocolOfThree(t, func(t *testing.T, a, b, c *node.Node) {
		for _, caller := range []*node.Node{a, b} {
			w := newForwardee()
			to := spawn(t, c, w)
			require.NoError(t, c.Register("worker", to))
			via := spawn(t, b, newForwarder(node.At{Name: "worker", Node: c.Name()}))
			got, err := node.Call[string](testkit.Context(t), caller, via, answer)
			require.NoError(t, err)
			require.Equal(t, "done", got)
			f := node.Async[string](caller, via, keep)
			testkit.Receive(t, w.kept)
			require.True(t, b.Disconnect(c.Name()))
			_, err = node.Await(testkit.Context(t), caller, f)
			require.ErrorContains(t, err, "noconnection")
			require.NoError(t, b.Connect(testkit.Context(t), c.Name()))
			_, err = node.Call[string](testkit.Context(t), caller, via, crash)
			boom(t, err)
			testkit.Until(t, func() string {
				if _, there := c.Whereis("worker"); there {
					return "the worker has its name"
				}
				return ""
			})
			_, err = node.Call[string](testkit.Context(t), caller, via, answer)
			require.ErrorIs(t, err, node.ErrNoProcess)
		}
		noneFar(t, a, b, c)
	})
}

// A worker on another node forwards the request again: the watch follows it through the nodes that it has passed, and
// the end of a process in between does not matter.
func TestForwardChain(t *testing.T) {
	eachProtocolOfThree(t, func(t *testing.T, a, b, c *node.Node) {
		w := newForwardee()
		last := spawn(t, a, w)
		second := spawn(t, c, newForwarder(last))
		first := spawn(t, b, newForwarder(second))
		f := node.Async[string](a, first, keep)
		from := testkit.Receive(t, w.kept)
		noForwarder(t, c, second)
		noForwarder(t, b, first)
		require.NoError(t, from.Reply("late"))
		got, err := node.Await(testkit.Context(t), a, f)
		require.NoError(t, err)
		require.Equal(t, "late", got)
		first = spawn(t, b, newForwarder(spawn(t, c, newForwarder(last))))
		_, err = node.Call[string](testkit.Context(t), a, first, crash)
		boom(t, err)
		noneFar(t, a, b, c)
	})
}

// Many requests from and to other nodes leave nothing, nor does a caller that dies or whose node is lost.
func TestNothingStaysFar(t *testing.T) {
	eachProtocolOfThree(t, func(t *testing.T, a, b, c *node.Node) {
		for _, server := range []*node.Node{b, c} {
			w := newForwardee()
			to := spawn(t, server, w)
			via := spawn(t, b, newForwarder(to))
			h := nodetest.NewProbe(t, a)
			many := testkit.By(500, 5000, 50_000)
			for i := range many {
				node.SendRequest(h, via, i, answer)
			}
			for range many {
				require.NoError(t, nodetest.Expect[node.Result](h).Err)
			}
			nothingLeft(t, server, to)
			noneFar(t, a, b, c)

			p := spawn(t, a, node.ProcessFunc(func(p *node.Process) error {
				_, err := node.Call[string](p.Context(), p, via, keep)
				return err
			}))
			testkit.Receive(t, w.kept)
			a.Exit(p, node.Kill)
			nothingLeft(t, server, to)
			noneFar(t, a, b, c)

			f := node.Async[string](a, via, keep)
			testkit.Receive(t, w.kept)
			require.True(t, a.Disconnect(b.Name()))
			_, err := node.Await(testkit.Context(t), a, f)
			require.ErrorContains(t, err, "noconnection")
			nothingLeft(t, server, to)
			noneFar(t, a, b, c)
			require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
		}
	})
}

// An answer and exits come at the same time, on three nodes: there is one result.
func TestOneResultFar(t *testing.T) {
	eachProtocolOfThree(t, func(t *testing.T, a, b, c *node.Node) {
		h := nodetest.NewProbe(t, a)
		for i := range testkit.By(40, 200, 5000) {
			w := newForwardee()
			server := []*node.Node{b, c}[i%2]
			to := spawn(t, server, w)
			via := spawn(t, b, newForwarder(to))
			node.SendRequest(h, via, i, keep)
			from := testkit.Receive(t, w.kept)
			var all sync.WaitGroup
			all.Go(func() { _ = from.Reply("x") })
			all.Go(func() { server.Exit(to, node.Atom("boom")) })
			all.Go(func() { b.Exit(via, node.Atom("bang")) })
			require.Equal(t, i, nodetest.Expect[node.Result](h).Tag)
			all.Wait()
		}
		h.ExpectNone()
		noneFar(t, a, b, c)
	})
}

// A request in the name of another process removes none of that process's monitors.
func TestForgedRequest(t *testing.T) {
	eachProtocolOfThree(t, func(t *testing.T, a, b, c *node.Node) {
		h, watched := nodetest.NewProbe(t, a), nodetest.NewProbe(t, b)
		to := spawn(t, b, newForwardee())
		f := newForwarder(to)
		via := spawn(t, b, f)
		ref := h.Monitor(watched.Self())
		require.NoError(t, h.Send(watched.Self(), 1)) // after the monitor
		require.Equal(t, 1, nodetest.Expect[int](watched))
		forged := wire.Tuple{h.Self(), wire.ImproperList{Head: []any{node.Atom("alias")}, Tail: ref}}
		require.NoError(t, c.Send(via, wire.Tuple{node.Atom("$gen_call"), forged, keep}))
		require.NoError(t, testkit.Receive(t, f.errs))
		watched.Close(node.Atom("boom"))
		require.Equal(t, node.Atom("boom"), h.ExpectDown(ref).Reason)
	})
}

// OTP's gen_server:call exits with the reason of the worker, Go or OTP, and a Go caller is told how an OTP worker has
// ended.
func TestForwardOTP(t *testing.T) {
	erltest.Need(t)
	mapper := epmdtest.Serve(t, "127.0.0.1")
	o := erltest.Start(t, erltest.Options{Name: "e@127.0.0.1", EPMD: mapper.Port})
	n := nodetest.Start(t, node.Config{Name: "go@127.0.0.1",
		Distribution: &node.Distribution{Cookie: erltest.Cookie, Finder: &discovery.EPMD{Config: mapper}}})
	require.NoError(t, n.Ping(testkit.Context(t), "e@127.0.0.1"))
	server := func() {
		require.Equal(t, "true", o.Ask("P = spawn(fun() -> F = fun(F) -> receive {'$gen_call', From, <<\"answer\">>} -> "+
			"gen_server:reply(From, <<\"done\">>), F(F); {'$gen_call', _, <<\"crash\">>} -> exit(boom); _ -> F(F) end end, F(F) end), "+
			"register(worker, P)"))
	}
	far := node.At{Name: "worker", Node: "e@127.0.0.1"}
	w := newForwardee()
	for name, to := range map[string]func() node.Dest{
		"worker of Go":  func() node.Dest { return spawn(t, n, newForwardee()) },
		"worker of OTP": func() node.Dest { server(); return far },
	} {
		t.Run(name, func(t *testing.T) {
			via := spawn(t, n, newForwarder(to()))
			require.NoError(t, n.Register("front", via))
			defer func() { require.NoError(t, n.Unregister("front")) }()
			call := func(body string) string {
				return o.Ask("catch gen_server:call({front, 'go@127.0.0.1'}, <<\"%s\">>, infinity)", body)
			}
			require.Equal(t, `<<"done">>`, call(answer))
			require.Contains(t, call(crash), "{'EXIT',{boom,{gen_server,call,")
			require.Contains(t, call(answer), "{'EXIT',{noproc,{gen_server,call,")
			noneFar(t, n)
			if name == "worker of OTP" {
				server()
				got, err := node.Call[string](testkit.Context(t), n, via, answer)
				require.NoError(t, err)
				require.Equal(t, "done", got)
				_, err = node.Call[string](testkit.Context(t), n, via, crash)
				boom(t, err)
			}
		})
	}

	// A caller that gives up, and one that dies, leave nothing.
	to := spawn(t, n, w)
	via := spawn(t, n, newForwarder(to))
	require.NoError(t, n.Register("front", via))
	require.Contains(t, o.Ask("catch gen_server:call({front, 'go@127.0.0.1'}, <<\"keep\">>, 100)"), "timeout")
	testkit.Receive(t, w.kept)
	nothingLeft(t, n, to)
	require.Equal(t, "true", o.Ask("register(dies, spawn(fun() -> "+
		"gen_server:call({front, 'go@127.0.0.1'}, <<\"keep\">>) end)), true"))
	testkit.Receive(t, w.kept)
	require.Equal(t, 1, calls(n, to))
	require.Equal(t, "true", o.Ask("exit(whereis(dies), kill)"))
	nothingLeft(t, n, to)
	noneFar(t, n)

	// Without a monitor there is a reply.
	require.Equal(t, "{error,boom}", o.Ask("R = make_ref(), {front, 'go@127.0.0.1'} ! {'$gen_call', {self(), R}, <<\"crash\">>}, "+
		"receive {R, Answer} -> Answer end"))
}

// A caller of another process is told, too, if a helper of that process forwards the request.
func TestHelperForwards(t *testing.T) {
	eachProtocolOfThree(t, func(t *testing.T, a, b, c *node.Node) {
		h := nodetest.NewProbe(t, b)
		to := spawn(t, b, newForwardee())
		f := node.Async[string](a, h.Self(), crash)
		require.NoError(t, node.Forward(b, nodetest.Expect[node.Request[string]](h), to))
		_, err := node.Await(testkit.Context(t), a, f)
		boom(t, err)
		noneFar(t, a, b, c)
	})
}
