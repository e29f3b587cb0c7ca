package node_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// lockThread locks the calling goroutine to its thread so many times.
func lockThread(times int) {
	for range times {
		runtime.LockOSThread()
	}
}

// lockedHere reports whether the calling goroutine is locked to its thread, according to its traceback.
func lockedHere() bool {
	buf := make([]byte, 200)
	line, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), "\n")
	return strings.Contains(line, "locked to thread")
}

// A handler that leaves its goroutine locked to its thread, at any depth, does not harm the coroutines that the same
// worker runs, nor the handlers that run after it.
func TestHandlerLeavesThreadLocked(t *testing.T) {
	if !fiber.Direct {
		t.Skip("a coroutine may wait while its goroutine is locked to its thread")
	}
	for _, times := range []int{1, 2, 1000} {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprint(times, " times, workers: ", workers), func(t *testing.T) {
				n := nodetest.Start(t, node.Config{Workers: workers, Stages: 1})
				co := node.Options{Coroutine: true}
				echo, err := n.SpawnOpt(co, node.ProcessFunc(func(p *node.Process) error {
					for {
						p.Send(p.Receive().(node.PID), lockedHere())
					}
				}))
				require.NoError(t, err)
				locker, err := n.Spawn(node.ActorFunc(func(c *node.Context, m any) error {
					if m == "look" {
						return nil
					}
					lockThread(times)
					return c.Send(echo, m)
				}))
				require.NoError(t, err)
				me := nodetest.NewProbe(t, n)
				before := testkit.Goroutines()
				for range 50 {
					require.NoError(t, n.Send(locker, me.Self()))
					m, err := me.ReceiveWithin(testkit.Limit, nil)
					require.NoError(t, err)
					require.Equal(t, false, m, "the coroutine runs on a goroutine that nobody has locked")
				}
				testkit.UntilTrue(t, func() bool { return testkit.Goroutines() <= before+workers+1 }, "the goroutines that were locked have ended")
				require.NoError(t, n.Stop())
			})
		}
	}
}

// A coroutine that would have to wait while it is locked to its thread panics with a value that says so. It may
// recover, unlock its thread and then wait.
func TestCoroutineWaitsLocked(t *testing.T) {
	if !fiber.Direct {
		t.Skip("a coroutine may wait while its goroutine is locked to its thread")
	}
	for name, wait := range waitsOf {
		if name == "Exit" {
			continue // does not wait
		}
		t.Run(name, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{Workers: 1, Stages: 1, Coroutines: true})
			never, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
			require.NoError(t, err)
			watch := nodetest.NewProbe(t, n)
			for _, times := range []int{1, 3} {
				_, err := watch.SpawnOpt(node.Options{Monitor: new(node.Ref)}, node.ProcessFunc(func(p *node.Process) error {
					lockThread(times)
					wait(p, never)
					return nil
				}))
				require.NoError(t, err)
				down, err := node.ReceiveOfWithin[node.Down](watch.Process, testkit.Limit)
				require.NoError(t, err)
				require.IsType(t, &node.Crash{}, down.Reason)
				require.Equal(t, node.ErrThreadLocked, down.Reason.(*node.Crash).Reason)
			}

			recovered := make(chan any, 1)
			pid, err := n.SpawnOpt(node.Options{Coroutine: true}, node.ProcessFunc(func(p *node.Process) error {
				lockThread(2)
				func() {
					defer func() { recovered <- recover() }()
					wait(p, never)
				}()
				runtime.UnlockOSThread()
				runtime.UnlockOSThread()
				return p.Send(watch.Self(), p.Receive())
			}))
			require.NoError(t, err)
			require.Equal(t, node.ErrThreadLocked, testkit.Receive(t, recovered))
			require.NoError(t, n.Send(pid, "waits now"))
			m, err := watch.ReceiveWithin(testkit.Limit, nil)
			require.NoError(t, err)
			require.Equal(t, "waits now", m)
		})
	}
}

// A coroutine that is locked to its thread goes on as long as it need not wait: it sends, receives the messages in its
// mailbox, and is killed like any other. It may end locked, in every possible way.
func TestCoroutineEndsLocked(t *testing.T) {
	for name, end := range map[string]func() error{
		"returns": func() error { return nil },
		"panics":  func() error { panic("locked") },
		"exits":   func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{Workers: 1, Stages: 1, Budget: 10, Blocked: time.Hour})
			me := nodetest.NewProbe(t, n)
			const many = 2000
			for range 3 {
				ready, goes := make(chan struct{}), make(chan struct{})
				pid, err := n.SpawnOpt(node.Options{Coroutine: true}, node.ProcessFunc(func(p *node.Process) error {
					lockThread(3)
					close(ready)
					<-goes
					for range many {
						if m, err := p.ReceiveWithin(0, nil); err != nil || p.Send(me.Self(), m) != nil {
							return errors.New("cannot receive and send")
						}
					}
					return end()
				}))
				require.NoError(t, err)
				testkit.Receive(t, ready)
				for range many {
					require.NoError(t, n.Send(pid, "m"))
				}
				me.Monitor(pid)
				close(goes)
				for range many {
					_, err := node.ReceiveOfWithin[string](me.Process, testkit.Limit)
					require.NoError(t, err)
				}
				_, err = node.ReceiveOfWithin[node.Down](me.Process, testkit.Limit)
				require.NoError(t, err)
			}
			testkit.UntilTrue(t, func() bool { return n.Stats().Lingering == 0 }, "no function is left")
			locked := make(chan bool)
			_, err := n.SpawnOpt(node.Options{Coroutine: true}, node.ProcessFunc(func(p *node.Process) error {
				locked <- lockedHere()
				return nil
			}))
			require.NoError(t, err)
			assert.False(t, testkit.Receive(t, locked))
			require.NoError(t, n.Stop())
		})
	}
}

// A killed coroutine that is locked to its thread is unwound by its next call.
func TestKilledWhileLocked(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 2, Stages: 2})
	for name, wait := range waitsOf {
		if name == "Call" {
			continue // returns an error to the killed process, which may go on
		}
		inside, goes, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
		pid, err := n.SpawnOpt(node.Options{Coroutine: true}, node.ProcessFunc(func(p *node.Process) error {
			defer close(ended)
			lockThread(2)
			close(inside)
			<-goes
			for {
				func() {
					defer func() { _ = recover() }()
					wait(p, node.PID{})
				}()
			}
		}))
		require.NoError(t, err, name)
		testkit.Receive(t, inside)
		n.Exit(pid, node.Kill)
		require.Equal(t, 1, n.Stats().Lingering, name)
		close(goes)
		testkit.Receive(t, ended)
		testkit.UntilTrue(t, func() bool { return n.Stats().Lingering == 0 }, "nobody lingers")
	}
	require.NoError(t, n.Stop())
}

// waitsOf are the calls in which a Process waits, and is unwound when it is killed.
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

// A kill ends even a function that recovers from every panic and goes on, including its deferred calls, and nothing is
// left of it.
func TestKillIsNotRecovered(t *testing.T) {
	for name, wait := range waitsOf {
		t.Run(name, func(t *testing.T) {
			actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
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

// A function that is killed while it waits for a message may still have deferred calls that take long: until they have
// returned it is counted, and Stop reports that it is still running.
func TestDeferredOfTheKilledLinger(t *testing.T) {
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
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
			time.Sleep(time.Second) // in the bubble: a stage is taken from a function that keeps it
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

// A deferred call of a function that is unwound cannot receive or call: it is unwound, too, and the earlier deferred
// calls run.
func TestDeferredCannotWait(t *testing.T) {
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
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
