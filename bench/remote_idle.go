package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire/dist"
)

// The nodes of the far end connect to the near one and then stay idle. The figure is their cost there; Erlang cannot run
// many nodes in one process for comparison.
var remoteIdle = betweenNodes(contract.Bench{
	Name:   "remote_idle",
	About:  "nodes that connect and then have nothing to say",
	Params: []contract.Param{contract.Int("nodes", 1000).Range(1, 10_000)},
	Ops:    func(p contract.Params) int { return p.Int("nodes") },
}, runRemoteIdle, func(p contract.Params, n *node.Node) (node.PID, error) {
	return n.Spawn(node.ProcessFunc(func(s *node.Process) error {
		node.ReceiveOf[node.Atom](s)
		nodes, err := startIdle(s.Context(), p)
		defer func() {
			for _, n := range nodes {
				n.Stop()
			}
		}()
		if err != nil {
			return err
		}
		s.Send(nearMain, node.Atom("connected"))
		s.Receive() // until the end of the node
		return nil
	}))
})

// startIdle starts the nodes and connects them.
func startIdle(ctx context.Context, p contract.Params) (nodes []*node.Node, err error) {
	for i := range p.Int("nodes") {
		n, err := node.Start(node.Config{
			Name: node.Atom(fmt.Sprint("idle", i, "@127.0.0.1")), Workers: 1, Stages: 1, Log: quiet,
			Distribution: &node.Distribution{Cookie: p.Word("cookie"), Listen: "-", Finder: ports{nearName: p.Int("port")},
				Protocols: []dist.Protocol{protocolOf(p)}},
		})
		if err != nil {
			return nodes, err
		}
		nodes = append(nodes, n)
		if err := n.Connect(ctx, nearName); err != nil {
			return nodes, err
		}
	}
	return nodes, nil
}

func runRemoteIdle(p contract.Params, m *contract.Meter, e nearEnd) error {
	nodes := p.Int("nodes")
	runtime.GC()
	before := contract.RSS()
	e.main.MonitorNodes()
	m.Start()
	e.main.Send(e.far, node.Atom("connect"))
	for left := nodes + 1; left > 0; left-- { // one message from each, and then from the far end
		if _, err := e.receive(); err != nil {
			return err
		}
	}
	m.Stop()
	if up := len(e.main.Node().AllNodes()); up != nodes+1 {
		return fmt.Errorf("%d nodes are connected, not %d", up, nodes+1)
	}
	rss := contract.RSS()
	m.Extra("bytes_per_node_at_once", float64(rss-before)/float64(nodes))
	// Memory used by the handshakes goes back to the system.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	<-ctx.Done()
	runtime.GC()
	m.Extra("bytes_per_node", float64(contract.RSS()-before)/float64(nodes))
	return nil
}
