package main

import (
	"errors"
	"math/rand/v2"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var big = contract.Bench{
	Name:   "big",
	About:  "everyone pings someone at random, one ping outstanding",
	Params: []contract.Param{contract.Int("n", 120), contract.Int("each", 2000), contract.Style()},
	Ops:    func(p contract.Params) int { return p.Int("n") * p.Int("each") },
	Run:    runBig,
}

type (
	peers    struct{ pids []node.PID } // read only
	ping     struct{ from node.PID }
	pong     struct{ from node.PID }
	finished struct{} // own pings
	enough   struct{} // of all players
	served   struct{ count int }
)

func runBig(p contract.Params, m *contract.Meter) error {
	n, each := p.Int("n"), p.Int("each")
	return onNode(p, func(main *node.Process) error {
		pids := make([]node.PID, n)
		for i := range pids {
			if p.Blocking() {
				pids[i] = must(main.Spawn(playerProcess(main.Self(), each, i)))
			} else {
				pids[i] = must(main.Spawn(&player{main: main.Self(), left: each, random: random(i)}))
			}
		}
		for _, pid := range pids {
			main.Send(pid, peers{pids})
		}
		for range pids {
			node.ReceiveOf[ready](main)
		}
		m.Start()
		releaseAll(main, pids)
		for range pids {
			node.ReceiveOf[finished](main)
		}
		m.Stop()
		sum := 0
		for _, pid := range pids {
			main.Send(pid, enough{})
		}
		for range pids {
			sum += node.ReceiveOf[served](main).count
		}
		if sum != n*each {
			return errors.New("the pings served do not add up")
		}
		return nil
	})
}

func random(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 0)) }

// player pings the others, one at a time, and answers their pings.
type player struct {
	main, peer   node.PID // peer is the process that it has pinged
	peers        []node.PID
	random       *rand.Rand
	left, served int
}

func (p *player) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case ping:
		p.served++
		return ctx.Send(m.from, pong{ctx.Self()})
	case pong:
		if m.from != p.peer {
			return errors.New("a pong from another process")
		}
		if p.left--; p.left == 0 {
			return ctx.Send(p.main, finished{})
		}
		return p.ping(ctx)
	case release:
		return p.ping(ctx)
	case peers:
		p.peers = m.pids
		return ctx.Send(p.main, ready{})
	case enough:
		return ctx.Send(p.main, served{p.served})
	}
	return node.ErrUnhandled
}

func (p *player) ping(ctx *node.Context) error {
	p.peer = p.peers[p.random.IntN(len(p.peers))]
	return ctx.Send(p.peer, ping{ctx.Self()})
}

func playerProcess(main node.PID, each, seed int) node.ProcessFunc {
	return func(p *node.Process) error {
		random, count := random(seed), 0
		pids := node.ReceiveOf[peers](p).pids
		p.Send(main, ready{})
		node.ReceiveOf[release](p)
		for range each {
			peer := pids[random.IntN(len(pids))]
			p.Send(peer, ping{p.Self()})
			count += servePings(p, peer)
		}
		p.Send(main, finished{})
		return p.Send(main, served{count + servePings(p, node.PID{})})
	}
}

// servePings answers pings until the pong of peer or the end arrives, and returns their number.
func servePings(p *node.Process, peer node.PID) (count int) {
	for {
		switch m := p.Receive().(type) {
		case ping:
			p.Send(m.from, pong{p.Self()})
			count++
		case pong:
			if m.from == peer {
				return count
			}
		case enough:
			return count
		}
	}
}
