package gencall_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/termtest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node/internal/gencall"
	"github.com/actornode/actornode/wire"
)

func improper(tail any, head ...any) any { return wire.ImproperList{Head: head, Tail: tail} }

var (
	origin = wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 7})
	pid    = origin.PID(5)
	ref    = origin.RefOf(9)
	words  = []any{1, "x", 2.5, wire.Atom("alias"), pid, ref, nil, gencall.Call}
)

// TestTags: which tags name an alias; gen:reply/2 in stdlib.
func TestTags(t *testing.T) {
	alias := wire.Atom("alias")
	named := improper(ref, alias)
	for _, c := range []struct {
		what string
		tag  any
		want bool
	}{
		{"[alias|Ref]", named, true},
		{"[[alias|Ref]]", wire.List{named}, true},
		{"[[alias|Ref]|x]", improper(wire.Atom("x"), named), true},
		{"[[alias|Ref], y|x]", improper(wire.Atom("x"), named, 1), true},
		{"[[[alias|Ref]]]", wire.List{wire.List{named}}, false},
		{"[alias, x|Ref]", improper(ref, alias, wire.Atom("x")), false},
		{"[alias|x]", improper(wire.Atom("x"), alias), false},
		{"[x|Ref]", improper(ref, wire.Atom("x")), false},
		{"[alias, Ref]", wire.List{alias, ref}, false},
		{"Ref", ref, false},
		{"[]", wire.List{}, false},
		{"an improper list of nothing", wire.ImproperList{}, false},
		{"nil", nil, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			from, ok := gencall.ReadFrom(wire.Tuple{pid, c.tag})
			require.True(t, ok, "a PID is enough")
			require.Equal(t, pid, from.PID)
			require.Equal(t, c.want, from.ToAlias)
			if c.want {
				require.Equal(t, ref, from.Alias)
			}
			_, ok = gencall.ReadFrom(wire.Tuple{wire.Atom("no_pid"), c.tag})
			require.Equal(t, c.want, ok, "without a PID there must be an alias")
			got, ok := gencall.ReplyRef(from.Reply(1))
			require.Equal(t, c.want || c.tag == any(ref), ok)
			if ok {
				require.Equal(t, ref, got)
			}
		})
	}
}

// What is made is read, and has the same parts.
func TestMadeIsRead(t *testing.T) {
	r := testkit.Rand(t)
	for range 2000 {
		body := termtest.Of(r, words, 3)
		got, ok := gencall.ReadCast(gencall.MakeCast(body))
		require.True(t, ok)
		require.True(t, wire.Equal(body, got))
		_, _, ok = gencall.ReadCall(gencall.MakeCast(body))
		require.False(t, ok)

		from := termtest.Of(r, words, 3)
		gotFrom, got, ok := gencall.ReadCall(gencall.MakeCall(from, body))
		require.True(t, ok)
		require.True(t, wire.Equal(from, gotFrom))
		require.True(t, wire.Equal(body, got))

		m := gencall.MakeRequest(gencall.Call, pid, ref, body)
		gotRef, ok := gencall.RequestRef(m)
		require.True(t, ok)
		require.Equal(t, ref, gotRef)
		gotFrom, _, _ = gencall.ReadCall(m)
		f, ok := gencall.ReadFrom(gotFrom)
		require.True(t, ok)
		require.Equal(t, gotFrom, f.Term())
		made := gencall.FromAlias(pid, ref)
		require.Equal(t, []any{f.PID, f.Alias, f.ToAlias, f.Term()}, []any{made.PID, made.Alias, made.ToAlias, made.Term()})
		gotRef, ok = gencall.ReplyRef(f.Reply(body))
		require.True(t, ok)
		require.Equal(t, ref, gotRef)
	}
}

// No term makes a reader panic, however near it is to a message that is one.
func TestReadersTakeAnyTerm(t *testing.T) {
	r := testkit.Rand(t)
	parts := []any{gencall.Call, gencall.Cast, wire.Atom("alias"), pid, ref, wire.List{}, wire.ImproperList{}, nil, 1, "x"}
	var near func(depth int) any
	near = func(depth int) any {
		if depth == 0 || r.IntN(4) == 0 {
			return parts[r.IntN(len(parts))]
		}
		all := make([]any, r.IntN(4))
		for i := range all {
			all[i] = near(depth - 1)
		}
		switch r.IntN(3) {
		case 0:
			return wire.Tuple(all)
		case 1:
			return wire.List(all)
		}
		return wire.ImproperList{Head: all, Tail: near(depth - 1)}
	}
	for range 20_000 {
		msg := near(4)
		if from, _, ok := gencall.ReadCall(msg); ok {
			gencall.ReadFrom(from)
		}
		gencall.ReadCast(msg)
		gencall.RequestRef(msg)
		gencall.ReplyRef(msg)
		if f, ok := gencall.ReadFrom(msg); ok {
			require.True(t, f.ToAlias || f.PID == pid, "%v", msg)
		}
	}
}

func TestGoCalls(t *testing.T) {
	require.Equal(t, wire.Tuple{pid, wire.Atom("$go_call")}, gencall.GoFrom(pid))
	require.Equal(t, wire.Tuple{wire.Undefined, wire.Atom("$go_call")}, gencall.GoFrom(wire.PID{}))
	require.Equal(t, wire.Tuple{wire.Atom("$go_reply"), 1}, gencall.GoReply(1))
}
