package main

import (
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/actornode/actornode/bench/internal/contract"
)

var big = contract.Bench{
	Name:   "big",
	About:  "everyone pings someone at random, one ping outstanding",
	Params: []contract.Param{contract.Int("n", 120), contract.Int("each", 2000)},
	Ops:    func(p contract.Params) int { return p.Int("n") * p.Int("each") },
	Run:    runBig,
}

type (
	peers  struct{ pids []*actor.PID } // read only
	ping   struct{ from *actor.PID }
	pong   struct{ from *actor.PID }
	enough struct{} // of all players
)

// served is what a player reports at the end.
type served struct {
	count int
	wrong bool // a pong came from a player that it had not pinged
}

func runBig(p contract.Params, m *contract.Meter) error {
	n, each := p.Int("n"), p.Int("each")
	return onSystem(func(root *actor.RootContext) error {
		pids, reports := make([]*actor.PID, n), make(chan served, n)
		var ready, finished sync.WaitGroup
		ready.Add(n)
		finished.Add(n)
		for i := range pids {
			pids[i] = root.Spawn(actor.PropsFromProducer(func() actor.Actor {
				return &player{ready: &ready, finished: &finished, reports: reports, left: each,
					random: rand.New(rand.NewPCG(uint64(i), 0))}
			}))
		}
		for _, pid := range pids {
			root.Send(pid, &peers{pids})
		}
		ready.Wait()
		m.Start()
		releaseAll(root, pids)
		finished.Wait()
		m.Stop()
		for _, pid := range pids {
			root.Send(pid, &enough{})
		}
		sum := 0
		for range pids {
			got := <-reports
			if got.wrong {
				return errors.New("a pong from another player")
			}
			sum += got.count
		}
		if sum != n*each {
			return errors.New("the pings served do not add up")
		}
		return nil
	})
}

// player pings the others, one at a time, and answers their pings.
type player struct {
	ready, finished *sync.WaitGroup
	reports         chan<- served
	peers           []*actor.PID
	peer            *actor.PID // that it has pinged
	random          *rand.Rand
	left            int
	served          served
}

func (p *player) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *ping:
		p.served.count++
		ctx.Send(m.from, &pong{ctx.Self()})
	case *pong:
		if !m.from.Equal(p.peer) {
			p.served.wrong = true
		}
		if p.left--; p.left == 0 {
			p.finished.Done()
			return
		}
		p.ping(ctx)
	case *release:
		p.ping(ctx)
	case *peers:
		p.peers = m.pids
		p.ready.Done()
	case *enough:
		p.reports <- p.served
	}
}

func (p *player) ping(ctx actor.Context) {
	p.peer = p.peers[p.random.IntN(len(p.peers))]
	ctx.Send(p.peer, &ping{ctx.Self()})
}
