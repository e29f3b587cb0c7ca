package node_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// The child keeps the link to its parent apart from its other links. That must make no difference.

// What parent and child do, who survives, who has been told, and which links exist afterwards.
func TestParentLink(t *testing.T) {
	type family struct {
		n             *node.Node
		parent, child *commanded
	}
	tired := wire.Atom("tired")
	for _, c := range []struct {
		what  string
		link  bool // from the beginning
		do    func(f family)
		lives [2]bool
		links bool
	}{
		{"nothing", true, func(family) {}, [2]bool{true, true}, true},
		{"not linked", false, func(family) {}, [2]bool{true, true}, false},
		{"the parent exits", true, func(f family) { f.parent.exit(tired) }, [2]bool{false, false}, false},
		{"the child exits", true, func(f family) { f.child.exit(tired) }, [2]bool{false, false}, false},
		{"the parent ends normally", true, func(f family) { f.parent.exit(node.Normal) }, [2]bool{false, true}, false},
		{"the child ends normally", true, func(f family) { f.child.exit(node.Normal) }, [2]bool{true, false}, false},
		{"the child is killed", true, func(f family) { f.n.Exit(f.child.pid, node.Kill) }, [2]bool{false, false}, false},
		{"not linked, the parent exits", false, func(f family) { f.parent.exit(tired) }, [2]bool{false, true}, false},
		{"not linked, the child exits", false, func(f family) { f.child.exit(tired) }, [2]bool{true, false}, false},
		{"the parent unlinks, then exits", true, func(f family) { f.parent.unlink(f.child); f.parent.exit(tired) }, [2]bool{false, true}, false},
		{"the child unlinks, then exits", true, func(f family) { f.child.unlink(f.parent); f.child.exit(tired) }, [2]bool{true, false}, false},
		{"the child unlinks, the parent exits", true, func(f family) { f.child.unlink(f.parent); f.parent.exit(tired) }, [2]bool{false, true}, false},
		{"the parent unlinks", true, func(f family) { f.parent.unlink(f.child) }, [2]bool{true, true}, false},
		{"the child unlinks twice", true, func(f family) { f.child.unlink(f.parent); f.child.unlink(f.parent) }, [2]bool{true, true}, false},
		{"the child links later", false, func(f family) { f.child.link(f.parent) }, [2]bool{true, true}, true},
		{"the parent links later", false, func(f family) { f.parent.link(f.child) }, [2]bool{true, true}, true},
		{"linked twice, unlinked once", true, func(f family) { f.child.link(f.parent); f.parent.link(f.child); f.child.unlink(f.parent) }, [2]bool{true, true}, false},
		{"the child links later, the parent exits", false, func(f family) { f.child.link(f.parent); f.parent.exit(tired) }, [2]bool{false, false}, false},
		{"the parent links later, the child exits", false, func(f family) { f.parent.link(f.child); f.child.exit(tired) }, [2]bool{false, false}, false},
		{"unlinked and linked again, the parent exits", true,
			func(f family) { f.child.unlink(f.parent); f.parent.link(f.child); f.parent.exit(tired) }, [2]bool{false, false}, false},
		{"the child links to the dead parent", false, func(f family) { f.parent.exit(node.Normal); f.child.link(f.parent) }, [2]bool{false, false}, false},
	} {
		for _, trap := range []bool{false, true} {
			name := c.what
			if trap {
				name += ", the other traps"
			}
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe) {
					f := family{n, newCommanded(t, n, n, node.Options{}), nil}
					f.child = newCommanded(t, n, f.parent, node.Options{Link: c.link})
					if trap {
						f.parent.do(func(x *node.Context) { x.TrapExit(true) })
						f.child.do(func(x *node.Context) { x.TrapExit(true) })
					}
					c.do(f)
					synctest.Wait()
					lives := [2]bool{n.IsAlive(f.parent.pid), n.IsAlive(f.child.pid)}
					if !trap {
						assert.Equal(t, c.lives, lives)
					}
					for i, p := range []*commanded{f.parent, f.child} {
						info, err := n.Info(p.pid)
						if !lives[i] {
							assert.ErrorIs(t, err, node.ErrNoProcess)
							continue
						}
						other := []*commanded{f.child, f.parent}[i]
						if c.links {
							assert.Equal(t, []node.PID{other.pid}, info.Links)
						} else {
							assert.Empty(t, info.Links)
						}
						var linked bool
						p.do(func(x *node.Context) { linked = x.Inside(process.Key{}).Linked(other.pid) })
						synctest.Wait()
						assert.Equal(t, c.links, linked)
						// It is told, once, what it would have died of.
						if trap && !c.lives[i] && assert.Len(t, p.exits, 1) {
							assert.Equal(t, other.pid, p.exits[0].From)
						}
					}
				})
			})
		}
	}
}

// commanded is an actor that runs the functions it is sent.
type commanded struct {
	pid   node.PID
	n     *node.Node
	exits []node.Exited
}

func newCommanded(t *testing.T, n *node.Node, by any, o node.Options) *commanded {
	t.Helper()
	p := &commanded{n: n}
	b := node.ActorFunc(func(c *node.Context, m any) error {
		switch m := m.(type) {
		case func(*node.Context):
			m(c)
		case node.Exited:
			p.exits = append(p.exits, m)
		case error:
			return m
		}
		return nil
	})
	if parent, ok := by.(*commanded); ok {
		parent.do(func(c *node.Context) { p.pid, _ = c.SpawnOpt(o, b) })
		return p
	}
	pid, err := n.SpawnOpt(o, b)
	require.NoError(t, err)
	p.pid = pid
	return p
}

func (p *commanded) do(f func(*node.Context)) {
	done := make(chan struct{})
	p.n.Send(p.pid, func(c *node.Context) { defer close(done); f(c) })
	<-done
}

func (p *commanded) exit(reason any) {
	p.n.Send(p.pid, node.ExitWith(reason))
	node.AwaitExit(context.Background(), p.n, p.pid)
}
func (p *commanded) link(o *commanded)   { p.do(func(c *node.Context) { c.Link(o.pid) }) }
func (p *commanded) unlink(o *commanded) { p.do(func(c *node.Context) { c.Unlink(o.pid) }) }

// Parents and children link, unlink and die at the same time: a process that is linked at its death takes the other
// with it, and no link is left on one side only.
func TestParentLinkConcurrently(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for round := range 300 {
		r := rand.New(rand.NewPCG(seed, uint64(round)))
		parent := nodetest.NewProbe(t, n)
		parent.TrapExit(true)
		var kids []node.PID
		for range 4 {
			pid, err := parent.SpawnOpt(node.Options{Link: r.IntN(2) == 0}, node.ProcessFunc(func(s *node.Process) error {
				r := rand.New(rand.NewPCG(seed, s.Self().Number()))
				for range r.IntN(20) {
					if r.IntN(2) == 0 {
						s.Link(parent.Self())
					} else {
						s.Unlink(parent.Self())
					}
				}
				s.Receive()
				return nil
			}))
			require.NoError(t, err)
			kids = append(kids, pid)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for _, k := range kids {
				if r.IntN(2) == 0 {
					n.Exit(k, node.Kill)
				}
			}
		})
		for range 10 {
			k := kids[round%len(kids)]
			parent.Link(k)
			parent.Unlink(k)
		}
		wg.Wait()
		for _, k := range kids {
			n.Send(k, "end")
		}
		for _, k := range kids {
			waitGone(t, parent, k)
		}
		// A process is gone a moment before the processes linked to it are told.
		testkit.UntilTrue(t, func() bool {
			i, _ := n.Info(parent.Self())
			return len(i.Links) == 0
		}, "no link to the dead")
		parent.Close(nil)
	}
}
