package node

import (
	"context"
	"testing"
)

type hop struct{ n int }

type ringer struct {
	next PID
	done chan struct{}
}

func (r *ringer) Receive(c *Context, m any) error {
	switch m := m.(type) {
	case PID:
		r.next = m
	case hop:
		if m.n == 0 {
			close(r.done)
			return nil
		}
		c.Send(r.next, hop{m.n - 1})
	}
	return nil
}

func ring(b *testing.B, size int, spawn func(n *Node, done chan struct{}) PID) {
	n, err := Start(Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Stop()
	done := make(chan struct{})
	pids := make([]PID, size)
	for i := range pids {
		pids[i] = spawn(n, done)
	}
	for i := range pids {
		n.Send(pids[i], pids[(i+1)%size])
	}
	b.ResetTimer()
	b.ReportAllocs()
	n.Send(pids[0], hop{b.N})
	<-done
}

// A hop costs one send to an idle actor and one turn. The allocation of the message (8 ns here) and touching the
// actor's three cache lines bound it; the only atomic operations left are loads.
func BenchmarkRingActor(b *testing.B) {
	ring(b, 503, func(n *Node, done chan struct{}) PID { p, _ := n.Spawn(&ringer{done: done}); return p })
}

func BenchmarkRingProcess(b *testing.B) {
	ring(b, 503, func(n *Node, done chan struct{}) PID {
		p, _ := n.Spawn(ProcessFunc(func(p *Process) error {
			next := ReceiveOf[PID](p)
			for {
				m := p.Receive().(hop)
				if m.n == 0 {
					close(done)
					return nil
				}
				p.Send(next, hop{m.n - 1})
			}
		}))
		return p
	})
}

func BenchmarkRingCoroutine(b *testing.B) {
	ring(b, 503, spawnHopper)
}

// spawnHopper spawns a coroutine that passes hops on.
func spawnHopper(n *Node, done chan struct{}) PID {
	p, _ := n.SpawnOpt(Options{Coroutine: true}, ProcessFunc(func(p *Process) error {
		next := ReceiveOf[PID](p)
		for {
			m := p.Receive().(hop)
			if m.n == 0 {
				close(done)
				return nil
			}
			p.Send(next, hop{m.n - 1})
		}
	}))
	return p
}

// Every second hop is from an actor to a coroutine: the worker must check whether the handler has left its goroutine
// locked to its thread.
func BenchmarkRingMixed(b *testing.B) {
	k := 0
	ring(b, 502, func(n *Node, done chan struct{}) PID {
		if k++; k%2 == 0 {
			return spawnHopper(n, done)
		}
		p, _ := n.Spawn(&ringer{done: done})
		return p
	})
}

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

// A call is two goroutine switches, the caller's and the one that wakes the stage's worker; its cost does not depend on
// what waits in the caller's mailbox. Budget: the second of these takes at most twice the first.
func BenchmarkCall(b *testing.B)               { callBench(b, 0) }
func BenchmarkCallWithQueued100k(b *testing.B) { callBench(b, 100_000) }

// A call within one stage, from an Actor, with a future that is turned into a message.
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
