package futures_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/futures"
	"github.com/actornode/actornode/node/nodetest"
)

// noted returns the number of waits that look for cycles on a node.
func noted(n *node.Node) int { return n.Inside(process.Key{}).System().Cycles.Len() }

// waysToWait are the joined futures that can close a cycle. back's answer calls the waiter; now answers at once.
var waysToWait = map[string]func(p *node.Process, back, now node.PID) error{
	"all": func(p *node.Process, back, now node.PID) error {
		_, err := node.Await(p.Context(), p, futures.All(p, node.Async[int](p, now, 1), node.Async[int](p, back, 1)))
		return err
	},
	"all of all": func(p *node.Process, back, now node.PID) error {
		inner := futures.All(p, node.Async[int](p, back, 1))
		_, err := node.Await(p.Context(), p, futures.All(p, futures.All(p, node.Async[int](p, now, 1)), inner))
		return err
	},
	"chain, first": func(p *node.Process, back, now node.PID) error {
		f := futures.Chain(p, node.Async[int](p, back, 1), func(from node.Caller, v int) *node.Future[int] {
			return node.Async[int](from, now, v)
		})
		_, err := node.Await(p.Context(), p, f)
		return err
	},
	"chain, second": func(p *node.Process, back, now node.PID) error {
		f := futures.Chain(p, node.Async[int](p, now, 1), func(from node.Caller, v int) *node.Future[int] {
			return node.Async[int](from, back, v)
		})
		_, err := node.Await(p.Context(), p, f)
		return err
	},
	"each": func(p *node.Process, back, now node.PID) error {
		for _, r := range futures.Each(p, node.Async[int](p, back, 1), node.Async[int](p, now, 1)) {
			if r.Err != nil {
				return r.Err
			}
		}
		return nil
	},
}

// A wait for a joined future that closes a cycle fails with the cycle, and one that closes none gets the values. No
// wait stays noted afterwards.
func TestDetectCycles(t *testing.T) {
	for name, wait := range waysToWait {
		for _, calls := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s calls=%v", name, calls), func(t *testing.T) {
				n := nodetest.Start(t, node.Config{DetectCycles: true})
				now, err := n.Spawn(node.ActorFunc(func(_ *node.Context, m any) error {
					return m.(node.Request[int]).Reply(1)
				}))
				require.NoError(t, err)
				waiter := make(chan node.PID, 1)
				back, err := n.Spawn(node.ActorFunc(func(c *node.Context, m any) error {
					if calls {
						if _, err := node.Call[int](c.Context(), c, <-waiter, 1); err != nil {
							return m.(node.Request[int]).Fail(err)
						}
					}
					return m.(node.Request[int]).Reply(1)
				}))
				require.NoError(t, err)
				done := make(chan error, 1)
				pid, err := n.Spawn(node.ProcessFunc(func(p *node.Process) error {
					done <- wait(p, back, now)
					return nil
				}))
				require.NoError(t, err)
				waiter <- pid
				err = testkit.Receive(t, done)
				if !calls {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, node.ErrCycle)
					require.ErrorContains(t, err, " awaits a future of others, which awaits a future of ")
				}
				testkit.Until(t, func() string {
					if k := noted(n); k > 0 {
						return fmt.Sprint(k, " waits are noted")
					}
					return ""
				})
			})
		}
	}
}

// asker is an object that awaits another object, which calls it meanwhile.
type asker struct{ other active.Addr[*asker] }

func (a *asker) Ask(c *active.Context, get bool) ([]int, error) {
	f := futures.All(c, active.Go(c, a.other, (*asker).Answer, active.AddrOf[*asker](c.Self())))
	if get {
		return active.Block(c, f)
	}
	return active.Await(c, f)
}

func (a *asker) Answer(c *active.Context, to active.Addr[*asker]) (int, error) {
	return active.Block(c, active.Go(c, to, (*asker).One, struct{}{}))
}

func (a *asker) One(*active.Context, struct{}) (int, error) { return 1, nil }

// An object that awaits a joined future serves the calls of the processes that it waits for; one that blocks does not.
func TestDetectCyclesOfObjects(t *testing.T) {
	for _, get := range []bool{false, true} {
		n := nodetest.Start(t, node.Config{DetectCycles: true})
		other, err := active.Start(n, &asker{}, node.Options{})
		require.NoError(t, err)
		first, err := active.Start(n, &asker{other}, node.Options{})
		require.NoError(t, err)
		v, err := await(t, active.Go(n, first, (*asker).Ask, get))
		if get {
			require.ErrorIs(t, err, node.ErrCycle)
		} else {
			require.NoError(t, err)
			require.Equal(t, []int{1}, v)
		}
	}
}
