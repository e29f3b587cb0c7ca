package nodetest

import (
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
)

// Styles are the ways to write a process that does, as a Caller, what it is told: it takes
// functions of a node.Caller.
func Styles() map[string]func(n *node.Node) (node.PID, error) {
	type order = func(s node.Caller)
	process := node.ProcessFunc(func(p *node.Process) error {
		for {
			node.ReceiveOf[order](p)(p)
		}
	})
	actor := node.ActorFunc(func(c *node.Context, msg any) error { msg.(order)(c); return nil })
	return map[string]func(n *node.Node) (node.PID, error){
		"actor":     func(n *node.Node) (node.PID, error) { return n.Spawn(actor) },
		"detached":  func(n *node.Node) (node.PID, error) { return n.SpawnOpt(node.Options{Place: node.Detached()}, actor) },
		"process":   func(n *node.Node) (node.PID, error) { return n.Spawn(process) },
		"coroutine": func(n *node.Node) (node.PID, error) { return n.SpawnOpt(node.Options{Coroutine: true}, process) },
		"bounded": func(n *node.Node) (node.PID, error) {
			return n.SpawnOpt(node.Options{Limits: mailbox.Limits{Messages: 100}}, actor)
		},
		"bounded process": func(n *node.Node) (node.PID, error) {
			return n.SpawnOpt(node.Options{Limits: mailbox.Limits{Messages: 100}}, process)
		},
	}
}
