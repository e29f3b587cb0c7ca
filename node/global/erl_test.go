package global_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/nodetest"
)

// says waits until Erlang evaluates an expression to want.
func says(t testing.TB, e *erltest.Node, want, format string, args ...any) {
	t.Helper()
	testkit.Until(t, func() string {
		if got := e.Ask(format, args...); got != want {
			return fmt.Sprintf("%s: %s, want %s", fmt.Sprintf(format, args...), got, want)
		}
		return ""
	})
}

// Both sides see each other's names, those registered before they meet and those registered after.
func TestOTPNames(t *testing.T) {
	erltest.Need(t)
	c := newErlangCluster(t)
	a, b := c.start("a"), c.start("b")
	e := c.erl("e")
	ctx := testkit.Context(t)
	early := sleeper(t, a)
	require.NoError(t, global.Register(ctx, a, node.Atom("early"), early, global.Options{}))
	assert.Equal(t, "yes", e.Ask("global:register_name(theirs, spawn(fun() -> receive _ -> ok end end))"))
	c.connect(b, a.Name())
	assert.Equal(t, "true", e.Ask("net_kernel:connect_node('a@127.0.0.1')"))
	c.mesh([]node.Atom{"e@127.0.0.1"}, a, b)
	says(t, e, "['a@127.0.0.1','b@127.0.0.1']", "lists:sort(nodes())")
	says(t, e, "['a@127.0.0.1','b@127.0.0.1']", "lists:sort(gen_server:call(global_name_server, get_known))")
	says(t, e, "true", "P = global:whereis_name(early), node(P) =:= 'a@127.0.0.1'")
	theirs, ok := global.Whois(b, node.Atom("theirs"))
	require.True(t, ok)
	assert.Equal(t, node.Atom("e@127.0.0.1"), theirs.Node())

	assert.Equal(t, "no", e.Ask("global:register_name(early, self())"))
	assert.ErrorIs(t, global.Register(ctx, b, node.Atom("theirs"), sleeper(t, b), global.Options{}), global.ErrTaken)
	assert.Equal(t, "yes", e.Ask("global:re_register_name(early, spawn(fun() -> receive _ -> ok end end))"))
	for _, n := range []*node.Node{a, b} {
		pid, _ := global.Whois(n, node.Atom("early"))
		assert.Equal(t, node.Atom("e@127.0.0.1"), pid.Node())
	}
	assert.Equal(t, "yes", e.Ask(`global:register_name({"a term", 1.0}, rpc:call('b@127.0.0.1', erlang, whereis, [rex]))`))
	assert.Equal(t, "[early,theirs,{\"a term\",1.0}]", e.Ask("lists:sort(global:registered_names())"))
	assert.Equal(t, "true", e.Ask("lists:sort(rpc:call('a@127.0.0.1', global, registered_names, [])) =:= "+
		"lists:sort(global:registered_names())"))
	require.NoError(t, b.Send(node.Global(node.Atom("theirs")), node.Atom("end")))
	says(t, e, "undefined", "global:whereis_name(theirs)")
	has(t, a, node.Atom("theirs"), node.PID{})

	e.Kill()
	has(t, a, node.Atom("early"), node.PID{})
	has(t, b, node.Atom("early"), node.PID{})
	c.mesh(nil, a, b)
}

// Each side finds locked what the other has locked.
func TestOTPLocks(t *testing.T) {
	erltest.Need(t)
	c := newErlangCluster(t)
	a, b := c.start("a"), c.start("b")
	e := c.erl("e")
	ctx := testkit.Context(t)
	assert.Equal(t, "pong", e.Ask("net_adm:ping('a@127.0.0.1')"))
	c.connect(b, a.Name())
	c.mesh([]node.Atom{"e@127.0.0.1"}, a, b)
	id := global.ID{Resource: node.Atom("door"), Requester: node.Atom("us")}
	h := nodetest.NewProbe(t, a)
	ok, err := global.TryLock(ctx, h, id)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, "false", e.Ask("global:set_lock({door, them}, [node() | nodes()], 0)"))
	assert.Equal(t, "true", e.Ask("global:set_lock({door, us}, [node() | nodes()], 0), global:del_lock({door, us})"))
	other := global.ID{Resource: node.Atom("door"), Requester: "other"}
	ok, err = global.TryLock(ctx, b, other)
	require.NoError(t, err)
	require.False(t, ok)
	require.NoError(t, global.Unlock(ctx, h, id))
	assert.Equal(t, "true", e.Ask("global:set_lock({door, them}, [node() | nodes()], 0)"))
	ok, err = global.TryLock(ctx, b, other)
	require.NoError(t, err)
	require.False(t, ok)
	e.Tell("timer:sleep(300), global:del_lock({door, them})")
	require.NoError(t, global.Lock(ctx, b, other))
	require.NoError(t, global.Unlock(ctx, b, other))
	assert.Equal(t, "true", e.Answer())
	assert.Equal(t, "done", e.Ask("global:trans({door, self()}, fun() -> done end)"))
	c.mesh([]node.Atom{"e@127.0.0.1"}, a, b)
	says(t, e, "0", "ets:info(global_locks, size)")
}

// Two partitions become one, and a name is in both.
func TestOTPClash(t *testing.T) {
	erltest.Need(t)
	c := newErlangCluster(t)
	a, b := c.start("a"), c.start("z")
	e := c.erl("e")
	ctx := testkit.Context(t)
	ours, high := sleeper(t, a), sleeper(t, b)
	require.NoError(t, global.Register(ctx, a, node.Atom("n"), ours, global.Options{}))
	require.NoError(t, global.Register(ctx, b, node.Atom("n"), high, global.Options{}))
	assert.Equal(t, "yes", e.Ask("P = spawn(fun() -> receive _ -> ok end end), global:register_name(n, P)"))
	assert.Equal(t, "pong", e.Ask("net_adm:ping('a@127.0.0.1')"))
	c.mesh([]node.Atom{"e@127.0.0.1"}, a)
	has(t, a, node.Atom("n"), ours)
	says(t, e, "'a@127.0.0.1'", "node(global:whereis_name(n))")
	c.connect(b, a.Name())
	c.mesh([]node.Atom{"e@127.0.0.1"}, a, b)
	has(t, b, node.Atom("n"), ours)
	testkit.Until(t, func() string {
		if b.IsAlive(high) {
			return "the other one is alive"
		}
		return ""
	})
	assert.False(t, strings.Contains(c.log.String(), "crash report"))
}

// A node that has lost another one is dropped by all nodes that keep connections to both.
func TestOTPOverlap(t *testing.T) {
	erltest.Need(t)
	c := newErlangCluster(t)
	a, b := c.start("a"), c.start("b")
	e, f := c.erl("e"), c.erl("f")
	for _, erl := range []*erltest.Node{e, f} {
		assert.Equal(t, "pong", erl.Ask("net_adm:ping('a@127.0.0.1')"))
	}
	c.connect(b, a.Name())
	c.mesh([]node.Atom{"e@127.0.0.1", "f@127.0.0.1"}, a, b)
	says(t, e, "['a@127.0.0.1','b@127.0.0.1','f@127.0.0.1']", "lists:sort(gen_server:call(global_name_server, get_known))")

	// OTP loses its connection to one of our nodes: the other one and f drop one of the two.
	assert.Equal(t, "true", e.Ask("erlang:disconnect_node('a@127.0.0.1')"))
	parts := func() string {
		known := func(n *node.Node) string {
			s, err := global.Look(testkit.Context(t), n)
			require.NoError(t, err)
			return "[" + strings.ReplaceAll(strings.Trim(fmt.Sprintf("%q", s.Known), "[]"), " ", ",") + "]"
		}
		of := func(erl *erltest.Node) string {
			return strings.ReplaceAll(erl.Ask("lists:sort(gen_server:call(global_name_server, get_known))"), "'", `"`)
		}
		return known(a) + known(b) + of(e) + of(f)
	}
	const na, nb, ne, nf = `"a@127.0.0.1"`, `"b@127.0.0.1"`, `"e@127.0.0.1"`, `"f@127.0.0.1"`
	withoutA := "[][" + ne + "," + nf + "][" + nb + "," + nf + "][" + nb + "," + ne + "]"
	withoutE := "[" + nb + "," + nf + "][" + na + "," + nf + "][][" + na + "," + nb + "]"
	alone := "[][" + nf + "][][" + nb + "]"
	testkit.Until(t, func() string {
		switch got := parts(); got {
		case withoutA, withoutE, alone:
			return ""
		default:
			return got
		}
	})

	// The partitions become one again.
	for _, erl := range []*erltest.Node{e, f} {
		erl.Ask("net_kernel:connect_node('a@127.0.0.1')")
		erl.Ask("net_kernel:connect_node('b@127.0.0.1')")
	}
	require.NoError(t, b.Connect(testkit.Context(t), a.Name()))
	c.mesh([]node.Atom{"e@127.0.0.1", "f@127.0.0.1"}, a, b)
	says(t, e, "['a@127.0.0.1','b@127.0.0.1','f@127.0.0.1']", "lists:sort(gen_server:call(global_name_server, get_known))")
}

// A node that comes back under its name keeps nothing of its former life.
func TestOTPRestart(t *testing.T) {
	erltest.Need(t)
	c := newErlangCluster(t)
	a := c.start("a")
	e := c.erl("e")
	assert.Equal(t, "pong", e.Ask("net_adm:ping('a@127.0.0.1')"))
	c.mesh([]node.Atom{"e@127.0.0.1"}, a)
	assert.Equal(t, "yes", e.Ask("global:register_name(x, self())"))
	assert.Equal(t, "true", e.Ask("global:set_lock({x, self()})"))
	e.Kill()
	has(t, a, node.Atom("x"), node.PID{})
	again := c.erl("e")
	assert.Equal(t, "pong", again.Ask("net_adm:ping('a@127.0.0.1')"))
	c.mesh([]node.Atom{"e@127.0.0.1"}, a)
	assert.Equal(t, "undefined", again.Ask("global:whereis_name(x)"))
	assert.Equal(t, "true", again.Ask("global:set_lock({x, self()})"))
	assert.Equal(t, "yes", again.Ask("global:register_name(x, self())"))
}
