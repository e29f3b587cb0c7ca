package main

import (
	"fmt"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
)

var blocking = contract.Bench{
	Name:   "blocking",
	About:  "goroutines that sleep, and what another's answers take meanwhile",
	Params: []contract.Param{contract.Int("handlers", 200), contract.Int("sleep_ms", 100), contract.Int("times", 5)},
	Ops:    func(p contract.Params) int { return p.Int("handlers") * p.Int("times") },
	Run:    runBlocking,
}

func runBlocking(p contract.Params, m *contract.Meter) error {
	handlers, times, want := p.Int("handlers"), p.Int("times"), p.Int("handlers")*p.Int("times")
	rested, asked, over := make(chan struct{}, handlers), make(chan chan int), make(chan struct{})
	defer close(over)
	go func() { // the one that answers, until all is over
		count := 0
		for {
			select {
			case <-rested:
				count++
			case to := <-asked:
				to <- count
			case <-over:
				return
			}
		}
	}()
	m.Start()
	for range handlers {
		go func() { // ends when it has slept often enough
			for range times {
				time.Sleep(time.Duration(p.Int("sleep_ms")) * time.Millisecond)
				rested <- struct{}{}
			}
		}()
	}
	var took []time.Duration
	answer := make(chan int, 1)
	for slept := 0; slept < want; {
		began := time.Now()
		asked <- answer
		now := <-answer
		if now < slept || now > want {
			return fmt.Errorf("%d have slept, and then %d of %d", slept, now, want)
		}
		took, slept = append(took, time.Since(began)), now
	}
	m.Stop()
	m.Extra("asked", float64(len(took)))
	m.Quantiles("answer", took)
	return nil
}
