// Package lostfuture has what the analyzer lostfuture finds, and beside it what is right.
package lostfuture

import (
	"context"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/futures"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/rpc"
)

type count struct{ genserver.Returns[int] }

type counter struct{ kept *node.Future[int] }

func (o *counter) add(c *active.Context, n int) (int, error) { return n, nil }

func dropped(n *node.Node, pid node.PID, account active.Addr[*counter]) {
	node.Async[int](n, pid, 1)               // want `the future is dropped`
	_ = genserver.Async(n, pid, count{})     // want `the future is dropped`
	go rpc.Async[int](n, "x@y", "m", "f")    // want `the future is dropped`
	defer node.Async[int](n, pid, 1)         // want `the future is dropped`
	active.Go(n, account, (*counter).add, 1) // there is no other way to call it
	n.Send(pid, 1)
	genserver.Cast(n, pid, count{})
}

func asked(c *node.Context, pid node.PID, f *node.Future[int], then func(c *node.Context, v int, err error) error) {
	futures.Ask[int](c, pid, 1).Within(time.Second).Then(then)
	futures.Within(c, time.Second, f)
	futures.All(c, f) // want `the future is dropped`
}

func unread(n *node.Node, pid node.PID) (int, error) {
	lost := node.Async[int](n, pid, 1) // want `nobody awaits the future lost`
	_ = lost
	f := node.Async[int](n, pid, 1) // want `nobody awaits the future f`
	f = node.Async[int](n, pid, 2)
	return node.Await(context.Background(), n, f)
}

func (o *counter) right(n *node.Node, pid node.PID, to chan *node.Future[int], often bool) *node.Future[int] {
	f := node.Async[int](n, pid, 1)
	if often {
		f.SendTo(pid, "tag")
	}
	g := node.Async[int](n, pid, 1)
	defer g.Cancel()
	h := node.Async[int](n, pid, 1)
	go func() { node.Await(context.Background(), n, h) }()
	o.kept = node.Async[int](n, pid, 1)
	to <- node.Async[int](n, pid, 1)
	var all []*node.Future[int]
	for range 3 {
		next := node.Async[int](n, pid, 1)
		all = append(all, next)
	}
	last := all[0]
	for range 3 {
		last.Cancel()
		last = node.Async[int](n, pid, 1)
	}
	return node.Async[int](n, pid, 1)
}
