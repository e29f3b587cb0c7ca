// Package ignore has directives, right and wrong.
package ignore

import (
	"time"

	"github.com/actornode/actornode/node"
)

func silenced(n *node.Node, pid node.PID) {
	//actornode:ignore lostfuture the process only counts what it gets
	node.Async[int](n, pid, 1)
	node.Async[int](n, pid, 1) //actornode:ignore lostfuture the process only counts what it gets
	node.Async[int](n, pid, 1) // want `the future is dropped`

	// The process only counts.
	//actornode:ignore contextescape another analyzer
	//actornode:ignore lostfuture the process only counts
	node.Async[int](n, pid, 1)
	//actornode:ignore contextescape another analyzer
	node.Async[int](n, pid, 1) // want `the future is dropped`
	//actornode:ignored is another word
	node.Async[int](n, pid, 1) // want `the future is dropped`
}

func wrong(n *node.Node, pid node.PID) {
	//actornode:ignore // want `the comment names no analyzer`
	//actornode:ignore lostfutures because // want `there is no analyzer "lostfutures"`
	//actornode:ignore lostfuture // want `the comment does not say why`
	node.Async[int](n, pid, 1)
}

//actornode:blocks // want `the comment does not say why`
func late(c *node.Context) {
	time.Sleep(1) // want `time.Sleep keeps the stage`
}

//actornode:blocks nobody else is on its stage
func early(c *node.Context) {
	time.Sleep(1)
}
