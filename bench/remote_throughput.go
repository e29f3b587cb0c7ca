package main

import (
	"encoding/binary"
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var remoteThroughput = betweenNodes(contract.Bench{
	Name:  "remote_throughput",
	About: "binaries to a process on another node, until its answer",
	Params: []contract.Param{
		contract.Int("messages", 1_000_000),
		contract.Int("size", 64).Range(numberSize, 1<<24),
		contract.Int("senders", 1),
	},
	Ops: func(p contract.Params) int { return p.Int("messages") },
}, runRemoteThroughput, func(p contract.Params, n *node.Node) (node.PID, error) {
	return startTally(p, n, p.Int("messages"))
})

// numberSize is the size of a number in a binary.
const numberSize = 8

// setNumber stores number in b.
func setNumber(b []byte, number int) []byte {
	binary.BigEndian.PutUint64(b, uint64(number))
	return b
}

// numberIn returns the number stored by setNumber.
func numberIn(b []byte) int {
	if len(b) < numberSize {
		return -1
	}
	return int(binary.BigEndian.Uint64(b))
}

func runRemoteThroughput(p contract.Params, m *contract.Meter, e nearEnd) error {
	messages, size, senders := p.Int("messages"), p.Int("size"), p.Int("senders")
	pids := make([]node.PID, senders)
	for i := range pids {
		s := farSender{to: e.far, first: i + 1, step: senders, last: messages, size: size}
		if p.Blocking() {
			pids[i] = must(e.main.Spawn(s.process()))
		} else {
			pids[i] = must(e.main.Spawn(s))
		}
	}
	before := e.tap.sent()
	m.Start()
	releaseAll(e.main, pids)
	got, err := e.receiveTally()
	m.Stop()
	if err != nil {
		return err
	}
	if want := messages * (messages + 1) / 2; got.total != want || got.bytes != messages*size {
		return fmt.Errorf("%d bytes came, whose numbers add up to %d; not %d and %d", got.bytes, got.total, messages*size, want)
	}
	m.Extra("wire_bytes_per_msg", float64(e.tap.sent()-before)/float64(messages))
	m.Extra("far_peak_rss_mib", float64(got.peakRSS)/(1<<20))
	return nil
}

// farSender sends every step-th number up to the last.
type farSender struct {
	to                      node.PID
	first, step, last, size int
}

func (s farSender) Receive(ctx *node.Context, msg any) error {
	if _, ok := msg.(release); !ok {
		return node.ErrUnhandled
	}
	b := make([]byte, s.size)
	for i := s.first; i <= s.last; i += s.step {
		ctx.SendBytes(s.to, setNumber(b, i))
	}
	return nil
}

func (s farSender) process() node.ProcessFunc {
	return func(p *node.Process) error {
		node.ReceiveOf[release](p)
		b := make([]byte, s.size)
		for i := s.first; i <= s.last; i += s.step {
			p.SendBytes(s.to, setNumber(b, i))
		}
		return nil
	}
}
