package node_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/observe"
)

// picky leaves every message unhandled until it is told to change.
type picky struct{}

func (picky) Receive(c *node.Context, msg any) error {
	if msg == true {
		c.Become(picky{})
		return nil
	}
	return node.ErrUnhandled
}

// Messages that are left unhandled are noticed, and reported when there are many, or when they are old and somebody
// looks.
func TestLeftUnhandled(t *testing.T) {
	for name, o := range map[string]node.Options{"stage": {}, "detached": {Place: node.Detached()}} {
		t.Run(name, func(t *testing.T) {
			actortest.InBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe, log *logtest.Text) {
				const line = "messages stay in the mailbox"
				o.Label = "the picky one"
				pid, err := n.SpawnOpt(o, picky{})
				require.NoError(t, err)
				look := func() observe.Unhandled {
					synctest.Wait()
					i, err := n.Info(pid)
					require.NoError(t, err)
					return i.Unhandled
				}
				require.Zero(t, look())
				began := time.Now()
				require.NoError(t, n.Send(pid, 1.5))
				time.Sleep(50 * time.Second)
				require.NoError(t, n.Send(pid, 1))
				u := look()
				require.Equal(t, 2, u.Count)
				require.Equal(t, "float64", u.Oldest)
				require.WithinDuration(t, began, u.Since, 250*time.Millisecond)
				require.NotContains(t, log.String(), line)
				time.Sleep(10 * time.Second)
				require.Equal(t, 2, look().Count)
				look()
				require.Equal(t, 1, strings.Count(log.String(), line), log.String())
				require.Contains(t, log.String(), "the picky one")
				require.Contains(t, log.String(), "behaviour=node_test.picky messages=2 oldest=float64")

				require.NoError(t, n.Send(pid, true)) // they are offered again
				require.Equal(t, 2, look().Count)
				for i := 2; i < 3000; i++ {
					require.NoError(t, n.Send(pid, i))
					if i%1000 == 0 {
						time.Sleep(2 * time.Second)
						synctest.Wait()
					}
				}
				require.Equal(t, 3000, look().Count)
				require.Equal(t, 3, strings.Count(log.String(), line), log.String())
				for _, count := range []int{1024, 2048} {
					require.Contains(t, log.String(), fmt.Sprint("messages=", count, " "))
				}
			})
		})
	}
}

// BecomeFunc and PushFunc are Become and Push of a function.
func TestBecomeFunc(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	says := func(what string, then func(c *node.Context)) func(c *node.Context, msg any) error {
		return func(c *node.Context, msg any) error {
			if then != nil {
				then(c)
			}
			return c.Send(h.Self(), what)
		}
	}
	third := says("third", func(c *node.Context) { c.Unbecome() })
	second := says("second", func(c *node.Context) { c.PushFunc(third) })
	pid, err := n.Spawn(node.ActorFunc(says("first", func(c *node.Context) { c.BecomeFunc(second) })))
	require.NoError(t, err)
	for _, want := range []string{"first", "second", "third", "second", "third"} {
		require.NoError(t, n.Send(pid, 1))
		require.Equal(t, want, nodetest.Expect[string](h))
	}
	for _, change := range []func(c *node.Context){
		func(c *node.Context) { c.BecomeFunc(nil) }, func(c *node.Context) { c.PushFunc(nil) },
	} {
		pid, err := n.Spawn(node.ActorFunc(says("nil", change)))
		require.NoError(t, err)
		ref := h.Monitor(pid)
		require.NoError(t, n.Send(pid, 1))
		require.ErrorIs(t, h.ExpectDown(ref).Reason.(*node.Crash), node.ErrArgument)
	}
}
