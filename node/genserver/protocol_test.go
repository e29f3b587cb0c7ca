package genserver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// A handle sends here, as terms, what Erlang's modules send.

func a(s string) wire.Atom { return wire.Atom(s) }

// aliasTag is [alias|Ref].
func aliasTag(ref node.Ref) any { return wire.ImproperList{Head: []any{a("alias")}, Tail: ref} }

// tags are the forms of the tag of a call, for a new call of h.
var tags = []struct {
	name  string
	alias bool
	make  func(h *node.Process, ref node.Ref) any
}{
	{"reference", false, func(h *node.Process, _ node.Ref) any { return h.Node().MakeRef() }},
	{"[alias|Ref]", true, func(_ *node.Process, ref node.Ref) any { return aliasTag(ref) }},
	{"[[alias|Ref]|term]", true, func(_ *node.Process, ref node.Ref) any {
		return wire.ImproperList{Head: []any{aliasTag(ref)}, Tail: a("label")}
	}},
	{"[[alias|Ref], term]", true, func(_ *node.Process, ref node.Ref) any { return wire.List{aliasTag(ref), a("label")} }},
	{"[[alias|Ref], term|term]", true, func(_ *node.Process, ref node.Ref) any {
		return wire.ImproperList{Head: []any{aliasTag(ref), 1}, Tail: a("label")}
	}},
	{"{Ref, Node} of multi_call", false, func(h *node.Process,
		_ node.Ref) any {
		return wire.Tuple{h.Node().MakeRef(), h.Node().Name()}
	}},
	{"[]", false, func(*node.Process, node.Ref) any { return wire.List{} }},
	{"[alias]", false, func(*node.Process, node.Ref) any { return wire.List{a("alias")} }},
	{"[alias|atom]", false, func(*node.Process, node.Ref) any { return wire.ImproperList{Head: []any{a("alias")}, Tail: a("x")} }},
	{"[other|Ref]", false, func(_ *node.Process, ref node.Ref) any { return wire.ImproperList{Head: []any{a("other")}, Tail: ref} }},
	{"atom", false, func(*node.Process, node.Ref) any { return a("tag") }},
}

func TestErlangCalls(t *testing.T) {
	for _, tag := range tags {
		t.Run(tag.name, func(t *testing.T) {
			eachPlace(t, func(t *testing.T, o node.Options) {
				n := nodetest.Start(t, node.Config{})
				h := nodetest.NewProbe(t, n)
				pid := start(t, h, &probe{}, o)
				for _, c := range []struct {
					message func(from any) wire.Tuple
					reply   any
				}{
					{func(from any) wire.Tuple { return wire.Tuple{a("$gen_call"), from, a("hello")} }, a("hello")},
					{func(from any) wire.Tuple { return wire.Tuple{a("$gen_call"), from, a("fail")} },
						wire.Tuple{wire.AtomError, "the tea is cold"}},
					{func(from any) wire.Tuple { return wire.Tuple{a("$gen_call"), from, wire.Tuple{1}} },
						wire.Tuple{wire.AtomError, wire.Tuple{a("unhandled_request"), wire.Tuple{1}}}},
					{func(from any) wire.Tuple { return wire.Tuple{a("system"), from, a("suspend")} }, wire.AtomOK},
					{func(from any) wire.Tuple { return wire.Tuple{a("system"), from, a("get_state")} }, nil},
					{func(from any) wire.Tuple { return wire.Tuple{a("system"), from, a("resume")} }, wire.AtomOK},
					{func(from any) wire.Tuple { return wire.Tuple{a("system"), from, a("nonsense")} },
						wire.Tuple{wire.AtomError, wire.Tuple{a("unknown_system_msg"), a("nonsense")}}},
					{func(from any) wire.Tuple { return wire.Tuple{a("$gen_call"), from, a("stop")} }, a("stop")},
				} {
					ref := h.AliasOnce()
					label := tag.make(h.Process, ref)
					require.NoError(t, h.Send(pid, c.message(wire.Tuple{h.Self(), label})))
					got := nodetest.Expect[any](h)
					want := wire.Tuple{label, c.reply}
					assert.True(t, wire.Equal(got, want), "got %v, want %v", got, want)
					assert.Equal(t, tag.alias, !h.Unalias(ref), "the alias is used up by the reply, and by nothing else")
				}
				h.ExpectNone()
			})
		})
	}
}

// A caller that gives up deactivates its alias: it does not see the reply.
func TestErlangLateReply(t *testing.T) {
	for _, tag := range tags {
		if !tag.alias {
			continue
		}
		t.Run(tag.name, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{})
			h := nodetest.NewProbe(t, n)
			pid := start(t, h, &probe{}, node.Options{})
			ref := h.AliasOnce()
			release := make(chan struct{})
			genserver.Cast(h, pid, tell(func(*probe, *genserver.Context) error { <-release; return nil }))
			h.Send(pid, wire.Tuple{a("$gen_call"), wire.Tuple{h.Self(), tag.make(h.Process, ref)}, a("hello")})
			assert.True(t, h.Unalias(ref))
			close(release)
			assert.Equal(t, []string{"call hello"}, ask(t, h, pid, Notes{}))
			h.ExpectNone()
			assert.Equal(t, map[deadletter.Cause]uint64{deadletter.NoAlias: 1}, n.Stats().DeadLetters)
		})
	}
}

// With an alias only the tag counts, as in gen:reply.
func TestErlangCallOfNobody(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	pid := start(t, h, &probe{}, node.Options{})
	ref := h.AliasOnce()
	h.Send(pid, wire.Tuple{a("$gen_call"), wire.Tuple{a("whoever"), aliasTag(ref)}, a("hello")})
	assert.True(t, wire.Equal(nodetest.Expect[any](h), wire.Tuple{aliasTag(ref), a("hello")}))
}

func TestErlangExitAndLater(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	froms := make(chan node.From, 1)
	k := genserver.Define(genserver.OnAnyCall(func(_ *probe, c *genserver.Context, q any) (any, error) {
		if q == a("exit") {
			return nil, node.ExitWith(a("chosen"))
		}
		froms <- c.From()
		return nil, genserver.ErrReplyLater
	}))
	var ref node.Ref
	pid, err := node.SpawnWait(testkit.Context(t), h, node.Options{Monitor: &ref}, k.New(&probe{}))
	require.NoError(t, err)
	h.Send(pid, wire.Tuple{a("$gen_call"), wire.Tuple{h.Self(), 7}, nil})
	from := testkit.Receive(t, froms)
	assert.Equal(t, h.Self(), from.Caller())
	assert.True(t, from.Pending())
	require.NoError(t, from.Reply(a("there")))
	assert.ErrorIs(t, from.Reply(a("again")), node.ErrReplied)
	assert.Equal(t, wire.Tuple{7, a("there")}, nodetest.Expect[any](h))
	h.Send(pid, wire.Tuple{a("$gen_call"), wire.Tuple{h.Self(), 8}, a("exit")})
	assert.Equal(t, node.Down{Ref: ref, PID: pid, Reason: a("chosen")}, nodetest.Expect[any](h))
	h.ExpectNone() // an exit is not a reply
}

func TestErlangErrors(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	for _, c := range []struct {
		err  error
		term any
	}{
		{errTea, "the tea is cold"},
		{fmt.Errorf("so: %w", errTea), "so: the tea is cold"},
		{&sys.RefusedError{Reason: 1}, "sys: refused: 1"},
		{&node.ExitError{Reason: a("noproc")}, a("noproc")},
		{fmt.Errorf("so: %w", &node.ExitError{Reason: a("noproc")}), a("noproc")},
		{fmt.Errorf("so: %w", &genserver.UnhandledError{Request: a("x")}), wire.Tuple{a("unhandled_request"), a("x")}},
		{errors.Join(errTea), "the tea is cold"},
	} {
		k := genserver.Define(genserver.OnAnyCall(func(_ *probe, _ *genserver.Context, q any) (any, error) { return nil, c.err }))
		pid, err := k.Start(testkit.Context(t), h, &probe{}, node.Options{})
		require.NoError(t, err)
		h.Send(pid, wire.Tuple{a("$gen_call"), wire.Tuple{h.Self(), 7}, nil})
		assert.Equal(t, wire.Tuple{7, wire.Tuple{wire.AtomError, c.term}}, nodetest.Expect[any](h))
	}
}

func TestErlangCast(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid := start(t, n, &probe{}, node.Options{})
	for _, m := range []any{a("x"), nil, wire.Tuple{}} {
		n.Send(pid, wire.Tuple{a("$gen_cast"), m})
	}
	assert.Equal(t, []string{"cast x"}, ask(t, n, pid, Notes{}))
	h := nodetest.NewProbe(t, n)
	require.NoError(t, genserver.Cast(n, h.Self(), wire.Tuple{1, "x"}))
	assert.Equal(t, wire.Tuple{a("$gen_cast"), wire.Tuple{1, "x"}}, sysmsg.Term(nodetest.Expect[any](h)))
}

// Malformed messages of the protocol are ordinary messages.
func TestMalformed(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	pid := start(t, h, &probe{}, node.Options{})
	bad := []wire.Tuple{
		{}, {a("$gen_call")}, {a("$gen_call"), 1}, {a("$gen_call"), 1, 2}, {a("$gen_call"), wire.Tuple{1, 2}, 3},
		{a("$gen_call"), wire.Tuple{h.Self()}, 3},
		{a("$gen_call"), wire.Tuple{h.Self(), 1, 2}, 3}, {a("$gen_call"), wire.Tuple{h.Self(), 1}, 3, 4},
		{a("$gen_cast")}, {a("$gen_cast"), 1, 2}, {a("system")}, {a("system"), a("x"), a("get_state")}, {a("system"), nil, nil},
		{wire.Tuple{}, wire.Tuple{}, wire.Tuple{}}, {nil, nil}, {nil, nil, nil},
	}
	var want []string
	for _, m := range bad {
		h.Send(pid, m)
		want = append(want, fmt.Sprintf("tuple %v", m))
	}
	assert.Equal(t, want, ask(t, h, pid, Notes{}))
	h.ExpectNone()
}

func TestSuspend(t *testing.T) {
	eachPlace(t, func(t *testing.T, o node.Options) {
		n := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, n)
		pid := start(t, h, &probe{value: 1}, o)
		ctx := testkit.Context(t)
		require.NoError(t, sys.Suspend(ctx, h, pid))
		n.Send(pid, "a")
		f := genserver.Async(n, pid, do(func(p *probe, _ *genserver.Context) (string, error) { p.note("call"); return "reply", nil }))
		genserver.Cast(n, pid, a("b"))
		h.Send(pid, wire.Tuple{a("$gen_call"), wire.Tuple{h.Self(), 7}, a("c")})
		n.Send(pid, wire.Tuple{a("system"), a("malformed"), a("resume")})
		for range 3 {
			state, err := sys.GetState(ctx, h, pid)
			require.NoError(t, err)
			assert.Equal(t, 1, state)
		}
		select {
		case <-f.Done():
			t.Fatal("a call was answered by a suspended server")
		default:
		}
		h.ExpectNone()
		testkit.Until(t, func() string { // an answered message may still be in hand, and counts then
			i, err := n.Info(pid)
			require.NoError(t, err)
			assert.Equal(t, "gen_server (suspended)", i.Behaviour)
			if i.Mailbox != 5 {
				return fmt.Sprint(i.Mailbox, " messages wait, not 5")
			}
			return ""
		})
		require.NoError(t, sys.Suspend(ctx, h, pid)) // this is not counted
		require.NoError(t, sys.Resume(ctx, h, pid))
		require.NoError(t, sys.Resume(ctx, h, pid))
		r, err := node.Await(ctx, n, f)
		require.NoError(t, err)
		assert.Equal(t, "reply", r)
		assert.Equal(t, wire.Tuple{7, a("c")}, nodetest.Expect[any](h))
		assert.Equal(t, []string{"a", "call", "cast b", "call c", "tuple {system,malformed,resume}"}, ask(t, n, pid, Notes{}))

		require.NoError(t, sys.Suspend(ctx, h, pid))
		n.Send(pid, "lost")
		require.NoError(t, sys.Stop(ctx, h, pid, a("enough")))
	})
}

func TestSuspendedExits(t *testing.T) {
	for _, c := range []struct {
		what   string
		link   bool
		signal func(n *node.Node, parent, child node.PID)
		notes  []string
		lives  bool
	}{
		{"the parent", true, func(n *node.Node, parent, _ node.PID) { n.Exit(parent, a("x")) }, []string{"terminate x"}, false},
		{"the parent, no link", false, func(n *node.Node, parent, _ node.PID) { n.Exit(parent, a("x")) }, []string{}, true},
		{"a stranger", true, func(n *node.Node, _, child node.PID) { n.Exit(child, a("x")) }, []string{}, true},
		{"kill", true, func(n *node.Node, _, child node.PID) { n.Exit(child, node.Kill) }, []string{}, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, err := node.Start(node.Config{Workers: 2})
				require.NoError(t, err)
				parent := nodetest.NewProbe(t, n)
				p := &probe{init: func(_ *probe, c *genserver.Context) error { c.TrapExit(true); return nil }}
				child := start(t, parent, p, node.Options{Link: c.link})
				require.NoError(t, sys.Suspend(t.Context(), n, child))
				c.signal(n, parent.Self(), child)
				synctest.Wait()
				assert.Equal(t, c.notes, p.noted())
				assert.Equal(t, c.lives, n.IsAlive(child))
				if c.lives && c.link {
					require.NoError(t, sys.Resume(t.Context(), n, child))
					synctest.Wait()
					assert.Equal(t, []string{"exited x"}, p.noted())
				}
				require.NoError(t, n.Stop())
			})
		})
	}
}

// A system message while suspended must not see the context of an earlier turn: here another process has used the same
// worker since then.
func TestSuspendedContext(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 1, Stages: 1})
	h := nodetest.NewProbe(t, n)
	pid := start(t, h, &probe{value: 1}, node.Options{Link: true, Name: "first"})
	other := start(t, n, &probe{value: 2}, node.Options{Name: "second"})
	require.NoError(t, sys.Suspend(testkit.Context(t), n, pid))
	ask(t, n, other, Notes{})
	st, err := sys.GetStatus(testkit.Context(t), n, pid)
	require.NoError(t, err)
	tuple := st.(wire.Tuple)
	assert.Equal(t, pid, tuple[1])
	assert.Equal(t, h.Self(), tuple[3].(wire.List)[2])
	assert.Contains(t, wire.Format(tuple), `"Status for generic server first"`)
	require.NoError(t, sys.Resume(testkit.Context(t), n, pid))
	ask(t, n, pid, Notes{})
}

func TestReplaceState(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	ctx := testkit.Context(t)
	pid := start(t, h, &probe{value: 1}, node.Options{})
	require.NoError(t, rpc.Export(n, wire.Export{Module: "m", Function: "inc", Arity: 1},
		func(_ context.Context, args []any) (any, error) { return args[0].(int) + 1, nil }))

	failed := func(reason any) any {
		return wire.Tuple{wire.AtomError, wire.Tuple{a("callback_failed"), wire.Tuple{a("gen_server"), a("system_replace_state")},
			wire.Tuple{wire.AtomError, reason}}}
	}
	for _, c := range []struct {
		what string
		fun  any
		want any
	}{
		{"a Go function", func(s any) (any, error) { return s.(int) * 10, nil }, 10},
		{"an exported function", wire.Export{Module: "m", Function: "inc", Arity: 1}, 11},
		{"one that is not exported", wire.Export{Module: "m", Function: "dec", Arity: 1},
			failed("rpc: nothing is exported under that name: fun m:dec/1")},
		{"a foreign fun", wire.Fun{Module: "shell", OldIndex: 1, OldUniq: 2},
			failed("sys: #Fun<shell.1.2> is not a function that this node can run")},
		{"no fun", 5, failed("sys: 5 is not a function that this node can run")},
		{"an error", func(any) (any, error) { return nil, errTea }, failed("the tea is cold")},
		{"a panic", func(any) (any, error) { panic("tea") }, failed("panic: tea")},
		{"what SetState refuses", func(any) (any, error) { return a("bad"), nil }, failed("not that one")},
	} {
		for _, suspended := range []bool{false, true} {
			if suspended {
				require.NoError(t, sys.Suspend(ctx, h, pid))
			}
			n.Send(pid, "x")
			before, err := sys.GetState(ctx, h, pid)
			require.NoError(t, err)
			h.Send(pid, wire.Tuple{a("system"), wire.Tuple{h.Self(), 7}, wire.Tuple{a("replace_state"), c.fun}})
			got := nodetest.Expect[any](h).(wire.Tuple)[1]
			if k, ok := c.want.(int); ok {
				assert.Equal(t, k, got, c.what)
				h.Send(pid, wire.Tuple{a("system"), wire.Tuple{h.Self(), 7},
					wire.Tuple{a("replace_state"), func(any) (any, error) { return before, nil }}})
				nodetest.Expect[any](h)
			} else {
				assert.True(t, wire.Equal(c.want, got), "%s: %v", c.what, got)
			}
			if suspended {
				if k, ok := c.want.(int); ok {
					_, err := sys.ReplaceState(ctx, h, pid, func(any) (any, error) { return k, nil })
					require.NoError(t, err)
				}
				require.NoError(t, sys.Resume(ctx, h, pid))
			}
		}
	}
	_, err := sys.ReplaceState(ctx, h, pid, func(any) (any, error) { return nil, errTea })
	var refused *sys.RefusedError
	require.ErrorAs(t, err, &refused)

	// A state without SetState takes a value of its own type.
	k := genserver.Define(genserver.OnAnyCall(func(s *int, _ *genserver.Context, _ wire.Atom) (any, error) { return *s, nil }))
	one := 1
	pid, err = k.Start(ctx, h, &one, node.Options{})
	require.NoError(t, err)
	_, err = sys.ReplaceState(ctx, h, pid, func(any) (any, error) { return 2, nil })
	require.ErrorAs(t, err, &refused)
	two := 2
	_, err = sys.ReplaceState(ctx, h, pid, func(any) (any, error) { return &two, nil })
	require.NoError(t, err)
	got, err := node.Call[int](ctx, h, pid, a("get"))
	require.NoError(t, err)
	assert.Equal(t, 2, got)
}

func TestChangeCode(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	ctx := testkit.Context(t)
	p := &probe{}
	pid := start(t, n, p, node.Options{})
	var refused *sys.RefusedError
	require.ErrorAs(t, sys.ChangeCode(ctx, n, pid, "m", 1, 2), &refused)
	assert.Equal(t, wire.Tuple{a("unknown_system_msg"), wire.Tuple{a("change_code"), a("m"), 1, 2}}, refused.Reason)
	require.NoError(t, sys.Suspend(ctx, n, pid))
	require.NoError(t, sys.ChangeCode(ctx, n, pid, "m", 1, 2))
	p.code = func(node.Atom, any, any) error { return errTea }
	require.ErrorAs(t, sys.ChangeCode(ctx, n, pid, "m", 1, 2), &refused)
	assert.Equal(t, "the tea is cold", refused.Reason)
	p.code = func(node.Atom, any, any) error { panic("mop") }
	require.ErrorAs(t, sys.ChangeCode(ctx, n, pid, "m", 1, 2), &refused)
	assert.Equal(t, "panic: mop", refused.Reason)
	require.NoError(t, sys.Resume(ctx, n, pid))
	assert.Len(t, ask(t, n, pid, Notes{}), 3)
}

// The state's own code panics when it is shown: the server goes on.
func TestStatePanics(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	ctx := testkit.Context(t)
	pid := start(t, n, &probe{value: func() any { panic("no state") }}, node.Options{})
	var refused *sys.RefusedError
	_, err := sys.GetState(ctx, n, pid)
	require.ErrorAs(t, err, &refused)
	assert.Contains(t, err.Error(), "no state")
	st, err := sys.GetStatus(ctx, n, pid)
	require.NoError(t, err)
	assert.Contains(t, wire.Format(st), "no state")
	_, err = sys.Debug(ctx, n, pid, wire.Tuple{a("log"), true})
	require.NoError(t, err)
	ask(t, n, pid, Notes{})
	n.Send(pid, "x")
	l, err := sys.Debug(ctx, n, pid, wire.Tuple{a("log"), a("get")})
	require.NoError(t, err)
	assert.Len(t, l.(wire.Tuple)[1], 4)
	assert.Contains(t, wire.Format(l), "no state")
}

// A server with a full mailbox must still be told that its suspension ends.
func TestBoundedSuspended(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	ctx := testkit.Context(t)
	pid := start(t, n, &probe{}, node.Options{Bounds: mailbox.Bounds{Messages: 4, Policy: mailbox.Refuse}})
	require.NoError(t, sys.Suspend(ctx, n, pid))
	testkit.Until(t, func() string { // an answered message takes room while it is in hand
		i, err := n.Info(pid)
		require.NoError(t, err)
		if i.Mailbox != 0 {
			return fmt.Sprint(i.Mailbox, " messages wait, not 0")
		}
		return ""
	})
	for n.Send(pid, "x") == nil {
	}
	assert.ErrorIs(t, sys.Resume(ctx, n, pid), node.ErrMailboxFull) // see the limits in the doc of package sys
	n.Exit(pid, node.Kill)
	assert.False(t, n.IsAlive(pid))
}

// A continuation of Init needs no room in the mailbox.
func TestBoundedContinue(t *testing.T) {
	for _, policy := range []mailbox.Policy{mailbox.Refuse, mailbox.Block, mailbox.DropNewest, mailbox.DropOldest} {
		n := nodetest.Start(t, node.Config{})
		entered, sent := make(chan struct{}), make(chan struct{})
		go func() {
			<-entered
			n.Send(node.Atom("it"), "x")
			close(sent)
		}()
		pid := start(t, n, &probe{init: func(p *probe, c *genserver.Context) error {
			close(entered)
			<-sent
			c.Continue(func(*genserver.Context) error { p.note("continue"); return nil })
			return nil
		}}, node.Options{Name: "it", Bounds: mailbox.Bounds{Messages: 1, Policy: policy}})
		testkit.UntilTrue(t, func() bool {
			i, _ := n.Info(pid)
			return i.Mailbox == 0
		}, "the message is taken")
		assert.Equal(t, []string{"continue", "x"}, ask(t, n, pid, Notes{}), "%v", policy)
	}
}

// Random terms, among them messages of the protocol with parts left out, put in or replaced: the server stays alive,
// answers, and changes its state only when told to.
func TestRandomMessages(t *testing.T) {
	eachPlace(t, func(t *testing.T, o node.Options) {
		o.Bounds.Policy = mailbox.Block
		n := nodetest.Start(t, node.Config{})
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		barrage(t, n, o, rand.New(rand.NewPCG(seed, 1)), 5000)
	})
}

func FuzzMessages(f *testing.F) {
	f.Add(uint64(1))
	n := nodetest.Start(f, node.Config{})
	f.Fuzz(func(t *testing.T, seed uint64) { barrage(t, n, node.Options{}, rand.New(rand.NewPCG(seed, 1)), 50) })
}

func barrage(t *testing.T, n *node.Node, o node.Options, r *rand.Rand, count int) {
	h := nodetest.NewProbe(t, n)
	k := genserver.Define( // handlers for everything, with an error that must not end the server
		genserver.OnAnyCall(func(s *probe, _ *genserver.Context, q any) (any, error) { return q, nil }),
		genserver.OnAnyCall(func(s *probe, _ *genserver.Context, q wire.List) (any, error) { return nil, errTea }),
		genserver.OnCall(func(s *probe, _ *genserver.Context, _ Notes) ([]string, error) { return []string{"alive"}, nil }),
		genserver.OnCast(func(s *probe, _ *genserver.Context, m any) error { return nil }),
		genserver.OnInfo(func(s *probe, _ *genserver.Context, m any) error { return nil }),
		genserver.OnInfo(func(s *probe, _ *genserver.Context, m wire.Tuple) error { return nil }),
	)
	p := &probe{value: 1}
	pid, err := k.Start(testkit.Context(t), h, p, o)
	require.NoError(t, err)
	for i := range count {
		if i%10 == 0 { // so that a bounded mailbox does not stay full
			require.NoError(t, h.Send(pid, wire.Tuple{a("system"), wire.Tuple{h.Self(), 1}, a("resume")}))
		}
		require.NoError(t, h.Send(pid, randomMessage(r, h.Process)))
		for {
			if _, err := h.ReceiveWithin(0, nil); err != nil {
				break
			}
		}
	}
	require.NoError(t, sys.Resume(testkit.Context(t), n, pid))
	assert.Equal(t, []string{"alive"}, ask(t, n, pid, Notes{}))
	require.NoError(t, sys.Stop(testkit.Context(t), n, pid, node.Normal))
	h.Close(nil)
}

func randomTerm(r *rand.Rand, h *node.Process, depth int) any {
	some := func() []any {
		l := make([]any, r.IntN(4))
		for i := range l {
			l[i] = randomTerm(r, h, depth-1)
		}
		return l
	}
	words := []string{"$gen_call", "$gen_cast", "system", "alias", "get_state", "get_status", "suspend", "resume", "replace_state",
		"debug", "log", "statistics", "trace", "true", "false", "get", "print", "no_debug", "change_code", "install", "remove",
		"log_to_file", "", "x"}
	n := 18
	if depth <= 0 {
		n = 12
	}
	switch r.IntN(n) {
	default:
		return a(words[r.IntN(len(words))])
	case 5:
		return nil
	case 6:
		return r.IntN(5) - 1
	case 7:
		return h.Self()
	case 8:
		return h.Node().MakeRef()
	case 9:
		return []byte("bytes")
	case 10:
		return r.Float64()
	case 11:
		return struct{ a, b any }{1, nil}
	case 12, 13, 14:
		return wire.Tuple(some())
	case 15:
		return wire.List(some())
	case 16:
		return wire.ImproperList{Head: some(), Tail: randomTerm(r, h, depth-1)}
	case 17:
		return wire.NewMap(randomTerm(r, h, depth-1), randomTerm(r, h, depth-1))
	}
}

func randomMessage(r *rand.Rand, h *node.Process) any {
	term := func() any { return randomTerm(r, h, 3) }
	from := wire.Tuple{h.Self(), term()}
	var m wire.Tuple
	switch r.IntN(6) {
	case 0:
		return term()
	case 1:
		m = wire.Tuple{a("$gen_call"), from, term()}
	case 2:
		m = wire.Tuple{a("$gen_cast"), term()}
	case 3:
		m = wire.Tuple{a("system"), from, term()}
	case 4:
		m = wire.Tuple{a("system"), from, wire.Tuple{a("debug"),
			wire.Tuple{a([]string{"log", "statistics", "trace"}[r.IntN(3)]), term()}}}
	case 5:
		m = wire.Tuple{a("system"), from, wire.Tuple{a([]string{"replace_state", "change_code"}[r.IntN(2)]), term()}}
	}
	switch i := r.IntN(len(m)); r.IntN(8) {
	case 0:
		m[i] = term()
	case 1:
		m = append(m[:i:i], m[i+1:]...)
	case 2:
		m = append(m, term())
	}
	return m
}

// An UnhandledError that a node of OTP has passed on is an UnhandledError again for a caller in Go.
func TestUnhandledOfOTP(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	for _, c := range []struct {
		reason any
		want   error
	}{
		{wire.Tuple{a("unhandled_request"), 7}, &genserver.UnhandledError{Request: 7}},
		{wire.Tuple{a("unhandled_request"), a("open"), 7}, &genserver.UnhandledError{State: "open", Request: 7}},
		{wire.Tuple{a("unhandled_request"), 7, 7}, nil},
		{wire.Tuple{a("unhandled_request")}, nil},
	} {
		pid, err := n.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
			return msg.(node.Request[int]).Reply(wire.Tuple{wire.AtomError, c.reason})
		}))
		require.NoError(t, err)
		_, err = node.Call[int](testkit.Context(t), n, pid, 7)
		var u *genserver.UnhandledError
		if !errors.As(err, &u) {
			require.Nil(t, c.want)
			require.ErrorIs(t, err, node.ErrReplyType)
			continue
		}
		require.Equal(t, c.want, error(u))
		require.ErrorContains(t, err, "the process does not handle calls of type int")
	}
}
