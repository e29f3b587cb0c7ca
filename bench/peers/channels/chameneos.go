package main

import (
	"errors"
	"math"
	"sync"

	"github.com/actornode/actornode/bench/internal/contract"
)

var chameneos = contract.Bench{
	Name:  "chameneos",
	About: "creatures meet in pairs and change colour",
	Params: []contract.Param{
		contract.Int("creatures", 10).Range(2, 1<<20), contract.Int("meetings", 600_000),
	},
	Ops: func(p contract.Params) int { return p.Int("meetings") },
	Run: runChameneos,
}

type colour uint8

const colours = 3 // blue, red, yellow: 0, 1, 2

// complement returns the colour of both creatures after a meeting: the same if
// they were alike, and else the third.
func complement(a, b colour) colour {
	if a == b {
		return a
	}
	return colours - a - b
}

type visit struct {
	id     int
	colour colour
	reply  chan<- meeting
}

// meeting is the other's colour, or that the place has closed.
type meeting struct {
	colour colour
	closed bool
}

func runChameneos(p contract.Params, m *contract.Meter) error {
	creatures, meetings := p.Int("creatures"), p.Int("meetings")
	visits := make(chan visit, creatures) // one visit a creature is under way
	open := make(chan struct{})
	counts, toItself := make([]int, creatures), false
	var wg sync.WaitGroup
	wg.Go(func() { // ends when all creatures know that it has closed
		toItself = place(visits, creatures, meetings)
	})
	for id := range creatures {
		wg.Go(func() { // ends when the place has closed
			<-open
			counts[id] = creature(id, visits)
		})
	}
	m.Start()
	close(open)
	wg.Wait()
	m.Stop()
	m.Extra("stddev", stddev(counts))
	if toItself {
		return errors.New("a creature met itself")
	}
	if sum(counts) != 2*meetings {
		return errors.New("the creatures' meetings do not add up")
	}
	return nil
}

// place brings pairs together and returns whether anybody met itself.
func place(visits <-chan visit, creatures, meetings int) (toItself bool) {
	for range meetings {
		a, b := <-visits, <-visits
		toItself = toItself || a.id == b.id
		a.reply <- meeting{colour: b.colour}
		b.reply <- meeting{colour: a.colour}
	}
	for range creatures {
		(<-visits).reply <- meeting{closed: true}
	}
	return toItself
}

func creature(id int, visits chan<- visit) (met int) {
	own := colour(id % colours)
	reply := make(chan meeting, 1) // one visit, one reply
	for {
		visits <- visit{id, own, reply}
		other := <-reply
		if other.closed {
			return met
		}
		own = complement(own, other.colour)
		met++
	}
}

func sum(counts []int) (total int) {
	for _, c := range counts {
		total += c
	}
	return total
}

func stddev(counts []int) float64 {
	mean := float64(sum(counts)) / float64(len(counts))
	square := 0.0
	for _, c := range counts {
		square += (float64(c) - mean) * (float64(c) - mean)
	}
	return math.Sqrt(square / float64(len(counts)))
}
