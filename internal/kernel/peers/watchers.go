package peers

import (
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// Watchers are the processes. The zero value has none.
type Watchers struct {
	all    tables.Group[*linkWatcher]
	server atomic.Pointer[process.Process] // nil: the node is hidden
}

type linkWatcher process.Process

// Number is part of tables.Member, and so is Gone.
func (w *linkWatcher) Number() uint64 { return w.ID }

// Gone reports whether the process has exited.
func (w *linkWatcher) Gone() bool { return (*process.Process)(w).Gone() }

// Watch adds a process, or takes it out.
func (w *Watchers) Watch(p *process.Process, on bool) {
	if on {
		w.all.Add((*linkWatcher)(p))
	} else {
		w.all.Remove((*linkWatcher)(p))
	}
}

// Len returns how many there are without the name server.
func (w *Watchers) Len() int { return w.all.Len() }

// Serve makes a process the name server.
func (w *Watchers) Serve(p *process.Process) { w.server.Store(p) }

// Tell sends a message to all of them but the name server.
func (w *Watchers) Tell(msg any) {
	w.all.Each(func(w *linkWatcher) { (*process.Process)(w).Signal(&w.System.Plain, msg) })
}

// TellServer sends a message to the name server, if there is one.
func (w *Watchers) TellServer(msg any) {
	if p := w.server.Load(); p != nil {
		p.Signal(&p.System.Plain, msg)
	}
}

// LinkUp and LinkDown have the name of the other node: what a process is told that [Watchers.Serve] has named.
type (
	LinkUp   wire.Atom
	LinkDown wire.Atom
)
