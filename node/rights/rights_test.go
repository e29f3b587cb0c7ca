package rights_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

func policy(t *testing.T, c rights.Config) *rights.Policy {
	t.Helper()
	p, err := rights.New(c)
	require.NoError(t, err)
	return p
}

// The first rule that names a node decides, alone.
func TestFirstRuleDecides(t *testing.T) {
	p := policy(t, rights.Config{
		Cookies: map[string]string{"ops": "o", "shop": "s"},
		Rules: []rights.Rule{
			{Cookie: "ops", May: []string{"all"}},
			{Peer: "bad@*"},
			{TLS: "dns:*.mon.example.org", May: []string{"connect", "admin_read"}},
			{Peer: "go-*@10.0.*", May: []string{"connect", "send pg", "call counter"}},
			{Peer: "*@b.example.org", Cookie: "shop", May: []string{"connect", "rpc lib:*"}},
			{Peer: "*@b.example.org", May: []string{"connect"}},
			{Peer: "one@c.example.org", May: []string{"connect"}},
			{TLS: "cn:one", May: []string{"connect"}},
		},
	})
	for _, c := range []struct {
		id   rights.Identity
		rule int
		may  string
	}{
		{rights.Identity{Name: "bad@h", Cookie: "ops"}, 1, "all"},
		{rights.Identity{Name: "bad@h"}, 2, "none"},
		{rights.Identity{Name: "bad@h", TLS: []string{"dns:a.mon.example.org"}}, 2, "none"},
		{rights.Identity{Name: "x@h", TLS: []string{"cn:x", "dns:a.mon.example.org"}}, 3, "connect, admin_read"},
		{rights.Identity{Name: "x@h", TLS: []string{"cn:a.mon.example.org", "dns:mon.example.org"}}, 0, "none"},
		{rights.Identity{Name: "go-1@10.0.7.8"}, 4, "connect, send pg, call counter"},
		{rights.Identity{Name: "go-@10.0."}, 4, "connect, send pg, call counter"},
		{rights.Identity{Name: "go@10.0.7.8"}, 0, "none"},
		{rights.Identity{Name: "go-1@11.10.0.7"}, 0, "none"},
		{rights.Identity{Name: "x@b.example.org", Cookie: "shop"}, 5, "connect, rpc lib:*"},
		{rights.Identity{Name: "x@b.example.org"}, 6, "connect"},
		{rights.Identity{Name: "x@y@b.example.org"}, 0, "none"},
		{rights.Identity{Name: "one@c.example.org"}, 7, "connect"},
		{rights.Identity{Name: "one@c.example.org.evil.example"}, 0, "none"},
		{rights.Identity{Name: "ones@c.example.org"}, 0, "none"},
		{rights.Identity{Name: "x@h", TLS: []string{"cn:one"}}, 8, "connect"},
		{rights.Identity{Name: "x@h", TLS: []string{"cn:ones", "cn:one "}}, 0, "none"},
		{rights.Identity{}, 0, "none"},
	} {
		g := p.Of(c.id, nil)
		require.Equal(t, c.rule, g.Rule, "%+v", c.id)
		require.Equal(t, c.may, g.String(), "%+v", c.id)
		require.Same(t, g, p.Of(c.id, g), "what is granted is remembered")
	}
	// Before a node proves a cookie, any node that a rule names may connect.
	for name, may := range map[wire.Atom]bool{"bad@h": true, "x@b.example.org": true, "nobody@h": true} {
		require.Equal(t, may, p.MayAdmit(rights.Identity{Name: name}), name)
	}
	p = policy(t, rights.Config{Cookies: map[string]string{"o": "o"}, Rules: []rights.Rule{{Peer: "bad@*"},
		{Cookie: "o", Peer: "x@*", May: []string{"connect"}}, {Cookie: "o"}}})
	for name, may := range map[wire.Atom]bool{"bad@h": false, "x@h": true, "y@h": false} {
		require.Equal(t, may, p.MayAdmit(rights.Identity{Name: name}), name)
	}
}

// Each right allows what it names, and nothing else.
func TestEachRight(t *testing.T) {
	export := wire.Export{Module: "lib", Function: "echo", Arity: 1}
	asked := map[string]func(*rights.Granted) bool{
		"connect": (*rights.Granted).Connect,
		"send":    func(g *rights.Granted) bool { return g.Send("") }, "send a": func(g *rights.Granted) bool { return g.Send("a") },
		"call": func(g *rights.Granted) bool { return g.Call("") }, "call a": func(g *rights.Granted) bool { return g.Call("a") },
		"spawn":            func(g *rights.Granted) bool { return g.Spawn(wire.Export{Module: "m", Function: "f"}) },
		"spawn lib:echo/1": func(g *rights.Granted) bool { return g.Spawn(export) },
		"rpc":              func(g *rights.Granted) bool { return g.RPC(wire.Export{Module: "m", Function: "f"}) },
		"rpc lib:echo/1":   func(g *rights.Granted) bool { return g.RPC(export) },
		"signal":           (*rights.Granted).Signal, "admin_read": (*rights.Granted).Look, "admin_act": (*rights.Granted).Act,
		"trace": (*rights.Granted).Trace,
	}
	for right := range asked {
		p := policy(t, rights.Config{Rules: []rights.Rule{{May: []string{"connect", right}}}})
		g := p.Of(rights.Identity{Name: "a@b"}, nil)
		for other, has := range asked {
			word, _, _ := strings.Cut(other, " ")
			require.Equal(t, other == right || other == "connect" || word == right, has(g), "%s with the right %s", other, right)
			require.True(t, has(nil), "there is no policy")
		}
	}
	all := policy(t, rights.Config{Rules: []rights.Rule{{May: []string{"spawn lib:*", "connect", "rpc lib:echo/1"}}}})
	g := all.Of(rights.Identity{}, nil)
	require.True(t, g.Spawn(wire.Export{Module: "lib", Function: "f", Arity: 9}))
	require.False(t, g.Spawn(wire.Export{Module: "li", Function: "f", Arity: 9}))
	require.False(t, g.RPC(wire.Export{Module: "lib", Function: "echo", Arity: 2}))
}

// No rules allow everything, an empty list allows nothing.
func TestNoRules(t *testing.T) {
	p := policy(t, rights.Config{})
	before := p.Of(rights.Identity{Name: "a@b"}, nil)
	require.Equal(t, "all", before.String())
	require.NoError(t, p.Set(rights.Config{Rules: []rights.Rule{}}))
	after := p.Of(rights.Identity{Name: "a@b"}, before)
	require.Equal(t, "none", after.String())
	require.Error(t, p.Set(rights.Config{Rules: []rights.Rule{{May: []string{"fly"}}}}))
	require.Equal(t, "none", p.Of(rights.Identity{Name: "a@b"}, after).String(), "what is wrong changes nothing")
}

// A node that knows a cookie with a name goes by that name. An empty cookie is none.
func TestAccept(t *testing.T) {
	p := policy(t, rights.Config{Cookies: map[string]string{"a": "1", "b": "2", "empty": ""}})
	for knows, want := range map[string]string{"1": "a", "2": "b"} {
		cookie, name, ok := p.Accept(func(c string) bool { return c == knows })
		require.True(t, ok)
		require.Equal(t, knows, cookie)
		require.Equal(t, want, name)
	}
	_, err := rights.New(rights.Config{Cookies: map[string]string{"a": "1", "c": "1"}})
	require.ErrorContains(t, err, "the cookies a and c are the same")
	_, _, ok := p.Accept(func(c string) bool { return c == "" || c == "3" })
	require.False(t, ok)
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		rule rights.Rule
		want string
	}{
		{rights.Rule{Peer: "a"}, `peer "a": want NAME@HOST`},
		{rights.Rule{Peer: "*"}, `peer "*": want NAME@HOST`},
		{rights.Rule{Peer: "@b"}, `peer "@b": want NAME@HOST`},
		{rights.Rule{TLS: "host"}, `tls "host": want dns:NAME`},
		{rights.Rule{TLS: "ip:1.2.3.4"}, "want dns:NAME"},
		{rights.Rule{TLS: "dns:"}, "want dns:NAME"},
		{rights.Rule{Cookie: "c"}, `no cookie "c"`},
		{rights.Rule{May: []string{"fly"}}, `may "fly": unknown right; want one of all, connect, send`},
		{rights.Rule{May: []string{"all of it"}}, "unknown right"},
		{rights.Rule{May: []string{"send"}}, "may send: a node that may not connect"},
		{rights.Rule{May: []string{"connect", "send a*"}}, "one registered name"},
		{rights.Rule{May: []string{"connect", "call a b"}}, "one registered name"},
		{rights.Rule{May: []string{"connect", "call rex"}}, "want rpc for rex"},
		{rights.Rule{May: []string{"connect", "send actornode"}}, "want rpc for rex; admin_read"},
		{rights.Rule{May: []string{"connect", "rpc f"}}, "one MODULE:FUNCTION/ARITY or MODULE:*"},
		{rights.Rule{May: []string{"connect", "rpc *:*"}}, "one MODULE:FUNCTION/ARITY or MODULE:*"},
		{rights.Rule{May: []string{"connect", "rpc m:f/256"}}, "one MODULE:FUNCTION/ARITY or MODULE:*"},
		{rights.Rule{May: []string{"connect", "spawn m:f/-1"}}, "one MODULE:FUNCTION/ARITY or MODULE:*"},
		{rights.Rule{May: []string{"connect", "trace x"}}, `may "trace x": want trace, without more`},
	} {
		_, err := rights.New(rights.Config{Rules: []rights.Rule{{}, c.rule}})
		require.ErrorContains(t, err, "rights: rule 2: ", "%+v", c.rule)
		require.ErrorContains(t, err, c.want, "%+v", c.rule)
	}
}

// A stranger chooses the name that patterns are compared with: a comparison with backtracking at each * would not end.
func TestPatternsAreFast(t *testing.T) {
	p := policy(t, rights.Config{Rules: []rights.Rule{{Peer: strings.Repeat("*a", 60) + "b@*", May: []string{"all"}}}})
	require.False(t, p.Of(rights.Identity{Name: wire.Atom(strings.Repeat("a", 250) + "@h")}, nil).Connect())
}

func Example() {
	p, err := rights.New(rights.Config{
		Cookies: map[string]string{"ops": "a long secret"},
		Rules: []rights.Rule{
			{Cookie: "ops", May: []string{"all"}},
			{Peer: "*@shop.example.org", May: []string{"connect", "call counter"}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	shop := p.Of(rights.Identity{Name: "go@shop.example.org"}, nil)
	fmt.Println(shop, shop.Call("counter"), shop.Send("counter"))
	fmt.Println(p.Of(rights.Identity{Name: "go@elsewhere"}, nil))
	// Output:
	// connect, call counter true false
	// none
}
