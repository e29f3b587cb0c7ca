package runner

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
)

// LabelOf is that of a process which ends; "": it has none.
func LabelOf(p *process.Process) string {
	if p.Cold == nil {
		return ""
	}
	return p.Cold.Label
}

// ParentOf is the process that has started p; zero: none has.
func ParentOf(p *process.Process) (pid wire.PID) {
	if p.Parent != 0 {
		pid = p.System.Origin.PID(p.Parent - 1)
	}
	return pid
}
