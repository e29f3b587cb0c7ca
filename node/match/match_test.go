package match_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/match"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

type (
	pair  struct{ A, B int }
	named interface{ Name() string }
	cat   struct{ name string }
	dog   struct{ name string }
	add   struct {
		_    struct{} `etf:"add,tuple"`
		A, B int
	}
	addText struct {
		_    struct{} `etf:"add,tuple"`
		A, B string
	}
)

func (c cat) Name() string  { return c.name }
func (d *dog) Name() string { return d.name }

// tuple makes a term that begins with an atom.
func tuple(first wire.Atom, rest ...any) wire.Tuple { return append(wire.Tuple{first}, rest...) }

func number(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// everything returns a Match with a case of every kind; each case reports what it has taken.
func everything(say func(format string, args ...any), rest ...match.Case) *match.Match {
	saying := func(what string) func(int) { return func(n int) { say("%s %d", what, n) } }
	return match.New(append([]match.Case{
		match.On(saying("zero")).Is(0),
		match.On(saying("big even")).If(func(n int) bool { return n%2 == 0 }).If(func(n int) bool { return n > 100 }),
		match.On(func(p pair) { say("pair 1 %d", p.B) }).Is(pair{1, 2}),
		match.On(func(p pair) { say("pair %d %d", p.A, p.B) }),
		match.Project(func(s string) (string, bool) { return s[min(1, len(s)):], s != "" && s[0] == '#' },
			match.Project(number, match.On(saying("numbered")).If(func(n int) bool { return n < 10 }))),
		match.Project(number, match.On(saying("text of"))),
		match.On(func(n named) { say("named %s", n.Name()) }),
		match.On(func(a add) { say("add %d %d", a.A, a.B) }).If(func(a add) bool { return a.A < 10 }),
		match.On(func(a addText) { say("add text %s %s", a.A, a.B) }),
		match.Project(func(a add) (int, bool) { return a.A + a.B, true }, match.On(saying("sum"))),
		match.On(func(wire.Tuple) { say("a pair of ones") }).Is(wire.Tuple{1, 1}),
		match.On(func(t wire.Tuple) { say("tuple of %d", len(t)) }).If(func(t wire.Tuple) bool { return len(t) > 3 }),
	}, rest...)...)
}

// fits has messages and what everything says of them; "": nothing.
var fits = []struct {
	msg  any
	says string
}{
	{0, "zero 0"}, {1, ""}, {2, ""}, {101, ""}, {102, "big even 102"},
	{pair{1, 2}, "pair 1 2"}, {pair{2, 3}, "pair 2 3"},
	{"#5", "numbered 5"}, {"#50", ""}, {"50", "text of 50"}, {"x", ""}, {"", ""},
	{cat{"Tom"}, "named Tom"}, {&dog{"Rex"}, "named Rex"}, {dog{"Rex"}, ""},
	{add{A: 1, B: 2}, "add 1 2"}, {add{A: 10, B: 2}, "sum 12"}, {addText{A: "a"}, "add text a "},
	{tuple("add", 1, 2), "add 1 2"}, {tuple("add", 10, 2), "sum 12"}, {tuple("add", "x", []byte("y")), "add text x y"},
	{tuple("add", 1), ""}, {tuple("sub", 1, 2), ""}, {tuple("add", 1, 2.5), ""}, {wire.Tuple{}, ""}, {wire.Tuple{"add", 1, 2}, ""},
	{wire.Tuple{1, 1}, "a pair of ones"}, {wire.Tuple{1, 2}, ""}, {tuple("add", 1, 2, 3), "tuple of 4"},
	{nil, ""}, {true, ""}, {int64(0), ""}, {[]int{1}, ""},
}

// eachStyle runs a scenario in each style: spawn starts a process that uses m for each message, and leaves messages
// that no case fits.
func eachStyle(t *testing.T, run func(t *testing.T, spawn func(m *match.Match) node.PID, n *node.Node)) {
	bounded := actortest.Actor.With(node.Options{Bounds: mailbox.Bounds{Messages: 500, Policy: mailbox.Refuse}})
	bounded.Name = "bounded"
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		run(t, func(m *match.Match) node.PID {
			var b node.Actor = m
			if s.Blocking {
				b = node.ProcessFunc(func(p *node.Process) error {
					for {
						if err := match.Receive(p, m); err != nil {
							return err
						}
					}
				})
			}
			pid, err := n.SpawnOpt(s.Options, b)
			require.NoError(t, err)
			return pid
		}, n)
	}, append(actortest.Styles(), bounded)...)
}

// The first case that fits takes a message, in each style; messages that no case fits are left.
func TestCases(t *testing.T) {
	eachStyle(t, func(t *testing.T, spawn func(m *match.Match) node.PID, n *node.Node) {
		said := make(chan string, 1)
		pid := spawn(everything(func(format string, args ...any) { said <- fmt.Sprintf(format, args...) }))
		left := 0
		for _, c := range fits {
			require.NoError(t, n.Send(pid, c.msg))
			if c.says == "" {
				left++
				continue
			}
			require.Equal(t, c.says, testkit.Receive(t, said), "%T %v", c.msg, c.msg)
		}
		testkit.Until(t, func() string {
			i, err := n.Info(pid)
			if require.NoError(t, err); i.Mailbox != left {
				return fmt.Sprintf("%d messages are left, not %d", i.Mailbox, left)
			}
			return ""
		})
	})
}

// A wildcard takes all remaining messages, nil too, and a Match may be a case of another.
func TestComposed(t *testing.T) {
	eachStyle(t, func(t *testing.T, spawn func(m *match.Match) node.PID, n *node.Node) {
		said := make(chan string, 1)
		say := func(format string, args ...any) { said <- fmt.Sprintf(format, args...) }
		inner := everything(say)
		pid := spawn(inner.Or(match.On(func(b bool) { say("bool") }), match.On(func(m any) { say("any %v", m) }),
			match.On(func(int) { say("never") })))
		for _, c := range fits {
			switch {
			case c.msg == any(true):
				c.says = "bool"
			case c.says == "":
				c.says = fmt.Sprintf("any %v", c.msg)
			}
			require.NoError(t, n.Send(pid, c.msg))
			require.Equal(t, c.says, testkit.Receive(t, said), "%T %v", c.msg, c.msg)
		}
	})
}

// naive is a case of the model: a function that says whether it takes a message, and what it reports.
type naive func(m any) (says string, ok bool)

// randomCase returns a case, and its counterpart for the model.
func randomCase(r *rand.Rand, i int, say func(string)) (match.Case, naive) {
	a, b := r.IntN(4), r.IntN(4)
	switch r.IntN(6) {
	case 0:
		return match.On(func(n int) { say(fmt.Sprint(i, "=", n)) }).Is(a), func(m any) (string, bool) {
			return fmt.Sprint(i, "=", m), m == any(a)
		}
	case 1:
		less := func(n int) bool { return n < a }
		return match.On(func(n int) { say(fmt.Sprint(i, "<", n)) }).If(less), func(m any) (string, bool) {
			n, ok := m.(int)
			return fmt.Sprint(i, "<", n), ok && n < a
		}
	case 2:
		long := func(s string) bool { return len(s) == a }
		return match.On(func(s string) { say(fmt.Sprint(i, s)) }).If(long), func(m any) (string, bool) {
			s, ok := m.(string)
			return fmt.Sprint(i, s), ok && len(s) == a
		}
	case 3:
		return match.Project(number, match.On(func(n int) { say(fmt.Sprint(i, ":", n)) }).Is(a)), func(m any) (string, bool) {
			s, ok := m.(string)
			n, isNumber := number(s)
			return fmt.Sprint(i, ":", n), ok && isNumber && n == a
		}
	case 4:
		return match.On(func(x add) { say(fmt.Sprint(i, "+", x.A+x.B)) }).If(func(x add) bool { return x.A <= a && x.B <= b }),
			func(m any) (string, bool) {
				x, ok := m.(add)
				if t, is := m.(wire.Tuple); is {
					x, ok = add{A: t[1].(int), B: t[2].(int)}, true
				}
				return fmt.Sprint(i, "+", x.A+x.B), ok && x.A <= a && x.B <= b
			}
	default:
		return match.On(func(n named) { say(fmt.Sprint(i, n.Name())) }).If(func(n named) bool { return len(n.Name()) > a }),
			func(m any) (string, bool) {
				if n, ok := m.(named); ok && len(n.Name()) > a {
					return fmt.Sprint(i, n.Name()), true
				}
				return "", false
			}
	}
}

func randomMessage(r *rand.Rand) any {
	switch r.IntN(5) {
	case 0:
		return r.IntN(4)
	case 1:
		return strconv.Itoa(r.IntN(4))
	case 2:
		return cat{"abcd"[:r.IntN(5)]}
	case 3:
		return add{A: r.IntN(4), B: r.IntN(4)}
	}
	return tuple("add", r.IntN(4), r.IntN(4))
}

// Random cases, compared with a model that tries one after the other, message by message from the oldest.
func TestAsModel(t *testing.T) {
	r := testkit.Rand(t)
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	var said []string
	for range 300 {
		var cases []match.Case
		var model []naive
		for i := range 1 + r.IntN(6) {
			c, m := randomCase(r, i, func(s string) { said = append(said, s) })
			if cases, model = append(cases, c), append(model, m); r.IntN(3) == 0 {
				cases = []match.Case{match.New(cases...)}
			}
		}
		m := match.New(append(cases, match.After(0, func() { said = append(said, "after") }))...)
		var waiting []any
		for range 20 {
			msg := randomMessage(r)
			waiting = append(waiting, msg)
			require.NoError(t, n.Send(h.Self(), msg))
		}
		said = nil
		var want []string
		for i := 0; i < len(waiting); i++ {
			for _, c := range model {
				if says, ok := c(waiting[i]); ok {
					want = append(want, says)
					waiting = append(waiting[:i], waiting[i+1:]...)
					i = -1
					break
				}
			}
		}
		for range len(want) + 1 {
			require.NoError(t, match.Receive(h.Process, m))
		}
		require.Equal(t, append(want, "after"), said)
		for _, left := range waiting {
			require.Equal(t, left, nodetest.Expect[any](h), "in its place")
		}
		h.ExpectNone()
	}
}

// A case receives with the Match that it belongs to.
func TestNested(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	var said []string
	var m *match.Match
	m = match.New(
		match.Do(func(p *node.Process, d string) error {
			said = append(said, "<"+d)
			err := match.Receive(p, m)
			said = append(said, d+">")
			return err
		}).If(func(d string) bool { return d != "" }),
		match.Project(number, match.On(func(int) {})),
		match.On(func(a add) { said = append(said, fmt.Sprint(a.A)) }),
	)
	for _, msg := range []any{"a", "b", tuple("add", 1, 2)} {
		require.NoError(t, n.Send(h.Self(), msg))
	}
	require.NoError(t, match.Receive(h.Process, m))
	require.Equal(t, []string{"<a", "<b", "1", "b>", "a>"}, said)
}

// A Match uses no memory for a message, whatever the case.
func TestAllocates(t *testing.T) {
	if testkit.Race {
		return // the race detector allocates, too
	}
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	sum := 0
	m := match.New(
		match.On(func(p pair) { sum += p.A }).If(func(p pair) bool { return p.A != 5 }),
		match.On(func(p pair) { sum += p.B }).Is(pair{5, 7}),
		match.Project(func(s string) (pair, bool) { return pair{len(s), 0}, true }, match.On(func(p pair) { sum += p.A })),
		match.Do(func(_ *node.Process, n named) error { sum += len(n.Name()); return nil }),
		match.On(func(int) {}).Is(1000),
	)
	messages := []any{pair{1, 2}, pair{5, 7}, "four", cat{"Tom"}, 1000}
	self := h.Self()
	took := testing.AllocsPerRun(1000, func() {
		for _, msg := range messages {
			if n.Send(self, msg) != nil || match.Receive(h.Process, m) != nil {
				t.Error("it failed")
			}
		}
	})
	plain := testing.AllocsPerRun(1000, func() {
		for _, msg := range messages {
			n.Send(self, msg)
			h.Receive()
		}
	})
	require.InDelta(t, plain, took, 0.1)
	actor := match.New(match.On(func(p pair) { sum += p.A }),
		match.Project(func(s string) (int, bool) { return 0, len(s) != 4 }, match.On(func(n int) { sum += n })))
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		if actor.Receive(nil, messages[0]) != nil || actor.Receive(nil, messages[2]) == nil {
			t.Error("it failed")
		}
	}))
	require.NotZero(t, sum)
}

// A guard, a projection or an action that panics ends the process, as a handler's panic does.
func TestPanics(t *testing.T) {
	for name, m := range map[string]*match.Match{
		"guard":      match.New(match.On(func(int) {}).If(func(int) bool { panic("broken") })),
		"action":     match.New(match.On(func(int) { panic("broken") })),
		"projection": match.New(match.Project(func(int) (int, bool) { panic("broken") }, match.On(func(int) {}))),
	} {
		t.Run(name, func(t *testing.T) {
			eachStyle(t, func(t *testing.T, spawn func(m *match.Match) node.PID, n *node.Node) {
				h := nodetest.NewProbe(t, n)
				pid := spawn(m)
				ref := h.Monitor(pid)
				require.NoError(t, n.Send(pid, 1))
				crash, ok := h.ExpectDown(ref).Reason.(*node.Crash)
				require.True(t, ok)
				require.Equal(t, "broken", crash.Reason)
				require.True(t, crash.Panic)
			})
			n := nodetest.Start(t, node.Config{})
			h := nodetest.NewProbe(t, n)
			require.NoError(t, n.Send(h.Self(), 1))
			require.PanicsWithValue(t, "broken", func() { match.Receive(h.Process, m) })
			require.NoError(t, n.Send(h.Self(), "next"))
			require.NoError(t, match.Receive(h.Process, match.New(match.On(func(string) {}))), "the handle can be used")
		})
	}
}

// The error of a case ends an Actor, and is what Receive of a Process returns.
func TestErrors(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	mine := errors.New("mine")
	pid, err := n.Spawn(match.New(match.Do(func(*node.Context, int) error { return mine })))
	require.NoError(t, err)
	ref := h.Monitor(pid)
	require.NoError(t, n.Send(pid, 1))
	require.Equal(t, mine, h.ExpectDown(ref).Reason.(*node.Crash).Reason)
	require.NoError(t, n.Send(h.Self(), 1))
	require.Equal(t, mine, match.Receive(h.Process, match.New(match.Do(func(*node.Process, int) error { return mine }))))

	n.Exit(h.Self(), node.Kill)
	for _, m := range []*match.Match{match.New(match.On(func(string) {})), match.New(match.On(func(any) {}))} {
		require.Equal(t, node.ErrExited, match.Receive(h.Process, m))
	}
}

// A request is answered with the value of its case, or the error, wherever it comes from.
func TestReply(t *testing.T) {
	boom := errors.New("boom")
	n := nodetest.Start(t, node.Config{})
	m := match.New(
		match.Reply(func(_ *node.Context, a add) (int, error) { return a.A + a.B, nil }),
		match.Reply(func(_ *node.Context, s string) (string, error) {
			if s == "stop" {
				return "", node.ExitWith(node.Atom("enough"))
			}
			return "", boom
		}),
		match.Reply(func(_ *node.Context, e named) (string, error) { return e.Name(), nil }),
	)
	pid, err := n.Spawn(m)
	require.NoError(t, err)
	ctx := testkit.Context(t)
	sum, err := node.Call[int](ctx, n, pid, add{A: 1, B: 2})
	require.NoError(t, err)
	require.Equal(t, 3, sum)
	sum, err = node.Call[int](ctx, n, pid, tuple("add", 3, 4))
	require.NoError(t, err)
	require.Equal(t, 7, sum)
	sum, err = node.Call[int, any](ctx, n, pid, add{A: 2, B: 2})
	require.NoError(t, err)
	require.Equal(t, 4, sum)
	text, err := node.Call[string](ctx, n, pid, cat{"Tom"})
	require.NoError(t, err)
	require.Equal(t, "Tom", text)
	_, err = node.Call[int](ctx, n, pid, "what")
	require.Equal(t, boom, err)
	_, err = node.Call[int](ctx, n, pid, "stop")
	var exit *node.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, node.Atom("enough"), exit.Reason)
}

// A misuse is reported where the Match is built, or first used.
func TestMisuse(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	on := match.On(func(int) {})
	forActor := match.Do(func(*node.Context, int) error { return nil })
	forProcess := match.Do(func(*node.Process, int) error { return nil })
	for says, f := range map[string]func(){
		"match: On: the function is nil":             func() { match.On[int](nil) },
		"match: Do: the function is nil":             func() { match.Do[*node.Context, int](nil) },
		"match: Reply: the function is nil":          func() { match.Reply[*node.Context, int, int](nil) },
		"match: If: the guard is nil":                func() { on.If(nil) },
		"match: Project: the function is nil":        func() { match.Project[string](nil, on) },
		"match: Project: the case is the zero value": func() { match.Project(number, match.CaseOf[int]{}) },
		"match: After: the function is nil":          func() { match.After[func()](time.Second, nil) },
		"match: After: the time is negative: -1ns":   func() { match.After(-1, func() {}) },
		"match: New: there is no case":               func() { match.New() },
		"match: New: case 1 is nil":                  func() { match.New(on, nil) },
		"match: New: case 2 is nil":                  func() { match.New(on, on, (*match.Match)(nil)) },
		"match: New: a case is the zero value":       func() { match.New(match.CaseOf[int]{}) },
		"match: New: two cases are After": func() {
			match.New(match.After(1, func() {}), match.New(match.After(2, func() {})))
		},
		"match: SetTimeout: the time is negative: -1ns": func() { match.SetTimeout(nil, -1) },
		"match: New: one case takes a *node.Context, another a *node.Process": func() {
			match.New(forActor, match.New(forProcess))
		},
		"match: Receive: the cases take a *node.Context, and this is a Process": func() { match.Receive(h.Process, match.New(forActor)) },
	} {
		require.PanicsWithValue(t, says, f)
	}
	var ref node.Ref
	_, err := h.SpawnOpt(node.Options{Monitor: &ref}, match.New(forProcess))
	require.NoError(t, err)
	reason := h.ExpectDown(ref).Reason
	require.Contains(t, fmt.Sprint(reason), "match: Receive: the cases take a *node.Process, and this is an Actor")
	first, err := n.Spawn(node.ActorFunc(func(c *node.Context, _ any) error {
		c.Become(match.New(forProcess))
		return nil
	}))
	require.NoError(t, err)
	ref = h.Monitor(first)
	require.NoError(t, n.Send(first, 1))
	require.NoError(t, n.Send(first, 1))
	require.Contains(t, fmt.Sprint(h.ExpectDown(ref).Reason), "the cases take a *node.Process, and this is an Actor")
	_, err = node.Call[int](context.Background(), n, first, 1)
	require.ErrorIs(t, err, node.ErrNoProcess)
}

// An Actor whose stack of behaviours is empty ends normally if Unbecome is to do so.
func TestUnbecome(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	pops := match.New(
		match.Do(func(c *node.Context, _ bool) error { return match.Unbecome(c) }),
		match.Do(func(c *node.Context, m int) error { return c.Send(h.Self(), -m) }),
	)
	pid, err := n.Spawn(match.New(
		match.Do(func(c *node.Context, m string) error { c.Push(pops); return nil }),
		match.Do(func(c *node.Context, _ bool) error { return match.Unbecome(c) }),
		match.Do(func(c *node.Context, m int) error { return c.Send(h.Self(), m) }),
	))
	require.NoError(t, err)
	ref := h.Monitor(pid)
	for _, m := range []any{1, "push", 2, true, 3, true} {
		require.NoError(t, n.Send(pid, m))
	}
	for _, want := range []int{1, -2, 3} {
		require.Equal(t, want, nodetest.Expect[int](h))
	}
	require.Equal(t, node.Normal, h.ExpectDown(ref).Reason)
}
