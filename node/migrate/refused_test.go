package migrate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/migrate"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// plain is a user's Mover.
type plain struct {
	Sum   int
	Deny  error
	Panic bool
}

func (p *plain) Receive(_ *node.Context, msg any) error {
	switch m := msg.(type) {
	case int:
		p.Sum += m
	case node.Request[string]:
		return m.From.Reply(p.Sum)
	case chan struct{}:
		<-m
	}
	return nil
}

func (p *plain) MoveOut(*node.Context) (any, error) {
	if p.Panic {
		panic("no state")
	}
	return p.Sum, p.Deny
}

func (p *plain) MoveIn(_ *node.Context, state any) error {
	p.Sum = state.(int)
	if p.Sum == 13 {
		return errors.New("not thirteen")
	}
	return nil
}

type unregistered struct{ X int }

// hidden is a state that no node has registered.
var hidden = genserver.Define[*unregistered]()

// A process that cannot move is refused with the cause, and goes on where it is.
func TestRefused(t *testing.T) {
	c := newCluster(t)
	more := append(kinds(), migrate.Kind{Name: "plain", New: func() node.Actor { return new(plain) }})
	a := nodetest.Start(t, c.config("a"))
	require.NoError(t, migrate.Start(t.Context(), a, append(more,
		migrate.Kind{Name: "hidden", New: func() node.Actor { return hidden.New(nil) }})...))
	cfg := c.config("b")
	cfg.Distribution.Access.Allow = func(peer node.Atom, e wire.Export) bool { return e.Function == "plain" }
	b := nodetest.Start(t, cfg)
	require.NoError(t, migrate.Start(t.Context(), b, more...))
	bare := nodetest.Start(t, c.config("bare"))
	all := c.start("all")
	taken, err := all.SpawnOpt(node.Options{Name: "taken"}, new(plain))
	require.NoError(t, err)

	to := func(pid node.PID, n node.Atom) error {
		_, err := migrate.To(testkit.Context(t), a, pid, n)
		require.Error(t, err)
		return err
	}
	server := func(verb string) node.PID {
		pid := spawn(t, a, node.Options{})
		if verb != "" {
			tell(t, a, pid, do{Verb: verb, PID: pid})
		}
		return pid
	}
	fixed := func(pid node.PID, what string) {
		t.Helper()
		err := to(pid, all.Name())
		require.ErrorIs(t, err, migrate.ErrFixed)
		require.ErrorContains(t, err, what)
		require.True(t, a.IsAlive(pid))
	}
	opt := func(o node.Options, b node.Actor) node.PID {
		pid, err := a.SpawnOpt(o, b)
		require.NoError(t, err)
		return pid
	}
	idle := node.ProcessFunc(func(p *node.Process) error { p.Receive(); return nil })
	fixed(server("alias"), "aliases")
	fixed(server("timer"), "timers")
	fixed(opt(node.Options{}, idle), "goroutine")
	fixed(opt(node.Options{Coroutine: true}, idle), "coroutine")
	fixed(opt(node.Options{Bounds: mailbox.Bounds{Messages: 5}}, new(plain)), "mailbox")
	fixed(opt(node.Options{Protected: true}, new(plain)), "protection")
	fixed(opt(node.Options{ShowPeer: true}, new(plain)), "which node")
	fixed(opt(node.Options{}, node.ActorFunc(func(*node.Context, any) error { return nil })), "node.ActorFunc")
	fixed(opt(node.Options{}, active.New(new(plain))), "an active object, *migrate_test.plain")
	object := migrate.Kind{Name: "object", New: func() node.Actor { return active.New(new(plain)) }}
	require.ErrorContains(t, migrate.Start(t.Context(), bare, object), "an active object")
	asleep := server("")
	require.NoError(t, sys.Suspend(testkit.Context(t), a, asleep))
	fixed(asleep, "suspended")
	require.ErrorIs(t, to(opt(node.Options{}, &plain{}), a.Name()), migrate.ErrFixed)

	require.ErrorIs(t, to(server(""), bare.Name()), migrate.ErrNotThere)
	require.ErrorIs(t, to(server(""), b.Name()), migrate.ErrNotAllowed)
	require.ErrorIs(t, to(opt(node.Options{}, new(plain)), all.Name()), migrate.ErrNotAllowed, "no such kind")
	require.Error(t, to(server(""), "nobody@127.0.0.1"))
	require.ErrorIs(t, to(spawn(t, a, node.Options{Name: "taken"}), all.Name()), node.ErrNameTaken)
	require.True(t, all.IsAlive(taken))
	require.ErrorContains(t, to(opt(node.Options{}, &plain{Deny: errors.New("not now")}), b.Name()), "not now")
	require.ErrorIs(t, to(opt(node.Options{}, &plain{Panic: true}), b.Name()), migrate.ErrFailed)
	require.ErrorContains(t, to(opt(node.Options{}, &plain{Sum: 13}), b.Name()), "not thirteen")
	encode := (*wire.EncodeError)(nil)
	require.ErrorAs(t, to(opt(node.Options{}, hidden.New(&unregistered{})), b.Name()), &encode)

	held, gate := opt(node.Options{}, new(plain)), make(chan struct{})
	require.NoError(t, a.Send(held, gate))
	done := make(chan error, 1)
	go func() { // ends with the move
		_, err := migrate.To(context.Background(), a, held, b.Name())
		done <- err
	}()
	testkit.Until(t, func() string {
		if i, err := a.Info(held); err != nil || i.Mailbox < 2 {
			return "the order has not come"
		}
		return ""
	})
	require.NoError(t, a.Send(held, make(chan int)))
	close(gate)
	require.ErrorAs(t, testkit.Receive(t, done), &encode, "a message that waits cannot follow")
	require.NoError(t, a.Send(held, 2))
	sum, err := node.Call[int](testkit.Context(t), a, held, "sum")
	require.NoError(t, err)
	assert.Equal(t, 2, sum)

	pid := opt(node.Options{}, &plain{Sum: 5})
	now := move(t, a, pid, b)
	moved := (*migrate.MovedError)(nil)
	require.ErrorAs(t, to(pid, b.Name()), &moved)
	require.Equal(t, now, moved.To)
	sum, err = node.Call[int](testkit.Context(t), a, pid, "sum")
	require.NoError(t, err)
	assert.Equal(t, 5, sum)
	require.ErrorIs(t, to(now, b.Name()), node.ErrNoProcess, "it is not on this node")
	_, err = migrate.To(testkit.Context(t), bare, pid, b.Name())
	require.ErrorIs(t, err, migrate.ErrNotStarted)
	self := nodetest.NewProbe(t, a)
	_, err = migrate.To(testkit.Context(t), self, self.Self(), b.Name())
	require.ErrorIs(t, err, node.ErrSelfCall)
	for _, k := range []migrate.Kind{{}, {Name: "x", New: func() node.Actor { return idle }}} {
		require.ErrorIs(t, migrate.Start(t.Context(), bare, k), node.ErrArgument)
	}
	require.ErrorIs(t, migrate.Start(t.Context(), bare, append(more, more...)...), node.ErrArgument)
}
