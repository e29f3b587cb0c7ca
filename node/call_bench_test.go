package node

import (
	"context"
	"testing"
)

type ask struct{}

func callBench(b *testing.B, queued int) {
	n, err := Start(Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Stop()
	to, _ := n.Spawn(ActorFunc(func(_ *Context, m any) error {
		if r, ok := m.(Request[ask]); ok {
			return r.Reply(true)
		}
		return nil
	}))
	done := make(chan struct{})
	n.Spawn(ProcessFunc(func(p *Process) error {
		for range queued {
			p.Send(p.Self(), ask{})
		}
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			if _, err := Call[bool](context.Background(), p, to, ask{}); err != nil {
				b.Error(err)
			}
		}
		close(done)
		return nil
	}))
	<-done
}

// A call is two goroutine switches, the caller's and the one that wakes the
// stage's worker; nothing of it depends on what waits in the caller's mailbox.
// Budget: the second of these takes at most twice the first.
func BenchmarkCall(b *testing.B)               { callBench(b, 0) }
func BenchmarkCallWithQueued100k(b *testing.B) { callBench(b, 100_000) }

// A call within one stage, from an Actor, as a future turned into a message.
func BenchmarkAsyncCall(b *testing.B) {
	n, err := Start(Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Stop()
	done := make(chan struct{})
	b.ReportAllocs()
	n.Spawn(&asker{left: b.N, done: done})
	<-done
}

type asker struct {
	to   PID
	left int
	done chan struct{}
}

func (a *asker) Init(c *Context) error {
	a.to, _ = c.Spawn(ActorFunc(func(_ *Context, m any) error { return m.(Request[ask]).Reply(true) }))
	Async[bool](c, a.to, ask{}).SendTo(c.Self(), nil)
	return nil
}

func (a *asker) Receive(c *Context, m any) error {
	if a.left--; a.left <= 0 {
		close(a.done)
		return ErrStop
	}
	Async[bool](c, a.to, ask{}).SendTo(c.Self(), nil)
	return nil
}
