package actortest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// Self is the interface of a scenario to its process in any style: the common methods of *node.Context and *node.Process.
// Use a type assertion for the others, such as self.(*node.Process) in a Blocking style.
type Self interface {
	node.Caller
	Self() node.PID
	Node() *node.Node
	Context() context.Context
	Blocking(f func())

	Send(to node.Dest, msg any) error
	SendAfter(d time.Duration, to node.Dest, msg any) (*node.Timer, error)

	Spawn(b node.Actor) (node.PID, error)
	SpawnOpt(o node.Options, b node.Actor) (node.PID, error)

	Link(to node.Dest)
	Unlink(to node.Dest)
	Monitor(to node.Dest) node.Ref
	Demonitor(ref node.Ref) bool
	DemonitorFlush(ref node.Ref) bool
	Alias() node.Ref
	AliasOnce() node.Ref
	Unalias(ref node.Ref) bool
	Exit(to node.Dest, reason any)
	TrapExit(on bool) bool
}

var (
	_ Self = (*node.Context)(nil)
	_ Self = (*node.Process)(nil)
)

// A Handler handles a message in a process of any style. An error ends the process.
type Handler func(self Self, msg any) error

// Ignore is a Handler that does nothing.
func Ignore(Self, any) error { return nil }

// Obey is a Handler that runs its messages: each is a func(Self) or a func(node.Caller).
func Obey(self Self, msg any) error {
	if do, ok := msg.(func(node.Caller)); ok {
		do(self)
		return nil
	}
	msg.(func(Self))(self)
	return nil
}

// A Style is a way to write and run a process. A scenario is written once, as a Handler, and runs in each style:
//
//	actortest.EachStyle(t, func(t *testing.T, s nodetest.Style) {
//		n := nodetest.Start(t, node.Config{})
//		pid := s.Spawn(t, n, func(self actortest.Self, msg any) error { return self.Send(to, msg) })
//		...
//	})
//
// A test that needs other styles, such as one with a Scheduler, can define them as values.
type Style struct {
	Name     string
	Blocking bool         // written as a node.ProcessFunc, which calls Receive; its Self is a *node.Process
	Options  node.Options // the options of the style, and others of the scenario
}

// The styles.
var (
	Actor     = Style{Name: "actor"}
	Process   = Style{Name: "process", Blocking: true}
	Coroutine = Style{Name: "coroutine", Blocking: true, Options: node.Options{Coroutine: true}}
	Detached  = Style{Name: "detached", Options: node.Options{Place: node.Detached()}}
)

// Styles returns all of them.
func Styles() []Style { return []Style{Actor, Process, Coroutine, Detached} }

// BlockingStyles returns the styles whose code calls Receive.
func BlockingStyles() []Style { return []Style{Process, Coroutine} }

// EachStyle runs a scenario in each of the styles, by default in all Styles.
func EachStyle(t *testing.T, f func(t *testing.T, s Style), styles ...Style) {
	t.Helper()
	if len(styles) == 0 {
		styles = Styles()
	}
	for _, s := range styles {
		t.Run(s.Name, func(t *testing.T) { f(t, s) })
	}
}

// EachBlocking runs a scenario in each of the BlockingStyles.
func EachBlocking(t *testing.T, f func(t *testing.T, s Style)) {
	t.Helper()
	EachStyle(t, f, BlockingStyles()...)
}

// EachPair runs a scenario of two processes with each pair of Styles. In make test each style is paired only with itself
// and the next one.
func EachPair(t *testing.T, f func(t *testing.T, a, b Style)) {
	t.Helper()
	all := Styles()
	for i, a := range all {
		for j := range testkit.By(2, len(all), len(all)) {
			b := all[(i+j)%len(all)]
			t.Run(a.Name+"/"+b.Name, func(t *testing.T) { f(t, a, b) })
		}
	}
}

// Actor returns the behaviour with a handler in this style.
func (s Style) Actor(h Handler) node.Actor {
	if !s.Blocking {
		return node.ActorFunc(func(c *node.Context, m any) error { return h(c, m) })
	}
	return node.ProcessFunc(func(p *node.Process) error {
		for {
			if err := h(p, p.Receive()); err != nil {
				return err
			}
		}
	})
}

// With returns the style with more options. The options of the style itself stay.
func (s Style) With(o node.Options) Style {
	o.Coroutine = s.Options.Coroutine
	if s.Options.Place != (node.Place{}) {
		o.Place = s.Options.Place
	}
	if s.Options.Scheduler != nil {
		o.Scheduler = s.Options.Scheduler
	}
	s.Options = o
	return s
}

// Spawner is a node or a process.
type Spawner interface {
	SpawnOpt(o node.Options, b node.Actor) (node.PID, error)
}

// Spawn starts a process in this style.
func (s Style) Spawn(t testing.TB, by Spawner, h Handler) node.PID {
	t.Helper()
	pid, err := by.SpawnOpt(s.Options, s.Actor(h))
	require.NoError(t, err)
	return pid
}

// Run runs f in a process of this style, which must be Blocking, and waits for its end.
func (s Style) Run(t testing.TB, by Spawner, f func(p *node.Process)) {
	t.Helper()
	done := make(chan struct{})
	_, err := by.SpawnOpt(s.Options, node.ProcessFunc(func(p *node.Process) error {
		defer close(done)
		f(p)
		return nil
	}))
	require.NoError(t, err)
	<-done
}

// A Caller is an origin of calls: a process of some style, a handle, or a plain goroutine with a node.
type Caller struct {
	Name string

	// Do runs f there and returns when f returns. f must leave nothing in the mailbox.
	Do func(t *testing.T, n *node.Node, f func(me node.Caller))
}

// EachCaller runs a scenario with each Caller.
func EachCaller(t *testing.T, f func(t *testing.T, c Caller)) {
	t.Helper()
	all := []Caller{
		{"goroutine", func(_ *testing.T, n *node.Node, f func(node.Caller)) { f(n) }},
		{"handle", func(t *testing.T, n *node.Node, f func(node.Caller)) {
			h := nodetest.NewProbe(t, n)
			f(h)
			assert.Zero(t, h.MailboxLen())
			h.Close(nil)
		}},
	}
	for _, s := range Styles() {
		all = append(all, Caller{s.Name, func(t *testing.T, n *node.Node, f func(node.Caller)) { s.call(t, n, f) }})
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) { f(t, c) })
	}
}

func (s Style) call(t *testing.T, n *node.Node, f func(node.Caller)) {
	done := make(chan struct{})
	pid := s.Spawn(t, n, func(self Self, m any) error {
		if m != "go" {
			t.Errorf("a message that nobody sent: %v", m)
			return nil
		}
		defer close(done)
		f(self)
		if p, ok := self.(*node.Process); ok {
			assert.Empty(t, Rest(p))
		}
		return nil
	})
	require.NoError(t, n.Send(pid, "go"))
	<-done
}

// Rest receives all messages in the mailbox of a process.
func Rest(p interface {
	ReceiveWithin(d time.Duration, match func(any) bool) (any, error)
}) []any {
	var all []any
	for {
		m, err := p.ReceiveWithin(0, nil)
		if err != nil {
			return all
		}
		all = append(all, m)
	}
}
