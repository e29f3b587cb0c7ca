package pg_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// Tests with pg of a real OTP. Everything there is done and seen through the
// distribution: calls by erpc, and pg's own monitors.

// erlangNode is where Erlang nodes and ours find each other: a port mapper of the test.
type erlangNode struct {
	t    *testing.T
	port int
	discovery.Finder
}

func newErlangNode(t *testing.T) *erlangNode {
	t.Helper()
	erltest.Need(t)
	cfg := epmdtest.Serve(t, "127.0.0.1")
	return &erlangNode{t, cfg.Port, &discovery.EPMD{Config: cfg}}
}

// otp is a running Erlang node, as one of our nodes sees it.
type otp struct {
	*erltest.Node
	t     *testing.T
	name  node.Atom
	scope node.Atom
	by    *peer // the node whose connection is used
}

// erl starts an Erlang node.
func (l *erlangNode) erl(name string) *otp {
	l.t.Helper()
	name += "@127.0.0.1"
	n := erltest.Start(l.t, erltest.Options{Name: name, EPMD: l.port})
	return &otp{Node: n, t: l.t, name: node.Atom(name), scope: "pg"}
}

// ours starts one of our nodes, with a scope.
func (l *erlangNode) ours(name string, cfg pg.Config) *peer {
	l.t.Helper()
	n := nodetest.Start(l.t, node.Config{Name: node.Atom(name + "@127.0.0.1"),
		Distribution: &node.Distribution{Cookie: erltest.Cookie, Finder: l.Finder}})
	return newPeer(l.t, n, cfg)
}

// knows makes p the node through which the test sees e, and starts pg on e.
func (e *otp) knows(p *peer) *otp {
	e.by = p
	e.start()
	return e
}

func (e *otp) call(module, function node.Atom, args ...any) any {
	e.t.Helper()
	v, err := rpc.Call[any](testkit.Context(e.t), e.by, e.name, module, function, args...)
	require.NoError(e.t, err)
	return v
}

func (e *otp) start() node.PID {
	e.t.Helper()
	r := e.call("pg", "start", e.scope).(wire.Tuple)
	require.Equal(e.t, wire.AtomOK, r[0], "%v", r)
	return r[1].(node.PID)
}

func (e *otp) spawn(n int) (pids []node.PID) {
	e.t.Helper()
	for range n {
		pids = append(pids, e.call("erlang", "spawn", wire.Atom("timer"), wire.Atom("sleep"),
			wire.List{node.Atom("infinity")}).(node.PID))
	}
	return pids
}

func (e *otp) join(group any, pids ...node.PID) {
	e.t.Helper()
	require.Equal(e.t, wire.AtomOK, e.call("pg", "join", e.scope, group, term(pids)))
}

func (e *otp) leave(group any, pids ...node.PID) {
	e.t.Helper()
	require.Equal(e.t, wire.AtomOK, e.call("pg", "leave", e.scope, group, term(pids)))
}

// term is PidOrPids.
func term(pids []node.PID) any {
	if len(pids) == 1 {
		return pids[0]
	}
	l := wire.List{}
	for _, p := range pids {
		l = append(l, p)
	}
	return l
}

func (e *otp) exit(pid node.PID) { e.call("erlang", "exit", pid, node.Kill) }

func (e *otp) members(group any) (pids []node.PID) {
	e.t.Helper()
	for _, p := range e.call("pg", "get_members", e.scope, group).(wire.List) {
		pids = append(pids, p.(node.PID))
	}
	return pids
}

// sees waits until exactly the processes of want are in the group, as e sees it. pg's monitor reports changes; as pg of
// OTP 25 does not report all changes of a sync, sees also polls.
func (e *otp) sees(group any, want ...node.PID) {
	e.t.Helper()
	at := node.At{Name: e.scope, Node: e.name}
	m, err := node.Call[any](testkit.Context(e.t), e.by.self, at, any(wire.Tuple{wire.Atom("monitor"), group}))
	require.NoError(e.t, err)
	ref := m.(wire.Tuple)[0]
	mine := func(m any) bool { t, ok := m.(wire.Tuple); return ok && len(t) == 4 && t[0] == ref }
	want = sorted(want)
	testkit.Until(e.t, func() string {
		got := e.members(group)
		if slices.Equal(sorted(got), want) {
			return ""
		}
		e.by.self.ReceiveWithin(50*time.Millisecond, mine)
		return fmt.Sprintf("%s sees %v in %v, not %v", e.name, got, group, want)
	})
	_, err = node.Call[any](testkit.Context(e.t), e.by.self, at, any(wire.Tuple{wire.Atom("demonitor"), ref}))
	require.NoError(e.t, err)
	for err == nil {
		_, err = e.by.self.ReceiveWithin(0, mine)
	}
}

func (e *otp) view() map[string]string {
	all := map[string]string{}
	for _, g := range e.call("pg", "which_groups", e.scope).(wire.List) {
		if got := e.members(g); len(got) > 0 {
			all[wire.Format(g)] = text(got)
		}
	}
	return all
}

// erlang starts one of our nodes and one Erlang node, connected.
func erlang(t *testing.T) (p *peer, e *otp) {
	l := newErlangNode(t)
	e = l.erl("e")
	p = l.ours("go", pg.Config{})
	return p, e.knows(p)
}

func TestErlangBothWays(t *testing.T) {
	p, e := erlang(t)
	ours, theirs := p.spawn(3), e.spawn(3)
	p.join("g", ours[0])
	e.sees("g", ours[0])
	e.join("g", theirs[0])
	p.sees("g", ours[0], theirs[0])

	p.join("g", ours[0], ours[1], ours[0])
	e.sees("g", ours[0], ours[0], ours[0], ours[1], theirs[0])
	e.join("g", theirs[1], theirs[0], theirs[0])
	p.sees("g", ours[0], ours[0], ours[0], ours[1], theirs[0], theirs[0], theirs[0], theirs[1])
	assert.Len(t, p.scope.LocalMembers("g"), 4)
	assert.Len(t, e.call("pg", "get_local_members", e.scope, "g"), 4)

	p.leave("g", ours[0], ours[0])
	e.leave("g", theirs[0], theirs[2])
	e.sees("g", ours[0], ours[1], theirs[0], theirs[0], theirs[1])
	p.sees("g", ours[0], ours[1], theirs[0], theirs[0], theirs[1])

	p.join("h", ours[0], ours[0], ours[2])
	e.join("h", theirs[0], theirs[2])
	e.sees("h", ours[0], ours[0], ours[2], theirs[0], theirs[2])
	p.Exit(ours[0], node.Kill)
	e.exit(theirs[0])
	for _, see := range []func(any, ...node.PID){p.sees, e.sees} {
		see("g", ours[1], theirs[1])
		see("h", ours[2], theirs[2])
	}
	p.leave("h", ours[2])
	e.leave("h", theirs[2])
	p.sees("h")
	e.sees("h")
	assert.Equal(t, []any{"g"}, p.scope.Groups())
	assert.Equal(t, wire.List{[]byte("g")}, e.call("pg", "which_groups", e.scope))
}

func TestErlangGroupTerms(t *testing.T) {
	p, e := erlang(t)
	ours, theirs := p.spawn(1)[0], e.spawn(1)[0]
	for _, g := range []any{
		0, 255, -1, wire.IntegerOf(big.NewInt(1 << 40)), new(big.Int).Lsh(big.NewInt(1), 100), 1.0, -2.5e300,
		wire.Atom("a"), wire.Atom("with space"), wire.Atom("λ"), true, wire.AtomUndefined,
		"binary", "", []byte{0, 255}, wire.NewBitstring([]byte{0xa0}, 3),
		nil, wire.Charlist("text"), wire.List{97}, wire.List{wire.Atom("a"), 1.0, nil}, wire.ImproperList{Head: []any{1}, Tail: 2},
		wire.Tuple{}, wire.Tuple{wire.Atom("room"), 7, wire.Charlist("x")}, wire.Tuple{wire.Tuple{wire.List{wire.Tuple{}}}},
		wire.NewMap(), wire.NewMap(wire.Atom("k"), wire.Charlist("v"), 1, wire.NewMap()),
		ours, theirs, p.MakeRef(), e.call("erlang", "make_ref"), wire.Export{Module: "lists", Function: "map", Arity: 2},
	} {
		p.join(g, ours)
		e.join(g, theirs)
		p.sees(g, ours, theirs)
		e.sees(g, ours, theirs)
		if wire.Equal(g, 1.0) { // for pg a group other than 1
			p.sees(1)
		}
		p.leave(g, ours)
		e.leave(g, theirs)
		p.sees(g)
		e.sees(g)
	}
	assert.Empty(t, p.scope.Groups())
	e.sees(0)
	assert.Empty(t, e.call("pg", "which_groups", e.scope))

	// All of them as one sync, after the connection is lost.
	p.join(wire.Tuple{wire.Charlist("t"), 1}, ours)
	p.join(97, ours)
	e.join(98, theirs)
	p.Disconnect(e.name)
	p.connect(e.name)
	e.sees(wire.Tuple{wire.List{116}, 1}, ours)
	e.sees(97, ours)
	p.sees(98, theirs)
}

func TestErlangOtherScope(t *testing.T) {
	l := newErlangNode(t)
	e := l.erl("e")
	p := l.ours("go", pg.Config{Name: "my scope"})
	e.knows(p) // pg
	ours, theirs := p.spawn(1), e.spawn(2)
	e.join("g", theirs[1])
	e.scope = "my scope"
	e.start()
	e.join("g", theirs[0])
	p.join("g", ours...)
	p.sees("g", ours[0], theirs[0])
	e.sees("g", ours[0], theirs[0])
	e.scope = "pg"
	e.sees("g", theirs[1])
}

func TestErlangKilled(t *testing.T) {
	l := newErlangNode(t)
	p := l.ours("go", pg.Config{})
	ours := p.spawn(1)
	p.join("g", ours...)
	for range 2 { // and comes back under the same name
		e := l.erl("e").knows(p)
		theirs := e.spawn(2)
		e.join("g", theirs...)
		e.join("h", theirs[0], theirs[0])
		p.sees("g", ours[0], theirs[0], theirs[1])
		p.sees("h", theirs[0], theirs[0])
		e.sees("g", ours[0], theirs[0], theirs[1])
		e.Kill()
		p.sees("g", ours...)
		p.sees("h")
		for found := true; found; { // until the port mapper has noticed
			_, err := l.Find(testkit.Context(t), e.name)
			found = err == nil
		}
	}
}

func TestErlangDisconnect(t *testing.T) {
	p, e := erlang(t)
	ours, theirs := p.spawn(1), e.spawn(1)
	p.join("g", ours...)
	e.join("g", theirs...)
	for i := range 20 {
		p.sees("g", ours[0], theirs[0])
		e.sees("g", ours[0], theirs[0])
		if i%2 == 0 {
			require.True(t, p.Disconnect(e.name))
		} else { // by them, so the call fails
			rpc.Call[any](testkit.Context(t), p, e.name, "erlang", "disconnect_node", p.Name())
		}
		p.sees("g", ours...)
		assert.Empty(t, p.AllNodes(), "nothing connects again by itself")
		p.connect(e.name)
	}
	p.sees("g", ours[0], theirs[0])
	e.sees("g", ours[0], theirs[0])
	p.join("g", ours...)
	e.sees("g", ours[0], ours[0], theirs[0])
}

// An OTP scope that ends takes its members along; one that starts after the connection does not ask us, as it does not
// see our node.
func TestErlangLateScope(t *testing.T) {
	l := newErlangNode(t)
	e := l.erl("e")
	p := l.ours("go", pg.Config{})
	p.connect(e.name)
	ours := p.spawn(1)
	p.join("g", ours...)
	e.by = p
	for range 3 {
		pid := e.start()
		theirs := e.spawn(1)
		e.join("g", theirs...)
		p.sees("g", ours[0], theirs[0])
		e.sees("g", ours[0], theirs[0])
		ref := p.self.Monitor(pid)
		e.exit(pid)
		p.sees("g", ours...)
		require.Equal(t, ref, node.ReceiveOf[node.Down](p.self).Ref)
	}
}

// The same, with our scope late.
func TestErlangOurScopeIsLate(t *testing.T) {
	l := newErlangNode(t)
	e := l.erl("e")
	p := l.ours("go", pg.Config{Name: "-"})
	e.knows(p)
	ours, theirs := p.spawn(1), e.spawn(1)
	e.join("g", theirs...)
	for range 3 {
		p.start(pg.Config{})
		p.join("g", ours...)
		p.sees("g", ours[0], theirs[0])
		e.sees("g", ours[0], theirs[0])
		pid, _ := p.Whereis("pg")
		ref := p.self.Monitor(pid)
		p.Exit(pid, node.Kill)
		require.Equal(t, ref, node.ReceiveOf[node.Down](p.self).Ref)
		e.sees("g", theirs...)
	}
}

// Our node ends and is back at once, under its name: that is another life.
func TestErlangWeRestart(t *testing.T) {
	l := newErlangNode(t)
	e := l.erl("e")
	var theirs []node.PID
	for i := range 4 {
		p := l.ours("go", pg.Config{})
		if i == 0 {
			e.knows(p)
			theirs = e.spawn(1)
			e.join("g", theirs...)
		}
		e.by = p
		p.connect(e.name)
		ours := p.spawn(1)
		p.join("g", ours...)
		e.sees("g", ours[0], theirs[0])
		p.sees("g", ours[0], theirs[0])
		p.self.Close(nil)
		require.NoError(t, p.Stop())
	}
}

func TestErlangTwoAndUs(t *testing.T) {
	l := newErlangNode(t)
	e, f := l.erl("e"), l.erl("f")
	p := l.ours("go", pg.Config{})
	e.knows(p)
	f.knows(p)
	require.Equal(t, wire.AtomTrue, e.call("net_kernel", "connect_node", f.name))
	x, y, z := p.spawn(1)[0], e.spawn(1)[0], f.spawn(1)[0]
	p.join("g", x)
	e.join("g", y)
	f.join("g", z)
	for _, see := range []func(any, ...node.PID){p.sees, e.sees, f.sees} {
		see("g", x, y, z)
	}
	p.leave("g", x)
	e.exit(y)
	for _, see := range []func(any, ...node.PID){p.sees, e.sees, f.sees} {
		see("g", z)
	}
	f.Kill()
	p.sees("g")
	e.sees("g")
	p.join("g", x)
	e.sees("g", x)
}

func TestErlangAndTwoOfUs(t *testing.T) {
	l := newErlangNode(t)
	e := l.erl("e")
	p, q := l.ours("go", pg.Config{}), l.ours("too", pg.Config{})
	e.knows(p)
	q.connect(e.name)
	q.connect(p.Name())
	x, y, z := p.spawn(1)[0], q.spawn(1)[0], e.spawn(1)[0]
	p.join("g", x)
	q.join("g", y)
	e.join("g", z)
	for _, see := range []func(any, ...node.PID){p.sees, q.sees, e.sees} {
		see("g", x, y, z)
	}
	require.True(t, q.Disconnect(e.name)) // the other one sees that OTP has noticed
	q.sees("g", x, y)
	e.sees("g", x, z)
	p.sees("g", x, y, z)
	q.connect(e.name)
	for _, see := range []func(any, ...node.PID){p.sees, q.sees, e.sees} {
		see("g", x, y, z)
	}
}

func TestErlangStorm(t *testing.T) {
	l := newErlangNode(t)
	e := l.erl("e")
	p, q := l.ours("go", pg.Config{}), l.ours("too", pg.Config{})
	e.knows(p)
	q.connect(e.name)
	q.connect(p.Name())
	theirs := e.spawn(10)
	pid := e.call("erlang", "whereis", e.scope)
	var wg sync.WaitGroup
	for i, us := range []*peer{p, q} {
		ours := us.spawn(10)
		wg.Go(func() { storm(us, ours, uint64(i), 1000) })
	}
	wg.Go(func() {
		r := rand.New(rand.NewPCG(7, 7))
		for range 1000 {
			verb := node.Atom("join")
			if r.IntN(2) == 0 {
				verb = "leave"
			}
			some := []node.PID{theirs[r.IntN(10)], theirs[r.IntN(10)]}[:1+r.IntN(2)]
			e.call("pg", verb, e.scope, fmt.Sprint(r.IntN(10)), term(some))
		}
	})
	wg.Wait()
	alike(t, p.view, q.view, e.view)
	require.Len(t, p.scope.Groups(), 10)
	assert.Equal(t, pid, e.call("erlang", "whereis", e.scope), "pg has not crashed")
	for i := range 3 { // and again after connections were lost
		p.Disconnect(e.name)
		p.connect(e.name)
		storm(p, p.spawn(5), uint64(i), 100)
		alike(t, p.view, q.view, e.view)
	}
	assert.Equal(t, pid, e.call("erlang", "whereis", e.scope), "pg has not crashed")
}

// Requests that Erlang's functions can make to our scope: they take {Scope, Node} for a name.
func TestErlangAsks(t *testing.T) {
	p, e := erlang(t)
	ours, theirs := p.spawn(1)[0], e.spawn(1)[0]
	at := wire.Tuple{wire.Atom("pg"), p.Name()}
	ask := func(q any) any { return e.call("gen_server", "call", at, q) }
	assert.Equal(t, wire.AtomOK, ask(wire.Tuple{wire.Atom("join_local"), "g", ours}))
	e.sees("g", ours)
	m := e.call("pg", "monitor", at, "g").(wire.Tuple)
	assert.Equal(t, wire.List{ours}, m[1])
	m = e.call("pg", "monitor_scope", at).(wire.Tuple)
	assert.True(t, wire.Equal(wire.NewMap("g", wire.List{ours}), m[1]))
	assert.Equal(t, wire.AtomFalse, e.call("pg", "demonitor", at, p.MakeRef()))
	assert.Equal(t, wire.Atom("not_joined"), ask(wire.Tuple{wire.Atom("leave_local"), "h", ours}))
	assert.Equal(t, wire.Tuple{wire.AtomError, wire.Tuple{wire.Atom("nolocal"), theirs}},
		ask(wire.Tuple{wire.Atom("join_local"), "g", theirs}))
	state := e.call("sys", "get_state", at).(wire.Map)
	n, _ := state.Get(wire.Atom("peers"))
	assert.Equal(t, 1, n)
}
