package main

import (
	"fmt"
	"sync"

	"github.com/actornode/actornode/bench/internal/contract"
)

var mailbox = contract.Bench{
	Name:   "mailbox",
	About:  "many senders, one receiver that adds up",
	Params: []contract.Param{contract.Int("senders", 20), contract.Int("each", 1_000_000)},
	Ops:    func(p contract.Params) int { return p.Int("senders") * p.Int("each") },
	Run:    runMailbox,
}

type value struct{ value int }

func runMailbox(p contract.Params, m *contract.Meter) error {
	senders, each := p.Int("senders"), p.Int("each")
	inbox := make(chan value, 1024) // the receiver always reads on
	release, sum := make(chan struct{}), make(chan int, 1)
	var wg sync.WaitGroup
	wg.Go(func() { // ends when it has counted all
		total := 0
		for range senders * each {
			total += (<-inbox).value
		}
		sum <- total
	})
	for range senders {
		wg.Go(func() { // ends when it has sent its values
			<-release
			for i := range each {
				inbox <- value{i + 1}
			}
		})
	}
	m.Start()
	close(release)
	total := <-sum
	m.Stop()
	wg.Wait()
	if want := senders * (each * (each + 1) / 2); total != want {
		return fmt.Errorf("the values add up to %d, not %d", total, want)
	}
	return nil
}
