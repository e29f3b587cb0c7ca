package node

import (
	"fmt"
	"strings"

	"github.com/actornode/actornode/node/internal/waiting"
)

// mayWait notes, for Config.DetectCycles, that a process waits for k of to as long as waits says so;
// or returns an error, if to waits for that process, be it by way of others.
func (a *acting) mayWait(to *proc, k waiting.Kind, waits func() bool) error {
	if a.node.cycles == nil || a.p == nil || to == nil {
		return nil
	}
	cycle := a.node.cycles.Add(a.p, to, k, waits)
	if cycle == nil {
		return nil
	}
	var text strings.Builder
	for _, s := range cycle {
		text.WriteString(s.Process.who(true))
		if s.Kind == waiting.Future {
			text.WriteString(" awaits a future of ")
		} else {
			text.WriteString(" calls ")
		}
	}
	return fmt.Errorf("%w: %s%s", ErrCycle, text.String(), a.p.who(false))
}

// who is p by its name, with its PID if both says so; by its PID if it has none.
func (p *proc) who(both bool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.cold == nil || p.cold.name == "":
		return p.pid().String()
	case both:
		return fmt.Sprintf("%s (%v)", p.cold.name, p.pid())
	}
	return string(p.cold.name)
}
