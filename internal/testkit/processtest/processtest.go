// Package processtest gives tests of the kernel the processes of a node that is not there.
package processtest

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/wire"
)

// The messages, reasons and errors that a Host makes: these functions return what a test should find.
type (
	exited struct {
		From   wire.PID
		Reason any
	}
	nodeDown struct {
		Node   wire.Atom
		Reason string
	}
	result struct {
		Tag, Value any
		Err        error
	}
	crash  struct{ Cause any }  // the reason of a process that has panicked
	failed struct{ Reason any } // the error that stands for an exit reason
)

func Exited(from wire.PID, reason any) any       { return exited{from, reason} }
func NodeDown(node wire.Atom, reason string) any { return nodeDown{node, reason} }
func Result(tag, v any, err error) any           { return result{tag, v, err} }
func Crash(cause any) any                        { return crash{cause} }
func Failed(reason any) error                    { return failed{reason} }

func (f failed) Error() string { return fmt.Sprintf("exited: %v", f.Reason) }

// Host is the node above the processes of a test. What a test wants otherwise is a method of a type that embeds it.
type Host struct {
	Me   wire.PID                            // what Self returns
	Node func(name wire.Atom) process.Remote // finds other nodes; if nil, there are none
}

func (Host) Exited(from wire.PID, reason any) any         { return Exited(from, reason) }
func (Host) Down(d process.Down) any                      { return d }
func (Host) NodeDown(node wire.Atom, reason string) any   { return NodeDown(node, reason) }
func (Host) Result(tag, v any, err error) any             { return Result(tag, v, err) }
func (Host) ErrorOf(reason any) error                     { return Failed(reason) }
func (Host) Panicked(cause any) any                       { return Crash(cause) }
func (Host) Lost(wire.Atom, error) error                  { return Failed(process.NoConnection) }
func (h Host) Reach(pid wire.PID) process.Remote          { return h.Named(pid.Node()) }
func (h Host) Connected(pid wire.PID) process.Remote      { return h.Named(pid.Node()) }
func (h Host) Self() wire.PID                             { return h.Me }
func (Host) Crashed(process.Crash) func()                 { return nil }
func (Host) Left(*process.Process, watch.Left)            {}
func (Host) Unanswered(msg any, why error, raw bool) bool { return false }
func (Host) Answered(ref wire.Ref, msg any) bool          { return false }

func (Host) IsDown(msg any, ref wire.Ref) bool {
	d, ok := msg.(process.Down)
	return ok && d.Ref == ref
}

func (Host) ReasonOf(err error) any {
	if err == nil {
		return process.Normal
	}
	return err
}

// IsCrash reports whether reason is that of a process that has panicked.
func IsCrash(reason any) bool {
	_, ok := reason.(crash)
	return ok
}

func (h Host) Named(name wire.Atom) process.Remote {
	if h.Node == nil {
		return nil
	}
	return h.Node(name)
}

func (Host) Whereis(*process.Acting, wire.At, func(wire.PID, any)) {
	panic("no other node knows names")
}

// Init makes s ready for processes without a stage.
func Init(s *process.System, h interface {
	process.Host
	process.Remotes
}, id wire.NodeID, budget int) {
	s.Init(h, id, budget, env.Env{})
	s.Remotes = h
	s.Halved = 63
	s.Table.Init(1 << 20)
	s.Tracing.Init(watch.TraceHost{IsOwn: func(any) bool { return false }})
	s.Dead.Init(slog.New(slog.DiscardHandler), env.Env{})
}

// Start gives s stages, until the test ends: then all processes end.
func Start(t *testing.T, s *process.System, workers, stages int) {
	s.Pool = executor.New(executor.Config{Workers: workers, Stages: stages, Local: func(w *executor.Worker) executor.Local {
		l := &process.Local{Tally: s.Tally.New(), Fiber: new(fiber.Fiber)}
		l.Turn.Worker, l.Turn.Env = w, s.Env
		return l
	}})
	s.Pool.Start()
	t.Cleanup(func() {
		for p := range s.Table.All() {
			p.Exit(&s.Plain, process.Killed)
		}
		for s.Functions.Load()+s.Fibers.Busy() > 0 {
			runtime.Gosched()
		}
		require.NoError(t, s.Pool.Stop(context.Background()))
		s.Fibers.Stop()
	})
}
