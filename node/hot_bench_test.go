package node

import "testing"

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

// A hop costs one send to an idle actor and one turn. Bound by the allocation of
// the message (8 ns here) and by touching the actor's three cache lines; nothing
// atomic is left but loads.
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

// Each second hop is from an actor to a coroutine: the worker has to look whether the handler
// has left its goroutine locked to its thread.
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
