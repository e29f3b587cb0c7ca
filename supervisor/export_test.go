package supervisor

import "github.com/actornode/actornode/node"

// Begun reports whether all children of a supervisor have been started.
func Begun(a node.Actor) bool { return a.(*supervisor).begun }

// Ending reports whether a supervisor is ending, or has ended.
func Ending(a node.Actor) bool { return a.(*supervisor).ending }

// ParseSpec and ParseChild read what Erlang writes.
var ParseSpec = parseSpec

func ParseChild(t any) (Child, error) { return parseChild(t, AnySignificant) }
