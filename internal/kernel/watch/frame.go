package watch

import (
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// LetterOfFrame returns the letter of a frame that is not sent, and false if it has no message, or its loss is reported
// otherwise. A cast of a function is a message to its module.
func LetterOfFrame(f dist.Frame, why deadletter.Cause) (l deadletter.Letter, ok bool) {
	switch {
	case f.Op == dist.OpSend:
		return deadletter.Letter{Cause: why, To: f.To, Name: f.Name, Alias: f.Ref, Message: calls.Message(&f)}, true
	case f.Op == dist.OpSpawn && erpc.IsCast(f.Spawn):
		return deadletter.Letter{Cause: why, Name: f.Spawn.Module, Message: wire.Tuple(f.Spawn.Args)}, true
	}
	return l, false
}
