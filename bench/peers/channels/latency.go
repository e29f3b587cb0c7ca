package main

import (
	"fmt"
	"sync"

	"github.com/actornode/actornode/bench/internal/contract"
)

var latency = contract.Bench{
	Name:   "latency",
	About:  "two goroutines, one ball",
	Params: []contract.Param{contract.Int("roundtrips", 1_000_000)},
	Ops:    func(p contract.Params) int { return p.Int("roundtrips") },
	Run:    runLatency,
}

type ball struct{ number int }

func runLatency(p contract.Params, m *contract.Meter) error {
	roundtrips := p.Int("roundtrips")
	there, back := make(chan ball, 1), make(chan ball, 1) // one ball: nobody waits to send
	serve, returned := make(chan struct{}), make(chan int, 1)
	var wg sync.WaitGroup
	wg.Go(func() { // pong, ends when ping closes there
		for b := range there {
			back <- ball{b.number}
		}
	})
	wg.Go(func() { // ping, ends after its roundtrips
		defer close(there)
		<-serve
		count := 0
		for i := range roundtrips {
			there <- ball{i}
			if b := <-back; b.number == i {
				count++
			}
		}
		returned <- count
	})
	m.Start()
	close(serve)
	count := <-returned
	m.Stop()
	wg.Wait()
	if count != roundtrips {
		return fmt.Errorf("%d of %d balls came back", count, roundtrips)
	}
	return nil
}
