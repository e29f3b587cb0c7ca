package main

import (
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/actornode/actornode/bench/internal/contract"
)

var big = contract.Bench{
	Name:  "big",
	About: "everyone pings someone at random, one ping outstanding",
	// The inboxes take n*n messages of room, hence the bound.
	Params: []contract.Param{contract.Int("n", 120).Range(1, 4096), contract.Int("each", 2000)},
	Ops:    func(p contract.Params) int { return p.Int("n") * p.Int("each") },
	Run:    runBig,
}

// note is a ping, or the pong that answers it.
type note struct {
	from int
	pong bool
}

func runBig(p contract.Params, m *contract.Meter) error {
	n, each := p.Int("n"), p.Int("each")
	inboxes := make([]chan note, n)
	for i := range inboxes {
		// One ping of each player or the pong to it is under way, so no more
		// than n notes can be in one inbox and no send waits.
		inboxes[i] = make(chan note, n)
	}
	release, served := make(chan struct{}), make([]int, n)
	var finished, ended sync.WaitGroup
	finished.Add(n)
	for id := range n {
		ended.Go(func() { // ends when its inbox is closed
			<-release
			count := play(id, each, inboxes)
			finished.Done()
			served[id] = count + serve(id, inboxes)
		})
	}
	m.Start()
	close(release)
	finished.Wait()
	m.Stop()
	for _, inbox := range inboxes {
		close(inbox)
	}
	ended.Wait()
	if sum(served) != n*each {
		return errors.New("the pings served do not add up")
	}
	return nil
}

// play sends its pings, answers others' meanwhile, and returns how many.
func play(id, each int, inboxes []chan note) (served int) {
	random := rand.New(rand.NewPCG(uint64(id), 0))
	for range each {
		inboxes[random.IntN(len(inboxes))] <- note{from: id}
		for got := range inboxes[id] {
			if got.pong {
				break
			}
			inboxes[got.from] <- note{from: id, pong: true}
			served++
		}
	}
	return served
}

// serve answers the pings of the players that have not ended.
func serve(id int, inboxes []chan note) (served int) {
	for got := range inboxes[id] {
		inboxes[got.from] <- note{from: id, pong: true}
		served++
	}
	return served
}
