package lifetime_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/node/lifetime"
	"github.com/actornode/actornode/node/match"
	"github.com/actornode/actornode/node/nodetest"
)

// parcel is a message that contains Owners, and values that are copied.
type parcel struct {
	owners []*lifetime.Owner
	byName map[string]*lifetime.Owner
	any    any
	weak   weak.Pointer[lifetime.Owner]
	data   []int
}

// keeper keeps the last parcel.
type keeper struct{ last *parcel }

func (k *keeper) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case *parcel:
		k.last = m
	case forget:
		k.last = nil
	case node.Request[me]:
		return c.Reply(m.From, k.last)
	}
	return nil
}

// A copied message has the same Owner as the original, so it keeps the process, however it is copied.
func TestCopiesOwn(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  isolation.Config
		gets node.Options
		send node.SendOptions
	}{
		"by the node":      {cfg: isolation.Config{Copy: true}},
		"by the process":   {gets: node.Options{CopyMessages: true}},
		"by the send":      {send: node.SendOptions{Copy: true}},
		"checked":          {cfg: isolation.Config{Check: true, Report: func(c isolation.Change) { t.Error(c) }}},
		"copied, no check": {cfg: isolation.Config{Copy: true, Check: true}},
	} {
		t.Run(name, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{Isolation: c.cfg})
			k := &keeper{}
			to, err := n.SpawnOpt(c.gets, k)
			require.NoError(t, err)
			o := own(t, n, &holder{})
			pid := o.PID()
			sent := &parcel{[]*lifetime.Owner{o, o}, map[string]*lifetime.Owner{"a": o}, o, weak.Make(o), []int{1}}
			require.NoError(t, n.SendOpt(c.send, to, sent))
			require.NoError(t, lifetime.Idle(testkit.Context(t), n))
			got := k.last
			require.Equal(t, c.cfg.Copy || c.gets.CopyMessages || c.send.Copy, got != sent)
			for _, p := range []any{got.owners[0], got.owners[1], got.byName["a"], got.any, got.weak.Value()} {
				require.Same(t, o, p)
			}
			got, o, sent = nil, nil, nil
			survives(t, n, pid, "the message has it")
			require.NoError(t, n.Send(to, forget{}))
			require.Equal(t, lifetime.Collected, collect(t, n, pid))
		})
	}
}

// Messages to a process with an owner are copied as for others, also by a timer and by an Owner.
func TestOwnedGetsCopies(t *testing.T) {
	n := nodetest.Start(t, node.Config{Isolation: isolation.Config{Copy: true}})
	k := &keeper{}
	o := own(t, n, k)
	for _, send := range []func(p *parcel){
		func(p *parcel) { require.NoError(t, o.Send(n, p)) },
		func(p *parcel) { require.NoError(t, n.Send(o.PID(), p)) },
		func(p *parcel) {
			_, err := n.SendAfter(0, o.PID(), p)
			require.NoError(t, err)
		},
	} {
		p := &parcel{data: []int{5}}
		send(p)
		p.data[0] = 6
		require.NoError(t, lifetime.Idle(testkit.Context(t), n))
		require.NotSame(t, p, k.last)
		require.Equal(t, []int{5}, k.last.data)
	}
	runtime.KeepAlive(o)
}

// A copy of an Owner would own nothing: it cannot be copied.
func TestOwnerIsNotCopied(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	o := own(t, n, &holder{})
	same, err := isolation.Copy(o)
	require.NoError(t, err)
	require.Same(t, o, same)
	object, err := lifetime.Start(n, &counter{}, node.Options{})
	require.NoError(t, err)
	all, err := isolation.Copy([]lifetime.Object[*counter]{object})
	require.NoError(t, err)
	require.Equal(t, object, all[0])
	w, err := isolation.Copy(weak.Make(o))
	require.NoError(t, err)
	require.Same(t, o, w.Value())

	number := new(int)
	_, err = isolation.Copy(struct{ W weak.Pointer[int] }{weak.Make(number)})
	var refused *isolation.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, ".W", refused.Path)
	require.Contains(t, refused.Why, "held by nobody")
	runtime.KeepAlive(number)

	pid := object.Addr().PID
	object = lifetime.Object[*counter]{}
	survives(t, n, pid, "the copy of the slice has it")
	runtime.KeepAlive(all)
	all = nil
	require.Equal(t, lifetime.Collected, collect(t, n, pid))
}

// An object in an argument of a call is kept, on a node that copies, too.
func TestObjectInCall(t *testing.T) {
	n := nodetest.Start(t, node.Config{Isolation: isolation.Config{Copy: true}})
	first, err := lifetime.Start(n, &counter{}, node.Options{})
	require.NoError(t, err)
	second, err := lifetime.Start(n, &counter{}, node.Options{})
	require.NoError(t, err)
	kept, err := node.Await(testkit.Context(t), n, lifetime.Go(n, first, (*counter).Keep, second))
	require.NoError(t, err)
	require.True(t, kept)
	pid := second.Addr().PID
	second = lifetime.Object[*counter]{}
	survives(t, n, pid, "the state of another object has it")
	sum, err := node.Await(testkit.Context(t), n, active.Go(n, active.AddrOf[*counter](pid), (*counter).Add, 3))
	require.NoError(t, err)
	require.Equal(t, 3, sum)
	runtime.KeepAlive(first)
	first = lifetime.Object[*counter]{}
	require.Equal(t, lifetime.Collected, collect(t, n, pid))
}

// The timeouts of package match come on a node that copies messages.
func TestTimeoutsOfCopies(t *testing.T) {
	n := nodetest.Start(t, node.Config{Isolation: isolation.Config{Copy: true}})
	var ticks atomic.Int64
	ended := make(chan struct{})
	o := own(t, n, match.New(match.After(time.Millisecond, func(c *node.Context) error {
		if ticks.Add(1) == 3 {
			match.SetTimeout(c, node.Infinity)
			close(ended)
		}
		return nil
	})))
	pid := o.PID()
	o = nil
	testkit.Receive(t, ended)
	require.Equal(t, lifetime.Collected, collect(t, n, pid))
}
