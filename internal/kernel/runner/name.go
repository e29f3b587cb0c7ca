package runner

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
)

// ForgetName removes p's name, if it has one.
func ForgetName(p *process.Process) {
	p.Mu.Lock()
	var name wire.Atom
	if p.Cold != nil {
		name, p.Cold.Name = p.Cold.Name, ""
	}
	p.Mu.Unlock()
	if name != "" {
		p.System.Names.Remove(name, (*process.Named)(p))
	}
}
