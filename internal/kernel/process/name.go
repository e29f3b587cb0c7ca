package process

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/wire"
)

// Named adapts a process to package tables.
type Named Process

// Lock implements tables.NameHolder, like the other methods.
func (p *Named) Lock() { p.Mu.Lock() }

// Unlock unlocks p.
func (p *Named) Unlock() { p.Mu.Unlock() }

// PID returns the PID.
func (p *Named) PID() wire.PID { return (*Process)(p).PID() }

// Alive returns an ErrNoProcess if p is not alive.
func (p *Named) Alive() error {
	if (*Process)(p).Gone() {
		return fmt.Errorf("%w: %v", ErrNoProcess, p.PID())
	}
	return nil
}

// Name returns the name. The caller of this and of SetName holds p.Mu.
func (p *Named) Name() wire.Atom { return (*Process)(p).ColdPart().Name }

// SetName sets the name.
func (p *Named) SetName(name wire.Atom) {
	(*Process)(p).ColdPart().Name = name
	inbox.KeepOwned(p.Cold.Box)
	p.System.Traces().Event(watch.TraceRegister, p.PID(), wire.PID{}, name, nil)
}
