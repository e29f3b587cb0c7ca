package admin

import "github.com/actornode/actornode/node"

// New makes the service of a Config, for a supervisor.
func New(c Config) (node.Actor, error) { return newService(c) }
