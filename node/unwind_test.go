package node_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/node"
)

// waitsOf are the calls in which a Process waits, and in which it is unwound when it is killed.
var waitsOf = map[string]func(p *node.Process, never node.PID){
	"Receive":      func(p *node.Process, _ node.PID) { p.Receive() },
	"ReceiveMatch": func(p *node.Process, _ node.PID) { p.ReceiveMatch(func(any) bool { return false }) },
	"ReceiveWithin": func(p *node.Process, _ node.PID) {
		_, _ = p.ReceiveWithin(time.Hour, nil)
	},
	"Call": func(p *node.Process, never node.PID) {
		_, _ = node.Call[int](context.Background(), p, never, 1)
	},
	"Exit": func(p *node.Process, _ node.PID) { p.Exit(p.Self(), node.Kill) },
}

// A function that recovers from every panic and goes on is ended by a kill all the same, its
// deferred calls included, and nothing is left of it.
func TestKillIsNotRecovered(t *testing.T) {
	for name, wait := range waitsOf {
		t.Run(name, func(t *testing.T) {
			nodetest.EachBlocking(t, func(t *testing.T, s nodetest.Style) {
				synctest.Test(t, func(t *testing.T) {
					n, err := node.Start(node.Config{StopTimeout: 3 * time.Second})
					require.NoError(t, err)
					never, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
					require.NoError(t, err)
					var goesOn, recovered, deferred atomic.Int64
					pid, err := n.SpawnOpt(s.Options, node.ProcessFunc(func(p *node.Process) error {
						defer deferred.Add(1)
						for goesOn.Add(1) < 1000 {
							func() {
								defer func() {
									if recover() != nil {
										recovered.Add(1)
									}
								}()
								wait(p, never)
							}()
						}
						return nil
					}))
					require.NoError(t, err)
					synctest.Wait()
					n.Exit(pid, node.Kill)
					synctest.Wait()
					assert.EqualValues(t, 1, goesOn.Load())
					assert.Zero(t, recovered.Load())
					assert.EqualValues(t, 1, deferred.Load())
					assert.Zero(t, n.Stats().Lingering)
					require.NoError(t, n.Stop())
				})
			})
		})
	}
}

// A function that is killed while it waits for a message may still have deferred calls that
// take long: until they have returned it is counted, and Stop says that it has not.
func TestDeferredOfTheKilledLinger(t *testing.T) {
	nodetest.EachBlocking(t, func(t *testing.T, s nodetest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, err := node.Start(node.Config{StopTimeout: 3 * time.Second})
			require.NoError(t, err)
			release := make(chan struct{})
			pid, err := n.SpawnOpt(s.Options, node.ProcessFunc(func(p *node.Process) error {
				defer func() { <-release }()
				p.Receive()
				return nil
			}))
			require.NoError(t, err)
			idle, err := n.SpawnOpt(s.Options, node.ProcessFunc(func(p *node.Process) error { p.Receive(); return nil }))
			require.NoError(t, err)
			synctest.Wait()
			n.Exit(pid, node.Kill)
			n.Exit(idle, node.Kill)
			time.Sleep(time.Second) // of the bubble: a stage is taken from a function that keeps it
			assert.Equal(t, 1, n.Stats().Lingering)
			err = n.Stop()
			require.Error(t, err)
			assert.Contains(t, err.Error(), "1 handlers and functions")
			close(release)
			synctest.Wait()
			assert.Zero(t, n.Stats().Lingering)
		})
	})
}

// A deferred call of a function that is unwound cannot receive or call: it is unwound, too, and
// the deferred calls before it run.
func TestDeferredCannotWait(t *testing.T) {
	nodetest.EachBlocking(t, func(t *testing.T, s nodetest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, err := node.Start(node.Config{StopTimeout: 3 * time.Second})
			require.NoError(t, err)
			var rounds, first atomic.Int64
			pid, err := n.SpawnOpt(s.Options, node.ProcessFunc(func(p *node.Process) error {
				defer first.Add(1)
				defer func() {
					for rounds.Add(1) < 1000 {
						func() {
							defer func() { _ = recover() }()
							p.Receive()
						}()
					}
				}()
				p.Receive()
				return nil
			}))
			require.NoError(t, err)
			synctest.Wait()
			n.Exit(pid, node.Kill)
			synctest.Wait()
			assert.EqualValues(t, 1, rounds.Load())
			assert.EqualValues(t, 1, first.Load())
			require.NoError(t, n.Stop())
		})
	})
}
