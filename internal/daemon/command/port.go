package command

import (
	"github.com/actornode/actornode/node/port"
	"github.com/actornode/actornode/supervisor/tree"
	"github.com/actornode/actornode/wire"
)

// own lists the behaviours that only the daemon's own tree can name, so that a process which can send to its supervisors
// cannot run programs through them.
var own = map[wire.Export]tree.Make{{Module: port.Module, Function: "start", Arity: 1}: port.Make}

// exportPorts lets other nodes start programs, if configured.
func (d *daemon) exportPorts() error {
	if !d.cfg.Ports.Remote {
		return nil
	}
	d.log.Warn("any node that knows the cookie can run programs on this machine, as the user of this daemon", "setting",
		"ports.remote")
	return port.Allow(d.n, nil)
}
