package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/bench/internal/pair"
)

var remoteCPU = pair.Between(contract.Bench{
	Name:   "remote_cpu",
	About:  "processor time of both ends for one ball, so many times a second",
	Params: []contract.Param{contract.Int("roundtrips", 3000), contract.Int("rate", 1000)},
	Ops:    func(p contract.Params) int { return p.Int("roundtrips") },
}, runRemoteCPU, returnBallsAndCPU)

// askCPU is the number of the ball that asks for the processor time of the far end,
// which stands in the place of the number when it comes back.
const askCPU = 0

func runRemoteCPU(p contract.Params, m *contract.Meter, conn net.Conn) error {
	roundtrips := p.Int("roundtrips")
	in, out := bufio.NewReader(conn), make([]byte, 0, lengthSize+ballSize)
	play := func(number int) (answer int, err error) {
		if _, err := conn.Write(appendMessage(out, newMessage(ballSize, number))); err != nil {
			return 0, err
		}
		ball, err := read(in, ballSize)
		return numberIn(ball), err
	}
	var trips time.Duration
	far, err := play(askCPU)
	near, pace := contract.CPU(), contract.NewPace(p.Int("rate"))
	for left := roundtrips; left > 0 && err == nil; left-- {
		pace.Wait()
		served := time.Now()
		number := 0
		if number, err = play(left); err == nil && number != left {
			return fmt.Errorf("ball %d came back as %d", left, number)
		}
		trips += time.Since(served)
	}
	m.Extra("rate", pace.Rate())
	near = contract.CPU() - near
	if err == nil {
		var now int
		now, err = play(askCPU)
		far = now - far
	}
	if err != nil {
		return fmt.Errorf("a ball did not come back: %w", err)
	}
	m.Charge(near + time.Duration(far))
	m.Extra("far_ns_per_op", float64(far)/float64(roundtrips))
	m.Extra("roundtrip_s", trips.Seconds()/float64(roundtrips))
	return nil
}

// returnBallsAndCPU is the far end: it returns balls until the near end closes.
func returnBallsAndCPU(_ contract.Params, conn net.Conn) error {
	return returnEach(conn, func(ball []byte) {
		if numberIn(ball) == askCPU {
			binary.BigEndian.PutUint64(ball, uint64(contract.CPU()))
		}
	})
}
