package node_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

func atom(s string) wire.Atom { return wire.Atom(s) }

func improper(tail any, head ...any) any { return wire.ImproperList{Head: head, Tail: tail} }

// readFrom reads a From as the behaviours of this module do.
func readFrom(n *node.Node, term any) (node.From, bool) {
	return n.Inside(process.Key{}).ReadFrom(nil, term)
}

// Which terms are a From, and where its reply goes.
func TestReadFrom(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	ref, own := n.MakeRef(), h.Self()
	alias := improper(ref, atom("alias"))
	for _, c := range []struct {
		what string
		term any
		ok   bool
	}{
		{"{Pid, Ref}", wire.Tuple{own, ref}, true},
		{"{Pid, term}", wire.Tuple{own, wire.Tuple{1, "x"}}, true},
		{"{Pid, []}", wire.Tuple{own, wire.List{}}, true},
		{"{Pid, nil}", wire.Tuple{own, nil}, true},
		{"{Pid, [alias, x|Ref]}", wire.Tuple{own, improper(ref, atom("alias"), atom("x"))}, true},
		{"{Pid, [[[alias|Ref]]]}", wire.Tuple{own, wire.List{wire.List{alias}}}, true},
		{"{Pid, [alias|x]}", wire.Tuple{own, improper(atom("x"), atom("alias"))}, true},
		{"{Pid, [alias, Ref]}", wire.Tuple{own, wire.List{atom("alias"), ref}}, true},
		{"{Pid, an improper list of nothing}", wire.Tuple{own, wire.ImproperList{}}, true},
		{"{atom, Ref}", wire.Tuple{atom("x"), ref}, false},
		{"{Pid}", wire.Tuple{own}, false},
		{"{Pid, Ref, x}", wire.Tuple{own, ref, 1}, false},
		{"Pid", own, false},
		{"[]", wire.List{}, false},
		{"nil", nil, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			from, ok := readFrom(n, c.term)
			require.Equal(t, c.ok, ok)
			assert.Equal(t, ok, from.Pending())
			if !ok {
				assert.ErrorIs(t, from.Reply(1), node.ErrReplied)
				return
			}
			tag := c.term.(wire.Tuple)[1]
			assert.Equal(t, own, from.Caller())
			require.NoError(t, from.Reply(atom("there")))
			got := nodetest.Expect[wire.Tuple](h)
			assert.True(t, wire.Equal(wire.Tuple{tag, atom("there")}, got), "%v", got)
			assert.False(t, from.Pending())
			assert.ErrorIs(t, from.Reply(1), node.ErrReplied)
			assert.ErrorIs(t, from.Fail(errSpoiled), node.ErrReplied)
			h.ExpectNone()
			from, _ = readFrom(n, c.term)
			require.NoError(t, from.Fail(errSpoiled))
			assert.True(t, wire.Equal(wire.Tuple{tag, wire.Tuple{wire.AtomError, "spoiled"}}, nodetest.Expect[wire.Tuple](h)))
		})
	}
}

// A reply to an alias uses it up; the process that the From names does not matter then.
func TestReadFromAlias(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	for what, form := range map[string]func(ref node.Ref) any{
		"[alias|Ref]":        func(ref node.Ref) any { return improper(ref, atom("alias")) },
		"[[alias|Ref]|x]":    func(ref node.Ref) any { return improper(atom("x"), improper(ref, atom("alias"))) },
		"[[alias|Ref]]":      func(ref node.Ref) any { return wire.List{improper(ref, atom("alias"))} },
		"[[alias|Ref], y|x]": func(ref node.Ref) any { return improper(atom("x"), improper(ref, atom("alias")), atom("y")) },
		"[[alias|Ref], y]":   func(ref node.Ref) any { return wire.List{improper(ref, atom("alias")), atom("y")} },
	} {
		for _, to := range []any{h.Self(), atom("whoever")} {
			ref := h.AliasOnce()
			tag := form(ref)
			from, ok := readFrom(n, wire.Tuple{to, tag})
			require.True(t, ok, what)
			require.NoError(t, from.Reply(1))
			assert.True(t, wire.Equal(wire.Tuple{tag, 1}, nodetest.Expect[wire.Tuple](h)), what)
			assert.False(t, h.Unalias(ref), "%s: the reply uses the alias up", what)
			from, _ = readFrom(n, wire.Tuple{to, tag})
			assert.NoError(t, from.Reply(2), "nobody can know that the alias is used up")
			h.ExpectNone()
		}
	}
}

func TestAsRequest(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	from := wire.Tuple{h.Self(), 7}
	for _, c := range []struct {
		msg  any
		ok   bool
		body any
	}{
		{wire.Tuple{atom("$gen_call"), from, atom("x")}, true, atom("x")},
		{wire.Tuple{atom("$gen_call"), from, nil}, true, nil},
		{wire.Tuple{atom("$gen_call"), from}, false, nil},
		{wire.Tuple{atom("$gen_call"), from, 1, 2}, false, nil},
		{wire.Tuple{atom("$gen_call"), 1, 2}, false, nil},
		{wire.Tuple{"$gen_call", from, 1}, false, nil},
		{wire.Tuple{wire.Tuple{}, from, 1}, false, nil},
		{wire.Tuple{}, false, nil},
		{node.Request[int]{Body: 5}, true, 5},
		{node.Request[any]{Body: nil}, true, nil},
		{5, false, nil},
		{nil, false, nil},
	} {
		r, ok := n.AsRequest(c.msg)
		assert.Equal(t, c.ok, ok, "%v", c.msg)
		if ok {
			assert.Equal(t, c.body, r.Body)
		}
	}

	// The From of a call is that of its request.
	pid, err := n.Spawn(node.ActorFunc(func(c *node.Context, m any) error {
		r, ok := c.Node().AsRequest(m)
		if !ok {
			return nil
		}
		if r.Body == "who" {
			return r.Reply(r.Caller())
		}
		return r.Reply(standsFor(m))
	}))
	require.NoError(t, err)
	who, err := node.Call[node.PID](t.Context(), h, pid, "who")
	require.NoError(t, err)
	assert.Equal(t, h.Self(), who)
	who, err = node.Call[node.PID](t.Context(), n, pid, "who")
	require.NoError(t, err)
	assert.Zero(t, who)
	term, err := node.Call[wire.Tuple](t.Context(), h, pid, "term")
	require.NoError(t, err)
	assert.Equal(t, wire.Tuple{atom("$gen_call"), wire.Tuple{h.Self(), atom("$go_call")}, "term"}, term)
	assert.Zero(t, node.From{}.Caller())
	assert.Equal(t, wire.Tuple{wire.AtomUndefined, atom("$go_call")}, standsFor(node.From{}))
}

type termed struct{}

func (termed) Error() string { return "termed" }
func (termed) Term() any     { return wire.Tuple{1, 2} }

func TestErrorTerm(t *testing.T) {
	for _, c := range []struct {
		err  error
		want any
	}{
		{errSpoiled, "spoiled"},
		{node.ExitWith(atom("x")), atom("x")},
		{fmt.Errorf("so: %w", node.ExitWith(atom("x"))), atom("x")},
		{&node.ExitError{Reason: node.NoProc}, node.NoProc},
		{fmt.Errorf("so: %w", &node.ExitError{Reason: 5}), 5},
		{termed{}, wire.Tuple{1, 2}},
		{fmt.Errorf("so: %w", termed{}), wire.Tuple{1, 2}},
		{errors.Join(errSpoiled, termed{}), wire.Tuple{1, 2}},
		{node.ErrNoName, wire.Tuple{atom("$error"), node.ErrNoName.Error(), wire.List{atom(node.ErrNoName.Error())}}},
	} {
		assert.Equal(t, c.want, values.ErrorTerm(c.err), "%v", c.err)
	}
}

// standsFor is the term that represents a value.
func standsFor(v any) any {
	term, _ := termof.Of(v)
	return term
}
