package node_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// links are the ways in which the Go nodes of a test are connected.
var links = []struct {
	name  string
	proto string
	grace time.Duration
}{{"native", "native", 0}, {"grace", "native", testkit.Limit}, {"erlang", "erlang", 0}}

// eachLink runs f with each of the links; start starts a node.
func eachLink(t *testing.T, f func(t *testing.T, start func(name node.Atom) *node.Node)) {
	for _, l := range links {
		t.Run(l.name, func(t *testing.T) {
			c := clustertest.NewCluster(t)
			c.Speak(l.proto)
			f(t, func(name node.Atom) *node.Node {
				return c.StartWith(string(name), node.Distribution{Timing: node.Timing{Grace: l.grace}})
			})
		})
	}
}

// front is a server that hands every call on to a worker.
func front(t *testing.T, n *node.Node, to node.Dest) node.PID {
	pid, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := n.AsRequest(msg); ok {
			return c.Send(to, r)
		}
		return node.ErrUnhandled
	}))
	require.NoError(t, err)
	return pid
}

// backend is the worker: it answers, and answers twice on request.
func backend(t *testing.T, n *node.Node) node.PID {
	pid, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		r, ok := n.AsRequest(msg)
		if !ok {
			return node.ErrUnhandled
		}
		switch r.Body {
		case node.Atom("fail"):
			return r.Fail(errSpoiled)
		case node.Atom("twice"):
			assert.NoError(t, r.Reply("once"))
			assert.ErrorIs(t, r.Reply("again"), node.ErrReplied)
			again, _ := n.AsRequest(standsFor(msg)) // as another process that has it
			again.Reply("again")
			return nil
		}
		return c.Reply(r.From, wire.Tuple{node.Atom("re"), r.Body})
	}))
	require.NoError(t, err)
	return pid
}

// re is the backend's answer.
func re(body node.Atom) wire.Tuple { return wire.Tuple{node.Atom("re"), body} }

// A call that is handed on is answered by whoever has it, on any node: caller, front and worker are on the same node or
// on different ones, in all combinations.
func TestHandedOn(t *testing.T) {
	eachLink(t, func(t *testing.T, start func(node.Atom) *node.Node) {
		nodes := []*node.Node{start("a"), start("b"), start("c")}
		for i := range 27 {
			caller, front, worker := nodes[i%3], front(t, nodes[i/3%3], backend(t, nodes[i/9])), i/9
			t.Run(fmt.Sprint(i%3, i/3%3, worker), func(t *testing.T) {
				dead := caller.DeadLetters(4)
				defer dead.Close()
				h := nodetest.NewProbe(t, caller)
				for _, from := range []node.Caller{h, caller} {
					v, err := node.Call[wire.Tuple](testkit.Context(t), from, front, node.Atom("x"))
					require.NoError(t, err)
					require.Equal(t, re("x"), v)
				}
				node.SendRequest(h, front, 7, node.Atom("y"))
				require.Equal(t, node.Result{Tag: 7, Value: re("y")}, nodetest.Expect[node.Result](h))
				v, err := node.Await(testkit.Context(t), h, node.Async[any](h, front, node.Atom("z")))
				require.NoError(t, err)
				require.Equal(t, re("z"), v)
				once, err := node.Call[string](testkit.Context(t), h, front, node.Atom("twice"))
				require.NoError(t, err)
				require.Equal(t, "once", once)
				if i/3%3 != worker { // the second answer has left the node
					cause := testkit.Receive(t, dead.C).Cause
					require.Contains(t, []deadletter.Cause{deadletter.LateReply, deadletter.NoAlias}, cause)
				}
				h.ExpectNone()
			})
		}
	})
}

// When the server that was called ends, the call fails, whoever has the request by then.
func TestHandedOnAndEnded(t *testing.T) {
	eachLink(t, func(t *testing.T, start func(node.Atom) *node.Node) {
		a, b, c := start("a"), start("b"), start("c")
		for _, where := range []*node.Node{a, b} {
			h := nodetest.NewProbe(t, c)
			got := nodetest.NewProbe(t, a)
			f := front(t, where, h.Self())
			answer := node.Async[int](got, f, "x")
			r, ok := c.AsRequest(nodetest.Expect[any](h))
			require.True(t, ok)
			where.Exit(f, node.Atom("gone"))
			_, err := node.Await(testkit.Context(t), got, answer)
			require.Equal(t, &node.ExitError{Reason: node.Atom("gone")}, err)
			dead := a.DeadLetters(4)
			require.NoError(t, r.Reply(1), "nobody there can know")
			require.Contains(t, []deadletter.Cause{deadletter.LateReply, deadletter.NoAlias}, testkit.Receive(t, dead.C).Cause)
			dead.Close()
			got.ExpectNone()
		}
	})
}

// OTP nodes hand on and answer calls of Go nodes, and Go nodes those of OTP.
func TestHandedOnByOTP(t *testing.T) {
	host := newOTPHost(t)
	one, two := host.erl("one", erltest.Cookie), host.erl("two", erltest.Cookie)
	require.Equal(t, "true", two.Ask("register(replier, spawn(fun F() -> receive {From, X} -> gen_server:reply(From, {re, X}), "+
		"F(); {'$gen_call', From, X} -> gen_server:reply(From, {re, X}), F() end end))"))
	require.Equal(t, "true", one.Ask("register(front, spawn(fun F() -> receive {'$gen_call', From, X} -> "+
		"{replier, '%s'} ! {From, X}, F() end end))", two.name))
	a, b := host.start(host.config("a")), host.start(host.config("b"))
	h := nodetest.NewProbe(t, a)
	want := wire.Tuple{node.Atom("re"), node.Atom("x")}
	for _, to := range []node.Dest{
		node.At{Name: "front", Node: one.name},                // Go, OTP, OTP
		front(t, a, node.At{Name: "replier", Node: two.name}), // a call within one node, answered by OTP
		front(t, b, node.At{Name: "replier", Node: two.name}), // Go, Go, OTP
		front(t, b, node.At{Name: "front", Node: one.name}),   // Go, Go, OTP, OTP
		front(t, a, node.At{Name: "front", Node: one.name}),   // the same within one node
		front(t, a, front(t, b, backend(t, a))),               // and out and back
	} {
		for _, from := range []node.Caller{h, a} {
			v, err := node.Call[any](testkit.Context(t), from, to, node.Atom("x"))
			require.NoError(t, err)
			require.Equal(t, want, v, "%v", to)
		}
	}
	require.NoError(t, a.Register("front", front(t, a, backend(t, b))))
	require.Equal(t, "{re,x}", one.Ask("gen_server:call({front, '%s'}, x, 20000)", a.Name()))
	require.NoError(t, b.Register("front", front(t, b, node.At{Name: "replier", Node: two.name})))
	require.Equal(t, "{re,x}", one.Ask("gen_server:call({front, '%s'}, x, 20000)", b.Name()))
	h.ExpectNone()
}

// A process without the From of a call cannot answer the call, and does no harm by trying.
func TestForgedFrom(t *testing.T) {
	eachLink(t, func(t *testing.T, start func(node.Atom) *node.Node) {
		a, b, c := start("a"), start("b"), start("c")
		asked := nodetest.NewProbe(t, b)
		h := nodetest.NewProbe(t, a)
		far := node.Async[node.Atom](h, asked.Self(), node.Atom("x")) // a and b know its From
		request := standsFor(nodetest.Expect[node.Request[node.Atom]](asked)).(wire.Tuple)
		from := request[1].(wire.Tuple)
		ref := from[1].(wire.ImproperList).Tail.(wire.Ref)
		stays := nodetest.NewProbe(t, a)
		near := node.Async[node.Atom](h, stays.Self(), node.Atom("y")) // only a knows its From

		dead := a.DeadLetters(64)
		defer dead.Close()
		words := ref.AppendWords(nil)
		var forged []wire.Ref
		for i := range words { // as an attacker that guesses
			w := append([]uint32(nil), words...)
			w[i]++
			forged = append(forged, ref.Origin().Ref(w...))
		}
		forged = append(forged, ref.Origin().RefOf(ref.Number()), ref.Origin().Ref(append(words, 0)...), a.MakeRef(),
			ref.Origin().Ref(0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff))
		for _, f := range forged {
			tag := wire.ImproperList{Head: []any{node.Atom("alias")}, Tail: f}
			r, ok := c.AsRequest(wire.Tuple{node.Atom("$gen_call"), wire.Tuple{h.Self(), tag}, 1})
			require.True(t, ok)
			require.NoError(t, r.Reply(node.Atom("forged")))
			require.Equal(t, deadletter.NoAlias, testkit.Receive(t, dead.C).Cause)
		}
		_, done, _ := far.Result()
		require.False(t, done)
		_, done, _ = near.Result()
		require.False(t, done)
		h.ExpectNone()

		r, ok := c.AsRequest(request) // a copy of the request
		require.True(t, ok)
		require.NoError(t, r.Reply(node.Atom("true")))
		got, err := node.Await(testkit.Context(t), h, far)
		require.NoError(t, err)
		require.Equal(t, node.Atom("true"), got)
		require.NoError(t, nodetest.Expect[node.Request[node.Atom]](stays).Reply("near"))
	})
}

// A peer names a process of another node as the caller and an alias of its own for the reply: it gets the reply, but the process
// is not taken for the caller.
func TestForgedCaller(t *testing.T) {
	eachLink(t, func(t *testing.T, start func(node.Atom) *node.Node) {
		a, b, c := start("a"), start("b"), start("c")
		server, err := a.Spawn(node.ActorFunc(func(ctx *node.Context, msg any) error {
			r, ok := ctx.Node().AsRequest(msg)
			if !ok {
				return node.ErrUnhandled
			}
			return r.Reply(r.Caller())
		}))
		require.NoError(t, err)
		me, other, near, far := nodetest.NewProbe(t, b), nodetest.NewProbe(t, b), nodetest.NewProbe(t, a), nodetest.NewProbe(t, c)
		for _, q := range []struct {
			what  string
			named any
			alias bool // the reply goes to an alias of to, else to the process that is named
			to    *nodetest.Probe
			want  node.PID
		}{
			{"itself", me.Self(), false, me, me.Self()},
			{"itself, by an alias", me.Self(), true, me, me.Self()},
			{"another of its own", other.Self(), true, me, other.Self()},
			{"no process", node.Atom("undefined"), true, me, node.PID{}},
			{"the called process", server, true, me, node.PID{}},
			{"one beside it", near.Self(), true, me, node.PID{}},
			{"one of a third node", far.Self(), true, me, node.PID{}},
			{"itself, for a third node", me.Self(), true, far, node.PID{}},
			{"one beside it, by that one's alias", near.Self(), true, near, near.Self()},
			{"one of a third node, by that one's alias", far.Self(), true, far, far.Self()},
		} {
			from := wire.Tuple{q.named, b.MakeRef()}
			if q.alias {
				from[1] = wire.ImproperList{Head: []any{node.Atom("alias")}, Tail: q.to.AliasOnce()}
			}
			require.NoError(t, me.Send(server, wire.Tuple{node.Atom("$gen_call"), from, 1}))
			require.Equal(t, wire.Tuple{from[1], q.want}, nodetest.Expect[any](q.to), q.what)
		}
		for _, h := range []*nodetest.Probe{me, other, near, far} {
			h.ExpectNone()
		}
	})
}

// About as many references of calls whose From has left are kept as calls are waiting.
func TestLentCallsAreBounded(t *testing.T) {
	d := &node.Distribution{Cookie: "x", Finder: &clustertest.Places{}}
	a := nodetest.Start(t, node.Config{Name: "a@127.0.0.1", Distribution: d})
	h := nodetest.NewProbe(t, a)
	pid, err := a.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		r := msg.(node.Request[int])
		one, two := standsFor(r), standsFor(r)
		assert.Equal(t, one, two, "one reference for one call")
		return r.Reply(r.Body)
	}))
	require.NoError(t, err)
	for i := range 2000 {
		_, err := node.Call[int](testkit.Context(t), h, pid, i)
		require.NoError(t, err)
	}
	require.LessOrEqual(t, node.LentCalls(a), 64)
}

// kept is a registered type that contains a From, and other fields around it.
type kept struct {
	What string
	From node.From
	None node.From
	Any  any
	List []node.From
}

// A From is a From again on other nodes: bare, in tuples and lists, and as a field.
func TestFromTravels(t *testing.T) {
	types := &node.Types{}
	require.NoError(t, types.Register(node.TypeOf[kept]()))
	cluster := clustertest.NewCluster(t)
	start := func(name string) *node.Node { return cluster.StartWith(name, node.Distribution{Types: types}) }
	a, b, c := start("a"), start("b"), start("c")
	far := nodetest.NewProbe(t, c)
	for what, wrap := range map[string]func(node.From) any{
		"bare":       func(f node.From) any { return f },
		"in a tuple": func(f node.From) any { return wire.Tuple{"from", wire.Tuple{f, 1}} },
		"in a list":  func(f node.From) any { return wire.List{1, wire.List{f}} },
		"in a map":   func(f node.From) any { return wire.NewMap("from", f) },
		"a field":    func(f node.From) any { return kept{What: "x", From: f} },
		"a pointer":  func(f node.From) any { return &kept{What: "x", From: f} },
		"any":        func(f node.From) any { return kept{Any: f} },
		"a slice":    func(f node.From) any { return kept{List: []node.From{f}} },
	} {
		var find func(v any) (node.From, bool)
		find = func(v any) (node.From, bool) {
			switch v := v.(type) {
			case node.From:
				return v, true
			case wire.Tuple:
				for _, e := range v {
					if f, ok := find(e); ok {
						return f, true
					}
				}
			case wire.List:
				return find(wire.Tuple(v))
			case wire.Map:
				e, _ := v.Get("from")
				return find(e)
			case *kept:
				return find(*v)
			case kept:
				require.False(t, v.None.Pending())
				require.ErrorIs(t, v.None.Reply(1), node.ErrReplied)
				switch {
				case v.From != node.From{}:
					return v.From, true
				case v.Any != nil:
					return find(v.Any)
				}
				return v.List[0], true
			}
			return node.From{}, false
		}
		for _, called := range []*node.Node{a, b} { // of a call within a, and of one from a to b
			t.Run(what+" of "+string(called.Name()), func(t *testing.T) {
				caller, server := nodetest.NewProbe(t, a), nodetest.NewProbe(t, called)
				for _, fail := range []bool{false, true} {
					call := node.Async[node.Atom](caller, server.Self(), node.Atom("x"))
					r, ok := called.AsRequest(nodetest.Expect[any](server))
					require.True(t, ok)
					require.NoError(t, called.Send(far.Self(), wrap(r.From)))
					got := nodetest.Expect[any](far)
					f, ok := find(got)
					require.True(t, ok, "%T %v", got, got)
					require.True(t, f.Pending())
					require.Equal(t, caller.Self(), f.Caller())
					if fail {
						require.NoError(t, f.Fail(errSpoiled))
						require.ErrorIs(t, f.Fail(errSpoiled), node.ErrReplied)
						_, err := node.Await(testkit.Context(t), caller, call)
						require.Error(t, err)
						continue
					}
					require.NoError(t, f.Reply(node.Atom("y")))
					require.ErrorIs(t, f.Reply(node.Atom("z")), node.ErrReplied)
					v, err := node.Await(testkit.Context(t), caller, call)
					require.NoError(t, err)
					require.Equal(t, node.Atom("y"), v)
				}
			})
		}
	}
}
