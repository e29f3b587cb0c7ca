package main

import (
	"errors"
	"sync"

	"github.com/actornode/actornode/bench/internal/contract"
)

var flow = contract.Bench{
	Name:  "flow",
	About: "ordered pings, a More every window",
	Params: []contract.Param{
		contract.Int("pairs", 4), contract.Int("messages", 2_500_000), contract.Int("window", 1000).Range(1, 1<<20),
	},
	Ops: func(p contract.Params) int { return p.Int("pairs") * p.Int("messages") },
	Run: runFlow,
}

type (
	ping struct{ number int }
	more struct{}
)

func runFlow(p contract.Params, m *contract.Meter) error {
	pairs, messages, window := p.Int("pairs"), p.Int("messages"), p.Int("window")
	release, inOrder := make(chan struct{}), make(chan bool, pairs)
	var wg sync.WaitGroup
	for range pairs {
		// A window of pings is the most that is under way, and one More.
		pings, mores := make(chan ping, window), make(chan more, 1)
		wg.Go(func() { // ends after its messages
			<-release
			sendPings(messages, window, pings, mores)
		})
		wg.Go(func() { // ends with the last ping
			inOrder <- receivePings(window, pings, mores)
		})
	}
	m.Start()
	close(release)
	ok := true
	for range pairs {
		ok = <-inOrder && ok
	}
	m.Stop()
	wg.Wait()
	if !ok {
		return errors.New("a ping came out of order")
	}
	return nil
}

func sendPings(messages, window int, pings chan<- ping, mores <-chan more) {
	defer close(pings)
	room := window
	for i := range messages {
		if room == 0 {
			<-mores
			room = window
		}
		pings <- ping{i}
		room--
	}
}

func receivePings(window int, pings <-chan ping, mores chan<- more) (ok bool) {
	ok = true
	next, room := 0, window
	for p := range pings {
		ok = ok && p.number == next
		next++
		if room--; room == 0 {
			mores <- more{}
			room = window
		}
	}
	return ok
}
