package calls_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/termtest"
	"github.com/actornode/actornode/wire"
)

func improper(tail any, head ...any) any { return wire.ImproperList{Head: head, Tail: tail} }

var (
	gencallOrigin = wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 7})
	gencallPID    = gencallOrigin.PID(5)
	gencallRef    = gencallOrigin.RefOf(9)
	words         = []any{1, "x", 2.5, wire.Atom("alias"), gencallPID, gencallRef, nil, calls.Call}
)

// TestTags checks which tags name an alias; see gen:reply/2 in stdlib.
func TestTags(t *testing.T) {
	alias := wire.Atom("alias")
	named := improper(gencallRef, alias)
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
		{"[alias, x|Ref]", improper(gencallRef, alias, wire.Atom("x")), false},
		{"[alias|x]", improper(wire.Atom("x"), alias), false},
		{"[x|Ref]", improper(gencallRef, wire.Atom("x")), false},
		{"[alias, Ref]", wire.List{alias, gencallRef}, false},
		{"Ref", gencallRef, false},
		{"[]", wire.List{}, false},
		{"an improper list of nothing", wire.ImproperList{}, false},
		{"nil", nil, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			from, ok := calls.ReadFrom(wire.Tuple{gencallPID, c.tag})
			require.True(t, ok, "a PID is enough")
			require.Equal(t, gencallPID, from.PID)
			require.Equal(t, c.want, from.ToAlias)
			if c.want {
				require.Equal(t, gencallRef, from.Alias)
			}
			_, ok = calls.ReadFrom(wire.Tuple{wire.Atom("no_pid"), c.tag})
			require.Equal(t, c.want, ok, "without a PID there must be an alias")
			got, ok := calls.ReplyRef(from.Reply(1))
			require.Equal(t, c.want || c.tag == any(gencallRef), ok)
			if ok {
				require.Equal(t, gencallRef, got)
			}
		})
	}
}

// A message that was made is read back with the same parts.
func TestMadeIsRead(t *testing.T) {
	r := testkit.Rand(t)
	for range 2000 {
		body := termtest.Of(r, words, 3)
		got, ok := calls.ReadCast(calls.MakeCast(body))
		require.True(t, ok)
		require.True(t, wire.Equal(body, got))
		_, _, ok = calls.ReadCall(calls.MakeCast(body))
		require.False(t, ok)

		from := termtest.Of(r, words, 3)
		gotFrom, got, ok := calls.ReadCall(calls.MakeCall(from, body))
		require.True(t, ok)
		require.True(t, wire.Equal(from, gotFrom))
		require.True(t, wire.Equal(body, got))

		m := calls.MakeRequest(calls.Call, gencallPID, gencallRef, body)
		gotRef, ok := calls.RequestRef(m)
		require.True(t, ok)
		require.Equal(t, gencallRef, gotRef)
		gotFrom, _, _ = calls.ReadCall(m)
		f, ok := calls.ReadFrom(gotFrom)
		require.True(t, ok)
		require.Equal(t, gotFrom, f.Term())
		made := calls.FromAlias(gencallPID, gencallRef)
		require.Equal(t, []any{f.PID, f.Alias, f.ToAlias, f.Term()}, []any{made.PID, made.Alias, made.ToAlias, made.Term()})
		gotRef, ok = calls.ReplyRef(f.Reply(body))
		require.True(t, ok)
		require.Equal(t, gencallRef, gotRef)
	}
}

// No term makes a reader panic, however close it is to a valid message.
func TestReadersTakeAnyTerm(t *testing.T) {
	r := testkit.Rand(t)
	parts := []any{calls.Call, calls.Cast, wire.Atom("alias"), gencallPID, gencallRef, wire.List{}, wire.ImproperList{}, nil, 1, "x"}
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
		if from, _, ok := calls.ReadCall(msg); ok {
			calls.ReadFrom(from)
		}
		calls.ReadCast(msg)
		calls.RequestRef(msg)
		calls.ReplyRef(msg)
		if f, ok := calls.ReadFrom(msg); ok {
			require.True(t, f.ToAlias || f.PID == gencallPID, "%v", msg)
		}
	}
}

func TestGoCalls(t *testing.T) {
	require.Equal(t, wire.Tuple{gencallPID, wire.Atom("$go_call")}, calls.GoFrom(gencallPID))
	require.Equal(t, wire.Tuple{wire.AtomUndefined, wire.Atom("$go_call")}, calls.GoFrom(wire.PID{}))
	require.Equal(t, wire.Tuple{wire.Atom("$go_reply"), 1}, calls.GoReply(1))
}
