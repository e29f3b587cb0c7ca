package runner

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
)

// LabelOf returns the label of p, which is exiting, or "".
func LabelOf(p *process.Process) string {
	if p.Cold == nil {
		return ""
	}
	return p.Cold.Label
}

// ParentOf returns the parent of p, or zero if it has none.
func ParentOf(p *process.Process) (pid wire.PID) {
	if p.Parent != 0 {
		pid = p.System.Origin.PID(p.Parent - 1)
	}
	return pid
}
