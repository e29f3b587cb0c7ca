package genserver_test

import (
	"context"
	"testing"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
)

type echo struct{}

type Echo struct {
	genserver.Returns[int]
	N int
}

var echoes = genserver.Define(
	genserver.OnCall(func(_ echo, _ *genserver.Context, e Echo) (int, error) { return e.N, nil }),
	genserver.OnCast(func(_ echo, _ *genserver.Context, e int) error { return nil }),
	genserver.OnInfo(func(_ echo, _ *genserver.Context, done chan struct{}) error { close(done); return nil }),
)

func benchCall(b *testing.B, o node.Options, loop func(s *node.Process, pid node.PID)) {
	n := nodetest.Start(b, node.Config{})
	done := make(chan struct{})
	_, err := n.SpawnOpt(o, node.ProcessFunc(func(s *node.Process) error {
		defer close(done)
		pid, err := echoes.Start(context.Background(), s, echo{}, node.Options{})
		if err != nil {
			return err
		}
		b.ReportAllocs()
		b.ResetTimer()
		loop(s, pid)
		return nil
	}))
	if err != nil {
		b.Fatal(err)
	}
	<-done
}

// calls makes b.N calls; small values cost no allocation.
func calls(b *testing.B) func(s *node.Process, pid node.PID) {
	return func(s *node.Process, pid node.PID) {
		ctx := context.Background()
		for range b.N {
			if r, err := genserver.Call(ctx, s, pid, Echo{N: 7}); r != 7 || err != nil {
				b.Error(r, err)
				return
			}
		}
	}
}

func BenchmarkCallFromProcess(b *testing.B)   { benchCall(b, node.Options{}, calls(b)) }
func BenchmarkCallFromCoroutine(b *testing.B) { benchCall(b, node.Options{Coroutine: true}, calls(b)) }

func BenchmarkCallFromGoroutine(b *testing.B) {
	n := nodetest.Start(b, node.Config{})
	pid, _ := echoes.Start(context.Background(), n, echo{}, node.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := genserver.Call(context.Background(), n, pid, Echo{N: 7}); err != nil {
			b.Fatal(err)
		}
	}
}

// client is an Actor that calls; ask sends the next request.
type client struct {
	to   node.PID
	left int
	done chan struct{}
	ask  func(c *node.Context, to node.PID)
}

func (a *client) Receive(c *node.Context, msg any) error {
	if a.left--; a.left < 0 {
		close(a.done)
		return node.ErrStop
	}
	a.ask(c, a.to)
	return nil
}

func benchActor(b *testing.B, ask func(c *node.Context, to node.PID)) {
	n := nodetest.Start(b, node.Config{})
	pid, _ := echoes.Start(context.Background(), n, echo{}, node.Options{Place: node.OnStage(0)})
	done := make(chan struct{})
	me, err := n.SpawnOpt(node.Options{Place: node.OnStage(0)}, &client{pid, b.N, done, ask})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	n.Send(me, "go")
	<-done
}

func BenchmarkAsyncFromActor(b *testing.B) {
	benchActor(b, func(c *node.Context, to node.PID) { genserver.Async(c, to, Echo{N: 7}).SendTo(c.Self(), nil) })
}

func BenchmarkSendRequestFromActor(b *testing.B) {
	benchActor(b, func(c *node.Context, to node.PID) { node.SendRequest(c, to, nil, Echo{N: 7}) })
}

func BenchmarkCast(b *testing.B) {
	benchCall(b, node.Options{Coroutine: true}, func(s *node.Process, pid node.PID) {
		for range b.N {
			genserver.Cast(s, pid, 7)
		}
		done := make(chan struct{})
		s.Send(pid, done)
		<-done
	})
}

func BenchmarkStart(b *testing.B) {
	n := nodetest.Start(b, node.Config{})
	b.ReportAllocs()
	for b.Loop() {
		pid, err := echoes.Start(context.Background(), n, echo{}, node.Options{})
		if err != nil {
			b.Fatal(err)
		}
		n.Exit(pid, node.Kill)
	}
}
