package process

import (
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// What processes wait for, as shown by Info. A blocking process writes it for each call into its calls.WaitRecord, and for
// each receive the time when that began. All other waits are rare: they are in Cold.wait.

// WaitsFor records, for Info, that p, which may be nil, waits for something, k, of the process on.
func (p *Process) WaitsFor(k calls.WaitKind, on wire.Dest) {
	if p == nil {
		return
	}
	p.Mu.Lock()
	p.ColdPart().wait = &observe.Wait{For: k.String(), On: erpc.Seen(on), Since: time.Unix(0, p.System.Clock.Coarse())}
	p.Mu.Unlock()
}

// WaitsNoMore ends a wait.
func (p *Process) WaitsNoMore() {
	if p == nil {
		return
	}
	p.Mu.Lock()
	p.Cold.wait = nil
	p.Mu.Unlock()
}

// WaitLocked returns what p waits for in the state st.
func (p *Process) WaitLocked(st observe.State) observe.Wait {
	if p.Cold != nil && p.Cold.wait != nil {
		return *p.Cold.wait
	}
	if !p.blocks() {
		return observe.Wait{}
	}
	return p.Task().(Blocker).WaitLocked(st)
}
