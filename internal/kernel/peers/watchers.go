package peers

import (
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// Watchers are the processes notified of connections. The zero value has none.
type Watchers struct {
	all    tables.Group[*linkWatcher]
	server atomic.Pointer[process.Process] // nil if the node is hidden
}

type linkWatcher process.Process

// Number implements tables.Member, like Gone.
func (w *linkWatcher) Number() uint64 { return w.ID }

// Gone reports whether the process has exited.
func (w *linkWatcher) Gone() bool { return (*process.Process)(w).Gone() }

// Watch adds p, or removes it if on is false.
func (w *Watchers) Watch(p *process.Process, on bool) {
	if on {
		w.all.Add((*linkWatcher)(p))
	} else {
		w.all.Remove((*linkWatcher)(p))
	}
}

// Len returns the number of watchers without the name server.
func (w *Watchers) Len() int { return w.all.Len() }

// Serve makes a process the name server.
func (w *Watchers) Serve(p *process.Process) { w.server.Store(p) }

// Tell sends a message to all watchers except the name server.
func (w *Watchers) Tell(msg any) {
	w.all.Each(func(w *linkWatcher) { (*process.Process)(w).Signal(&w.System.Plain, msg) })
}

// TellServer sends a message to the name server, if there is one.
func (w *Watchers) TellServer(msg any) {
	if p := w.server.Load(); p != nil {
		p.Signal(&p.System.Plain, msg)
	}
}

// LinkUp and LinkDown hold the name of the other node: they are the messages to the process set by [Watchers.Serve].
type (
	LinkUp   wire.Atom
	LinkDown wire.Atom
)
