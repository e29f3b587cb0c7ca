package demo

import (
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/wire"
)

// echo is a server without state.
type echo struct{}

var echoes = genserver.Define(
	genserver.OnAnyCall(echo.answer),
	genserver.OnInfo(echo.send),
)

// answer handles every call, whatever its type.
func (echo) answer(_ *genserver.Context, term any) (any, error) { return term, nil }

// send handles a message that is a tuple. Other messages are logged, as by OTP's gen_server.
func (echo) send(c *genserver.Context, m wire.Tuple) error {
	if len(m) == 2 {
		switch from := m[0].(type) {
		case node.PID:
			return c.Send(from, wire.Tuple{c.Self(), m[1]})
		case node.Ref: // an alias
			return c.Send(from, wire.Tuple{c.Self(), m[1]})
		}
	}
	c.Node().Log().Warn("echo received an unexpected message: want {Pid, Term} or {Alias, Term}",
		"message", sysmsg.Brief(c.Node(), m))
	return nil
}

// State is what sys:get_state shows: there is nothing to show.
func (echo) State() any { return wire.AtomUndefined }
