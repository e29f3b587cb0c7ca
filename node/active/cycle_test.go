package active_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/observe"
)

// talker calls another object, in one of two ways.
type talker struct {
	other active.Addr[*talker]
	self  *node.Future[int] // of its own call, where it is told of it
}

// step is what a talker does, and then the other.
type step struct {
	get bool
}

func (o *talker) Do(c *active.Context, steps []step) (int, error) {
	if len(steps) == 0 {
		return 1, nil
	}
	f := active.Go(c, o.other, (*talker).Do, steps[1:])
	if steps[0].get {
		return active.Block(c, f)
	}
	return active.Await(c, f)
}

func (o *talker) Learn(_ *active.Context, f *node.Future[int]) (none, error) {
	o.self = f
	return none{}, nil
}

// Wait awaits the future that the object has been given.
func (o *talker) Wait(c *active.Context, get bool) (int, error) {
	c.Until(func() bool { return o.self != nil })
	if get {
		return active.Block(c, o.self)
	}
	return active.Await(c, o.self)
}

func couple(t *testing.T, n *node.Node) (a, b active.Addr[*talker]) {
	first, second := &talker{}, &talker{}
	a, b = start(t, n, first), start(t, n, second)
	first.other, second.other = b, a
	return a, b
}

// With the option set, awaits that close a cycle are reported: an object that does nothing until another one answers,
// whose method awaits one of the first; two methods that await each other.
func TestDetectCycles(t *testing.T) {
	n := nodetest.Start(t, node.Config{DetectCycles: true})
	for _, c := range []struct {
		name  string
		steps []step
		cycle bool
	}{
		{"awaits only", []step{{}, {}, {}, {}}, false},
		{"one waits, and is not asked", []step{{}, {get: true}}, false},
		{"one waits for a method that awaits it", []step{{get: true}, {}, {}}, true},
		{"both wait", []step{{get: true}, {get: true}, {}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _ := couple(t, n)
			v, err := node.Await(testkit.Context(t), n, active.Go(n, a, (*talker).Do, c.steps))
			if !c.cycle {
				require.NoError(t, err)
				require.Equal(t, 1, v)
				return
			}
			require.ErrorIs(t, err, node.ErrCycle)
		})
	}
	for _, get := range []bool{false, true} {
		a, b := couple(t, n)
		fa, fb := active.Go(n, a, (*talker).Wait, get), active.Go(n, b, (*talker).Wait, false)
		result(t, active.Go(n, a, (*talker).Learn, fb))
		result(t, active.Go(n, b, (*talker).Learn, fa))
		_, err := node.Await(testkit.Context(t), n, fa)
		require.ErrorIs(t, err, node.ErrCycle)
		require.ErrorContains(t, err, " awaits a future of a method of <")
		_, err = node.Await(testkit.Context(t), n, fb)
		require.ErrorIs(t, err, node.ErrCycle)
	}
	testkit.Until(t, func() string { // a method may end after its future
		for p := range n.Infos() {
			if p.Wait.For != "" || p.Activations != (observe.Activations{}) {
				return fmt.Sprintf("%s waits for %q, and %+v", p.PID, p.Wait.For, p.Activations)
			}
		}
		return ""
	})
}
