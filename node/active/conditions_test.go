package active_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/nodetest"
)

// gate counts how often conditions on it are evaluated.
type gate struct {
	open      int // how many may pass
	passed    []int
	evaluated int
}

// Pass waits until the gate is open for one more.
func (g *gate) Pass(c *active.Context, n int) (int, error) {
	c.Until(func() bool { g.evaluated++; return g.open > 0 })
	g.open--
	g.passed = append(g.passed, n)
	return n, nil
}

// PassAt waits until the gate has been opened for n.
func (g *gate) PassAt(c *active.Context, n int) (int, error) {
	c.Until(func() bool { g.evaluated++; return g.open >= n })
	g.passed = append(g.passed, n)
	return n, nil
}

func (g *gate) Open(_ *active.Context, more int) (int, error) { g.open += more; return g.open, nil }

func (g *gate) Evaluated(*active.Context, none) (int, error) { return g.evaluated, nil }

func (g *gate) Passed(*active.Context, none) ([]int, error) { return g.passed, nil }

// inBubble runs f with a node whose clock stands still while anything runs.
func inBubble(t *testing.T, cfg node.Config, f func(t *testing.T, n *node.Node)) {
	synctest.Test(t, func(t *testing.T) {
		cfg.Log = (&logtest.Text{}).Logger()
		n := nodetest.Start(t, cfg)
		f(t, n)
	})
}

// However many activations wait for conditions, and however they are released, a step costs the same number of
// evaluations; and all of them go on, those with the same condition in the order of waiting.
func TestConditionsAreLinear(t *testing.T) {
	const most = 300 // evaluations per call, to wait and to go on
	waits := map[string]func(*gate, *active.Context, int) (int, error){"the same": (*gate).Pass, "others": (*gate).PassAt}
	opens := map[string]func(t *testing.T, n *node.Node, g active.Addr[*gate], calls int){
		"at once": func(_ *testing.T, n *node.Node, g active.Addr[*gate], calls int) {
			active.Go(n, g, (*gate).Open, calls)
		},
		"one by one": func(_ *testing.T, n *node.Node, g active.Addr[*gate], calls int) {
			for range calls {
				active.Go(n, g, (*gate).Open, 1)
			}
		},
		"one by one, each awaited": func(t *testing.T, n *node.Node, g active.Addr[*gate], calls int) {
			for range calls {
				result(t, active.Go(n, g, (*gate).Open, 1))
			}
		},
	}
	for wait, method := range waits {
		for how, open := range opens {
			for _, calls := range []int{1000, testkit.By(5000, 10_000, 200_000)} {
				t.Run(fmt.Sprint(wait, "/", how, "/", calls), func(t *testing.T) {
					inBubble(t, node.Config{}, func(t *testing.T, n *node.Node) {
						g := start(t, n, &gate{})
						all := make([]*node.Future[int], calls)
						for i := range all {
							all[i] = active.Go(n, g, method, i+1)
						}
						require.LessOrEqual(t, result(t, active.Go(n, g, (*gate).Evaluated, none{})), most*calls, "to wait")
						open(t, n, g, calls)
						for _, f := range all {
							result(t, f)
						}
						require.LessOrEqual(t, result(t, active.Go(n, g, (*gate).Evaluated, none{})), 2*most*calls, "to go on")
						passed := result(t, active.Go(n, g, (*gate).Passed, none{}))
						require.Len(t, passed, calls)
						if wait == "the same" {
							require.True(t, slices.IsSorted(passed))
						}
					})
				})
			}
		}
	}
}

// A condition that holds is found, wherever it waits among others that do not, and whatever wakes the object.
func TestConditionsAreFound(t *testing.T) {
	inBubble(t, node.Config{}, func(t *testing.T, n *node.Node) {
		const calls = 3000
		g := start(t, n, &gate{})
		other, err := active.In(n, g, &gate{})
		require.NoError(t, err)
		var all []*node.Future[int]
		for i := range calls {
			all = append(all, active.Go(n, g, (*gate).PassAt, calls-i)) // the last ones first
		}
		for i := range calls {
			result(t, active.Go(n, g, (*gate).Open, 1))
			require.Equal(t, i+1, result(t, all[calls-1-i]))
			result(t, active.Go(n, other, (*gate).Open, 1))
		}
	})
}

// busy is an object that is never idle.
type busy struct {
	log     []string
	begun   chan none
	release chan none
	over    bool
	send    func() // in the middle of the third step
	took    time.Duration
}

func (b *busy) Hold(*active.Context, none) (none, error) {
	close(b.begun)
	<-b.release
	return none{}, nil
}

func (b *busy) Call(_ *active.Context, name string) (none, error) {
	b.log = append(b.log, name)
	return none{}, nil
}

func (b *busy) Finish(*active.Context, none) (none, error) { b.over = true; return none{}, nil }

func (b *busy) Nothing(*active.Context, none) (none, error) { time.Sleep(b.took); return none{}, nil }

// step is one step of an endless method.
func (b *busy) step() {
	time.Sleep(b.took)
	b.log = append(b.log, "s")
	if strings.Count(strings.Join(b.log, ""), "s") == 3 && b.send != nil {
		b.send()
	}
}

func (b *busy) Suspends(c *active.Context, _ none) (none, error) {
	for !b.over {
		b.step()
		c.Suspend()
	}
	return none{}, nil
}

func (b *busy) AwaitsItself(c *active.Context, _ none) (none, error) {
	for !b.over {
		b.step()
		if _, err := active.Await(c, active.Go(c, active.AddrOf[*busy](c.Self()), (*busy).Nothing, none{})); err != nil {
			return none{}, err
		}
	}
	return none{}, nil
}

// Calls that wait in the mailbox of an object whose methods never let it be idle begin within a few steps, each of
// them: those that wait before, and one that arrives in the middle.
func TestCallsAreLetIn(t *testing.T) {
	const few = 8
	for _, c := range []struct {
		name   string
		method func(*busy, *active.Context, none) (none, error)
		took   time.Duration
		cfg    node.Config
		o      node.Options
	}{
		{name: "suspends", method: (*busy).Suspends},
		{name: "suspends slowly", method: (*busy).Suspends, took: time.Millisecond},
		{name: "suspends, detached", method: (*busy).Suspends, o: node.Options{Place: node.Detached()}},
		{name: "awaits itself slowly", method: (*busy).AwaitsItself, took: time.Millisecond},
		{name: "awaits itself, with a budget", method: (*busy).AwaitsItself, cfg: node.Config{Budget: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, c.cfg, func(t *testing.T, n *node.Node) {
				b := &busy{begun: make(chan none), release: make(chan none), took: c.took}
				o, err := active.Start(n, b, c.o)
				require.NoError(t, err)
				b.send = func() {
					active.Go(n, o, (*busy).Call, "X")
					active.Go(n, o, (*busy).Finish, none{})
				}
				active.Go(n, o, (*busy).Hold, none{})
				<-b.begun
				all := active.Go(n, o, c.method, none{})
				for _, name := range []string{"A", "B", "C", "D"} {
					active.Go(n, o, (*busy).Call, name)
				}
				close(b.release)
				result(t, all)
				log := result(t, active.Go(n, o, (*busy).Log, none{}))
				text := strings.Join(log, "")
				require.Equal(t, "ABCDX", strings.ReplaceAll(text, "s", ""), text)
				for steps := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != 's' }) {
					require.LessOrEqual(t, len(steps), few, text)
				}
			})
		})
	}
}

func (b *busy) Log(*active.Context, none) ([]string, error) { return b.log, nil }

// An object whose methods suspend without end lets the other processes of its stage have their turns.
func TestOthersOfTheStage(t *testing.T) {
	inBubble(t, node.Config{Stages: 1, Workers: 1}, func(t *testing.T, n *node.Node) {
		b := &busy{}
		o := start(t, n, b)
		told := make(chan int, 1)
		pid, err := n.SpawnOpt(node.Options{Place: node.OnStage(0)}, node.ActorFunc(func(*node.Context, any) error {
			told <- 1
			return nil
		}))
		require.NoError(t, err)
		b.send = func() { require.NoError(t, n.Send(pid, "hello")) }
		all := active.Go(n, o, (*busy).Suspends, none{})
		<-told
		active.Go(n, o, (*busy).Finish, none{})
		result(t, all)
		require.LessOrEqual(t, len(b.log), 10_000)
	})
}
