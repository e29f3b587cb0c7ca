package admin_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
)

// idle is a child that waits.
func idle(id string) supervisor.Child {
	return supervisor.Child{ID: node.Atom(id), Start: func(...any) (node.Actor, error) {
		return node.ActorFunc(func(*node.Context, any) error { return nil }), nil
	}}
}

// outline writes branches as indented lines.
func outline(l []admin.Branch, indent string) (s string) {
	for _, b := range l {
		s += fmt.Sprintf("%s%s %s %s", indent, b.Kind, b.ID, b.State)
		if b.Note != "" {
			s += " (" + b.Note + ")"
		}
		s += "\n" + outline(b.Children, indent+"  ")
	}
	return s
}

func TestTree(t *testing.T) {
	far, near := two(t, admin.Config{})
	ctx := testkit.Context(t)
	f, err := admin.Tree(ctx, near, far.Name(), 0)
	require.NoError(t, err)
	assert.Empty(t, f.Trees)
	assert.GreaterOrEqual(t, f.Loose, 3)

	apps, err := application.Start(ctx, far)
	require.NoError(t, err)
	inner := supervisor.Spec{Children: []supervisor.Child{idle("x"), idle("y")}}
	below := supervisor.Child{ID: node.Atom("inner"), Type: supervisor.Supervisor,
		Start: func(...any) (node.Actor, error) { return supervisor.New(inner), nil }}
	top := supervisor.Spec{Children: []supervisor.Child{idle("a"), below, idle("b")}}
	require.NoError(t, apps.Load(application.Spec{Name: "lib", Version: "1"}))
	require.NoError(t, apps.Load(application.Spec{Name: "shop", Version: "2.1", Depends: []node.Atom{"lib"}, Top: &top}))
	require.NoError(t, apps.StartAll(ctx))
	free := supervisor.Spec{Children: []supervisor.Child{idle("c")}}
	sup, err := supervisor.Start(ctx, far, free, node.Options{Name: "alone"})
	require.NoError(t, err)
	require.NoError(t, supervisor.TerminateChild(ctx, far, sup, node.Atom("c")))
	pool := supervisor.Spec{Strategy: supervisor.SimpleOneForOne, Children: []supervisor.Child{idle("worker")}}
	many, err := supervisor.Start(ctx, far, pool, node.Options{Name: "pool"})
	require.NoError(t, err)
	for range 3 {
		_, err := supervisor.StartDynamic(ctx, far, many)
		require.NoError(t, err)
	}
	// drawn checks how the trees look in the end: a process that has just answered may not be idle yet.
	drawn := func(limit int, want string) (f admin.Forest) {
		t.Helper()
		testkit.Until(t, func() (wrong string) {
			f, err = admin.Tree(ctx, near, far.Name(), limit)
			require.NoError(t, err)
			if got := outline(f.Trees, ""); got != want {
				return got
			}
			return ""
		})
		return f
	}
	f = drawn(0, `application lib running (a library application: it has no processes)
application shop running
  supervisor  idle
    worker a idle
    supervisor inner idle
      worker x idle
      worker y idle
    worker b idle
supervisor alone idle
  worker c stopped
supervisor pool idle
  worker  idle
  worker  idle
  worker  idle
`)
	assert.Zero(t, f.Cut)
	assert.Zero(t, f.Missing)
	assert.Equal(t, "2.1", f.Trees[1].Version)
	assert.Equal(t, sup, f.Trees[2].PID)

	f, err = admin.Tree(ctx, near, far.Name(), 8) // 2 applications, top and its 3, x and y
	require.NoError(t, err)
	assert.Equal(t, 2, f.Cut, "alone and pool")
	f = drawn(5, `application lib running (a library application: it has no processes)
application shop running
  supervisor  idle (too many children to show)
supervisor alone idle
  worker c stopped
`)
	assert.Equal(t, 3+1, f.Cut)
	assert.Equal(t, 3, f.Trees[1].Children[0].Count)
}

// A supervisor that does not answer delays the request by at most the timeout.
func TestTreeOfTheDeaf(t *testing.T) {
	far, near := two(t, admin.Config{Timeout: 20 * time.Millisecond})
	hold := make(chan struct{})
	blocks := supervisor.Child{ID: node.Atom("slow"), Start: func(args ...any) (node.Actor, error) {
		<-hold
		return nil, node.ErrIgnore
	}}
	pool := supervisor.Spec{Strategy: supervisor.SimpleOneForOne, Children: []supervisor.Child{blocks}}
	ctx := testkit.Context(t)
	pid, err := supervisor.Start(ctx, far, pool, node.Options{Name: "deaf"})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { _, err := supervisor.StartDynamic(ctx, far, pid); done <- err }()
	settles(t, func() bool { i, err := far.Info(pid); return err == nil && i.State == observe.Running })
	f, err := admin.Tree(ctx, near, far.Name(), 0)
	require.NoError(t, err)
	require.Len(t, f.Trees, 1)
	assert.Equal(t, 1, f.Missing)
	assert.Contains(t, f.Trees[0].Note, "its children are unknown")
	close(hold)
	<-done
}

// The tree and the details of a child say how often it was restarted.
func TestRestarts(t *testing.T) {
	far, near := two(t, admin.Config{})
	ctx := testkit.Context(t)
	frail := supervisor.Child{ID: node.Atom("frail"), Options: node.Options{Name: "frail"},
		Start: func(...any) (node.Actor, error) { return node.ActorFunc(echo), nil }}
	_, err := supervisor.Start(ctx, far, supervisor.Spec{Intensity: 10, Children: []supervisor.Child{frail, idle("well")}},
		node.Options{Name: "top"})
	require.NoError(t, err)
	for range 2 {
		pid, ok := far.Whereis("frail")
		require.True(t, ok)
		far.Exit(pid, node.Kill)
		settles(t, func() bool { now, ok := far.Whereis("frail"); return ok && now != pid })
	}
	settles(t, func() bool {
		f, err := admin.Tree(ctx, near, far.Name(), 0)
		require.NoError(t, err)
		require.Len(t, f.Trees, 1)
		c := f.Trees[0].Children
		return len(c) == 2 && c[0].Restarts == 2 && c[1].Restarts == 0
	})
	d, err := admin.Info(ctx, near, far.Name(), "frail")
	require.NoError(t, err)
	assert.Equal(t, 2, d.Restarts)
}

// The details of a process with a bounded mailbox say what it takes, and what was lost.
func TestBound(t *testing.T) {
	far, near := two(t, admin.Config{})
	inside, over := make(chan struct{}, 10), make(chan struct{})
	defer close(over)
	for policy, lost := range map[mailbox.Policy]uint64{mailbox.Refuse: 3, mailbox.DropNewest: 3, mailbox.DropOldest: 3} {
		pid, err := far.SpawnOpt(node.Options{Bounds: mailbox.Bounds{Messages: 2, Policy: policy}}, hangs{inside, over})
		require.NoError(t, err)
		require.NoError(t, far.Send(pid, 1))
		<-inside // it is being handled, and counts
		for range 4 {
			_ = far.Send(pid, 1)
		}
		d, err := admin.Info(testkit.Context(t), near, far.Name(), pid)
		require.NoError(t, err)
		assert.Equal(t, admin.Bound{Messages: 2, Policy: policy.String(), Lost: lost}, d.Bound)
	}
}
