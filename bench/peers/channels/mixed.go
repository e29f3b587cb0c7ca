package main

import (
	"errors"
	"slices"
	"sync"

	"github.com/actornode/actornode/bench/internal/contract"
)

var mixed = contract.Bench{
	Name:  "mixed",
	About: "rings made again and again while numbers are factorised",
	Params: []contract.Param{
		contract.Int("rings", 20), contract.Int("size", 50), contract.Int("token", 10_000),
		contract.Int("repeats", 5), contract.Int("number", 28350160440309881),
	},
	Ops: func(p contract.Params) int {
		return p.Int("rings") * p.Int("size") * p.Int("token") * p.Int("repeats")
	},
	Run: runMixed,
}

type countdown struct{ value int }

func runMixed(p contract.Params, m *contract.Meter) error {
	rings, size, token := p.Int("rings"), p.Int("size"), p.Int("token")
	repeats, number := p.Int("repeats"), uint64(p.Int("number"))
	results := make(chan []uint64, rings) // read until all have come
	rounds := make(chan int, rings)       // one number a master
	var wg sync.WaitGroup
	m.Start()
	for range rings {
		numbers := make(chan uint64, repeats) // one a repeat
		wg.Go(func() {                        // a worker, ends when its master has closed numbers
			for n := range numbers {
				results <- factors(n)
			}
		})
		wg.Go(func() { // a master, ends after its repeats
			defer close(numbers)
			count := 0
			for range repeats {
				numbers <- number
				count += turnRing(size, token, &wg)
			}
			rounds <- count
		})
	}
	all := make([][]uint64, rings*repeats)
	for i := range all {
		all[i] = <-results
	}
	wg.Wait()
	m.Stop()
	for range rings {
		if <-rounds != repeats*token {
			return errors.New("a round was lost")
		}
	}
	if !slices.ContainsFunc(all, func(f []uint64) bool { return !isFactorisation(f, number) }) {
		return nil
	}
	return errors.New("wrong factors")
}

// turnRing makes a ring, of which its caller is one member, and counts the
// token down once a round.
func turnRing(size, token int, wg *sync.WaitGroup) (rounds int) {
	in := make(chan countdown, 1) // one token: nobody waits to send
	first := in
	for range size - 1 {
		from, to := make(chan countdown, 1), first
		wg.Go(func() { // ends with the token that has run out
			for t := range from {
				to <- countdown{t.value}
				if t.value == 0 {
					return
				}
			}
		})
		first = from
	}
	first <- countdown{token}
	for t := range in {
		if t.value == 0 {
			break
		}
		first <- countdown{t.value - 1}
		rounds++
	}
	return rounds
}

// factors divides from 2 up until the rest is 1; that it does not stop at the
// square root is the work.
func factors(n uint64) (found []uint64) {
	for d := uint64(2); n > 1; {
		if n%d == 0 {
			found = append(found, d)
			n /= d
		} else {
			d++
		}
	}
	return found
}

func isFactorisation(found []uint64, number uint64) bool {
	product := uint64(1)
	for _, f := range found {
		product *= f
	}
	return product == number && slices.IsSorted(found)
}
